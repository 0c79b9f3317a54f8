"""Which words a text must contain for a pattern to match: what an index can be asked before the text is read.

A requirement is a list of clauses; a text can only match if it contains at least one word of every clause. Requiring
less is always safe, and that is what happens wherever a pattern is not plainly made of words. Patterns have been
compiled before, so their syntax is valid.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

Clause = frozenset[str]

_REPEAT = re.compile(r"(?:([*?+])|\{(\d+)(?:,\d*)?\})\??")
_GROUP = re.compile(r"\(\?(?:P?<\w+>|[a-zA-Z]*(?:-[a-zA-Z]+)?[:)])")
_ESCAPE = re.compile(r"\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|[0-9]+|.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\[pPx]\{[^}]*\}|\\.|[^\]\\])*\]", re.DOTALL)


@dataclass(slots=True)
class _Branch:
    """One alternative: its clauses so far, and the current run of literal characters."""

    clauses: list[Clause] = field(default_factory=list[Clause])
    run: str = ""

    def end_run(self) -> None:
        if self.run:
            self.clauses.append(frozenset({self.run}))
        self.run = ""


@dataclass(slots=True)
class _Group:
    """A pair of parentheses, or the whole pattern."""

    earlier: list[list[Clause]] = field(default_factory=list[list[Clause]])
    branch: _Branch = field(default_factory=_Branch)

    def next_branch(self) -> None:
        self.branch.end_run()
        self.earlier.append(self.branch.clauses)
        self.branch = _Branch()

    def clauses(self) -> list[Clause]:
        """Of one alternative, everything it requires; of several, one clause with something from each."""
        self.next_branch()
        if len(self.earlier) == 1:
            return self.earlier[0]
        if not all(self.earlier):
            return []
        return [frozenset().union(*(max(clauses, key=_worth) for clauses in self.earlier))]


def _worth(clause: Clause) -> tuple[int, int]:
    return -len(clause), min(map(len, clause))


def find_required_words(pattern: str, *, regex: bool) -> list[Clause]:
    """The clauses of a pattern; none if nothing can be said."""
    if not regex:
        return [frozenset({pattern})]
    groups = [_Group()]
    at = 0
    while at < len(pattern):
        at = _step(pattern, at, groups)
    return groups[0].clauses() if len(groups) == 1 else []


def _step(pattern: str, at: int, groups: list[_Group]) -> int:
    """Parse what is at `at`; returns where the next item starts."""
    char = pattern[at]
    if char == "(":
        return _open(pattern, at, groups)
    if char == "|":
        groups[-1].next_branch()
        return at + 1
    if char == ")" and len(groups) == 1:
        groups.append(_Group())  # not understood: left open on purpose, which requires nothing
        return len(pattern)
    if char == ")":
        clauses = groups.pop().clauses()
        least, at = parse_repeat(pattern, at + 1)
        groups[-1].branch.clauses += clauses if least else []
        return at
    if pattern.startswith("\\Q", at):
        groups[-1].branch.end_run()
        end = pattern.find("\\E", at)
        end = len(pattern) if end < 0 else end + 2
        return parse_repeat(pattern, end)[1]
    literal, end = parse_atom(pattern, at)
    least, after = parse_repeat(pattern, end)
    branch = groups[-1].branch
    if literal is None or not least:
        branch.end_run()
    else:
        branch.run += literal
        if after > end:
            branch.end_run()
    return after


def _open(pattern: str, at: int, groups: list[_Group]) -> int:
    groups[-1].branch.end_run()
    found = _GROUP.match(pattern, at)
    if found is not None and found.group().endswith(")"):
        return found.end()  # flags for what follows; whoever asks the index folds case
    groups.append(_Group())
    return at + 1 if found is None else found.end()


def parse_atom(pattern: str, at: int) -> tuple[str | None, int]:
    """A literal character, or None for anything else; and where it ends."""
    char = pattern[at]
    if char == "\\":
        found = _ESCAPE.match(pattern, at)
        end = at + 2 if found is None else found.end()
        escaped = pattern[at + 1 : end]
        return (escaped if len(escaped) == 1 and escaped.isascii() and not escaped.isalnum() else None), end
    if char == "[":
        found = _CLASS.match(pattern, at)
        return None, len(pattern) if found is None else found.end()
    return (None if char in ".^$" else char), at + 1


def parse_repeat(pattern: str, at: int) -> tuple[int, int]:
    """The minimum number of times that the item before `at` must occur, and where its quantifier ends."""
    found = _REPEAT.match(pattern, at)
    if found is None:
        return 1, at
    sign, least = found.groups()
    return (1 if sign == "+" else 0 if sign else int(least)), found.end()


# Word boundaries at the ends of a pattern, removed so that they can be checked in another way.
#
# RE2's `\b` knows ASCII letters only: it does not find `\bécole\b`. At an end of a pattern, next to a certain letter or
# digit, a boundary means that no letter follows, and that can be expressed by consuming whatever does follow (see
# `pattern`). It is removed only if every alternative has it, since alternatives that consume differently would
# compete differently. Patterns have been compiled before, so their syntax is valid.


_BOUNDARY = r"\b"
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")
_INSIDE = re.compile(r"\((?:\?:|\?P?<\w+>)?(.*)\)", re.DOTALL)
_LETTERS = re.compile(r"\[(?:\w-\w|\w)+\]")
_DEEPEST = 5


class BoundedPattern(NamedTuple):
    """A pattern without the boundaries at its ends, and at which ends it had one."""

    pattern: str
    before: bool
    after: bool


class _Token(NamedTuple):
    """A character, class or whole group with its quantifier; `least` is its minimum number of times."""

    text: str
    sign: str
    least: int


def strip_boundaries(pattern: str) -> BoundedPattern:
    """The pattern without `\\b` if all of its alternatives begin, or end, with one next to a letter."""
    if _BOUNDARY not in pattern or r"\Q" in pattern:
        return BoundedPattern(pattern, before=False, after=False)
    start = _FLAGS.match(pattern)
    flags = start.group() if start is not None else ""
    branches = [_tokens(branch) for branch in _branches(pattern[len(flags) :])]
    before = all(_is_edge(branch[:2]) for branch in branches)
    after = all(_is_edge(branch[:-3:-1], last=True) for branch in branches)
    inner = (branch[int(before) : len(branch) - int(after)] for branch in branches)
    return BoundedPattern(
        flags + "|".join("".join(token.text + token.sign for token in branch) for branch in inner), before, after
    )


def _is_edge(pair: list[_Token], *, last: bool = False) -> bool:
    """Whether the outer token is a boundary and the inner one certainly a letter on that side."""
    return len(pair) == 2 and pair[0].text == _BOUNDARY and not pair[0].sign and _is_letter(pair[1], last, _DEEPEST)


def _is_letter(token: _Token, last: bool, depth: int) -> bool:
    if not token.least or not depth:
        return False
    if token.text[0] != "(":
        literal, _ = parse_atom(token.text, 0)
        plain = literal is not None and is_word_character(literal)
        return plain or token.text in (r"\w", r"\d") or _LETTERS.fullmatch(token.text) is not None
    inside = _INSIDE.fullmatch(token.text)
    if inside is None or inside.group(1).startswith("?"):
        return False
    branches = [_tokens(branch) for branch in _branches(inside.group(1))]
    return all(branch and _is_letter(branch[-1 if last else 0], last, depth - 1) for branch in branches)


def is_word_character(char: str) -> bool:
    """Whether a character belongs to words, as in `\\\\w`."""
    return unicodedata.category(char) in {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"}


def _branches(pattern: str) -> list[str]:
    found: list[str] = []
    start = at = 0
    while at < len(pattern):
        if pattern[at] == "|":
            found.append(pattern[start:at])
            start = at + 1
        at = _end(pattern, at)
    return [*found, pattern[start:]]


def _tokens(branch: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(branch):
        end = _end(branch, at)
        least, after = parse_repeat(branch, end)
        found.append(_Token(branch[at:end], branch[end:after], least))
        at = after
    return found


def _end(pattern: str, at: int) -> int:
    """Where the character, class or whole group that starts here ends."""
    if pattern[at] != "(":
        return parse_atom(pattern, at)[1]
    depth = 0
    while at < len(pattern):
        depth += (pattern[at] == "(") - (pattern[at] == ")")
        at = at + 1 if pattern[at] in "()" else parse_atom(pattern, at)[1]
        if not depth:
            break
    return at
