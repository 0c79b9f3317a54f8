"""The plan that undoes a turn: merge its inverse into the present, or set things as they were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from redraft.errors import RedraftError, Stale
from redraft.files.paths import DocPath
from redraft.files.textfile import decode, encode
from redraft.history.journal import Content, FilePlan
from redraft.history.recovery import read_or_none
from redraft.history.turns import State, dump_edits, load_positions
from redraft.review.blanks import save_blanks
from redraft.review.outside_change import edit_saved_text
from redraft.review.revert_step import revert_step
from redraft.review.review import Review
from redraft.review.runs import USER, turn_of
from redraft.text.diff.word_diff import compare
from redraft.text.text import Text
from redraft.workspace.turns.edit_positions import change_since, edits_back, invert_remaining, step_change, text_of
from redraft.workspace.turns.plan import Plan
from redraft.workspace.undo.draft_moves import (
    Clash,
    carry_back,
    disk_then,
    find_rivals,
    find_traded_places,
    follow_file,
    let_others_follow,
    name_met,
    name_pending_moves,
    name_rival,
    review_moves,
)
from redraft.workspace.undo.tombstone_history import (
    collect_tombstones,
    find_writing_token,
    image_of,
    is_text,
    locate,
    stands_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.history.database import SnapshotId
    from redraft.history.turns import EditPosition, FileStep, ReviewStep, TurnRecord
    from redraft.review.review import Part
    from redraft.review.runs import Run
    from redraft.text.edits import Change
    from redraft.workspace.document import Draft
    from redraft.workspace.engine import Engine


# What a decision took out of a review, character by character, and which of its turns changed each other's words.


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A review before a decision, and what of it went into the file."""

    review: Review
    taken: frozenset[str]  # the hunks that were accepted
    typing: frozenset[str]  # the parts of which only the person's typing was saved
    pending: frozenset[str]  # the agents' edits that still waited afterwards

    @staticmethod
    def of(before: Review, after: Review | None, places: Iterable[EditPosition]) -> Acceptance:
        written = {(place.hunk, bool(place.mark)) for place in places}
        before = save_blanks(before, (hunk for hunk, _ in written))
        left = {part.id for part in after.parts} if after else set[str]()
        # A hunk that only took out what was typed and not saved was written nowhere, nor were words that one turn put
        # in and another took out.
        decided = {part.id for part in before.parts if part.marks and part.id not in left and _is_decided(part)}
        taken = frozenset(hunk for hunk, of_agent in written if of_agent) | decided
        typing = frozenset(hunk for hunk, _ in written) - taken
        untouched = {part.id for part in before.parts} - taken  # an edit may have pieces in several parts
        waiting = [part for part in after.parts if part.id not in untouched] if after else []
        pending = frozenset(mark for part in waiting for mark in part.marks)
        return Acceptance(before, taken, typing, pending)

    def text(self) -> str:
        """What the decision left in the file."""
        return "".join([run.text for part in self.review.parts for run in part.runs if self._has(part, run)])

    def later_turns(self, turn: str) -> set[str]:
        """The turns, accepted in the same decision, that later changed words of this one."""
        found: set[str] = set()
        for part in self.review.parts:
            if part.id in self.taken:
                waiting = {turn_of(mark) for mark in part.marks if mark in self.pending}
                found |= part.find_entangled_turns(turn).later - waiting
        return found

    def _has(self, part: Part, run: Run) -> bool:
        """Whether the file has a run."""
        if part.id not in self.taken:
            return run.in_own if part.id in self.typing else not run.by
        if any(mark != USER and mark not in self.pending for mark in run.gone):
            return False
        if run.is_agents:
            return run.by not in self.pending and USER not in run.gone
        if self.pending.isdisjoint(part.marks):
            return USER not in run.gone
        return not run.by  # only one of the turns in the hunk was accepted: typing waits with the others


def _is_decided(part: Part) -> bool:
    """Whether a decision about all there is takes this part. What the person wrote over again is refused by that."""
    return part.is_hunk or not any(USER in (run.by, *run.gone) for run in part.runs)


CHANGED_SINCE = "the same words have been changed or decided since"
GONE_SINCE = "the document was deleted or moved since"
WRITTEN_SINCE = "the document was changed since it was put there"
REPLACED_SINCE = "another document was put in its place since"
NOT_TEXT = "the document is no longer text"
IN_ITS_PLACE = "a link, or a folder with something in it, has taken its place: move that away first"


