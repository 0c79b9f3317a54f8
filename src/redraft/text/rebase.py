"""Carry edits that were made for an earlier text forward to where they belong in a later one.

There are three ways to get past what happened in between. `rebase_over_own` passes edits of the caller's own: the
positions are known exactly and the caller knows about the change, so only an overlap stops it. `rebase_over_change`
passes somebody else's change that is known exactly: the addressed text and the lines beside it must be what they were.
`rebase_over_difference` passes changes of which only the result is known: the same, and no other part of the text may
read like it, since then nobody could say which one was meant. Each returns None if an edit cannot be carried; none of
them ever guesses.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import reduce
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.line_diff import diff_lines
from redraft.text.diff.sequence_diff import common_prefix, common_suffix
from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.text.edits import ChangeStep
    from redraft.text.text import Text


class _PassageInContext(NamedTuple):
    """An edit's passage with the line before it and the line after; `first` and `last`: there is no such line."""

    start: int
    end: int
    first: bool
    last: bool


class _EqualRun(NamedTuple):
    """A stretch of the old text that is also in the new one, `shift` code points further on."""

    start: int
    end: int
    shift: int


def rebase_over_own(asked: Sequence[Edit], places: Sequence[int], done: Change, landed: Change) -> list[int] | None:
    """Where edits go after others that were made for the same text and are already done.

    `asked` and `done` are edits of one text; `places` says where the asked ones are now, and `landed` is what `done`
    did there. Of two insertions at one position the one that was made first comes first.
    """
    ends = [edit.end for edit in done.edits]
    growths = list(accumulate((edit.growth for edit in landed.edits), initial=0))
    found: list[int] = []
    for edit, place in zip(asked, places, strict=True):
        before = bisect_right(ends, edit.at)
        if before < len(ends) and done.edits[before].at < edit.end:
            return None
        found.append(place + growths[before])
    return found


def rebase_over_change(edits: Sequence[Edit], change: Change, old: str, new: str) -> list[int] | None:
    """Where edits of `old` go in `new`, the result of `change`."""
    made = [edit for edit in change.edits if edit.old != edit.new]
    ends = [edit.end for edit in made]
    growths = list(accumulate((edit.growth for edit in made), initial=0))

    def shift(passage: _PassageInContext) -> int | None:
        before = bisect_right(ends, passage.start)
        touched = before < len(ends) and made[before].at < passage.end
        return None if touched else growths[before]

    return _shift_edits(edits, old, new, shift)


def rebase_over_difference(edits: Sequence[Edit], old: str, new: str) -> list[int] | None:
    """Where edits of `old` go in `new`, of which nothing is known except that it came later."""
    prefix, suffix = common_prefix(old, new), common_suffix(old, new)
    shorter = min(len(old), len(new))
    # However a single change is read (one more of several equal lines can be any of them), it is between these.
    head, tail = min(prefix, shorter - suffix), len(old) - min(suffix, shorter - prefix)
    runs: list[_EqualRun] | None = None
    doubtful: dict[_EqualRun, list[_PassageInContext]] = {}

    def shift(passage: _PassageInContext) -> int | None:
        nonlocal runs
        if passage.end <= head:
            return 0
        if passage.start >= tail:
            return len(new) - len(old)
        if runs is None:
            runs = _equal_runs(old, new)
        run = _run_around(runs, passage)
        if run is None:
            return None
        doubtful.setdefault(run, []).append(passage)
        return run.shift

    found = _shift_edits(edits, old, new, shift)
    if any(not _is_certain(run, passages, old, new) for run, passages in doubtful.items()):
        return None
    return found


def _shift_edits(
    edits: Sequence[Edit], old: str, new: str, shift: Callable[[_PassageInContext], int | None]
) -> list[int] | None:
    """The edits' positions moved by `shift`, if each has the same lines around it there."""
    bare = "\r" in old
    found: list[int] = []
    for edit in edits:
        passage = _with_neighbours(old, edit, bare=bare)
        distance = shift(passage)
        if distance is None or not _is_in_place(passage, distance, old, new):
            return None
        found.append(edit.at + distance)
    return found


def _with_neighbours(text: str, edit: Edit, *, bare: bool) -> _PassageInContext:
    start, end = edit.at, edit.end
    first = _line_start(text, start, bare=bare)
    if start == len(text) > first and edit.new[:1] in ("\r", "\n"):
        return _PassageInContext(first, end, first=False, last=True)  # new lines after a last one without a line end
    # A passage of whole lines ends where the next line starts; that line is the neighbour, not a part of it.
    whole = end if _is_line_start(text, end) else _line_end(text, end, bare=bare)
    return _PassageInContext(
        _line_start(text, first - 1, bare=bare) if first else 0,
        _line_end(text, whole, bare=bare),
        first == 0,
        whole == len(text),
    )


