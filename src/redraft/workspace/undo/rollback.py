"""Taking turns back: undo, redo, restore, rollback.

Nothing is ever removed from the history: taking back is a new turn, and can itself be taken back. `undo` and a scoped
rollback bring the inverse of a change into the present and keep what came after; where the two meet, that is a conflict
and is named. `hard_all` sets the documents of a turn to what they were before it, whatever came after.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from redraft.errors import RedraftError, Refused
from redraft.files.paths import DocPath
from redraft.history.journal import FilePlan
from redraft.history.turns import (
    PERSON,
    Author,
    State,
    dump_edits,
    list_created_folders,
    list_removed_folders,
    load_positions,
    note_created_folders,
    note_removed_folders,
)
from redraft.review.operations import apply_agent_turn
from redraft.review.outside_change import edit_saved_text, has_typing_in_words
from redraft.review.review import Review
from redraft.review.runs import USER, turn_of
from redraft.text.diff.hunks import Hunk, diff, line_span
from redraft.text.diff.word_diff import refine
from redraft.text.edits import Change, Edit
from redraft.text.lines import count_breaks
from redraft.workspace.turns.decisions import update_proposals
from redraft.workspace.turns.edit_positions import change_of, change_since, positions_of_step, text_of
from redraft.workspace.turns.plan import Plan
from redraft.workspace.undo.draft_moves import Clash, name_met
from redraft.workspace.undo.inverse import (
    CHANGED_SINCE,
    GONE_SINCE,
    NOT_TEXT,
    REPLACED_SINCE,
    WRITTEN_SINCE,
    content_from,
    invert_turn,
    reset_turn,
)
from redraft.workspace.undo.tombstone_history import locate, original_turn, stands, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.history.journal import AuditLine
    from redraft.history.turns import FileStep, TurnRecord
    from redraft.review.runs import Run
    from redraft.workspace.engine import Engine

# Empty folders as a part of turns: made when a turn is carried out, taken away with it while nothing lies in them.
#
# A document's folders are made with it; a turn may also make one that is wanted before there is anything to put in
# it. In the history a turn's folders are a note beside it (`made`), for a folder holds nothing that could be shown,
# merged or judged. What an undo took away, undoing that makes again.


def take_back_folders(engine: Engine, number: int, by: int) -> None:
    """Take away the folders that a turn made, where nothing is left in them, and make again those that it took away.
    `by` is the turn that does it. The lock must be held."""
    dropped = [
        folder for folder in reversed(list_created_folders(engine.database, number)) if _remove_folder(engine, folder)
    ]
    made = [
        each for folder in list_removed_folders(engine.database, number) for each in engine.root.make_folder(folder)
    ]
    note_removed_folders(engine.database, by, dropped[::-1])
    note_created_folders(engine.database, by, made)


def _remove_folder(engine: Engine, folder: DocPath) -> bool:
    try:
        engine.root.remove_folder(folder)
    except RedraftError:
        return False  # something lies in it, or it is gone already
    return True


def folder_in_use(engine: Engine, turn: TurnRecord) -> DocPath | None:
    """For a turn that made nothing but folders, of which none can be taken away: the first that others use by now."""
    if turn.files or turn.reviews or empty_folders(engine, turn.id):
        return None
    return next(
        (folder for folder in list_created_folders(engine.database, turn.id) if engine.root.is_folder(folder)), None
    )


def empty_folders(engine: Engine, number: int) -> set[DocPath]:
    """Those of a turn's folders in which nothing lies but others of them."""
    empty: set[DocPath] = set()
    for folder in reversed(list_created_folders(engine.database, number)):
        if engine.root.is_folder(folder) and empty.issuperset(engine.root.names_in(folder)):
            empty.add(folder)
    return empty


RollbackMode = Literal["hard_all", "scoped_selected"]


@dataclass(frozen=True, slots=True)
class TurnHunk:
    """One hunk of what a turn did to a document, with an id that is unique within the turn."""

    id: str
    path: str
    hunk: Hunk


@dataclass(frozen=True, slots=True)
class TurnContent:
    """What a turn did: per document what it said before and after. Its `hunks` may take seconds to find, and need no
    guard: they come from the history alone."""

    turn: TurnRecord
    texts: Sequence[tuple[str, str, str]]
    hunks: Callable[[], Sequence[TurnHunk]]


