"""The difference of two texts as hunks that a person can judge one by one.

A hunk says what it removes and what it inserts, and where; so any subset of a diff's hunks applies, in any order of
decisions, and a hunk that no longer fits is refused, never bent. Hunks are in order and never overlap; they may touch,
and they may begin and end within a line. A hunk's id depends on its content alone and survives changes elsewhere.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from redraft.text.diff.line_diff import LineRegion, Region, diff_lines
from redraft.text.diff.semantic_hunks import semantic_regions
from redraft.text.diff.word_diff import is_reflow, word_edits
from redraft.text.edits import Change, Edit, Span
from redraft.text.lines import count_breaks
from redraft.text.units import units

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence


@dataclass(frozen=True)
class Hunk:
    """One change: `old_text` at `at` in the old text became `new_text` at `new_at` in the new one.

    `old` and `new` are the lines that it touches, half-open, from 0. Only the guard sets `oversized`.
    """

    id: str
    old: Span
    new: Span
    at: int
    new_at: int
    old_text: str
    new_text: str
    oversized: bool = False

    @property
    def edit(self) -> Edit:
        """The hunk as an edit of the old text."""
        return Edit(self.at, self.old_text, self.new_text)

    @cached_property
    def words(self) -> tuple[Edit, ...]:
        """The edits by words, with offsets in `old_text`; applied to it they give `new_text`."""
        return word_edits(self.old_text, self.new_text)

    @cached_property
    def reworded(self) -> tuple[Edit, ...]:
        """Those of `words` that do more than wrap lines."""
        return tuple(edit for edit in self.words if not is_reflow(edit))

    @cached_property
    def reflow_only(self) -> bool:
        """Whether only the wrapping of lines changed, and every unit is still what it was."""
        if self.reworded or not self.words:
            return False
        old, new = (units(text, within="body") for text in (self.old_text, self.new_text))
        return [unit.kind for unit in old] == [unit.kind for unit in new]


def diff(old: str, new: str, *, markdown: bool = True) -> tuple[Hunk, ...]:
    """The hunks that turn `old` into `new`, by units of prose; by plain lines if the text is not `markdown`."""
    lines = diff_lines(old, new)
    regions = [Region(region.at, region.until, region.new_at, region.new_until) for region in lines]
    if markdown:
        regions = semantic_regions(old, new, regions)
    return tuple(_hunks(old, new, regions, lines))


def apply(old: str, hunks: Iterable[Hunk], chosen: Container[str] | None = None) -> str:
    """The old text with the hunks whose ids are chosen, or with all; raises `Stale` if it is another text."""
    return Change(tuple(hunk.edit for hunk in hunks if chosen is None or hunk.id in chosen)).apply(old)


def invert(hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """The hunks that turn the new text into the old one, given all the hunks of a diff."""
    taken: set[str] = set()
    return tuple(
        Hunk(
            fresh_id(hunk.new_text, hunk.old_text, taken),
            hunk.new,
            hunk.old,
            hunk.new_at,
            hunk.at,
            hunk.new_text,
            hunk.old_text,
            hunk.oversized,
        )
        for hunk in hunks
    )


def fresh_id(old_text: str, new_text: str, taken: set[str]) -> str:
    """An id from a hunk's content, added to `taken`; equal hunks are numbered in order."""
    for count in itertools.count():
        content = f"{count} {len(old_text)} {old_text}{new_text}"
        name = "h_" + sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:10]
        if name not in taken:
            taken.add(name)
            return name
    raise AssertionError("counting never ends")


_START = LineRegion(0, 0, 0, 0, 0, 0, 0, 0)


def _hunks(old: str, new: str, regions: Sequence[Region], lines: Sequence[LineRegion]) -> Iterator[Hunk]:
    lines = [_START, *lines]
    starts, new_starts = [line.at for line in lines], [line.new_at for line in lines]
    taken: set[str] = set()
    for region in regions:
        # The line numbers are known where changed lines begin, and any piece of them is not far from there. A piece may
        # span several of them, so it has to be after them on both sides.
        behind = min(bisect_right(starts, region.old_start), bisect_right(new_starts, region.new_start))
        known = lines[behind - 1]
        removed, added = old[region.old_start : region.old_end], new[region.new_start : region.new_end]
        if region == known[4:]:
            spans = Span(known.old_start, known.old_end), Span(known.new_start, known.new_end)
        else:
            spans = (
                line_span(old[known.at : region.old_start], removed, known.old_start),
                line_span(new[known.new_at : region.new_start], added, known.new_start),
            )
        yield Hunk(fresh_id(removed, added, taken), *spans, region.old_start, region.new_start, removed, added)


def line_span(before: str, text: str, line: int) -> Span:
    """The lines that a passage touches, given the text between it and the start of line number `line`."""
    start = line + count_breaks(before)
    inside = bool(before) and before[-1] not in "\r\n"
    if not text:
        return Span(start, start + inside)
    return Span(start, start + count_breaks(text) + (text[-1] not in "\r\n"))
