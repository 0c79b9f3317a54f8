"""The plan that takes a turn back: by merging its inverse into the present, or by setting things as they were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from redraft.errors import RedraftError
from redraft.files.paths import DocPath
from redraft.files.textfile import decode, encode
from redraft.history.journal import Content, FilePlan
from redraft.history.recovery import read_or_none
from redraft.review.review import Review
from redraft.review.step import without_step
from redraft.text.merge import merge
from redraft.text.text import Text
from redraft.workspace.decisions import left_of_turn, was_taken
from redraft.workspace.plan import Plan

if TYPE_CHECKING:
    from redraft.history.store import SnapshotId
    from redraft.history.turns import FileStep, ReviewStep, TurnRecord
    from redraft.workspace.draft import Draft
    from redraft.workspace.engine import Engine


@dataclass(frozen=True, slots=True)
class Clash:
    """Something that could not be taken back, and why."""

    path: str
    hunk_id: str
    reason: str


class NotClean(Exception):
    """The inverse meets later changes."""


def invert_turn(engine: Engine, turn: TurnRecord) -> tuple[Plan, list[Clash]]:
    """The turn's inverse, merged into the present."""
    plan, clashes = Plan(), list[Clash]()
    disk_after: dict[str, bytes | None] = {}
    moved = {step.moved_from: step.path for step in turn.files if step.moved_from is not None}
    for step in turn.files:
        try:
            file = _inverse_file(engine, step, moved)
        except NotClean as why:
            clashes.append(Clash(step.path, "", str(why)))
            continue
        if file is not None:
            plan.files.append(file)
            disk_after[step.path] = file.after.data if file.after else None
    sources = _review_moves(engine, turn)
    for step in turn.reviews:
        if step in sources.values():
            continue  # goes with the place that it was moved to
        try:
            _inverse_review(engine, plan, turn, step, sources.get(step.path), disk_after)
        except NotClean as why:
            clashes.append(Clash(step.path, "", str(why)))
    clashes += _let_others_follow(engine, plan, disk_after, {place: source for source, place in moved.items()})
    clashes += [Clash(path, "", f"the document stands at {other} now") for other, path in _rivals(engine, plan).items()]
    return plan, clashes


def _rivals(engine: Engine, plan: Plan) -> dict[str, str]:
    """Drafts that would be left beside one of the plan's for the same file, each with the plan's. A file has one."""
    found: dict[str, str] = {}
    for key, draft in plan.drafts.items():
        other = None if draft is None or draft.base_path is None else engine.reviews.standing_for(draft.base_path)
        if other is not None and other not in plan.drafts:
            found[other] = key
    return found


def _inverse_file(engine: Engine, step: FileStep, moved: dict[str, str]) -> FilePlan | None:
    path = DocPath(step.path)
    now = read_or_none(engine.root, path)
    before, after = bytes_of(engine, step.before), bytes_of(engine, step.after)
    if now == before:
        return None
    if now == after:
        return file_plan(path, now, before, step, moved)
    if now is None:
        raise NotClean("the document was deleted or moved since")
    if before is None:
        raise NotClean("the document was changed since it was created")
    if after is None:
        raise NotClean("another document was put in its place since")
    try:
        old, current, wanted = (decode(data).text for data in (after, now, before))
    except RedraftError as error:
        raise NotClean("the document is no text any more") from error
    merged = merge(old, current, wanted)
    if not merged.clean:
        raise NotClean("the same words were changed again since")
    return file_plan(path, now, encode(merged.text, decode(now).bom), step, moved)


def _review_moves(engine: Engine, turn: TurnRecord) -> dict[str, ReviewStep]:
    """For each place to which the turn moved a draft, the step that took it from its old one: they are one change."""
    gone = [step for step in turn.reviews if step.before is not None and step.after is None]
    found: dict[str, ReviewStep] = {}
    for step in turn.reviews:
        if step.before is not None or step.after is None:
            continue
        home = engine.documents.from_image(step.after).base_path
        homes = {home, *(file.moved_from for file in turn.files if file.path == home and file.moved_from)}
        for source in gone:
            if source.before is not None and engine.documents.from_image(source.before).base_path in homes:
                found[step.path] = source
                gone.remove(source)
                break
    return found


def _inverse_review(
    engine: Engine,
    plan: Plan,
    turn: TurnRecord,
    step: ReviewStep,
    source: ReviewStep | None,
    disk_after: dict[str, bytes | None],
) -> None:
    current = engine.documents.draft(step.path)
    was = step.before if source is None else source.before
    before, after = (engine.documents.from_image(row) if row else None for row in (was, step.after))
    if source is not None:
        if engine.documents.draft(source.path) is not None:
            if current is None:
                return  # it went back already
            raise NotClean(f"another document stands at {source.path} by now")
        plan.drafts[source.path] = None
    if current == after:
        restored = before
    elif (proposal := _proposal_to_withdraw(engine, turn, current)) is not None:
        left = set[str]() if current is None else set(left_of_turn(current, proposal))
        restored = current.rejected(left) if current is not None and left else current
    elif current is None and after is not None and after.saved and _disk_then(engine, after, disk_after) is None:
        raise NotClean("the document was deleted or moved since")
    else:
        restored = _merged_review(engine, turn, step.path, current, before, after)
    plan.drafts[step.path] = None
    if restored is not None:
        data = _disk_then(engine, restored, disk_after)
        plan.put_draft(restored.with_disk(data) if restored is before else replace(restored, saved=data))


