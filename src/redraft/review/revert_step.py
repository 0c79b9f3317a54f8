"""Undo one step of a review and keep what came after it.

A step (a decision, discarded typing, a turn) changed some parts and perhaps the saved text. To undo it, those parts are
restored, at the positions that follow from everything that changed the saved text since. If the place is not as the
step left it, there is no result: nothing is guessed from equal words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.review.blanks import set_insertions_apart
from redraft.review.outside_change import edit_saved_text
from redraft.review.review import Part, Review, group_runs, join_parts, join_runs
from redraft.review.runs import USER, Run, RunEdit, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from redraft.text.edits import Change

    Neighbours = tuple[Part | None, Part | None]
    Placed = tuple[int, Part, Neighbours]  # a place in the saved text, and what is pending there
    Typed = tuple[int, str, list[RunEdit]]  # a place in the saved text, the words that belong there, typing in them


def revert_step(
    now: Review,
    before: Review,
    after: Review,
    step: Change,
    since: Change,
    locate: Callable[[Review, Change], tuple[Change, Sequence[int]]],
) -> Review | None:
    """The review without the step from `before` to `after`; None if later changes meet it. `step` is what it did to the
    saved text, `since` what changed that text afterwards. `locate` returns a change that brings words back, with their
    places among what is unsaved (see `edit_saved_text`)."""
    if now == after:
        return before
    became = list(_place_pending(after))
    new = {(at, part.runs) for at, part, _ in became}
    gone = [
        (at, part, follower)
        for at, part, follower in _place_pending(before)
        if (step.map(at, after=False), part.runs) not in new
    ]
    old = {(step.map(at, after=False), part.runs) for at, part, _ in _place_pending(before)}
    if any(edit.at < at < edit.end for at, _, _ in gone for edit in step.edits):
        return None  # a place inside a passage that the step replaced cannot be followed
    review, gone = _lift_typing_out(now, gone, step, since)
    placed = [(since.map(at, after=False), part) for at, part, _ in became if (at, part.runs) not in old]
    review, typed = _take_parts_out(review, placed)
    back = step.invert().rebase(since)
    if review is None or back is None:
        return None
    if back.edits:
        located, passed = locate(review, back)
        review = edit_saved_text(review, located, around_typing=True, passed=passed)
    for at, part, beside in reversed(gone):
        # What came since has moved it as it moved what the step made of it.
        place = at + _place_of(part, at, step, since)[0] - step.map(at, after=False)
        if review is None or _is_overwritten(review, place, part):
            continue
        passed = _count_unsaved_before(now, since, step, at, part)
        review = _insert_part(review, place, part, beside, passed) or _put_part_around(review, place, part)
    for at, text, touches in reversed(typed):
        review = _type_at(review, back.map(at, after=False), text, touches) if review else None
    return None if review is None else Review(join_parts(group_runs(review.runs), [*before.parts, *now.parts]))


def _place_of(part: Part, at: int, step: Change, since: Change) -> tuple[int, int]:
    """Where the result of a step for a part is now. What was inserted right before it since is not part of it."""
    start, end = step.map(at, after=False), step.map(at + len(part.saved))
    return since.map(start, after=start < end), since.map(end, after=False)


def _count_unsaved_before(now: Review, since: Change, step: Change, at: int, part: Part) -> int | None:
    """How many unsaved characters are right before what the step inserted for a part; None if it inserted nothing, so
    that nobody can tell."""
    start, end = _place_of(part, at, step, since)
    if start == end:
        return None
    place = count = 0
    for run in now.runs:
        if run.by:
            count += len(run.text) if place == start else 0
        elif place + len(run.text) > start:
            break
        else:
            place += len(run.text)
    return count


def _lift_typing_out(now: Review, gone: list[Placed], step: Change, since: Change) -> tuple[Review, list[Placed]]:
    """The review without what the person typed, or an agent inserted, into words that the step deleted. Also the parts
    that come back with it, in which it is typed into a proposal."""
    review = now
    parts: list[Placed] = []
    for at, part, beside in gone:
        start, end = _place_of(part, at, step, since)
        typed: list[RunEdit] = []
        if now.saved[start:end] == part.working:
            review, typed = _lift_typing(review, start, end)
        runs = rewrite(part.runs, typed)
        parts.append((at, Part(tuple(set_insertions_apart(runs) if typed else runs), part.id), beside))
    return review, parts


def _lift_typing(review: Review, start: int, end: int) -> tuple[Review, list[RunEdit]]:
    """The review without what the person typed, or an agent inserted, in a stretch of its saved text; and that text, by
    its place there. What an agent replaced there stays, because it was made for the current words."""
    runs: list[Run] = []
    typed: list[RunEdit] = []
    replacing = {mark for run in review.runs for mark in run.gone if mark != USER}
    at = 0
    for run in review.runs:
        until = at if run.by else at + len(run.text)
        if start < at < end and run == Run(run.text, run.by) and run.by not in ("", *replacing):
            typed.append(RunEdit(at - start, at - start, run.text, run.by))
        elif run == Run(run.text, "", (USER,)) and start <= at and until <= end:
            typed.append(RunEdit(at - start, until - start, ""))
            runs.append(Run(run.text))
        else:
            runs.append(run)
        at = until
    return (Review(join_parts(group_runs(runs), review.parts)) if typed else review), typed


def _take_parts_out(review: Review, placed: list[tuple[int, Part]]) -> tuple[Review | None, list[Typed]]:
    """The review without these parts, and what the person has typed into each since."""
    typed: list[Typed] = []
    left: Review | None = review
    for at, part in placed:
        left, touches = _remove_part(left, at, part) if left else (None, [])
        typed += [(at, part.working, touches)] if touches else []
    return left, typed


def _type_at(review: Review, start: int, text: str, touches: list[RunEdit]) -> Review | None:
    """The review with what was typed into a proposal typed into the same words of the saved text; None if they are not
    there as they were."""
    at = working_at = 0
    for run in review.runs:
        until = at if run.by else at + len(run.text)
        if run.plain and at <= start and start + len(text) <= until and run.text[start - at :].startswith(text):
            distance = working_at + start - at
            moved = [touch._replace(start=touch.start + distance, end=touch.end + distance) for touch in touches]
            return Review(join_parts(group_runs(rewrite(review.runs, moved)), review.parts))
        at, working_at = until, working_at + (len(run.text) if run.in_working else 0)
    return None


def _is_overwritten(review: Review, at: int, part: Part) -> bool:
    """Whether the person has typed over everything that a part of their own replaced: their newer words stay."""
    if part.marks or not part.saved:
        return False
    place, end = 0, at + len(part.saved)
    for run in review.runs:
        if run.by:
            continue
        until = place + len(run.text)
        if place < end and at < until and USER not in run.gone:
            return False
        place = until
    return True


def _place_pending(review: Review) -> Iterator[Placed]:
    """What is pending, without the plain text around it, each with its place in the saved text and with what is pending
    right before and after it, without any text between them."""
    placed = list(_place_parts(review))
    for index, (at, part) in enumerate(placed):
        if not part.same:
            before = placed[index - 1] if index else None
            behind = placed[index + 1] if index + 1 < len(placed) else None
            beside = tuple(None if each is None or each[1].same else each[1] for each in (before, behind))
            yield at, part, (beside[0], beside[1])


def _place_parts(review: Review) -> Iterator[tuple[int, Part]]:
    at = 0
    for part in review.parts:
        pieces = [part] if part.same else _without_frame(part)
        for piece in pieces:
            yield at, piece
            at += len(piece.saved)


def _without_frame(part: Part) -> list[Part]:
    """A part as its pending core and the plain text around it."""
    runs = part.runs
    first = next(index for index, run in enumerate(runs) if not run.plain)
    last = len(runs) - next(index for index, run in enumerate(reversed(runs)) if not run.plain)
    cut = [Part(runs[:first]), Part(runs[first:last], part.id), Part(runs[last:])]
    return [each for each in cut if each.runs]


def _remove_part(review: Review, at: int, part: Part) -> tuple[Review | None, list[RunEdit]]:
    """The review without a part, and what the person has typed into the part since; no review if the part is not
    there."""
    parts = list(_place_parts(review))
    for index, (place, other) in enumerate(parts):
        runs, typed = (other.runs, []) if other.runs == part.runs else _without_typing(other)
        if place == at and runs == part.runs:
            kept = [each for _, each in parts]
            plain = Part((Run(part.saved),))
            return Review(join_parts([*kept[:index], plain, *kept[index + 1 :]])), typed
    return None, []


def _without_typing(part: Part) -> tuple[tuple[Run, ...], list[RunEdit]]:
    """The runs of a part without what the person did to them; and that, by its place in the remaining text."""
    runs: list[Run] = []
    typed: list[RunEdit] = []
    at = 0
    for run in part.runs:
        if run == Run(run.text, USER):
            typed.append(RunEdit(at, at, run.text))
            continue
        left = run.without(USER)
        until = at + len(run.text) if left.in_working else at
        if left != run and until > at:
            typed.append(RunEdit(at, until, ""))
        runs.append(left)
        at = until
    return Part(tuple(join_runs(runs))).runs, typed


def _put_part_around(review: Review, at: int, part: Part) -> Review | None:
    """The review with a part put over saved words into which the person has typed since; that typing stays inside
    it."""
    end = at + len(part.saved)
    if not part.saved or review.saved[at:end] != part.saved or any(run.by == USER for run in part.runs):
        return None
    plain, typed = _lift_typing(review, at, end)
    runs: list[Run] = []
    place = 0
    for run in part.runs:
        if run.by:
            runs.append(run)
            continue
        until = place + len(run.text)
        inside = [
            touch._replace(start=max(touch.start, place), end=min(touch.end, until))
            for touch in typed
            if touch.start < until and (place < touch.end or place == touch.start)
        ]
        typed_into = rewrite([Run(run.text)], inside, place)
        runs += [
            each if each.by else each._replace(gone=(*run.gone, *each.gone), clash=run.clash) for each in typed_into
        ]
        place = until
    return _insert_part(plain, at, Part(tuple(runs), part.id), (None, None)) if typed else None


def _insert_part(review: Review, at: int, part: Part, beside: Neighbours, passed: int | None = None) -> Review | None:
    """The review with a part inserted at a place of the saved text, after so many unsaved characters (`passed`), if
    that is known."""
    placed = list(_place_parts(review))
    kept = [each for _, each in placed]
    end = at + len(part.saved)
    before, behind = beside
    among = None if passed is None or part.saved else _insert_among_unsaved(review, at, passed, part)
    if among is not None:
        return among
    for index, (place, other) in enumerate(placed):
        if part.saved:
            break
        if behind is not None and place == at and other.runs == behind.runs:
            return Review(join_parts([*kept[:index], part, *kept[index:]]))
        if before is not None and place + len(other.saved) == at and other.runs == before.runs:
            return Review(join_parts([*kept[: index + 1], part, *kept[index + 1 :]]))
    for index, (place, other) in enumerate(placed):
        until = place + len(other.saved)
        if other.same and place <= at and end <= until and other.saved[at - place : end - place] == part.saved:
            head, tail = other.saved[: at - place], other.saved[end - place :]
            middle = [Part((Run(head),)), part, Part((Run(tail),))]
            return Review(join_parts([*kept[:index], *middle, *kept[index + 1 :]]))
    if not part.saved and (not kept or at in (0, len(review.saved))):
        return Review(join_parts([part, *kept] if at == 0 else [*kept, part]))
    return None


def _insert_among_unsaved(review: Review, at: int, passed: int, part: Part) -> Review | None:
    """The review with a part inserted after so many unsaved characters at a place of the saved text."""
    runs: list[Run] = []
    place = unsaved = 0
    left = list(reversed(review.runs))
    while left and (place, unsaved) != (at, passed):
        run = left.pop()
        wanted = passed - unsaved if run.by and place == at else at - place if not run.by else len(run.text)
        cut = min(wanted, len(run.text))
        if cut <= 0:
            return None
        runs.append(run._replace(text=run.text[:cut]))
        if cut < len(run.text):
            left.append(run._replace(text=run.text[cut:]))
        place, unsaved = (place, unsaved + cut) if run.by else (place + cut, 0)
    if (place, unsaved) != (at, passed):
        return None
    return Review(join_parts(group_runs([*runs, *part.runs, *reversed(left)]), [*review.parts, part]))
