"""Group the changes of two sides to one base.

Regions of different sides that overlap or touch in the base form a group, and groups are as small as that allows: two
regions of one side that merely touch stay separate unless one of the other side connects them. Nothing here knows what
the units are, looks at a text, or decides what becomes of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from redraft.text.diff.line_diff import Region

Apart = Callable[[Region, Region], bool]


class RegionGroup(NamedTuple):
    """A stretch of the base that one side or both changed, and where it is on either side."""

    start: int
    end: int
    left_start: int
    left_end: int
    right_start: int
    right_end: int
    left: tuple[Region, ...]
    right: tuple[Region, ...]


def _never(_left: Region, _right: Region) -> bool:
    return False


def group_regions(left: Sequence[Region], right: Sequence[Region], apart: Apart = _never) -> list[RegionGroup]:
    """The groups, in order; between them all three are equal.

    `apart` may keep a region of the left and one of the right separate although they touch.
    """
    loom = _RegionGrouper((left, right), apart)
    while loom.has_more():
        loom.take(loom.next_side())
    loom.close()
    return loom.groups


class _RegionGrouper:
    def __init__(self, sides: tuple[Sequence[Region], Sequence[Region]], apart: Apart) -> None:
        self.sides = sides
        self.apart = apart
        self.groups: list[RegionGroup] = []
        self.next = [0, 0]
        self.first = [0, 0]  # of the open group
        self.shift = [0, 0]  # how much longer than the base each side is before the open group
        self.start = self.end = 0

    def has_more(self) -> bool:
        return any(self.next[side] < len(self.sides[side]) for side in (0, 1))

    def next_side(self) -> int:
        """The side whose next region begins first; of two that begin together, the one that joins, then the shorter."""
        left, right = self.peek(0), self.peek(1)
        if left is None or right is None:
            return 0 if right is None else 1
        if left.old_start != right.old_start:
            return 0 if left.old_start < right.old_start else 1
        if self.joins(0) != self.joins(1):
            return 0 if self.joins(0) else 1
        return 0 if left.old_end <= right.old_end else 1

    def peek(self, side: int) -> Region | None:
        regions, at = self.sides[side], self.next[side]
        return regions[at] if at < len(regions) else None

    def is_open(self) -> bool:
        return self.first != self.next

    def joins(self, side: int) -> bool:
        """Whether the side's next region belongs to the open group."""
        region = self.sides[side][self.next[side]]
        if not self.is_open() or region.old_start > self.end:
            return False
        if region.old_start < self.end:
            return True
        other = 1 - side
        if self.first[other] == self.next[other]:
            return False
        last = self.sides[other][self.next[other] - 1]
        return last.old_end == self.end and not (self.apart(region, last) if side == 0 else self.apart(last, region))

    def take(self, side: int) -> None:
        region = self.sides[side][self.next[side]]
        if not self.joins(side):
            self.close()
            self.start = self.end = region.old_start
        self.end = max(self.end, region.old_end)
        self.next[side] += 1

    def close(self) -> None:
        if not self.is_open():
            return
        left, right = (tuple(self.sides[side][self.first[side] : self.next[side]]) for side in (0, 1))
        before = tuple(self.shift)
        for side, regions in enumerate((left, right)):
            if regions:
                self.shift[side] = regions[-1].new_end - regions[-1].old_end
        self.groups.append(
            RegionGroup(
                self.start,
                self.end,
                self.start + before[0],
                self.end + self.shift[0],
                self.start + before[1],
                self.end + self.shift[1],
                left,
                right,
            )
        )
        self.first = list(self.next)
