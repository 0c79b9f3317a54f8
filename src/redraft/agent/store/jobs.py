"""Jobs: each is one run of the agent, from `queued` to an end, with the questions that it waits for.

    queued -> running -> completed | failed | cancelled
    running <-> waiting_for_user
    running -> awaiting_review -> completed | failed

`Jobs.move` refuses any other transition. What a job needs to continue after a crash is here and in the recorded
steps; its changes are a turn of the history, found by the job's token.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from redraft.agent.store.database import new_id
from redraft.agent.store.events import iso
from redraft.errors import Refused
from redraft.history.turns import PERSON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redraft.agent.store.database import AgentDatabase

NO_ANSWER = "no_user_answer"


class Status(StrEnum):
    """The states of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting_for_user"
    REVIEW = "awaiting_review"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


BUSY = (Status.QUEUED, Status.RUNNING, Status.WAITING)
ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
MOVES: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING, Status.FAILED, Status.CANCELLED}),
    Status.RUNNING: frozenset({Status.WAITING, Status.REVIEW, *ENDED}),
    Status.WAITING: frozenset({Status.RUNNING, Status.FAILED, Status.CANCELLED}),
    Status.REVIEW: frozenset({Status.COMPLETED, Status.FAILED}),
    Status.COMPLETED: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class JobQuestion:
    """What a job waits for: an answer in words (`clarification`), or a yes (`confirmation`, `estimate`).

    `action` and `paths` say what the person agrees to, with every affected path.
    """

    id: str
    kind: Literal["clarification", "confirmation", "estimate"]
    text: str
    action: str = ""
    tool: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One run. `document` is the default for calls that name none; it may have been `in_front` of whoever asked, with a
    `selection` in it. `agent` is the program that does it, if no model does, in a private `view`, in a session of its
    own (`agent_session`) with its own options. `token` identifies its turn; `turn` is the turn's number once there is
    one."""

    id: str
    session_id: str
    instruction: str
    mode: str
    model: str = ""
    agent: str = ""
    status: Status = Status.QUEUED
    created_at: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None
    cursor: int = 0
    view: str = ""
    agent_session: str = ""
    agent_options: dict[str, str] = field(default_factory=dict[str, str])
    tool_config: dict[str, Any] = field(default_factory=dict[str, Any])
    context_rows: tuple[dict[str, Any], ...] = ()
    document: str = ""
    in_front: bool = False
    selection: dict[str, Any] | None = None
    asked_by: str = PERSON.name
    token: str = ""
    turn: int | None = None
    question: JobQuestion | None = None
    reply: dict[str, Any] | None = None
    cancel_wanted: bool = False
    answer: str = ""
    proposed_edits: tuple[dict[str, Any], ...] = ()
    base_hashes: dict[str, str] = field(default_factory=dict[str, str])
    conflicts: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    rerun_of: str | None = None
    reruns: int = 0

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def locks(self) -> bool:
        """Whether nobody else may type while it runs."""
        return self.tool_config.get("lock") is True

    def as_dict(self) -> dict[str, Any]:
        """The job as the API shows it; whoever can see the review adds `diff_bundle`."""
        shape = {name: getattr(self, name) for name in _SHOWN}
        times = {name: None if (at := getattr(self, name)) is None else iso(at) for name in _TIMES}
        question = None if self.question is None else {"question_id": self.question.id, **asdict(self.question)}
        return {"job_id": self.id, **shape, **times, "status": str(self.status), "question": question}


_TIMES = ("created_at", "started_at", "finished_at")
_SHOWN = (
    "id",
    "session_id",
    "instruction",
    "mode",
    "model",
    "agent",
    "document",
    "asked_by",
    "cursor",
    "turn",
    "answer",
    "proposed_edits",
    "conflicts",
    "error",
    "rerun_of",
    "locks",
)
_IN_COLUMNS = ("id", "session_id", "status", "created_at", "cursor")


class Jobs:
    """The table of jobs."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock

    def add(self, session_id: str, instruction: str, mode: str, **more: Any) -> Job:
        job = Job(new_id("job"), session_id, instruction, mode, created_at=self._clock(), **more)
        with self._db.transaction():
            self._db.execute(
                "INSERT INTO jobs (id, session, status, created, data) VALUES (?, ?, ?, ?, ?)",
                (job.id, job.session_id, job.status, job.created_at, _data(job)),
            )
        return job

    def get(self, job_id: str) -> Job:
        row = self._db.row(f"{_SELECT} WHERE id = ?", (job_id,))
        if row is None:
            raise Refused(f"There is no job {job_id[:60]!a}.", code="not_found", job_id=job_id[:60])
        return _job(row)

    def of_session(self, session_id: str) -> list[Job]:
        """Oldest first."""
        return [_job(row) for row in self._db.rows(f"{_SELECT} WHERE session = ? ORDER BY created, id", (session_id,))]

    def with_status(self, statuses: Iterable[Status]) -> list[Job]:
        wanted = [str(status) for status in statuses]
        marks = ", ".join("?" * len(wanted))
        return [_job(row) for row in self._db.rows(f"{_SELECT} WHERE status IN ({marks}) ORDER BY created", wanted)]

    def recent(self, limit: int) -> list[Job]:
        """Newest first."""
        return [_job(row) for row in self._db.rows(f"{_SELECT} ORDER BY created DESC, id LIMIT ?", (limit,))]

    def by_turn(self, turn: int) -> Job | None:
        row = self._db.row(f"{_SELECT} WHERE json_extract(data, '$.turn') = ?", (turn,))
        return None if row is None else _job(row)

    def move(self, job_id: str, status: Status, **changes: Any) -> Job:
        """Change a job's status; refused if that transition does not exist."""
        with self._db.transaction():
            job = self.get(job_id)
            if status not in MOVES[job.status]:
                message = f"A job that is {job.status} cannot become {status}."
                raise Refused(message, code="conflict", job_id=job_id, status=str(job.status))
            now = self._clock()
            if status is Status.RUNNING and job.started_at is None:
                changes["started_at"] = now
            if status in ENDED:
                changes["finished_at"] = now
            return self._save(replace(job, status=status, **changes))

    def update(self, job_id: str, **changes: Any) -> Job:
        """Change a job's data, not its status."""
        if "status" in changes:
            raise ValueError("a job's status is changed by `move`")
        with self._db.transaction():
            return self._save(replace(self.get(job_id), **changes))

    def _save(self, job: Job) -> Job:
        self._db.execute("UPDATE jobs SET status = ?, data = ? WHERE id = ?", (job.status, _data(job), job.id))
        return job

    def remove(self, job_id: str) -> None:
        """Delete a job and everything that belongs to it; its cost stays in the usage."""
        with self._db.transaction(durable=False):
            for table, column in (("events", "job"), ("steps", "job"), ("jobs", "id")):
                self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (job_id,))  # noqa: S608 - our own words


_SELECT = "SELECT id, session, status, created, cursor, data FROM jobs"


def _data(job: Job) -> str:
    table = {entry.name: getattr(job, entry.name) for entry in fields(job) if entry.name not in _IN_COLUMNS}
    table["question"] = None if job.question is None else asdict(job.question)
    return json.dumps(table)


def _job(row: tuple[Any, ...]) -> Job:
    identity, session, status, created, cursor, data = row
    table: dict[str, Any] = json.loads(data)
    if table["question"] is not None:
        question = JobQuestion(**table["question"])
        table["question"] = replace(question, paths=tuple(question.paths))
    for name in ("context_rows", "proposed_edits", "conflicts"):
        table[name] = tuple(table[name])
    return Job(id=identity, session_id=session, status=Status(status), created_at=created, cursor=cursor, **table)
