"""Components: named regions of a document, between `<!-- agent:NAME -->` and `<!-- /agent:NAME -->`.

Marker text inside code (a fence that is closed, or backticks on one line) is text: documents explain themselves. A
fence that nothing closes hides nothing, because a person may be typing it just now. Reading is strict: a marker without
its partner is refused with its line, never repaired, since nobody knows where the region was meant to end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.errors import Refused
from redraft.text.lines import count_breaks

if TYPE_CHECKING:
    from collections.abc import Iterator

Word = Literal["agent", "patch"]

NAME = r"[a-zA-Z0-9][a-zA-Z0-9-]*"
_MARKERS = {
    word: re.compile(rf"<!--[ \t]*+(?P<close>/)?{word}:(?P<name>{NAME})(?P<rest>(?:[ \t]+[^\r\n<>]*?)?)[ \t]*-->")
    for word in ("agent", "patch")
}
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w-]*)=("[^"]*"|'[^']*'|\S+)""")
# A fence may stand in a quotation or a list, so what is before it is not looked at closely.
_LEAD = re.compile(r"[ \t>]*+(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]++)*+")
_RUNS = (re.compile("```+"), re.compile("~~~+"))
_TICKS = re.compile(r"`+")


class Marker(NamedTuple):
    """A marker where it stands."""

    name: str
    is_close: bool
    attributes: str
    start: int
    end: int


class _Fence(NamedTuple):
    """A line that opens or closes a fence: where it begins, where its signs do, what follows them, where it ends."""

    start: int
    at: int
    sign: str
    info: str
    end: int

    def closes(self, opening: str) -> bool:
        return self.sign.startswith(opening) and not self.info.strip()


@dataclass(frozen=True, slots=True)
class Component:
    """A region of a text, by offsets. `inner_start` to `inner_end` is what lies between its markers."""

    name: str
    start: int
    inner_start: int
    inner_end: int
    end: int
    attributes: dict[str, str] = field(default_factory=dict[str, str])

    def inner(self, text: str) -> str:
        return text[self.inner_start : self.inner_end]

    def holds(self, other: Component) -> bool:
        return self.inner_start <= other.start and other.end <= self.inner_end


@lru_cache(maxsize=4)  # a write looks at the base, the person's text and the result several times each
def components(text: str) -> tuple[Component, ...]:
    """The components in the order in which they open; `conflict`, with the line, where markers do not pair."""
    found: list[Component] = []
    waiting: list[tuple[int, Marker]] = []
    for marker in markers(text, "agent"):
        if not marker.is_close:
            waiting.append((len(found), marker))
            found.append(Component(marker.name, marker.start, marker.end, marker.end, marker.end))
            continue
        if not waiting or waiting[-1][1].name != marker.name:
            raise _unpaired(text, marker, "closes nothing that is open there")
        place, opening = waiting.pop()
        attributes = {key: value.strip("\"'") for key, value in _ATTRIBUTE.findall(opening.attributes)}
        found[place] = Component(marker.name, opening.start, opening.end, marker.start, marker.end, attributes)
    if waiting:
        raise _unpaired(text, waiting[-1][1], "is never closed")
    return tuple(found)


def _unpaired(text: str, marker: Marker, what: str) -> Refused:
    line = count_breaks(text[: marker.start]) + 1
    return Refused(f"{text[marker.start : marker.end]} in line {line} {what}.", code="conflict", line=line)


def component(text: str, name: str) -> Component | None:
    """The one component of this name, None where there is none; `anchor_ambiguous` where there are several."""
    named = [each for each in components(text) if each.name == name]
    if len(named) > 1:
        lines = ", ".join(str(count_breaks(text[: each.start]) + 1) for each in named)
        raise Refused(f"There are several components {name!r}, in the lines {lines}.", code="anchor_ambiguous")
    return named[0] if named else None


def undisturbed(before: str, after: str, place: Component) -> bool:
    """Whether a text still parses after something was written into a component: every component outside it where it
    was, and itself ending where it should."""
    growth = len(after) - len(before)
    try:
        now = components(after)
    except Refused:
        return False
    same = [each for each in now if each.start == place.start]
    if len(same) != 1 or same[0].inner_end != place.inner_end + growth:
        return False
    outside = [each for each in components(before) if not place.holds(each)]
    moved = [(each.name, each.start + growth * (each.start >= place.inner_end)) for each in outside]
    return [(each.name, each.start) for each in now if not same[0].holds(each)] == moved


def markers(text: str, word: Word, *, in_code: bool = False) -> Iterator[Marker]:
    """The markers in a text, in order; those in code only where they are asked for."""
    if f"{word}:" not in text:
        return
    hidden = iter([] if in_code else fences(text))
    start = end = -1
    for match in _MARKERS[word].finditer(text):
        if match["close"] and match["rest"].strip():
            continue
        while end <= match.start() and (after := next(hidden, None)) is not None:
            start, end = after
        if start <= match.start() < end or (not in_code and _in_backticks(text, match.start(), match.end())):
            continue
        yield Marker(match["name"], match["close"] is not None, match["rest"], match.start(), match.end())


