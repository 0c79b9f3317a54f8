"""Three-way merge of texts: by lines first, and by words where both sides changed the same lines.

A change of one side is taken; the same change of both sides is taken once; what each side changed differently is a
conflict, kept as a value in the result. The caller names the base: nothing is guessed from the texts, no
line is invented, and none is lost. If it is not certain that two changes are independent, they conflict.
"""

from __future__ import annotations

import re
from itertools import accumulate, cycle
from typing import TYPE_CHECKING

from redraft.text.diff.line_diff import Region, diff_lines, diff_sequences
from redraft.text.lines import split_lines
from redraft.text.merge.conflicts import CleanRegion, Conflict, Merge, Piece, merge_stretch, unchanged_piece
from redraft.text.merge.regions import RegionGroup, group_regions
from redraft.text.merge.word_merge import merge_words

if TYPE_CHECKING:
    from collections.abc import Iterator

# If both sides rewrote more than this in one stretch, a merge by words saves little and risks much; trying took 7 s on
# 1 MB rewritten twice.
BY_WORDS_UP_TO = 200_000

_AT_LINE_START = {"", "\r", "\n"}
_MARKS = re.compile(r"[^\w\s]+(?=\s|\Z)")

__all__ = ["CleanRegion", "Conflict", "Merge", "Piece", "merge"]


def merge(base: str, ours: str, theirs: str) -> Merge:
    """Merge what both sides changed since `base`. Swapping the sides only swaps them in the result."""
    pieces: list[Piece] = []
    at = 0
    for group in group_regions(_changes(base, ours), _changes(base, theirs)):
        if group.start > at:
            pieces.append(unchanged_piece(base[at : group.start]))
        pieces += _merge_lines(base, ours, theirs, group)
        at = group.end
    if at < len(base):
        pieces.append(unchanged_piece(base[at:]))
    return Merge(tuple(pieces))


def _changes(base: str, text: str) -> list[Region]:
    """The lines that a side changed, by code points.

    `diff_lines` continues from the nearest line on which both texts meet. If a passage was moved, that may be the wrong
    one: then most is reported as changed, and the little between as kept. A second look at such places decides which
    changes of the other side conflict, so it is worth its time; elsewhere it is not needed.
    """
    return _slide_down(base, text, _regions(base, text))


def _regions(base: str, text: str) -> list[Region]:
    found: list[Region] = []
    near: list[Region] = []
    largest = 0
    for lines in diff_lines(base, text):
        region = Region(lines.at, lines.until, lines.new_at, lines.new_until)
        if near and region.old_start - near[-1].old_end > max(largest, region.size):
            found += _second_look(base, text, near)
            near, largest = [], 0
        near.append(region)
        largest = max(largest, region.size)
    return found + _second_look(base, text, near)


def _slide_down(base: str, text: str, regions: list[Region]) -> list[Region]:
    """The regions, with pure insertions and deletions moved down as far as they mean the same: where equal lines
    repeat, both sides have to choose the same place, and this is the one that git chooses."""
    found: list[Region] = []
    end = len(base)
    for region in reversed(regions):
        if region.old_start == region.old_end or region.new_start == region.new_end:
            moving = text[region.new_start : region.new_end] or base[region.old_start : region.old_end]
            by = _distance(moving, base, region.old_end, end)
            region = Region(*(place + by for place in region))  # noqa: PLW2901
        found.append(region)
        end = region.old_start
    return found[::-1]


def _distance(moving: str, base: str, start: int, end: int) -> int:
    """How far lines can move over those that follow, each of which equals the line that it replaces in turn."""
    at = start
    for line in cycle(split_lines(moving)):
        after = at + len(line)
        if after > end or not base.startswith(line, at) or not _is_line(base, line, after):
            break
        at = after
    return at - start


def _is_line(base: str, line: str, after: int) -> bool:
    """Whether a passage is a whole line: terminated, and not before the "\\n" of its "\\r"."""
    return line[-1] == "\n" or (line[-1] == "\r" and not base.startswith("\n", after))


