"""Three-way merge of texts: by lines first, and by words where both sides changed the same lines.

A change of one side is taken; the same change of both sides is taken once; what each side changed differently is a
conflict, kept as a value in the result. The caller names the base: nothing is guessed from the texts, no
line is invented, and none is lost. If it is not certain that two changes are independent, they conflict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.line_diff import diff_lines
from redraft.text.diff.sequence_diff import Region, diff_sequences
from redraft.text.diff.word_diff import tokens
from redraft.text.lines import split_lines
from redraft.text.merge.conflicts import CleanRegion, Conflict, Merge, Piece, make_unchanged_piece, merge_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Group the changes of two sides to one base.
#
# Regions of different sides that overlap or touch in the base form a group, and groups are as small as that allows:
# two regions of one side that merely touch stay separate unless one of the other side connects them. Nothing here
# knows what the units are, looks at a text, or decides what becomes of a group.


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
            pieces.append(make_unchanged_piece(base[at : group.start]))
        pieces += _merge_lines(base, ours, theirs, group)
        at = group.end
    if at < len(base):
        pieces.append(make_unchanged_piece(base[at:]))
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
            by = _line_distance(moving, base, region.old_end, end)
            region = Region(*(place + by for place in region))  # noqa: PLW2901
        found.append(region)
        end = region.old_start
    return found[::-1]


def _line_distance(moving: str, base: str, start: int, end: int) -> int:
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


# Merge by words, where both sides changed the same lines.
#
# A word, punctuation or a blank that all three texts have between two changes separates them; changes that overlap or
# touch are a conflict. Two things are more careful than that. A word kept by chance in a rewritten passage does not
# separate: it joins the changes around it. And wrapping is not wording: a line break moved by one side is compatible
# with any change of the neighbouring words, and yields to a change of the very words around it.
#
# A clean result never joins two words into one; if it would, the lines are a conflict. Nothing here looks beyond the
# lines that it is given.


_BREAK = re.compile(r"\r\n?|\n")
# Common words are kept by chance if the changes on both sides of them are this many times as long, or one of them is
# that many times as long.
_CHANCE_BETWEEN = 2
_CHANCE_BESIDE = 4


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's text, and its word changes against the base."""

    base: str
    text: str
    regions: tuple[Region, ...]

    def old(self, region: Region) -> str:
        return self.base[region.old_start : region.old_end]

    def new(self, region: Region) -> str:
        return self.text[region.new_start : region.new_end]

    def is_blank(self, region: Region) -> bool:
        """Whether blanks were replaced with blanks."""
        return self.old(region).isspace() and self.new(region).isspace()

    def is_wrapping(self, region: Region) -> bool:
        """Whether a line break replaced other blanks, or the other way round."""
        return self.is_blank(region) and sorted(map(_breaks, (self.old(region), self.new(region)))) == [0, 1]

    def is_of_lines(self, region: Region) -> bool:
        """Whether more than one line of either text is involved."""
        return any(_breaks(text.strip()) for text in (self.old(region), self.new(region)))

    def is_rewording(self, region: Region) -> bool:
        """Whether words were replaced with words, without the blanks around them."""
        return all(text and text == text.strip() for text in (self.old(region), self.new(region)))


def merge_words(base: str, ours: str, theirs: str, lines: RegionGroup) -> list[Piece]:
    """The pieces of lines that both sides changed; `lines` says which, relative to the given texts."""
    left, right = _by_words(base, ours, lines.left), _by_words(base, theirs, lines.right)
    left, right = _step_aside(left, right), _step_aside(right, left)
    pieces = list(_pieces(left, right))
    if _glues_words(pieces) or _doubles_lines(pieces, ours, theirs):
        return [merge_stretch(base, ours, theirs)]
    return _join_conflicts(pieces)


def _by_words(base: str, text: str, lines: Sequence[Region]) -> _Side:
    side = _Side(base, text, ())
    found: list[Region] = []
    for region in lines:
        old, new = tokens(side.old(region)), tokens(side.new(region))
        old_at = list(accumulate(map(len, old), initial=region.old_start))
        new_at = list(accumulate(map(len, new), initial=region.new_start))
        words = [
            Region(old_at[word.old_start], old_at[word.old_end], new_at[word.new_start], new_at[word.new_end])
            for word in diff_sequences(old, new)
        ]
        for word in _join_chance_gaps(side, words, region):
            found += _peel_blanks(side, word)
    return _Side(base, text, tuple(found))


