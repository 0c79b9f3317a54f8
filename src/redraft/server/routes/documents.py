"""Documents: what is in the folder, reading them, and what a person does to whole ones."""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Stale
from redraft.server.folder_state import RequestContext
from redraft.server.routes.responses import (
    Here,
    Number,
    PathQuery,
    answer,
    answer_with_etag,
    gives,
    new_router,
    read_requested_version,
)
from redraft.server.routes.shapes import (
    DocumentShape,
    EntryShape,
    TurnResponse,
    document_shape,
    entry_shape,
    turn_response,
)
from redraft.tools.parameters import parse
from redraft.tools.queries.search_document import get_outline, search_document
from redraft.tools.queries.search_folder import search_documents
from redraft.tools.registry import Tool
from redraft.tools.target import explain_stale
from redraft.workspace.turns.turn import Turn
from redraft.workspace.workspace import Workspace

router = new_router("/api", "documents")
WINDOW, MAX_WINDOW = 262_144, 1_048_576
TREE_LIMIT, MAX_TREE = 2000, 10_000


class TreeResponse(TypedDict):
    """The entries of the folder, each folder before its contents. `next` is the next page, null at the end."""

    entries: list[EntryShape]
    next: int | None


@router.get("/tree", **gives(TreeResponse, 404))
async def tree(
    desk: Here,
    prefix: Annotated[str, Query(max_length=4096, description="Only what is in this folder.")] = "",
    start: Number = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_TREE)] = TREE_LIMIT,
) -> Response:
    def act(workspace: Workspace) -> Any:
        where = str(workspace.path(prefix)) if prefix else ""
        found = workspace.list(where, limit=start + limit + 1)[start:]
        following = start + limit if len(found) > limit else None
        return {"entries": [entry_shape(entry) for entry in found[:limit]], "next": following}

    return answer(await desk.work(act))


@router.get("/documents", **gives(DocumentShape, 304, 404, 415))
async def read(
    desk: Here,
    request: Request,
    path: PathQuery,
    offset: Number = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_WINDOW)] = WINDOW,
) -> Response:
    """The working text of a document, in windows. Its version is the `ETag`."""

    def act(workspace: Workspace) -> Any:
        document = workspace.read(path, confirmed=desk.confirmed)
        desk.context().mark_seen(document)
        return document_shape(document, offset, limit)

    shape = await desk.work(act)
    return answer_with_etag(request, shape, shape["version"])


class NewDocumentRequest(BaseModel):
    """A new document."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    content: str = ""


class DocumentChangeResponse(TypedDict):
    """The turn that was made, and the document's version after it; null if the document is gone."""

    turn: TurnResponse | None
    path: str
    version: str | None


@router.post("/documents", **gives(DocumentChangeResponse, 404, status=201, body=True))
async def create(desk: Here, given: NewDocumentRequest) -> Response:
    def act(workspace: Workspace) -> Any:
        with _turn(desk, workspace, f"Create {given.path}") as turn:
            made = turn.create(given.path, given.content)
        return _change_response(turn, made.path, made.version)

    return answer(await desk.work(act), 201)


class WriteRequest(BaseModel):
    """A document's whole new content. `version` is the version it was made from; `If-Match` means the same."""

    model_config = ConfigDict(extra="forbid")
    content: str
    version: str | None = None


@router.put("/documents", **gives(DocumentChangeResponse, 404, body=True))
async def write(desk: Here, request: Request, path: PathQuery, given: WriteRequest) -> Response:
    """Replace a document's content and save it. Refused if the document no longer has the given version."""

    def act(workspace: Workspace) -> Any:
        version = read_requested_version(request, given.version)
        with _turn(desk, workspace, f"Write {path}") as turn:
            now = turn.read(path)
            made = _explain_stale(desk, lambda: turn.write(path, given.content, version or now.version))
            desk.context().plan_ahead(turn)
        return _change_response(turn, made.path, made.version)

    return answer(await desk.work(act, slow=True))


