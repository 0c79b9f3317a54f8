"""Everything of the agent's that outlives the process: sessions, jobs, events, recorded steps, usage.

It also knows who runs a job: the runner holds a kernel lock in the state folder for as long as the job runs, so that a
new process can tell a job that another process is running from one that nobody runs.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from redraft.agent.store.database import AgentDatabase
from redraft.agent.store.events import JobEventLog
from redraft.agent.store.jobs import BUSY, ENDED, Jobs
from redraft.agent.store.leases import Leases
from redraft.agent.store.sessions import Sessions
from redraft.agent.store.steps import StepLog
from redraft.agent.store.usage import UsageLog
from redraft.errors import Busy
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from redraft.agent.store.jobs import Job, Status
    from redraft.config import AgentLimits

LOCKS = "agent-jobs"


class AgentStore:
    """Opened on a folder's state directory. Close it when done; used as a context manager it closes itself."""

    def __init__(self, state: str, clock: Callable[[], float] = time.time) -> None:
        self.state = state
        self.clock = clock
        self.database = AgentDatabase(state)
        self.events = JobEventLog(self.database, clock)
        self.sessions = Sessions(self.database, clock)
        self.jobs = Jobs(self.database, clock)
        self.steps = StepLog(self.database)
        self.usage = UsageLog(self.database, clock)
        self.leases = Leases(state)
        self._locks = os.path.join(state, LOCKS)
        os.makedirs(self._locks, mode=0o700, exist_ok=True)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def lock_job(self, job_id: str) -> Generator[None]:
        """Hold a job's lock while running it; raises `Busy` if any process runs it already."""
        with folder_lock(self._locks, job_id, timeout=0):
            yield

    def is_running(self, job_id: str) -> bool:
        """Whether any process runs this job now."""
        try:
            with self.lock_job(job_id):
                return False
        except Busy:
            return True

    def move(self, job_id: str, status: Status, event: str, data: dict[str, Any], **changes: Any) -> Job:
        """Change a job's status and store the event about it in one transaction, so nobody sees one without the other.
        A job that has ended or is under review gives up its lease first."""
        if status not in BUSY:
            self.release(job_id)
        with self.database.transaction():
            job = self.jobs.move(job_id, status, **changes)
            stored = self.events.store(job_id, event, data)
        self.events.notify(stored)
        return replace(job, cursor=stored.cursor)

    def hold(self, job_id: str) -> None:
        """Give a job its lease on the documents, until it ends or releases it."""
        self.leases.begin(job_id)
        self.events.append(job_id, "documents.locked")

    def release(self, job_id: str) -> None:
        if self.leases.end(job_id):
            self.events.append(job_id, "documents.released")

    def collect(self, limits: AgentLimits) -> list[str]:
        """Delete what has ended, by age and by number; returns the ids. Whatever is active, waiting or under review
        stays in any case. Of sessions, only archived ones are deleted."""
        with self.database.transaction(durable=False):
            removed = self._surplus_jobs(limits)
            surplus = self._surplus_sessions(limits)
            removed += [job.id for name in surplus for job in self.jobs.of_session(name) if job.id not in removed]
            for job_id in removed:
                self._forget_job(job_id)
            for name in surplus:
                self.sessions.remove(name)
            self.events.prune(limits.max_events_per_job)
        return [*removed, *surplus]

    def _surplus_sessions(self, limits: AgentLimits) -> list[str]:
        """Archived long ago, or beyond the newest that are kept for each user."""
        oldest = self.clock() - limits.archived_days * 86_400
        return [
            name
            for archived in self.sessions.list_archive().values()
            for place, (name, since) in enumerate(archived)
            if (place >= limits.max_sessions or since < oldest) and self._is_over(name)
        ]

    def _surplus_jobs(self, limits: AgentLimits) -> list[str]:
        oldest = self.clock() - limits.completed_ttl_hours * 3600
        old = [job.id for job in self.jobs.with_status(ENDED) if (job.finished_at or job.created_at) < oldest]
        many: list[str] = []
        for name in self.sessions.all():
            jobs = self.jobs.of_session(name)
            over = [job.id for job in jobs if job.ended]
            many += over[: max(0, len(jobs) - limits.max_jobs_per_session)]
        return list(dict.fromkeys([*old, *many]))

    def _is_over(self, session_id: str) -> bool:
        return all(job.ended for job in self.jobs.of_session(session_id))

    def _forget_job(self, job_id: str) -> None:
        self.jobs.remove(job_id)
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._locks, job_id))