class _Wording(NamedTuple):
    """A region that changes more than blanks: its index in a list, and the letters before it, removed and inserted."""

    place: int
    gap: int
    old: int
    new: int

    @property
    def weight(self) -> int:
        return max(self.old, self.new)

    def join(self, other: _Wording) -> _Wording:
        return _Wording(self.place, self.gap, self.old + other.gap + other.old, self.new + other.gap + other.new)


def _join_chance_gaps(side: _Side, regions: list[Region], lines: Region) -> list[Region]:
    """Join regions between which words are only kept by chance. Changes of blanks alone join nothing."""
    joined: list[Region] = []
    wordings: list[_Wording] = []
    end = lines.old_start
    for region in regions:
        joined.append(region)
        old, new = _letters(side.old(region)), _letters(side.new(region))
        if not old and not new:
            continue
        wordings.append(_Wording(len(joined) - 1, _letters(side.base[end : region.old_start]), old, new))
        end = region.old_end
        while len(wordings) > 1 and _by_chance(*wordings[-2:]):
            first = wordings[-2].place
            joined[first:] = [joined[first].join(region)]
            wordings[-2:] = [wordings[-2].join(wordings[-1])]
    if wordings:
        _take_edges(side, joined, wordings, lines)
    return joined


def _by_chance(before: _Wording, after: _Wording) -> bool:
    smaller, larger = sorted((before.weight, after.weight))
    return after.gap * _CHANCE_BETWEEN <= smaller or after.gap * _CHANCE_BESIDE <= larger


def _take_edges(side: _Side, regions: list[Region], wordings: list[_Wording], lines: Region) -> None:
    """Extend a change of several lines over the words that it leaves by chance at either end of its lines."""
    first, last = wordings[0], wordings[-1]
    region = regions[last.place]
    if (
        side.is_of_lines(region)
        and _letters(side.base[region.old_end : lines.old_end]) * _CHANCE_BETWEEN <= last.weight
    ):
        regions[last.place :] = [region.join(lines)]
    region = regions[first.place]
    if side.is_of_lines(region) and first.gap * _CHANCE_BETWEEN <= first.weight:
        regions[: first.place + 1] = [lines.join(region)]


def _peel_blanks(side: _Side, region: Region) -> Iterator[Region]:
    """The region, with a change of the blanks at either edge as a separate region."""
    old, new = _edges(side.old(region)), _edges(side.new(region))
    start, end = region, region
    if old[1] and new[1] and old[0] and new[0] and old[0] != new[0]:
        start = Region(region.old_start + len(old[0]), 0, region.new_start + len(new[0]), 0)
        yield Region(region.old_start, start.old_start, region.new_start, start.new_start)
    if old[1] and new[1] and old[2] and new[2] and old[2] != new[2]:
        end = Region(0, region.old_end - len(old[2]), 0, region.new_end - len(new[2]))
    yield start.join(end)
    if end is not region:
        yield Region(end.old_end, region.old_end, end.new_end, region.new_end)


def _step_aside(side: _Side, other: _Side) -> _Side:
    """The same changes, placed so that an inserted or removed word does not touch its reworded neighbour.

    "a b c" became "a c" by losing either "b " or " b": whichever leaves a blank before a change of the other word.
    """
    begins = {region.old_start for region in other.regions if other.is_rewording(region)}
    ends = {region.old_end for region in other.regions if other.is_rewording(region)}
    taken = [*side.regions, *other.regions]
    moved: list[Region] = []
    for region in side.regions:
        there = region.shift(_distance(side, region, begins, ends))
        free = there != region and not any(_touch(there, near) for near in taken if near is not region)
        moved.append(there if free else region)
    return _Side(side.base, side.text, tuple(moved))


