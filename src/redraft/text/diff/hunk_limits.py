"""The hunk guard: no hunk is larger than a person can judge, or it is marked (agent-sidebar, section 23).

A hunk above the limits is split, as little as possible: where edits begin and end, else at blank lines, else between
units (paragraphs, items, rows), else between sentences. What is still too large is marked `oversized`. The parts are
hunks like any others: they apply in any subset, and all together they do what the whole did.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.hunks import Hunk, fresh_id, line_span
from redraft.text.diff.line_diff import diff_lines
from redraft.text.edits import Change
from redraft.text.lines import count_breaks, count_lines
from redraft.text.sentences import sentences
from redraft.text.units import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from redraft.text.edits import Span

MAX_LINES = 80
MAX_BYTES = 8192

_BLANK_LINES = re.compile(r"(?:\r\n?+|\n)(?:[^\S\r\n]*(?:\r\n?+|\n))+")


class _Cut(NamedTuple):
    """A position in the hunk's old text and the matching position in its new text."""

    old: int
    new: int


class _Before(NamedTuple):
    """The characters just before a hunk in either text, if any: a hunk may begin within a line."""

    old: str
    new: str


class _LineCursor(NamedTuple):
    """How far a walk through a text has come: the number of the line, and what comes before in it."""

    prefix: str
    number: int

    def after(self, text: str) -> _LineCursor:
        last = max(text.rfind("\n"), text.rfind("\r")) + 1
        if not last:
            return _LineCursor(self.prefix + text, self.number)
        # A lone "\r" may become a "\r\n" with what follows: then the break is counted there, and not twice.
        split = last == len(text) and text.endswith("\r")
        return _LineCursor(text[last - split :], self.number + count_breaks(self.prefix + text[: last - split]))


class _Limits(NamedTuple):
    lines: int
    bytes: int

    def allow(self, *sides: str) -> bool:
        """Whether each side of a change, taken alone, is small enough."""
        return all(
            count_lines(side) <= self.lines and len(side.encode("utf-8", "surrogatepass")) <= self.bytes
            for side in sides
        )


def is_oversized(old: str, new: str) -> bool:
    """Whether a change is larger than a person can judge at once."""
    return not _Limits(MAX_LINES, MAX_BYTES).allow(old, new)


def split_oversized(
    hunks: Iterable[Hunk],
    old: str,
    *,
    edits: Sequence[Span] = (),
    max_lines: int = MAX_LINES,
    max_bytes: int = MAX_BYTES,
) -> tuple[Hunk, ...]:
    """The hunks, none above the limits except those marked `oversized`.

    `edits` are the passages of `old`, in code points, that single edits replaced. Hunks that are small enough stay as
    they are, with their ids.
    """
    limits = _Limits(max_lines, max_bytes)
    hunks = list(hunks)
    taken = {hunk.id for hunk in hunks}
    found: list[Hunk] = []
    end, before = -1, _Before("", "")
    for hunk in hunks:
        before = _before(old, hunk, before.new if hunk.at == end else None)
        if limits.allow(hunk.old_text, hunk.new_text):
            found.append(hunk)
        else:
            found += _split_hunk(hunk, before, edits, limits, taken)
        end, before = hunk.edit.end, _Before(before.old, (before.new + hunk.new_text)[-1:])
    return tuple(found)


def _before(old: str, hunk: Hunk, touching: str | None) -> _Before:
    """What is before a hunk: the same on both sides, unless it touches a hunk whose new text ends differently."""
    before = old[max(0, hunk.at - 1) : hunk.at]
    return _Before(before, before if touching is None else touching)


