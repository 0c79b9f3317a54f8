"""Word boundaries at the ends of a pattern, taken off so that they can be asked for in another way.

RE2's `\\b` knows ASCII letters only: it finds no `\\bécole\\b`. At an end of a pattern, beside what surely is a
letter or digit, a boundary means that no letter comes beyond, and that can be said by consuming whatever does come (see
`pattern`). It is taken off only where every alternative has it, since alternatives that consume differently would
compete differently. Patterns have been compiled before, so their syntax is known to be good.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from redraft.search.required import atom, repeat

_BOUNDARY = r"\b"
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")
_INSIDE = re.compile(r"\((?:\?:|\?P?<\w+>)?(.*)\)", re.DOTALL)
_LETTERS = re.compile(r"\[(?:\w-\w|\w)+\]")
_DEEPEST = 5


class Framed(NamedTuple):
    """A pattern without the boundaries at its ends, and at which ends it had one."""

    pattern: str
    before: bool
    after: bool


class _Token(NamedTuple):
    """A character, class or whole group with its repeat sign; `least` says how often it must occur."""

    text: str
    sign: str
    least: int


def without_edges(pattern: str) -> Framed:
    """The pattern without `\\b` where all of its alternatives begin, or end, with one beside a letter."""
    if _BOUNDARY not in pattern or r"\Q" in pattern:
        return Framed(pattern, before=False, after=False)
    start = _FLAGS.match(pattern)
    flags = start.group() if start is not None else ""
    branches = [_tokens(branch) for branch in _branches(pattern[len(flags) :])]
    before = all(_is_edge(branch[:2]) for branch in branches)
    after = all(_is_edge(branch[:-3:-1], last=True) for branch in branches)
    kept = (branch[int(before) : len(branch) - int(after)] for branch in branches)
    return Framed(
        flags + "|".join("".join(token.text + token.sign for token in branch) for branch in kept), before, after
    )


def _is_edge(pair: list[_Token], *, last: bool = False) -> bool:
    """Whether the outer token is a boundary and the inner one surely a letter on that side."""
    return len(pair) == 2 and pair[0].text == _BOUNDARY and not pair[0].sign and _is_letter(pair[1], last, _DEEPEST)


def _is_letter(token: _Token, last: bool, depth: int) -> bool:
    if not token.least or not depth:
        return False
    if token.text[0] != "(":
        literal, _ = atom(token.text, 0)
        plain = literal is not None and is_word(literal)
        return plain or token.text in (r"\w", r"\d") or _LETTERS.fullmatch(token.text) is not None
    inside = _INSIDE.fullmatch(token.text)
    if inside is None or inside.group(1).startswith("?"):
        return False
    branches = [_tokens(branch) for branch in _branches(inside.group(1))]
    return all(branch and _is_letter(branch[-1 if last else 0], last, depth - 1) for branch in branches)


def is_word(char: str) -> bool:
    """Whether a character belongs to words, as `\\\\w` has it."""
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
        least, after = repeat(branch, end)
        found.append(_Token(branch[at:end], branch[end:after], least))
        at = after
    return found


def _end(pattern: str, at: int) -> int:
    """Where the character, class or whole group that starts here ends."""
    if pattern[at] != "(":
        return atom(pattern, at)[1]
    depth = 0
    while at < len(pattern):
        depth += (pattern[at] == "(") - (pattern[at] == ")")
        at = at + 1 if pattern[at] in "()" else atom(pattern, at)[1]
        if not depth:
            break
    return at
