"""The agent's sessions, in the shapes of the agent-sidebar plan: chats, and the context that is pinned to them."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.agent.memory.notes import user_of
from redraft.agent.store.sessions import ContextRow
from redraft.errors import Refused
from redraft.server.folder_state import RequestContext
from redraft.server.routes.responses import Here, answer, gives, new_router

router = new_router("/api/agent/sessions", "agent")
SessionId = Annotated[str, Path(min_length=1, max_length=60)]
MAX_LINE = 2**31


class ContextRowRequest(BaseModel):
    """A passage for the agent to see. Lines count from 1 and include both ends."""

    model_config = ConfigDict(extra="forbid")
    id: str | None = Field(default=None, min_length=1, max_length=200)
    kind: str = Field(default="selection", max_length=60)
    file_path: str = Field(default="", max_length=4096)
    start_line: int | None = Field(default=None, ge=1, le=MAX_LINE)
    end_line: int | None = Field(default=None, ge=1, le=MAX_LINE)
    content: str = ""
    pinned: bool = True

    def as_row(self) -> dict[str, Any]:
        row = self.model_dump()
        if self.id is None:
            row.pop("id")
        return row


class ContextRowInfo(TypedDict):
    """A stored context row."""

    id: str
    kind: str
    file_path: str
    start_line: int | None
    end_line: int | None
    content: str
    pinned: bool


class ChatLine(TypedDict):
    """A chat message, or a line about a tool call."""

    role: str
    text: str
    ts: str
    job_id: str | None
    data: dict[str, Any]


class SessionShape(TypedDict):
    """A session's current state. `pending_review` is the job whose changes wait for a decision."""

    session_id: str
    id: str
    created_at: str
    updated_at: str
    status: Literal["active", "archived"]
    title: str
    chat: list[ChatLine]
    context_rows: list[ContextRowInfo]
    last_job_id: str | None
    pending_review: str | None


class NewSessionRequest(BaseModel):
    """The session's title."""

    model_config = ConfigDict(extra="forbid")
    title: str = Field(default="", max_length=200)


class NewSessionResponse(TypedDict):
    """A new session."""

    session_id: str
    status: Literal["active", "archived"]
    created_at: str


@router.post("", **gives(NewSessionResponse, body=True))
async def create_session(desk: Here, given: NewSessionRequest | None = None) -> Response:
    title = "" if given is None else given.title
    made = await desk.run_aside(lambda: desk.served.agent.store.sessions.create(title, user_of(desk.author)).as_dict())
    return answer({name: made[name] for name in ("session_id", "status", "created_at")})


class SessionsResponse(TypedDict):
    """Most recently used first."""

    sessions: list[SessionShape]


@router.get("", **gives(SessionsResponse))
async def list_sessions(desk: Here, limit: Annotated[int, Query(ge=1, le=100)] = 25) -> Response:
    sessions = desk.served.agent.store.sessions
    return answer(
        {"sessions": await desk.run_aside(lambda: [sessions.get(n).as_dict() for n in sessions.all()[:limit]])}
    )


@router.get("/{session_id}", **gives(SessionShape, 404))
async def get_session(desk: Here, session_id: SessionId) -> Response:
    return answer(await desk.run_aside(lambda: desk.served.agent.store.sessions.get(session_id).as_dict()))


class ArchiveRequest(BaseModel):
    """Whether the session is archived."""

    model_config = ConfigDict(extra="forbid")
    archived: bool = True


@router.post("/{session_id}/archive", **gives(SessionShape, 404, body=True))
async def archive(desk: Here, session_id: SessionId, given: ArchiveRequest) -> Response:
    sessions = desk.served.agent.store.sessions
    return answer(await desk.run_aside(lambda: sessions.archive(session_id, archived=given.archived).as_dict()))


class ContextRowsResponse(TypedDict):
    """The rows pinned to a session, in order."""

    context_rows: list[ContextRowInfo]


@router.post("/{session_id}/context", **gives(ContextRowsResponse, 404, body=True))
async def pin(desk: Here, session_id: SessionId, given: ContextRowRequest) -> Response:
    """Pin a row, or replace the one with its id."""
    row = ContextRow.from_dict(given.as_row())
    return await _change_rows(desk, session_id, lambda: desk.served.agent.store.sessions.pin(session_id, row))


@router.delete("/{session_id}/context/{row_id}", **gives(ContextRowsResponse, 404, body=True))
async def unpin(desk: Here, session_id: SessionId, row_id: Annotated[str, Path(max_length=200)]) -> Response:
    return await _change_rows(desk, session_id, lambda: desk.served.agent.store.sessions.unpin(session_id, row_id))


class ReorderRequest(BaseModel):
    """Every row's id, once."""

    model_config = ConfigDict(extra="forbid")
    order: list[str] = Field(max_length=1000)


@router.put("/{session_id}/context", **gives(ContextRowsResponse, 404, body=True))
async def reorder(desk: Here, session_id: SessionId, given: ReorderRequest) -> Response:
    return await _change_rows(
        desk, session_id, lambda: desk.served.agent.store.sessions.reorder(session_id, given.order)
    )


async def _change_rows(desk: RequestContext, session_id: str, act: Callable[[], None]) -> Response:
    """Change the pinned rows, and return the new list."""

    def change() -> dict[str, Any]:
        sessions = desk.served.agent.store.sessions
        if sessions.get(session_id).status != "active":
            raise Refused("This session is archived.", code="conflict", session_id=session_id)
        act()
        return {"context_rows": [row.as_dict() for row in sessions.rows(session_id)]}

    return answer(await desk.run_aside(change))
