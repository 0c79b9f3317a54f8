"""Follow places through the history of a file, by position and never by equal words.

Each file step stores the exact position of each edit. So a passage that one turn wrote can be followed through all
later turns, or be found to have been changed. For steps of other programs only both texts are known; they are compared
word by word.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from redraft.errors import RedraftError, Stale
from redraft.files.textfile import decode
from redraft.history.turns import EditPosition, dump_edits, load_positions
from redraft.review.blanks import blanks_to_save
from redraft.review.operations import is_shared
from redraft.review.runs import USER, turn_of
from redraft.text.diff.word_diff import compare, refine
from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.history.database import SnapshotId
    from redraft.history.turns import FileStep
    from redraft.review.review import Part, Review
    from redraft.review.runs import Run
    from redraft.workspace.engine import Engine


def positions_of_decision(
    review: Review, taken: Iterable[str], *, turn: str = "", typing: bool = False
) -> list[EditPosition]:
    """What accepting these hunks changes in the saved text; with a `turn`, only its part of hunks that several turns
    share. With `typing`, what saving the person's own edits changes."""
    wanted = set(taken)
    blanks = [] if typing else blanks_to_save(review, wanted, turn)
    blanks_of = {name: list(several) for name, several in groupby(blanks, lambda blank: blank.part)}
    places: list[EditPosition] = []
    at = 0
    for part in review.parts:
        if part.id and part.id in wanted:
            places += _turn_positions(part, at, turn) if is_shared(part, turn) else _find_accepted_positions(part, at)
        elif typing and not part.same:
            places += _find_typing_positions(part, at)
        else:
            for blank in blanks_of.get(part.id, ()):
                places.append(EditPosition(at + blank.saved_at, 0, blank.length, "", blank.name))
        at += len(part.saved)
    return places


def _find_accepted_positions(part: Part, at: int) -> list[EditPosition]:
    places: list[EditPosition] = []
    for run in part.runs:
        mark = run.by if run.is_agents else next(iter(run.marks), "")
        if not run.by and not run.in_working:
            places.append(EditPosition(at, len(run.text), 0, mark, part.id))
        elif run.by and run.in_working:
            places.append(EditPosition(at, 0, len(run.text), mark, part.id))
        at += 0 if run.by else len(run.text)
    return _join(places)


def _turn_positions(part: Part, at: int, turn: str) -> list[EditPosition]:
    places: list[EditPosition] = []
    for run in part.runs:
        mine = next((mark for mark in run.marks if turn_of(mark) == turn), "")
        if mine and mine in run.gone and not run.by:
            places.append(EditPosition(at, len(run.text), 0, mine, part.id))
        elif mine == run.by and mine and USER not in run.gone:
            places.append(EditPosition(at, 0, len(run.text), mine, part.id))
        at += 0 if run.by else len(run.text)
    return _join(places)


def _find_typing_positions(part: Part, at: int) -> list[EditPosition]:
    places: list[EditPosition] = []
    for run in part.runs:
        if not run.by and not run.in_own:
            places.append(EditPosition(at, len(run.text), 0, "", part.id))
        elif run.by and run.in_own:
            places.append(EditPosition(at, 0, len(run.text), "", part.id))
        at += 0 if run.by else len(run.text)
    return _join(places)


def _join(places: list[EditPosition]) -> list[EditPosition]:
    """Combine what one edit deletes and inserts at one place."""
    joined: list[EditPosition] = []
    for place in places:
        last = joined[-1] if joined else None
        if last is not None and last.at + last.old == place.at and last[3:] == place[3:]:
            joined[-1] = last._replace(old=last.old + place.old, new=last.new + place.new)
        else:
            joined.append(place)
    return joined


def positions_of_step(step: FileStep, before: str, after: str) -> list[EditPosition]:
    if step.edits is not None:
        return load_positions(step.edits)
    return [EditPosition(edit.at, len(edit.old), len(edit.new)) for edit in compare(before, after).edits]


def change_of(places: Sequence[EditPosition], before: str, after: str) -> Change:
    """The change at these positions, which leads from `before` to `after`."""
    edits: list[Edit] = []
    growth = 0
    for place in places:
        new_at = place.at + growth
        edits.append(Edit(place.at, before[place.at : place.at + place.old], after[new_at : new_at + place.new]))
        growth += place.new - place.old
    return Change(tuple(edits))