class NotClean(Exception):
    """The inverse meets later changes."""


def invert_turn(engine: Engine, turn: TurnRecord) -> tuple[Plan, list[Clash]]:
    """The turn's inverse, merged into the present."""
    plan, clashes = Plan(), list[Clash]()
    disk_after: dict[str, bytes | None] = {}
    moved = {step.moved_from: step.path for step in turn.files if step.moved_from is not None}
    if (proposal := _proposal_to_withdraw(engine, turn)) is not None:
        return _take_back_proposal(engine, proposal)
    passed: dict[str, tuple[int, ...]] = {}
    for step in turn.files:
        try:
            if _came_back(engine, turn, step):
                file, passed[step.path] = _without_words(engine, turn, DocPath(step.path), turn.id)
            else:
                file = _inverse_file(engine, turn.id, step, moved)
        except NotClean as why:
            clashes.append(Clash(step.path, "", str(why)))
            continue
        if file is not None:
            plan.files.append(file)
            disk_after[step.path] = file.after.data if file.after else None
    sources = review_moves(engine, turn)
    traded = find_traded_places(engine, turn)
    clashes += carry_back(engine, plan, traded, disk_after)
    for step in turn.reviews:
        if step in sources.values() or step.path in traded or step.path in traded.values():
            continue  # goes with the place that it was moved to, or stays there
        if step.path in passed:
            continue  # its draft follows the file
        try:
            _inverse_review(engine, plan, turn, step, sources.get(step.path), disk_after)
        except NotClean as why:
            clashes.append(Clash(step.path, "", str(why)))
    back = {place: source for source, place in moved.items()}
    clashes += let_others_follow(engine, plan, disk_after, back, passed)
    clashes += name_pending_moves(engine, plan)
    return plan, clashes


def _came_back(engine: Engine, turn: TurnRecord, step: FileStep) -> bool:
    """Whether words of an agent in a file were taken back before, all or some. Some may have come back since, so what
    stands of them is found character by character."""
    if turn.kind != "apply" or step.before is None or step.after is None or step.moved_from is not None:
        return False
    before, after = bytes_of(engine, step.before), bytes_of(engine, step.after)
    return engine.turns.was_reverted(turn.id) and is_text(before or b"", after or b"")


def _inverse_file(engine: Engine, number: int, step: FileStep, moved: dict[str, str]) -> FilePlan | None:
    path = DocPath(step.path)
    now = _read_place(engine, path)
    before, after = bytes_of(engine, step.before), bytes_of(engine, step.after)
    if now == before:
        return None
    if now == after:
        edits = None
        if before is not None and after is not None and is_text(before, after):
            edits = dump_edits(step_change(engine, step).invert())
        return replace(file_plan(path, now, before, step, moved), edits=edits)
    if now is None:
        raise NotClean(GONE_SINCE)
    if before is None:
        raise NotClean(WRITTEN_SINCE)
    if after is None:
        raise NotClean(REPLACED_SINCE)
    try:
        old, current = (decode(data).text for data in (after, now))
        decode(before)
    except RedraftError as error:
        raise NotClean(NOT_TEXT) from error
    since = change_since(engine, number, path, old, current)
    back = invert_remaining(engine, number, step).rebase(since)
    if back is None:
        raise NotClean(CHANGED_SINCE)
    if not back.edits:
        return None  # all of it was taken back already
    plan = file_plan(path, now, encode(back.apply(current), decode(now).bom), step, moved)
    return replace(plan, edits=dump_edits(back))


def _read_place(engine: Engine, path: DocPath) -> bytes | None:
    """What a file says; nothing where another program made a folder in its place that is empty: that goes."""
    if not engine.root.is_replaced(path):
        return read_or_none(engine.root, path)
    if engine.root.is_empty_folder(path):
        return None
    raise NotClean(IN_ITS_PLACE)


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
            raise NotClean(name_rival(engine, source.path))
        plan.drafts[source.path] = None
    if current is None and after is None:
        current = _take_standing(engine, plan, before)
    if current == after:
        restored = before
    elif turn.kind == "outside" and source is None:
        return  # its draft only followed the file, and will again
    elif current is None and after is not None and after.saved and disk_then(engine, after, disk_after) is None:
        raise NotClean(GONE_SINCE)
    elif current is not None and before is None and _loses_file(engine, current, disk_after):
        restored = current.with_disk(None)
    else:
        restored = _merge_review(engine, turn, step.path, current, before, after)
    plan.drafts[step.path] = None
    if restored is not None:
        data = disk_then(engine, restored, disk_after)
        plan.put_draft(restored.with_disk(data) if restored is before else replace(restored, saved=data))


