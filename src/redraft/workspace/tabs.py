"""Open documents, what the person types into them, and saving.

Typing is stored as it arrives: a crash of the program loses none of it, a power cut at most what was typed since the
last durable write. A document's file is written only when the person saves. Saving during a review writes the person's
own edits and leaves an agent's pending hunks pending.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError, Refused
from redraft.files.paths import DocPath
from redraft.history.journal import Content, FilePlan
from redraft.history.turns import PERSON, dump_positions
from redraft.review.operations import discard_typing as drop_typing
from redraft.text.edits import ChangeStep
from redraft.text.text import Text
from redraft.workspace.document import check_text
from redraft.workspace.turns.edit_positions import positions_of_decision
from redraft.workspace.turns.plan import Plan, draft_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from redraft.history.turns import Author, TurnRecord
    from redraft.text.edits import Change
    from redraft.workspace.document import Document
    from redraft.workspace.engine import Engine

# Typing is replayed when a document is opened; folding it into the image now and then keeps that short.
FOLD_AFTER = 200


@dataclass(frozen=True, slots=True)
class Tab:
    """An open document. Its id is valid until the tab is closed. `document` is None if the file is gone (`is_gone`) or
    cannot be shown; it may be "binary"."""

    tab_id: str
    path: str
    dirty: bool
    document: Document | None
    file_type: str
    is_gone: bool

    def as_json(self) -> dict[str, Any]:
        document = self.document
        return {
            "tab_id": self.tab_id,
            "title": self.path.rpartition("/")[2],
            "path": self.path,
            "file_type": self.file_type,
            "version": document.version if document else None,
            "is_dirty": self.dirty,
            "size_chars": len(document.text) if document else 0,
            "line_count": document.text.line_count if document else 0,
        }


def open_tab(engine: Engine, raw: str, *, confirmed: Container[str] = ()) -> Tab:
    """Open a document; one that is already open keeps its tab."""
    path = engine.documents.path(raw)
    if engine.documents.document(path, confirmed=confirmed) is None:
        raise Refused(f"There is no document {path}.", code="not_found", path=path)
    for tab in tabs(engine):
        if tab.path == path:
            return tab
    with engine.database.transaction(durable=False):
        number = engine.reviews.open_tab(path, engine.clock())
        engine.outside.files.remember_open(path)
    engine.events.tell("tab.opened", path=path)
    return _tab(engine, number, path)


def tabs(engine: Engine) -> list[Tab]:
    return [_tab(engine, number, path) for number, path in engine.reviews.tabs()]


def tab(engine: Engine, tab_id: str) -> Tab:
    for number, path in engine.reviews.tabs():
        if f"tab_{number}" == tab_id:
            return _tab(engine, number, path)
    raise Refused(f"There is no tab {tab_id}.", code="invalid_tab_id", tab_id=tab_id)


def path_of(engine: Engine, tab_id: str) -> str | None:
    """The document that a tab shows; None if there is no such tab."""
    for number, lies_at in engine.reviews.tabs():
        if f"tab_{number}" == tab_id:
            return _working_path(engine, lies_at)
    return None


def tab_paths(engine: Engine) -> dict[str, str]:
    return {f"tab_{number}": path for number, path in engine.reviews.tabs()}


def _working_path(engine: Engine, lies_at: str) -> str:
    """The path of an open document in the working view: not that of its file if an agent proposes to move it."""
    return engine.reviews.working_path(lies_at) or lies_at


def _tab(engine: Engine, number: int, lies_at: str) -> Tab:
    path = _working_path(engine, lies_at)
    draft = engine.documents.draft_or_stored(path)
    dirty = draft is not None and draft.dirty
    try:
        document = engine.documents.document(DocPath(path))
    except RedraftError as error:  # no text any more, or a secret: that hides neither this tab nor the others
        kind = "binary" if error.code == "unsupported_file_type" else "unknown"
        return Tab(f"tab_{number}", path, dirty, None, kind, is_gone=False)
    kind = "unknown" if document is None else document.file_type
    return Tab(f"tab_{number}", path, dirty, document, kind, is_gone=document is None)


def close_tab(engine: Engine, tab_id: str, *, discard: bool = False) -> None:
    """Close a tab. One with unsaved typing is closed only with `discard`, which can be undone."""
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
    """Apply the person's edit to the working text; it is stored at once but not saved. What `also` writes to the
    history, given the document after the edit, is stored together with the typing or not at all."""
    check_text(*(edit.new for edit in change.edits))
    path = engine.documents.path(raw)
    # The lock, because a turn that is being carried out elsewhere has already read the draft that it will replace.
    with engine.journal.lock():
        # Read before the transaction: what another program wrote is recorded, whatever becomes of the typing.
        draft = draft_of(engine.documents, path)
        document = engine.documents.read_unmasked(path)
        if version is not None and document is not None:
            document.check_version(version)
        change.apply(draft.review.working)
        with engine.database.transaction(durable=False):
            stored = engine.documents.load_stored_draft(path)
            if stored != draft or len(engine.reviews.read_typing(path)) >= FOLD_AFTER:
                engine.reviews.set(path, engine.documents.to_image(draft))
            engine.reviews.add_typing(path, json.dumps(change.as_json()))
            typed = engine.documents.read_unmasked(path)
            if also is not None and typed is not None:
                also(typed)
    if typed is None:
        raise Refused(f"There is no document {path}.", code="not_found", path=path)
    # Something else may have been merged in from the disk: then nobody knows the change exactly.
    if document is not None and change.apply_to(document.text) == typed.text:
        step = ChangeStep(document.version, typed.version, change, document.version, change)
        engine.documents.changes.add(path, [step])
    engine.events.tell("document.typed", path=path)
    return typed


def save(engine: Engine, raw: str, *, author: Author = PERSON) -> TurnRecord | None:
    """Write the document's accepted text and the person's own edits; None if the disk has them already."""
    path = engine.documents.path(raw)
    with engine.journal.lock():
        draft = engine.documents.draft(path)
        if draft is None or not draft.dirty:
            return None
        if draft.review.unsaveable:
            raise Refused(
                f"Another program changed words in {path} that you have changed too: choose yours or theirs first.",
                code="conflict",
                path=path,
            )
        text = draft.review.to_save
        data = draft.encode_text(text)
        edits = dump_positions(positions_of_decision(draft.review, (), typing=True))
        where = DocPath(draft.base_path or path)
        before = None if draft.saved is None else Content(draft.saved, Text(draft.saved_text), draft.bom)
        plan = Plan([FilePlan(where, before, Content(data, Text(text), draft.bom), draft.mode, edits=edits)])
        plan.put_draft(replace(draft.save_typing(), base_path=where, saved=data))
        return engine.commit(plan, author=author, kind="save", title=f"Save {path}")


def discard_typing(engine: Engine, raw: str, *, author: Author = PERSON) -> TurnRecord | None:
    """Drop unsaved typing. It stays in the history, and an undo brings it back."""
    path = engine.documents.path(raw)
    with engine.journal.lock():
        draft = engine.documents.draft(path)
        if draft is None:
            return None
        plan = Plan()
        if draft.base_path is None and not draft.review.pending:
            plan.drafts[path] = None
        elif not draft.dirty:
            return None
        else:
            plan.put_draft(replace(draft, review=drop_typing(draft.review)))
        return engine.commit(plan, author=author, kind="discard", title=f"Discard unsaved typing in {path}")


def refresh(engine: Engine) -> list[str]:
    """Check every known document for changes by other programs; returns those that changed."""
    return sorted(engine.outside.look_at(engine.outside.all_documents()))


# The tab in front of a person: the document that they look at, and what they have selected in it.
#
# The window that was used last says so, and every process on the folder sees it: "this document" means the same in
# the app, over MCP and in a job. Each person of a team has a front of their own. It is a note beside the history:
# where one is lost, nothing else happens. A tab that was closed is in front of nobody.


MAX_SELECTION = 40_000


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected text. Lines count from 1 and include both ends; of a very long selection only the beginning is
    kept."""

    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class FrontTab:
    """The document in front."""

    tab_id: str
    path: str
    selection: Selection | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def bring_to_front(engine: Engine, tab_id: str, selection: Selection | None = None, *, person: str) -> FrontTab | None:
    """Remember which tab a person is looking at; None if it is no longer open. A selection is kept only if an agent may
    read the document, because its purpose is to be shown to one."""
    if selection is not None:
        check_text(selection.text)
        if selection.end_line < selection.start_line:
            raise Refused("A selection cannot end before it starts.", field="selection.end_line")
        shown = selection.text[:MAX_SELECTION] if _can_be_shown(engine, tab_id) else ""
        selection = replace(selection, text=shown) if shown else None
    kept = {"tab": tab_id, "selection": None if selection is None else asdict(selection)}
    with engine.database.transaction(durable=False):
        engine.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_front_key(person), json.dumps(kept)))
    return front(engine, person)


def front(engine: Engine, person: str) -> FrontTab | None:
    """The document that a person is looking at, as the window that they used last reported it."""
    row = engine.database.row("SELECT value FROM meta WHERE key = ?", (_front_key(person),))
    kept: dict[str, Any] = {} if row is None else json.loads(row[0])
    path = path_of(engine, kept.get("tab", ""))
    if path is None:
        return None
    selection = None if kept["selection"] is None else Selection(**kept["selection"])
    return FrontTab(kept["tab"], path, selection)


def _can_be_shown(engine: Engine, tab_id: str) -> bool:
    path = path_of(engine, tab_id)
    try:
        return path is not None and engine.documents.document(engine.documents.path(path)) is not None
    except RedraftError:
        return False


def _front_key(person: str) -> str:
    return f"front of {person}"