def step_change(engine: Engine, step: FileStep) -> Change:
    before, after = text_of(engine, step.before), text_of(engine, step.after)
    change = change_of(positions_of_step(step, before, after), before, after)
    try:
        fits = change.apply(before) == after
    except Stale:
        fits = False
    return change if fits else compare(before, after)


def invert_remaining(engine: Engine, turn: int, step: FileStep) -> Change:
    """The inverse of a turn's step, without what a scoped rollback already undid."""
    inverse = step_change(engine, step).invert()
    after = text_of(engine, step.after)
    left = list(range(len(inverse.edits)))
    for number, taken in engine.turns.rollbacks(turn, step.path):
        since = change_since(engine, turn, step.path, after, text_of(engine, taken.before), until=number)
        done = {part for edit in step_change(engine, taken).edits for part in refine(edit)}
        for index in list(left):
            there = inverse.only([index]).rebase(since)
            if there is not None and {part for edit in there.edits for part in refine(edit)} <= done:
                left.remove(index)
    return inverse.only(left)


def change_since(engine: Engine, turn: int, path: str, then: str, now: str, *, until: int | None = None) -> Change:
    """Everything that changed a file after a turn left it as `then`, up to the turn `until`; by then it said `now`."""
    found = Change()
    text = then
    for step in engine.turns.file_steps(path, after=turn, before=until):
        before = text_of(engine, step.before)
        if before != text:
            found = found.then(compare(text, before))
        found = found.then(step_change(engine, step))
        text = text_of(engine, step.after)
    return found if text == now else found.then(compare(text, now))


def edits_back(
    engine: Engine, turn: int, path: str, now: bytes | None, before: bytes | None, step: FileStep | None = None
) -> str | None:
    """The exact edits that return a file to where it was before a turn: the inverse of all its steps since. None if one
    of the sides is not text."""
    if now is None or before is None or (step is not None and step.after is None):
        return None
    try:
        old, current = decode(before).text, decode(now).text
    except RedraftError:
        return None
    done = Change() if step is None else step_change(engine, step)
    then = old if step is None else text_of(engine, step.after)
    return dump_edits(done.then(change_since(engine, turn, path, then, current)).invert())


# How a part can read after a decision: as before, without the agents' edits, with them, or as it is saved.
READINGS: tuple[Callable[[Run], bool], ...] = (
    lambda run: run.in_working,
    lambda run: run.in_own,
    lambda run: run.in_proposed,
    lambda run: not run.by,
)


def change_of_decision(review: Review, working: str) -> Change | None:
    """What decisions did to the visible text, to the character; `working` is the visible text now. None if it does not
    consist of the review's own characters."""
    ways: list[dict[int, tuple[int, int]]] = []  # per part where it may end now, where it began, and how it reads
    ends: Iterable[int] = (0,)
    for part in review.parts:
        found: dict[int, tuple[int, int]] = {}
        for number, reading in enumerate(READINGS[:1] if part.same else READINGS):
            text = "".join([run.text for run in part.runs if reading(run)])
            for start in ends:
                if working.startswith(text, start):
                    found.setdefault(start + len(text), (start, number))
        ways.append(found)
        ends = found.keys()
    at = len(working)
    chosen: list[int] = []
    for way in reversed(ways):
        if at not in way:
            return None
        at, number = way[at]
        chosen.append(number)
    return Change(tuple(_edits_of_readings(review, chosen[::-1])))


def _edits_of_readings(review: Review, chosen: Sequence[int]) -> Iterable[Edit]:
    at = 0
    for part, number in zip(review.parts, chosen, strict=True):
        edit = Edit(at, "", "")
        for run in part.runs:
            was, stays = run.in_working, READINGS[number](run)
            if was and stays:
                if edit.old or edit.new:
                    yield edit
                edit = Edit(edit.end + len(run.text), "", "")
            elif was or stays:
                edit = Edit(edit.at, edit.old + run.text * was, edit.new + run.text * stays)
        if edit.old or edit.new:
            yield edit
        at += len(part.working)


def text_of(engine: Engine, snapshot: SnapshotId | None) -> str:
    """The text of a snapshot; empty if there is none, or if it is not text."""
    data = None if snapshot is None else engine.store.get(snapshot)
    try:
        return "" if data is None else decode(data).text
    except RedraftError:
        return ""
