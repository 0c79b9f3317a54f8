"""Which parts of two texts differ, by their lines.

`diff_lines` compares whole texts and looks only where they differ: it skips equal text in growing steps (galloping),
finds a line nearby on which both sides meet again, and continues from there; only if there is no such line are all
remaining lines compared. It is deterministic and, up to a logarithm, linear. It does not know what a paragraph or a
word is.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.sequence_diff import Region, common_suffix, diff_sequences, is_trivial
from redraft.text.lines import count_breaks, count_lines, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where two texts agree, where they diverge, and where they meet again: positions, found without splitting either text.
#
# Equal text is skipped at the speed of comparing memory. After a difference, the nearest line is searched that both
# texts have and that is unique nearby; a position is always the beginning of a line in both, and never between a "\r"
# and its "\n". Nothing here says what changed into what: `diff_lines` does.


_FIRST_STEP = 1 << 10
_LONGEST_STEP = 1 << 16
# How far ahead to search for a line on which both sides meet again, and how many lines to try.
_REACHES = ((2_000, 20), (30_000, 40))
# Within this distance a meeting is trusted; beyond it, a single line may be one that was moved.
_NEAR = 2_000
# What proves that two positions are the same: a line that is unique nearby, or this much text, whatever its lines.
_SHORTEST_PROOF = 12
_PROOF = 80
# Equal text around a difference that `diff_sequences` sees as well, so that it can choose where the change begins.
_CONTEXT = 240


class SyncPoint(NamedTuple):
    """A position that is the beginning of a line in both texts, or the end of both."""

    old: int
    new: int

    def shift(self, distance: int) -> SyncPoint:
        return SyncPoint(self.old + distance, self.new + distance)


def common_end(old: str, new: str) -> SyncPoint:
    """Where the lines begin that both texts have at their end."""
    common = common_suffix(old, new)
    place = SyncPoint(len(old), len(new)).shift(-common)
    if not common or (_begins_line(old, place.old) and _begins_line(new, place.new)):
        return place
    return place.shift(_next_line(old, place.old) - place.old)


def skip_equal(old: str, new: str, place: SyncPoint, end: SyncPoint) -> SyncPoint:
    """The last position up to which everything from `place` on is equal."""
    x, y = place
    left = min(end.old - x, end.new - y)
    step = _FIRST_STEP
    while left and old[x : x + (step := min(step, left))] == new[y : y + step]:
        x, y, left, step = x + step, y + step, left - step, min(step * 4, _LONGEST_STEP)
    while left and step > 1:
        half = step // 2
        if old[x : x + half] == new[y : y + half]:
            x, y, half = x + half, y + half, step - half
        step = half
    return end if (x, y) == end else _line_before(old, new, place, x - place.old)


def _line_before(old: str, new: str, place: SyncPoint, run: int) -> SyncPoint:
    """The last beginning of a line in the `run` code points after `place`, which are equal."""
    stop = place.old + run
    while True:
        stop = max(old.rfind("\n", place.old, stop), old.rfind("\r", place.old, stop), place.old - 1) + 1
        here = place.shift(stop - place.old)
        if here == place or (_begins_line(old, here.old) and _begins_line(new, here.new)):
            return here
        stop -= 1  # the run ends between "\r" and "\n"


def step_back(old: str, place: SyncPoint, settled: int | None) -> SyncPoint:
    """Some lines before `place`, all equal, leaving at least one of them between it and what is settled in old."""
    low = max(place.old - _CONTEXT, 0)
    if settled is not None and low <= settled:
        begin = _next_line(old, settled, place.old)
    else:
        begin = low if _begins_line(old, low) else _next_line(old, low, place.old)
    return place.shift(begin - place.old)


def step_forward(old: str, place: SyncPoint, limit: int) -> SyncPoint:
    """Some lines after `place`, all equal, leaving at least one before `limit` in old, unless that is the end."""
    if limit == len(old) <= place.old + _CONTEXT:
        return place.shift(limit - place.old)
    stop = max(old.rfind("\n", place.old, min(place.old + _CONTEXT, limit - 1)) + 1, place.old)
    return place.shift(stop - place.old)


def resync(old: str, new: str, place: SyncPoint, end: SyncPoint) -> tuple[SyncPoint, SyncPoint]:
    """Where both texts meet again, and up to where they then agree; the end, twice, if nowhere nearby."""
    if there := _resync_nearby(old, new, place, end):
        return there, skip_equal(old, new, there, end)
    for reach, tries in _REACHES:
        left = _Window(old, place.old, min(place.old + reach, end.old))
        right = _Window(new, place.new, min(place.new + reach, end.new))
        if there := _nearest(left, right, 1) or _nearest(left, right, tries):
            onward = skip_equal(old, new, there, end)
            # Far away, a meeting has to match more text than it skips.
            passed = max(there.old - place.old, there.new - place.new)
            return (there, onward) if passed <= max(_NEAR, onward.old - there.old) else (end, end)
        if (left.stop, right.stop) == end:
            break
    return end, end


def _resync_nearby(old: str, new: str, place: SyncPoint, end: SyncPoint) -> SyncPoint | None:
    """Where the texts meet if just one line was replaced, inserted or deleted."""
    old_next = old.find("\n", place.old, end.old) + 1
    new_next = new.find("\n", place.new, end.new) + 1
    if not old_next or not new_next:
        return None
    for there in (SyncPoint(old_next, new_next), SyncPoint(place.old, new_next), SyncPoint(old_next, place.new)):
        line_end = old.find("\n", there.old, end.old) + 1
        proof = old[there.old : max(line_end, there.old + _PROOF)]
        within = line_end and there.old + len(proof) <= end.old and there.new + len(proof) <= end.new
        if within and new.startswith(proof, there.new) and not is_trivial(proof):
            return there
    return None


class _Window(NamedTuple):
    """A part of a text in which a line is searched."""

    text: str
    at: int
    stop: int

    def only(self, line: str) -> int:
        """Where the line begins, if it occurs exactly once; else -1."""
        found = self.text.find(line, self.at, self.stop)
        if found < 0 or not _begins_line(self.text, found) or self.text.find(line, found + 1, self.stop) >= 0:
            return -1
        return found

    def ends_blank_line(self, at: int) -> bool:
        """Whether an empty line of the window, ended by a line feed, ends here."""
        return at > self.at and self.text[at - 1] == "\n" and (at - 1 == self.at or self.text[at - 2] == "\n")


def _nearest(left: _Window, right: _Window, tries: int) -> SyncPoint | None:
    """The nearest position at one of the next few lines of either window that occurs exactly once in both."""
    found = [SyncPoint(*there) for there in _sync_points(left, right, tries)]
    found += [SyncPoint(*there[::-1]) for there in _sync_points(right, left, tries)]
    return min(found, key=sum, default=None)


def _sync_points(here: _Window, there: _Window, tries: int) -> Iterator[tuple[int, int]]:
    """Where the next few distinctive lines of one window are in the other, of those that occur once in each."""
    begin = here.at
    while tries:
        until = here.text.find("\n", begin, here.stop) + 1
        if not until:
            return
        line = here.text[begin:until]
        if until - begin >= _SHORTEST_PROOF and not is_trivial(line):
            tries -= 1
            found = there.only(line)
            if found >= 0 and here.only(line) == begin:
                yield _before_blank_lines(here, begin, there, found)
        begin = until


def _before_blank_lines(here: _Window, begin: int, there: _Window, found: int) -> tuple[int, int]:
    """The position moved up over the blank lines that both windows have before it."""
    while here.ends_blank_line(begin) and there.ends_blank_line(found):
        begin, found = begin - 1, found - 1
    return begin, found


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n" or (text[at - 1] == "\r" and not text.startswith("\n", at))


def _next_line(text: str, at: int, limit: int | None = None) -> int:
    """Where the next line begins after `at`, or `limit` (the text's end) if none begins before it."""
    limit = len(text) if limit is None else limit
    stop = text.find("\n", at, limit) + 1 or limit
    bare = text.find("\r", at, stop)
    return bare + 1 if bare >= 0 and _begins_line(text, bare + 1) else stop


# Meeting again costs about as much as comparing this many code points line by line; if the texts keep meeting for less,
# comparing all the rest at once is cheaper.
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


def diff_lines(old: str, new: str) -> list[LineRegion]:
    """The lines that differ, in order, not touching; everything between them is equal."""
    found: list[Region] = []  # in code points
    end = common_end(old, new)
    place = skip_equal(old, new, SyncPoint(0, 0), end)
    patience = _PATIENCE
    while place != end:
        met, onward = resync(old, new, place, end) if patience else (end, end)
        gap = Region(place.old, met.old, place.new, met.new)
        if _is_plain(old, new, gap):
            found.append(gap)
        else:
            start = step_back(old, place, found[-1].old_end if found else None)
            found += _compare(old, new, start, step_forward(old, met, onward.old if onward != end else len(old)))
        worthwhile = onward.old - met.old >= _WORTHWHILE
        patience = min(patience + 1, _PATIENCE) if worthwhile else patience - 1
        place = onward
    return list(_number_lines(old, new, found))


def _is_plain(old: str, new: str, gap: Region) -> bool:
    """Whether a gap is one line for another, or lines on one side with only one possible position: nothing to
    compare."""
    removed, added = old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end]
    if removed and added:
        return _is_one_line(removed) and _is_one_line(added)
    block, text, at = (removed, old, gap.old_start) if removed else (added, new, gap.new_start)
    first, last = block[: block.find("\n") + 1], block[block.rfind("\n", 0, -1) + 1 :]
    return not text.startswith(first, at + len(block)) and not text.endswith(last, 0, at)


