"""The assistant that is there without any key or model: rules, and the same tools as any other.

It is stateless. Each step runs the script of the person's intent from its beginning over the results so far, up to the
first call that has none yet: that call is the step. The same conversation therefore gives the same step, a stopped job
goes on where it was, and nothing is kept. What stands in documents can change figures and quotations, never which
calls are made for whom: the instruction alone chooses the script.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from redraft.agent.offline.catalogue import INTENTS
from redraft.agent.offline.conversation import KEY, conversation_of
from redraft.agent.offline.helping import greeting, not_understood
from redraft.agent.offline.intents import Desk, Told
from redraft.agent.offline.understanding import said_nothing, understand
from redraft.agent.offline.wording import word_list
from redraft.providers.contract import Cancel, ProviderStepResult, StepDelta, StepRequest, ToolCall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from redraft.agent.offline.conversation import Conversation
    from redraft.agent.offline.intents import Call, Script
    from redraft.providers.contract import StreamItem

READS = frozenset(
    word_list(
        "list_tabs read_document get_outline search_document list_documents search_documents clarify_user list_turns "
        "get_changes_since"
    )
)


def today() -> date:
    return datetime.now(UTC).astimezone().date()


class OfflineProvider:
    """A provider that follows rules. `tool_calls`, `iterations` and `actions` are what a job may use."""

    provider_name = "offline"
    model = "rules"
    supports_native_tools = True
    context_tokens: int | None = None

    def __init__(
        self,
        *,
        tool_calls: int = 12,
        iterations: int = 10,
        actions: int = 20,
        clock: Callable[[], date] = today,
    ) -> None:
        self._tool_calls = tool_calls
        self._iterations = iterations
        self._actions = actions
        self._clock = clock

    async def run_step(self, request: StepRequest, *, cancel: Cancel | None = None) -> ProviderStepResult:
        (cancel or Cancel()).check()
        begun = time.monotonic()
        talk = conversation_of(request.messages)
        day = _day(talk) or self._clock()
        desk = Desk(day, talk.here, self._tool_calls, self._iterations, self._actions, talk.earlier)
        said = _next(talk, desk)
        text, calls = said if isinstance(said, tuple) else (said, ())
        missing = {call.tool for call in calls} - {tool.name for tool in request.tools}
        if missing:
            text, calls = _cannot(missing, desk, talk, any_tools=bool(request.tools)), ()
        number = len(talk.steps) + 1
        return ProviderStepResult(
            text=text,
            tool_calls=tuple(
                ToolCall(f"call_{number}_{at}", call.tool, call.arguments) for at, call in enumerate(calls, start=1)
            ),
            finish="tool_calls" if calls else "stop",
            price_usd=Decimal(0),
            latency_ms=(time.monotonic() - begun) * 1000,
            provider=self.provider_name,
            model=self.model,
            opaque={KEY: {"today": day.isoformat()}} if calls else {},
        )

    async def stream_step(self, request: StepRequest, *, cancel: Cancel | None = None) -> AsyncIterator[StreamItem]:
        result = await self.run_step(request, cancel=cancel)
        for line in result.text.splitlines(keepends=True):
            yield StepDelta("text", line)
        yield result


def _day(talk: Conversation) -> date | None:
    """The day on which the job began, where it is under way: a job over midnight stays what it was."""
    noted: Any = talk.memo.get("today")
    try:
        return date.fromisoformat(noted) if isinstance(noted, str) else None
    except ValueError:
        return None


def _next(talk: Conversation, desk: Desk) -> str | tuple[str, Sequence[Call]]:
    """What to say, or what to call and why."""
    understood = understand(talk.instruction, INTENTS)
    if understood is None:
        return greeting() if said_nothing(talk.instruction) else not_understood(talk.instruction, INTENTS)
    script = understood.intent.script(understood.slots, desk)
    try:
        return "", _replayed(script, talk, desk)
    except StopIteration as done:
        return str(done.value)
    except Told as told:
        return told.text
    finally:
        script.close()


def _replayed(script: Script, talk: Conversation, desk: Desk) -> Sequence[Call]:
    """The calls that have no results yet. Steps of a conversation that somebody else began are passed over."""
    wanted = next(script)
    for step in talk.steps:
        desk.spend(len(step.calls))
        if step.calls == tuple(wanted):
            wanted = script.send(step.outcomes)
    return wanted


def _cannot(missing: set[str], desk: Desk, talk: Conversation, *, any_tools: bool) -> str:
    """Why it goes no further, and what was found and done before."""
    if not any_tools:
        why = "I have to stop here: this job may call no further tool."
    elif missing - READS:
        why = "I can only read here, so I changed nothing. To have it done, choose a mode in which I may propose."
    else:
        why = f"I cannot do this here: {', '.join(sorted(missing))} is not among the tools I am given."
    return "\n".join([why, *desk.notes, *_done(talk)])


def _done(talk: Conversation) -> list[str]:
    made = [
        f"- {call.tool} {call.arguments.get('path') or call.arguments.get('from_path') or ''}".rstrip()
        for step in talk.steps
        for call, outcome in zip(step.calls, step.outcomes, strict=True)
        if call.tool not in READS and outcome.ok
    ]
    return ["Done before that:", *made] if made else []
