"""Turn what was staged into what has to change: files on disk, and drafts.

There are two ways. `plan_proposal` puts an agent's changes into the reviews and leaves the disk alone; `plan_write`
writes them at once and lets any draft of the same document follow. Both read the current state under the lock, so the
person's typing during the turn is merged and never overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

from redraft.errors import Refused, Stale
from redraft.files.paths import DocPath
from redraft.history.database import BOM
from redraft.history.journal import Content, FilePlan
from redraft.history.turns import ReviewStep, positions_of_change
from redraft.review.operations import apply_agent_turn, type_into
from redraft.review.outside_change import apply_outside_change, edit_saved_text, to_saved_change
from redraft.review.review import Review
from redraft.text.diff.word_diff import compare
from redraft.text.edits import Change
from redraft.text.merge.three_way import merge
from redraft.text.rebase import KnownChange, carry_forward
from redraft.text.text import Text
from redraft.workspace.document import Draft, version_of
from redraft.workspace.turns.modes import WriteTime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.text.merge.three_way import Merge
    from redraft.workspace.document import Document
    from redraft.workspace.documents import DiskFile, Documents
    from redraft.workspace.turns.turn import StagedDocument, Turn


# An edit costs about a tenth of a millisecond, and what it is about has to be compared by words.
LARGE_EDITS, LARGE_CHARACTERS = 500, 50_000


@dataclass(slots=True)
class Plan:
    """Everything one turn changes."""

    files: list[FilePlan] = field(default_factory=list[FilePlan])
    drafts: dict[str, Draft | None] = field(default_factory=dict[str, "Draft | None"])
    conflicts: list[str] = field(default_factory=list[str])

    def put_draft(self, draft: Draft) -> None:
        """Keep a draft, or drop it if the disk has everything it says. One without a path is gone already."""
        if draft.key:
            self.drafts[draft.key] = None if draft.settled or draft.worthless else draft

    def steps(self, documents: Documents) -> list[ReviewStep]:
        """The drafts as review steps. Called inside the transaction that records the turn."""
        steps: list[ReviewStep] = []
        for path, draft in self.drafts.items():
            standing = documents.draft(path)
            before = None if standing is None else documents.to_image(standing)
            after = None if draft is None else documents.to_image(draft)
            if before != after:
                steps.append(ReviewStep(path, before, after))
        return steps


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """The part of a plan that was computed for a document before the lock was taken. It is used only if nothing
    changed: the same `staged` document and, for a proposal, the same review (`into`)."""

    staged: StagedDocument
    into: Review | None = None
    review: Review | None = None
    places: str = ""


def plan_ahead(turn: Turn, documents: Documents) -> Callable[[], None] | None:
    """Do the slow part of planning a turn, without the lock or the workspace; None if nothing is slow. What changes
    meanwhile is noticed when the turn is committed."""
    large = {path: staged for path, staged in turn.staged.items() if path not in turn.moved and _is_large(staged)}
    if not large:
        return None
    reviews = {} if turn.writes_at_once else {path: draft_of(documents, path).review for path in large}

    def compute() -> None:
        for path, staged in large.items():
            into = reviews.get(path)
            if into is None:
                turn.ahead[path] = PlannedDocument(staged, places=positions_of_change(_compose(staged.calls)))
            else:
                turn.ahead[path] = PlannedDocument(staged, into, _after_edit(into, staged, turn.token))

    return compute


def _is_large(staged: StagedDocument) -> bool:
    """Whether planning takes longer than somebody who is typing should wait."""
    if staged.seen is None or staged.now is None or staged.now == staged.seen:
        return False
    edits = [edit for call in staged.calls for edit in call.edits]
    return len(edits) > LARGE_EDITS or sum(len(edit.old) + len(edit.new) for edit in edits) > LARGE_CHARACTERS


def _after_edit(review: Review, staged: StagedDocument, token: str) -> Review:
    seen, result = (str(each.text) if each else "" for each in (staged.seen, staged.now))
    return apply_agent_turn(review, seen, result, token, staged.calls)


def draft_of(documents: Documents, path: DocPath) -> Draft:
    """The document's draft, or a new one in which nothing is pending."""
    draft = documents.draft(path)
    if draft is not None:
        return draft
    disk = documents.on_disk(path)
    if disk is None:
        raise Stale(f"{path} was deleted or moved in the meantime.", path=path)
    return Draft(path, path, Review.of(str(disk.text)), disk.data, disk.bom, disk.mode)


