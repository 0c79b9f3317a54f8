"""Convert between our canonical values and pydantic-ai's: messages, tools and answers.

Besides `remote`, the only module that knows the library. It is imported with the first remote step, because the library
takes seconds to load. The library handles each provider's wire format; this module decides what a truncated answer, a
broken argument or a refusal means to us.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pydantic_ai
from pydantic_ai import exceptions as library
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
    ProviderStepResult,
    StepDelta,
    StepRequest,
    SystemMessage,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from redraft.providers.errors import Kind, ProviderError
from redraft.providers.json_output import parse_json, parse_structured_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from decimal import Decimal

    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart, ModelResponseStreamEvent
    from pydantic_ai.models import Model

    from redraft.providers.adapters.remote import Address

OPAQUE = "pydantic_ai"


def to_library_messages(messages: Iterable[Message]) -> list[ModelMessage]:
    """The conversation in the library's form: system messages first, and everything not from the model in requests."""
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
            content=message.content if message.content is not None else {},
            tool_call_id=message.id,
            outcome="success" if message.ok else "failed",
        )
    return UserPromptPart(content=message.text)


def _response(message: AssistantMessage) -> ModelResponse:
    if restored := _restore(message):
        return restored
    parts: list[ModelResponsePart] = [TextPart(content=message.text)] if message.text else []
    parts += [
        ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id) for call in message.tool_calls
    ]
    return ModelResponse(parts=parts)


def _restore(message: AssistantMessage) -> ModelResponse | None:
    """The original response, with signed thoughts and ids; None if there is none, or if it differs from the message
    (somebody removed a call on purpose)."""
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


