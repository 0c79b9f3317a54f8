"""What a job reported, in order: append-only, kept across restarts, each event with a cursor that only grows.

Listeners are called after the event is stored, in the thread that appended it; `stream` does the same for asyncio. Two
kinds are not stored, and have the cursor of the last event before them: `assistant.delta`, the words of a step as they
arrive (the whole text follows in `assistant.message`), and `assistant.thought`, what a model shows of its thinking. A
listener that falls behind or fails affects nobody else.
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
# What the plan leaves open: ends other than failures, questions other than clarifications, and costs.
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
    "agent.ready",
    "agent.mode",
    "agent.commands",
    "agent.thought",
    "agent.usage",
    "plan.updated",
)
DELTA, THOUGHT = "assistant.delta", "assistant.thought"
TRANSIENT = frozenset((DELTA, THOUGHT))
TYPES = frozenset((*SPECIFIED, *OWN))
# An event is a summary: longer texts are in the job, the chat or the recorded steps.
MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event. `seq` orders the events of all jobs, `cursor` those of one."""

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
        """Store an event and notify the listeners."""
        event = self.store(job_id, type_, data)
        self.notify(event)
        return event

    def notify(self, event: JobEvent) -> None:
        self._listeners.tell(event.type, event=event)

    def store(self, job_id: str, type_: str, data: dict[str, Any]) -> JobEvent:
        """Store an event as part of a transaction; the caller notifies the listeners afterwards."""
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

    def send_delta(self, job_id: str, cursor: int, text: str, type_: str = DELTA) -> None:
        """Send the listeners a piece of what a model is saying or thinking; it is not stored."""
        self._listeners.tell(type_, event=JobEvent(job_id, cursor, type_, self._clock(), {"text": text}))

    def after(self, job_id: str, cursor: int = 0, *, limit: int | None = None) -> list[JobEvent]:
        """The events of a job after a cursor, in order."""
        rows = self._db.rows(
            "SELECT job, cursor, type, ts, data, seq FROM events WHERE job = ? AND cursor > ? ORDER BY cursor LIMIT ?",
            (job_id, cursor, -1 if limit is None else limit),
        )
        return [JobEvent(job, at, kind, ts, json.loads(data), seq) for job, at, kind, ts, data, seq in rows]

    def last_cursor(self, job_id: str) -> int:
        row = self._db.row("SELECT cursor FROM jobs WHERE id = ?", (job_id,))
        return 0 if row is None else row[0]

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
        """Call a listener for every event of this process, deltas included. Returns the function that unsubscribes."""
        return self._listeners.subscribe(lambda event: listener(event.data["event"]))

    async def stream(self, job_id: str | None = None, cursor: int = 0) -> AsyncIterator[JobEvent]:
        """All events after the cursor, stored and new, without a gap or an end. No event comes twice; deltas come only
        while they happen."""
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
                if event.type in TRANSIENT or event.cursor > last.get(event.job_id, cursor if job_id else 0):
                    if event.type not in TRANSIENT:
                        last[event.job_id] = event.cursor
                    yield event
        finally:
            end()

    def prune(self, keep: int) -> None:
        """Delete the oldest events of each job that has more than `keep`; cursors continue from where they are."""
        for job_id, cursor in self._db.rows("SELECT id, cursor FROM jobs WHERE cursor > ?", (keep,)):
            self._db.execute("DELETE FROM events WHERE job = ? AND cursor <= ?", (job_id, cursor - keep))


def iso(timestamp: float) -> str:
    """A time in the format of the API."""
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clip_text(value: Any) -> Any:
    """A value for an event: long texts truncated, with their length."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value)} characters)"
    return value


# A job's events as they may be shown later: without the texts of documents that have become secrets.
#
# When an event is sent, everything in it has just passed the gate. But it is stored, and may be requested again after a
# document that it quotes was renamed to a secret's name.


class MaskedEventLog:
    """The log behind the gate. Usable from any thread, without the workspace's guard."""

    def __init__(self, log: JobEventLog, workspace: Workspace) -> None:
        self._log = log
        self._workspace = workspace

    def after(self, job_id: str, cursor: int = 0) -> list[JobEvent]:
        """The events of a job after a cursor, in order."""
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
