"""Tables of contents: where they are, and which later lines they list.

A table of contents is a dense run of short lines that occur again later, far apart. It is not part of the outline, but
the lines that it lists are, however they look: nothing else distinguishes a lower-case title from a line of prose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.formats.outline.chapter_markers import read_marker
from redraft.formats.outline.layout import SHORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.outline.layout import Layout

# A table's lines follow one another within this many characters: an entry may have a summary of a few lines.
_DENSE = 500
_FEWEST = 3
# A title occurs in the table, in the text, and perhaps on a page of its own. What occurs more often is a running head
# or the name of a speaker.
_MOST_TIMES = 3
# The sections that a table lists are at least this many times as long as the table.
_SPREAD = 4

_PAGE = re.compile(r"(?:[\s.·…_]{2,}|\s)(?:\d{1,4}|[ivxl]{1,6})$")
_NOISE = re.compile(r"[\W_]+")
_HEAD = re.compile(r"(?:table of )?contents\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableOfContents:
    """The lines of the tables of contents (half-open ranges) and the lines that they list."""

    ranges: tuple[tuple[int, int], ...]
    announced: tuple[int, ...]

    def holds(self, line: int) -> bool:
        return any(first <= line < last for first, last in self.ranges)


def tables_of_contents(layout: Layout) -> TableOfContents:
    """The tables of contents of a text."""
    places = _find_repeated_lines(layout)
    ranges: list[tuple[int, int]] = []
    announced: set[int] = set()
    for run in _dense_runs(layout, sorted({line for lines in places.values() for line in lines})):
        entries = _entries(layout, places, run)
        later = _find_announced_lines(layout, places, entries)
        if len(later) < _FEWEST or len(later) * 2 < len(entries):
            continue
        ranges.append((_first_line(layout, run[0]), max(entries) + 1))
        announced.update(later)
    return TableOfContents(tuple(ranges), tuple(sorted(line for line in announced if not _within(ranges, line))))


def title_keys(text: str) -> tuple[str, ...]:
    """What two spellings of a heading have in common: its title without page, punctuation and case, or its number."""
    marker = read_marker(0, text)
    if marker is None or (marker.kind == "word" and not marker.title and _PAGE.search(text)):
        return tuple(filter(None, [_words(text)]))
    number = f"{marker.word} #{marker.number}"
    return (words, number) if (words := _words(marker.title)) else (number,)


def _words(title: str) -> str:
    return _NOISE.sub(" ", _PAGE.sub("", title)).strip().casefold()


def _find_repeated_lines(layout: Layout) -> dict[str, list[int]]:
    """The short lines that occur more than once, by key."""
    places: dict[str, list[int]] = defaultdict(list)
    for line, text in enumerate(layout.lines):
        if text and len(text) <= SHORT and _short_paragraph(layout, line):
            for key in title_keys(text):
                places[key].append(line)
    return {
        key: lines
        for key, lines in places.items()
        if len(lines) > 1 and (key.rpartition("#")[2].isdigit() or len(lines) <= _MOST_TIMES)
    }


def _short_paragraph(layout: Layout, line: int) -> bool:
    """Whether this is not wrapped prose, whose lines begin in lower case, or continue in one that does."""
    following = layout.lines[line + 1] if line + 1 < len(layout.lines) else ""
    return not layout.lines[line][0].islower() and not following[:1].islower()


def _dense_runs(layout: Layout, lines: Sequence[int]) -> list[list[int]]:
    """Groups of lines that follow one another closely. The last may include the first headings of the text itself."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and layout.body(runs[-1][-1], line) < _DENSE:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [run for run in runs if len(run) >= _FEWEST]


def _entries(layout: Layout, places: dict[str, list[int]], run: Sequence[int]) -> dict[int, tuple[str, int]]:
    """The entries of a table in a run of lines: each with its key, and how often the key has occurred in the run.

    A table and its text contain a key equally often ("Chapter 1" once for each part), so the text has begun where a key
    has occurred more often than it is still to occur.
    """
    entries: dict[int, tuple[str, int]] = {}
    times: dict[str, int] = defaultdict(int)
    for line in run:
        key = next(key for key in title_keys(layout.lines[line]) if key in places)
        times[key] += 1
        if times[key] * 2 > len(places[key]) and times[key] > 1:
            break
        entries[line] = (key, times[key])
    return entries


def _find_announced_lines(
    layout: Layout, places: dict[str, list[int]], entries: dict[int, tuple[str, int]]
) -> list[int]:
    """For each entry the same line after the table, if these are far enough apart."""
    if not entries:
        return []
    first, last = min(entries), max(entries)
    found: set[int] = set()
    keys = {key for key, _ in entries.values()}
    later = {key: [place for place in places[key] if place > last and layout.above[place]] for key in keys}
    for key, time in entries.values():
        found.update(later[key][time - 1 : time])
    spread = layout.body(min(found), max(found)) if found else 0
    return sorted(found) if spread > _SPREAD * (layout.body(first, last) + 1) else []


def _first_line(layout: Layout, first: int) -> int:
    """The table's own heading, if there is one right above it."""
    line = first - 1
    while line >= 0 and layout.body(line, first) < _DENSE:
        if _HEAD.match(layout.lines[line]):
            return line
        line -= 1
    return first


def _within(ranges: Sequence[tuple[int, int]], line: int) -> bool:
    return any(first <= line < last for first, last in ranges)
