"""Where a change begins: the same difference, placed so that it reads well.

Among equivalent readings of a difference (a paragraph inserted before or after its blank line, the end of one list
item with the head of the next) the one is chosen that begins where a paragraph begins. And a lone blank line
between two large changes does not separate them: it joins them. Neither alters what the change does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from redraft.text.diff.alignment import is_trivial

H = TypeVar("H", bound=Hashable)

# A trivial stretch between two changes is absorbed if both are at least this many times its length.
_SWALLOW = 3
# Readings to choose from; among thousands of equal lines the nearest hundred suffice.
_FURTHEST = 100


class Region(NamedTuple):
    """A difference: `old[old_start:old_end]` became `new[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int

    @property
    def size(self) -> int:
        """The length of its longer side."""
        return max(self.old_end - self.old_start, self.new_end - self.new_start)

    def shift(self, distance: int) -> Region:
        """The region, moved by `distance` items on both sides."""
        return Region(*(place + distance for place in self))

    def join(self, other: Region) -> Region:
        """From the start of this one to the end of the other."""
        return Region(self.old_start, other.old_end, self.new_start, other.new_end)


def place_boundaries(old: Sequence[H], new: Sequence[H], regions: list[Region]) -> list[Region]:
    """The same regions, joined and moved to where they read best."""
    return _slide(old, new, _swallow(old, regions))


def _swallow(old: Sequence[H], regions: list[Region]) -> list[Region]:
    joined: list[Region] = []
    for region in regions:
        joined.append(region)
        while len(joined) > 1 and _is_trifle(old, joined[-2], joined[-1]):
            joined[-2:] = [joined[-2].join(joined[-1])]
    return joined


def _is_trifle(old: Sequence[H], before: Region, after: Region) -> bool:
    between = range(before.old_end, after.old_start)
    return len(between) * _SWALLOW <= min(before.size, after.size) and all(is_trivial(old[index]) for index in between)


def _slide(old: Sequence[H], new: Sequence[H], regions: list[Region]) -> list[Region]:
    settled: list[Region] = []
    for index, region in enumerate(regions):
        # A region may move until it touches the one before, and then they are one; it never touches the one after.
        limit = regions[index + 1].old_start - 1 if index + 1 < len(regions) else len(old)
        settled.append(_best(old, new, settled, region, limit))
    return settled


def _best(old: Sequence[H], new: Sequence[H], settled: list[Region], region: Region, limit: int) -> Region:
    """The best reading of a region; removes from `settled` those that it now touches."""
    while True:
        side, start, end = _only_side(old, new, region)
        if start == end:
            return region
        above = region.old_start - (settled[-1].old_end if settled else 0)
        up = _agreement(side, start - 1, end - 1, -1, min(above, _FURTHEST))
        if not settled or up < above:
            break
        region = settled.pop().join(region.shift(-up))
    down = _agreement(side, start, end, 1, min(limit - region.old_end, _FURTHEST))
    return region.shift(max(range(-up, down + 1), key=lambda shift: _appeal(side, start + shift)))


def _only_side(old: Sequence[H], new: Sequence[H], region: Region) -> tuple[Sequence[H], int, int]:
    """The side that has items while the other has none; an empty range if both have some."""
    if region.old_start == region.old_end:
        return new, region.new_start, region.new_end
    if region.new_start == region.new_end:
        return old, region.old_start, region.old_end
    return old, 0, 0


def _agreement(items: Sequence[H], first: int, second: int, step: int, limit: int) -> int:
    """How many items, going in one direction, are the same from either position."""
    count = 0
    while count < limit and items[first + count * step] == items[second + count * step]:
        count += 1
    return count


def _appeal(items: Sequence[H], start: int) -> tuple[bool, int, int]:
    """How well a change that begins here reads: at a paragraph's start, little indented, late."""
    item = items[start]
    if not isinstance(item, str):
        return False, 0, start
    body = item.lstrip(" \t")
    before = items[start - 1] if start else ""
    opens = isinstance(before, str) and not before.strip() and bool(body.strip())
    return opens, len(body) - len(item), start
