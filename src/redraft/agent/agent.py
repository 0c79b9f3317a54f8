"""`Agent`: what a surface does with the agent of one folder: start a job, answer it, stop it, judge what it made.

A job runs in the background and nobody has to wait for it: what happens is in the store, and told by its events. The
process that runs a job holds its lock; every other process may look, answer and ask for it to be stopped. A job that
nobody runs, because its process is gone, is taken up by `resume`, or by an answer that it was waiting for.
"""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any

from redraft.agent import reviewing
from redraft.agent.budget import Budget
from redraft.agent.driving import CANCELLED, Driver, cancelled_error
from redraft.agent.ending import ended
from redraft.agent.jobs import BUSY, NO_ANSWER, Status
from redraft.agent.leases import wants_lease
from redraft.agent.offering import offered
from redraft.agent.room import Room
from redraft.agent.sessions import ContextRow
from redraft.errors import Refused
from redraft.workspace.document import check_text
from redraft.workspace.engine import PERSON
from redraft.workspace.modes import mode_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from redraft.agent.driving import Providers
    from redraft.agent.jobs import Job
    from redraft.agent.rules import Remembered
    from redraft.agent.store import AgentStore
    from redraft.history.turns import Author
    from redraft.search.index import Index
    from redraft.tools.registry import Registry
    from redraft.workspace.events import Event
    from redraft.workspace.modes import Mode
    from redraft.workspace.workspace import Workspace

MAX_INSTRUCTION = 100_000


