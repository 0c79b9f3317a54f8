"""The contract between whoever runs a conversation and any model: request a step, get a step.

    result = await provider.run_step(StepRequest(messages, tools), cancel=cancel)

It is asynchronous, because a step is mostly waiting: sixteen subagents wait in one thread, and an asyncio server needs
no thread pool for them. Anything that computes (a model in this process, a child process) runs in a thread inside its
adapter. A caller without a loop uses `asyncio.run(provider.run_step(...))`.

Everything that differs between providers ends here: formats, streaming, retries, usage, how truncation shows. The
result of a truncated step never has a tool call, so a loop that executes every call cannot execute half a one. Nothing
here knows documents, turns or what a tool does, and importing it costs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, cast

from redraft.errors import Damaged
from redraft.providers.errors import KINDS, Kind, ProviderError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

# Stop a step from anywhere.
#
# A job runs in one thread and the person's "stop" arrives in another, so a plain task cancellation is not enough. A
# `CancelToken` is set once, from any thread, and never unset; `run` ends what it guards with a `ProviderError` of the
# kind `cancelled`, at once if it is set while waiting.


T = TypeVar("T")


class CancelToken:
    """A request to stop, shared by whoever may make it and whoever must obey it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        """Stop everything that this guards, now and later."""
        with self._lock:
            self._set = True
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    def check(self) -> None:
        """Raise if it is set."""
        if self._set:
            raise ProviderError("The step was cancelled.", kind="cancelled")

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work`, or cancel it when this is set; if it is set already, `work` never starts."""
        if self._set:
            work.close()
        self.check()
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def stop() -> None:
            # The loop may have ended in the meantime; then there is nothing left to stop.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

        self._listen(stop)
        try:
            return await task
        except asyncio.CancelledError:
            self.check()
            raise
        finally:
            self._forget(stop)

    def _listen(self, listener: Callable[[], None]) -> None:
        with self._lock:
            if not self._set:
                self._listeners.append(listener)
                return
        listener()

    def _forget(self, listener: Callable[[], None]) -> None:
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)


# The messages between a person, a model and its tools, in one canonical form for every provider.
#
# All values are frozen and survive JSON: a conversation is stored durably, so `message_from_dict(message.as_dict())`
# is the same message. A tool is a name, a description and a JSON schema here; what it does is not this package's
# concern.


JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model sees it.

    `purpose` says what a call of it means for the step: ordinary work, a question to the person, or proposed edits.
    """

    name: str
    description: str
    parameters: JsonObject
    purpose: Literal["work", "clarify", "edit"] = "work"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model makes, with its arguments already parsed."""

    id: str
    name: str
    arguments: JsonObject

    def as_dict(self) -> JsonObject:
        return {"tool_call_id": self.id, "name": self.name, "arguments": self.arguments}

    @classmethod
    def from_dict(cls, data: object) -> ToolCall:
        table = _table(data)
        return cls(_text(table, "tool_call_id"), _text(table, "name"), _object(table, "arguments"))


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """Instructions to the model, which reads them first wherever they are in the conversation: not every provider
    accepts them further down, and if they were disguised as the person's words, a document could imitate that."""

    role: ClassVar[str] = "system"
    text: str

    def as_dict(self) -> JsonObject:
        return {"role": self.role, "text": self.text}


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said, or what the model is shown in their name."""

    role: ClassVar[str] = "user"
    text: str

    def as_dict(self) -> JsonObject:
        return {"role": self.role, "text": self.text}


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What a model said and called.

    `opaque` is what the adapter that made the message needs to send it back whole (signed thoughts, item ids), under
    the adapter's own key. Any other adapter ignores it, so a conversation can change its model at any message.
    """

    role: ClassVar[str] = "assistant"
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    opaque: JsonObject = field(default_factory=dict[str, Any])

    def as_dict(self) -> JsonObject:
        calls = [call.as_dict() for call in self.tool_calls]
        return {"role": self.role, "text": self.text, "tool_calls": calls, "opaque": self.opaque}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of a tool call: a result if `ok`, else an error in the one shape that all errors have."""

    role: ClassVar[str] = "tool"
    id: str
    name: str
    ok: bool
    result: Any = None
    error: JsonObject | None = None

    def as_dict(self) -> JsonObject:
        return {"role": self.role, **self.canonical()}

    def canonical(self) -> JsonObject:
        """The result alone, in the shape of the tool-call protocol."""
        return {
            "tool_call_id": self.id,
            "name": self.name,
            "ok": self.ok,
            "result": self.result,
            "error": self.error,
        }

    @property
    def content(self) -> Any:
        """What the model reads: the result, or the error."""
        return self.result if self.ok else (self.error or {"error": "failed"})


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolResult


def message_from_dict(data: object) -> Message:
    """The message that `as_dict` wrote; raises `Damaged` if it is malformed."""
    table = _table(data)
    role = table.get("role")
    if role == "system":
        return SystemMessage(_text(table, "text"))
    if role == "user":
        return UserMessage(_text(table, "text"))
    if role == "assistant":
        calls = tuple(ToolCall.from_dict(call) for call in list_field(table, "tool_calls"))
        return AssistantMessage(_text(table, "text"), calls, _object(table, "opaque"))
    if role == "tool":
        ok = table.get("ok")
        if not isinstance(ok, bool):
            raise damaged_error("ok")
        error = None if table.get("error") is None else _object(table, "error")
        return ToolResult(_text(table, "tool_call_id"), _text(table, "name"), ok, table.get("result"), error)
    raise damaged_error("role")


def _table(data: object) -> JsonObject:
    if not isinstance(data, dict):
        raise damaged_error("message")
    return cast("JsonObject", data)


def _text(table: JsonObject, name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str):
        raise damaged_error(name)
    return value


def _object(table: JsonObject, name: str) -> JsonObject:
    value = table.get(name)
    if not isinstance(value, dict):
        raise damaged_error(name)
    return cast("JsonObject", value)


def list_field(table: JsonObject, name: str) -> list[object]:
    value = table.get(name)
    if not isinstance(value, list):
        raise damaged_error(name)
    return cast("list[object]", value)


def damaged_error(name: str) -> Damaged:
    return Damaged(f"A stored message cannot be read: {name}.", field=name)


__all__ = [
    "KINDS",
    "AssistantMessage",
    "CancelToken",
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

# How the provider ended the step: `refused` by a content filter or the model, `cut_off` by a token limit.
FinishReason = Literal["stop", "tool_calls", "cut_off", "refused"]
# What the step means for the loop.
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
    """One step: the conversation so far, the available tools, and the limits.

    `response_schema` asks for JSON of this schema instead of prose; the result's `data` then has it, validated.
    `timeout` is in seconds, for one attempt. `session` comes from an earlier result of the same provider (a CLI agent's
    own memory); `fork` continues a copy of it.
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
    """The result of a step. `latency_ms` includes every attempt and the waits between them; `price_usd` is None if the
    model's price is unknown (a local model costs 0)."""

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
        """The result that `as_dict` wrote; raises `Damaged` if it is malformed."""
        try:
            price = data["price_usd"]
            return cls(
                text=data["text"],
                tool_calls=tuple(ToolCall.from_dict(call) for call in list_field(data, "tool_calls")),
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
            raise damaged_error("step result") from error


@dataclass(frozen=True, slots=True)
class StepDelta:
    """A piece of a step as it arrives: to show, never to act on."""

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
        """Whether the model itself calls tools; if not, `prompted_tools.PromptedTools` adds that."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """The size of the model's context in tokens, if known."""
        ...

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        """Run one step. Raises `ProviderError`; never returns half a step as a whole one."""
        ...

    def skip_step(self) -> None:
        """Skip a step that a job has recorded and replays. Only a provider that counts its steps has to do anything."""
        ...


class StreamingProvider(Provider, Protocol):
    """A provider that can also show a step while it arrives."""

    def stream_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> AsyncIterator[StreamItem]:
        """Deltas, and the result as the last item."""
        ...
