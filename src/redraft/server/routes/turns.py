"""The history: what was done, taking it back, and the trash."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.server.routes.responses import MAX_NUMBER, Here, Number, answer, gives, new_router
from redraft.server.routes.shapes import (
    MAX_HUNKS,
    ClashShape,
    HunkLimit,
    StepShape,
    TakenBackShape,
    TurnDetail,
    TurnResponse,
    rollback_shape,
    step_shapes,
    turn_detail,
    turn_response,
)
from redraft.workspace.workspace import Workspace

router = new_router("/api", "history")
TurnNumber = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


Moment = Annotated[float | None, Query(ge=0, le=MAX_NUMBER)]


class TurnsResponse(TypedDict):
    """Newest first. `next_before` is the start of the next page, null at the end."""

    turns: list[TurnResponse]
    next_before: int | None


@router.get("/turns", **gives(TurnsResponse, 404))
async def turns(
    desk: Here,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
    path: Annotated[str | None, Query(min_length=1, max_length=4096)] = None,
    author: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    since: Moment = None,
    until: Moment = None,
) -> Response:
    """What was done in this folder, or to one document, by one author, or between two times (in seconds, as Unix
    counts them)."""

    def act(workspace: Workspace) -> Any:
        found = workspace.history.turns(
            limit=limit + 1, path=path, before=before, author=author, since=since, until=until
        )
        following = found[limit - 1].id if len(found) > limit else None
        return {"turns": [turn_response(turn) for turn in found[:limit]], "next_before": following}

    return answer(await desk.work(act))


@router.get("/turns/{number}", **gives(TurnDetail, 404))
async def turn(desk: Here, number: TurnNumber, offset: Number = 0, limit: HunkLimit = MAX_HUNKS) -> Response:
    """What a turn did. Many or large hunks are paged: continue at `next_offset`."""
    content = await desk.work(lambda workspace: workspace.turn_content(number))
    return answer(await desk.run_long(lambda: turn_detail(content, offset, limit)))


class PlanResponse(TypedDict):
    """What an act would do now: the documents it would change, or what stands in its way."""

    files: list[StepShape]
    conflicts: list[ClashShape]


@router.get("/turns/{number}/plan", **gives(PlanResponse, 404, 409))
async def plan(desk: Here, number: TurnNumber, act: Literal["undo", "restore"] = "undo") -> Response:
    """What undoing the turn would do, or restoring the state before it. Nothing is written."""
    restoring = act == "restore"
    steps, clashes = await desk.work(lambda workspace: workspace.history.plan(number, restoring=restoring))
    conflicts = [{"path": each.path, "hunk_id": each.hunk_id, "reason": each.reason} for each in clashes]
    return answer({"files": await desk.run_long(lambda: step_shapes(steps)), "conflicts": conflicts})


class ChangesResponse(TypedDict):
    """The documents that differ from what they were, each with its diff."""

    files: list[StepShape]


@router.get("/changes", **gives(ChangesResponse))
async def changes(desk: Here, since: Annotated[float, Query(ge=0, le=MAX_NUMBER)]) -> Response:
    """What changed on the disk since a time (in seconds, as Unix counts them), whoever changed it, as one diff."""
    steps = await desk.work(lambda workspace: workspace.history.since(since))
    return answer({"files": await desk.run_long(lambda: step_shapes(steps))})


class UndoRequest(BaseModel):
    """The turn to undo; by default the last."""

    model_config = ConfigDict(extra="forbid")
    turn: int | None = Field(default=None, ge=1, le=MAX_NUMBER)


@router.post("/turns/undo", **gives(TakenBackShape, 404, body=True))
async def undo(desk: Here, given: UndoRequest) -> Response:
    """Undo a turn and keep all later changes; all of it or, with `conflicts`, nothing."""

    def undo_in(workspace: Workspace) -> TakenBackShape:
        return rollback_shape(workspace.undo(given.turn, author=desk.author, confirmed=desk.confirmed))

    return answer(await desk.work(undo_in))


@router.post("/turns/redo", **gives(TakenBackShape, 404, body=True))
async def redo(desk: Here) -> Response:
    """Redo what was last undone."""

    def redo_in(workspace: Workspace) -> TakenBackShape:
        return rollback_shape(workspace.redo(author=desk.author, confirmed=desk.confirmed))

    return answer(await desk.work(redo_in))


@router.post("/turns/{number}/restore", **gives(TakenBackShape, 404, body=True))
async def restore(desk: Here, number: TurnNumber) -> Response:
    """Restore every document of a turn to its state before that turn, discarding later changes."""

    def restore_in(workspace: Workspace) -> TakenBackShape:
        return rollback_shape(workspace.restore(number, author=desk.author, confirmed=desk.confirmed))

    return answer(await desk.work(restore_in))


class TrashedShape(TypedDict):
    """A deleted document, and the turn that deleted it."""

    turn: int
    path: str
    deleted: float
    author: str
    size: int


class TrashResponse(TypedDict):
    """What can be restored, newest first."""

    documents: list[TrashedShape]


@router.get("/trash", **gives(TrashResponse))
async def list_trash(desk: Here) -> Response:
    found = await desk.work(lambda workspace: [each.as_json() for each in workspace.list_trash()])
    return answer({"documents": found})


class UntrashRequest(BaseModel):
    """A deleted document: the last one with that path, unless a turn is given; restored to `to` if given."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    turn: int | None = Field(default=None, ge=1, le=MAX_NUMBER)
    to: str | None = Field(default=None, min_length=1, max_length=4096)


class UntrashResponse(TypedDict):
    """The turn that restored it."""

    turn: TurnResponse


@router.post("/trash/restore", **gives(UntrashResponse, 404, body=True))
async def untrash(desk: Here, given: UntrashRequest) -> Response:
    def act(workspace: Workspace) -> TurnResponse:
        turn = workspace.untrash(given.path, turn=given.turn, to=given.to, author=desk.author, confirmed=desk.confirmed)
        return turn_response(turn)

    return answer({"turn": await desk.work(act)})
