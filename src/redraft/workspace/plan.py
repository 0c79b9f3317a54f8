"""From what a turn staged to what has to change: files on disk, and drafts.

Two ways lead there. `proposed` puts an agent's changes into the reviews and leaves the disk alone; `applied` writes
them at once and lets any draft of the same document follow. Both read the present state under the lock, so what the
person typed while the turn was open is merged with, never written over.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from redraft.errors import Refused, Stale
from redraft.files.paths import DocPath
from redraft.history.journal import Content, FilePlan
from redraft.history.store import BOM
from redraft.history.turns import ReviewStep
from redraft.review.acts import agent_turn, type_into
from redraft.review.review import Review, tidy
from redraft.text.edits import Change
from redraft.text.merge import merge
from redraft.text.text import Text
from redraft.workspace.draft import Draft
from redraft.workspace.modes import Writes

if TYPE_CHECKING:
    from redraft.text.merge import Merge
    from redraft.workspace.document import Document
    from redraft.workspace.documents import Documents, OnDisk
    from redraft.workspace.turn import Staged, Turn


@dataclass(slots=True)
class Plan:
    """Everything one turn changes."""

    files: list[FilePlan] = field(default_factory=list[FilePlan])
    drafts: dict[str, Draft | None] = field(default_factory=dict[str, "Draft | None"])
    conflicts: list[str] = field(default_factory=list[str])

    def put_draft(self, draft: Draft) -> None:
        """Keep a draft, or let it go when it says no more than the disk. One without a place is gone already."""
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


def draft_of(documents: Documents, path: DocPath) -> Draft:
    """The document's draft, or one in which nothing is pending yet."""
    draft = documents.draft(path)
    if draft is not None:
        return draft
    disk = documents.on_disk(path)
    if disk is None:
        raise Stale(f"{path} was deleted or moved meanwhile.", path=path)
    return Draft(path, path, Review.of(str(disk.text)), disk.data, disk.bom, disk.mode)


def proposed(turn: Turn, documents: Documents, token: str) -> Plan:
    """An agent's turn as hunks to be judged."""
    plan = Plan()
    _check_places(turn, documents)
    sources = set(turn.moved.values())
    for path, staged in turn.staged.items():
        if staged.now is None:
            if path not in sources:
                _propose_deletion(plan, documents, path, staged, token)
        elif path in turn.moved:
            _propose_move(plan, turn, documents, path, staged.now, token)
        elif staged.seen is None:
            _propose_creation(plan, documents, path, staged.now, token)
        elif staged.now != staged.seen:
            draft = draft_of(documents, path)
            review = agent_turn(draft.review, str(staged.seen.text), str(staged.now.text), token)
            plan.put_draft(replace(draft, review=review))
    return plan


def _check_places(turn: Turn, documents: Documents) -> None:
    """A draft knows one place on disk and one in the working view, so a proposal cannot give one to two documents."""
    for target, source in turn.moved.items():
        reused = turn.staged[target].seen is not None or turn.staged[source].now is not None
        if reused or documents.draft(target) is not None:
            raise Refused(
                f"{source} cannot be moved to {target} in one proposal with another document at the same place.",
                code="conflict",
                path=source,
            )


def _propose_creation(plan: Plan, documents: Documents, path: DocPath, now: Document, token: str) -> None:
    text = str(now.text)
    draft = documents.draft(path)
    if draft is None:
        plan.drafts[path] = Draft(path, None, Review.between("", text, text, token), None, now.bom, turn=token)
    else:  # its deletion is pending: the new content takes the place of the old
        review = agent_turn(draft.review, draft.review.working, text, token)
        plan.put_draft(replace(draft, path=path, review=review))


def _propose_deletion(plan: Plan, documents: Documents, path: DocPath, staged: Staged, token: str) -> None:
    draft = draft_of(documents, path)
    if draft.base_path is None:
        if draft.review.to_save:
            raise Refused(f"The person has typed into {path}.", code="conflict", path=path)
        plan.drafts[path] = None
        return
    seen = str(staged.seen.text) if staged.seen else ""
    review = agent_turn(draft.review, seen, "", token)
    if draft.key != draft.base_path:
        plan.drafts[draft.key] = None
    plan.put_draft(replace(draft, path=None, review=review, turn=token))


def _propose_move(plan: Plan, turn: Turn, documents: Documents, path: DocPath, now: Document, token: str) -> None:
    source = turn.moved[path]
    seen = turn.staged[source].seen
    draft = draft_of(documents, source)
    review = agent_turn(draft.review, str(seen.text) if seen else "", str(now.text), token)
    plan.drafts[source] = None
    plan.put_draft(replace(draft, path=path, review=review, turn=token))


def applied(turn: Turn, documents: Documents, token: str) -> Plan:
    """A turn that goes to the disk at once."""
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
    """A turn is written or it waits: where a document waits for a decision itself, its new hunks wait with it."""
    waiting = [draft.key for draft in plan.drafts.values() if draft is not None and draft.has_hunk_of(token)]
    if plan.files and waiting:
        raise Refused(
            f"{waiting[0]} waits for a decision itself; change it in a turn of its own.",
            code="conflict",
            path=waiting[0],
        )


