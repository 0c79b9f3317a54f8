"""The agent's jobs, in the shapes of the agent-sidebar plan: run, questions, review, and stopping."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from redraft.agent.memory.permissions import PermissionRule
from redraft.agent.store.jobs import BUSY, NO_ANSWER
from redraft.agent.store.leases import SENTENCE
from redraft.errors import Refused
from redraft.server.routes.agent import ContextRowRequest
from redraft.server.routes.responses import Here, Mode, Profile, answer, gives, new_router
from redraft.workspace.turns.modes import Verdict

router = new_router("/api/agent", "agent")
JobId = Annotated[str, Path(min_length=1, max_length=60)]
Status = Literal["queued", "running", "waiting_for_user", "awaiting_review", "completed", "failed", "cancelled"]
MAX_INSTRUCTION = 100_000


class ToolConfig(BaseModel):
    """A job's tools and limits, and whether it locks the documents; defaults come from the settings."""

    model_config = ConfigDict(extra="forbid", strict=True)
    profile: Profile | None = None
    max_tool_calls: int | None = Field(default=None, ge=1, le=999)
    max_iterations: int | None = Field(default=None, ge=1, le=999)
    lock: bool | None = None


ShortText = Annotated[str, Field(min_length=1, max_length=200)]


class RunRequest(BaseModel):
    """A request to the agent. Rows are pinned to the session unless they say otherwise. `document` is what "this
    document" means; by default, the document in front of the caller. With `agent`, that agent program does it, with
    what is chosen of the options that it offers."""

    model_config = ConfigDict(extra="forbid")
    session_id: str = Field(min_length=1, max_length=60)
    instruction: str = Field(min_length=1, max_length=MAX_INSTRUCTION)
    context_rows: list[ContextRowRequest] = Field(default_factory=list[ContextRowRequest], max_length=100)
    tool_config: ToolConfig | None = None
    mode: Mode | None = None
    model: str = Field(default="", max_length=200)
    agent: str = Field(default="", max_length=60)
    agent_options: dict[ShortText, ShortText] = Field(default_factory=dict[str, str], max_length=20)
    document: str = Field(default="", max_length=4096)


class RunResponse(TypedDict):
    """The job runs in the background; follow its events."""

    job_id: str
    status: Status


@router.post("/run", **gives(RunResponse, 404, 502, 504, body=True))
async def run(desk: Here, given: RunRequest) -> Response:
    """Start a job in the background."""
    if given.agent:
        desk.need("admin")  # it is a program, and reads what its user may read on this machine
    config = {} if given.tool_config is None else given.tool_config.model_dump(exclude_none=True)
    job = await desk.run_aside(
        lambda: desk.served.agent.start(
            given.session_id,
            given.instruction,
            context_rows=[row.as_row() for row in given.context_rows],
            tool_config=config,
            mode=given.mode,
            model=given.model,
            agent=given.agent,
            agent_options=given.agent_options,
            document=given.document,
            asked_by=desk.caller.name,
        )
    )
    return answer({"job_id": job.id, "status": str(job.status)})


class BundleHunk(TypedDict, total=False):
    """One hunk of a review. `patch` is its unified diff, `accepted` is null until it is decided. If `truncated` is
    true, a very long line is shown only around the change, or patches are left out because there are too many."""

    hunk_id: str
    patch: str
    truncated: bool
    accepted: bool | None
    edit_ids: list[str]
    author: str
    conflict: bool
    oversized_hunk: bool


class BundleFile(TypedDict):
    """The hunks of one document, against the file with this hash; null if there was no file."""

    file_path: str
    kind: str
    base_file_hash: str | None
    hunks: list[BundleHunk]


class DiffBundle(TypedDict):
    """What a job proposes."""

    job_id: str
    files: list[BundleFile]


class JobShape(TypedDict):
    """A job's current state. `diff_bundle` is present while it awaits review, `question` while it waits for an answer.
    `locks` means that nobody else can type while it runs, `interrupted` that its program has ended."""

    job_id: str
    id: str
    session_id: str
    instruction: str
    mode: str
    model: str
    document: str
    agent: str
    asked_by: str
    status: Status
    created_at: str
    started_at: str | None
    finished_at: str | None
    cursor: int
    turn: int | None
    answer: str
    proposed_edits: list[dict[str, Any]]
    conflicts: list[Any]
    error: dict[str, Any] | None
    rerun_of: str | None
    locks: bool
    interrupted: bool
    question: dict[str, Any] | None
    diff_bundle: DiffBundle | None


class JobsResponse(TypedDict):
    """Newest first."""

    jobs: list[JobShape]


@router.get("/jobs", **gives(JobsResponse))
async def list_jobs(desk: Here, limit: Annotated[int, Query(ge=1, le=100)] = 20, busy: bool = False) -> Response:
    """The latest jobs; or, if `busy`, those that have not ended and do not await review."""
    agent = desk.served.agent

    def act() -> dict[str, Any]:
        jobs = agent.store.jobs.with_status(BUSY)[::-1][:limit] if busy else agent.store.jobs.recent(limit)
        return {"jobs": [agent.job(job.id) for job in jobs]}

    return answer(await desk.run_aside(act))


