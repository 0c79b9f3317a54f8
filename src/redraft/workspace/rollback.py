"""Taking turns back: undo, redo, restore, rollback.

Nothing is ever removed from the history: taking back is a new turn, and can itself be taken back. `undo` and a scoped
rollback bring the inverse of a change into the present and keep what came after; where the two meet, that is a conflict
and is named. `hard_all` sets the documents of a turn to what they were before it, whatever came after.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from redraft.errors import Refused
from redraft.files.paths import DocPath
from redraft.history.journal import FilePlan
from redraft.history.made import made_by
from redraft.history.turns import Author, State
from redraft.text.diff import Hunk, apply, diff
from redraft.text.merge import merge
from redraft.text.words import tokens
from redraft.workspace.decisions import close_decided
from redraft.workspace.engine import PERSON
from redraft.workspace.inverse import Clash, content_from, invert_turn, reset_turn, text_of
from redraft.workspace.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.history.journal import AuditLine
    from redraft.history.turns import FileStep, TurnRecord
    from redraft.workspace.engine import Engine

RollbackMode = Literal["hard_all", "scoped_selected"]


@dataclass(frozen=True, slots=True)
class TurnHunk:
    """One hunk of what a turn did to a document, with an id that is unique within the turn."""

    id: str
    path: str
    hunk: Hunk


@dataclass(slots=True)
class TakenBack:
    """The turn that took something back (None: nothing could be), and what stood in the way."""

    turn: TurnRecord | None
    conflicts: list[Clash] = field(default_factory=list[Clash])


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """agent-sidebar's three-way view: the present, what was before the turn, and what the turn made of it."""

    current: str
    checkpoint_base: str
    agent_proposed: str


def undo(
    engine: Engine, number: int | None = None, *, author: Author = PERSON, called: AuditLine | None = None
) -> TakenBack:
    """Take a turn back (by default the last), keeping everything that came after; all of it or nothing."""
    with engine.journal.locked():
        turn = engine.turns.get(number) if number is not None else engine.turns.last_to_undo()
        if turn is None:
            raise Refused("There is nothing to undo.", code="nothing_to_undo")
        return _undo(engine, turn, f"Undo: {turn.title}", author, called)


def redo(engine: Engine, *, author: Author = PERSON) -> TakenBack:
    """Take the last undo back."""
    with engine.journal.locked():
        turn = engine.turns.last_to_redo()
        if turn is None:
            raise Refused("There is nothing to redo.", code="nothing_to_undo")
        return _undo(engine, turn, turn.title.replace("Undo: ", "Redo: ", 1), author)


def _undo(engine: Engine, turn: TurnRecord, title: str, author: Author, called: AuditLine | None = None) -> TakenBack:
    check_standing(turn)
    plan, clashes = invert_turn(engine, turn)
    if clashes:
        return TakenBack(None, clashes)
    record = engine.carry_out(plan, author=author, kind="undo", title=title, source=turn.id, called=called)
    _drop_folders(engine, turn.id)
    close_decided(engine)
    return TakenBack(record)


def _drop_folders(engine: Engine, number: int) -> None:
    """Take the folders away that the turn made, where nothing is left in them."""
    for folder in reversed(made_by(engine.database, number)):
        engine.root.remove_empty_folders([folder])


def restore(engine: Engine, number: int, *, author: Author = PERSON) -> TakenBack:
    """Set every document of a turn to its checkpoint, the state before that turn."""
    with engine.journal.locked():
        turn = engine.turns.get(number)
        _check_kept(turn)
        engine.events.tell("checkpoint.rollback.started", checkpoint_id=number, mode="hard_all")
        plan = reset_turn(engine, turn)
        title = f"Restore the state before turn {number} ({turn.title})"
        record = engine.carry_out(plan, author=author, kind="restore", title=title, source=number)
        _drop_folders(engine, number)
        close_decided(engine)
    engine.events.tell("checkpoint.rollback.completed", checkpoint_id=number, turn=record.id)
    return TakenBack(record)


