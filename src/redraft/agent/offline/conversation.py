"""What a step's request says: the person's instruction, what they pinned, and the calls made for it so far.

Only the person's last message is an instruction. Documents come before it between marks, and results of tools are
data; neither is ever looked at for orders. Messages that the program itself sends in between are told by their first
words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.agent.offline.intents import Call, Outcome
from redraft.providers.contract import AssistantMessage, ToolResult, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.providers.contract import Message

KEY = "offline"
# What the loop says in the person's place, between the steps of a job.
NOTICES = ("(From the program.) ", "While you worked, these documents were changed by somebody else")
_BLOCK = re.compile(r'<document ([0-9a-f]{8})(?: path="(.*?)"(?= lines="| invisible:|> \())?')


@dataclass(frozen=True, slots=True)
class Step:
    """One step that was made: its calls and what came of them, in order."""

    calls: tuple[Call, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`instruction` is the person's, `here` the documents they pinned to it, `steps` what was called since,
    `memo` what our own first step noted down, and `earlier` the last answer before the instruction."""

    instruction: str
    here: tuple[str, ...]
    steps: tuple[Step, ...]
    memo: dict[str, Any]
    earlier: str


def conversation_of(messages: Sequence[Message]) -> Conversation:
    """The conversation as far as it matters for the next step."""
    at = max((at for at, message in enumerate(messages) if _is_instruction(message)), default=-1)
    first = messages[at] if at >= 0 else UserMessage("")
    instruction, here = _unwrapped(first.text if isinstance(first, UserMessage) else "")
    later = messages[at + 1 :]
    said = [message.text for message in messages[: max(at, 0)] if isinstance(message, AssistantMessage)]
    return Conversation(instruction, here, _steps(later), _memo(later), said[-1] if said else "")


def _is_instruction(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.text.startswith(NOTICES)


def _unwrapped(text: str) -> tuple[str, tuple[str, ...]]:
    """The instruction without the documents before it, and their paths."""
    paths: list[str] = []
    while (block := _BLOCK.match(text)) is not None:
        closing = f"\n</document {block[1]}>\n\n"
        end = text.find(closing)
        if end < 0:
            break
        if block[2]:
            paths.append(block[2])
        text = text[end + len(closing) :]
    return text.strip(), tuple(dict.fromkeys(paths))


def _steps(messages: Sequence[Message]) -> tuple[Step, ...]:
    results = {message.id: message for message in messages if isinstance(message, ToolResult)}
    steps: list[Step] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            calls = tuple(Call(each.name, each.arguments) for each in message.tool_calls)
            steps.append(Step(calls, tuple(_outcome(results.get(each.id)) for each in message.tool_calls)))
    return tuple(steps)


def _outcome(result: ToolResult | None) -> Outcome:
    if result is None:
        return Outcome(False, {"error": "cancelled", "message": "The call was not made."})
    told = result.told
    return Outcome(result.ok, told if isinstance(told, dict) else {"result": told})  # pyright: ignore[reportUnknownArgumentType]


def _memo(messages: Sequence[Message]) -> dict[str, Any]:
    for message in messages:
        if isinstance(message, AssistantMessage) and isinstance(message.opaque.get(KEY), dict):
            return message.opaque[KEY]
    return {}
