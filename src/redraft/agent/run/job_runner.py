"""Running jobs: one thread each, from a job's current state to its end.

Whatever happens, a job ends in a state that is true: completed, failed with a reason, or cancelled; or, if this process
stops first, in one from which it can be resumed. A job's lock is held for as long as it runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from redraft.agent.run.approvals import ConsentDenied, JobStopped
from redraft.agent.run.job_review import pending_hunks
from redraft.agent.run.job_summary import changes_of, list_proposed_edits
from redraft.agent.run.loop import JobRun
from redraft.agent.store.jobs import BUSY, Status
from redraft.errors import Busy, ConfirmationRequired, RedraftError, Refused, Stale
from redraft.files.locks import release
from redraft.providers.contract import CancelToken, ProviderError
from redraft.workspace.document import content_hash
from redraft.workspace.turns.modes import MODES, WriteTime

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from redraft.agent.environment import AgentEnvironment
    from redraft.agent.run.approvals import JobQuestions
    from redraft.agent.run.loop import RunResult
    from redraft.agent.store.jobs import Job
    from redraft.history.turns import TurnRecord
    from redraft.providers.contract import Provider
    from redraft.providers.router import ModelChoice
    from redraft.workspace.turns.modes import Mode

# How a job ends: its turn is committed as the mode says, or discarded without a trace.
#
# A commit is one atomic act of the workspace, identified by the job's token; so whoever finds a stopped job can tell
# whether it happened. If the budget ran out, the changes await review, whatever the mode. A turn that no longer fits,
# because the documents were changed at the same place, is not written: the job fails and runs again, a limited number
# of times.


# Errors that say a turn no longer fits; another run would read the documents as they are now.
BUSY_TRIES, BUSY_SECONDS = 5, 0.5
OVERTAKEN = ("version_mismatch", "conflict")


class TurnConflict(Stale):
    """The documents were changed at the same place while the job ran."""

    default_code = "conflict"


async def conclude(run: JobRun, result: RunResult) -> Job:
    """Commit what a job has staged, and report the outcome."""
    turn = run.turn
    await run.fetch_unsaved(map(str, turn.staged))
    if result.spent and turn.writes_at_once:
        turn.mode = turn.mode.narrow(MODES["propose"])
    changes = changes_of(turn)
    if not changes and not turn.folders:
        turn.discard()
        return complete_job(run.environment, run.job, result.text)
    at_once = turn.writes_at_once
    proposals = run.tool_runner.context.proposals
    run.environment.store.jobs.update(
        run.job.id, proposed_edits=tuple(list_proposed_edits(turn, proposals)), answer=result.text
    )
    folders = list(turn.folders)
    run.tell("edits.proposed", files=len(changes), changes=changes[:50], folders=folders[:50])
    if at_once:
        run.tell("apply.started", files=len(changes))
    record = await _commit(run)
    if record is None:
        return complete_job(run.environment, run.job, result.text)
    return record_commit(run.environment, run.job, record, result.text)


async def _commit(run: JobRun) -> TurnRecord | None:
    """The turn in the history; None if it changes nothing after all. Asks the person if that is required."""
    patience = BUSY_TRIES
    while True:
        run.cancel.check()
        try:
            with run.environment.guard:
                work = run.environment.workspace.plan_ahead(run.turn)
                if work is not None:
                    with release(run.environment.guard):
                        work()
                outcome = run.turn.commit()
        except ConfirmationRequired as error:
            await run.approvals.ask_for_turn(error)
        except Busy:
            patience -= 1
            if not patience:
                raise
            await asyncio.sleep(BUSY_SECONDS)
        except Refused as error:
            if error.code not in OVERTAKEN:
                raise
            raise TurnConflict(error.message, **error.details) from error
        else:
            run.environment.store.jobs.update(run.job.id, conflicts=tuple(outcome.conflicts))
            return outcome.turn


def record_commit(environment: AgentEnvironment, job: Job, record: TurnRecord, text: str) -> Job:
    """Update the job once its turn is in the history. Called again for a job that was stopped right after."""
    store = environment.store
    with environment.guard:
        left = pending_hunks(environment.workspace, record.id)
        waiting = [draft for draft in environment.workspace.drafts() if draft.key in left]
        hashes = {draft.key: content_hash(draft.saved or b"") for draft in waiting}
        clashes = [draft.key for draft in waiting if any(hunk.conflict for hunk in draft.review.hunks)]
    known = store.jobs.get(job.id)
    conflicts = tuple(dict.fromkeys([*known.conflicts, *clashes]))
    job = store.jobs.update(job.id, turn=record.id, base_hashes=hashes, conflicts=conflicts, answer=text)
    store.events.append(
        job.id,
        "checkpoint.created",
        checkpoint_id=record.id,
        session_id=job.session_id,
        job_id=job.id,
        affected_files=list(record.paths),
    )
    if conflicts:
        store.events.append(job.id, "conflict.found", paths=list(conflicts))
    made_of = {"files": len(record.paths), "hunks": sum(map(len, left.values()))}
    if left:
        _say(environment, job, text)
        return store.move(job.id, Status.REVIEW, "diff.generated", made_of)
    store.events.append(job.id, "diff.generated", **made_of)
    store.events.append(job.id, "apply.completed", turn=record.id, files=list(record.paths))
    return complete_job(environment, job, text)


def complete_job(environment: AgentEnvironment, job: Job, text: str) -> Job:
    """End the job successfully."""
    _say(environment, job, text)
    return environment.store.move(job.id, Status.COMPLETED, "job.completed", {"turn": job.turn}, answer=text)


def end_job(environment: AgentEnvironment, job: Job, status: Status, error: dict[str, Any], text: str) -> Job:
    """End the job without success; nothing of it is on disk."""
    _say(environment, job, text)
    event = "job.cancelled" if status is Status.CANCELLED else "job.failed"
    data = {"error": error["error"], "reason": error["message"]}
    return environment.store.move(job.id, status, event, data, error=error, question=None, reply=None)


def _say(environment: AgentEnvironment, job: Job, text: str) -> None:
    environment.store.sessions.retract(job.id, "assistant")
    environment.store.sessions.say(job.session_id, "assistant", text, job.id)


CANCELLED = "I stopped, as you asked. Nothing was changed."
WATCH_SECONDS = 0.5


class ProviderFactory(Protocol):
    """Where a job's model comes from: `model_selection.Models`, or anything with this one method."""

    def provider(self, name: str, trace: Callable[[ModelChoice], None], /) -> Provider:
        """The model of that name, or the one that routing selects if the name is empty."""
        ...


