"""One prompt: a job of the folder's agent, shown to the editor while it runs.

The job runs in a thread of its own and reports events. Each becomes an update on the event loop, in order; what the
person has to be asked is asked through the editor beside that. The prompt is answered when the job has ended, waits for
review, or asks a question that the editor has no form for: then the next prompt is its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from acp.exceptions import RequestError
from acp.helpers import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_tool_call,
)
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    Cost,
    DeniedOutcome,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

from redraft.acp_server.tool_calls import ToolCallView, kind_of, list_changed_texts, locations_of, parse_preview
from redraft.agent.memory.permissions import rules_to_allow
from redraft.agent.store.jobs import BUSY, NO_ANSWER, Status
from redraft.errors import RedraftError
from redraft.runtime import models

if TYPE_CHECKING:
    from acp.interfaces import Client
    from acp.schema import ClientCapabilities, StopReason

    from redraft.acp_server.client_session import ClientSession
    from redraft.acp_server.prompt import PromptInput
    from redraft.acp_server.tool_calls import TextChange
    from redraft.agent.store.events import JobEvent
    from redraft.agent.store.jobs import Job, JobQuestion

LOOK_SECONDS = 1.0
ENDS = ("job.completed", "job.failed", "job.cancelled")
OFFLINE_NOTE = "No model is set up, so Redraft's offline assistant answers. `redraft models` says how to add one."
# Which limit a job that was stopped by one ran into, in the protocol's words; the others count requests.
TOKEN_LIMITS = ("tokens", "cents")


class PromptRun:
    """One prompt of a session, from its request to its answer. Used on the event loop."""

    def __init__(self, session: ClientSession, client: Client, abilities: ClientCapabilities) -> None:
        self._session = session
        self._agent = session.folder.agent
        self._client = client
        self._abilities = abilities
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[JobEvent, Any]] = asyncio.Queue()
        self._own_jobs: dict[str, bool] = {}
        self._staged: dict[Any, Any] = {}
        self._asking: asyncio.Task[None] | None = None
        self._job_id = ""
        self._said = ""
        self._spent = ""
        self._cancelled = self._denied = self._left_open = False

    async def run(self, request: PromptInput) -> PromptResponse:
        end = self._agent.store.events.subscribe(self._hear)
        try:
            job = await asyncio.to_thread(self._begin, request)
            self._job_id = job.id
            if self._cancelled:
                await asyncio.to_thread(self._agent.cancel, job.id)
            await self._introduce(job)
            while await self._follow():
                pass
            return await self._answer()
        finally:
            end()
            if self._asking is not None:
                self._asking.cancel()

    async def cancel(self) -> None:
        self._cancelled = True
        if self._job_id:
            await asyncio.to_thread(self._agent.cancel, self._job_id)

    # The job

    def _begin(self, request: PromptInput) -> Job:
        """Start a job, or answer the one that asked a question. One whose program ended is given up."""
        agent, session = self._agent, self._session
        jobs = agent.store.jobs.of_session(session.id)
        waiting = next((job for job in jobs if job.status in BUSY), None)
        if waiting is not None and (agent.is_running_here(waiting.id) or not agent.store.is_running(waiting.id)):
            question = waiting.question
            if question is not None and question.kind == "clarification":
                return agent.answer(waiting.id, question.id, request.instruction)
            agent.cancel(waiting.id)
            agent.wait(waiting.id)
        return agent.start(
            session.id,
            request.instruction,
            context_rows=request.rows,
            mode=session.mode,
            model=session.model,
            document=next(iter(request.documents), ""),
        )

    def _hear(self, event: JobEvent) -> None:
        """Called in the job's thread, while its turn is at rest: what the event needs of it is taken now."""
        if not self._is_own(event.job_id):
            return
        run, extra = self._agent.run_of(event.job_id), None
        if run is not None:
            if event.type == "tool.call.requested":
                self._staged = dict(run.turn.staged)
            elif event.type == "tool.call.completed":
                extra = list_changed_texts(self._staged, run.turn.staged)
            elif event.type == "confirmation.requested":
                extra = list_changed_texts(*run.tool_runner.rehearsed) if event.data.get("tool") else []
            elif event.type == "step.completed":
                extra = run.provider.context_tokens
        with contextlib.suppress(RuntimeError):  # the program is ending
            self._loop.call_soon_threadsafe(self._events.put_nowait, (event, extra))

    def _is_own(self, job_id: str) -> bool:
        if job_id not in self._own_jobs:
            self._own_jobs[job_id] = self._agent.store.jobs.get(job_id).session_id == self._session.id
        return self._own_jobs[job_id]

    async def _follow(self) -> bool:
        """Show what the job does until it has nothing more to show; then whether another runs in its place."""
        while not self._left_open:
            try:
                event, extra = await asyncio.wait_for(self._events.get(), LOOK_SECONDS)
            except TimeoutError:
                if not self._agent.is_running_here(self._job_id):
                    break
                continue
            await self._show(event, extra)
            if event.job_id == self._job_id and await self._is_over(event):
                break
        if self._left_open:
            return False
        await asyncio.to_thread(self._agent.wait, self._job_id)
        again = await asyncio.to_thread(self._agent.successor, self._job_id)
        if again is not None:
            self._job_id = again.id
        return again is not None

    async def _is_over(self, event: JobEvent) -> bool:
        if event.type == "diff.generated":
            return (await self._job()).status is Status.REVIEW
        return event.type in ENDS

    async def _job(self) -> Job:
        return await asyncio.to_thread(self._agent.store.jobs.get, self._job_id)

    # What is shown

    async def _show(self, event: JobEvent, extra: Any) -> None:
        data = event.data
        match event.type:
            case "assistant.delta":
                self._said += data["text"]
                await self._say(data["text"])
            case "assistant.thought":
                await self._think(data["text"])
            case "step.started":
                self._said = ""
            case "step.completed":
                await self._tell_usage(data, extra)
            case "tool.call.requested":
                await self._start_call(event.job_id, data)
            case "tool.call.completed":
                await self._end_call(data, extra or [])
            case "confirmation.requested" | "clarification.requested":
                await self._ask(event, extra or [])
            case "documents.changed" | "conflict.found":
                await self._think(
                    f"Changed in the meantime: {', '.join(data.get('paths') or [data.get('path', '')])}\n"
                )
            case "budget.exhausted":
                self._spent = data["what"]
            case _:
                pass

    async def _say(self, text: str) -> None:
        await self._client.session_update(self._session.id, update_agent_message_text(text))

    async def _think(self, text: str) -> None:
        await self._client.session_update(self._session.id, update_agent_thought_text(text))

    async def _start_call(self, job_id: str, data: dict[str, Any]) -> None:
        call_id, arguments = data["tool_call_id"], parse_preview(data["arguments"])
        view = self._session.calls[call_id] = ToolCallView(
            self._session.folder.path, job_id, call_id, data["tool"], arguments
        )
        await self._client.session_update(self._session.id, view.start())

    async def _end_call(self, data: dict[str, Any], changes: list[TextChange]) -> None:
        view = self._session.calls.pop(data["tool_call_id"], None)
        if view is not None:
            status = "completed" if data["ok"] else "failed"
            update = view.end(status, parse_preview(data["result"]), changes)
            await self._client.session_update(self._session.id, update)

    async def _tell_usage(self, data: dict[str, Any], size: int | None) -> None:
        used = data["usage"]["input_tokens"] + data["usage"]["output_tokens"]
        if not size or not used:
            return
        jobs = await asyncio.to_thread(self._agent.store.jobs.of_session, self._session.id)
        spent = [self._agent.store.usage.of_job(job.id) for job in jobs]
        price = sum(float(each.price_usd) for each in spent)
        cost = Cost(amount=price, currency="USD") if price else None
        update = UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)
        await self._client.session_update(self._session.id, update)

    async def _introduce(self, job: Job) -> None:
        """Say once in a session what the person should know of the folder, and that there is no model."""
        if self._session.is_introduced or job.ended:
            return
        self._session.is_introduced = True
        for notice in await asyncio.to_thread(lambda: self._session.folder.workspace.notices):
            await self._think(f"{notice}\n")
        if not job.model and not (await asyncio.to_thread(models)).default_names:
            await self._say(f"{OFFLINE_NOTE}\n\n")

    # What the person is asked

    async def _ask(self, event: JobEvent, changes: list[TextChange]) -> None:
        question = (await self._job()).question
        if question is None or question.id != event.data["question_id"]:
            return
        if question.kind != "clarification":
            self._asking = asyncio.create_task(self._ask_permission(question, changes))
        elif self._abilities.elicitation is not None and self._abilities.elicitation.form is not None:
            self._asking = asyncio.create_task(self._ask_form(question))
        else:
            await self._say(question.text)
            self._left_open = True

    async def _ask_permission(self, question: JobQuestion, changes: list[TextChange]) -> None:
        folder, session = self._session.folder.path, self._session.id
        call_id = f"{self._job_id}-{question.id}"
        content = [change.as_content(folder) for change in changes] or [tool_content(text_block(question.text))]
        call = start_tool_call(
            call_id,
            question.text,
            kind=kind_of(question.action.partition(" ")[0]),
            status="pending",
            content=content,
            locations=locations_of(folder, question.paths),
        )
        await self._client.session_update(session, call)
        outcome = await self._choose(call.tool_call_id, question, content)
        allow = isinstance(outcome, AllowedOutcome) and outcome.option_id in ("allow", "always")
        done = update_tool_call(call_id, status="completed" if allow else "failed")
        await self._client.session_update(session, done)
        if isinstance(outcome, DeniedOutcome):
            await self.cancel()
            return
        if outcome is not None and outcome.option_id == "always":
            for rule in rules_to_allow(question.tool or question.action, question.paths):
                await asyncio.to_thread(self._agent.environment.rules.remember, rule)
        self._denied = not allow
        await self._reply(lambda: self._agent.confirm(self._job_id, question.id, allow=allow))

    async def _choose(
        self, call_id: str, question: JobQuestion, content: list[Any]
    ) -> AllowedOutcome | DeniedOutcome | None:
        """What the person chose; None if the editor could not ask them."""
        options = [PermissionOption(option_id="allow", name="Allow", kind="allow_once")]
        if question.paths and question.action:
            name = "Always allow this for these documents"
            options.append(PermissionOption(option_id="always", name=name, kind="allow_always"))
        options.append(PermissionOption(option_id="reject", name="Reject", kind="reject_once"))
        call = ToolCallUpdate(tool_call_id=call_id, title=question.text, status="pending", content=content)
        try:
            answer = await self._client.request_permission(session_id=self._session.id, tool_call=call, options=options)
        except RequestError:
            return None
        return answer.outcome

    async def _ask_form(self, question: JobQuestion) -> None:
        field = ElicitationStringPropertySchema(type="string", title="Your answer")
        schema = ElicitationSchema(properties={"answer": field}, required=["answer"])
        form = ElicitationFormSessionMode(session_id=self._session.id, requested_schema=schema)
        said = NO_ANSWER
        with contextlib.suppress(RequestError):
            answer = await self._client.create_elicitation(question.text, form)
            if isinstance(answer, AcceptElicitationResponse):
                said = str((answer.content or {}).get("answer") or NO_ANSWER)
        await self._reply(lambda: self._agent.answer(self._job_id, question.id, said))

    async def _reply(self, reply: Any) -> None:
        with contextlib.suppress(RedraftError):  # the job has ended meanwhile
            await asyncio.to_thread(reply)

    # The answer

    async def _answer(self) -> PromptResponse:
        job = await self._job()
        if job.status is Status.FAILED:
            error = job.error or {}
            raise RequestError(-32603, str(error.get("message", "The job failed.")), error)
        if job.status is Status.CANCELLED and not self._denied:
            return PromptResponse(stop_reason="cancelled", usage=await self._usage())
        if job.status is Status.CANCELLED:
            await self._say(str((job.error or {}).get("message", "")))
        elif not self._left_open:
            await self._say_rest(job)
        return PromptResponse(stop_reason=self._stop_reason(), usage=await self._usage())

    async def _say_rest(self, job: Job) -> None:
        """What the model's own words leave out: our summary, and what to do with the turn."""
        rest = job.answer.removeprefix(self._said) if job.answer != self._said else ""
        note = await asyncio.to_thread(closing_note, self._session, job)
        if rest:
            await self._say(rest)
        if note:
            await self._say(f"\n\n{note}" if job.answer else note)

    def _stop_reason(self) -> StopReason:
        if not self._spent:
            return "end_turn"
        return "max_tokens" if self._spent in TOKEN_LIMITS else "max_turn_requests"

    async def _usage(self) -> Usage | None:
        spent = await asyncio.to_thread(self._agent.store.usage.of_job, self._job_id)
        if not spent.tokens:
            return None
        return Usage(
            total_tokens=spent.tokens,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cached_read_tokens=spent.cached_tokens or None,
        )


def closing_note(session: ClientSession, job: Job) -> str:
    """What the person can do with a job's turn, in the terminal or in the app."""
    if job.turn is None:
        return ""

    def command(*words: str) -> str:
        return f"`{session.folder.command(*words, cwd=session.cwd)}`"

    if job.status is Status.REVIEW:
        return (
            f"Turn {job.turn} waits for your review, and nothing is written yet: {command('diff')} shows it, "
            f"{command('accept', '--turn', str(job.turn))} accepts it, {command('open')} lets you decide hunk by hunk."
        )
    note = f"Turn {job.turn} is written. {command('undo', str(job.turn))} undoes it."
    workspace = session.folder.workspace
    with session.folder.agent.environment.guard:
        paths = workspace.show(job.turn).paths
    unsaved = session.folder.buffers.find_unsaved(paths)
    if unsaved:
        note += f" Your editor has unsaved typing in {', '.join(unsaved)}; it is kept, there and in Redraft."
    return note