@dataclass(slots=True)
class RollbackResult:
    """The turn that took something back (None: nothing could be), and what stood in the way."""

    turn: TurnRecord | None
    conflicts: list[Clash] = field(default_factory=list[Clash])


@dataclass(frozen=True, slots=True)
class ThreeWayView:
    """agent-sidebar's three-way view: the present, what was before the turn, and what the turn made of it."""

    current: str
    checkpoint_base: str
    agent_proposed: str


def undo(
    engine: Engine, number: int | None = None, *, author: Author = PERSON, called: AuditLine | None = None
) -> RollbackResult:
    """Take a turn back (by default the last), with all that its agent did for the same prompt, keeping everything that
    came after; all of it or nothing."""
    with engine.journal.lock():
        turn = engine.turns.get(number) if number is not None else engine.turns.last_to_undo()
        if turn is None:
            raise _nothing_to_undo(engine)
        return _undo_all(engine, turns_of_one_prompt(engine, turn), "Undo: ", author, called)


def _nothing_to_undo(engine: Engine) -> Refused:
    """What another program did is never taken for the last turn."""
    for turn in engine.turns.recent(limit=50):
        if turn.author.kind == "outside" and turn.state is State.APPLIED:
            message = f"Only another program has written here: to undo that, name its turn, {turn.id}."
            return Refused(message, code="nothing_to_undo", turn=turn.id)
    return Refused("There is nothing to undo.", code="nothing_to_undo")


def turns_of_one_prompt(engine: Engine, turn: TurnRecord) -> list[TurnRecord]:
    """A turn with those that stand of what its agent did for the same prompt, the newest first. The undos of a prompt
    belong together as well."""
    found = engine.outside.prompts.turns_with(turn.id)
    standing = [each for each in reversed(found) if each.state is State.APPLIED and not each.pruned]
    return standing if turn.id in {each.id for each in standing} else [turn]


def plan_undo_all(engine: Engine, turns: Sequence[TurnRecord]) -> tuple[list[Plan], list[Clash]]:
    """What undoing these turns, newest first, would write, one after the other, or what stands in the way."""
    plans: list[Plan] = []
    clashes: list[Clash] = []
    touched: set[str] = set()
    for turn in turns:  # what stands in an older one's way may be a newer one of them
        plan, found = plan_undo(engine, turn)
        clashes += [clash for clash in found if clash.path not in touched]
        touched.update(turn.paths)
        plans.append(plan)
    return plans, clashes


def _undo_all(
    engine: Engine, turns: Sequence[TurnRecord], word: str, author: Author, called: AuditLine | None = None
) -> RollbackResult:
    """Take these turns back, newest first: all, or none where anything stands in the way of one."""
    if len(turns) == 1:
        return _undo(engine, turns[0], _undo_title(turns[0], word), author, called)
    clashes = plan_undo_all(engine, turns)[1]
    if clashes:
        return RollbackResult(None, clashes)
    done: list[TurnRecord] = []
    result = RollbackResult(None)
    for turn in turns:
        result = _undo(engine, turn, _undo_title(turn, word), author, called)
        if result.turn is not None:
            done.append(result.turn)
        elif result.conflicts and not _is_nothing_left(result):
            for record in reversed(done):  # nothing was written in between: this fits
                _undo(engine, record, _undo_title(record, "Redo: "), author)
            return result
    if len(done) > 1:
        engine.outside.prompts.join(each.id for each in done)
    return RollbackResult(done[-1]) if done else result


def _undo_title(turn: TurnRecord, word: str) -> str:
    return turn.title.replace("Undo: ", word, 1) if word != "Undo: " else f"{word}{turn.title}"


def _is_nothing_left(result: RollbackResult) -> bool:
    return all(clash.reason == NOTHING_LEFT for clash in result.conflicts)


NOTHING_LEFT = "nothing of the turn is left here"


def redo(engine: Engine, *, author: Author = PERSON) -> RollbackResult:
    """Take the last undo back, with those of all that its agent did for the same prompt."""
    with engine.journal.lock():
        turn = engine.turns.last_to_redo()
        if turn is None:
            raise Refused("There is nothing to redo.", code="nothing_to_undo")
        return _undo_all(engine, turns_of_one_prompt(engine, turn), "Redo: ", author)