def _is_one_line(text: str) -> bool:
    return text.find("\n") == len(text) - 1 and text.find("\r", 0, -2) < 0


def _compare(old: str, new: str, start: SyncPoint, stop: SyncPoint) -> Iterator[Region]:
    """The regions between two positions, in code points."""
    left, right = split_lines(old[start.old : stop.old]), split_lines(new[start.new : stop.new])
    regions = diff_sequences(left, right)
    old_at = list(accumulate(map(len, left), initial=start.old))
    new_at = list(accumulate(map(len, right), initial=start.new))
    for region in regions:
        yield Region(old_at[region.old_start], old_at[region.old_end], new_at[region.new_start], new_at[region.new_end])


def _number_lines(old: str, new: str, regions: list[Region]) -> Iterator[LineRegion]:
    at = line = new_line = 0
    bare = "\r" in old
    for region in regions:
        # Nearly all of the text is equal: if it has only one kind of line ending, it need not be copied.
        equal = count_breaks(old[at : region.old_start]) if bare else old.count("\n", at, region.old_start)
        line, new_line = line + equal, new_line + equal
        old_end = line + count_lines(old[region.old_start : region.old_end])
        new_end = new_line + count_lines(new[region.new_start : region.new_end])
        yield LineRegion(line, old_end, new_line, new_end, *region)
        at, line, new_line = region.old_end, old_end, new_end
