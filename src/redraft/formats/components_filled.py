"""Writing into a component: an entry in the place of its content, after it or before it.

Bytes outside the component stay as they are, and so do the old entries that are kept. Afterwards the document must have
the same components as before, or it is not given back: `filled` refuses rather than leave markers that do not pair.
Nothing here knows the time: whoever wants a stamp before an entry puts it there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from redraft.errors import Refused
from redraft.formats.components import Component, components, fences, harmless, refenced, undisturbed
from redraft.text.lines import adopt_newlines, split_lines

Mode = Literal["replace", "append", "prepend"]
MODES: tuple[Mode, ...] = get_args(Mode)

_FIRST_BREAK = re.compile(r"[ \t]*(?:\r\n?|\n)")
_INDENT = re.compile(r"(?<=[\r\n])[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Filling:
    """How entries come into a component. `max_entries` bounds the lines that are not empty; 0 is no bound."""

    mode: Mode = "replace"
    max_entries: int = 0


def entry_of(content: str) -> str:
    """Content as an entry: without the break that follows a marker, and ending in one line end; "" for nothing."""
    trimmed = _FIRST_BREAK.sub("", content, count=1) if _FIRST_BREAK.match(content) else content
    trimmed = trimmed.rstrip()
    return f"{trimmed}\n" if trimmed else ""


def filled(text: str, place: Component, content: str, filling: Filling) -> str:
    """The text with an entry in this component; `conflict` where the document could not be parsed afterwards."""
    entry = entry_of(content)
    # The second and the third are for a document in which somebody has just opened a fence.
    for tame in (harmless(entry), harmless(entry, in_code=True), refenced(harmless(entry))):
        inner = _inner(place.inner(text), adopt_newlines(tame, text), filling)
        result = text[: place.inner_start] + inner + text[place.inner_end :]
        if undisturbed(text, result, place):
            return result
    raise Refused(
        f"With this content the markers of the document would no longer pair; {place.name!r} was left alone.",
        code="conflict",
        component=place.name,
    )


def _inner(inner: str, entry: str, filling: Filling) -> str:
    """What is to stand between the markers."""
    opening = _FIRST_BREAK.match(inner)
    if opening is None and filling.mode == "replace" and entry.count("\n") <= 1 and not re.search(r"[\r\n]", inner):
        return entry.rstrip("\r\n")  # a component within a line stays there
    head = opening[0] if opening else ""
    indent = _INDENT.search(inner)
    tail = indent[0] if indent and indent.start() >= len(head) else ""
    old = inner[len(head) : len(inner) - len(tail)]
    if not head and (old or entry):
        head = adopt_newlines("\n", inner)
    if old and old[-1] not in "\r\n":
        old += adopt_newlines("\n", inner)
    if not entry and filling.mode != "replace":
        return inner
    return head + _entries(old, entry, filling) + tail


def _entries(old: str, entry: str, filling: Filling) -> str:
    if filling.mode == "replace":
        return entry
    room = filling.max_entries - sum(1 for line in split_lines(entry) if line.strip())
    after = filling.mode == "append"
    kept = old if not filling.max_entries else _newest(old, max(room, 0), last=after)
    return kept + entry if after else entry + kept


def _newest(old: str, room: int, *, last: bool) -> str:
    """As many of the old lines as there is room for, from the end or the beginning. Code and components within are
    kept whole rather than cut apart."""
    lines = split_lines(old)
    places = [number for number, line in enumerate(lines) if line.strip()]
    if len(places) <= room:
        return old
    if last:
        at = sum(map(len, lines[: places[-room]])) if room else len(old)
    else:
        at = sum(map(len, lines[: places[room - 1] + 1])) if room else 0
    for start, end in _unbroken(old):
        if start < at < end:
            at = start if last else end
    return old[at:] if last else old[:at]


def _unbroken(text: str) -> list[tuple[int, int]]:
    try:
        within = components(text)
    except Refused:
        within = ()
    return sorted([*fences(text), *((each.start, each.end) for each in within)], reverse=True)