class Agent:
    """The agent of one folder. Close it before the workspace and the store.

    `guard` is the lock of whoever shares the workspace. `ceiling` is the widest mode that a job may have here: the
    person's wish, as the folder's settings narrow it.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: AgentStore,
        registry: Registry,
        providers: Providers,
        *,
        guard: AbstractContextManager[Any] | None = None,
        index: Callable[[], Index | None] = lambda: None,
        ceiling: str | None = None,
    ) -> None:
        self.room = Room(workspace, store, registry, guard or threading.Lock(), index)
        self.store = store
        self._ceiling = mode_named(ceiling or workspace.engine.settings.mode)
        self._driver = Driver(self.room, providers, self._mode, self.rerun)
        self._unsubscribe = workspace.subscribe(self._workspace_told)
        store.collect(self.room.limits)

    def close(self) -> None:
        """Leave the jobs that still run as they are, to be resumed."""
        self._driver.close()
        self._unsubscribe()

    # Starting and stopping

    def start(
        self,
        session_id: str,
        instruction: str,
        *,
        context_rows: Iterable[Mapping[str, Any]] = (),
        tool_config: Mapping[str, Any] | None = None,
        mode: str | None = None,
        model: str = "",
        document: str = "",
    ) -> Job:
        """Begin a job; it is `queued` when this returns. Rows are pinned to the session unless they say otherwise."""
        if not instruction.strip() or len(instruction) > MAX_INSTRUCTION:
            raise Refused(f"An instruction has 1 to {MAX_INSTRUCTION} characters.", field="instruction")
        check_text(instruction)
        session = self.store.sessions.get(session_id)
        busy = next((job for job in self.store.jobs.of_session(session_id) if job.status in BUSY), None)
        if busy is not None:
            raise Refused(f"A job is under way in this session: {busy.id}.", code="conflict", job_id=busy.id)
        config, allowed = dict(tool_config or {}), self._mode(mode)
        Budget.of(self.room.limits, config)
        offered(self.room.registry, config, allowed)
        if wants_lease(config, self.room.settings.lock):
            config["lock"] = True
        rows = [ContextRow.from_dict(dict(row)) for row in context_rows]
        for row in rows:
            if row.pinned:
                self.store.sessions.pin(session.id, row)
        job = self.store.jobs.add(
            session.id,
            instruction,
            allowed.name,
            model=model,
            document=document or next((row.file_path for row in rows if row.file_path), ""),
            tool_config=config,
            context_rows=tuple(row.as_dict() for row in rows if not row.pinned),
            token=secrets.token_hex(8),
        )
        return self._queued(job)

    def rerun(self, job_id: str) -> Job:
        """The same request once more, on the documents as they are now."""
        old = self.store.jobs.get(job_id)
        job = self.store.jobs.add(
            old.session_id,
            old.instruction,
            old.mode,
            model=old.model,
            document=old.document,
            tool_config=old.tool_config,
            context_rows=old.context_rows,
            token=secrets.token_hex(8),
            rerun_of=old.id,
            reruns=old.reruns + 1,
        )
        self.store.events.append(old.id, "rerun.started", job_id=job.id)
        return self._queued(job)

    def _queued(self, job: Job) -> Job:
        self.store.sessions.began(job.session_id, job.id)
        self.store.sessions.say(job.session_id, "user", job.instruction, job.id)
        again = {"rerun_of": job.rerun_of} if job.rerun_of else {}
        self.store.events.append(job.id, "job.queued", mode=job.mode, model=job.model, **again)
        self.store.collect(self.room.limits)
        self._driver.launch(job)
        return job

    def _mode(self, wanted: str | None) -> Mode:
        mode = mode_named(wanted or self.room.settings.mode)
        return mode if mode == self._ceiling else mode.narrowed(self._ceiling)

    def resume(self) -> list[Job]:
        """Take up every job that nobody runs: after a restart. Gives those that go on."""
        return self._driver.resume()

    def cancel(self, job_id: str) -> Job:
        """Stop a job at once; nothing of it stays but the log. A job that is over, or under review, stays as it is."""
        job = self.store.jobs.get(job_id)
        if job.status not in BUSY:
            return job
        job = self.store.jobs.update(job_id, cancel_wanted=True)
        driven = self._driver.get(job_id)
        if driven is not None:
            driven.cancel.set()
        elif not self.store.is_running(job_id):  # else its own process looks, twice a second
            return ended(self.room, job, Status.CANCELLED, cancelled_error(), CANCELLED)
        return job

    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """Wait until this process is done with a job; gives it as it stands then."""
        self._driver.wait(job_id, timeout)
        return self.store.jobs.get(job_id)

    def runs(self, job_id: str) -> bool:
        """Whether this process is running the job."""
        return self._driver.get(job_id) is not None

    # Speaking with a job

    def answer(self, job_id: str, question_id: str, answer: str = NO_ANSWER) -> Job:
        """Answer the job's question; `no_user_answer` leaves it to the agent."""
        return self._reply(job_id, question_id, {"answer": answer or NO_ANSWER}, "clarification")

    def confirm(self, job_id: str, question_id: str, *, allow: bool, remember: Remembered | None = None) -> Job:
        """Agree to what the job wants to do, or not; with `remember`, also for the future."""
        job = self._reply(job_id, question_id, {"allow": allow}, "confirmation", "estimate")
        if remember is not None:
            self.room.rules.remember(remember)
        return job

    def _reply(self, job_id: str, question_id: str, reply: dict[str, Any], *kinds: str) -> Job:
        job = self.store.jobs.get(job_id)
        question = job.question
        if question is None or question.id != question_id or job.status not in BUSY:  # it may just be being resumed
            raise Refused(f"The job has no such question: {question_id[:60]!a}.", code="not_found", job_id=job_id)
        if question.kind not in kinds:
            raise Refused(f"This question is a {question.kind}.", field="question_id", kind=question.kind)
        job = self.store.jobs.update(job_id, reply={"question_id": question_id, **reply})
        driven = self._driver.get(job_id)
        if driven is not None and driven.run is not None:
            driven.run.asking.knock()
        elif driven is None and not self.store.is_running(job_id):
            self._driver.launch(job)
        return job

    # The review

    def job(self, job_id: str) -> dict[str, Any]:
        """The job as it stands, with its `diff_bundle` while it awaits review. `interrupted` says that it is under way
        by its state, but that the program which ran it is gone: `resume` takes it up."""
        job = self._settled(self.store.jobs.get(job_id))
        under_way = job.status in (Status.QUEUED, Status.RUNNING) and not self.runs(job_id)
        shape = {
            **job.as_dict(),
            "diff_bundle": None,
            "interrupted": under_way and not self.store.is_running(job_id),
        }
        if job.status is Status.REVIEW:
            with self.room.guard:
                shape["diff_bundle"] = reviewing.bundle(self.room.workspace, job)
        return shape

    def apply(self, job_id: str, accepted_hunk_ids: Iterable[str], *, author: Author = PERSON) -> dict[str, Any]:
        """Take the accepted hunks, refuse the others, as `author` decides. Where a file was changed since it was shown,
        nothing is written: the proposal is withdrawn and the job run again."""
        job = self._settled(self.store.jobs.get(job_id))
        if job.status is not Status.REVIEW:
            raise Refused(f"The job is {job.status}, not under review.", code="conflict", job_id=job_id)
        accepted = list(accepted_hunk_ids)
        self.store.events.append(job_id, "apply.started", accepted=len(accepted))
        try:
            with self.room.guard:
                answer = reviewing.apply(self.room.workspace, job, accepted, self.room.memory, author=author)
        except Refused as error:
            if error.code != "conflict":
                raise
            return self._withdrawn(job, error, author)
        self.store.events.append(job_id, "apply.completed", **answer)
        self._settled(job)
        return answer

    def _withdrawn(self, job: Job, error: Refused, author: Author) -> dict[str, Any]:
        shape = {**error.as_dict(), "rerun_required": True}
        self.store.events.append(job.id, "conflict.found", **error.details)
        told = {"error": error.code, "reason": error.message}
        self.store.move(job.id, Status.FAILED, "job.failed", told, error=shape)
        with self.room.guard:
            left = reviewing.left_to_decide(self.room.workspace, job.turn or 0)
            self.room.workspace.reject(left, author=author)
        again = self.rerun(job.id) if job.reruns < self.room.limits.reruns else None
        return {"status": "conflict", "error": shape, "rerun_job_id": None if again is None else again.id}

    def _settled(self, job: Job) -> Job:
        """A job whose every hunk was decided, wherever that was, is complete."""
        if job.status is not Status.REVIEW or job.turn is None:
            return job
        with self.room.guard:
            left = reviewing.left_to_decide(self.room.workspace, job.turn)
        return job if left else self._decided(job)

    def _decided(self, job: Job) -> Job:
        try:
            return self.store.move(job.id, Status.COMPLETED, "job.completed", {"turn": job.turn})
        except Refused:
            return self.store.jobs.get(job.id)  # somebody else saw it first

    def _workspace_told(self, event: Event) -> None:
        """What happens to a job's turn belongs to the job's events. Called by whoever acts, who holds the guard."""
        if event.type.startswith("checkpoint.rollback."):
            job = self.store.jobs.by_turn(int(event.data["checkpoint_id"]))
            if job is not None:
                self.store.events.append(job.id, event.type, **event.data)
        elif event.type == "review.updated":
            for job in self.store.jobs.with_status([Status.REVIEW]):
                left = {} if job.turn is None else reviewing.left_to_decide(self.room.workspace, job.turn)
                hunks = sum(map(len, left.values()))
                self.store.events.append(job.id, "review.updated", paths=event.data["paths"], left=hunks)
                if not left:
                    self._decided(job)
