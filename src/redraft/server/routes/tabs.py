"""Open documents: opening and closing them, typing, saving. Nothing is saved unless the person says so."""

from typing import Annotated, Any

from fastapi import Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused, Stale
from redraft.server.folder_state import RequestContext
from redraft.server.routes.responses import FOR_VIEWERS, Here, answer, gives, new_router, read_requested_version
from redraft.server.routes.shapes import TabShape, TurnResponse, tab_shape, turn_response
from redraft.text.edits import Change, Edit
from redraft.tools.target import basis_of, carry, explain_stale
from redraft.workspace.document import Document
from redraft.workspace.tabs import FrontTab, Selection
from redraft.workspace.workspace import Workspace

router = new_router("/api/tabs", "tabs")
TabId = Annotated[str, Path(min_length=1, max_length=40)]


class TabsResponse(TypedDict):
    """The documents that are open."""

    tabs: list[TabShape]


@router.get("", **gives(TabsResponse))
async def list_tabs(desk: Here) -> Response:
    return answer({"tabs": await desk.work(lambda workspace: [tab_shape(tab) for tab in workspace.tabs()])})


class SelectionRequest(BaseModel):
    """What is selected. Lines count from 1 and include both ends."""

    model_config = ConfigDict(extra="forbid")
    start_line: int = Field(ge=1, le=2**31)
    end_line: int = Field(ge=1, le=2**31)
    text: str


class FrontRequest(BaseModel):
    """The tab that a person looks at, and what they have selected in it."""

    model_config = ConfigDict(extra="forbid")
    tab_id: str = Field(min_length=1, max_length=40)
    selection: SelectionRequest | None = None


class SelectionInfo(TypedDict):
    """What is selected."""

    start_line: int
    end_line: int
    text: str


class FrontShape(TypedDict):
    """The document in front of the caller."""

    tab_id: str
    path: str
    selection: SelectionInfo | None


class FrontResponse(TypedDict):
    """The document in front of the caller; null if there is none, for example after its tab was closed."""

    front: FrontShape | None


@router.get("/front", **gives(FrontResponse))
async def show_front(desk: Here) -> Response:
    """What "this document" means to the caller's agents."""
    return answer(await desk.work(lambda workspace: _front_shape(workspace.front(desk.caller.name))))


@router.put("/front", tags=[FOR_VIEWERS], **gives(FrontResponse, body=True))
async def look_at(desk: Here, given: FrontRequest) -> Response:
    """Report which tab the caller is looking at, whenever a window is used. The last report counts."""
    chosen = given.selection
    selection = None if chosen is None else Selection(chosen.start_line, chosen.end_line, chosen.text)

    def act(workspace: Workspace) -> Any:
        return _front_shape(workspace.bring_to_front(given.tab_id, selection, person=desk.caller.name))

    return answer(await desk.work(act))


def _front_shape(front: FrontTab | None) -> dict[str, Any]:
    return {"front": None if front is None else front.as_json()}


