"""The review: what waits for a decision, and deciding it by hunk, by document or by turn."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.errors import Refused
from redraft.review.operations import Unit
from redraft.server.routes.responses import MAX_NUMBER, Here, PathQuery, answer, gives, new_router
from redraft.server.routes.shapes import DecidedShape, shape_decision
from redraft.workspace.document import Draft
from redraft.workspace.shape_types import DraftShape
from redraft.workspace.shapes import draft_shape
from redraft.workspace.workspace import Workspace

router = new_router("/api/review", "review")
MaybePath = Annotated[str | None, Query(min_length=1, max_length=4096, description="Only this document.")]
Act = Annotated[Literal["accept", "reject"], Path()]


class ReviewResponse(TypedDict):
    """Every document with something pending or unsaved."""

    documents: list[DraftShape]


@router.get("", **gives(ReviewResponse, 404, 415))
async def review(desk: Here, path: MaybePath = None) -> Response:
    """What is pending, in all documents or in one."""

    def act(workspace: Workspace) -> tuple[dict[str, int], list[Draft]]:
        shown = desk.confirmed
        drafts = workspace.drafts(confirmed=shown) if path is None else [workspace.draft(path, confirmed=shown)]
        return workspace.proposals(), [draft for draft in drafts if draft is not None]

    turns, drafts = await desk.work(act)

    def encode() -> Response:
        return answer({"documents": [draft_shape(draft, turns) for draft in drafts if not draft.settled]})

    return await desk.run_aside(encode)


@router.get("/document", **gives(DraftShape, 404, 415))
async def review_of(desk: Here, path: PathQuery) -> Response:
    def act(workspace: Workspace) -> tuple[dict[str, int], Draft | None]:
        return workspace.proposals(), workspace.draft(path, confirmed=desk.confirmed)

    turns, draft = await desk.work(act)

    def encode() -> Response:
        if draft is None or draft.settled:
            nothing = Refused(f"Nothing is pending in {path}.", code="not_found", path=path)
            nothing.hint = "There is nothing to decide in it; read it with GET /api/documents."
            raise nothing
        return answer(draft_shape(draft, turns))

    return await desk.run_aside(encode)


class DecisionRequest(BaseModel):
    """What to decide: `hunks` by document (null means all of them), or everything left of a `turn`, or `all`.

    `base_file_hashes` gives, by document, the hash of the file when it was shown; if the file has changed, nothing is
    accepted. Then, with `rerun`, the job's proposal is withdrawn and the job runs again, as with `POST
    /api/agent/apply`; without it, the proposal stays pending, merged with the file's new content.
    """

    model_config = ConfigDict(extra="forbid")
    hunks: dict[str, list[str] | None] | None = None
    turn: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    all: bool = False
    unit: Unit | None = Field(
        default=None,
        description="Extend the decision to the whole suggestion, sentence, paragraph or document of each hunk.",
    )
    base_file_hashes: dict[str, str] = Field(default_factory=dict)
    rerun: bool = True


@router.post("/{act}", **gives(DecidedShape, 404, body=True))
async def decide(desk: Here, act: Act, given: DecisionRequest) -> Response:
    """Accept or reject. The decision is a turn, so `POST /api/turns/undo` undoes it."""
    outdated: list[int] = []  # the turn that was decided too late

    def decide_in(workspace: Workspace) -> DecidedShape:
        choice = _choice(workspace, given)
        if act == "reject":
            desk.served.agent.learn(choice, desk.author)
            return shape_decision(workspace.reject(choice, author=desk.author, turn=given.turn))
        try:
            done = workspace.accept(choice, author=desk.author, base_hash=given.base_file_hashes, turn=given.turn)
        except Refused as error:
            if given.rerun and "base_file_hash" in error.details and (turn := _turn_of(workspace, choice, error)):
                outdated.append(turn)
            raise
        return shape_decision(done)

    try:
        return answer(await desk.work(decide_in))
    except Refused as error:
        for turn in outdated:
            done = await desk.run_aside(desk.served.agent.withdraw, turn, error, desk.author)
            if done is not None:
                error.details.update(rerun_required=True, rerun_job_id=done["rerun_job_id"])
        raise


def _turn_of(workspace: Workspace, choice: dict[str, Any], error: Refused) -> int | None:
    """The turn that made the first of the chosen hunks in the document that was changed."""
    path: str = error.details["path"]
    draft = workspace.draft(path)
    hunks = [] if draft is None else draft_shape(draft, workspace.proposals())["hunks"]
    chosen = [hunk for hunk in hunks if choice[path] is None or hunk["hunk_id"] in choice[path]]
    return next((hunk["turn"] for hunk in chosen if hunk["turn"] is not None), None)


def _choice(workspace: Workspace, given: DecisionRequest) -> dict[str, Any]:
    if (given.hunks is not None) + (given.turn is not None) + given.all != 1:
        raise Refused("Name either `hunks`, a `turn` or `all`.", field="hunks")
    if given.turn is not None:
        left = dict(workspace.hunks_of_turn(given.turn))
        if not left:
            raise Refused(f"Turn {given.turn} has nothing pending.", code="hunk_not_found", turn=given.turn)
        return left
    if given.all:
        return {draft.key: None for draft in workspace.drafts() if draft.pending}
    return workspace.expand_choice(given.hunks or {}, given.unit or "words")


class SettleRequest(BaseModel):
    """Resolve a hunk with the agent's text (`text` is null) or with other text."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    hunk_id: str = Field(min_length=1, max_length=200)
    text: str | None = None


@router.post("/hunk/settle", **gives(DecidedShape, 404, body=True))
async def settle(desk: Here, given: SettleRequest) -> Response:
    def act(workspace: Workspace) -> DecidedShape:
        return shape_decision(workspace.settle(given.path, given.hunk_id, given.text, author=desk.author))

    return answer(await desk.work(act))


class SplitRequest(BaseModel):
    """Where to split a hunk: the added text at `at`, the removed text at `base_at`, both in code points. Without
    `base_at` the first half gets all of the removed text."""

    model_config = ConfigDict(extra="forbid")
    path: str = Field(min_length=1, max_length=4096)
    hunk_id: str = Field(min_length=1, max_length=200)
    at: int = Field(ge=0, le=MAX_NUMBER)
    base_at: int | None = Field(default=None, ge=0, le=MAX_NUMBER)


@router.post("/hunk/split", **gives(DecidedShape, 404, body=True))
async def split(desk: Here, given: SplitRequest) -> Response:
    """Split a hunk in two, to be decided separately. No text changes."""

    def act(workspace: Workspace) -> DecidedShape:
        done = workspace.split(given.path, given.hunk_id, given.at, given.base_at, author=desk.author)
        return shape_decision(done)

    return answer(await desk.work(act))
