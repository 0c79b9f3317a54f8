"""The tombstones of a file, from the images and steps that the history keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.files.paths import DocPath
from redraft.files.textfile import decode
from redraft.history.recovery import read_or_none
from redraft.history.turns import State
from redraft.review.blanks import count_unsaved_from
from redraft.review.review import Review
from redraft.text.diff.word_diff import compare
from redraft.workspace.turns.edit_positions import positions_of_step, step_change, text_of
from redraft.workspace.undo.history_runs import FileChange
from redraft.workspace.undo.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.history.turns import FileStep, TurnRecord
    from redraft.text.edits import Change
    from redraft.workspace.engine import Engine


def collect_tombstones(engine: Engine, path: str, since: int, now: str, *, written: str = "") -> Tombstones:
    """Every character that a file and its reviews had since a turn, and since the decisions on turns that were undone
    after it: what their undo brought back stands at its own place, too. The file says `now`. `written` is a turn whose
    words are to be known though no decision took them: it wrote the file at once."""
    start = since
    while True:
        turns = engine.turns.on_file(path, since=start)
        sources = [original_turn(engine, turn) for turn in turns if turn.kind in ("undo", "rollback")]
        decisions = [each.id for source in sources for each in engine.turns.all_acceptances(source)]
        earliest = min([start, *(source.id for source in sources if source.kind == "accept"), *decisions])
        if earliest == start:
            break
        start = earliest
    tombstones = Tombstones(_first_image(engine, path, turns))
    for turn in turns:
        image = next((step for step in turn.reviews if step.path == path), None)
        if image is not None:
            tombstones.see(image_of(engine, image.before) or Review.of(tombstones.text))
        for step in turn.files:
            if step.path == path:
                _follow_step(engine, tombstones, turn, step, written)
        if image is not None:
            after = image_of(engine, image.after) or Review.of(tombstones.text)
            tombstones.see(after, accepts=turn.kind == "accept")
    if tombstones.text != now:
        tombstones.follow(FileChange(0, compare(tombstones.text, now)))
    return tombstones


def _first_image(engine: Engine, path: str, turns: Sequence[TurnRecord]) -> Review:
    for turn in turns[:1]:
        images = [image_of(engine, step.before) for step in turn.reviews if step.path == path]
        texts = [text_of(engine, step.before) for step in turn.files if step.path == path]
        return next((image for image in images if image), None) or Review.of("".join(texts[:1]))
    return Review.of("")


def image_of(engine: Engine, row: str | None) -> Review | None:
    return None if row is None else engine.documents.from_image(row).review


def _follow_step(engine: Engine, tombstones: Tombstones, turn: TurnRecord, step: FileStep, written: str) -> None:
    before, after = text_of(engine, step.before), text_of(engine, step.after)
    if tombstones.text != before:
        tombstones.follow(FileChange(turn.id, compare(tombstones.text, before)))
    change = step_change(engine, step)
    places = positions_of_step(step, before, after)
    exact = len(places) == len(change.edits)
    marks = tuple(place.mark for place in places) if exact else ()
    if turn.token == written:
        marks = tuple(f"{written}#{index}" for index in range(len(change.edits)))
        tombstones.follow(FileChange(turn.id, change, marks, at_once=True))
        return
    if turn.kind not in ("undo", "rollback"):
        review = next((image_of(engine, each.before) for each in turn.reviews if each.path == step.path), None)
        found = {
            index: count_unsaved_from(review, place.hunk) for index, place in enumerate(places) if exact and review
        }
        blanks = {index: count for index, count in found.items() if count}
        parts = tuple("" if index in blanks else place.hunk for index, place in enumerate(places)) if exact else ()
        tombstones.follow(FileChange(turn.id, change, marks, parts, blanks=blanks))
        return
    source = original_turn(engine, turn)
    tokens = tokens_of(engine, source, step.path)
    withdrawn = source.token if _takes_proposal_back(engine, turn) else ""
    scoped = turn.kind == "rollback"
    tombstones.follow(FileChange(turn.id, change, (), (), tokens, source.id, scoped, withdrawn, inverts=turn.source))


def _takes_proposal_back(engine: Engine, turn: TurnRecord) -> bool:
    """Whether an undo took a proposal back, or undid what brought it again."""
    back = False
    while turn.kind == "undo" and turn.source is not None:
        turn, back = engine.turns.get(turn.source), not back
    return back and turn.kind == "propose"


def locate(engine: Engine, turn: TurnRecord, path: str, review: Review, change: Change) -> tuple[Change, Sequence[int]]:
    """A change of a file that takes something of a turn back, with what it brings back at its place among what a review
    has there that is not saved: how much of that stands in front of each edit."""
    tombstones = collect_tombstones(engine, path, turn.id, review.saved)
    tombstones.see(review)
    return tombstones.locate(change, tokens_of(engine, turn, path), turn.id) or (change, ())


def original_turn(engine: Engine, turn: TurnRecord) -> TurnRecord:
    """The turn that an undo, a rollback, or the undo of one is about in the end."""
    while turn.kind in ("undo", "rollback") and turn.source is not None:
        turn = engine.turns.get(turn.source)
    return turn


def tokens_of(engine: Engine, turn: TurnRecord, path: str) -> set[str]:
    """The turns that have words in what a turn did to a document."""
    images = [image_of(engine, step.before) for step in turn.reviews if step.path == path and turn.kind == "accept"]
    return {turn.token, *(token for image in images if image for token in image.turns)}


def stands(engine: Engine, turn: TurnRecord) -> bool:
    """Whether anything of what a turn wrote into documents that it changed stands in one of them."""
    if turn.kind == "apply":
        return any(stands_in(engine, turn, step.path, turn.id) for step in turn.files)
    decisions = engine.turns.all_acceptances(turn) if turn.kind == "propose" else []
    places = {step.path: decision.id for decision in reversed(decisions) for step in decision.files}
    return any(stands_in(engine, turn, path, decision) for path, decision in places.items())


def stands_in(engine: Engine, turn: TurnRecord, path: str, since: int) -> bool:
    """Whether anything stands in a document of what a turn wrote there since some turn."""
    now = read_or_none(engine.root, DocPath(path))
    if now is None or not is_text(now):
        return False
    tombstones = collect_tombstones(engine, path, since, decode(now).text, written=find_writing_token(turn))
    others = engine.turns.by_tokens(tombstones.turns - {turn.token})
    return tombstones.has_standing(turn.token, {other.token for other in others if other.state is State.UNDONE})


def find_writing_token(turn: TurnRecord) -> str:
    return turn.token if turn.kind == "apply" else ""


def is_text(*sides: bytes) -> bool:
    try:
        for side in sides:
            decode(side)
    except RedraftError:
        return False
    return True
