"""Match the blocks of a changed document to the old ones: unchanged, moved, or with other words. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from redraft.formats.rich.schema import Node, plain_text
from redraft.text.diff.sequence_diff import Region, diff_sequences

if TYPE_CHECKING:
    from collections.abc import Sequence

# Beyond this many comparisons blocks are paired in order: nobody rewrites so many at once and keeps their words.
_MOST = 10_000
_ALIKE = 0.3


@dataclass(frozen=True, slots=True)
class BlockSource:
    """Where a new block comes from: the old block's number, and whether it is identical."""

    number: int
    same: bool


def origins(old: Sequence[Node], new: Sequence[Node]) -> list[BlockSource | None]:
    """For each new block where it comes from, or None. No old block is used twice."""
    old_keys, new_keys = list(map(node_key, old)), list(map(node_key, new))
    regions = diff_sequences(old_keys, new_keys)
    found = _match_unmoved(regions, len(new))
    taken = _match_moved(regions, old_keys, new_keys, found)
    for region in regions:
        left = [number for number in range(region.old_start, region.old_end) if number not in taken]
        right = [number for number in range(region.new_start, region.new_end) if found[number] is None]
        for before, after in _pairs([old[number] for number in left], [new[number] for number in right]):
            found[right[after]] = BlockSource(left[before], False)
    return found


def _match_unmoved(regions: Sequence[Region], count: int) -> list[BlockSource | None]:
    """The blocks outside of the changed regions."""
    found: list[BlockSource | None] = [None] * count
    at = shift = 0
    for region in [*regions, Region(count, count, count, count)]:
        for number in range(at, region.new_start):
            found[number] = BlockSource(number + shift, True)
        at, shift = region.new_end, region.old_end - region.new_end
    return found


def _match_moved(
    regions: Sequence[Region], old: list[str], new: list[str], found: list[BlockSource | None]
) -> set[int]:
    """Blocks deleted in one place and identical in another; returns the numbers of the old ones."""
    removed: dict[str, list[int]] = defaultdict(list)
    for region in regions:
        for number in range(region.old_start, region.old_end):
            removed[old[number]].append(number)
    taken: set[int] = set()
    for number in (each for region in regions for each in range(region.new_start, region.new_end)):
        if removed.get(new[number]):
            origin = BlockSource(removed[new[number]].pop(0), True)
            found[number] = origin
            taken.add(origin.number)
    return taken


def node_key(shape: Node) -> str:
    return json.dumps(shape, sort_keys=True)


def _pairs(old: Sequence[Node], new: Sequence[Node]) -> list[tuple[int, int]]:
    """Which changed blocks belong together, in order."""
    if len(old) == len(new) or len(old) * len(new) > _MOST:
        return [(number, number) for number in range(min(len(old), len(new)))]
    best: dict[tuple[int, int], tuple[float, list[tuple[int, int]]]] = {}
    for i in range(len(old), -1, -1):
        for j in range(len(new), -1, -1):
            options: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
            if i < len(old):
                options.append(best[i + 1, j])
            if j < len(new):
                options.append(best[i, j + 1])
            if i < len(old) and j < len(new):
                likeness = _likeness(node_key(old[i]), node_key(new[j]))
                if likeness >= _ALIKE:
                    score, rest = best[i + 1, j + 1]
                    options.append((score + likeness, [(i, j), *rest]))
            best[i, j] = max(options, key=lambda option: option[0])
    return best[0, 0][1]


@lru_cache(maxsize=_MOST)
def _likeness(old: str, new: str) -> float:
    """From 0 to 1: the share of common words, plus a little for the same kind."""
    left, right = json.loads(old), json.loads(new)
    words, others = plain_text(left).split(), plain_text(right).split()
    shared = len(set(words) & set(others))
    same = 0.2 if left["type"] == right["type"] else 0.0
    return same + 0.8 * 2 * shared / max(1, len(set(words)) + len(set(others)))
