"""Everything of the agent's that outlives it, in one place: sessions, jobs, events, recorded steps, usage.

Also who runs a job: a lock of the kernel's in the state folder, held for as long as the job runs, so that a process
that starts anew can tell a job that somebody else is running from one that nobody is.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from redraft.agent.database import AgentDatabase
from redraft.agent.events import EventLog
from redraft.agent.jobs import BUSY, ENDED, Jobs
from redraft.agent.leases import Leases
from redraft.agent.sessions import Sessions
from redraft.agent.steps import Steps
from redraft.agent.usage import UsageLog
from redraft.errors import Busy
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from redraft.agent.jobs import Job, Status
    from redraft.config import AgentLimits

LOCKS = "agent-jobs"


class AgentStore:
    """Opened on a folder's state directory. Close it when done; used as a context manager it closes itself."""

    def __init__(self, state: str, clock: Callable[[], float] = time.time) -> None:
        self.state = state
        self.clock = clock
        self.database = AgentDatabase(state)
        self.events = EventLog(self.database, clock)
        self.sessions = Sessions(self.database, clock)
        self.jobs = Jobs(self.database, clock)
        self.steps = Steps(self.database)
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
    def running(self, job_id: str) -> Generator[None]:
        """Run a job; `Busy` where it is being run already, by whatever process."""
        with folder_lock(self._locks, job_id, timeout=0):
            yield

    def is_running(self, job_id: str) -> bool:
        """Whether any process runs this job now."""
        try:
            with self.running(job_id):
                return False
        except Busy:
            return True

    def move(self, job_id: str, status: Status, event: str, told: dict[str, Any], **changes: Any) -> Job:
        """Bring a job into another state and say so, as one: nobody sees the one without the other. One that is over,
        or under review, has let go of the documents by then."""
        if status not in BUSY:
            self.release(job_id)
        with self.database.transaction():
            job = self.jobs.move(job_id, status, **changes)
            stored = self.events.store(job_id, event, told)
        self.events.tell(stored)
        return replace(job, cursor=stored.cursor)

    def hold(self, job_id: str) -> None:
        """Let a job have the documents to itself, until it ends or lets go of them."""
        self.leases.begin(job_id)
        self.events.append(job_id, "documents.locked")

    def release(self, job_id: str) -> None:
        if self.leases.end(job_id):
            self.events.append(job_id, "documents.released")

    def collect(self, limits: AgentLimits) -> list[str]:
        """Forget what is over, by age and by number; gives the ids. What is active, waiting or under review stays,
        whatever the numbers say."""
        with self.database.transaction(durable=False):
            gone = self._surplus_jobs(limits)
            surplus = [name for name in self.sessions.all()[limits.max_sessions :] if self._is_over(name)]
            gone += [job.id for name in surplus for job in self.jobs.of_session(name) if job.id not in gone]
            for job_id in gone:
                self._forget_job(job_id)
            for name in surplus:
                self.sessions.remove(name)
            self.events.prune(limits.max_events_per_job)
        return [*gone, *surplus]

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
