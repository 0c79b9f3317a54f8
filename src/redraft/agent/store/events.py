"""What a job reported, in order: append-only, each event with a cursor that only grows, kept through a restart.

Whoever listens is told after the event is stored, in the thread that appended it; `stream` is the same for asyncio. One
kind is not kept: `assistant.delta`, the words of a step as they arrive, which has the cursor of the last event before
it; the whole words follow in `assistant.message`. A listener that falls behind or fails is its own problem.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from redraft.workspace.events import Events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from redraft.agent.store.database import AgentDatabase
    from redraft.workspace.workspace import Workspace

# Sections 9 and 27 of the agent-sidebar plan.
SPECIFIED = (
    "job.started",
    "tool.call.requested",
    "tool.call.completed",
    "clarification.requested",
    "clarification.received",
    "edits.proposed",
    "diff.generated",
    "review.updated",
    "apply.started",
    "apply.completed",
    "job.failed",
    "checkpoint.created",
    "checkpoint.rollback.started",
    "checkpoint.rollback.completed",
    "checkpoint.rollback.failed",
)
# What the plan leaves open: the ends that are no failures, what is asked besides questions, and what it costs.
OWN = (
    "job.queued",
    "job.resumed",
    "job.completed",
    "job.cancelled",
    "provider.chosen",
    "step.started",
    "step.completed",
    "step.invalid",
    "assistant.message",
    "confirmation.requested",
    "confirmation.received",
    "estimate.made",
    "budget.exhausted",
    "documents.changed",
    "documents.locked",
    "documents.released",
    "conflict.found",
    "rerun.started",
    "subagents.progress",
)
TRANSIENT = "assistant.delta"
TYPES = frozenset((*SPECIFIED, *OWN))
# An event is a summary: what is longer than this is in the job, the chat or the recorded steps.
MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One entry. `seq` orders the events of all jobs, `cursor` those of one."""

    job_id: str
    cursor: int
    type: str
    ts: float
    data: dict[str, Any]
    seq: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {"cursor": self.cursor, "type": self.type, "ts": iso(self.ts), "data": self.data}


