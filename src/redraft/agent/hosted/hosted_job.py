"""One job of another agent program, from the prompt to the turn of all that it did.

Whatever happens to the program, nothing of its work is lost and nothing is taken unseen: if it dies, fails or runs out
of time, what it did awaits review, marked as unfinished; if the person stops it, or Redraft itself stops, it waits in
the view.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, NamedTuple

from acp.schema import EnvVariable, McpServerStdio

from redraft.agent.hosted.agent_connection import AgentConnection, AgentFailed
from redraft.agent.hosted.agent_programs import KnownPrograms
from redraft.agent.hosted.agent_requests import AgentRequests
from redraft.agent.hosted.agent_updates import AgentUpdates, describe_offer
from redraft.agent.memory.permissions import apply_rules
from redraft.agent.run.approvals import ConsentDenied, JobQuestions, JobStopped
from redraft.agent.run.budget import JobBudget
from redraft.agent.run.tool_selection import title_of
from redraft.agent.store.steps import JobSteps
from redraft.errors import ConfirmationRequired, RedraftError, Refused
from redraft.history.turns import PERSON, Author, agent_author
from redraft.workspace.turns.modes import MODES, WriteTime

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from redraft.agent.environment import AgentEnvironment
    from redraft.agent.store.jobs import Job
    from redraft.files.views.private_view import PrivateView
    from redraft.history.turns import TurnRecord
    from redraft.providers.contract import CancelToken
    from redraft.workspace.private_views import ViewOutcome
    from redraft.workspace.turns.modes import Mode

MOST_LEFT = 10
GO_ON = "You were interrupted while you worked on this. Look at what is done already, and do the rest:"
# A view has these for itself: what is installed there is not found in it.
TEMPORARY = ("/tmp/", "/var/tmp/")  # noqa: S108
LOOK_SECONDS = 0.5
INTERRUPTED = "interrupted"


class HostedResult(NamedTuple):
    """The turn of what a program did (None: nothing became one), and what it said."""

    turn: TurnRecord | None
    text: str


class HostedJob:
    """`is_left` tells whether this process is stopping, rather than the job."""

    def __init__(
        self,
        environment: AgentEnvironment,
        job: Job,
        mode: Mode,
        cancel: CancelToken,
        is_left: Callable[[], bool],
        *,
        has_tools: bool,
    ) -> None:
        self._environment = environment
        self._job = job
        self._mode: Mode = apply_rules(mode, environment.rules.all(), lambda: job.agent)
        self._cancel = cancel
        self._is_left = is_left
        self._has_tools = has_tools
        if job.view:  # what was asked before the interruption was for the program, which is gone
            environment.store.steps.forget(job.id)
        self._budget = JobBudget.of(environment.limits, job.tool_config)
        steps = JobSteps(environment.store.steps, job.id)
        self.questions = JobQuestions(environment.store, job.id, steps, cancel, self._budget)
        self._updates = AgentUpdates(environment.store.events, job, environment.workspace.folder)

    @property
    def _author(self) -> Author:
        author, person = agent_author(self._job.agent), self._job.asked_by
        return author if person == PERSON.name else Author(author.kind, f"{author.name} for {person}")

    async def run(self) -> HostedResult:
        """Do the job; or, if it was interrupted, go on where the program can, and bring back what was done of it."""
        view = self._find_view() if self._job.view else self._open_view()
        interrupted = bool(self._job.view)
        with view.hold():
            self._environment.store.jobs.update(self._job.id, view=view.record.id)
            try:
                await self._cancel.run(self._converse(view, interrupted=interrupted))
            except RedraftError as error:
                return await self._finish_failed(view, error)
            view.record.unfinished = ""
            return await self._finish(view)

    def _find_view(self) -> PrivateView:
        try:
            return self._environment.workspace.private_views.find(self._job.view)
        except Refused as error:
            raise AgentFailed(f"{self._job.agent} was interrupted, and its work is lost.") from error

    def _open_view(self) -> PrivateView:
        environment, job = self._environment, self._job
        entry, workspace = environment.programs.find(job.agent), environment.workspace
        places = environment.programs.places(job.agent, entry.writable)
        with environment.guard:
            workspace.private_views.sweep()
            return workspace.private_views.open(
                workspace.folder, job.agent, entry.command, title=title_of(job), confined=True, writable=places
            )

    async def _converse(self, view: PrivateView, *, interrupted: bool) -> None:
        job, programs = self._job, self._environment.programs
        known = job.agent_session or ("" if interrupted else self._last_session())
        if interrupted and not known:
            raise self._interrupted()
        command = programs.find(job.agent).command
        variables = programs.variables(view.temporary_folder, view.path)
        self._updates = AgentUpdates(self._environment.store.events, job, view.path)
        requests = AgentRequests(job.agent, self._environment.rules, self.questions, lambda: self._updates)
        async with (
            self._limit_program(view),
            AgentConnection.open(job.agent, view, command, variables, requests) as connection,  # pyright: ignore[reportArgumentType]
        ):
            session = await connection.begin(view.path, known, job.agent_options, self._servers(view))
            if interrupted and not session.resumed:
                raise self._interrupted()
            self._environment.store.jobs.update(job.id, agent_session=session.id)
            offered = describe_offer(session.modes, session.options)
            self._updates.begin(session.version, interrupted, offered)
            words = f"{GO_ON}\n\n{job.instruction}" if interrupted else job.instruction
            answer = await connection.prompt(session.id, words)
            self._updates.end(answer.usage)
            offers = KnownPrograms(self._environment.store.state)
            offers.remember(job.agent, {**offered, "commands": self._updates.commands})

    def _interrupted(self) -> AgentFailed:
        return AgentFailed(f"{self._job.agent} was interrupted when Redraft stopped, and cannot go on by itself.")

    def _last_session(self) -> str:
        """The program's session of the last request in this chat, with which it can go on."""
        jobs = self._environment.store.jobs.of_session(self._job.session_id)
        return next(
            (job.agent_session for job in reversed(jobs) if job.agent == self._job.agent and job.agent_session), ""
        )

    def _servers(self, view: PrivateView) -> list[McpServerStdio]:
        """Redraft's own tools, in the view: what they change there is part of the turn like everything else."""
        program = sys.executable
        own_tmp = view.record.confinement == "namespace"
        if not self._has_tools or (own_tmp and any(place.startswith(TEMPORARY) for place in (program, __file__))):
            return []
        state = EnvVariable(name="XDG_STATE_HOME", value=f"{view.temporary_folder}/redraft")
        words = ["-m", "redraft", "mcp", view.path, "--mode", "apply"]
        return [McpServerStdio(name="redraft", command=program, args=words, env=[state])]

    @contextlib.asynccontextmanager
    async def _limit_program(self, view: PrivateView) -> AsyncGenerator[None]:
        """End the conversation if the program takes longer or writes more than it may."""
        most, reason = self._environment.settings.run.bytes, ""
        task = asyncio.current_task()

        async def watch() -> None:
            nonlocal reason
            while not reason:
                await asyncio.sleep(LOOK_SECONDS)
                if self._budget.spent == "seconds":
                    reason = f"was still working after {self._budget.seconds} seconds."
                elif await asyncio.to_thread(view.count_written_bytes) > most:
                    reason = f"wrote more than {most} bytes."
            if task is not None:
                task.cancel()

        watching = asyncio.ensure_future(watch())
        try:
            yield
        except asyncio.CancelledError:
            if not reason:
                raise
            raise AgentFailed(f"{self._job.agent} {reason}") from None
        finally:
            watching.cancel()

    # The end

    async def _finish(self, view: PrivateView) -> HostedResult:
        text = self._updates.text
        if self._mode.writes is WriteTime.NEVER:
            view.close()  # it may only read, so what it wrote goes nowhere
            return HostedResult(None, text)
        view.save()
        found = await self._bring_back(view)
        if found.is_complete:
            view.close()
        notes = [f"Left out: {path}: {reason}" for path, reason in found.left[:MOST_LEFT]]
        if not found.is_complete:
            notes.append(f"What was left out waits in the view {view.record.id}.")
        record = None if found.outcome is None else found.outcome.turn
        return HostedResult(record, "\n\n".join(filter(None, [text, "\n".join(notes)])))

    async def _finish_failed(self, view: PrivateView, error: RedraftError) -> HostedResult:
        if self._cancel.is_set:
            raise self._stop(view, error) from error
        view.record.unfinished = error.message
        self._mode = self._mode.narrow(MODES["propose"])
        result = await self._finish(view)
        if result.turn is None:
            raise error
        return HostedResult(result.turn, "\n\n".join(filter(None, [result.text, f"Unfinished: {error.message}"])))

    def _stop(self, view: PrivateView, error: RedraftError) -> RedraftError:
        """What to raise when the job is to stop; the view stays if anything is in it."""
        view.record.unfinished = INTERRUPTED if self._is_left() else "stopped by you"
        view.save()
        if self._is_left():
            return error
        name, changes = self._job.agent, view.changes()[0]
        if not changes:
            view.close()
            return JobStopped(f"I stopped {name}, as you asked. Nothing was changed.")
        found = f"{len(changes)} changed file{'s' * (len(changes) > 1)}"
        return JobStopped(
            f"I stopped {name}, as you asked. Nothing was changed; what it did waits ({found}): "
            f"redraft views take {view.record.id}",
            view=view.record.id,
        )

    async def _bring_back(self, view: PrivateView) -> ViewOutcome:
        views = self._environment.workspace.private_views
        agreed = False

        def confirm(_what: str, _paths: list[str]) -> bool:
            return agreed

        while True:
            try:
                with self._environment.guard:
                    return views.bring_back(view, self._author, confirm=confirm, mode=self._mode, token=self._job.token)
            except ConfirmationRequired as error:
                paths = tuple(str(path) for path in error.details["paths"])
                action = str(error.details["action"])
                if agreed or not await self.questions.confirm(
                    f"{self._job.agent} wants to {action}.", action, paths, self._job.agent
                ):
                    raise ConsentDenied(
                        f"Nothing was changed. What {self._job.agent} did waits: redraft views take {view.record.id}",
                        paths=list(paths),
                    ) from error
                agreed = True
