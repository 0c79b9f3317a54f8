"""`Agent`: everything a surface can do with the agent of one folder: start a job, answer it, stop it, review its work.

A job runs in the background and nobody has to wait for it: the store has its state, and its events report progress.
The process that runs a job holds its lock; every other process may read it, answer it and ask for it to be cancelled.
`resume` picks up a job whose process has died, and so does an answer that the job was waiting for.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from redraft.agent.environment import AgentEnvironment
from redraft.agent.memory.notes import parse_memory_command, user_of
from redraft.agent.run import job_review
from redraft.agent.run.budget import JobBudget
from redraft.agent.run.job_runner import CANCELLED, JobRunner, cancelled_error, complete_job, end_job
from redraft.agent.run.tool_selection import select_tools
from redraft.agent.store.events import MaskedEventLog
from redraft.agent.store.jobs import BUSY, NO_ANSWER, Status
from redraft.agent.store.leases import is_lease_wanted
from redraft.agent.store.sessions import ContextRow
from redraft.errors import Refused
from redraft.history.turns import PERSON
from redraft.workspace.document import check_text
from redraft.workspace.turns.modes import MODES, mode_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from redraft.agent.hosted.agent_programs import AgentPrograms
    from redraft.agent.memory.notes import MemoryCommand
    from redraft.agent.memory.permissions import PermissionRule
    from redraft.agent.run.job_runner import ProviderFactory
    from redraft.agent.run.loop import JobRun
    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.store.jobs import Job
    from redraft.agent.store.sessions import Session
    from redraft.history.turns import Author
    from redraft.tools.registry import Registry
    from redraft.workspace.events import Event
    from redraft.workspace.turns.modes import Mode
    from redraft.workspace.workspace import Workspace

MAX_INSTRUCTION = 100_000


class Agent:
    """The agent of one folder. Close it before the workspace and the store.

    `guard` is the lock shared by everybody who uses the workspace. `ceiling` is the widest mode that a job may have:
    what the person chose, narrowed by the folder's settings.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: AgentStore,
        registry: Registry,
        providers: ProviderFactory,
        *,
        guard: AbstractContextManager[Any] | None = None,
        ceiling: str | None = None,
        programs: AgentPrograms | None = None,
    ) -> None:
        self.environment = AgentEnvironment(workspace, store, registry, guard or threading.Lock())
        if programs is not None:
            self.environment.programs = programs
        self.store = store
        self.masked_events = MaskedEventLog(store.events, workspace)
        self._ceiling = mode_by_name(ceiling or workspace.settings.mode)
        self._runner = JobRunner(self.environment, providers, self._narrow_mode, self.rerun)
        self._unsubscribe = workspace.subscribe(self._on_workspace_event)
        store.collect(self.environment.limits)

    def close(self) -> None:
        """Stop running jobs without ending them; they can be resumed."""
        self._runner.close()
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
        agent: str = "",
        agent_options: Mapping[str, str] | None = None,
        document: str = "",
        asked_by: str = PERSON.name,
    ) -> Job:
        """Start a job; it is `queued` when this returns. Context rows are pinned to the session unless they say
        otherwise. A call that names no document gets `document`, or else the one that the person who asks has in front
        of them. With `agent`, that program does the job instead of a model."""
        if not instruction.strip() or len(instruction) > MAX_INSTRUCTION:
            raise Refused(f"An instruction must have 1 to {MAX_INSTRUCTION} characters.", field="instruction")
        check_text(instruction)
        session = self.store.sessions.get(session_id)
        busy = next((job for job in self.store.jobs.of_session(session_id) if job.status in BUSY), None)
        if busy is not None:
            raise Refused(f"A job is already running in this session: {busy.id}.", code="conflict", job_id=busy.id)
        if (order := parse_memory_command(instruction)) is not None:
            return self._remember(session, instruction, order)
        if agent:
            self.environment.programs.find(agent)
        config, allowed = {"profile": self.environment.limits.profile, **(tool_config or {})}, self._narrow_mode(mode)
        JobBudget.of(self.environment.limits, config)
        select_tools(self.environment.registry, config, allowed)
        if is_lease_wanted(config, self.environment.settings.lock):
            config["lock"] = True
        rows = [ContextRow.from_dict(dict(row)) for row in context_rows]
        for row in rows:
            if row.pinned:
                self.store.sessions.pin(session.id, row)
        with self.environment.guard:
            front = self.environment.workspace.front(asked_by)
        if front is not None and document not in ("", front.path):
            front = None
        selection = None if front is None or front.selection is None else asdict(front.selection)
        shown = next((row.file_path for row in rows if row.file_path), "")
        job = self.store.jobs.add(
            session.id,
            instruction,
            allowed.name,
            model=model,
            agent=agent,
            agent_options=dict(agent_options or {}),
            document=document or (shown if front is None else front.path),
            in_front=bool(document) or front is not None,
            selection=selection,
            asked_by=asked_by,
            tool_config=config,
            context_rows=tuple(row.as_dict() for row in rows if not row.pinned),
            token=secrets.token_hex(8),
        )
        return self._enqueue(job)

    def _remember(self, session: Session, instruction: str, order: MemoryCommand) -> Job:
        """A command to the memory: a job that ends at once and calls no model."""
        reply = order.execute(self.environment.memory(session.user))
        job = self.store.jobs.add(session.id, instruction, "read", token=secrets.token_hex(8))
        self.store.sessions.set_last_job(session.id, job.id)
        self.store.sessions.say(session.id, "user", instruction, job.id)
        self.store.events.append(job.id, "job.queued", mode=job.mode, model=job.model)
        self.store.move(job.id, Status.RUNNING, "job.started", {"mode": job.mode})
        self.store.events.append(job.id, "assistant.message", text=reply)
        return complete_job(self.environment, job, reply)

    def learn(self, refused: Mapping[str, Sequence[str] | None], author: Author) -> None:
        """Note what somebody is about to reject. The caller holds the guard."""
        job_review.note_rejections(self.environment.workspace, refused, self.environment.memory(user_of(author)))

    def rerun(self, job_id: str) -> Job:
        """Run the same request again, on the documents as they are now."""
        old = self.store.jobs.get(job_id)
        job = self.store.jobs.add(
            old.session_id,
            old.instruction,
            old.mode,
            model=old.model,
            agent=old.agent,
            document=old.document,
            in_front=old.in_front,
            selection=old.selection,
            asked_by=old.asked_by,
            tool_config=old.tool_config,
            context_rows=old.context_rows,
            token=secrets.token_hex(8),
            rerun_of=old.id,
            reruns=old.reruns + 1,
        )
        self._enqueue(job)
        self.store.events.append(old.id, "rerun.started", job_id=job.id)
        return job

    def successor(self, job_id: str) -> Job | None:
        """The job that was started to replace this one, if any."""
        session = self.store.jobs.get(job_id).session_id
        return next((job for job in self.store.jobs.of_session(session) if job.rerun_of == job_id), None)

    def _enqueue(self, job: Job) -> Job:
        self.store.sessions.set_last_job(job.session_id, job.id)
        self.store.sessions.say(job.session_id, "user", job.instruction, job.id)
        again = {"rerun_of": job.rerun_of} if job.rerun_of else {}
        self.store.events.append(job.id, "job.queued", mode=job.mode, model=job.model, **again)
        self.store.collect(self.environment.limits)
        self._runner.launch(job)
        return job

    @property
    def modes(self) -> list[str]:
        """The modes that a job may have in this folder."""
        return [name for name in MODES if self._narrow_mode(name).name == name]

    def _narrow_mode(self, wanted: str | None) -> Mode:
        mode = mode_by_name(wanted or self.environment.settings.mode)
        return mode if mode == self._ceiling else mode.narrow(self._ceiling)

    def resume(self) -> list[Job]:
        """Pick up every job that no process runs, after a restart. Returns the jobs that continue."""
        return self._runner.resume()

    def cancel(self, job_id: str) -> Job:
        """Stop a job at once; only its log remains. A job that has ended or is under review is left alone."""
        job = self.store.jobs.get(job_id)
        if job.status not in BUSY:
            return job
        job = self.store.jobs.update(job_id, cancel_wanted=True)
        driven = self._runner.get(job_id)
        if driven is not None:
            driven.cancel.set()
        elif not self.store.is_running(job_id):  # its own process checks twice a second
            return end_job(self.environment, job, Status.CANCELLED, cancelled_error(), CANCELLED)
        return job

    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """Wait until this process is done with a job; returns the job as it is then."""
        self._runner.wait(job_id, timeout)
        return self.store.jobs.get(job_id)

    def run_of(self, job_id: str) -> JobRun | None:
        """The job as this process runs it. Only a listener of its events, in the job's own thread, sees it at rest."""
        running = self._runner.get(job_id)
        return None if running is None else running.run

    def is_running_here(self, job_id: str) -> bool:
        """Whether this process is running the job."""
        return self._runner.get(job_id) is not None

    # Answering a job

    def answer(self, job_id: str, question_id: str, answer: str = NO_ANSWER) -> Job:
        """Answer the job's question; `no_user_answer` leaves it to the agent."""
        return self._reply(job_id, question_id, {"answer": answer or NO_ANSWER}, "clarification")

    def confirm(
        self,
        job_id: str,
        question_id: str,
        *,
        allow: bool,
        for_job: bool = False,
        remember: PermissionRule | None = None,
    ) -> Job:
        """Allow what the job wants to do, or deny it; `for_job` allows the same for the rest of the job, `remember`
        stores a rule for the future."""
        reply = {"allow": allow, **({"for_job": True} if allow and for_job else {})}
        job = self._reply(job_id, question_id, reply, "confirmation", "estimate")
        if remember is not None:
            self.environment.rules.remember(remember)
        return job

    def _reply(self, job_id: str, question_id: str, reply: dict[str, Any], *kinds: str) -> Job:
        job = self.store.jobs.get(job_id)
        question = job.question
        if question is None or question.id != question_id or job.status not in BUSY:  # it may be resuming right now
            raise Refused(f"The job has no such question: {question_id[:60]!a}.", code="not_found", job_id=job_id)
        if question.kind not in kinds:
            raise Refused(f"This question is a {question.kind}.", field="question_id", kind=question.kind)
        job = self.store.jobs.update(job_id, reply={"question_id": question_id, **reply})
        driven = self._runner.get(job_id)
        if driven is not None and driven.questions is not None:
            driven.questions.wake()
        elif driven is None and not self.store.is_running(job_id):
            self._runner.launch(job)
        return job

    # The review

    def job(self, job_id: str) -> dict[str, Any]:
        """The job's current state, with its `diff_bundle` while any of its changes await review. `interrupted` means
        that the job is unfinished but the process that ran it is gone; `resume` picks it up."""
        job = self._complete_after_decisions(self.store.jobs.get(job_id))
        under_way = job.status in (Status.QUEUED, Status.RUNNING) and not self.is_running_here(job_id)
        shape = {
            **job.as_dict(),
            "proposed_edits": self.environment.workspace.mask_records(job.proposed_edits, job.created_at),
            "diff_bundle": None,
            "interrupted": under_way and not self.store.is_running(job_id),
        }
        if self._is_awaiting_review(job):
            with self.environment.guard:
                pending = job_review.pending_drafts(self.environment.workspace, job)
            shape["diff_bundle"] = job_review.diff_bundle(job, pending)
        return shape

    def apply(self, job_id: str, accepted_hunk_ids: Iterable[str], *, author: Author = PERSON) -> dict[str, Any]:
        """Accept these hunks and reject the others, as `author`. If a file has changed since it was shown, nothing is
        written: the proposal is withdrawn and the job runs again."""
        job = self._complete_after_decisions(self.store.jobs.get(job_id))
        if not self._is_awaiting_review(job):
            raise Refused(f"The job is {job.status}, not under review.", code="conflict", job_id=job_id)
        accepted = list(accepted_hunk_ids)
        self.store.events.append(job_id, "apply.started", accepted=len(accepted))
        try:
            with self.environment.guard:
                answer = job_review.apply(
                    self.environment.workspace, job, accepted, self.environment.memory(user_of(author)), author=author
                )
        except Refused as error:
            # The person settles a hunk in conflict; the agent has to look again at a file that changed.
            if error.code != "conflict" or "hunk_id" in error.details or job.status is not Status.REVIEW:
                raise
            return self._withdraw(job, error, author)
        self.store.events.append(job_id, "apply.completed", **answer)
        self._complete_after_decisions(job)
        return answer

    def withdraw(self, turn: int, error: Refused, author: Author) -> dict[str, Any] | None:
        """Withdraw what the job of a turn proposes, because its file has changed since it was shown, and run it again.
        Returns what `apply` would; None if no job awaits a decision about that turn."""
        job = self.store.jobs.by_turn(turn)
        if job is None or job.status is not Status.REVIEW:
            return None
        return self._withdraw(job, error, author)

    def _withdraw(self, job: Job, error: Refused, author: Author) -> dict[str, Any]:
        shape = {**error.as_dict(), "rerun_required": True}
        self.store.events.append(job.id, "conflict.found", **error.details)
        data = {"error": error.code, "reason": error.message}
        self.store.move(job.id, Status.FAILED, "job.failed", data, error=shape)
        with self.environment.guard:
            left = job_review.pending_hunks(self.environment.workspace, job.turn or 0)
            try:
                self.environment.workspace.reject(left, author=author, turn=job.turn)
            except Refused:  # a later turn was made of its words, and goes with them
                self.environment.workspace.reject(left, author=author)
        again = self.rerun(job.id) if job.reruns < self.environment.limits.reruns else None
        return {"status": "conflict", "error": shape, "rerun_job_id": None if again is None else again.id}

    def _is_awaiting_review(self, job: Job) -> bool:
        """Whether any of its changes can be decided. A completed job counts again once a decision is undone."""
        if job.status is not Status.COMPLETED or job.turn is None:
            return job.status is Status.REVIEW
        with self.environment.guard:
            return bool(job_review.pending_hunks(self.environment.workspace, job.turn))

    def _complete_after_decisions(self, job: Job) -> Job:
        """Complete a job once all of its hunks are decided, on whichever surface."""
        if job.status is not Status.REVIEW or job.turn is None:
            return job
        with self.environment.guard:
            left = job_review.pending_hunks(self.environment.workspace, job.turn)
        return job if left else self._complete(job)

    def _complete(self, job: Job) -> Job:
        try:
            return self.store.move(job.id, Status.COMPLETED, "job.completed", {"turn": job.turn})
        except Refused:
            return self.store.jobs.get(job.id)  # another process completed it first

    def _on_workspace_event(self, event: Event) -> None:
        """Add what happens to a job's turn to the job's events. Called by whoever changed the turn; they hold the
        guard."""
        if event.type.startswith("checkpoint.rollback."):
            job = self.store.jobs.by_turn(int(event.data["checkpoint_id"]))
            if job is not None:
                self.store.events.append(job.id, event.type, **event.data)
        elif event.type == "review.updated":
            for job in self.store.jobs.with_status([Status.REVIEW]):
                left = {} if job.turn is None else job_review.pending_hunks(self.environment.workspace, job.turn)
                hunks = sum(map(len, left.values()))
                self.store.events.append(job.id, "review.updated", paths=event.data["paths"], left=hunks)
                if not left:
                    self._complete(job)