def plan_proposal(turn: Turn, documents: Documents, token: str) -> Plan:
    """Plan an agent's turn as hunks to decide."""
    plan = Plan()
    _check_places(turn, documents)
    sources = set(turn.moved.values())
    for path, staged in turn.staged.items():
        if staged.now is None:
            if path not in sources:
                _propose_deletion(plan, documents, path, token)
        elif path in turn.moved:
            _propose_move(plan, turn, documents, path, staged.now, token)
        elif staged.seen is None:
            _propose_creation(plan, documents, path, staged.now, token)
        elif staged.now != staged.seen:
            draft = draft_of(documents, path)
            known = turn.ahead.get(path)
            if known is None or known.review is None or known.staged is not staged or known.into != draft.review:
                plan.put_draft(replace(draft, review=_after_edit(draft.review, staged, token)))
            else:
                plan.put_draft(replace(draft, review=known.review))
    return plan


def _check_places(turn: Turn, documents: Documents) -> None:
    """Refuse a proposal that gives one place to two documents: a draft has one place on disk and one in the working
    view."""
    for target, source in turn.moved.items():
        reused = turn.staged[target].seen is not None or turn.staged[source].now is not None
        if reused or documents.draft(target) is not None:
            raise Refused(
                f"{source} cannot be moved to {target} in the same proposal as another document with that path.",
                code="conflict",
                path=source,
            )


def _propose_creation(plan: Plan, documents: Documents, path: DocPath, now: Document, token: str) -> None:
    text = str(now.text)
    draft = documents.draft(path)
    if draft is None:
        review = Review.between("", text, text, token)
        plan.drafts[path] = Draft(path, None, review, None, now.bom, now.mode, turn=token)
    else:  # its deletion is pending: the new content takes the place of the old
        review = apply_agent_turn(draft.review, draft.review.working, text, token)
        plan.put_draft(replace(draft, path=path, review=review, turn=""))


def _propose_deletion(plan: Plan, documents: Documents, path: DocPath, token: str) -> None:
    """Propose to delete the file. The words stay as they are, and the person can go on editing until they decide."""
    draft = draft_of(documents, path)
    if draft.base_path is None:
        if draft.review.to_save:
            raise Refused(f"The person has typed into {path}.", code="conflict", path=path)
        plan.drafts[path] = None
        return
    if draft.key != draft.base_path:
        plan.drafts[draft.key] = None
    plan.put_draft(replace(draft, path=None, turn=token))


def _propose_move(plan: Plan, turn: Turn, documents: Documents, path: DocPath, now: Document, token: str) -> None:
    source = turn.moved[path]
    seen = turn.staged[source].seen
    draft = draft_of(documents, source)
    review = apply_agent_turn(draft.review, str(seen.text) if seen else "", str(now.text), token)
    plan.drafts[source] = None
    plan.put_draft(replace(draft, path=path, review=review, turn=token))


def plan_write(turn: Turn, documents: Documents, token: str) -> Plan:
    """Plan a turn that is written to the disk at once."""
    plan = Plan()
    for path, staged in turn.staged.items():
        if staged.now is None:
            _apply_deletion(plan, turn, documents, path, staged)
        elif path in turn.moved:
            _apply_move(plan, turn, documents, path, staged.now)
        elif staged.seen is None:
            plan.files.append(FilePlan(path, None, content_of(staged.now), staged.now.mode))
        elif staged.now != staged.seen:
            _apply_edit(plan, turn, documents, path, staged, token)
    _check_one_fate(plan, token)
    return plan


