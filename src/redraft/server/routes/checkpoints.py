"""Checkpoints, in the shapes of the agent-sidebar plan: the state before a turn, the three-way view, going back to it.

A checkpoint is named by its turn. What rolls back is a turn too: nothing is removed, and it can be undone.
"""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.agent.store.events import iso
from redraft.server.routes.responses import MAX_NUMBER, Here, Number, answer, gives, new_router
from redraft.server.routes.shapes import (
    MAX_HUNKS,
    ClashShape,
    HunkLimit,
    HunkPage,
    TurnHunkShape,
    TurnResponse,
    rollback_shape,
    turn_hunks,
)
from redraft.workspace.document import content_hash
from redraft.workspace.workspace import Workspace

router = new_router("/api/agent/checkpoints", "agent")
CheckpointId = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


class AffectedFile(TypedDict):
    """One document before the turn, and the turn's hunks in it."""

    file_path: str
    base_snapshot_hash: str
    hunks: list[TurnHunkShape]


class CheckpointResponse(HunkPage):
    """The state before a turn, with the agent's job that made the turn, if any."""

    checkpoint_id: int
    session_id: str | None
    job_id: str | None
    created_at: str
    affected_files: list[AffectedFile]


@router.get("/{checkpoint_id}", **gives(CheckpointResponse, 404))
async def checkpoint(
    desk: Here, checkpoint_id: CheckpointId, offset: Number = 0, limit: HunkLimit = MAX_HUNKS
) -> Response:
    """The checkpoint and the turn's hunks. Many or large hunks are paged: continue at `next_offset`."""
    content = await desk.work(lambda workspace: workspace.turn_content(checkpoint_id))

    def act() -> dict[str, Any]:
        hunks, page = turn_hunks(content, offset, limit)
        job = desk.served.agent.store.jobs.by_turn(checkpoint_id)
        return {
            "checkpoint_id": checkpoint_id,
            "session_id": None if job is None else job.session_id,
            "job_id": None if job is None else job.id,
            "created_at": iso(content.turn.created),
            "affected_files": [
                {
                    "file_path": path,
                    "base_snapshot_hash": content_hash(before.encode()),
                    "hunks": [hunk for hunk in hunks if hunk["file_path"] == path],
                }
                for path, before, _ in content.texts
            ],
            **page,
        }

    return answer(await desk.run_long(act))


class Diff3Response(TypedDict):
    """The three texts that a person compares before rolling back."""

    checkpoint_id: int
    file_path: str
    current_file: str
    checkpoint_base: str
    agent_proposed: str


@router.get("/{checkpoint_id}/diff3", **gives(Diff3Response, 404, 415))
async def diff3(
    desk: Here, checkpoint_id: CheckpointId, file_path: Annotated[str, Query(min_length=1, max_length=4096)]
) -> Response:
    def act(workspace: Workspace) -> dict[str, Any]:
        path = workspace.path(file_path)
        texts = workspace.three_way(checkpoint_id, path)
        return {
            "checkpoint_id": checkpoint_id,
            "file_path": path,
            "current_file": texts.current,
            "checkpoint_base": texts.checkpoint_base,
            "agent_proposed": texts.agent_proposed,
        }

    return answer(await desk.work(act))


class RollbackRequest(BaseModel):
    """`hard_all` restores the turn's documents to the checkpoint; `scoped_selected` undoes the named hunks."""

    model_config = ConfigDict(extra="forbid")
    mode: Literal["hard_all", "scoped_selected"]
    hunk_ids: list[str] = Field(default_factory=list[str], max_length=10_000)


class RollbackResponse(TypedDict):
    """`conflict` if some hunks could not be undone; they are named, and the others were undone."""

    status: Literal["completed", "conflict"]
    turn: TurnResponse | None
    conflicts: list[ClashShape]


@router.post("/{checkpoint_id}/rollback", **gives(RollbackResponse, 404, body=True))
async def rollback(desk: Here, checkpoint_id: CheckpointId, given: RollbackRequest) -> Response:
    def act(workspace: Workspace) -> dict[str, Any]:
        who: Any = {"author": desk.author, "confirmed": desk.confirmed}
        taken = workspace.rollback(checkpoint_id, given.mode, given.hunk_ids, **who)
        return {"status": "conflict" if taken.conflicts else "completed", **rollback_shape(taken)}

    return answer(await desk.work(act))