def _split_hunk(hunk: Hunk, before: _Before, edits: Sequence[Span], limits: _Limits, taken: set[str]) -> Iterator[Hunk]:
    change = Change(hunk.words)
    cuts = [_Cut(0, 0), _Cut(len(hunk.old_text), len(hunk.new_text))]
    for propose in (partial(_edit_cuts, edits=edits), *(partial(_text_cuts, ends=ends) for ends in _LEVELS)):
        if all(limits.allow(*_sides(hunk, *pair)) for pair in pairwise(cuts)):
            break
        cuts = _refine_cuts(hunk, cuts, _in_order(hunk, propose(hunk, change)), limits)
    old, new = (
        _LineCursor(before.old.strip("\r\n"), hunk.old.start),
        _LineCursor(before.new.strip("\r\n"), hunk.new.start),
    )
    for start, stop in pairwise(cuts):
        removed, added = _sides(hunk, start, stop)
        if (removed, added) == (hunk.old_text, hunk.new_text):
            yield hunk if limits.allow(removed, added) else replace(hunk, oversized=True)
        elif removed != added:
            spans = line_span(old.prefix, removed, old.number), line_span(new.prefix, added, new.number)
            name = fresh_id(removed, added, taken)
            part = Hunk(name, *spans, hunk.at + start.old, hunk.new_at + start.new, removed, added)
            yield part if limits.allow(removed, added) else replace(part, oversized=True)
        old, new = old.after(removed), new.after(added)


def _sides(hunk: Hunk, start: _Cut, stop: _Cut) -> tuple[str, str]:
    return hunk.old_text[start.old : stop.old], hunk.new_text[start.new : stop.new]


def _refine_cuts(hunk: Hunk, cuts: list[_Cut], proposed: list[_Cut], limits: _Limits) -> list[_Cut]:
    """The cuts and as few of the proposed ones as necessary to keep the parts within the limits, if possible."""
    refined = cuts[:1]
    for stop in cuts[1:]:
        start = last = refined[-1]
        between = proposed[bisect_left(proposed, start) : bisect_right(proposed, stop)]
        for cut in (*(cut for cut in between if start.new <= cut.new <= stop.new), stop):
            if last != refined[-1] and not limits.allow(*_sides(hunk, refined[-1], cut)):
                refined.append(last)
            last = cut
        refined.append(stop)
    return refined


def _in_order(hunk: Hunk, cuts: Iterable[_Cut]) -> list[_Cut]:
    """The cuts that increase on both sides and split no "\\r\\n"."""
    ordered: list[_Cut] = []
    for cut in sorted(cuts):
        parts = _parts_break(hunk.old_text, cut.old) or _parts_break(hunk.new_text, cut.new)
        if not parts and (not ordered or cut.new >= ordered[-1].new):
            ordered.append(cut)
    return ordered


def _parts_break(text: str, at: int) -> bool:
    return at > 0 and text.startswith("\r\n", at - 1)


def _edit_cuts(hunk: Hunk, change: Change, edits: Sequence[Span]) -> Iterator[_Cut]:
    """Where edits begin and end: the given ones, and those that equal lines separate."""
    for region in diff_lines(hunk.old_text, hunk.new_text):
        yield from (_Cut(region.at, region.new_at), _Cut(region.until, region.new_until))
    for edit in edits:
        for place in (edit.start - hunk.at, edit.end - hunk.at):
            if 0 <= place <= len(hunk.old_text):
                yield _Cut(place, change.map(place))


def _text_cuts(hunk: Hunk, change: Change, ends: Callable[[str], list[int]]) -> Iterator[_Cut]:
    """Where parts of the texts end: first those that end together, and between them the others by their number."""
    olds, news = ends(hunk.old_text), ends(hunk.new_text)
    end = _Cut(len(hunk.old_text), len(hunk.new_text))
    places = set(news)
    together = [_Cut(place, change.map(place)) for place in olds if change.map(place) in places]
    for start, stop in pairwise((_Cut(0, 0), *together, end)):
        yield start
        first = [start.old, *olds[bisect_right(olds, start.old) : bisect_left(olds, stop.old)]]
        second = [start.new, *news[bisect_right(news, start.new) : bisect_left(news, stop.new)]]
        for index in range(most := max(len(first), len(second))):
            yield _Cut(first[index * len(first) // most], second[index * len(second) // most])


def _blank_line_ends(text: str) -> list[int]:
    return [match.end() for match in _BLANK_LINES.finditer(text)]


def _unit_ends(text: str) -> list[int]:
    return list(accumulate(len(unit.text) for unit in units(text, within="body")))


def _sentence_ends(text: str) -> list[int]:
    return list(accumulate(map(len, sentences(text))))


_LEVELS = (_blank_line_ends, _unit_ends, _sentence_ends)
