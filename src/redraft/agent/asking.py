"""A job that waits for the person: one question at a time, for as long as it takes, through restarts.

The question is stored with the job and so is the reply, whoever brings it: another thread, another process, or the same
program started again. A job that waits costs nothing but a look at the store twice a second.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from redraft.agent.jobs import NO_ANSWER, Question, Status
from redraft.agent.steps import key_of

if TYPE_CHECKING:
    from redraft.agent.budget import Budget
    from redraft.agent.steps import Tape
    from redraft.agent.store import AgentStore
    from redraft.providers.contract import Cancel

LOOK_SECONDS = 0.5
EVENTS = {"clarification": "clarification", "confirmation": "confirmation", "estimate": "confirmation"}


class Asking:
    """The questions of one job."""

    def __init__(self, store: AgentStore, job_id: str, tape: Tape, cancel: Cancel, budget: Budget) -> None:
        self._store = store
        self._job_id = job_id
        self._tape = tape
        self._cancel = cancel
        self._budget = budget
        self._asked = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._knock = asyncio.Event()

    def knock(self) -> None:
        """Something was stored that this job may be waiting for. Called from any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._knock.set)

    async def clarify(self, text: str) -> str:
        """The person's answer; `no_user_answer` where they leave it to the agent."""
        reply = await self._ask(Question(self._next_id(), "clarification", text))
        return str(reply.get("answer") or NO_ANSWER)

    async def agree(self, text: str, action: str, paths: tuple[str, ...], tool: str = "") -> bool:
        """Whether the person agrees to an act on these paths."""
        question = Question(self._next_id(), "confirmation", text, action, tool, paths)
        return (await self._ask(question)).get("allow") is True

    async def agree_to_cost(self, text: str) -> bool:
        return (await self._ask(Question(self._next_id(), "estimate", text, "spend"))).get("allow") is True

    def _next_id(self) -> str:
        self._asked += 1
        return f"q_{self._asked}"

    async def _ask(self, question: Question) -> dict[str, Any]:
        key = key_of([question.kind, question.text, question.action, question.paths])
        recorded = self._tape.play("answer", key)
        if recorded is not None:
            return recorded.value
        begun = time.monotonic()
        self._put(question)
        reply = await self._cancel.run(self._reply(question.id))
        self._budget.waited(time.monotonic() - begun)
        self._tape.record("answer", key, reply)
        told = {"question_id": question.id, **{name: reply[name] for name in ("answer", "allow") if name in reply}}
        event = f"{EVENTS[question.kind]}.received"
        self._store.move(self._job_id, Status.RUNNING, event, told, question=None, reply=None)
        return reply

    def _put(self, question: Question) -> None:
        """Ask, unless the very question was asked before the program was stopped; its reply may be there already."""
        standing = self._store.jobs.get(self._job_id)
        if standing.question == question:
            self._store.jobs.move(self._job_id, Status.WAITING)
            return
        told: dict[str, Any] = {"question_id": question.id, "question": question.text, "kind": question.kind}
        if question.paths:
            told |= {"action": question.action, "tool": question.tool, "paths": list(question.paths)}
        event = f"{EVENTS[question.kind]}.requested"
        self._store.move(self._job_id, Status.WAITING, event, told, question=question, reply=None)

    async def _reply(self, question_id: str) -> dict[str, Any]:
        self._loop = asyncio.get_running_loop()
        while True:
            self._knock.clear()
            reply = self._store.jobs.get(self._job_id).reply
            if reply is not None and reply.get("question_id") == question_id:
                return reply
            try:
                await asyncio.wait_for(self._knock.wait(), LOOK_SECONDS)
            except TimeoutError:
                continue