def _check_one_fate(plan: Plan, token: str) -> None:
    """Refuse a turn that is partly written and partly waiting: new hunks in a document that waits for a decision wait
    too."""
    waiting = [draft.key for draft in plan.drafts.values() if draft is not None and draft.has_hunk_of(token)]
    if plan.files and waiting:
        raise Refused(
            f"{waiting[0]} is itself waiting for a decision; change it in a separate turn.",
            code="conflict",
            path=waiting[0],
        )


def _apply_edit(
    plan: Plan, turn: Turn, documents: Documents, path: DocPath, staged: StagedDocument, token: str
) -> None:
    seen, now = staged.seen, staged.now
    if seen is None or now is None:
        return
    draft = documents.draft(path)
    if draft is None:
        disk = documents.on_disk(path, again=True)  # what is displaced is compared once more
        if disk is None:
            raise Stale(f"{path} was deleted or moved in the meantime.", path=path)
        if disk.text == seen.text and disk.bom == seen.bom:
            after = encode_content(now.text, bom=now.bom, like=disk)
            known = turn.ahead.get(path)
            fits = known is not None and known.staged is staged and known.into is None
            edits = known.places if known and fits else positions_of_change(_compose(staged.calls))
        else:
            after, edits = _merge_with_disk(plan, turn, documents, path, disk)
        plan.files.append(FilePlan(path, disk.as_content(), after, disk.mode, edits=edits))
    elif draft.kind in ("created", "moved"):
        plan.put_draft(replace(draft, review=_by_author(turn, path, draft.review, seen, now, token)))
    else:
        _apply_to_draft(plan, turn, draft, staged, str(seen.text), str(now.text))


def _compose(calls: Sequence[Change]) -> Change:
    return reduce(Change.then, calls, Change())


def _by_author(turn: Turn, path: str, review: Review, seen: Document, now: Document, token: str) -> Review:
    """The turn's change in a document that waits for a decision: an agent's is proposed, a person's is typed."""
    if turn.author.is_agent:
        return apply_agent_turn(review, str(seen.text), str(now.text), token)
    merged = merge(str(seen.text), review.working, str(now.text))
    if not merged.clean:
        raise Stale(f"{path} was changed at the same place while the turn was open.", code="conflict", path=path)
    return type_into(review, Change.between(review.working, merged.text))


def _merge_with_disk(
    plan: Plan, turn: Turn, documents: Documents, path: DocPath, disk: DiskFile
) -> tuple[Content, str | None]:
    """Apply the turn's change to what somebody else wrote since: carried forward or, if the mode says so, merged.
    Returns the positions of the change too, if they are known."""
    staged = turn.staged[path]
    seen, now = staged.seen, staged.now
    if seen is None or now is None:
        raise Stale(f"{path} was deleted or moved in the meantime.", path=path)
    if turn.mode.writes is WriteTime.MERGED:
        text = _merge_text(plan, turn, path, merge(str(seen.text), str(disk.text), str(now.text)))
        return encode_content(Text(text), bom=disk.bom), None
    standing = version_of(disk.text, bom=disk.bom)
    change = _compose(staged.calls)
    leg = KnownChange(documents.changes.since(path, seen.version, standing), disk.text)
    carried = carry_forward(change, seen.version, seen.text, [leg])
    if carried is None:
        raise Stale(
            f"{path} was changed on disk while the turn was open.",
            path=path,
            your_version=seen.version,
            current_version=standing,
        )
    return encode_content(carried.apply_to(disk.text), bom=disk.bom, like=disk), positions_of_change(carried)


def _merge_text(plan: Plan, turn: Turn, path: str, merged: Merge) -> str:
    if merged.clean:
        return merged.text
    if turn.mode.writes is not WriteTime.MERGED:
        raise _find_pending_conflict(path)
    if path not in plan.conflicts:
        plan.conflicts.append(path)
    return merged.mark_conflicts(("person", "before", turn.author.name))


def _find_pending_conflict(path: str) -> Refused:
    message = f"{path} has changes at the same place that are unsaved or undecided."
    return Refused(message, code="conflict", path=path)