class JobEventLog:
    """The events of one folder's jobs."""

    def __init__(self, database: AgentDatabase, clock: Callable[[], float]) -> None:
        self._db = database
        self._clock = clock
        self._listeners = Events()

    def append(self, job_id: str, type_: str, /, **data: Any) -> JobEvent:
        """Store an event and tell the listeners."""
        event = self.store(job_id, type_, data)
        self.notify(event)
        return event

    def notify(self, event: JobEvent) -> None:
        self._listeners.tell(event.type, event=event)

    def store(self, job_id: str, type_: str, data: dict[str, Any]) -> JobEvent:
        """Store an event as part of a transaction; whoever does so tells it afterwards."""
        if type_ not in TYPES:
            raise ValueError(f"no such event: {type_}")
        now = self._clock()
        with self._db.transaction(durable=False):
            row = self._db.row("SELECT cursor FROM jobs WHERE id = ?", (job_id,))
            if row is None:
                raise ValueError(f"no such job: {job_id}")
            cursor = row[0] + 1
            self._db.execute("UPDATE jobs SET cursor = ? WHERE id = ?", (cursor, job_id))
            self._db.execute(
                "INSERT INTO events (job, cursor, type, ts, data) VALUES (?, ?, ?, ?, ?)",
                (job_id, cursor, type_, now, json.dumps(data)),
            )
        return JobEvent(job_id, cursor, type_, now, data)

    def send_delta(self, job_id: str, cursor: int, text: str) -> None:
        """Tell the listeners a piece of what a model is saying; it is not kept."""
        self._listeners.tell(TRANSIENT, event=JobEvent(job_id, cursor, TRANSIENT, self._clock(), {"text": text}))

    def after(self, job_id: str, cursor: int = 0, *, limit: int | None = None) -> list[JobEvent]:
        """The events of a job behind a cursor, in order."""
        rows = self._db.rows(
            "SELECT job, cursor, type, ts, data, seq FROM events WHERE job = ? AND cursor > ? ORDER BY cursor LIMIT ?",
            (job_id, cursor, -1 if limit is None else limit),
        )
        return [JobEvent(job, at, kind, ts, json.loads(data), seq) for job, at, kind, ts, data, seq in rows]

    def page(self, job_id: str, cursor: int = 0) -> dict[str, Any]:
        """The answer of `GET /api/agent/jobs/<id>/events?cursor=<n>`."""
        row = self._db.row("SELECT status, cursor FROM jobs WHERE id = ?", (job_id,)) or ("", 0)
        found = self.after(job_id, cursor)
        last = found[-1].cursor if found else max(cursor, 0)
        return {
            "job_id": job_id,
            "status": row[0],
            "next_cursor": last,
            "events": [event.as_dict() for event in found],
        }

    def subscribe(self, listener: Callable[[JobEvent], None]) -> Callable[[], None]:
        """Be told of every event of this process, deltas too. Gives the function that ends it."""
        return self._listeners.subscribe(lambda told: listener(told.data["event"]))

    async def stream(self, job_id: str | None = None, cursor: int = 0) -> AsyncIterator[JobEvent]:
        """What there is behind the cursor and whatever comes, without a gap and without an end. Nothing is told twice;
        deltas only as they happen."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[JobEvent] = asyncio.Queue()

        def enqueue(event: JobEvent) -> None:
            if job_id in (None, event.job_id):
                loop.call_soon_threadsafe(queue.put_nowait, event)

        end = self.subscribe(enqueue)
        try:
            last: dict[str, int] = {}
            for event in [] if job_id is None else self.after(job_id, cursor):
                last[event.job_id] = event.cursor
                yield event
            while True:
                event = await queue.get()
                if event.type == TRANSIENT or event.cursor > last.get(event.job_id, cursor if job_id else 0):
                    if event.type != TRANSIENT:
                        last[event.job_id] = event.cursor
                    yield event
        finally:
            end()

    def prune(self, keep: int) -> None:
        """Let go of the oldest events of each job that has more; cursors go on from where they are."""
        for job_id, cursor in self._db.rows("SELECT id, cursor FROM jobs WHERE cursor > ?", (keep,)):
            self._db.execute("DELETE FROM events WHERE job = ? AND cursor <= ?", (job_id, cursor - keep))


def iso(timestamp: float) -> str:
    """A time as the interface writes it."""
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clip_text(value: Any) -> Any:
    """A value as an event carries it: long texts cut, with their length."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    return value


# A job's events as they may be shown later: without the texts of documents that are secrets by now.
#
# An event is told as it happens; then everything in it has just been read through the gate. It is kept, and asked for
# again when a document that it quotes may have been given a secret's name.


class MaskedEventLog:
    """The log, behind the gate. Safe to ask from any thread, without the workspace's guard."""

    def __init__(self, log: JobEventLog, workspace: Workspace) -> None:
        self._log = log
        self._workspace = workspace

    def after(self, job_id: str, cursor: int = 0) -> list[JobEvent]:
        """The events of a job behind a cursor, in order."""
        found = self._log.after(job_id, cursor)
        if not found:
            return found
        data = self._workspace.mask_records([event.data for event in found], found[0].ts)
        return [replace(event, data=each) for event, each in zip(found, data, strict=True)]

    def page(self, job_id: str, cursor: int = 0) -> dict[str, Any]:
        """The answer of `GET /api/agent/jobs/<id>/events?cursor=<n>`."""
        page, found = self._log.page(job_id, cursor), self.after(job_id, cursor)
        last = found[-1].cursor if found else page["next_cursor"]
        return {**page, "next_cursor": last, "events": [event.as_dict() for event in found]}

    def subscribe(self, listener: Callable[[JobEvent], None]) -> Callable[[], None]:
        return self._log.subscribe(listener)