def _undo(
    engine: Engine, turn: TurnRecord, title: str, author: Author, called: AuditLine | None = None
) -> RollbackResult:
    check_standing(turn)
    plan, clashes = plan_undo(engine, turn)
    if clashes:
        return RollbackResult(None, clashes)
    if turn.kind in ("apply", "propose") and not _changes_anything(engine, plan) and not empty_folders(engine, turn.id):
        # What comes back of it later can still be undone then.
        return RollbackResult(None, [Clash(path, "", NOTHING_LEFT) for path in turn.paths])
    # A proposal's folders were made by the decisions that took it.
    decisions = engine.turns.acceptances(turn) if turn.kind == "propose" else []
    for file in plan.files:
        if file.after is not None and engine.root.is_empty_folder(file.path):
            engine.root.remove_folder(file.path)  # another program's, in the document's place
    record = engine.commit(plan, author=author, kind="undo", title=title, source=turn.id, called=called)
    for number in (turn.id, *(decision.id for decision in decisions)):
        take_back_folders(engine, number, record.id)
    update_proposals(engine)
    _let_stand(engine, turn)
    return RollbackResult(record)


def plan_undo(engine: Engine, turn: TurnRecord) -> tuple[Plan, list[Clash]]:
    """What undoing a turn would write, or what stands in its way and how to get past that."""
    plan, clashes = invert_turn(engine, turn)
    if (folder := folder_in_use(engine, turn)) is not None:
        clashes.append(Clash(folder, "", "others have added something to it"))
    return plan, list(dict.fromkeys(_name_way_out(engine, turn, clash) for clash in clashes))


def _name_way_out(engine: Engine, turn: TurnRecord, clash: Clash) -> Clash:
    """What changed the words since, or took the document away, can be undone before them: the newest turn on the
    document always can. But not the undo of a later turn, which would only bring that turn back into the way."""
    if clash.reason not in (CHANGED_SINCE, GONE_SINCE, WRITTEN_SINCE, REPLACED_SINCE, NOT_TEXT):
        return clash
    later = engine.turns.on_file(clash.path, since=turn.id + 1)
    standing = [each for each in later if each.state in (State.APPLIED, State.PROPOSED)]
    helpful = [each for each in standing if each.kind != "undo" or original_turn(engine, each).id <= turn.id]
    newest = max((each.id for each in helpful or standing), default=None)
    return clash if newest is None else replace(clash, reason=f"{clash.reason}: undo turn {newest} first")


def _let_stand(engine: Engine, taken: TurnRecord) -> None:
    """After a turn was taken back: let the turns count as applied whose words came back into the documents by it."""
    about = original_turn(engine, taken)
    tokens = {about.token}.union(*(tokens_of(engine, about, path) for path in about.paths))
    for turn in engine.turns.by_tokens(tokens):
        if turn.id != taken.id and turn.state in (State.UNDONE, State.DISCARDED) and stands(engine, turn):
            with engine.database.transaction(durable=False):
                engine.turns.mark(turn.id, State.APPLIED)


def restore(engine: Engine, number: int, *, author: Author = PERSON) -> RollbackResult:
    """Set every document of a turn to its checkpoint, the state before that turn."""
    with engine.journal.lock():
        turn = engine.turns.get(number)
        check_not_pruned(turn)
        engine.events.tell("checkpoint.rollback.started", checkpoint_id=number, mode="hard_all")
        plan = reset_turn(engine, turn)
        if not _changes_anything(engine, plan) and not empty_folders(engine, number):
            engine.events.tell("checkpoint.rollback.completed", checkpoint_id=number, turn=None)
            return RollbackResult(None)
        title = f"Restore the state before turn {number} ({turn.title})"
        record = engine.commit(plan, author=author, kind="restore", title=title, source=number)
        take_back_folders(engine, number, record.id)
        update_proposals(engine)
    engine.events.tell("checkpoint.rollback.completed", checkpoint_id=number, turn=record.id)
    return RollbackResult(record)


def _changes_anything(engine: Engine, plan: Plan) -> bool:
    """Whether a plan leads anywhere but to where things stand."""
    return bool(plan.files) or any(engine.documents.draft(path) != draft for path, draft in plan.drafts.items())


