"""Between our canonical values and pydantic-ai's: messages, tools and answers.

With `connecting`, `remote` and `mishaps` the only modules that know the library, imported when the first remote step is
asked for, because the library takes seconds to load. Every provider's own wire format is the library's business; what
is decided here is what a cut-off, a broken argument or a refusal means to us.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition as LibraryTool

from redraft.providers.contract import (
    AssistantMessage,
    FinishReason,
    JsonObject,
    Message,
    ProviderError,
    ProviderStepResult,
    StepDelta,
    StepRequest,
    SystemMessage,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from redraft.providers.reading import parse_json
from redraft.providers.structured import structured_data

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart, ModelResponseStreamEvent
    from pydantic_ai.models import Model

OPAQUE = "pydantic_ai"


def history(messages: Iterable[Message]) -> list[ModelMessage]:
    """The conversation in the library's form: orders first, and what is not the model's together in requests."""
    found: list[ModelMessage] = []
    pending: list[ModelRequestPart] = []
    for message in sorted(messages, key=lambda message: not isinstance(message, SystemMessage)):
        if isinstance(message, AssistantMessage):
            if pending:
                found.append(ModelRequest(parts=pending))
                pending = []
            found.append(_response(message))
        else:
            pending.append(_request_part(message))
    if pending:
        found.append(ModelRequest(parts=pending))
    return found


def _request_part(message: SystemMessage | UserMessage | ToolResult) -> ModelRequestPart:
    if isinstance(message, SystemMessage):
        return SystemPromptPart(content=message.text)
    if isinstance(message, ToolResult):
        return ToolReturnPart(
            tool_name=message.name,
            content=message.told if message.told is not None else {},
            tool_call_id=message.id,
            outcome="success" if message.ok else "failed",
        )
    return UserPromptPart(content=message.text)


def _response(message: AssistantMessage) -> ModelResponse:
    if restored := _restored(message):
        return restored
    parts: list[ModelResponsePart] = [TextPart(content=message.text)] if message.text else []
    parts += [
        ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id) for call in message.tool_calls
    ]
    return ModelResponse(parts=parts)


def _restored(message: AssistantMessage) -> ModelResponse | None:
    """The response as it came, with signed thoughts and ids; None where there is none, or it says something else than
    the message (whoever took a call out of the message meant it)."""
    stored = message.opaque.get(OPAQUE)
    if stored is None:
        return None
    try:
        [response] = ModelMessagesTypeAdapter.validate_python([stored])
    except ValueError:
        return None
    if not isinstance(response, ModelResponse):
        return None
    calls = [part.tool_call_id for part in response.parts if isinstance(part, ToolCallPart)]
    return response if calls == [call.id for call in message.tool_calls] else None


def parameters(request: StepRequest, model: Model) -> ModelRequestParameters:
    """The tools, and the form of the answer where one is asked for."""
    tools = [
        # Strict schemas would have to be rewritten (every property required); ours say what they mean.
        LibraryTool(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters, strict=False)
        for tool in request.tools
    ]
    if request.response_schema is None:
        return ModelRequestParameters(function_tools=tools)
    native = model.profile.get("supports_json_schema_output", False)
    return ModelRequestParameters(
        function_tools=tools,
        output_mode="native" if native else "prompted",
        output_object=OutputObjectDefinition(json_schema=request.response_schema, name="answer"),
    )


def result(response: ModelResponse, request: StepRequest, provider: str) -> ProviderStepResult:
    """The canonical step. Latency and attempts are the caller's to fill in."""
    _check_not_empty(response, provider)
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    finish = _finish(response)
    complete = finish not in ("cut_off", "refused")
    calls = _calls(response, provider) if complete else ()
    if calls and finish == "stop":
        finish = "tool_calls"
    data = structured_data(text, request, provider) if complete and not calls else None
    return ProviderStepResult(
        text=text,
        tool_calls=calls,
        finish=finish,
        usage=_usage(response),
        price_usd=_price(response),
        provider=provider,
        model=response.model_name or "",
        data=data,
        # A cut-off response goes back as its text alone: half a call is no part of any conversation.
        opaque=_opaque(response) if complete else {},
    )


def delta(event: ModelResponseStreamEvent) -> StepDelta | None:
    """What to show of a streaming event."""
    if isinstance(event, PartStartEvent):
        part = event.part
        if isinstance(part, ToolCallPart):
            return StepDelta("tool_call", part.tool_name)
        if isinstance(part, TextPart | ThinkingPart) and part.content:
            return StepDelta("text" if isinstance(part, TextPart) else "thinking", part.content)
    if isinstance(event, PartDeltaEvent):
        if isinstance(event.delta, TextPartDelta) and event.delta.content_delta:
            return StepDelta("text", event.delta.content_delta)
        if isinstance(event.delta, ThinkingPartDelta) and event.delta.content_delta:
            return StepDelta("thinking", event.delta.content_delta)
    return None


def _check_not_empty(response: ModelResponse, provider: str) -> None:
    """An answer of nothing is one only where the provider says that nothing was meant. Tokens that were counted and are
    not there were lost on the way (some servers stream only the end of a message)."""
    ended = response.finish_reason in ("length", "content_filter") or response.state != "complete"
    if not response.parts and not ended and (response.finish_reason is None or response.usage.output_tokens):
        raise ProviderError("The provider's answer is empty.", kind="invalid_output", provider=provider)


def _finish(response: ModelResponse) -> FinishReason:
    if response.finish_reason == "length" or response.state != "complete":
        return "cut_off"
    if response.finish_reason in ("content_filter", "error"):
        return "refused"
    return "tool_calls" if response.finish_reason == "tool_call" else "stop"


def _calls(response: ModelResponse, provider: str) -> tuple[ToolCall, ...]:
    parts = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return tuple(ToolCall(part.tool_call_id, part.tool_name, _arguments(part, provider)) for part in parts)


def _arguments(part: ToolCallPart, provider: str) -> JsonObject:
    written = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
    try:
        arguments: object = parse_json(written) if written.strip() else {}
        if not isinstance(arguments, dict):
            raise ValueError("it is not an object")
    except ValueError as error:
        raise ProviderError(
            f"The arguments of {part.tool_name} cannot be read: {error}.",
            kind="invalid_output",
            provider=provider,
            output=written,
        ) from error
    return arguments  # pyright: ignore[reportUnknownVariableType] - JSON's own keys are strings


def _usage(response: ModelResponse) -> Usage:
    usage = response.usage
    return Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.details.get("reasoning_tokens", usage.details.get("thoughts_tokens", 0)),
    )


def _price(response: ModelResponse) -> Decimal | None:
    """The price by the list that the library ships; None for a model or an address that is not on it."""
    if not response.model_name:
        return None
    try:
        return response.cost().total_price
    except (LookupError, ValueError):
        return None


def _opaque(response: ModelResponse) -> JsonObject:
    """What must go back with the response; nothing for one that text and calls describe whole."""
    if all(_is_plain(part) for part in response.parts):
        return {}
    [stored] = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    return {OPAQUE: stored}


def _is_plain(part: ModelResponsePart) -> bool:
    if isinstance(part, ThinkingPart):
        return False
    return isinstance(part, TextPart | ToolCallPart) and not part.id and not part.provider_details