class MoveRequest(BaseModel):
    """A document's new path."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    to: str = Field(min_length=1, max_length=4096)
    version: str | None = None


@router.post("/documents/move", **gives(DocumentChangeResponse, 404, body=True))
async def move(desk: Here, request: Request, given: MoveRequest) -> Response:
    def act(workspace: Workspace) -> Any:
        version = read_requested_version(request, given.version)
        with _turn(desk, workspace, f"Move {given.path} to {given.to}") as turn:
            now = turn.read(given.path)
            made = _explain_stale(desk, lambda: turn.move(given.path, given.to, version or now.version))
        return _change_response(turn, made.path, made.version)

    return answer(await desk.work(act))


@router.delete("/documents", **gives(DocumentChangeResponse, 404, body=True))
async def delete(desk: Here, request: Request, path: PathQuery, version: str | None = None) -> Response:
    """Move a document to the trash."""

    def act(workspace: Workspace) -> Any:
        wanted = read_requested_version(request, version)
        with _turn(desk, workspace, f"Delete {path}") as turn:
            standing = turn.version_of(path)
            _explain_stale(desk, lambda: turn.delete(path, wanted or standing))
        return _change_response(turn, workspace.path(path), None)

    return answer(await desk.work(act))


def _turn(desk: RequestContext, workspace: Workspace, title: str) -> Turn:
    desk.served.agent.store.leases.check()
    return workspace.turn(desk.author, title, confirm=lambda _what, _paths: True, confirmed=desk.confirmed)


def _explain_stale(desk: RequestContext, act: Any) -> Any:
    """Return what `act` returns; if it is refused as stale, add the changed lines."""
    try:
        return act()
    except Stale as error:
        raise explain_stale(error, desk.context()) from error


def _change_response(turn: Turn, path: str, version: str | None) -> DocumentChangeResponse:
    record = None if turn.outcome is None else turn.outcome.turn
    return {"turn": None if record is None else turn_response(record), "path": path, "version": version}


# Finding: what the tools of the same names answer, for a person, whose looking around is in no log


def _run_tool(desk: RequestContext, tool: Tool, **arguments: Any) -> Any:
    given = parse(tool.takes, {name: value for name, value in arguments.items() if value is not None})
    return tool.run(given, desk.context())


@router.get("/outline", **gives(get_outline.output_schema, 404, 415))
async def outline(
    desk: Here, path: PathQuery, max_depth: Annotated[int, Query(ge=1, le=10)] = 3, detect_chapters: bool = True
) -> Response:
    """A document's sections, with their lines from 0."""
    found = {"path": path, "max_depth": max_depth, "detect_chapters": detect_chapters}
    return answer(await desk.work(lambda _: _run_tool(desk, get_outline, **found), slow=True))


@router.get("/search", **gives(search_documents.output_schema, 404))
async def search(
    desk: Here,
    query: Annotated[str, Query(min_length=1, max_length=1000)],
    folder: Annotated[str | None, Query(max_length=4096)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Find documents with these words, in the whole folder or a subfolder."""
    found = {"query": query, "folder": folder, "limit": limit}
    return answer(await desk.work(lambda _: _run_tool(desk, search_documents, **found), slow=True))


@router.get("/search/document", **gives(search_document.output_schema, 404, 409, 415))
async def search_within(
    desk: Here,
    path: PathQuery,
    query: Annotated[str, Query(min_length=1, max_length=1000)],
    match_type: Annotated[str, Query(pattern="^(semantic|exact|regex)$")] = "exact",
    max_results: Annotated[int, Query(ge=1, le=100)] = 20,
    case_sensitive: bool = False,
) -> Response:
    """Find places in one document."""
    found = {"path": path, "query": query, "match_type": match_type}
    more = {"max_results": max_results, "case_sensitive": case_sensitive}
    return answer(await desk.work(lambda _: _run_tool(desk, search_document, **found, **more), slow=True))