def _loses_file(engine: Engine, draft: Draft, disk_after: dict[str, bytes | None]) -> bool:
    """Whether the file goes away of a draft with nothing but typing in it: all that the person has stays theirs."""
    return draft.saved is not None and not draft.review.turns and disk_then(engine, draft, disk_after) is None


def _take_standing(engine: Engine, plan: Plan, before: Draft | None) -> Draft | None:
    """The draft in which the person has typed meanwhile into the file of a draft that comes back to another place: it
    goes along."""
    other = None if before is None or before.base_path is None else engine.reviews.working_path(before.base_path)
    draft = None if other is None or other in plan.drafts else engine.documents.draft(other)
    if draft is None or draft.kind != "modified":
        return None
    plan.drafts[draft.key] = None
    return draft


def _proposal_to_withdraw(engine: Engine, turn: TurnRecord) -> TurnRecord | None:
    """The proposal that is taken back: the turn itself, or the one that an undone undo brought back."""
    takes_away = True
    while turn.kind == "undo" and turn.source is not None:
        turn, takes_away = engine.turns.get(turn.source), not takes_away
    return turn if takes_away and turn.kind == "propose" else None


def _take_back_proposal(engine: Engine, turn: TurnRecord) -> tuple[Plan, list[Clash]]:
    """Whatever stands of a proposal: what is pending of it, and what a person took into the documents."""
    plan, clashes = Plan(), list[Clash]()
    first: dict[str, int] = {}  # per document the first decision that took words of it
    passed: dict[str, tuple[int, ...]] = {}
    for decision in engine.turns.acceptances(turn):
        moved = {step.moved_from: step.path for step in decision.files if step.moved_from is not None}
        for step in decision.files:
            try:
                if _take_back_accepted(engine, plan, turn, decision, step, moved):
                    first.setdefault(step.path, decision.id)
            except NotClean as why:
                clashes.append(Clash(step.path, "", str(why)))
        clashes += _find_typing_taken(engine, turn, decision, first)
    for path, decision in _standing_decisions(engine, turn).items():
        first[path] = min(decision, first.get(path, decision))
    for path, decision in first.items():
        if any(clash.path == path for clash in clashes):
            continue
        try:
            file, passed[path] = _without_words(engine, turn, DocPath(path), decision)
        except NotClean as why:
            clashes.append(Clash(path, "", str(why)))
        else:
            plan.files += [file] if file else []
    clashes += _withdraw_pending(engine, plan, turn, passed)
    clashes += name_pending_moves(engine, plan)
    return plan, clashes


def _standing_decisions(engine: Engine, turn: TurnRecord) -> dict[str, int]:
    """Per document the first decision about a proposal that was undone, but whose words came back in another way."""
    found: dict[str, int] = {}
    for decision in engine.turns.all_acceptances(turn):
        if decision.state is State.UNDONE:
            for step in decision.files:
                if step.path not in found and stands_in(engine, turn, step.path, decision.id):
                    found[step.path] = decision.id
    return found


def _withdraw_pending(engine: Engine, plan: Plan, turn: TurnRecord, passed: dict[str, tuple[int, ...]]) -> list[Clash]:
    """What is pending of the turn goes; the drafts of documents whose files the plan changes follow."""
    clashes: list[Clash] = []
    files = {file.path: file for file in plan.files}
    for draft in engine.documents.drafts():
        file = files.get(DocPath(draft.base_path or draft.key))
        if not draft.has_hunk_of(turn.token) and draft.turn != turn.token and file is None:
            continue
        withdrawn = draft.withdraw_turn(turn.token)
        if withdrawn is None:
            clashes.append(Clash(draft.key, "", _name_later_turn(engine, draft, turn)))
            continue
        plan.drafts[draft.key] = None
        left = withdrawn if file is None else follow_file(withdrawn, file, passed.get(file.path, ()))
        if left is None:
            clashes.append(name_met(draft))
        else:
            plan.put_draft(left)
    return clashes


def _name_later_turn(engine: Engine, draft: Draft, turn: TurnRecord) -> str:
    """Which pending turn stands in the way of one that cannot be withdrawn: the newest that shares a hunk with it."""
    shared = {token for part in draft.review.parts if turn.token in part.turns for token in part.turns}
    newest = max((other.id for other in engine.turns.by_tokens(shared) if other.id > turn.id), default=0)
    return "another pending turn has changed the same words since" + (f": undo turn {newest} first" if newest else "")


