"""The assistant that needs no key and no model: it follows rules, and uses the same tools as any other agent.

It is stateless. Each step runs the script of the person's intent from the start over the results so far, up to the
first call without a result: that call is the step. So the same conversation always gives the same step, and a stopped
job continues where it was. The content of documents can change figures and quotations, but never which calls are made:
the instruction alone selects the script.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from redraft.agent.offline.intent_handlers import (
    create,
    history,
    insert,
    move,
    names,
    organise,
    rename,
    search,
    style,
    summary,
    table_of_contents,
    todos,
)
from redraft.agent.offline.intent_handlers.help import explain_unknown_request, greeting, help_intent
from redraft.agent.offline.intents import ScriptCall, ScriptContext, ScriptEnd, ScriptOutcome
from redraft.agent.offline.request_parser import is_greeting, parse_request
from redraft.agent.offline.tokens import word_list
from redraft.providers.contract import (
    AssistantMessage,
    CancelToken,
    ProviderStepResult,
    StepDelta,
    StepRequest,
    ToolCall,
    ToolResult,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from redraft.agent.offline.intents import Script
    from redraft.providers.contract import Message, StreamItem

# Everything that the assistant can do, in the order in which it is shown; among equal matches, the first wins.


ABLE = (
    search.INTENT,
    summary.INTENT,
    rename.INTENT,
    insert.SECTION,
    insert.TEXT,
    todos.INTENT,
    table_of_contents.INTENT,
    names.INTENT,
    style.INTENT,
    organise.INTENT,
    create.INTENT,
    move.MOVE,
    move.DELETE,
    history.UNDO,
    history.CHANGES,
    history.LIST,
)
INTENTS = (*ABLE, help_intent(ABLE))

# What a step's request contains: the person's instruction, what they pinned, and the calls made for it so far.
#
# Only the person's last message is an instruction. Documents come before it between markers, and tool results are
# data; neither is ever searched for commands. Messages that the program itself inserts are recognised by their first
# words.


KEY = "offline"
# What the loop says in the person's place between the steps of a job.
NOTICES = ("(From the program.) ", "While you worked, somebody else changed these documents")
_BLOCK = re.compile(r'<document ([0-9a-f]{8})(?: path="(.*?)"(?= lines="| front="| invisible:|> \())?')

_IN_FRONT = re.compile(r' front="| lines="[0-9-]+" selected="')


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One past step: its calls and their outcomes, in order."""

    calls: tuple[ScriptCall, ...]
    outcomes: tuple[ScriptOutcome, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`instruction` is the person's, `here` the documents they pinned to it, `steps` the calls since then, `memo` what
    our own first step noted, and `earlier` the last answer before the instruction."""

    instruction: str
    here: tuple[str, ...]
    steps: tuple[ScriptStep, ...]
    memo: dict[str, Any]
    earlier: str


def conversation_of(messages: Sequence[Message]) -> Conversation:
    """The parts of the conversation that matter for the next step."""
    at = max((at for at, message in enumerate(messages) if _is_instruction(message)), default=-1)
    first = messages[at] if at >= 0 else UserMessage("")
    instruction, here = _unwrap(first.text if isinstance(first, UserMessage) else "")
    later = messages[at + 1 :]
    answers = [message.text for message in messages[: max(at, 0)] if isinstance(message, AssistantMessage)]
    return Conversation(instruction, here, _steps(later), _memo(later), answers[-1] if answers else "")


def _is_instruction(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.text.startswith(NOTICES)


def _unwrap(text: str) -> tuple[str, tuple[str, ...]]:
    """The instruction without the documents before it, and their paths: the pinned ones, else the one in front."""
    paths: list[str] = []
    looked_at: list[str] = []
    while (block := _BLOCK.match(text)) is not None:
        closing = f"\n</document {block[1]}>\n\n"
        end = text.find(closing)
        if end < 0:
            break
        if block[2]:
            (looked_at if _IN_FRONT.match(text, block.end()) else paths).append(block[2])
        text = text[end + len(closing) :]
    return text.strip(), tuple(dict.fromkeys(paths or looked_at))


def _steps(messages: Sequence[Message]) -> tuple[ScriptStep, ...]:
    results = {message.id: message for message in messages if isinstance(message, ToolResult)}
    steps: list[ScriptStep] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            calls = tuple(ScriptCall(each.name, each.arguments) for each in message.tool_calls)
            steps.append(ScriptStep(calls, tuple(_outcome(results.get(each.id)) for each in message.tool_calls)))
    return tuple(steps)


def _outcome(result: ToolResult | None) -> ScriptOutcome:
    if result is None:
        return ScriptOutcome(False, {"error": "cancelled", "message": "The call was not made."})
    content = result.content
    return ScriptOutcome(result.ok, content if isinstance(content, dict) else {"result": content})  # pyright: ignore[reportUnknownArgumentType]


def _memo(messages: Sequence[Message]) -> dict[str, Any]:
    for message in messages:
        if isinstance(message, AssistantMessage) and isinstance(message.opaque.get(KEY), dict):
            return message.opaque[KEY]
    return {}


READS = frozenset(
    word_list(
        "list_tabs read_document get_outline search_document list_documents search_documents clarify_user list_turns "
        "get_changes_since"
    )
)


def today() -> date:
    return datetime.now(UTC).astimezone().date()


class OfflineProvider:
    """A provider that follows rules. `tool_calls`, `iterations` and `actions` are the limits of a job."""

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

    def skip_step(self) -> None:
        """Nothing to do: it reads its position from the conversation."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        (cancel or CancelToken()).check()
        started = time.monotonic()
        conversation = conversation_of(request.messages)
        day = _day(conversation) or self._clock()
        context = ScriptContext(
            day, conversation.here, self._tool_calls, self._iterations, self._actions, conversation.earlier
        )
        reply = _next(conversation, context)
        text, calls = reply if isinstance(reply, tuple) else (reply, ())
        missing = {call.tool for call in calls} - {tool.name for tool in request.tools}
        if missing:
            text, calls = _explain_stop(missing, context, conversation, any_tools=bool(request.tools)), ()
        number = len(conversation.steps) + 1
        return ProviderStepResult(
            text=text,
            tool_calls=tuple(
                ToolCall(f"call_{number}_{at}", call.tool, call.arguments) for at, call in enumerate(calls, start=1)
            ),
            finish="tool_calls" if calls else "stop",
            price_usd=Decimal(0),
            latency_ms=(time.monotonic() - started) * 1000,
            provider=self.provider_name,
            model=self.model,
            opaque={KEY: {"today": day.isoformat()}} if calls else {},
        )

    async def stream_step(
        self, request: StepRequest, *, cancel: CancelToken | None = None
    ) -> AsyncIterator[StreamItem]:
        result = await self.run_step(request, cancel=cancel)
        for line in result.text.splitlines(keepends=True):
            yield StepDelta("text", line)
        yield result


def _day(conversation: Conversation) -> date | None:
    """The day on which a running job began, so that it does not change at midnight."""
    noted: Any = conversation.memo.get("today")
    try:
        return date.fromisoformat(noted) if isinstance(noted, str) else None
    except ValueError:
        return None


def _next(conversation: Conversation, context: ScriptContext) -> str | tuple[str, Sequence[ScriptCall]]:
    """What to say, or what to call and why."""
    understood = parse_request(conversation.instruction, INTENTS)
    if understood is None:
        return (
            greeting()
            if is_greeting(conversation.instruction)
            else explain_unknown_request(conversation.instruction, INTENTS)
        )
    script = understood.intent.script(understood.slots, context)
    try:
        return "", _replay(script, conversation, context)
    except StopIteration as done:
        return str(done.value)
    except ScriptEnd as end:
        return end.text
    finally:
        script.close()


def _replay(script: Script, conversation: Conversation, context: ScriptContext) -> Sequence[ScriptCall]:
    """The first calls without results. Steps of a conversation that another provider began are skipped."""
    wanted = next(script)
    for step in conversation.steps:
        context.spend(len(step.calls))
        if step.calls == tuple(wanted):
            wanted = script.send(step.outcomes)
    return wanted


def _explain_stop(missing: set[str], context: ScriptContext, conversation: Conversation, *, any_tools: bool) -> str:
    """Why it cannot continue, and what was found and done before."""
    if not any_tools:
        why = "I have to stop here: this job may not call more tools."
    elif missing - READS:
        why = "I can only read here, so I changed nothing. To let me do it, choose a mode in which I may propose."
    else:
        why = f"I cannot do this here: {', '.join(sorted(missing))} is not among my tools."
    return "\n".join([why, *context.notes, *_past_calls(conversation)])


def _past_calls(conversation: Conversation) -> list[str]:
    made = [
        f"- {call.tool} {call.arguments.get('path') or call.arguments.get('from_path') or ''}".rstrip()
        for step in conversation.steps
        for call, outcome in zip(step.calls, step.outcomes, strict=True)
        if call.tool not in READS and outcome.ok
    ]
    return ["Done before that:", *made] if made else []