class OpenTabRequest(BaseModel):
    """Which document to open."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)


@router.post("", **gives(TabShape, 404, body=True))
async def open_tab(desk: Here, given: OpenTabRequest) -> Response:
    """Open a document; if it is already open, its tab is reused."""
    return answer(
        await desk.work(lambda workspace: tab_shape(workspace.open_tab(given.path, confirmed=desk.confirmed)))
    )


@router.get("/{tab_id}", **gives(TabShape, 404))
async def show_tab(desk: Here, tab_id: TabId) -> Response:
    return answer(await desk.work(lambda workspace: tab_shape(workspace.tab(tab_id))))


class CloseTabResponse(TypedDict):
    """The tab is closed. `turn` is the one that discarded unsaved typing; it can be undone."""

    tab_id: str
    turn: TurnResponse | None


@router.delete("/{tab_id}", **gives(CloseTabResponse, 404, body=True))
async def close_tab(desk: Here, tab_id: TabId, discard: bool = False) -> Response:
    """Close a tab. With unsaved typing, `discard` is required."""

    def act(workspace: Workspace) -> Any:
        found = workspace.tab(tab_id)
        dropped = None
        if found.dirty and discard:
            dropped = workspace.discard_typing(found.path, author=desk.author)
        workspace.close_tab(tab_id)
        desk.served.confirmed.discard(found.path)
        return {"tab_id": tab_id, "turn": None if dropped is None else turn_response(dropped)}

    return answer(await desk.work(act))


class EditShape(BaseModel):
    """Replace `old`, at the offset `at` (in code points), with `new`."""

    model_config = ConfigDict(extra="forbid")
    at: int = Field(ge=0, le=2**53 - 1)
    old: str
    new: str


class TypeRequest(BaseModel):
    """What the person typed: `edits` against the text of `version`, in order; or the whole new `content`."""

    model_config = ConfigDict(extra="forbid")
    version: str | None = None
    edits: list[EditShape] | None = None
    content: str | None = None


class TypeResponse(TypedDict):
    """The document after the typing, which is stored but not saved to the file."""

    tab_id: str
    path: str
    version: str
    is_dirty: bool


@router.post("/{tab_id}/type", **gives(TypeResponse, 404, body=True))
async def type_text(desk: Here, request: Request, tab_id: TabId, given: TypeRequest) -> Response:
    """Store what was typed. If the document has changed since the version (which `If-Match` can also give), edits are
    moved with the text around them. Refused if that text itself changed, and while a job locks the documents."""

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        found = workspace.tab(tab_id)
        document = found.document or workspace.read(found.path, confirmed=desk.confirmed)
        version = read_requested_version(request, given.version)
        try:
            change = _change(given, document, version, desk)
            typed = workspace.type(found.path, change, version=None if version is None else document.version)
        except Stale as error:
            raise _explain_conflict(desk, error, document) from error
        desk.context().mark_seen(typed)
        now = workspace.tab(tab_id)
        return {"tab_id": tab_id, "path": found.path, "version": typed.version, "is_dirty": now.dirty}

    return answer(await desk.work(act))


def _change(given: TypeRequest, document: Document, version: str | None, desk: RequestContext) -> Change:
    if (given.edits is None) == (given.content is None):
        raise Refused("Send either `edits` or `content`.", field="edits")
    if given.content is not None:
        if version is not None:
            document.check_version(version)
        return Change.between(str(document.text), given.content)
    basis = basis_of(document, version or document.version, desk.context())
    edits = [Edit(edit.at, edit.old, edit.new) for edit in given.edits or ()]
    try:
        return carry(basis, edits, desk.context()).change
    except ValueError as error:
        raise Refused(str(error), field="edits") from error


def _explain_conflict(desk: RequestContext, error: Stale, document: Document) -> Stale:
    """Add the current version to a conflict."""
    details = {"path": document.path, "current_version": document.version, **error.details}
    return explain_stale(Stale(error.message, code=error.code, **details), desk.context())


class SaveResponse(TypedDict):
    """The turn that saved the document; null if the file was already up to date."""

    tab_id: str
    path: str
    version: str | None
    turn: TurnResponse | None


@router.post("/{tab_id}/save", **gives(SaveResponse, 404, body=True))
async def save(desk: Here, request: Request, tab_id: TabId) -> Response:
    """Write the accepted text and the person's own edits to the file; agents' proposals stay pending. `If-Match` can
    give the version that the person sees."""

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        found = workspace.tab(tab_id)
        version = read_requested_version(request, None)
        if version is not None and found.document is not None:
            try:
                found.document.check_version(version)
            except Stale as error:
                raise _explain_conflict(desk, error, found.document) from error
        turn = workspace.save(found.path, author=desk.author)
        now = tab_shape(workspace.tab(tab_id))
        shape = None if turn is None else turn_response(turn)
        return {"tab_id": tab_id, "path": found.path, "version": now["version"], "turn": shape}

    return answer(await desk.work(act))


@router.post("/{tab_id}/discard", **gives(SaveResponse, 404, body=True))
async def discard(desk: Here, tab_id: TabId) -> Response:
    """Discard unsaved typing. It stays in the history, and an undo restores it."""

    def act(workspace: Workspace) -> Any:
        desk.served.agent.store.leases.check()
        found = workspace.tab(tab_id)
        turn = workspace.discard_typing(found.path, author=desk.author)
        now = tab_shape(workspace.tab(tab_id))
        shape = None if turn is None else turn_response(turn)
        return {"tab_id": tab_id, "path": found.path, "version": now["version"], "turn": shape}

    return answer(await desk.work(act))
