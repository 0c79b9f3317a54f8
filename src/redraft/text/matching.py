"""Which parts of two sequences, or of two texts by their lines, differ.

`changed` compares sequences of any hashable items. `changed_lines` compares whole texts and looks only where they
differ: it gallops over what is equal, finds a line nearby on which both sides meet again, and gallops on; only where
no such line is found are all remaining lines compared. Both are deterministic and, up to a logarithm, linear: when a
text has too little in common to say what became what, the answer is one large region, never a long search. Neither
knows what a paragraph or a word is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

from redraft.text.alignment import Budget, Run, align
from redraft.text.lines import count_breaks, count_lines, split_lines
from redraft.text.meeting import Place, common_end, gallop, meeting, step_back, step_on
from redraft.text.sliding import Region, settle

__all__ = ["LineRegion", "Region", "changed", "changed_lines"]

H = TypeVar("H", bound=Hashable)

# Meeting again costs about as much as comparing this many code points line by line; where the texts meet only for
# less, time after time, comparing all the rest at once is cheaper.
_WORTHWHILE = 400
_PATIENCE = 32


class LineRegion(NamedTuple):
    """Lines that differ, by number and by code points: `at` to `until` in old, `new_at` to `new_until` in new."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int
    at: int
    until: int
    new_at: int
    new_until: int


def changed(old: Sequence[H], new: Sequence[H]) -> list[Region]:
    """The regions that differ, in order, not touching; everything between them is equal."""
    regions: list[Region] = []
    budget = Budget(len(old) + len(new))
    gaps = [Region(0, len(old), 0, len(new))]
    while gaps:
        gap = _trim(old, new, gaps.pop())
        if not gap.size:
            continue
        runs: list[Run] = []
        if gap.old_start < gap.old_end and gap.new_start < gap.new_end:
            runs = align(old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end], budget)
        if runs:
            gaps.extend(reversed(list(_between(gap, runs))))
        else:
            regions.append(gap)
    return settle(old, new, regions)


def _trim(old: Sequence[H], new: Sequence[H], gap: Region) -> Region:
    """The gap without the items that its sides have in common at either end."""
    old_start, old_end, new_start, new_end = gap
    shorter = min(old_end - old_start, new_end - new_start)
    count = 0
    while count < shorter and old[old_start + count] == new[new_start + count]:
        count += 1
    old_start, new_start, shorter = old_start + count, new_start + count, shorter - count
    count = 0
    while count < shorter and old[old_end - 1 - count] == new[new_end - 1 - count]:
        count += 1
    return Region(old_start, old_end - count, new_start, new_end - count)


def _between(gap: Region, runs: list[Run]) -> Iterator[Region]:
    """What lies before, between and after the equal runs of a gap."""
    x, y = gap.old_start, gap.new_start
    for run in runs:
        old, new = gap.old_start + run.old, gap.new_start + run.new
        if old > x or new > y:
            yield Region(x, old, y, new)
        x, y = old + run.length, new + run.length
    yield Region(x, gap.old_end, y, gap.new_end)


def changed_lines(old: str, new: str) -> list[LineRegion]:
    """The lines that differ, in order, not touching; everything between them is equal."""
    found: list[Region] = []  # in code points
    end = common_end(old, new)
    place = gallop(old, new, Place(0, 0), end)
    patience = _PATIENCE
    while place != end:
        met, onward = meeting(old, new, place, end) if patience else (end, end)
        gap = Region(place.old, met.old, place.new, met.new)
        if _is_plain(old, new, gap):
            found.append(gap)
        else:
            start = step_back(old, place, found[-1].old_end if found else None)
            found += _compare(old, new, start, step_on(old, met, onward.old if onward != end else len(old)))
        worthwhile = onward.old - met.old >= _WORTHWHILE
        patience = min(patience + 1, _PATIENCE) if worthwhile else patience - 1
        place = onward
    return list(_numbered(old, new, found))


def _is_plain(old: str, new: str, gap: Region) -> bool:
    """Whether a gap is one line for another, or lines on one side that can begin nowhere else: nothing to compare."""
    removed, added = old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end]
    if removed and added:
        return _is_one_line(removed) and _is_one_line(added)
    block, text, at = (removed, old, gap.old_start) if removed else (added, new, gap.new_start)
    first, last = block[: block.find("\n") + 1], block[block.rfind("\n", 0, -1) + 1 :]
    return not text.startswith(first, at + len(block)) and not text.endswith(last, 0, at)


def _is_one_line(text: str) -> bool:
    return text.find("\n") == len(text) - 1 and text.find("\r", 0, -2) < 0


def _compare(old: str, new: str, start: Place, stop: Place) -> Iterator[Region]:
    """The regions between two places, in code points."""
    left, right = split_lines(old[start.old : stop.old]), split_lines(new[start.new : stop.new])
    regions = changed(left, right)
    old_at = list(accumulate(map(len, left), initial=start.old))
    new_at = list(accumulate(map(len, right), initial=start.new))
    for region in regions:
        yield Region(old_at[region.old_start], old_at[region.old_end], new_at[region.new_start], new_at[region.new_end])


def _numbered(old: str, new: str, regions: list[Region]) -> Iterator[LineRegion]:
    at = line = new_line = 0
    bare = "\r" in old
    for region in regions:
        # What is equal is nearly all of the text: where it has but one kind of line ending, it need not be copied.
        equal = count_breaks(old[at : region.old_start]) if bare else old.count("\n", at, region.old_start)
        line, new_line = line + equal, new_line + equal
        old_end = line + count_lines(old[region.old_start : region.old_end])
        new_end = new_line + count_lines(new[region.new_start : region.new_end])
        yield LineRegion(line, old_end, new_line, new_end, *region)
        at, line, new_line = region.old_end, old_end, new_end