@router.get("/jobs/{job_id}", **gives(JobShape, 404))
async def get_job(desk: Here, job_id: JobId) -> Response:
    return answer(await desk.run_aside(desk.served.agent.job, job_id))


class LockShape(TypedDict):
    """Whether a job locks the documents, which job (if known to the caller), and a message for the person."""

    locked: bool
    job_id: str | None
    message: str


@router.get("/lock", **gives(LockShape))
async def show_lock(desk: Here) -> Response:
    """Whether the person can type right now; changes are reported as job events."""
    store = desk.served.agent.store

    def act() -> dict[str, Any]:
        held = store.leases.held
        job = next((job for job in store.jobs.with_status(BUSY) if job.locks), None) if held else None
        return {"locked": held, "job_id": None if job is None else job.id, "message": SENTENCE if held else ""}

    return answer(await desk.run_aside(act))


class ClarifyRequest(BaseModel):
    """An answer; `no_user_answer` leaves it to the agent."""

    model_config = ConfigDict(extra="forbid")
    question_id: str = Field(min_length=1, max_length=60)
    answer: str = Field(default=NO_ANSWER, max_length=MAX_INSTRUCTION)


@router.post("/jobs/{job_id}/clarify", **gives(JobShape, 404, body=True))
async def clarify(desk: Here, job_id: JobId, given: ClarifyRequest) -> Response:
    """Answer a job's question."""
    await desk.run_aside(desk.served.agent.answer, job_id, given.question_id, given.answer)
    return answer(await desk.run_aside(desk.served.agent.job, job_id))


class RuleRequest(BaseModel):
    """What to do next time: `tool` may be `*`, and in `path` a `*` also crosses folders."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(min_length=1, max_length=100)
    path: str = Field(min_length=1, max_length=4096)
    verdict: Verdict


class ConfirmRequest(BaseModel):
    """Whether the person agrees to what a job wants to do: this once, for the rest of the job (`for_job`), or by a rule
    for good (`remember`)."""

    model_config = ConfigDict(extra="forbid")
    question_id: str = Field(min_length=1, max_length=60)
    allow: bool
    for_job: bool = False
    remember: RuleRequest | None = None


@router.post("/jobs/{job_id}/confirm", **gives(JobShape, 404, body=True))
async def confirm(desk: Here, job_id: JobId, given: ConfirmRequest) -> Response:
    rule = given.remember
    kept = None if rule is None else PermissionRule(rule.tool, rule.path, rule.verdict)
    agent = desk.served.agent

    def confirm_it() -> None:
        agent.confirm(job_id, given.question_id, allow=given.allow, for_job=given.for_job, remember=kept)

    await desk.run_aside(confirm_it)
    return answer(await desk.run_aside(agent.job, job_id))


@router.post("/jobs/{job_id}/cancel", **gives(JobShape, 404, body=True))
async def cancel(desk: Here, job_id: JobId) -> Response:
    """Stop a job and discard its changes; only its log stays. A job that is finished or under review is not changed."""
    await desk.run_aside(desk.served.agent.cancel, job_id)
    return answer(await desk.run_aside(desk.served.agent.job, job_id))


class ApplyRequest(BaseModel):
    """The hunks of a job to accept; all others are rejected."""

    model_config = ConfigDict(extra="forbid")
    session_id: str = Field(min_length=1, max_length=60)
    job_id: str = Field(min_length=1, max_length=60)
    accepted_hunk_ids: list[str] = Field(max_length=10_000)


class AppliedFileInfo(TypedDict):
    """The outcome for one document."""

    file_path: str
    applied_hunks: int
    rejected_hunks: int


class ApplyResponse(TypedDict):
    """The decision was made."""

    status: str
    applied_files: list[AppliedFileInfo]


@router.post("/apply", **gives(ApplyResponse, 404, body=True))
async def apply(desk: Here, given: ApplyRequest) -> Response:
    """Accept the given hunks and reject the others. If a file was changed since it was shown, nothing is written and
    the answer is a conflict: the proposal is withdrawn and the job runs again, as `details.rerun_job_id`."""

    def act() -> dict[str, Any]:
        agent = desk.served.agent
        if agent.store.jobs.get(given.job_id).session_id != given.session_id:
            raise Refused("This job belongs to another session.", code="not_found", job_id=given.job_id)
        done = agent.apply(given.job_id, given.accepted_hunk_ids, author=desk.author)
        if done["status"] == "conflict":
            told: dict[str, Any] = done["error"]
            details = {**told.get("details", {}), "rerun_required": True, "rerun_job_id": done["rerun_job_id"]}
            raise Refused(told["message"], code="conflict", **details)
        return done

    return answer(await desk.run_aside(act))
