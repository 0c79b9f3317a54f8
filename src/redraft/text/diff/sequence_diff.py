"""Which parts of two sequences differ, and how far two texts agree.

`diff_sequences` compares sequences of any hashable items. It is deterministic and, up to a logarithm, linear: if two
sequences have too little in common to say what became what, the answer is one large region, never a long search.
Nothing here knows about lines, words or edits.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, TypeVar

H = TypeVar("H", bound=Hashable)
Pair = tuple[int, int]


# Which items of two sequences belong together.
#
# The rules, in order: items with substance are matched before trivial ones, so that no blank line decides how a text is
# read; items that occur once on each side are trusted as anchors if they are a fair share of what could match at all;
# otherwise the longest common subsequence is searched (Myers), within a budget that makes the whole linear. The result
# is partial: runs in order, and the caller asks again for what is between them.


_SUBSTANCE = re.compile(r"\w")
# Trivial items alone (blank lines between two rewritten chapters) say nothing about sequences longer than this.
_TRIVIAL_REACH = 100
# Anchors are trusted if what they leave out could at most triple the match; so a text full of repeated lines is
# never torn around the few that are unique.
_LEFT_OUT = 3
# Above this many differences the longest match is no longer worth its quadratic cost.
_MOST_DIFFERENCES = 300


class MatchingRun(NamedTuple):
    """`length` equal items, from `old` on one side and from `new` on the other."""

    old: int
    new: int
    length: int


class Budget:
    """What one comparison may still cost overall: items visited, and steps of the longest match."""

    __slots__ = ("looks", "steps")

    def __init__(self, items: int) -> None:
        # Real texts need two or three visits per item: anchors leave little between them.
        self.looks = 10_000 + 8 * items
        self.steps = 50_000 + items


def is_trivial(item: object) -> bool:
    """Whether an item says too little to align by: text without a letter or digit."""
    return isinstance(item, str) and _SUBSTANCE.search(item) is None


def align(old: Sequence[H], new: Sequence[H], budget: Budget) -> list[MatchingRun]:
    """Runs of equal items, increasing on both sides; empty if nothing should be matched."""
    budget.looks -= len(old) + len(new)
    if budget.looks < 0:
        return []
    shared = set(old).intersection(new)
    # Written inline, not as `is_trivial(item)`: there may be a quarter of a million of them.
    search = _SUBSTANCE.search
    keep = {item for item in shared if not isinstance(item, str) or search(item)}
    if not keep:
        if len(old) + len(new) > _TRIVIAL_REACH:
            return []
        keep = shared
    old_count, new_count = Counter(old), Counter(new)
    once = keep & _singles(old_count) & _singles(new_count)
    anchors = _heaviest(_anchors(old, new, once)) if once else []
    repeated = keep - once
    left_out = min(sum(count[item] for item in repeated) for count in (old_count, new_count))
    if sum(run.length for run in anchors) * _LEFT_OUT >= left_out or budget.steps <= 0:
        return anchors
    longest, complete = _longest(old, new, keep, budget)
    return longest if complete or not anchors else anchors


def _singles(count: Counter[H]) -> set[H]:
    return {item for item, times in count.items() if times == 1}


def _anchors(old: Sequence[H], new: Sequence[H], once: set[H]) -> list[MatchingRun]:
    """The items that occur once on each side, each with the equal items after it, as runs."""
    place = dict(zip(new, range(len(new)), strict=True))
    runs: list[MatchingRun] = []
    index = 0
    while index < len(old):
        if old[index] in once:
            there = place[old[index]]
            length = _equal_length(old, index, new, there)
            runs.append(MatchingRun(index, there, length))
            index += length
        else:
            index += 1
    return runs


def _equal_length(old: Sequence[H], index: int, new: Sequence[H], there: int) -> int:
    """How many items are equal from the two positions on; slices are compared whole, as in galloping over texts."""
    count, step = 1, 1
    limit = min(len(old) - index, len(new) - there)
    while count < limit and old[index + count : index + count + step] == new[there + count : there + count + step]:
        count = min(count + step, limit)
        step *= 2
    while step > 1 and count < limit:
        step //= 2
        if old[index + count : index + count + step] == new[there + count : there + count + step]:
            count += step
    return min(count, limit)


def _heaviest(runs: list[MatchingRun]) -> list[MatchingRun]:
    """The subset of runs (sorted in old) that also increases in new and has the most items."""
    # The front: for each total that can be reached, the chain that ends first in new. Both increase along it.
    ends: list[int] = []
    totals: list[int] = []
    tips: list[int] = []
    before: list[int] = []
    for index, run in enumerate(runs):
        place = bisect_left(ends, run.new)
        total = run.length + (totals[place - 1] if place else 0)
        before.append(tips[place - 1] if place else -1)
        beaten = place
        while beaten < len(ends) and totals[beaten] <= total:
            beaten += 1
        ends[place:beaten], totals[place:beaten], tips[place:beaten] = [run.new], [total], [index]
    chain: list[MatchingRun] = []
    index = tips[-1]
    while index >= 0:
        chain.append(runs[index])
        index = before[index]
    chain.reverse()
    return chain


def _longest(old: Sequence[H], new: Sequence[H], keep: set[H], budget: Budget) -> tuple[list[MatchingRun], bool]:
    """The longest common subsequence of the items to keep, after Myers, and whether the budget was sufficient.

    If it was not, the runs are those of the path that came furthest: a fair start, and the caller continues with the
    rest.
    """
    # What occurs on one side only can never match; without it the rest is short, and the answer is the same.
    number = {item: index for index, item in enumerate(keep)}
    old_at = [index for index, item in enumerate(old) if item in keep]
    new_at = [index for index, item in enumerate(new) if item in keep]
    left = [number[old[index]] for index in old_at]
    right = [number[new[index]] for index in new_at]
    pairs, complete = _myers(left, right, budget)
    return [MatchingRun(old_at[x], new_at[y], 1) for x, y in pairs], complete


def _myers(left: list[int], right: list[int], budget: Budget) -> tuple[list[Pair], bool]:
    reached: dict[int, int] = {1: 0}
    rounds: list[dict[int, int]] = []
    for differences in range(min(len(left) + len(right), _MOST_DIFFERENCES) + 1):
        if budget.steps <= 0:
            break
        reached = _advance(left, right, reached, differences, budget)
        rounds.append(reached)
        if reached.get(len(left) - len(right), -1) >= len(left):
            return _path(rounds, len(left), len(right), len(left), len(right)), True
    if not rounds:
        return [], False
    diagonal, x = max(rounds[-1].items(), key=lambda end: (2 * end[1] - end[0], end[0]))
    return _path(rounds, x, x - diagonal, len(left), len(right)), False


def _advance(
    left: list[int], right: list[int], before: dict[int, int], differences: int, budget: Budget
) -> dict[int, int]:
    """The furthest x on each diagonal x - y with one difference more than `before`."""
    width, height = len(left), len(right)
    low = -differences if differences <= height else differences - 2 * height
    high = differences if differences <= width else 2 * width - differences
    reached: dict[int, int] = {}
    steps = 0
    for diagonal in range(low, high + 1, 2):
        x = first = _entry(before, diagonal, width, height)
        if x < 0:
            continue
        y = x - diagonal
        while x < width and y < height and left[x] == right[y]:
            x += 1
            y += 1
        steps += x - first + 1
        reached[diagonal] = x
    budget.steps -= steps
    return reached


def _entry(before: dict[int, int], diagonal: int, width: int, height: int) -> int:
    """The furthest x at which a diagonal is reached from its neighbours with one difference; -1 if it is not."""
    down = before.get(diagonal + 1, -1)
    across = before.get(diagonal - 1, -2) + 1
    if across > width:
        across = -1
    return across if across > down or down - diagonal > height else down


def _path(rounds: list[dict[int, int]], x: int, y: int, width: int, height: int) -> list[Pair]:
    """The matches on the way to (x, y), from the last round back to the first."""
    pairs: list[Pair] = []
    for before in [*rounds[-2::-1], None]:
        diagonal = x - y
        first = _entry(before, diagonal, width, height) if before is not None else 0
        pairs.extend((at, at - diagonal) for at in range(x - 1, first - 1, -1))
        if before is not None:
            down = before.get(diagonal + 1, -1) == first
            x, y = (first, first - diagonal - 1) if down else (first - 1, first - diagonal)
    pairs.reverse()
    return pairs


# Where a change begins: the same difference, placed so that it reads well.
#
# Among equivalent readings of a difference (a paragraph inserted before or after its blank line, the end of one list
# item with the head of the next) the one is chosen that begins where a paragraph begins. And a lone blank line between
# two large changes does not separate them: it joins them. Neither alters what the change does.


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


# How far two texts agree, from the front and from the back, at the speed of comparing memory.
#
# Slices are compared whole, each twice as long as the one before, until one differs; a binary search in that one finds
# the first different character. 10 MB take a few milliseconds, where a loop over characters would take a second.


_FIRST_AFFIX_STEP = 64
# Longer steps exceed the processor's cache: 10 MB take 5 ms in steps of 64 K, 8 ms in steps of 1 M.
_LONGEST_AFFIX_STEP = 1 << 16


def common_prefix(a: str, b: str, start: int = 0) -> int:
    """How many code points `a` and `b` have in common from `start` on."""
    limit = min(len(a), len(b))
    at = start
    step = _FIRST_AFFIX_STEP
    while at < limit:
        end = min(at + step, limit)
        if a[at:end] != b[at:end]:
            return _first_difference(a, b, at, end) - start
        at = end
        step = min(step * 2, _LONGEST_AFFIX_STEP)
    return max(limit - start, 0)


def common_suffix(a: str, b: str, limit: int | None = None) -> int:
    """How many code points `a` and `b` have in common at their ends, at most `limit`."""
    shorter = min(len(a), len(b))
    limit = shorter if limit is None else min(limit, shorter)
    count = 0
    step = _FIRST_AFFIX_STEP
    while count < limit:
        more = min(count + step, limit)
        if a[len(a) - more : len(a) - count] != b[len(b) - more : len(b) - count]:
            return _last_agreement(a, b, count, more)
        count = more
        step = min(step * 2, _LONGEST_AFFIX_STEP)
    return limit


def _first_difference(a: str, b: str, low: int, high: int) -> int:
    # The first difference is in [low, high).
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _last_agreement(a: str, b: str, low: int, high: int) -> int:
    # The last `low` characters agree, the last `high` do not.
    while high - low > 1:
        middle = (low + high) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle
    return low


# The comparison itself.


def diff_sequences(old: Sequence[H], new: Sequence[H]) -> list[Region]:
    """The regions that differ, in order, not touching; everything between them is equal."""
    regions: list[Region] = []
    budget = Budget(len(old) + len(new))
    gaps = [Region(0, len(old), 0, len(new))]
    while gaps:
        gap = _trim(old, new, gaps.pop())
        if not gap.size:
            continue
        runs: list[MatchingRun] = []
        if gap.old_start < gap.old_end and gap.new_start < gap.new_end:
            sides = old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end]
            runs = align(*sides, budget)
            runs = _in_place(*sides, sum(run.length for run in runs)) or runs
        if runs:
            gaps.extend(reversed(list(_between(gap, runs))))
        else:
            regions.append(gap)
    return place_boundaries(old, new, regions)


def _in_place(old: Sequence[H], new: Sequence[H], least: int) -> list[MatchingRun]:
    """The items that stayed in place, if at least `least` of them did and both sides have the same length: where items
    repeat, each was then replaced in place rather than moved. Otherwise none."""
    if not least or len(old) != len(new):
        return []
    same = [index for index, (left, right) in enumerate(zip(old, new, strict=True)) if left == right]
    if len(same) < least or sum(not is_trivial(old[index]) for index in same) < least:
        return []
    return [MatchingRun(index, index, 1) for index in same]


def _trim(old: Sequence[H], new: Sequence[H], gap: Region) -> Region:
    """The gap without the items that both sides share at either end."""
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


def _between(gap: Region, runs: list[MatchingRun]) -> Iterator[Region]:
    """What is before, between and after the equal runs of a gap."""
    x, y = gap.old_start, gap.new_start
    for run in runs:
        old, new = gap.old_start + run.old, gap.new_start + run.new
        if old > x or new > y:
            yield Region(x, old, y, new)
        x, y = old + run.length, new + run.length
    yield Region(x, gap.old_end, y, gap.new_end)
