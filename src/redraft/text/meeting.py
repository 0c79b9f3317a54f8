"""Where two texts agree, where they part, and where they meet again: places, found without cutting either into lines.

Equal text is passed over at the speed of comparing memory. After a difference the nearest line is sought that both
texts have, and that is unique nearby; a place is always the beginning of a line in both, and never lies between a "\\r"
and its "\\n". Nothing here says what changed into what: that is `matching`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from redraft.text.alignment import trivial
from redraft.text.galloping import common_suffix

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_STEP = 1 << 10
_LONGEST_STEP = 1 << 16
# How far ahead to look for a line on which both sides meet again, and how many lines to try.
_REACHES = ((2_000, 20), (30_000, 40))
# Within this, a meeting is believed; beyond, one line may be a line that was moved.
_NEAR = 2_000
# What proves that two places are the same: a line that is unique nearby, or so much text, whatever its lines.
_SHORTEST_PROOF = 12
_PROOF = 80
# Equal text around a difference that `changed` sees as well, so that it can choose where the change begins.
_CONTEXT = 240


class Place(NamedTuple):
    """A place that is the beginning of a line in both texts, or the end of both."""

    old: int
    new: int

    def moved(self, distance: int) -> Place:
        return Place(self.old + distance, self.new + distance)


def common_end(old: str, new: str) -> Place:
    """Where the lines begin that both texts have at their end."""
    common = common_suffix(old, new)
    place = Place(len(old), len(new)).moved(-common)
    if not common or (_begins_line(old, place.old) and _begins_line(new, place.new)):
        return place
    return place.moved(_next_line(old, place.old) - place.old)


def gallop(old: str, new: str, place: Place, end: Place) -> Place:
    """The last place up to which everything from `place` on is equal."""
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


def _line_before(old: str, new: str, place: Place, run: int) -> Place:
    """The last beginning of a line in the `run` code points after `place`, which are equal."""
    stop = place.old + run
    while True:
        stop = max(old.rfind("\n", place.old, stop), old.rfind("\r", place.old, stop), place.old - 1) + 1
        here = place.moved(stop - place.old)
        if here == place or (_begins_line(old, here.old) and _begins_line(new, here.new)):
            return here
        stop -= 1  # the run ends between "\r" and "\n"


def step_back(old: str, place: Place, settled: int | None) -> Place:
    """Some lines before `place`, all equal, and at least one of them left between it and what is settled in old."""
    low = max(place.old - _CONTEXT, 0)
    if settled is not None and low <= settled:
        begin = _next_line(old, settled, place.old)
    else:
        begin = low if _begins_line(old, low) else _next_line(old, low, place.old)
    return place.moved(begin - place.old)


def step_on(old: str, place: Place, limit: int) -> Place:
    """Some lines after `place`, all equal, and at least one left before `limit` in old, unless that is the end."""
    if limit == len(old) <= place.old + _CONTEXT:
        return place.moved(limit - place.old)
    stop = max(old.rfind("\n", place.old, min(place.old + _CONTEXT, limit - 1)) + 1, place.old)
    return place.moved(stop - place.old)


def meeting(old: str, new: str, place: Place, end: Place) -> tuple[Place, Place]:
    """Where both texts meet again, and up to where they then agree; the end, twice, if nowhere nearby."""
    if there := _beside(old, new, place, end):
        return there, gallop(old, new, there, end)
    for reach, tries in _REACHES:
        left = _Window(old, place.old, min(place.old + reach, end.old))
        right = _Window(new, place.new, min(place.new + reach, end.new))
        if there := _nearest(left, right, 1) or _nearest(left, right, tries):
            onward = gallop(old, new, there, end)
            # Far away it has to bring more with it than it passes over.
            passed = max(there.old - place.old, there.new - place.new)
            return (there, onward) if passed <= max(_NEAR, onward.old - there.old) else (end, end)
        if (left.stop, right.stop) == end:
            break
    return end, end


def _beside(old: str, new: str, place: Place, end: Place) -> Place | None:
    """Where the texts meet if just one line was replaced, inserted or taken out."""
    old_next = old.find("\n", place.old, end.old) + 1
    new_next = new.find("\n", place.new, end.new) + 1
    if not old_next or not new_next:
        return None
    for there in (Place(old_next, new_next), Place(place.old, new_next), Place(old_next, place.new)):
        line_end = old.find("\n", there.old, end.old) + 1
        proof = old[there.old : max(line_end, there.old + _PROOF)]
        within = line_end and there.old + len(proof) <= end.old and there.new + len(proof) <= end.new
        if within and new.startswith(proof, there.new) and not trivial(proof):
            return there
    return None


class _Window(NamedTuple):
    """A part of a text in which a line is looked for."""

    text: str
    at: int
    stop: int

    def only(self, line: str) -> int:
        """Where the line begins, if it is there and but once; else -1."""
        found = self.text.find(line, self.at, self.stop)
        if found < 0 or not _begins_line(self.text, found) or self.text.find(line, found + 1, self.stop) >= 0:
            return -1
        return found

    def ends_blank_line(self, at: int) -> bool:
        """Whether an empty line of the window, ended by a line feed, ends here."""
        return at > self.at and self.text[at - 1] == "\n" and (at - 1 == self.at or self.text[at - 2] == "\n")


def _nearest(left: _Window, right: _Window, tries: int) -> Place | None:
    """The nearest place that begins with one of the next few lines of either window, and has it but once in both."""
    found = [Place(*there) for there in _meetings(left, right, tries)]
    found += [Place(*there[::-1]) for there in _meetings(right, left, tries)]
    return min(found, key=sum, default=None)


def _meetings(here: _Window, there: _Window, tries: int) -> Iterator[tuple[int, int]]:
    """Where the next few telling lines of the one window stand in the other, of those that occur once in either."""
    begin = here.at
    while tries:
        until = here.text.find("\n", begin, here.stop) + 1
        if not until:
            return
        line = here.text[begin:until]
        if until - begin >= _SHORTEST_PROOF and not trivial(line):
            tries -= 1
            found = there.only(line)
            if found >= 0 and here.only(line) == begin:
                yield _before_blank_lines(here, begin, there, found)
        begin = until


def _before_blank_lines(here: _Window, begin: int, there: _Window, found: int) -> tuple[int, int]:
    """The place moved up over the blank lines that both windows have before it."""
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
