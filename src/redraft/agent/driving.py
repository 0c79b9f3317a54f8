"""Jobs on their way: one thread each, from where a job stands to its end.

Whatever happens, a job ends in a state that tells the truth: done, failed with its reason, or cancelled; or, where this
process stops first, in one from which it is resumed. The lock of a job is held for as long as it is driven.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from redraft.agent.agreeing import Refusal
from redraft.agent.ending import Overtaken, carried_out, conclude, ended
from redraft.agent.jobs import BUSY, Status
from redraft.agent.loop import Run
from redraft.errors import Busy, RedraftError
from redraft.providers.contract import Cancel, ProviderError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from redraft.agent.jobs import Job
    from redraft.agent.room import Room
    from redraft.providers.choosing import Choice
    from redraft.providers.contract import Provider
    from redraft.workspace.modes import Mode

CANCELLED = "I stopped, as you asked. Nothing was changed."
WATCH_SECONDS = 0.5


class Providers(Protocol):
    """Where a job's model comes from: `choosing.Models`, or anything with this one method."""

    def provider(self, name: str, trace: Callable[[Choice], None], /) -> Provider:
        """The model of that name, or the one that the routing chooses where the name is empty."""
        ...


@dataclass(slots=True)
class Driven:
    """A job that this process runs. `left` says that the process wants to go, not that the job shall be over."""

    job_id: str
    cancel: Cancel = field(default_factory=Cancel)
    thread: threading.Thread | None = None
    run: Run | None = None
    left: bool = False


class Driver:
    """Runs the jobs of one folder. `again` starts a job anew whose documents were changed under it."""

    def __init__(
        self, room: Room, providers: Providers, mode: Callable[[str], Mode], again: Callable[[str], object]
    ) -> None:
        self._room = room
        self._providers = providers
        self._mode = mode
        self._again = again
        self._driven: dict[str, Driven] = {}
        self._lock = threading.Lock()
        self._closed = False

    def get(self, job_id: str) -> Driven | None:
        return self._driven.get(job_id)

    def launch(self, job: Job) -> None:
        driven = Driven(job.id)
        driven.thread = threading.Thread(target=self._drive, args=(driven,), name=f"redraft-{job.id}", daemon=True)
        with self._lock:
            if self._closed:
                return  # it stays queued, for whoever comes next
            self._driven[job.id] = driven
        driven.thread.start()

    def resume(self) -> list[Job]:
        """Take up every job that nobody runs. Gives those that go on."""
        store = self._room.store
        taken = [
            job for job in store.jobs.with_status(BUSY) if job.id not in self._driven and not store.is_running(job.id)
        ]
        for job in taken:
            self.launch(job)
        return taken

    def wait(self, job_id: str, timeout: float | None = None) -> None:
        driven = self._driven.get(job_id)
        if driven is not None and driven.thread is not None and driven.thread is not threading.current_thread():
            driven.thread.join(timeout)

    def close(self) -> None:
        """Leave the jobs as they are, to be resumed by whoever comes next."""
        with self._lock:
            self._closed = True
            left = list(self._driven.values())
        for driven in left:
            driven.left = True
            driven.cancel.set()
            self.wait(driven.job_id)

    def _drive(self, driven: Driven) -> None:
        try:
            with self._room.store.running(driven.job_id):
                asyncio.run(self._go(driven))
        except Busy:
            return  # another process was faster
        finally:
            with self._lock:
                self._driven.pop(driven.job_id, None)

    async def _go(self, driven: Driven) -> None:
        job = self._room.store.jobs.get(driven.job_id)
        try:
            job = self._begun(job)
            if not self._was_done(job):
                if job.locks:
                    self._room.store.hold(job.id)
                driven.run = self._made(job, driven.cancel)
                async with self._watching(driven):
                    await conclude(driven.run, await driven.run.converse())
        except RedraftError as error:
            if not driven.left:
                self._failed(job, error)
        except BaseException as error:
            failure = {"error": "io_error", "message": f"The program failed: {type(error).__name__}: {error}"}
            ended(self._room, job, Status.FAILED, failure, "Something went wrong here. Nothing was changed.")
            raise
        finally:
            if driven.run is not None:
                await _let_go(driven.run)
            self._room.store.release(job.id)  # where the job is only left, to be resumed

    def _begun(self, job: Job) -> Job:
        store = self._room.store
        resumed = job.started_at is not None
        event = "job.resumed" if resumed else "job.started"
        if job.status is not Status.RUNNING:
            return store.move(job.id, Status.RUNNING, event, {"mode": job.mode})
        store.events.append(job.id, event, mode=job.mode)
        return job

    def _was_done(self, job: Job) -> bool:
        """Whether the job's turn was committed right before the program was stopped; then only that is left to say."""
        with self._room.guard:
            record = self._room.workspace.carried_out(job.token)
        if record is not None:
            carried_out(self._room, job, record, job.answer)
        return record is not None

    def _made(self, job: Job, cancel: Cancel) -> Run:
        def chosen(choice: Choice) -> None:
            self._room.store.events.append(job.id, "provider.chosen", **choice.as_dict())

        provider = self._providers.provider(job.model, chosen)
        return Run(self._room, job, provider, self._mode(job.mode), cancel)

    def _failed(self, job: Job, error: RedraftError) -> None:
        shape = error.as_dict()
        if isinstance(error, Refusal):
            ended(self._room, job, Status.CANCELLED, shape, error.message)
        elif isinstance(error, ProviderError) and error.kind == "cancelled":
            ended(self._room, job, Status.CANCELLED, shape, CANCELLED)
        elif isinstance(error, Overtaken):
            self._room.store.events.append(job.id, "conflict.found", **error.details)
            ended(self._room, job, Status.FAILED, {**shape, "rerun_required": True}, error.message)
            if job.reruns < self._room.limits.reruns:
                self._again(job.id)
        else:
            ended(self._room, job, Status.FAILED, shape, error.message)

    @contextlib.asynccontextmanager
    async def _watching(self, driven: Driven) -> AsyncGenerator[None]:
        """Heed a wish to stop that another process has stored."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(WATCH_SECONDS)
                if self._room.store.jobs.get(driven.job_id).cancel_wanted:
                    driven.cancel.set()

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()


async def _let_go(run: Run) -> None:
    """Discard what was not committed, and close what the model's connections hold: they belong to this thread."""
    if run.turn.open:
        run.turn.discard()
    close = getattr(run.provider, "aclose", None)
    if close is not None:
        await close()


def cancelled_error() -> dict[str, object]:
    return ProviderError("The job was cancelled.", kind="cancelled").as_dict()
