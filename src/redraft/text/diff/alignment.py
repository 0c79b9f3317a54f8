"""Which items of two sequences belong together.

The rules, in order: items with substance are matched before trivial ones, so that no blank line decides how a text is
read; items that occur once on each side are trusted as anchors if they are a fair share of what could match at all;
otherwise the longest common subsequence is searched (Myers), within a budget that makes the whole linear. The result
is partial: runs in order, and the caller asks again for what is between them. Nothing here knows about lines, words or
edits.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

H = TypeVar("H", bound=Hashable)
Pair = tuple[int, int]

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
            length = _agreement(old, index, new, there)
            runs.append(MatchingRun(index, there, length))
            index += length
        else:
            index += 1
    return runs


def _agreement(old: Sequence[H], index: int, new: Sequence[H], there: int) -> int:
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