def request_parameters(request: StepRequest, model: Model) -> ModelRequestParameters:
    """The tools, and the format of the answer if one is requested."""
    tools = [
        # Strict schemas would have to be rewritten (every property required); ours are meant literally.
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


def to_step_result(response: ModelResponse, request: StepRequest, provider: str) -> ProviderStepResult:
    """The canonical step. The caller fills in latency and attempts."""
    _check_not_empty(response, provider)
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    finish = _finish(response)
    complete = finish not in ("cut_off", "refused")
    calls = _calls(response, provider) if complete else ()
    if calls and finish == "stop":
        finish = "tool_calls"
    data = parse_structured_data(text, request, provider) if complete and not calls else None
    return ProviderStepResult(
        text=text,
        tool_calls=calls,
        finish=finish,
        usage=_usage(response),
        price_usd=_price(response),
        provider=provider,
        model=response.model_name or "",
        data=data,
        # Of a truncated response only the text is sent back: half a call must not be part of a conversation.
        opaque=_opaque(response) if complete else {},
    )


def to_delta(event: ModelResponseStreamEvent) -> StepDelta | None:
    """The part of a streaming event to show."""
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


def check_complete(response: ModelResponse, provider: str) -> None:
    """A stream reports how it ended. One that just stops was cut off by a broken connection or server, however complete
    it looks."""
    # Use the provider's own finish reason: if there is none, the library fills in `stop`.
    reason = (response.provider_details or {}).get("finish_reason")
    if response.state == "complete" and reason is None and response.finish_reason in (None, "stop", "tool_call"):
        raise ProviderError("The answer ended early.", kind="unreachable", provider=provider)


def _check_not_empty(response: ModelResponse, provider: str) -> None:
    """An empty answer is valid only if the provider says that nothing was meant. Tokens that were counted but are
    missing were lost on the way (some servers stream only the end of a message)."""
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
    text = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
    try:
        arguments: object = parse_json(text) if text.strip() else {}
        if not isinstance(arguments, dict):
            raise ValueError("it is not an object")
    except ValueError as error:
        raise ProviderError(
            f"The arguments of {part.tool_name} cannot be read: {error}.",
            kind="invalid_output",
            provider=provider,
            output=text,
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
    """What must be sent back with the response; empty if text and calls describe it completely."""
    if all(_is_plain(part) for part in response.parts):
        return {}
    [stored] = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    return {OPAQUE: stored}


def _is_plain(part: ModelResponsePart) -> bool:
    if isinstance(part, ThinkingPart):
        return False
    return isinstance(part, TextPart | ToolCallPart) and not part.id and not part.provider_details


# A pydantic-ai model for a provider's address, model name and key.
#
# Nothing is sent here. The key and the address are always passed explicitly, so that the libraries do not look for them
# in the environment: one provider's key must never reach another's address.


pydantic_ai.BANNER_ENABLED = False  # it would print advertising to the terminal

# Sent if there is no key: with none at all, the libraries would use whatever the environment has.
NO_KEY = "none"


def connect(address: Address, client: httpx2.AsyncClient) -> Model:
    """The library's model, using `client` for its requests."""
    return _KINDS[address.kind](address, client)


def _anthropic(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return AnthropicModel(address.model, provider=provider)


def _openai(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return OpenAIChatModel(address.model, provider=provider)


def _openai_responses(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return OpenAIResponsesModel(address.model, provider=provider)


def _google(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=address.key or NO_KEY, base_url=address.url, http_client=client)
    return GoogleModel(address.model, provider=provider)


def _compatible(address: Address, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(
        "compatible",
        base_url=address.url,
        api_key=address.key or NO_KEY,
        http_client=client,
        # Every server of this family knows the older name of the limit.
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
    )
    return OpenAIChatModel(address.model, provider=provider)


_KINDS: dict[str, Callable[[Address, httpx2.AsyncClient], Model]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_responses": _openai_responses,
    "google": _google,
    "compatible": _compatible,
}

# The library's errors as ours: the kind of each, and how much of the provider's own message is passed on.
#
# Any other exception means that the library met an answer it does not understand (a body without the documented fields
# raises a plain `TypeError`): the answer is invalid, and nobody above has to know more.


# The first class that matches decides, so the narrower ones come first.
_FAILURES: tuple[tuple[type[Exception], Kind], ...] = (
    (library.ModelContextWindowExceededError, "context_overflow"),
    (library.ModelAuthenticationError, "auth"),
    (library.ModelRequestRejectedError, "bad_request"),
    (library.ModelQuotaExceededError, "quota"),
    (library.ModelRateLimitError, "rate_limited"),
    (library.ModelUnavailableError, "overloaded"),
    (library.ModelServerError, "overloaded"),
    (library.ModelTimeoutError, "timeout"),
    (library.ModelRequestTimeout, "timeout"),
    (library.ModelConnectionError, "unreachable"),
    (library.ModelHTTPError, "bad_request"),
    (library.ModelAPIError, "unreachable"),
    (library.UnexpectedModelBehavior, "invalid_output"),
    (library.UserError, "bad_request"),
    (Exception, "invalid_output"),
)
_WORDS: dict[Kind, str] = {
    "context_overflow": "The conversation is longer than the model's context window.",
    "auth": "The provider refused the key.",
    "quota": "The account has no credit left, or has used up its quota.",
    "bad_request": "The provider refused the request.",
    "rate_limited": "Too many requests to the provider.",
    "overloaded": "The provider failed or is overloaded.",
    "timeout": "The model did not answer in time.",
    "unreachable": "The model could not be reached, or the connection broke.",
    "invalid_output": "The provider's answer is not valid.",
}
_MAX_QUOTED = 300
# Local servers (llama.cpp, LM Studio) report a full context in words that the library does not know, some of them as a
# server error.
_FULL_CONTEXT = re.compile(r"\bcontext (?:size|length|window)\b|\bn_ctx\b", re.IGNORECASE)
_VAGUE: tuple[Kind, ...] = ("bad_request", "overloaded", "unreachable")


def translate_error(error: Exception, provider: str) -> ProviderError:
    """Our error for one of the library's."""
    kind: Kind = next(kind for known, kind in _FAILURES if isinstance(error, known))
    message = _provider_message(error)
    if kind in _VAGUE and _FULL_CONTEXT.search(message):
        kind = "context_overflow"
    return ProviderError(
        f"{_WORDS[kind]} {message}".strip(),
        kind=kind,
        provider=provider,
        status=error.status_code if isinstance(error, library.ModelHTTPError) else None,
        retry_after=error.retry_after if isinstance(error, library.ModelAPIError) else None,
    )


def _provider_message(error: Exception) -> str:
    """The provider's own message, bounded in length, and nothing else of the body."""
    body: Any = getattr(error, "body", None)
    for name in ("error", "message"):
        if isinstance(body, dict) and name in body:
            body = body[name]  # pyright: ignore[reportUnknownVariableType] - any JSON
    if isinstance(body, str) and body.strip():
        return f"It said: {' '.join(body.split())[:_MAX_QUOTED]}"
    return ""