def _proposal_to_withdraw(engine: Engine, turn: TurnRecord, current: Draft | None) -> TurnRecord | None:
    """The proposal that is taken back, where a person took some of it, or where nothing of it is left.

    What was taken stays until its acceptance is undone: merging the inverse would propose, in nobody's name, to take
    out again what the person accepted. And where nothing is left, there is nothing that later changes could meet.
    """
    takes_away = True
    while turn.kind == "undo" and turn.source is not None:
        turn, takes_away = engine.turns.get(turn.source), not takes_away
    if not takes_away or turn.kind != "propose":
        return None
    left = current is not None and (current.turn == turn.token or current.has_hunk_of(turn.token))
    return None if left and not was_taken(engine, turn) else turn


def _disk_then(engine: Engine, draft: Draft, disk_after: dict[str, bytes | None]) -> bytes | None:
    """What the disk will hold, once the plan is carried out, where this draft's file lies."""
    where = draft.base_path or draft.key
    return disk_after[where] if where in disk_after else read_or_none(engine.root, DocPath(where))


def _merged_review(
    engine: Engine, turn: TurnRecord, path: str, current: Draft | None, before: Draft | None, after: Draft | None
) -> Draft | None:
    """All three texts with the step's change taken back; what was typed or decided since stays."""
    disk = engine.documents.on_disk(DocPath(path))
    now = current.review if current else Review.of("" if disk is None else str(disk.text))
    old = before.review if before else Review.of(_text_then(engine, turn, path, after, "before"))
    new = after.review if after else Review.of(_text_then(engine, turn, path, before, "after"))
    review = without_step(now, old, new)
    if review is None:
        raise NotClean("the same words were changed or decided again since")
    like = before or current
    if like is None:
        return None
    if before is None:
        like = replace(like, path=like.base_path or like.path)
    return replace(like, review=review)


def _text_then(
    engine: Engine, turn: TurnRecord, path: str, other: Draft | None, side: Literal["before", "after"]
) -> str:
    """What the file said on a side of the turn that has no draft: the turn's own image, or what the draft then saw."""
    step = next((step for step in turn.files if step.path == path), None)
    if step is not None:
        return text_of(engine, step.before if side == "before" else step.after)
    return "" if other is None else other.saved_text


def reset_turn(engine: Engine, turn: TurnRecord) -> Plan:
    """Every document of the turn as it was before, whatever came since."""
    plan = Plan()
    disk_after: dict[str, bytes | None] = {}
    moved = {step.moved_from: step.path for step in turn.files if step.moved_from is not None}
    for step in turn.files:
        path = DocPath(step.path)
        now, before = read_or_none(engine.root, path), bytes_of(engine, step.before)
        disk_after[step.path] = before
        if now != before:
            plan.files.append(file_plan(path, now, before, step, moved))
        if engine.documents.draft(path) is not None:
            plan.drafts[path] = None
    for step in turn.reviews:
        plan.drafts[step.path] = None
        if step.before is not None:
            draft = engine.documents.from_image(step.before)
            plan.put_draft(draft.with_disk(_disk_then(engine, draft, disk_after)))
    plan.drafts.update(dict.fromkeys(_rivals(engine, plan)))
    return plan


def _let_others_follow(
    engine: Engine, plan: Plan, disk_after: dict[str, bytes | None], back: dict[str, str]
) -> list[Clash]:
    """Drafts of documents that the turn changed only on disk take the change in. Where a document goes `back` to
    another place its draft goes with it, if none stands there."""
    clashes: list[Clash] = []
    for path, data in disk_after.items():
        draft = None if path in plan.drafts else engine.documents.draft(path)
        if draft is None:
            continue
        plan.drafts[path] = None
        home = back.get(draft.base_path or "")
        if home is None or disk_after.get(home) is None:
            plan.put_draft(draft.with_disk(data))
            continue
        path_then = home if draft.path == draft.base_path else draft.path
        after = replace(draft, base_path=home, path=path_then, turn="" if path_then == home else draft.turn)
        if after.key != draft.key and engine.documents.draft(after.key) is not None:
            clashes.append(Clash(path, "", f"another document stands at {after.key} by now"))
        plan.drafts[draft.key] = None
        plan.put_draft(after.with_disk(disk_after[home]))
    return clashes


def file_plan(
    path: DocPath, now: bytes | None, wanted: bytes | None, step: FileStep, moved: dict[str, str]
) -> FilePlan:
    """`moved` says where the turn took documents: bringing one back is a move again."""
    back_from = moved.get(path) if wanted is not None else None
    old = None if now is None else content_from_bytes(now)
    new = None if wanted is None else content_from_bytes(wanted)
    return FilePlan(path, old, new, step.mode, None if back_from in (None, path) else DocPath(back_from))


def content_from_bytes(data: bytes) -> Content:
    """As a text where it is one, so that it is stored block by block; else as it is."""
    try:
        found = decode(data)
    except RedraftError:
        return Content(data)
    return Content(data, Text(found.text), found.bom)


def content_from(text: str, *, bom: bool) -> Content:
    return Content(encode(text, bom), Text(text), bom)


def bytes_of(engine: Engine, snapshot: SnapshotId | None) -> bytes | None:
    return None if snapshot is None else engine.store.get(snapshot)


def text_of(engine: Engine, snapshot: SnapshotId | None) -> str:
    """What a snapshot says; nothing where there is none, or where it is no text."""
    data = bytes_of(engine, snapshot)
    try:
        return "" if data is None else decode(data).text
    except RedraftError:
        return ""