def _is_in_place(passage: _PassageInContext, distance: int, old: str, new: str) -> bool:
    """Whether the passage and the lines beside it are whole lines in the new text as well."""
    start, end = passage.start + distance, passage.end + distance
    if (passage.first and start != 0) or (passage.last and end != len(new)):
        return False
    if not _is_line_start(new, start):
        return False
    return end == len(new) or (_is_line_start(new, end) if _is_line_start(old, passage.end) else new[end] in "\r\n")


def _is_line_start(text: str, at: int) -> bool:
    return at == 0 or (text[at - 1] in "\r\n" and not text.startswith("\r\n", at - 1))


def _line_start(text: str, at: int, *, bare: bool) -> int:
    """Where the line of a position begins."""
    start = text.rfind("\n", 0, at) + 1
    if bare:
        carriage = text.rfind("\r", start, at)
        if text.startswith("\r\n", at - 1) and at > 0:  # between the two, which is not the start of a line
            carriage = text.rfind("\r", start, at - 1)
        start = max(start, carriage + 1)
    return start


def _line_end(text: str, at: int, *, bare: bool) -> int:
    """Where the line of a position ends, including its terminator."""
    feed = text.find("\n", at)
    end = len(text) if feed < 0 else feed + 1
    if bare:
        carriage = text.find("\r", at, end)
        if carriage >= 0 and not text.startswith("\r\n", carriage):
            end = carriage + 1
    return end


def _equal_runs(old: str, new: str) -> list[_EqualRun]:
    runs: list[_EqualRun] = []
    at = new_at = 0
    for region in diff_lines(old, new):
        runs.append(_EqualRun(at, region.at, new_at - at))
        at, new_at = region.until, region.new_until
    return [*runs, _EqualRun(at, len(old), new_at - at)]


def _run_around(runs: list[_EqualRun], passage: _PassageInContext) -> _EqualRun | None:
    index = bisect_left(runs, passage.start + 1, key=lambda run: run.start) - 1
    # Several may begin at one position where lines were only inserted; the last of them is the one that continues.
    run = runs[index]
    return run if run.start <= passage.start and passage.end <= run.end else None


def _is_certain(run: _EqualRun, passages: list[_PassageInContext], old: str, new: str) -> bool:
    """Whether the passages can be nowhere else: the text around them, up to the next change on either side,
    distinguishes them from above and from below. Otherwise equal lines may have been added or removed between them and
    the change."""
    first_end, last_start = min(each.end for each in passages), max(each.start for each in passages)
    above, below = old[run.start : first_end], old[last_start : run.end]
    return all(
        _is_only(text, part, at)
        for text, shift in ((old, 0), (new, run.shift))
        for part, at in ((above, run.start + shift), (below, last_start + shift))
    )


def _is_only(text: str, part: str, at: int) -> bool:
    return text.find(part) == at and text.find(part, at + 1) < 0


# Along what is known of the way from one version to another.


class KnownChange(NamedTuple):
    """A part of the way from an earlier text to a later one: what is known of it, and the text that it leads to."""

    steps: Sequence[ChangeStep]
    text: Text


def carry_forward(
    asked: Change,
    version: str,
    then: Text,
    legs: Iterable[KnownChange],
    is_own: Callable[[ChangeStep], bool] = lambda _: False,
) -> Change | None:
    """Edits of `then`, whose version is given, as edits of the text to which the legs lead; None where one of them
    cannot be carried there.

    Past the caller's own steps an edit goes unless they overlap; past anybody else's, known or not, only if its text
    and the lines beside it are what they were.
    """
    text, places = then, [edit.at for edit in asked.edits]
    for leg in legs:
        for own, group in groupby(leg.steps, is_own):
            steps = list(group)
            found = (
                _rebase_over_own(asked, version, places, steps)
                if own
                else _rebase_over_others(asked, places, steps, text)
            )
            if found is None:
                return None
            places = found
            text = reduce(lambda before, step: step.change.apply_to(before), steps, text)
        if text != leg.text:
            found = rebase_over_difference(_at(asked, places), str(text), str(leg.text))
            if found is None:
                return None
            places = found
        text = leg.text
    return Change(tuple(_at(asked, places)))


def _rebase_over_own(asked: Change, version: str, places: list[int], steps: list[ChangeStep]) -> list[int] | None:
    found: list[int] | None = places
    for step in steps:
        # Edits for one version are told apart there: since then, two places may have become one.
        together = step.made_for == version
        edits = asked.edits if together else _at(asked, found)
        found = rebase_over_own(edits, found, step.asked if together else step.change, step.change)
        if found is None:
            return None
    return found


def _rebase_over_others(asked: Change, places: list[int], steps: list[ChangeStep], text: Text) -> list[int] | None:
    change = reduce(Change.then, [step.change for step in steps])
    old = str(text)
    return rebase_over_change(_at(asked, places), change, old, change.apply(old))


def _at(asked: Change, places: Sequence[int]) -> list[Edit]:
    return [Edit(place, edit.old, edit.new) for edit, place in zip(asked.edits, places, strict=True)]