def rollback(
    engine: Engine, number: int, mode: RollbackMode, hunk_ids: Iterable[str] = (), *, author: Author = PERSON
) -> RollbackResult:
    """`hard_all` is `restore`; `scoped_selected` takes back the chosen hunks and names those it could not."""
    if mode == "hard_all":
        return restore(engine, number, author=author)
    if mode != "scoped_selected":
        raise Refused(f"There is no rollback mode {mode!r}: use hard_all or scoped_selected.", mode=mode)
    with engine.journal.lock():
        turn = engine.turns.get(number)
        check_not_pruned(turn)
        if turn.state is State.PROPOSED:
            raise Refused(f"Turn {number} waits for a decision: reject its hunks.", code="conflict", turn=number)
        if turn.state is State.DISCARDED:
            raise Refused(f"Turn {number} was rejected: there is nothing to undo.", code="nothing_to_undo", turn=number)
        engine.events.tell("checkpoint.rollback.started", checkpoint_id=number, mode=mode)
        hunks = turn_hunks(engine, turn)
        # An id with its path still holds where no other document has an equal hunk by now.
        known = {name: found.id for found in hunks for name in (found.id, f"{found.hunk.id}:{found.path}")}
        asked = set(hunk_ids)
        if not asked or asked - known.keys():
            unknown = sorted(asked - known.keys())
            engine.events.tell("checkpoint.rollback.failed", checkpoint_id=number, hunk_ids=unknown)
            raise Refused(f"Turn {number} has no such hunk.", code="hunk_not_found", hunk_ids=unknown)
        wanted = {known[name] for name in asked}
        plan, clashes = _plan_scoped(engine, turn, hunks, wanted)
        record = None
        if plan.files:
            count = len(wanted) - len(clashes)
            title = f"Undo {count} hunk{'' if count == 1 else 's'} of turn {number} ({turn.title})"
            record = engine.commit(plan, author=author, kind="rollback", title=title, source=number)
            take_back_folders(engine, number, record.id)
            _let_stand(engine, turn)
    kind = "checkpoint.rollback.failed" if clashes else "checkpoint.rollback.completed"
    engine.events.tell(kind, checkpoint_id=number, hunk_ids=[clash.hunk_id for clash in clashes])
    return RollbackResult(record, clashes)


def turn_hunks(engine: Engine, turn: TurnRecord) -> list[TurnHunk]:
    """What a turn did, hunk by hunk: for a proposal, what it would do to the working texts. A hunk has one id, in the
    review, in the turn that proposed it and in the one that took it. Equal words give equal hunks: where several
    documents have one, as after a rename, the document's path is part of its id."""
    found = [
        (path, hunk)
        for path, before, after in turn_texts(engine, turn)
        for hunk in _name_hunks(path, before, after, _edits(engine, turn, path))
    ]
    often = Counter(hunk.id for _, hunk in found)
    return [TurnHunk(hunk.id if often[hunk.id] == 1 else f"{hunk.id}:{path}", path, hunk) for path, hunk in found]


def _edits(engine: Engine, turn: TurnRecord, path: str) -> list[tuple[Edit, str]] | None:
    """The edits of a turn in one document with the ids of their hunks, where they are known to the character."""
    if turn.kind == "propose":
        review = next((step for step in turn.reviews if step.path == path), None)
        if review is None or review.after is None:
            return None
        return _list_proposed_edits(engine.documents.from_image(review.after).review, turn.token)
    step = next((step for step in turn.files if step.path == path), None)
    if step is None or step.edits is None:
        return None
    before, after = text_of(engine, step.before), text_of(engine, step.after)
    places = positions_of_step(step, before, after)
    change = change_of(places, before, after)
    if places and all(place.hunk for place in places):
        return [(edit, place.hunk) for edit, place in zip(change.edits, places, strict=True)]
    review = apply_agent_turn(Review.of(before), before, after, turn.token, [change])
    return _list_proposed_edits(review, turn.token)


def _list_proposed_edits(review: Review, token: str) -> list[tuple[Edit, str]]:
    """What a turn did to the text that it saw, part by part of the review that came of it."""
    found: list[tuple[Edit, str]] = []
    at = 0
    for part in review.parts:
        seen = "".join(run.text for run in part.runs if _is_seen_by(run, token))
        if token in part.turns:
            found.append((Edit(at, seen, part.working), part.id))
        at += len(seen)
    return found


