"""Open documents: opening and closing them, typing, saving. Nothing is saved unless the person says so."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused, Stale
from redraft.server.document_shapes import TabShape, tab_shape
from redraft.server.routes.answering import Here, answer, gives, wanted_version
from redraft.server.served import Desk
from redraft.server.shapes import TurnShape, turn_shape
from redraft.text.edits import Change, Edit
from redraft.tools.staleness import explained
from redraft.workspace import tabs
from redraft.workspace.document import Document
from redraft.workspace.workspace import Workspace

router = APIRouter(prefix="/api/tabs", tags=["tabs"])
TabId = Annotated[str, Path(min_length=1, max_length=40)]


class Tabs(TypedDict):
    """The documents that are open."""

    tabs: list[TabShape]


@router.get("", **gives(Tabs))
async def list_tabs(desk: Here) -> Response:
    return answer({"tabs": await desk.work(lambda workspace: [tab_shape(tab) for tab in workspace.tabs()])})


class Opening(BaseModel):
    """Which document to open."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)


@router.post("", **gives(TabShape, 404, body=True))
async def open_tab(desk: Here, given: Opening) -> Response:
    """Open a document; one that is open already keeps its tab."""
    return answer(await desk.work(lambda workspace: tab_shape(workspace.open_tab(given.path))))


@router.get("/{tab_id}", **gives(TabShape, 404))
async def show_tab(desk: Here, tab_id: TabId) -> Response:
    return answer(await desk.work(lambda workspace: tab_shape(tabs.tab(workspace.engine, tab_id))))


class Closed(TypedDict):
    """The tab is closed. `turn` is the one that dropped what was typed and not saved; it can be undone."""

    tab_id: str
    turn: TurnShape | None


@router.delete("/{tab_id}", **gives(Closed, 404, body=True))
async def close_tab(desk: Here, tab_id: TabId, discard: bool = False) -> Response:
    """Close a tab. One with unsaved typing only with `discard`."""

    def act(workspace: Workspace) -> Any:
        found = tabs.tab(workspace.engine, tab_id)
        dropped = None
        if found.dirty and discard:
            dropped = tabs.discard_typing(workspace.engine, found.path, author=desk.author)
        workspace.close_tab(tab_id)
        return {"tab_id": tab_id, "turn": None if dropped is None else turn_shape(dropped)}

    return answer(await desk.work(act))


class EditShape(BaseModel):
    """In place of `old`, which stands at the offset `at` (in code points), comes `new`."""

    model_config = ConfigDict(extra="forbid")
    at: int = Field(ge=0, le=2**53 - 1)
    old: str
    new: str


class Typing(BaseModel):
    """What the person typed: `edits` against the text of `version`, in its order; or the whole new `content`."""

    model_config = ConfigDict(extra="forbid")
    version: str | None = None
    edits: list[EditShape] | None = None
    content: str | None = None


class Typed(TypedDict):
    """The document after the typing. It is kept, and not saved."""

    tab_id: str
    path: str
    version: str
    is_dirty: bool


@router.post("/{tab_id}/type", **gives(Typed, 404, body=True))
async def type_text(desk: Here, request: Request, tab_id: TabId, given: Typing) -> Response:
    """Keep what was typed. Refused where the text is no longer that of the version, which `If-Match` may name too, and
    while a job has the documents to itself."""

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        found = tabs.tab(workspace.engine, tab_id)
        document = found.document or workspace.read(found.path)
        version = wanted_version(request, given.version)
        try:
            if version is not None:
                document.check_version(version)
            typed = workspace.type(found.path, _change(given, document), version=version)
        except Stale as error:
            raise _told(desk, error, document) from error
        desk.context().saw(typed)
        now = tabs.tab(workspace.engine, tab_id)
        return {"tab_id": tab_id, "path": found.path, "version": typed.version, "is_dirty": now.dirty}

    return answer(await desk.work(act))


def _change(given: Typing, document: Document) -> Change:
    if (given.edits is None) == (given.content is None):
        raise Refused("Send either `edits` or `content`.", field="edits")
    if given.content is not None:
        return Change.between(str(document.text), given.content)
    try:
        return Change(tuple(Edit(edit.at, edit.old, edit.new) for edit in given.edits or ()))
    except ValueError as error:
        raise Refused(str(error), field="edits") from error


def _told(desk: Desk, error: Stale, document: Document) -> Stale:
    """A conflict always says what the version is now."""
    details = {"path": document.path, "current_version": document.version, **error.details}
    return explained(Stale(error.message, code=error.code, **details), desk.context())


class Saved(TypedDict):
    """The turn in which the document was saved; null where the disk had it already."""

    tab_id: str
    path: str
    version: str | None
    turn: TurnShape | None


@router.post("/{tab_id}/save", **gives(Saved, 404, body=True))
async def save(desk: Here, request: Request, tab_id: TabId) -> Response:
    """Write the accepted text and the person's own edits; what agents propose waits. `If-Match` may name the version
    that the person sees."""

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        found = tabs.tab(workspace.engine, tab_id)
        version = wanted_version(request, None)
        if version is not None and found.document is not None:
            try:
                found.document.check_version(version)
            except Stale as error:
                raise _told(desk, error, found.document) from error
        turn = tabs.save(workspace.engine, found.path, author=desk.author)
        now = tab_shape(tabs.tab(workspace.engine, tab_id))
        shape = None if turn is None else turn_shape(turn)
        return {"tab_id": tab_id, "path": found.path, "version": now["version"], "turn": shape}

    return answer(await desk.work(act))


@router.post("/{tab_id}/discard", **gives(Saved, 404, body=True))
async def discard(desk: Here, tab_id: TabId) -> Response:
    """Drop what was typed and not saved. It stays in the history, and an undo brings it back."""

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        found = tabs.tab(workspace.engine, tab_id)
        turn = tabs.discard_typing(workspace.engine, found.path, author=desk.author)
        document = workspace.engine.documents.document(workspace.engine.documents.path(found.path))
        version = None if document is None else document.version
        shape = None if turn is None else turn_shape(turn)
        return {"tab_id": tab_id, "path": found.path, "version": version, "turn": shape}

    return answer(await desk.work(act))
