"""The history: what was done, taking it back, and the trash."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.server.routes.answering import MAX_NUMBER, Here, answer, gives
from redraft.server.shapes import (
    TakenBackShape,
    TurnDetail,
    TurnShape,
    taken_back,
    turn_detail,
    turn_shape,
)
from redraft.workspace import trash
from redraft.workspace.workspace import Workspace

router = APIRouter(prefix="/api", tags=["history"])
TurnNumber = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


class Turns(TypedDict):
    """The newest first. `next_before` is where to go on, null at the end."""

    turns: list[TurnShape]
    next_before: int | None


@router.get("/turns", **gives(Turns, 404))
async def turns(
    desk: Here,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
    path: Annotated[str | None, Query(min_length=1, max_length=4096)] = None,
) -> Response:
    """What was done in this folder, or to one document."""

    def act(workspace: Workspace) -> Any:
        found = workspace.turns(limit=limit + 1, path=path, before=before)
        following = found[limit - 1].id if len(found) > limit else None
        return {"turns": [turn_shape(turn) for turn in found[:limit]], "next_before": following}

    return answer(await desk.work(act))


@router.get("/turns/{number}", **gives(TurnDetail, 404))
async def turn(desk: Here, number: TurnNumber) -> Response:
    return answer(await desk.work(lambda workspace: turn_detail(workspace, number)))


class Undoing(BaseModel):
    """The turn to take back; by default the last."""

    model_config = ConfigDict(extra="forbid")
    turn: int | None = Field(default=None, ge=1, le=MAX_NUMBER)


@router.post("/turns/undo", **gives(TakenBackShape, 404, body=True))
async def undo(desk: Here, given: Undoing) -> Response:
    """Take a turn back, and keep everything that came after; all of it or, with `conflicts`, nothing."""
    return answer(await desk.work(lambda workspace: taken_back(workspace.undo(given.turn, author=desk.author))))


@router.post("/turns/redo", **gives(TakenBackShape, 404, body=True))
async def redo(desk: Here) -> Response:
    """Take the last undo back."""
    return answer(await desk.work(lambda workspace: taken_back(workspace.redo(author=desk.author))))


@router.post("/turns/{number}/restore", **gives(TakenBackShape, 404, body=True))
async def restore(desk: Here, number: TurnNumber) -> Response:
    """Set every document of a turn to what it was before that turn, whatever came after."""
    return answer(await desk.work(lambda workspace: taken_back(workspace.restore(number, author=desk.author))))


class TrashedShape(TypedDict):
    """A deleted document, and the turn that deleted it."""

    turn: int
    path: str
    deleted: float
    author: str
    size: int


class Trash(TypedDict):
    """What can be brought back, the latest first."""

    documents: list[TrashedShape]


@router.get("/trash", **gives(Trash))
async def list_trash(desk: Here) -> Response:
    found = await desk.work(lambda workspace: [each.as_json() for each in workspace.trashed()])
    return answer({"documents": found})


class BringBack(BaseModel):
    """A deleted document: the latest of that name, unless a turn is named; put elsewhere where `to` says so."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    turn: int | None = Field(default=None, ge=1, le=MAX_NUMBER)
    to: str | None = Field(default=None, min_length=1, max_length=4096)


class BroughtBack(TypedDict):
    """The turn that brought it back."""

    turn: TurnShape


@router.post("/trash/restore", **gives(BroughtBack, 404, body=True))
async def untrash(desk: Here, given: BringBack) -> Response:
    def act(workspace: Workspace) -> TurnShape:
        engine = workspace.engine
        return turn_shape(trash.untrash(engine, given.path, turn=given.turn, to=given.to, author=desk.author))

    return answer({"turn": await desk.work(act)})