def _take_back_accepted(
    engine: Engine,
    plan: Plan,
    turn: TurnRecord,
    decision: TurnRecord,
    step: FileStep,
    moved: dict[str, str],
) -> bool:
    """What one decision took of the turn at one path: a document's place or being goes back; whether it took words."""
    review = next((review for review in decision.reviews if review.path == step.path), None)
    if step.before is None or step.after is None:
        drafts = [engine.documents.from_image(each.before) for each in decision.reviews if each.before is not None]
        mine = [draft for draft in drafts if step.path in (draft.path, draft.base_path)]
        if not any(draft.turn == turn.token for draft in mine):
            return False
        others = {name for draft in mine for name in draft.review.turns} - {turn.token}
        if others:
            raise NotClean(f"another turn has text in it: undo turn {decision.id} instead")
        file = _inverse_file(engine, decision.id, step, moved)
        if file is not None:
            plan.files.append(file)
        return False
    if review is None or review.before is None or turn.token not in review.before:
        return False
    if step.edits is None:
        raise NotClean(f"you resolved it with your own text: undo turn {decision.id} instead")
    _check_standing_alone(engine, turn, decision, review, step)
    return True


def _find_typing_taken(engine: Engine, turn: TurnRecord, decision: TurnRecord, first: dict[str, int]) -> list[Clash]:
    """Note the documents of which a decision took something of the turn where no file changed by it: the turn took out
    what the person had typed and not saved."""
    clashes: list[Clash] = []
    written = {step.path for step in decision.files}
    for review in decision.reviews:
        if review.path in written or review.before is None or turn.token not in review.before:
            continue
        if engine.documents.from_image(review.before).kind != "modified":
            continue
        try:
            _check_standing_alone(engine, turn, decision, review)
        except NotClean as why:
            clashes.append(Clash(review.path, "", str(why)))
        else:
            first.setdefault(review.path, decision.id)
    return clashes


def _check_standing_alone(
    engine: Engine, turn: TurnRecord, decision: TurnRecord, review: ReviewStep, step: FileStep | None = None
) -> None:
    """Refuse where another turn that stands changed the words that a decision took of this one."""
    before, then = (image_of(engine, row) for row in (review.before, review.after))
    before = before or Review.of("")
    acceptance = Acceptance.of(before, then, load_positions((step and step.edits) or "[]"))
    after = before.saved if step is None else text_of(engine, step.after)
    if acceptance.text() != after:
        raise NotClean(f"the accepted part cannot be told from the rest: undo turn {decision.id} instead")
    others = engine.turns.by_tokens(acceptance.review.turns - {turn.token})
    undone = {other.token for other in others if other.state is State.UNDONE}
    later = acceptance.later_turns(turn.token) - undone
    others = [each for each in others if each.token in later and stands_in(engine, each, review.path, decision.id)]
    _refuse_later_turns(others, later)


def _refuse_later_turns(others: Sequence[TurnRecord], later: set[str]) -> None:
    newest = max((other.id for other in others if other.token in later), default=None)
    if newest is not None:
        raise NotClean(f"another turn changed the same words after it: undo turn {newest} first")


def _without_words(
    engine: Engine, turn: TurnRecord, path: DocPath, decision: int
) -> tuple[FilePlan | None, tuple[int, ...]]:
    """The file without what decisions took of a turn, the first of which is given; and how much that is not saved
    stands in front of each of its edits."""
    now = read_or_none(engine.root, path)
    if now is None:
        raise NotClean(GONE_SINCE)
    found = decode(now)
    draft = next((draft for draft in engine.documents.drafts() if draft.base_path == path), None)
    left = None if draft is None else draft.withdraw_turn(turn.token) or draft
    tombstones = collect_tombstones(engine, path, decision, found.text, written=find_writing_token(turn))
    tombstones.see(Review.of(found.text) if left is None else left.review)
    others = engine.turns.by_tokens(tombstones.turns - {turn.token})
    undone = {other.token for other in others if other.state is State.UNDONE}
    tombstones.exchange_blanks(turn.token, undone)
    around = tombstones.turns_around(turn.token, undone)
    later = tombstones.later_turns(turn.token, undone) | {
        other.token for other in others if other.id > turn.id and other.token in around
    }
    _refuse_later_turns(others, later)
    inverse = tombstones.inverse(turn.token, undone)
    if inverse is None:
        raise NotClean(CHANGED_SINCE)
    change = inverse.change
    if not change.edits:
        return None, ()
    data = encode(change.apply(found.text), found.bom)
    file = FilePlan(path, Content.of(now), Content.of(data), edits=dump_edits(change))
    return file, inverse.passed


