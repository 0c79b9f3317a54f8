"""One job of another agent program, from the prompt to the turn of all that it did.

Whatever happens to the program, nothing of its work is lost and nothing is taken unseen: if it dies, fails or runs out
of time, what it did awaits review, marked as unfinished; if the person stops it, or Redraft itself stops, it waits in
the view.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.agent.hosted.agent_connection import AgentConnection, AgentFailed
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

MOST_SAID = 100_000
MOST_TITLE = 200
MOST_LEFT = 10
LOOK_SECONDS = 0.5
INTERRUPTED = "interrupted"


class HostedResult(NamedTuple):
    """The turn of what a program did (None: nothing became one), and what it said."""

    turn: TurnRecord | None
    text: str


class HostedJob:
    """`is_left` tells whether this process is stopping, rather than the job."""

    def __init__(
        self, environment: AgentEnvironment, job: Job, mode: Mode, cancel: CancelToken, is_left: Callable[[], bool]
    ) -> None:
        self._environment = environment
        self._job = job
        self._mode: Mode = apply_rules(mode, environment.rules.all(), lambda: job.agent)
        self._cancel = cancel
        self._is_left = is_left
        if job.view:  # what was asked before the interruption was for the program, which is gone
            environment.store.steps.forget(job.id)
        self._budget = JobBudget.of(environment.limits, job.tool_config)
        steps = JobSteps(environment.store.steps, job.id)
        self.questions = JobQuestions(environment.store, job.id, steps, cancel, self._budget)
        self._asking = asyncio.Lock()
        self._said: list[str] = []
        self._length = 0

    @property
    def _author(self) -> Author:
        author, person = agent_author(self._job.agent), self._job.asked_by
        return author if person == PERSON.name else Author(author.kind, f"{author.name} for {person}")

    async def run(self) -> HostedResult:
        """Do the job; or, if it was interrupted, bring back what was done of it."""
        if self._job.view:
            return await self._finish_interrupted()
        view = self._open_view()
        with view.hold():
            self._environment.store.jobs.update(self._job.id, view=view.record.id)
            try:
                await self._cancel.run(self._converse(view))
            except RedraftError as error:
                return await self._finish_failed(view, error)
            view.record.unfinished = ""
            return await self._finish(view)

    def _open_view(self) -> PrivateView:
        environment, job = self._environment, self._job
        entry, workspace = environment.programs.find(job.agent), environment.workspace
        places = environment.programs.places(job.agent, entry.writable)
        with environment.guard:
            workspace.private_views.sweep()
            return workspace.private_views.open(
                workspace.folder, job.agent, entry.command, title=title_of(job), confined=True, writable=places
            )

    async def _converse(self, view: PrivateView) -> None:
        programs = self._environment.programs
        command = programs.find(self._job.agent).command
        variables = programs.variables(view.temporary_folder, view.path)
        async with (
            self._limit_program(view),
            AgentConnection.open(self._job.agent, view, command, variables, _JobClient(self)) as connection,  # pyright: ignore[reportArgumentType]
        ):
            _, session_id = await connection.begin(view.path)
            await connection.prompt(session_id, self._job.instruction)

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
        text = "".join(self._said)
        if text:
            self._environment.store.events.append(self._job.id, "assistant.message", text=text[:MOST_TITLE])
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

    async def _finish_interrupted(self) -> HostedResult:
        name = self._job.agent
        try:
            view = self._environment.workspace.private_views.find(self._job.view)
        except Refused as error:
            raise AgentFailed(f"{name} was interrupted, and its work is lost.") from error
        error = AgentFailed(f"{name} was interrupted when Redraft stopped.")
        with view.hold():
            return await self._finish_failed(view, error)

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

    # What the program says and asks

    def hear(self, update: Any) -> None:
        """Report what the program says and does."""
        events, job = self._environment.store.events, self._job
        kind = update.session_update
        if kind == "agent_message_chunk" and update.content.type == "text":
            text = update.content.text[: MOST_SAID - self._length]
            self._length += len(text)
            self._said.append(text)
            events.send_delta(job.id, job.cursor, text)
        elif kind == "tool_call":
            title = update.title[:MOST_TITLE]
            events.append(job.id, "tool.call.requested", tool=title, tool_call_id=update.tool_call_id, arguments={})

    async def allows(self, what: str) -> bool:
        """Whether the person lets the program do something."""
        async with self._asking:
            return await self.questions.confirm(f"{self._job.agent} wants to: {what}", what, (), self._job.agent)


class _JobClient:
    """What the program may ask of us: permission."""

    def __init__(self, job: HostedJob) -> None:
        self._job = job

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        self._job.hear(update)

    async def request_permission(
        self,
        session_id: str,
        tool_call: Any,
        options: Any,
        **_more: Any,
    ) -> dict[str, Any]:
        try:
            allow = await self._job.allows(str(tool_call.title or tool_call.kind or "go on")[:MOST_TITLE])
        except RedraftError:  # the job is being stopped
            return {"outcome": {"outcome": "cancelled"}}
        kinds = ("allow_once", "allow_always") if allow else ("reject_once", "reject_always")
        chosen = next((each.option_id for kind in kinds for each in options if each.kind == kind), None)
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}
