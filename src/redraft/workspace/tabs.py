"""Open documents, what the person types into them, and saving.

Typing is kept as it comes: a crash of the program loses none of it, a power cut at most what was typed since the last
durable write. Nothing is saved to the document's file unless the person says so, and saving during a review writes
their own edits and leaves an agent's pending hunks pending.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError, Refused
from redraft.files.paths import DocPath
from redraft.history.journal import Content, FilePlan
from redraft.review.review import Review, tidy
from redraft.text.merge import merge
from redraft.text.text import Text
from redraft.workspace.document import check_text
from redraft.workspace.engine import PERSON
from redraft.workspace.plan import Plan, draft_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.history.turns import Author, TurnRecord
    from redraft.text.edits import Change
    from redraft.workspace.document import Document
    from redraft.workspace.draft import Draft
    from redraft.workspace.engine import Engine

# Typing is replayed when a document is opened; folding it into the image now and then keeps that short.
FOLD_AFTER = 200


@dataclass(frozen=True, slots=True)
class Tab:
    """An open document. The id holds until the tab is closed."""

    tab_id: str
    path: str
    dirty: bool
    document: Document | None

    def as_json(self) -> dict[str, Any]:
        document = self.document
        return {
            "tab_id": self.tab_id,
            "title": self.path.rpartition("/")[2],
            "path": self.path,
            "file_type": document.format if document else "unknown",
            "version": document.version if document else None,
            "is_dirty": self.dirty,
            "size_chars": len(document.text) if document else 0,
            "line_count": document.text.line_count if document else 0,
        }


def open_tab(engine: Engine, raw: str) -> Tab:
    """Open a document; one that is open already keeps its tab."""
    path = engine.documents.path(raw)
    if engine.documents.document(path) is None:
        raise Refused(f"There is no document {path}.", code="not_found", path=path)
    for tab in tabs(engine):
        if tab.path == path:
            return tab
    with engine.database.transaction(durable=False):
        number = engine.reviews.open_tab(path, engine.clock())
    engine.events.tell("tab.opened", path=path)
    return _tab(engine, number, path)


def tabs(engine: Engine) -> list[Tab]:
    return [_tab(engine, number, path) for number, path in engine.reviews.tabs()]


def tab(engine: Engine, tab_id: str) -> Tab:
    for number, path in engine.reviews.tabs():
        if f"tab_{number}" == tab_id:
            return _tab(engine, number, path)
    raise Refused(f"There is no tab {tab_id}.", code="invalid_tab_id", tab_id=tab_id)


def _tab(engine: Engine, number: int, lies_at: str) -> Tab:
    path = engine.reviews.standing_for(lies_at) or lies_at  # elsewhere, where an agent proposes to move it
    draft = engine.documents.draft_or_kept(path)
    try:
        document = engine.documents.document(DocPath(path))
    except RedraftError:  # no text any more, or not a file: that hides neither this tab nor the others
        document = None
    return Tab(f"tab_{number}", path, draft is not None and draft.dirty, document)


def close_tab(engine: Engine, tab_id: str, *, discard: bool = False) -> None:
    """Close a tab. One with unsaved typing only when told to discard it, which can be undone."""
    found = tab(engine, tab_id)
    if found.dirty and not discard:
        raise Refused(f"{found.path} has unsaved changes.", code="conflict", path=found.path)
    if found.dirty:
        discard_typing(engine, found.path)
    with engine.database.transaction(durable=False):
        engine.reviews.close_tab(int(tab_id.removeprefix("tab_")))
    engine.events.tell("tab.closed", path=found.path)


def type_text(
    engine: Engine,
    raw: str,
    change: Change,
    *,
    version: str | None = None,
    also: Callable[[Document], None] | None = None,
) -> Document:
    """The person edits the working text; it is kept at once, and not saved. What `also` keeps in the history, of the
    document as it then is, is kept together with the typing or not at all."""
    check_text(*(edit.new for edit in change.edits))
    path = engine.documents.path(raw)
    # The lock, because a turn that is being carried out elsewhere has already read the draft that it will replace.
    with engine.journal.locked(), engine.database.transaction(durable=False):
        draft = draft_of(engine.documents, path)
        if draft.path is None:
            raise Refused(f"An agent proposes to delete {path}; decide that first.", code="conflict", path=path)
        document = engine.documents.document(path)
        if version is not None and document is not None:
            document.check_version(version)
        change.apply(draft.review.working)
        stored = engine.documents.stored(path)
        if stored != draft or len(engine.reviews.typing(path)) >= FOLD_AFTER:
            engine.reviews.set(path, engine.documents.to_image(draft))
        engine.reviews.add_typing(path, json.dumps(change.as_json()))
        typed = engine.documents.document(path)
        if also is not None and typed is not None:
            also(typed)
    engine.events.tell("document.typed", path=path)
    if typed is None:
        raise Refused(f"There is no document {path}.", code="not_found", path=path)
    return typed


def save(engine: Engine, raw: str, *, author: Author = PERSON) -> TurnRecord | None:
    """Write the document's accepted text and the person's own edits; None where the disk has them already."""
    path = engine.documents.path(raw)
    with engine.journal.locked():
        draft = engine.documents.draft(path)
        if draft is None or not draft.dirty:
            return None
        text = draft.review.to_save
        data = draft.encoded(text)
        where = DocPath(draft.base_path or path)
        before = None if draft.saved is None else Content(draft.saved, Text(draft.saved_text), draft.bom)
        plan = Plan([FilePlan(where, before, Content(data, Text(text), draft.bom), draft.mode)])
        review = draft.review if draft.review.pending else Review.of(draft.review.working)
        plan.put_draft(replace(draft, base_path=where, saved=data, review=review))
        return engine.carry_out(plan, author=author, kind="save", title=f"Save {path}")


def discard_typing(engine: Engine, raw: str, *, author: Author = PERSON) -> TurnRecord | None:
    """Drop what was typed and not saved. It stays in the history, and an undo brings it back."""
    path = engine.documents.path(raw)
    with engine.journal.locked():
        draft = engine.documents.draft(path)
        if draft is None:
            return None
        plan = Plan()
        if draft.base_path is None and not draft.review.pending:
            plan.drafts[path] = None
        elif not draft.dirty:
            return None
        else:
            plan.put_draft(replace(draft, review=_as_saved(draft)))
        return engine.carry_out(plan, author=author, kind="discard", title=f"Discard unsaved typing in {path}")


def _as_saved(draft: Draft) -> Review:
    """The review with the person's own text as the disk has it; what agents propose stays pending."""
    own, saved = draft.review.to_save, draft.saved_text
    base, proposed, working = (
        merge(own, text, saved).theirs_text for text in (draft.review.base, draft.review.proposed, draft.review.working)
    )
    return Review(tidy(draft.review.recut(base, proposed, working)))


def refresh(engine: Engine) -> list[str]:
    """Bring every draft up to date with changes from outside; gives the documents that changed."""
    changed: list[str] = []
    with engine.journal.locked(), engine.database.transaction(durable=False):
        for path in engine.reviews.paths():
            stored = engine.documents.stored(path)
            try:
                now = engine.documents.draft(path)
            except RedraftError:
                continue  # no text just now: there is nothing to bring the draft up to date with
            if now != stored:
                engine.reviews.set(path, None if now is None or now.settled else engine.documents.to_image(now))
                changed.append(path)
    for path in changed:
        engine.events.tell("document.changed", path=path, turn=None)
    return changed