def fences(text: str) -> list[tuple[int, int]]:
    """Where fenced code stands, its fences included: only fences that are closed."""
    lines = _fence_lines(text)
    longest = _longest_ahead(lines)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(lines):
        opening, at = lines[at], at + 1
        if longest[at][opening.sign[0]] < len(opening.sign):
            continue  # nothing closes it
        while not lines[at].closes(opening.sign):
            at += 1
        found.append((opening.start, lines[at].end))
        at += 1
    return found


def _fence_lines(text: str) -> list[_Fence]:
    """The lines that begin with a fence. Runs are searched: to try a pattern at every line takes ten times as long."""
    found: list[_Fence] = []
    for run in _RUNS:
        if run.pattern[:3] not in text:
            continue
        for signs in run.finditer(text):
            start, end = _line(text, *signs.span())
            info = text[signs.end() : end]
            if _LEAD.fullmatch(text, start, signs.start()) and not (signs[0][0] == "`" and "`" in info):
                found.append(_Fence(start, signs.start(), signs[0], info, end))
    return sorted(found)


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the line of a place begins and ends. A return is looked for only within, lest each look takes in all."""
    begin = text.rfind("\n", 0, start) + 1
    begin = text.rfind("\r", begin, start) + 1 or begin
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    back = text.find("\r", end, stop)
    return begin, stop if back < 0 else back


def _longest_ahead(lines: list[_Fence]) -> list[dict[str, int]]:
    """For each place the longest fence of each sign that could close one before it; else a search for each would take
    time quadratic in their number."""
    ahead = [{"`": 0, "~": 0}]
    for line in reversed(lines):
        longest, sign = dict(ahead[-1]), line.sign[0]
        if not line.info.strip():
            longest[sign] = max(longest[sign], len(line.sign))
        ahead.append(longest)
    return ahead[::-1]


def _in_backticks(text: str, start: int, end: int) -> bool:
    """Whether a place lies in code within its line."""
    begin, stop = _line(text, start, end)
    if "`" not in text[begin:start]:
        return False
    opened: re.Match[str] | None = None
    for ticks in _TICKS.finditer(text, begin, stop):
        if opened is None:
            if ticks.start() > start:
                return False
            opened = ticks
        elif len(ticks[0]) == len(opened[0]):
            if ticks.start() >= end:
                return True
            opened = None
    return False


def harmless(text: str, *, in_code: bool = False) -> str:
    """The text with its markers written so that they read the same and mark nothing, and with no fence left open.

    `in_code` treats markers in code too, where they would show as they are then written.
    """
    pieces: list[str] = []
    at = 0
    for marker in markers(text, "agent", in_code=in_code):
        pieces += [text[at : marker.start], "&lt;"]  # as `_tame` does
        at = marker.start + 1
    return _with_fences_closed("".join([*pieces, text[at:]]))


def refenced(text: str) -> str:
    """The same text with its fences in the other sign, and marker text within them made harmless: for a document in
    which somebody has just opened a fence, which the first fence of the text would close."""
    pieces: list[str] = []
    at = 0
    for start, end in fences(text):
        pieces += [text[at:start], _other_sign(_MARKERS["agent"].sub(_tame, text[start:end]))]
        at = end
    return "".join([*pieces, text[at:]])


def _tame(marker: re.Match[str]) -> str:
    return f"&lt;{marker[0][1:]}"


def _other_sign(block: str) -> str:
    """Fenced code with the other sign, in a run longer than any within."""
    lines = _fence_lines(block)
    opening, closing = lines[0], lines[-1]
    sign = "~" if opening.sign[0] == "`" else "`"
    if sign in opening.info:
        return block  # backticks could not be told from those of the fence
    longest = max((len(run[0]) for run in re.finditer(re.escape(sign) + "+", block)), default=0)
    fence = sign * max(len(opening.sign), longest + 1)
    inside = block[opening.at + len(opening.sign) : closing.at]
    return block[: opening.at] + fence + inside + fence + block[closing.at + len(closing.sign) :]


def _with_fences_closed(text: str) -> str:
    """The text with its first open fence closed at its end: then there is no other."""
    closed = fences(text)
    starts = [start for start, _ in closed]
    for line in _fence_lines(text):
        before = bisect_right(starts, line.start) - 1
        if before >= 0 and line.start < closed[before][1]:
            continue
        lead = text[line.start : line.at]
        end = "" if text.endswith(("\n", "\r")) else "\n"
        marks = lead.strip(" \t>") != ""  # a list's, which would begin another item
        return f"{text}{end}{' ' * len(lead) if marks else lead}{line.sign}\n"
    return text
