"""What the person has to agree to before a job does it: its cost, what it destroys, how much it changes.

Each thing is asked once: what the person agreed to before the job began is not asked again later. The job's recorded
steps say what was asked, so replaying a job asks nothing twice.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from redraft.agent.run.budget import Estimate, subagent_tokens, tokens_ahead, usual_tokens
from redraft.agent.run.tool_calls import ConsentRequest
from redraft.agent.store.jobs import NO_ANSWER, JobQuestion, Status
from redraft.agent.store.steps import key_of
from redraft.errors import Refused
from redraft.workspace.turns.modes import describe_action

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.agent.environment import AgentEnvironment
    from redraft.agent.run.budget import JobBudget
    from redraft.agent.run.tool_calls import ToolRunner
    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.store.jobs import Job
    from redraft.agent.store.steps import JobSteps
    from redraft.errors import ConfirmationRequired
    from redraft.providers.contract import CancelToken, Message, Provider, ToolCall


class ConsentDenied(Refused):
    """The person said no to what the job wanted to do."""

    default_code = "cancelled"


class JobStopped(Refused):
    """The person stopped the job; what it did so far waits somewhere."""

    default_code = "cancelled"


class Approvals:
    """The consents of one job. Each method raises `ConsentDenied` if the person does not agree."""

    def __init__(
        self,
        environment: AgentEnvironment,
        job: Job,
        provider: Provider,
        caller: ToolRunner,
        steps: JobSteps,
        questions: JobQuestions,
        tell: Callable[..., None],
    ) -> None:
        self._environment = environment
        self._job = job
        self._provider = provider
        self._tool_runner = caller
        self._steps = steps
        self._questions = questions
        self._tell = tell
        self._agreed_ahead = 0

    async def ask_to_begin(self, messages: list[Message]) -> None:
        """Ask about the usual cost of the conversation, and of subagents if the request is about a long document."""
        ahead = 0
        if not self._steps.replaying:
            with self._environment.guard:
                ahead = tokens_ahead(self._job, self._tool_runner, self._environment.settings.limits)
        await self._ask_for_cost(usual_tokens(messages) + ahead, ahead)

    async def ask_for_subagents(self, calls: Sequence[ToolCall]) -> None:
        """Ask about what subagents will read for these calls, unless it was agreed to at the start."""
        with self._environment.guard:
            tokens = subagent_tokens(calls, self._tool_runner, self._environment.settings.limits)
        known = min(tokens, self._agreed_ahead)
        self._agreed_ahead -= known
        if tokens > known or self._steps.replaying:
            await self._ask_for_cost(tokens - known)

    async def _ask_for_cost(self, tokens: int, ahead: int = 0) -> None:
        """Ask if the cost is worth a question. `ahead` of the tokens are for calls that are only a guess so far."""
        price = self._environment.store.usage.price_of_a_token(self._provider.provider_name, self._provider.model)
        estimate = Estimate.of(tokens, price)
        words = estimate.describe(ahead)
        recorded = self._steps.take("note", "estimate")
        if recorded is not None:
            words, ahead = recorded.value
        elif self._steps.replaying or not estimate.exceeds(self._environment.limits):
            return
        else:
            self._steps.record("note", "estimate", [words, ahead])
        self._tell("estimate.made", tokens=tokens, usd=None if estimate.usd is None else str(estimate.usd))
        if not await self._questions.confirm_cost(f"This will take {words}. Continue?"):
            raise ConsentDenied("The person did not agree to the cost.")
        self._agreed_ahead += ahead

    async def ask_for_actions(self, wanted: Sequence[ConsentRequest]) -> None:
        """Ask about everything in a step that needs consent: one question, with every path."""
        if wanted:
            await self._ask_for(wanted)

    async def ask_for_turn(self, error: ConfirmationRequired) -> None:
        """Ask about what the turn as a whole would do."""
        paths = tuple(str(path) for path in error.details["paths"])
        await self._ask_for([ConsentRequest("", str(error.details["action"]), paths)])

    async def _ask_for(self, wanted: Sequence[ConsentRequest]) -> None:
        paths = tuple(dict.fromkeys(path for each in wanted for path in each.paths))
        action = " and ".join(dict.fromkeys(each.action for each in wanted))
        what = wanted[0].what if len(wanted) == 1 and not wanted[0].tool else action
        tool = wanted[0].tool if len({each.tool for each in wanted}) == 1 else ""
        if not await self._questions.confirm(f"The agent wants to {_describe(wanted)}.", action, paths, tool):
            raise ConsentDenied("The person cancelled the action.", action=what, paths=list(paths))
        self._tool_runner.consent.granted.update(wanted)


def _describe(wanted: Sequence[ConsentRequest]) -> str:
    """The question to the person, in their words. Documents with the same action are listed together."""
    paths: dict[str, list[str]] = {}
    for each in wanted:
        if len(each.paths) == 1 and each.paths[0] in each.what:
            alone = each.what == f"{each.action} {each.paths[0]}"
            paths.setdefault(each.action if alone else each.what, []).extend(each.paths if alone else ())
        else:
            paths.setdefault(f"{each.what}:", []).extend(each.paths)
    acts = (f"{act} {', '.join(dict.fromkeys(named))}" if named else act for act, named in paths.items())
    return " and ".join(map(describe_action, acts))


# A job that waits for the person: one question at a time, for as long as it takes, across restarts.
#
# Both the question and the reply are stored with the job, whoever brings the reply: another thread, another process,
# or the same program after a restart. A waiting job costs nothing but a look at the store twice a second.


LOOK_SECONDS = 0.5
EVENTS = {"clarification": "clarification", "confirmation": "confirmation", "estimate": "confirmation"}


class JobQuestions:
    """The questions of one job."""

    def __init__(self, store: AgentStore, job_id: str, steps: JobSteps, cancel: CancelToken, budget: JobBudget) -> None:
        self._store = store
        self._job_id = job_id
        self._steps = steps
        self._cancel = cancel
        self._budget = budget
        self._asked = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wakeup = asyncio.Event()

    def wake(self) -> None:
        """Something was stored that this job may be waiting for. Called from any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wakeup.set)

    async def clarify(self, text: str) -> str:
        """The person's answer; `no_user_answer` if they leave it to the agent."""
        reply = await self._ask(JobQuestion(self._next_id(), "clarification", text))
        return str(reply.get("answer") or NO_ANSWER)

    async def confirm(self, text: str, action: str, paths: tuple[str, ...], tool: str = "") -> bool:
        """Whether the person agrees to an action on these paths."""
        question = JobQuestion(self._next_id(), "confirmation", text, action, tool, paths)
        return (await self._ask(question)).get("allow") is True

    async def ask_permission(self, text: str, action: str, paths: tuple[str, ...], tool: str) -> dict[str, Any]:
        """The reply to an agent program that asks before a call: `allow`, and `for_job` where it need not ask again."""
        return await self._ask(JobQuestion(self._next_id(), "confirmation", text, action, tool, paths))

    async def confirm_cost(self, text: str) -> bool:
        return (await self._ask(JobQuestion(self._next_id(), "estimate", text, "spend"))).get("allow") is True

    def _next_id(self) -> str:
        self._asked += 1
        return f"q_{self._asked}"

    async def _ask(self, question: JobQuestion) -> dict[str, Any]:
        key = key_of([question.kind, question.text, question.action, question.paths])
        recorded = self._steps.play("answer", key)
        if recorded is not None:
            return recorded.value
        started = time.monotonic()
        self._post(question)
        reply = await self._cancel.run(self._wait_for_reply(question.id))
        self._budget.exclude_wait(time.monotonic() - started)
        self._steps.record("answer", key, reply)
        data = {"question_id": question.id, **{name: reply[name] for name in ("answer", "allow") if name in reply}}
        event = f"{EVENTS[question.kind]}.received"
        self._store.move(self._job_id, Status.RUNNING, event, data, question=None, reply=None)
        return reply

    def _post(self, question: JobQuestion) -> None:
        """Ask, unless this same question was asked before the program stopped; its reply may be there already."""
        job = self._store.jobs.get(self._job_id)
        if job.question == question:
            self._store.jobs.move(self._job_id, Status.WAITING)
            return
        data: dict[str, Any] = {"question_id": question.id, "question": question.text, "kind": question.kind}
        if question.paths or question.tool:
            data |= {"action": question.action, "tool": question.tool, "paths": list(question.paths)}
        event = f"{EVENTS[question.kind]}.requested"
        self._store.move(self._job_id, Status.WAITING, event, data, question=question, reply=None)

    async def _wait_for_reply(self, question_id: str) -> dict[str, Any]:
        self._loop = asyncio.get_running_loop()
        while True:
            self._wakeup.clear()
            reply = self._store.jobs.get(self._job_id).reply
            if reply is not None and reply.get("question_id") == question_id:
                return reply
            try:
                await asyncio.wait_for(self._wakeup.wait(), LOOK_SECONDS)
            except TimeoutError:
                continue