def _second_look(base: str, text: str, near: list[Region]) -> list[Region]:
    """The regions, or others for the same stretch that change less."""
    if len(near) < 2 or not _moves_lines(base, text, near):
        return near
    whole = near[0].join(near[-1])
    old = split_lines(base[whole.old_start : whole.old_end])
    new = split_lines(text[whole.new_start : whole.new_end])
    old_at = list(accumulate(map(len, old), initial=whole.old_start))
    new_at = list(accumulate(map(len, new), initial=whole.new_start))
    again = [
        Region(old_at[lines.old_start], old_at[lines.old_end], new_at[lines.new_start], new_at[lines.new_end])
        for lines in diff_sequences(old, new)
    ]
    return min(near, again, key=_extent)


def _moves_lines(base: str, text: str, near: list[Region]) -> bool:
    """Whether a line with a word in it is removed in one place and inserted in another."""
    removed = {line for region in near for line in split_lines(base[region.old_start : region.old_end])}
    added = {line for region in near for line in split_lines(text[region.new_start : region.new_end])}
    return any(any(map(str.isalnum, line)) for line in removed & added)


def _extent(regions: list[Region]) -> int:
    return sum(region.old_end - region.old_start + region.new_end - region.new_start for region in regions)


def _merge_lines(base: str, ours: str, theirs: str, group: RegionGroup) -> Iterator[Piece]:
    base = base[group.start : group.end]
    ours = ours[group.left_start : group.left_end]
    theirs = theirs[group.right_start : group.right_end]
    piece = merge_stretch(base, ours, theirs)
    if isinstance(piece, CleanRegion):
        yield piece
        return
    if len(base) + len(ours) + len(theirs) > BY_WORDS_UP_TO:
        yield Conflict(base, ours, theirs)
        return
    within = group._replace(
        left=tuple(_relative(region, group.start, group.left_start) for region in group.left),
        right=tuple(_relative(region, group.start, group.right_start) for region in group.right),
    )
    left = right = ""  # what each side ends with before a piece
    end = 0
    for piece in merge_words(base, ours, theirs, within):
        end += len(piece.base)
        amid = not _AT_LINE_START & {left, right}
        marks = _common_marks(piece, base[end:]) if amid and isinstance(piece, Conflict) else ""
        if marks:
            yield CleanRegion(marks, "both", "", marks, marks)
            yield merge_stretch("", piece.ours[len(marks) :], piece.theirs[len(marks) :])
        elif isinstance(piece, Conflict):
            yield from _without_common_lines(piece)
        else:
            yield piece
        left, right = piece.ours[-1:] or left, piece.theirs[-1:] or right


def _common_marks(conflict: Conflict, behind: str) -> str:
    """The punctuation with which both sides end the text before their additions: "The end" became "The end. One." and
    "The end. Two.", and has one full stop. Not punctuation that a word of the addition follows, like a bracket; nor
    what is `behind` them, which then is the base's own and the additions end with one each."""
    both = _MARKS.match(conflict.ours), _MARKS.match(conflict.theirs)
    found = {match[0] for match in both if match is not None}
    if conflict.base or len(found) != 1 or not all(both):
        return ""
    [marks] = found
    return "" if behind.startswith(marks) else marks


def _relative(region: Region, old: int, new: int) -> Region:
    return Region(region.old_start - old, region.old_end - old, region.new_start - new, region.new_end - new)


def _without_common_lines(conflict: Conflict) -> Iterator[Piece]:
    """The conflict without the whole lines that both sides share at its start and end, while each keeps some."""
    ours, theirs = split_lines(conflict.ours), split_lines(conflict.theirs)
    shorter = min(len(ours), len(theirs)) - 1
    front = 0
    while front < shorter and ours[front] == theirs[front]:
        front += 1
    back = 0
    while back < shorter - front and ours[-1 - back] == theirs[-1 - back]:
        back += 1
    head, tail = "".join(ours[:front]), "".join(ours[len(ours) - back :])
    if head:
        yield CleanRegion(head, "both", "", head, head)
    yield merge_stretch(
        conflict.base, "".join(ours[front : len(ours) - back]), "".join(theirs[front : len(theirs) - back])
    )
    if tail:
        yield CleanRegion(tail, "both", "", tail, tail)