def _merge_review(
    engine: Engine, turn: TurnRecord, path: str, current: Draft | None, before: Draft | None, after: Draft | None
) -> Draft | None:
    """All three texts with the step's change taken back; what was typed or decided since stays."""
    disk = engine.documents.on_disk(DocPath(path))
    now = current.review if current else Review.of("" if disk is None else str(disk.text))
    old = before.review if before else Review.of(_text_then(engine, turn, path, after, "before"))
    new = after.review if after else Review.of(_text_then(engine, turn, path, before, "after"))
    step = next((file for file in turn.files if file.path == path and None not in (file.before, file.after)), None)
    change = None if step is None else step_change(engine, step)
    if change is None or not _leads(change, old.saved, new.saved):
        change = compare(old.saved, new.saved)
    home = (current.base_path if current else None) or path
    since = change_since(engine, turn.id, home, new.saved, now.saved)
    left = None if step is None else invert_remaining(engine, turn.id, step)
    if left is not None and len(left.edits) < len(change.edits):  # some of it was taken back already
        back = left.rebase(since)
        review = None if back is None else edit_saved_text(now, back)
    else:
        review = revert_step(now, old, new, change, since, partial(locate, engine, turn, home))
    if review is None:
        raise NotClean(CHANGED_SINCE)
    like = before or current
    if like is None:
        return None
    if before is None:
        like = replace(like, path=like.base_path or like.path)
    return replace(like, review=review)


def _leads(change: Change, old: str, new: str) -> bool:
    """Whether a change makes the one text of the other. What a draft saw may be older than what the turn found."""
    try:
        return change.apply(old) == new
    except Stale:
        return False


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
            file = file_plan(path, now, before, step, moved)
            plan.files.append(replace(file, edits=edits_back(engine, turn.id, path, now, before, step)))
        if engine.documents.draft(path) is not None:
            plan.drafts[path] = None
    for path, (before, mode) in _files_under_proposal(engine, turn).items():
        disk_after[path] = before
        now = read_or_none(engine.root, DocPath(path))
        if now != before:
            old, new = (None if data is None else Content.of(data) for data in (now, before))
            edits = edits_back(engine, turn.id, path, now, before)
            plan.files.append(FilePlan(DocPath(path), old, new, mode, edits=edits))
        if engine.documents.draft(path) is not None:
            plan.drafts[path] = None
    for step in turn.reviews:
        plan.drafts[step.path] = None
        if step.before is not None:
            draft = engine.documents.from_image(step.before)
            plan.put_draft(draft.with_disk(disk_then(engine, draft, disk_after)))
    plan.drafts.update(dict.fromkeys(find_rivals(engine, plan)))
    return plan


def _files_under_proposal(engine: Engine, turn: TurnRecord) -> dict[str, tuple[bytes | None, int | None]]:
    """What the files said for which a proposal was made, whatever a person took of it since, and their modes. Where it
    proposed another place, nothing was there."""
    files: dict[str, tuple[bytes | None, int | None]] = {}
    images = [step.after for step in turn.reviews if step.after is not None] if turn.kind == "propose" else []
    for draft in map(engine.documents.from_image, images):
        if draft.path is not None:
            files.setdefault(draft.path, (None, None))
        if draft.base_path is not None:
            files[draft.base_path] = (draft.saved, draft.mode)
    return files


def file_plan(
    path: DocPath, now: bytes | None, wanted: bytes | None, step: FileStep, moved: dict[str, str]
) -> FilePlan:
    """`moved` says where the turn took documents: bringing one back is a move again."""
    back_from = moved.get(path) if wanted is not None else None
    old = None if now is None else Content.of(now)
    new = None if wanted is None else Content.of(wanted)
    return FilePlan(path, old, new, step.mode, None if back_from in (None, path) else DocPath(back_from))


def content_from(text: str, *, bom: bool) -> Content:
    return Content(encode(text, bom), Text(text), bom)


def bytes_of(engine: Engine, snapshot: SnapshotId | None) -> bytes | None:
    return None if snapshot is None else engine.store.get(snapshot)
