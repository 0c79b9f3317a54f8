"""The one contract between whoever runs a conversation and any model: ask for a step, get a step.

    result = await provider.run_step(StepRequest(messages, tools), cancel=cancel)

It is asynchronous, because a step is waiting and little else: sixteen subagents wait in one thread, and a server on
asyncio needs no pool for them. What does compute (a model in this process, a child process) moves to a thread inside
its adapter. A caller without a loop says `asyncio.run(provider.run_step(...))`.

Everything that differs between providers ends here: formats, streaming, retries, usage, how a cut-off shows. No result
of a cut-off step carries a tool call, so a loop that executes what it is given cannot execute half a call. Nothing here
knows documents, tools' meanings or turns, and importing it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

from redraft.providers.cancelling import Cancel
from redraft.providers.failures import KINDS, Kind, ProviderError
from redraft.providers.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
    damaged,
    items,
    message_from_dict,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = [
    "KINDS",
    "AssistantMessage",
    "Cancel",
    "FinishReason",
    "JsonObject",
    "Kind",
    "Message",
    "Provider",
    "ProviderError",
    "ProviderStepResult",
    "StepDelta",
    "StepRequest",
    "StopReason",
    "StreamItem",
    "StreamingProvider",
    "SystemMessage",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "Usage",
    "UserMessage",
    "message_from_dict",
]

# How the provider ended: `refused` is a content filter or a model's refusal, `cut_off` a token limit.
FinishReason = Literal["stop", "tool_calls", "cut_off", "refused"]
# What the step means to the loop.
StopReason = Literal["needs_tools", "needs_clarification", "proposed_edits", "done", "error"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a step. `cached_tokens` were read from, `cache_write_tokens` written to the provider's cache; both are
    part of `input_tokens`, and `reasoning_tokens` of `output_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )

    def as_dict(self) -> dict[str, int]:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "reasoning_tokens": self.reasoning_tokens,
        }


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One step: the conversation so far, the tools on offer, and the limits.

    `response_schema` asks for an answer that is JSON of this schema instead of prose; the result's `data` then holds
    it, checked. `timeout` is in seconds, for one attempt. `session` is what an earlier result of the same provider gave
    (a CLI agent's own memory); `fork` continues a copy of it.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    response_schema: JsonObject | None = None
    timeout: float | None = None
    session: str | None = None
    fork: bool = False


@dataclass(frozen=True, slots=True)
class ProviderStepResult:
    """What a step gave. `latency_ms` counts every attempt and the waits between them; `price_usd` is None where the
    price of the model is not known (a local model costs 0)."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    price_usd: Decimal | None = None
    latency_ms: float = 0.0
    provider: str = ""
    model: str = ""
    data: Any = None
    attempts: int = 1
    session: str | None = None
    opaque: JsonObject = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if self.finish == "cut_off" and (self.tool_calls or self.data is not None):
            raise ValueError("a cut-off step carries no calls and no data")

    @property
    def cut_off(self) -> bool:
        return self.finish == "cut_off"

    @property
    def message(self) -> AssistantMessage:
        """The step as the message to append to the conversation."""
        return AssistantMessage(self.text, self.tool_calls, self.opaque)

    def stop_reason(self, request: StepRequest) -> StopReason:
        """What the loop has to do next."""
        if self.finish in ("cut_off", "refused"):
            return "error"
        purposes = {tool.name: tool.purpose for tool in request.tools}
        asked = {purposes.get(call.name, "work") for call in self.tool_calls}
        if "clarify" in asked:
            return "needs_clarification"
        if "work" in asked:
            return "needs_tools"
        return "proposed_edits" if asked else "done"

    def proposed_edits(self, request: StepRequest) -> list[JsonObject]:
        """The arguments of the calls that propose edits, as the model wrote them and in its order."""
        names = {tool.name for tool in request.tools if tool.purpose == "edit"}
        return [call.arguments for call in self.tool_calls if call.name in names]

    def as_step(self, request: StepRequest) -> JsonObject:
        """The step under the names of the specification's provider contract."""
        return {
            "assistant_message": self.text,
            "tool_calls": [call.as_dict() for call in self.tool_calls],
            "proposed_edits": self.proposed_edits(request),
            "stop_reason": self.stop_reason(request),
            "raw_usage": {**self.usage.as_dict(), "latency_ms": self.latency_ms, "model": self.model},
        }

    def as_dict(self) -> JsonObject:
        return {
            "text": self.text,
            "tool_calls": [call.as_dict() for call in self.tool_calls],
            "finish": self.finish,
            "usage": self.usage.as_dict(),
            "price_usd": None if self.price_usd is None else str(self.price_usd),
            "latency_ms": self.latency_ms,
            "provider": self.provider,
            "model": self.model,
            "data": self.data,
            "attempts": self.attempts,
            "session": self.session,
            "opaque": self.opaque,
        }

    @classmethod
    def from_dict(cls, data: JsonObject) -> ProviderStepResult:
        """The result that `as_dict` wrote; `Damaged` where it is none."""
        try:
            price = data["price_usd"]
            return cls(
                text=data["text"],
                tool_calls=tuple(ToolCall.from_dict(call) for call in items(data, "tool_calls")),
                finish=cast("FinishReason", data["finish"]),
                usage=Usage(**data["usage"]),
                price_usd=None if price is None else Decimal(price),
                latency_ms=data["latency_ms"],
                provider=data["provider"],
                model=data["model"],
                data=data["data"],
                attempts=data["attempts"],
                session=data["session"],
                opaque=data["opaque"],
            )
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise damaged("step result") from error


@dataclass(frozen=True, slots=True)
class StepDelta:
    """A piece of a step as it arrives: for showing, never for acting on."""

    kind: Literal["text", "thinking", "tool_call"]
    text: str


StreamItem: TypeAlias = StepDelta | ProviderStepResult


class Provider(Protocol):
    """A model that can be asked for a step."""

    @property
    def provider_name(self) -> str:
        """The adapter's name, such as `anthropic`."""
        ...

    @property
    def model(self) -> str:
        """The model's id, as results and prices name it."""
        ...

    @property
    def supports_native_tools(self) -> bool:
        """Whether the model itself calls tools; where not, `protocol.SpokenTools` gives it the means."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """How many tokens the model can hold, where that is known."""
        ...

    async def run_step(self, request: StepRequest, *, cancel: Cancel | None = None) -> ProviderStepResult:
        """One step. Raises `ProviderError`; never returns half a step as a whole one."""
        ...


class StreamingProvider(Provider, Protocol):
    """A provider that can also show a step while it arrives."""

    def stream_step(self, request: StepRequest, *, cancel: Cancel | None = None) -> AsyncIterator[StreamItem]:
        """Deltas, and the result as the last item."""
        ...