def rollback(
    engine: Engine, number: int, mode: RollbackMode, hunk_ids: Iterable[str] = (), *, author: Author = PERSON
) -> TakenBack:
    """`hard_all` is `restore`; `scoped_selected` takes back the chosen hunks and names those it could not."""
    if mode == "hard_all":
        return restore(engine, number, author=author)
    if mode != "scoped_selected":
        raise Refused(f"There is no rollback {mode!r}: use hard_all or scoped_selected.", mode=mode)
    with engine.journal.locked():
        turn = engine.turns.get(number)
        _check_kept(turn)
        if turn.state is State.PROPOSED:
            raise Refused(f"Turn {number} waits for a decision: reject its hunks.", code="conflict", turn=number)
        engine.events.tell("checkpoint.rollback.started", checkpoint_id=number, mode=mode)
        wanted = set(hunk_ids)
        known = {hunk.id for hunk in turn_hunks(engine, turn)}
        if not wanted or wanted - known:
            engine.events.tell("checkpoint.rollback.failed", checkpoint_id=number, hunk_ids=sorted(wanted - known))
            raise Refused(f"Turn {number} has no such hunk.", code="hunk_not_found", hunk_ids=sorted(wanted - known))
        plan, clashes = _scoped(engine, turn, wanted)
        record = None
        if plan.files:
            title = f"Take back {len(wanted) - len(clashes)} hunks of turn {number} ({turn.title})"
            record = engine.carry_out(plan, author=author, kind="rollback", title=title, source=number)
            _drop_folders(engine, number)
    kind = "checkpoint.rollback.failed" if clashes else "checkpoint.rollback.completed"
    engine.events.tell(kind, checkpoint_id=number, hunk_ids=[clash.hunk_id for clash in clashes])
    return TakenBack(record, clashes)


def turn_hunks(engine: Engine, turn: TurnRecord) -> list[TurnHunk]:
    """What a turn did, hunk by hunk: for a proposal, what it would do to the working texts."""
    found: list[TurnHunk] = []
    for path, before, after in turn_texts(engine, turn):
        for hunk in diff(before, after):
            name = hashlib.sha256(f"{path}\0{hunk.id}".encode()).hexdigest()[:10]
            found.append(TurnHunk(f"h_{name}", path, hunk))
    return found


def turn_texts(engine: Engine, turn: TurnRecord) -> list[tuple[str, str, str]]:
    """Per document what it said before and after the turn. A file that is no text says nothing."""
    texts: list[tuple[str, str, str]] = []
    for step in turn.files:
        if step.moved_from is None and step.after is None and _is_moved_away(turn, step):
            continue
        before = step.before
        if step.moved_from is not None:
            before = next((other.before for other in turn.files if other.path == step.moved_from), None)
        texts.append((step.path, text_of(engine, before), text_of(engine, step.after)))
    written = {step.path for step in turn.files}
    for step in turn.reviews:
        if step.path not in written and turn.kind == "propose":
            before, after = (engine.documents.from_image(row) if row else None for row in (step.before, step.after))
            base = before.review.working if before else after.review.base if after else ""
            texts.append((step.path, base, after.review.working if after else ""))
    return texts


def three_way(engine: Engine, number: int, path: str) -> ThreeWay:
    """The three texts that a person compares before rolling back."""
    turn = engine.turns.get(number)
    for where, before, after in turn_texts(engine, turn):
        if where == path:
            document = engine.documents.document(DocPath(path))
            return ThreeWay("" if document is None else str(document.text), before, after)
    raise Refused(f"Turn {number} did not touch {path}.", code="not_found", path=path)


