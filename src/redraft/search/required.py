"""Which words a text must hold for a pattern to match in it: what an index can be asked before the text is read.

A requirement is a list of clauses; a text can only match if it holds, of every clause, at least one of the words. It is
always safe to require less, and wherever a pattern is not plainly made of words that is what happens here. Patterns
have been compiled before, so their syntax is known to be good.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Clause = frozenset[str]

_REPEAT = re.compile(r"(?:([*?+])|\{(\d+)(?:,\d*)?\})\??")
_GROUP = re.compile(r"\(\?(?:P?<\w+>|[a-zA-Z]*(?:-[a-zA-Z]+)?[:)])")
_ESCAPE = re.compile(r"\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|[0-9]+|.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\[pPx]\{[^}]*\}|\\.|[^\]\\])*\]", re.DOTALL)


@dataclass(slots=True)
class _Branch:
    """One alternative: its clauses so far, and the characters that follow one another just now."""

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
        """Of one alternative, all it requires; of several, one clause with something of each."""
        self.next_branch()
        if len(self.earlier) == 1:
            return self.earlier[0]
        if not all(self.earlier):
            return []
        return [frozenset().union(*(max(clauses, key=_worth) for clauses in self.earlier))]


def _worth(clause: Clause) -> tuple[int, int]:
    return -len(clause), min(map(len, clause))


def required(pattern: str, *, regex: bool) -> list[Clause]:
    """The clauses of a pattern; none where nothing can be said."""
    if not regex:
        return [frozenset({pattern})]
    groups = [_Group()]
    at = 0
    while at < len(pattern):
        at = _step(pattern, at, groups)
    return groups[0].clauses() if len(groups) == 1 else []


def _step(pattern: str, at: int, groups: list[_Group]) -> int:
    """Take in what stands at `at`; gives where the next thing starts."""
    char = pattern[at]
    if char == "(":
        return _open(pattern, at, groups)
    if char == "|":
        groups[-1].next_branch()
        return at + 1
    if char == ")" and len(groups) == 1:
        groups.append(_Group())  # misread: left open on purpose, which requires nothing
        return len(pattern)
    if char == ")":
        clauses = groups.pop().clauses()
        least, at = repeat(pattern, at + 1)
        groups[-1].branch.clauses += clauses if least else []
        return at
    if pattern.startswith("\\Q", at):
        groups[-1].branch.end_run()
        end = pattern.find("\\E", at)
        end = len(pattern) if end < 0 else end + 2
        return repeat(pattern, end)[1]
    literal, end = atom(pattern, at)
    least, after = repeat(pattern, end)
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
        return found.end()  # flags for what follows; letter case is folded by whoever asks the index
    groups.append(_Group())
    return at + 1 if found is None else found.end()


def atom(pattern: str, at: int) -> tuple[str | None, int]:
    """A literal character, or None for what may be any of several or none; and where it ends."""
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


def repeat(pattern: str, at: int) -> tuple[int, int]:
    """How often, at least, the thing before `at` must occur, and where its repeat sign ends."""
    found = _REPEAT.match(pattern, at)
    if found is None:
        return 1, at
    sign, least = found.groups()
    return (1 if sign == "+" else 0 if sign else int(least)), found.end()