def _apply_edit(plan: Plan, turn: Turn, documents: Documents, path: DocPath, staged: Staged, token: str) -> None:
    seen, now = staged.seen, staged.now
    if seen is None or now is None:
        return
    draft = documents.draft(path)
    if draft is None:
        disk = documents.on_disk(path, again=True)  # what is displaced is compared once more
        if disk is None:
            raise Stale(f"{path} was deleted or moved meanwhile.", path=path)
        if disk.text == seen.text and disk.bom == seen.bom:
            after = encoded(now.text, bom=now.bom, like=disk)
        else:
            after = _merged(plan, turn, path, disk, seen, now)
        plan.files.append(FilePlan(path, disk.as_content(), after, disk.mode))
    elif draft.kind != "modified":
        plan.put_draft(replace(draft, review=_by_author(turn, path, draft.review, seen, now, token)))
    else:
        _apply_to_draft(plan, turn, draft, str(seen.text), str(now.text))


def _by_author(turn: Turn, path: str, review: Review, seen: Document, now: Document, token: str) -> Review:
    """The turn's change in a document that waits for a decision itself: an agent's is proposed, a person's is typed."""
    if turn.author.is_agent:
        return agent_turn(review, str(seen.text), str(now.text), token)
    merged = merge(str(seen.text), review.working, str(now.text))
    if not merged.clean:
        raise Stale(f"{path} was changed at the same place while the turn was open.", code="conflict", path=path)
    return type_into(review, Change.between(review.working, merged.text))


def _merged(plan: Plan, turn: Turn, path: DocPath, disk: OnDisk, seen: Document, now: Document) -> Content:
    """The turn's change brought into what somebody else wrote since: only where the mode merges."""
    if turn.mode.writes is not Writes.MERGED:
        raise Stale(
            f"{path} was changed on disk while the turn was open.",
            path=path,
            your_version=seen.version,
        )
    text = _one_merge(plan, turn, path, merge(str(seen.text), str(disk.text), str(now.text)))
    return encoded(Text(text), bom=disk.bom)


def _one_merge(plan: Plan, turn: Turn, path: str, merged: Merge) -> str:
    if merged.clean:
        return merged.text
    if turn.mode.writes is not Writes.MERGED:
        raise _meeting(path)
    if path not in plan.conflicts:
        plan.conflicts.append(path)
    return merged.marked(("person", "before", turn.author.name))


def _meeting(path: str) -> Refused:
    message = f"{path} has changes at the same place that are not saved or not decided yet."
    return Refused(message, code="conflict", path=path)


def _apply_to_draft(plan: Plan, turn: Turn, draft: Draft, seen: str, result: str) -> None:
    """All three texts and the disk take the same change; what is pending or unsaved stays so."""
    path = draft.key
    review = draft.review
    in_working = merge(seen, review.working, result)
    others = [merge(seen, text, result) for text in (review.base, review.proposed, draft.saved_text)]
    if not all(each.clean for each in others) or (review.pending and not in_working.clean):
        # Marks would bring unsaved typing to the disk, or into the proposal, as the agent's: it could be taken back.
        raise _meeting(path)
    working = _one_merge(plan, turn, path, in_working)
    base, proposal, disk = (each.text for each in others)
    data = draft.encoded(disk)
    after = replace(draft, review=Review(tidy(review.recut(base, proposal, working))), saved=data)
    if review.pending and after.review.to_save != merge(seen, review.to_save, result).text:
        raise _meeting(path)  # cut anew, the parts do not add up to what the person has: their words come first
    before = Content(draft.saved or b"", Text(draft.saved_text), draft.bom)
    plan.files.append(
        FilePlan(DocPath(draft.base_path or path), before, Content(data, Text(disk), draft.bom), draft.mode)
    )
    plan.put_draft(after)


def _apply_deletion(plan: Plan, turn: Turn, documents: Documents, path: DocPath, staged: Staged) -> None:
    draft = documents.draft(path)
    if draft is not None:
        if turn.author.is_agent and path not in turn.moved.values():
            raise Refused(f"{path} has changes that are not saved or not decided yet.", code="conflict", path=path)
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
        plan.files.append(FilePlan(path, _standing(turn, documents, path), content_of(now), now.mode, source))
        return
    seen = turn.staged[source].seen
    if seen is None or seen.text != now.text:
        raise Refused(f"{source} has changes that are not saved or not decided yet.", code="conflict", path=source)
    if path not in turn.moved.values() and documents.draft(path) not in (None, draft):
        raise Refused(f"The deletion of {path} is not decided yet.", code="conflict", path=path)
    home = DocPath(draft.base_path or source)
    disk = documents.on_disk(home)
    if disk is not None and home != path:
        plan.files.append(FilePlan(path, None, disk.as_content(), disk.mode, home))
        if home != source:
            plan.files.append(FilePlan(home, disk.as_content(), None, disk.mode))
    plan.put_draft(replace(draft, path=path, base_path=path if disk is not None else None))


def _standing(turn: Turn, documents: Documents, path: DocPath) -> Content | None:
    """What lies where a document is moved to, when the turn itself moved it away or deleted it first."""
    seen = turn.staged[path].seen
    if seen is None:
        return None
    disk = documents.on_disk(path)
    if disk is None or disk.text != seen.text or documents.draft(path) is not None:
        raise Stale(f"{path} has other changes, or was changed while the turn was open.", path=path)
    return disk.as_content()


def content_of(document: Document) -> Content:
    return encoded(document.text, bom=document.bom)


def encoded(text: Text, *, bom: bool, like: OnDisk | None = None) -> Content:
    """The text as a file holds it. `like` is one from which it came by edits."""
    known = (None, b"") if like is None else (like.text, memoryview(like.data)[len(BOM) * like.bom :])
    data = text.encode(*known)
    return Content(BOM + data if bom else data, text, bom)
