"""Where a prompt ended, in a text that was typed into since. Pure.

The boundary is the end of the prompt's last line that holds a word, wherever that line stands now. What a person types
below it while an agent answers was not asked yet: it stays below the answer, byte for byte. What they add to that very
line, or change above it, belongs to what was asked. Where the line itself was rewritten nobody knows, and there is no
boundary.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from redraft.text.lines import adopt_newlines, split_lines
from redraft.text.matching import changed_lines

_LINE_END = re.compile(r"[\r\n]|\Z")
_INDENT = re.compile(r"(?<![^\r\n])[ \t]*\Z")


class Parted(NamedTuple):
    """A text as it would be if nothing had been typed below the boundary, and what was."""

    above: str
    below: str


def parted(base: str, now: str, made: str) -> Parted | None:
    """The text cut at the boundary of the prompt that it was; None where nothing stands below, or just what is `made`
    of the prompt: the same change of both sides stands once."""
    asked = base.rstrip()
    at = _boundary(asked, now)
    if at is None or not now[at:].strip() or _begins_with(now[at:], _added(asked, made)):
        return None
    blank = base[len(asked) :]
    shared = _break_at(now, at) if not blank and asked else 0  # the line's own end, which it did not have then
    while shared < len(blank) and now.startswith(blank[shared], at + shared):
        shared += 1
    return Parted(now[:at] + blank, now[at + shared :])


def _boundary(asked: str, now: str) -> int | None:
    """Where the last line of what was asked ends in the text; None where that cannot be said."""
    if now.startswith(asked):
        return _line_end(now, len(asked)) if asked else 0
    if (found := _only(asked, now, split_lines(asked)[-1])) is not None:
        return found
    old = asked + adopt_newlines("\n", now)
    *_, last = changed_lines(old, now)
    if last.until < len(old):
        return _first(now, last.new_at, split_lines(old[last.until :]))
    return _before_break(now, last.new_at) if last.at == last.until else None


def _added(asked: str, made: str) -> str:
    """What an answer adds below what was asked."""
    if made.startswith(asked):
        return made[len(asked) :].strip()
    *_, last = changed_lines(asked + adopt_newlines("\n", made), made)
    return made[last.new_at : last.new_until].strip()


def _begins_with(below: str, added: str) -> bool:
    """Whether these whole lines come first."""
    begun = below.lstrip()
    return begun.startswith(added) and begun[len(added) : len(added) + 1] in ("", "\r", "\n")


def _only(asked: str, now: str, line: str) -> int | None:
    """The end of the one line that is this one, or goes on with it, where there was only one before, too."""
    begun = rf"(?<![^\r\n]){re.escape(line)}"
    for pattern in (re.compile(rf"{begun}(?![^\r\n])"), re.compile(begun)):
        places = [found.end() for found in pattern.finditer(now)]
        if len(places) == 1 and len(pattern.findall(asked)) == 1:
            return _line_end(now, places[0])
    return None


def _first(now: str, at: int, known: list[str]) -> int:
    """Where these lines, with which the text ends, end for the first time from there on: what was typed may repeat
    them."""
    lines = split_lines(now[at:])
    for start in range(len(lines) - len(known) + 1):
        if lines[start] == known[0] and lines[start : start + len(known)] == known:
            return _before_break(now, at + sum(map(len, lines[: start + len(known)])))
    return len(now)


def _break_at(text: str, at: int) -> int:
    return 2 if text.startswith("\r\n", at) else 1


def _line_end(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    return len(text) if found is None else found.start()


def _before_break(text: str, at: int) -> int:
    return at - 2 if text.endswith("\r\n", 0, at) else at - 1


def joined(above: str, below: str, *, apart: bool) -> str:
    """Both in turn; `apart` with a blank line between, unless there is one."""
    if not apart or below[0] in "\r\n" or not above.strip():
        return above + below
    indent = _INDENT.search(above)
    at = len(above) if indent is None else indent.start()
    return above[:at] + adopt_newlines("\n", above) + above[at:] + below