@dataclass(slots=True)
class RunningJob:
    """A job that this process runs. `left` means that the process is stopping, not that the job should end."""

    job_id: str
    cancel: CancelToken = field(default_factory=CancelToken)
    thread: threading.Thread | None = None
    run: JobRun | None = None
    questions: JobQuestions | None = None
    left: bool = False


class JobRunner:
    """Runs the jobs of one folder. `again` restarts a job whose documents changed while it ran."""

    def __init__(
        self,
        environment: AgentEnvironment,
        providers: ProviderFactory,
        mode: Callable[[str], Mode],
        again: Callable[[str], object],
    ) -> None:
        self._environment = environment
        self._providers = providers
        self._mode = mode
        self._rerun = again
        self._running: dict[str, RunningJob] = {}
        self._lock = threading.Lock()
        self._closed = False

    def get(self, job_id: str) -> RunningJob | None:
        return self._running.get(job_id)

    def launch(self, job: Job) -> None:
        running = RunningJob(job.id)
        running.thread = threading.Thread(
            target=self._run_thread, args=(running,), name=f"redraft-{job.id}", daemon=True
        )
        with self._lock:
            if self._closed:
                return  # it stays queued, for the next process
            self._running[job.id] = running
        running.thread.start()

    def resume(self) -> list[Job]:
        """Pick up every job that no process runs. Returns the jobs that continue."""
        store = self._environment.store
        taken = [
            job for job in store.jobs.with_status(BUSY) if job.id not in self._running and not store.is_running(job.id)
        ]
        for job in taken:
            self.launch(job)
        return taken

    def wait(self, job_id: str, timeout: float | None = None) -> None:
        running = self._running.get(job_id)
        if running is not None and running.thread is not None and running.thread is not threading.current_thread():
            running.thread.join(timeout)

    def close(self) -> None:
        """Leave the jobs as they are; another process can resume them."""
        with self._lock:
            self._closed = True
            left = list(self._running.values())
        for running in left:
            running.left = True
            running.cancel.set()
            self.wait(running.job_id)

    def _run_thread(self, running: RunningJob) -> None:
        try:
            with self._environment.store.lock_job(running.job_id):
                asyncio.run(self._run_job(running))
        except Busy:
            return  # another process was faster
        finally:
            with self._lock:
                self._running.pop(running.job_id, None)

    async def _run_job(self, running: RunningJob) -> None:
        job = self._environment.store.jobs.get(running.job_id)
        try:
            job = self._mark_start(job)
            if not self._finish_earlier_commit(job):
                if job.locks:
                    self._environment.store.hold(job.id)
                if job.agent:
                    await self._run_hosted(job, running)
                    return
                running.run = self._make_run(job, running.cancel)
                running.questions = running.run.questions
                async with self._watch_for_cancel(running):
                    await conclude(running.run, await running.run.converse())
        except RedraftError as error:
            if not running.left:
                self._fail(job, error)
        except BaseException as error:
            failure = {"error": "io_error", "message": f"The program failed: {type(error).__name__}: {error}"}
            end_job(self._environment, job, Status.FAILED, failure, "Something went wrong. Nothing was changed.")
            raise
        finally:
            if running.run is not None:
                await _release(running.run)
            self._environment.store.release(job.id)  # if the job was only left, to be resumed

    async def _run_hosted(self, job: Job, running: RunningJob) -> None:
        from redraft.agent.hosted.hosted_job import HostedJob  # with the protocol's library, half a second

        # Where a folder's settings allow less than writing at once, the tools would not write in the view either.
        has_tools = self._mode("apply").writes is WriteTime.AT_ONCE
        mode = self._mode(job.mode)
        hosted = HostedJob(self._environment, job, mode, running.cancel, lambda: running.left, has_tools=has_tools)
        running.questions = hosted.questions
        async with self._watch_for_cancel(running):
            result = await hosted.run()
        if result.turn is None:
            complete_job(self._environment, job, result.text)
        else:
            record_commit(self._environment, job, result.turn, result.text)

    def _mark_start(self, job: Job) -> Job:
        store = self._environment.store
        resumed = job.started_at is not None
        event = "job.resumed" if resumed else "job.started"
        if job.status is not Status.RUNNING:
            return store.move(job.id, Status.RUNNING, event, {"mode": job.mode})
        store.events.append(job.id, event, mode=job.mode)
        return job

    def _finish_earlier_commit(self, job: Job) -> bool:
        """Whether the job's turn was committed right before the program stopped; then only the report is missing."""
        with self._environment.guard:
            record = self._environment.workspace.find_turn(job.token)
        if record is not None:
            record_commit(self._environment, job, record, job.answer)
        return record is not None

    def _make_run(self, job: Job, cancel: CancelToken) -> JobRun:
        def report_choice(choice: ModelChoice) -> None:
            self._environment.store.events.append(job.id, "provider.chosen", **choice.as_dict())

        provider = self._providers.provider(job.model, report_choice)
        return JobRun(self._environment, job, provider, self._mode(job.mode), cancel)

    def _fail(self, job: Job, error: RedraftError) -> None:
        shape = error.as_dict()
        if isinstance(error, ConsentDenied | JobStopped):
            end_job(self._environment, job, Status.CANCELLED, shape, error.message)
        elif isinstance(error, ProviderError) and error.kind == "cancelled":
            end_job(self._environment, job, Status.CANCELLED, shape, CANCELLED)
        elif isinstance(error, TurnConflict):
            self._environment.store.events.append(job.id, "conflict.found", **error.details)
            end_job(self._environment, job, Status.FAILED, {**shape, "rerun_required": True}, error.message)
            if job.reruns < self._environment.limits.reruns:
                self._rerun(job.id)
        else:
            end_job(self._environment, job, Status.FAILED, shape, error.message)

    @contextlib.asynccontextmanager
    async def _watch_for_cancel(self, running: RunningJob) -> AsyncGenerator[None]:
        """Watch for a cancellation that another process has stored."""

        async def watch() -> None:
            while True:
                await asyncio.sleep(WATCH_SECONDS)
                if self._environment.store.jobs.get(running.job_id).cancel_wanted:
                    running.cancel.set()

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()


async def _release(run: JobRun) -> None:
    """Discard what was not committed, and close the model's connections: they belong to this thread."""
    if run.turn.open:
        run.turn.discard()
    close = getattr(run.provider, "aclose", None)
    if close is not None:
        await close()


def cancelled_error() -> dict[str, object]:
    return ProviderError("The job was cancelled.", kind="cancelled").as_dict()