def _apply_to_draft(plan: Plan, turn: Turn, draft: Draft, staged: StagedDocument, seen: str, result: str) -> None:
    """Apply the change to the disk's text and to every reading of the review; what is pending or unsaved stays so."""
    path, review = draft.key, draft.review
    if seen == review.working:
        change = to_saved_change(review, _compose(staged.calls))
    else:
        merged = merge(seen, review.working, result)
        change = to_saved_change(review, compare(review.working, merged.text)) if merged.clean else None
    after = edit_saved_text(review, change) if change is not None else None
    if after is None:
        # Where the mode merges, what the person typed at the same words stands beside the new text, marked.
        disk = merge(seen, draft.saved_text, result)
        if turn.mode.writes is not WriteTime.MERGED or review.pending or not disk.clean:
            raise _find_pending_conflict(path)
        plan.conflicts.append(path)
        after, change = apply_outside_change(review, disk.text), None
    data = draft.encode_text(after.saved)
    before = Content(draft.saved or b"", Text(draft.saved_text), draft.bom)
    edits = None if change is None else positions_of_change(change)
    written = Content(data, Text(after.saved), draft.bom)
    plan.files.append(FilePlan(DocPath(draft.base_path or path), before, written, draft.mode, edits=edits))
    plan.put_draft(replace(draft, review=after, saved=data))


def _apply_deletion(plan: Plan, turn: Turn, documents: Documents, path: DocPath, staged: StagedDocument) -> None:
    draft = documents.draft(path)
    if draft is not None:
        if turn.author.is_agent and path not in turn.moved.values():
            raise Refused(f"{path} has changes that are unsaved or undecided.", code="conflict", path=path)
        plan.drafts[path] = None
        if draft.kind == "moved":  # on disk it still has its old place
            if path in turn.moved.values():
                return
            path = DocPath(draft.base_path or path)
    disk = documents.on_disk(path)
    if disk is None:
        if draft is None:
            raise Stale(f"{path} is already gone.", path=path)
        return
    if draft is None and staged.seen is not None and disk.text != staged.seen.text:
        raise Stale(f"{path} was changed on disk while the turn was open.", path=path)
    plan.files.append(FilePlan(path, disk.as_content(), None, disk.mode))


def _apply_move(plan: Plan, turn: Turn, documents: Documents, path: DocPath, now: Document) -> None:
    source = turn.moved[path]
    draft = documents.draft(source)
    if draft is None:
        plan.files.append(FilePlan(path, _content_at_target(turn, documents, path), content_of(now), now.mode, source))
        return
    seen = turn.staged[source].seen
    if seen is None or seen.text != now.text:
        raise Refused(f"{source} has changes that are unsaved or undecided.", code="conflict", path=source)
    if path not in turn.moved.values() and documents.draft(path) not in (None, draft):
        raise Refused(f"The deletion of {path} is still undecided.", code="conflict", path=path)
    home = DocPath(draft.base_path or source)
    disk = documents.on_disk(home)
    if disk is not None and home != path:
        plan.files.append(FilePlan(path, None, disk.as_content(), disk.mode, home))
        if home != source:
            plan.files.append(FilePlan(home, disk.as_content(), None, disk.mode))
    there = None if draft.kind == "deleted" else path
    plan.put_draft(replace(draft, path=there, base_path=path if disk is not None else None))


def _content_at_target(turn: Turn, documents: Documents, path: DocPath) -> Content | None:
    """What is at the target of a move if the turn itself moved or deleted it first."""
    seen = turn.staged[path].seen
    if seen is None:
        return None
    disk = documents.on_disk(path)
    if disk is None or disk.text != seen.text or documents.draft(path) is not None:
        raise Stale(f"{path} has other changes, or was changed while the turn was open.", path=path)
    return disk.as_content()


def content_of(document: Document) -> Content:
    return encode_content(document.text, bom=document.bom)


def encode_content(text: Text, *, bom: bool, like: DiskFile | None = None) -> Content:
    """The text as a file contains it. `like` is the file that it was edited from."""
    known = (None, b"") if like is None else (like.text, memoryview(like.data)[len(BOM) * like.bom :])
    data = text.encode(*known)
    return Content(BOM + data if bom else data, text, bom)
