"""The review: what waits for a decision, and deciding it by hunk, by document or by turn."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.server.routes.answering import MAX_NUMBER, Here, PathQuery, answer, gives
from redraft.server.shapes import DecidedShape, decided_shape
from redraft.workspace import decisions
from redraft.workspace.shape_types import DraftShape
from redraft.workspace.shapes import draft_shape, proposals
from redraft.workspace.workspace import Workspace

router = APIRouter(prefix="/api/review", tags=["review"])
MaybePath = Annotated[str | None, Query(min_length=1, max_length=4096, description="Only this document.")]
Act = Annotated[Literal["accept", "reject"], Path()]


class Review(TypedDict):
    """Every document that has something pending or unsaved."""

    documents: list[DraftShape]


@router.get("", **gives(Review, 404, 415))
async def review(desk: Here, path: MaybePath = None) -> Response:
    """What waits everywhere, or in one document alone."""

    def act(workspace: Workspace) -> list[DraftShape]:
        turns = proposals(workspace)
        drafts = workspace.drafts() if path is None else [workspace.draft(path)]
        return [draft_shape(draft, turns) for draft in drafts if draft is not None and not draft.settled]

    return answer({"documents": await desk.work(act)})


@router.get("/document", **gives(DraftShape, 404, 415))
async def review_of(desk: Here, path: PathQuery) -> Response:
    def act(workspace: Workspace) -> DraftShape:
        draft = workspace.draft(path)
        if draft is None or draft.settled:
            raise Refused(f"Nothing is pending in {path}.", code="not_found", path=path)
        return draft_shape(draft, proposals(workspace))

    return answer(await desk.work(act))


class Choice(BaseModel):
    """What to decide: `hunks` by document (null stands for all of one), or all that is left of a `turn`, or `all`.

    `base_file_hashes` say, by document, what its file was when it was shown; where it is another by now, nothing is
    accepted.
    """

    model_config = ConfigDict(extra="forbid")
    hunks: dict[str, list[str] | None] | None = None
    turn: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    all: bool = False
    base_file_hashes: dict[str, str] = Field(default_factory=dict)


@router.post("/{act}", **gives(DecidedShape, 404, body=True))
async def decide(desk: Here, act: Act, given: Choice) -> Response:
    """Accept or reject. The decision is a turn, so `POST /api/turns/undo` takes it back."""

    def decided(workspace: Workspace) -> DecidedShape:
        choice = _choice(workspace, given)
        if act == "accept":
            done = workspace.accept(choice, author=desk.author, base_hash=given.base_file_hashes)
        else:
            done = workspace.reject(choice, author=desk.author)
        return decided_shape(done)

    return answer(await desk.work(decided))


def _choice(workspace: Workspace, given: Choice) -> dict[str, Any]:
    if (given.hunks is not None) + (given.turn is not None) + given.all != 1:
        raise Refused("Name either `hunks`, a `turn` or `all`.", field="hunks")
    if given.turn is not None:
        left = dict(workspace.hunks_of_turn(given.turn))
        if not left:
            raise Refused(f"Nothing of turn {given.turn} waits.", code="hunk_not_found", turn=given.turn)
        return left
    if given.all:
        return {draft.key: None for draft in workspace.drafts() if draft.pending}
    return dict(given.hunks or {})


class Settling(BaseModel):
    """A hunk settled for the agent (`text` is null), or with a text of the person's own."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    hunk_id: str = Field(min_length=1, max_length=200)
    text: str | None = None


@router.post("/hunk/settle", **gives(DecidedShape, 404, body=True))
async def settle(desk: Here, given: Settling) -> Response:
    def act(workspace: Workspace) -> DecidedShape:
        engine = workspace.engine
        return decided_shape(decisions.settle(engine, given.path, given.hunk_id, given.text, author=desk.author))

    return answer(await desk.work(act))


class Splitting(BaseModel):
    """Where to cut a hunk in two: what it puts in at `at`, what it takes out at `base_at`, both in code points. Without
    `base_at` the first half takes out all of it."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    hunk_id: str = Field(min_length=1, max_length=200)
    at: int = Field(ge=0, le=MAX_NUMBER)
    base_at: int | None = Field(default=None, ge=0, le=MAX_NUMBER)


@router.post("/hunk/split", **gives(DecidedShape, 404, body=True))
async def split(desk: Here, given: Splitting) -> Response:
    """Two hunks instead of one, each to be decided by itself. No text changes."""

    def act(workspace: Workspace) -> DecidedShape:
        done = decisions.split(workspace.engine, given.path, given.hunk_id, given.at, given.base_at, author=desk.author)
        return decided_shape(done)

    return answer(await desk.work(act))