def _is_seen_by(run: Run, token: str) -> bool:
    mine = [mark for mark in run.marks if turn_of(mark) == token]
    return not (run.is_agents and run.by in mine) and run.without(*mine).in_working


def _name_hunks(path: str, before: str, after: str, edits: list[tuple[Edit, str]] | None) -> list[Hunk]:
    """The hunks of one document. Those without an id of their own are named by what they do and where."""
    if edits is None or Change(tuple(edit for edit, _ in edits)).apply(before) != after:
        edits = [(hunk.edit, "") for hunk in diff(before, after)]
    hunks: list[Hunk] = []
    used = {name for _, name in edits if name}
    equal = Counter[str]()
    growth = line = new_line = at = new_at = 0
    for name, alike in groupby(edits, lambda each: each[1] or each[0]):
        several = [edit for edit, _ in alike]
        start, end = several[0].at, several[-1].end
        old = before[start:end]
        new = Change(tuple(edit.shift(-start) for edit in several)).apply(old)
        line, new_line = line + count_breaks(before[at:start]), new_line + count_breaks(after[new_at : start + growth])
        at, new_at = start, start + growth
        spans = line_span(_line_before(before, start), old, line), line_span(_line_before(after, new_at), new, new_line)
        hunk_id = name if isinstance(name, str) else _name(path, old, new, used, equal)
        hunks.append(Hunk(hunk_id, *spans, start, new_at, old, new))
        growth += len(new) - len(old)
    return hunks


def _line_before(text: str, at: int) -> str:
    """What of a line stands before a place: its last character says all that is asked, and a line may be long."""
    return text[max(at - 1, 0) : at].strip("\r\n")


def _name(path: str, old: str, new: str, used: set[str], equal: Counter[str]) -> str:
    content = f"{path}\0{old}\0{new}"
    while True:
        name = "h_" + hashlib.sha256(f"{equal[content]}\0{content}".encode()).hexdigest()[:10]
        equal[content] += 1
        if name not in used:
            used.add(name)
            return name


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


def three_way(engine: Engine, number: int, path: str) -> ThreeWayView:
    """The three texts that a person compares before rolling back."""
    turn = engine.turns.get(number)
    for where, before, after in turn_texts(engine, turn):
        if where == path:
            document = engine.documents.document(DocPath(path))
            return ThreeWayView("" if document is None else str(document.text), before, after)
    raise Refused(f"Turn {number} did not touch {path}.", code="not_found", path=path)


def _plan_scoped(engine: Engine, turn: TurnRecord, hunks: list[TurnHunk], wanted: set[str]) -> tuple[Plan, list[Clash]]:
    """Each chosen hunk taken back where it stands by now; the others named."""
    plan, clashes = Plan(), list[Clash]()
    for path, _, after in turn_texts(engine, turn):
        mine = [found for found in hunks if found.path == path]
        clashes += (held := _find_typing_taken(engine, turn, path, mine, wanted))
        wanted = wanted - {clash.hunk_id for clash in held}
        disk = engine.documents.on_disk(DocPath(path))
        draft = engine.documents.draft(path)
        chosen = [index for index, found in enumerate(mine) if found.id in wanted]
        if not chosen:
            continue
        if disk is None:
            clashes += [Clash(path, mine[index].id, "the document is no longer there") for index in chosen]
            continue
        text = str(disk.text)
        since = change_since(engine, turn.id, path, after, text)
        inverse = Change(tuple(found.hunk.edit for found in mine)).invert()
        kept: list[Edit] = []
        undone = _find_undone_hunks(engine, turn, path)
        later = {part for each in since.edits for part in refine(each)}
        for index in chosen:
            edit = inverse.edits[index]
            if mine[index].hunk.id in undone or set(refine(edit)) <= later:
                continue  # taken back already
            there = _place_now(edit, since, after, text)
            together = None if there is None else _with_edit(kept, there)
            if there is None or together is None:
                clashes.append(Clash(path, mine[index].id, "it has been changed since"))
            elif draft is not None and _is_met(draft.review, there, Change(tuple(together))):
                clashes.append(name_met(draft, mine[index].id))
            else:
                kept = together
        if not kept:
            continue
        change = Change(tuple(kept))
        result = change.apply(text)
        # A document that the turn made, and of which nothing is left, goes as a whole.
        made = any(step.path == path and step.before is None for step in turn.files)
        content = None if made and not result else content_from(result, bom=disk.bom)
        change, passed = (change, ()) if draft is None else locate(engine, turn, path, draft.review, change)
        edits = None if content is None else dump_edits(change)
        plan.files.append(FilePlan(DocPath(path), disk.as_content(), content, disk.mode, edits=edits))
        if draft is not None:
            plan.drafts[draft.key] = None
            review = None if content is None else edit_saved_text(draft.review, change, passed=passed)
            follows = draft.with_disk(content.data if content else None)
            plan.put_draft(follows if review is None else replace(draft, review=review, saved=follows.saved))
    return plan, clashes