def _distance(side: _Side, region: Region, begins: set[int], ends: set[int]) -> int:
    """How far to move an inserted or removed word, so that its blank is between it and a rewording."""
    if region.old_end not in begins and region.old_start not in ends:
        return 0
    if side.old(region) and side.new(region):
        return 0
    before, _, after = _edges(side.old(region) + side.new(region))
    if _breaks(before) or _breaks(after):
        return 0
    if after and region.old_end in begins and side.base.endswith(after, 0, region.old_start):
        return -len(after)
    if before and region.old_start in ends and side.base.startswith(before, region.old_end):
        return len(before)
    return 0


def _touch(one: Region, other: Region) -> bool:
    return one.old_start <= other.old_end and other.old_start <= one.old_end


def _pieces(left: _Side, right: _Side) -> Iterator[Piece]:
    at = 0
    for group in group_regions(
        left.regions, right.regions, lambda ours, theirs: left.is_blank(ours) or right.is_blank(theirs)
    ):
        if group.start > at:
            yield make_unchanged_piece(left.base[at : group.start])
        base = left.base[group.start : group.end]
        ours = left.text[group.left_start : group.left_end]
        theirs = right.text[group.right_start : group.right_end]
        piece = merge_stretch(base, ours, theirs)
        if isinstance(piece, Conflict):
            wraps = all(map(left.is_wrapping, group.left)), all(map(right.is_wrapping, group.right))
            if wraps == (True, False):
                piece = CleanRegion(theirs, "theirs", base, ours, theirs)
            elif wraps == (False, True):
                piece = CleanRegion(ours, "ours", base, ours, theirs)
        yield piece
        at = group.end
    if at < len(left.base):
        yield make_unchanged_piece(left.base[at:])


def _glues_words(pieces: list[Piece]) -> bool:
    """Whether two cleanly merged pieces meet inside a word of the result."""
    run: list[str] = []
    for piece in [*pieces, Conflict("", "", "")]:
        if isinstance(piece, CleanRegion):
            run.append(piece.text)
            continue
        ends = set(accumulate(map(len, tokens("".join(run)))))
        if not ends.issuperset(filter(None, accumulate(map(len, run)))):
            return True
        run = []
    return False


def _doubles_lines(pieces: list[Piece], ours: str, theirs: str) -> bool:
    """Whether a line that both sides inserted, at places that only look different, would appear twice."""
    result = "".join(piece.text if isinstance(piece, CleanRegion) else piece.base for piece in pieces)
    counts = [Counter(split_lines(text)) for text in (result, ours, theirs)]
    return any(
        count > max(counts[1][line], counts[2][line])
        for line, count in counts[0].items()
        if line in counts[1] and line in counts[2] and any(map(str.isalnum, line))
    )


def _join_conflicts(pieces: list[Piece]) -> list[Piece]:
    """Join conflicts with less between them than in either."""
    result: list[Piece] = []
    conflict: list[Piece] = []  # and what is between it and the next
    end = weight = gap = 0
    for piece in pieces:
        size = _weight(piece)
        if isinstance(piece, CleanRegion):
            gap += size
            (conflict or result).append(piece)
            continue
        if gap > min(weight, size) or not conflict:
            result += _close_conflict(conflict, end)
            conflict, weight, gap = [], 0, 0
        conflict.append(piece)
        end = len(conflict)
        weight, gap = weight + gap + size, 0
    return result + _close_conflict(conflict, end)


def _close_conflict(conflict: list[Piece], end: int) -> list[Piece]:
    """The first `end` pieces as one conflict, and the rest as they are."""
    return [conflict[0] if end == 1 else _as_one(conflict[:end]), *conflict[end:]] if conflict else []


def _as_one(pieces: list[Piece]) -> Conflict:
    return Conflict(
        "".join(piece.base for piece in pieces),
        "".join(piece.ours for piece in pieces),
        "".join(piece.theirs for piece in pieces),
    )


def _weight(piece: Piece) -> int:
    return max(map(_letters, (piece.base, piece.ours, piece.theirs)))


def _letters(text: str) -> int:
    return sum(map(len, text.split()))


def _breaks(text: str) -> int:
    return len(_BREAK.findall(text))


def _edges(text: str) -> tuple[str, str, str]:
    """The blanks before, what they enclose, and the blanks after."""
    core = text.strip()
    at = text.find(core) if core else len(text)
    return text[:at], core, text[at + len(core) :]