def _scoped(engine: Engine, turn: TurnRecord, wanted: set[str]) -> tuple[Plan, list[Clash]]:
    plan, clashes = Plan(), list[Clash]()
    for path, before, after in turn_texts(engine, turn):
        mine = [hunk for hunk in turn_hunks(engine, turn) if hunk.path == path and hunk.id in wanted]
        if not mine:
            continue
        disk = engine.documents.on_disk(DocPath(path))
        draft = engine.documents.draft(path)
        if disk is None:
            clashes += [Clash(path, hunk.id, "the document is no longer there") for hunk in mine]
            continue
        hunks = diff(before, after)
        text, left = _without(before, hunks, {hunk.hunk.id for hunk in mine}, str(disk.text))
        clashes += [Clash(path, hunk.id, left[hunk.hunk.id]) for hunk in mine if hunk.hunk.id in left]
        if text != str(disk.text):
            # A document that the turn made, and of which nothing is left, goes as a whole.
            made = any(step.path == path and step.before is None for step in turn.files)
            content = None if made and not text else content_from(text, bom=disk.bom)
            plan.files.append(FilePlan(DocPath(path), disk.as_content(), content, disk.mode))
            if draft is not None:
                plan.drafts[draft.key] = None
                plan.put_draft(draft.with_disk(content.data if content else None))
    return plan, clashes


def _without(before: str, hunks: Sequence[Hunk], chosen: set[str], current: str) -> tuple[str, dict[str, str]]:
    """The present text with these hunks of a turn taken back, and why it could not be done with some of them."""
    left: dict[str, str] = {}
    after = apply(before, hunks)
    for run in _runs(hunks):
        wanted = [hunk.id for hunk in run if hunk.id in chosen]
        taken = set[str]()
        # All together, or else one by one, those that can be.
        for names in ([wanted] if wanted else []) + [[name] for name in wanted if len(wanted) > 1]:
            if taken.issuperset(names) or _tears_words(run, taken.union(names)):
                continue
            others = {hunk.id for hunk in hunks}.difference(names)
            merged = merge(after, current, apply(before, hunks, others))
            if merged.clean:
                current = merged.text
                taken.update(names)
        for name in set(wanted) - taken:
            torn = _tears_words(run, {name})
            left[name] = "it holds words of the hunk beside it" if torn else "it was changed again since"
    return current, left


def _runs(hunks: Iterable[Hunk]) -> list[list[Hunk]]:
    """The hunks in runs of those that touch."""
    runs: list[list[Hunk]] = []
    for hunk in hunks:
        if runs and runs[-1][-1].edit.end == hunk.at:
            runs[-1].append(hunk)
        else:
            runs.append([hunk])
    return runs


def _tears_words(run: Sequence[Hunk], chosen: set[str]) -> bool:
    """Whether taking these hunks back without the others of their run would lose or double words that the turn left.

    Where a turn wrote into a line, the diff may tell the words before that place as put in by one hunk and taken out by
    the next.
    """
    old, new, result = (
        Counter(word for word in tokens("".join(texts)) if not word.isspace())
        for texts in (
            [hunk.old_text for hunk in run],
            [hunk.new_text for hunk in run],
            [hunk.old_text if hunk.id in chosen else hunk.new_text for hunk in run],
        )
    )
    return bool((old & new) - result) or bool(result - (old | new))


def _is_moved_away(turn: TurnRecord, step: FileStep) -> bool:
    return any(other.moved_from == step.path for other in turn.files)


def check_standing(turn: TurnRecord) -> None:
    """Refuse a turn that cannot be taken back as it stands."""
    _check_kept(turn)
    if turn.state not in (State.APPLIED, State.PROPOSED):
        raise Refused(f"Turn {turn.id} is {turn.state}.", code="nothing_to_undo", turn=turn.id)
    if turn.kind == "propose" and turn.state is State.APPLIED:
        raise Refused(
            f"Turn {turn.id} was proposed and accepted: undo the acceptance.", code="nothing_to_undo", turn=turn.id
        )


def _check_kept(turn: TurnRecord) -> None:
    if turn.pruned:
        raise Refused(f"Turn {turn.id} is older than the history is kept.", code="nothing_to_undo", turn=turn.id)