def _find_undone_hunks(engine: Engine, turn: TurnRecord, path: str) -> set[str]:
    """The hunks of a decision of which every turn that proposed something there has been undone."""
    step = next((step for step in turn.files if step.path == path and step.edits is not None), None)
    places = [place for place in load_positions(step.edits) if place.mark] if step and step.edits else []
    tokens = {turn_of(place.mark) for place in places}
    standing = tokens - {each.token for each in engine.turns.by_tokens(tokens) if each.state is State.UNDONE}
    return {place.hunk for place in places} - {place.hunk for place in places if turn_of(place.mark) in standing}


def _find_typing_taken(
    engine: Engine, turn: TurnRecord, path: str, hunks: list[TurnHunk], wanted: set[str]
) -> list[Clash]:
    """The chosen hunks of a decision that took out what the person had typed and not saved: no file has that."""
    images = [step.before for step in turn.reviews if turn.kind == "accept" and step.path == path and step.before]
    parts = (part for image in images for part in engine.documents.from_image(image).review.parts)
    held = {part.id for part in parts if any(run.by == USER and run.taken_out_by_agent for run in part.runs)}
    reason = f"it removed unsaved typing: undo turn {turn.id} instead"
    return [Clash(path, each.id, reason) for each in hunks if each.id in wanted and each.hunk.id in held]


def _is_met(review: Review, edit: Edit, change: Change) -> bool:
    """Whether typing that is not saved, or a proposal, is about the words that would go."""
    at = 0
    for run in review.runs:
        end = at if run.by else at + len(run.text)
        if not run.plain and at < edit.end and edit.at < end:
            return True
        at = end
    return has_typing_in_words(review, Change((edit,))) or edit_saved_text(review, change) is None


def _place_now(edit: Edit, since: Change, then: str, now: str) -> Edit | None:
    """An edit of the text as a turn left it, where it belongs by now; None where its words were changed."""
    found = Change((edit,)).rebase(since)
    if found is None or _word_goes_on(then, edit, now, found.edits[0]):
        return None
    return found.edits[0]


def _word_goes_on(then: str, edit: Edit, now: str, there: Edit) -> bool:
    """Whether a word that began or ended with a passage goes on beyond it by now: then it was changed, too."""
    edges = ((edit.at, there.at), (edit.end, there.end)) if edit.old else ()
    return any(_is_inside_word(now, at_now) and not _is_inside_word(then, at_then) for at_then, at_now in edges)


def _is_inside_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _with_edit(edits: list[Edit], edit: Edit) -> list[Edit] | None:
    together = sorted([*edits, edit], key=lambda each: (each.at, each.end))
    try:
        return list(Change(tuple(together)).edits)
    except ValueError:
        return None


def _is_moved_away(turn: TurnRecord, step: FileStep) -> bool:
    return any(other.moved_from == step.path for other in turn.files)


def check_standing(turn: TurnRecord) -> None:
    """Refuse a turn that cannot be taken back as it stands."""
    check_not_pruned(turn)
    if turn.state not in (State.APPLIED, State.PROPOSED):
        raise Refused(f"Turn {turn.id} is {turn.state}.", code="nothing_to_undo", turn=turn.id)


def check_not_pruned(turn: TurnRecord) -> None:
    if turn.pruned:
        raise Refused(f"Turn {turn.id} is older than the history that is kept.", code="nothing_to_undo", turn=turn.id)
