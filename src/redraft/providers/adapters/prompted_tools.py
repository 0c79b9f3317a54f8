"""Tools for models without native tool calls: the prompt describes them and the model answers in JSON of one schema.

    {"say": "what to tell the person", "calls": [{"tool": "search", "arguments": {"query": "harbour"}}]}

`PromptedTools` wraps a provider and is one: a loop sees no difference. If the provider can constrain its output to a
schema (llama.cpp, Ollama, vLLM), it is asked to; if not, the prompt has to suffice. The answer is checked either way.
Output that does not fit is a `ProviderError` of the kind `invalid_output`, whose message can be sent back to the model
as it is; nothing is guessed, repaired or executed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from redraft.providers.contract import (
    AssistantMessage,
    CancelToken,
    JsonObject,
    Message,
    ProviderStepResult,
    StepRequest,
    SystemMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from redraft.providers.json_output import first_object, invalid_answer, parse_json, violations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.providers.contract import Provider, ToolDefinition

# A provider around another one: it forwards everything, and a subclass defines what happens in a step.


class ProviderWrapper:
    """Everything but `run_step`. `report`, which tells a router about its model, and `aclose` are forwarded if the
    inner provider has them."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner

    @property
    def provider_name(self) -> str:
        return self._inner.provider_name

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def supports_native_tools(self) -> bool:
        return self._inner.supports_native_tools

    @property
    def context_tokens(self) -> int | None:
        return self._inner.context_tokens

    def skip_step(self) -> None:
        self._inner.skip_step()

    def report(self, trigger: str) -> bool:
        report = getattr(self._inner, "report", None)
        return report is not None and bool(report(trigger))

    async def aclose(self) -> None:
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()


MAX_CALLS = 16


class PromptedTools(ProviderWrapper):
    """A provider whose model calls tools by the JSON protocol."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        if not request.tools:
            return await self._inner.run_step(
                replace(request, messages=to_plain_messages(request.messages)), cancel=cancel
            )
        asked = replace(
            request,
            messages=(SystemMessage(instructions(request.tools)), *to_plain_messages(request.messages)),
            tools=(),
            response_schema=answer_schema(request.tools),
        )
        result = await self._inner.run_step(asked, cancel=cancel)
        if result.finish in ("cut_off", "refused"):
            return result
        # A separate number for each answer keeps the ids unique within a conversation.
        answered = sum(isinstance(message, AssistantMessage) for message in request.messages)
        text, calls = parse_answer(
            result.text, request.tools, prefix=f"call_{answered + 1}", provider=self.provider_name
        )
        return replace(result, text=text, tool_calls=calls, finish="tool_calls" if calls else "stop", data=None)


def instructions(tools: Iterable[ToolDefinition]) -> str:
    """The prompt that explains the protocol and the tools."""
    listed = "\n".join(
        f"- {tool.name}: {tool.description}\n  arguments: {json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in tools
    )
    return (
        "Answer with one JSON object and nothing else, no fence, no comment:\n"
        '{"say": "words for the person", "calls": [{"tool": "NAME", "arguments": {}}]}\n'
        "To use tools, list their calls; you then get their results and answer again. "
        'When nothing is left to call, leave "calls" empty and put your answer into "say".\n'
        f"The tools:\n{listed}"
    )


def answer_schema(tools: Iterable[ToolDefinition]) -> JsonObject:
    """The schema of an answer, for constrained decoding."""
    options = [
        {
            "type": "object",
            "properties": {"tool": {"const": tool.name}, "arguments": tool.parameters},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {
        "type": "object",
        "properties": {
            "say": {"type": "string"},
            "calls": {"type": "array", "items": {"anyOf": options}, "maxItems": MAX_CALLS},
        },
        "required": ["say", "calls"],
        "additionalProperties": False,
    }


def to_plain_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The conversation with every call and result as text, readable for a model without tools."""
    return tuple(_to_plain_message(message) for message in messages)


def _to_plain_message(message: Message) -> Message:
    if isinstance(message, AssistantMessage) and message.tool_calls:
        calls = [{"tool": call.name, "arguments": call.arguments} for call in message.tool_calls]
        return AssistantMessage(json.dumps({"say": message.text, "calls": calls}, ensure_ascii=False))
    if isinstance(message, ToolResult):
        outcome = "gave" if message.ok else "failed"
        return UserMessage(f"The tool {message.name} {outcome}:\n{json.dumps(message.content, ensure_ascii=False)}")
    return message


def parse_answer(
    text: str, tools: Iterable[ToolDefinition], *, prefix: str = "call", provider: str = ""
) -> tuple[str, tuple[ToolCall, ...]]:
    """What a model said and called; raises `ProviderError` if its answer does not follow the protocol."""
    try:
        answer = parse_json(first_object(text.strip()))
    except ValueError as error:
        raise invalid_answer(f"The answer cannot be used: {error}.", text, provider) from error
    if found := violations(answer, _ENVELOPE):
        raise invalid_answer(f"The answer does not follow the protocol: {'; '.join(found)}.", text, provider)
    table = cast("dict[str, Any]", answer)
    known = {tool.name: tool for tool in tools}
    calls = tuple(
        _parse_call(entry, known, f"{prefix}_{number}", text, provider)
        for number, entry in enumerate(table["calls"], start=1)
    )
    return table["say"], calls


def _parse_call(entry: JsonObject, known: dict[str, ToolDefinition], name: str, text: str, provider: str) -> ToolCall:
    tool = known.get(entry["tool"])
    if tool is None:
        raise invalid_answer(
            f"There is no tool {entry['tool'][:80]!r}; the tools are {', '.join(known)}.", text, provider
        )
    arguments: JsonObject = entry["arguments"]
    if found := violations(arguments, tool.parameters):
        raise invalid_answer(f"The arguments of {tool.name} are not valid: {'; '.join(found)}.", text, provider)
    return ToolCall(name, tool.name, arguments)


# The schema of every answer, whichever tools there are. A call's arguments are checked separately, by the tool's name,
# since "matches none of the choices" would not help a model.
_ENVELOPE: JsonObject = {
    "type": "object",
    "properties": {
        "say": {"type": "string"},
        "calls": {
            "type": "array",
            "maxItems": MAX_CALLS,
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["say", "calls"],
    "additionalProperties": False,
}
