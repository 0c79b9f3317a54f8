"""Models behind an address: Anthropic, OpenAI (chat and responses), Google, and everything with OpenAI's protocol.

A step is one request and its retries. The library for the wire formats is loaded with the first step, in a thread, so
that neither `redraft --version` nor a server's event loop pays for it. Connections belong to an event loop: a
provider may be used from several, one after another or at the same time, and has a client for each.
"""

from __future__ import annotations

import asyncio
import importlib
import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from redraft.providers.contract import CancelToken, ProviderStepResult, StepDelta, StepRequest
from redraft.providers.errors import ProviderError
from redraft.providers.network_guard import check_address
from redraft.providers.stream import pump

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from redraft.providers.contract import StreamItem

# Retries, where they can help.
#
# Only errors whose kind allows it are retried (a rate limit, an overload, a time-out, a broken connection), never a
# refused key or a refused request. The wait doubles with each attempt, with a random part so that sixteen subagents
# do not retry in step. If the provider names a time, that is used; if it is longer than anybody would wait, the error
# is raised at once with that time in it.


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to retry. Times are seconds; `attempts` includes the first one."""

    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 30.0
    longest_named_wait: float = 60.0

    def wait(self, attempt: int, failure: ProviderError, chance: float) -> float | None:
        """How long to wait after `attempt` (from 1) failed; None if the failure is final. `chance` is in [0, 1)."""
        if attempt >= self.attempts or not failure.can_retry:
            return None
        if failure.retry_after is not None:
            return None if failure.retry_after > self.longest_named_wait else max(0.0, failure.retry_after)
        # The exponent is limited, because a float overflows long before a patient person gives up.
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 30))
        return ceiling * (0.5 + chance / 2)


async def with_retries(
    attempt: Callable[[int], Awaitable[T]],
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> T:
    """Call `attempt` with the number of the attempt, repeatedly as the policy says; returns its result."""
    number = 1
    while True:
        try:
            return await attempt(number)
        except ProviderError as failure:
            failure.attempts = number
            wait = policy.wait(number, failure, chance())
            if wait is None:
                raise
        await sleep(wait)
        number += 1


PUBLIC_ADDRESSES = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "openai_responses": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
}
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a model and its key. An empty `base_url` is the provider's public one."""

    kind: str
    model: str
    key: str
    base_url: str = ""

    @property
    def url(self) -> str:
        return self.base_url or PUBLIC_ADDRESSES[self.kind]

    def __repr__(self) -> str:
        # A key must not get into a log through a traceback or a test's output.
        return f"Address({self.kind!r}, {self.model!r}, base_url={self.base_url!r})"


@dataclass(frozen=True, slots=True)
class RemoteLimits:
    """Defaults for a request. `seconds` is for one attempt, or until a stream's first sign of life."""

    seconds: float = 300.0
    output_tokens: int = 8192
    context_tokens: int | None = None


class _Connection(NamedTuple):
    """A connection of one event loop."""

    client: httpx2.AsyncClient
    model: Model


class RemoteProvider:
    """A model behind an address."""

    def __init__(
        self,
        address: Address,
        *,
        limits: RemoteLimits | None = None,
        policy: RetryPolicy | None = None,
        native_tools: bool = True,
    ) -> None:
        self._address = address
        self._limits = limits or RemoteLimits()
        self._policy = policy or RetryPolicy()
        self._native_tools = native_tools
        self._connections: dict[asyncio.AbstractEventLoop, _Connection] = {}

    @property
    def provider_name(self) -> str:
        return self._address.kind

    @property
    def model(self) -> str:
        return self._address.model

    @property
    def supports_native_tools(self) -> bool:
        return self._native_tools

    @property
    def context_tokens(self) -> int | None:
        return self._limits.context_tokens

    def skip_step(self) -> None:
        """Nothing to do: each step sends the whole conversation."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        return await (cancel or CancelToken()).run(self._ask_with_retries(lambda: self._ask(request)))

    async def stream_step(
        self, request: StepRequest, *, cancel: CancelToken | None = None
    ) -> AsyncIterator[StreamItem]:
        async def produce(show: Callable[[StepDelta], Awaitable[None]]) -> ProviderStepResult:
            return await self._ask_with_retries(lambda: self._ask_streaming(request, show))

        async for item in pump(produce, cancel or CancelToken()):
            yield item

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        line = self._connections.pop(asyncio.get_running_loop(), None)
        if line is not None:
            await line.client.aclose()

    async def _ask_with_retries(self, ask: Callable[[], Awaitable[ProviderStepResult]]) -> ProviderStepResult:
        check_address(self._address.url, self.provider_name)
        await self._connection()  # one-time loading is not part of a step's latency
        started = time.perf_counter()

        async def attempt(number: int) -> ProviderStepResult:
            return replace(await ask(), attempts=number)

        result = await with_retries(attempt, self._policy)
        return replace(result, latency_ms=(time.perf_counter() - started) * 1000)

    async def _ask(self, request: StepRequest) -> ProviderStepResult:
        line = await self._connection()
        from pydantic_ai.direct import model_request

        from redraft.providers.adapters import pydantic_ai_bridge

        parameters = pydantic_ai_bridge.request_parameters(request, line.model)
        try:
            response = await model_request(
                line.model,
                pydantic_ai_bridge.to_library_messages(request.messages),
                model_settings=self._settings(request),
                model_request_parameters=parameters,
                instrument=False,
            )
        except Exception as error:
            raise self._failure(error) from error
        return pydantic_ai_bridge.to_step_result(response, request, self.provider_name)

    async def _ask_streaming(
        self, request: StepRequest, show: Callable[[StepDelta], Awaitable[None]]
    ) -> ProviderStepResult:
        line = await self._connection()
        from pydantic_ai.direct import model_request_stream

        from redraft.providers.adapters import pydantic_ai_bridge

        parameters = pydantic_ai_bridge.request_parameters(request, line.model)
        shown = False
        try:
            async with model_request_stream(
                line.model,
                pydantic_ai_bridge.to_library_messages(request.messages),
                model_settings=self._settings(request, streaming=True),
                model_request_parameters=parameters,
                instrument=False,
            ) as stream:
                async for event in stream:
                    if piece := pydantic_ai_bridge.to_delta(event):
                        shown = True
                        await show(piece)
                response = stream.get()
        except Exception as error:
            failure = self._failure(error)
            failure.final = shown
            raise failure from error
        try:
            pydantic_ai_bridge.check_complete(response, self.provider_name)
        except ProviderError as failure:
            failure.final = shown
            raise
        return pydantic_ai_bridge.to_step_result(response, request, self.provider_name)

    def _failure(self, error: Exception) -> ProviderError:
        """Our error for one of the library's. A server may quote the key that it refuses; nobody is shown it."""
        from redraft.providers.adapters import pydantic_ai_bridge

        failure = pydantic_ai_bridge.translate_error(error, self.provider_name)
        if self._address.key and self._address.key in failure.message:
            failure.message = failure.message.replace(self._address.key, "[the key]")
            failure.args = (failure.message,)
        return failure

    def _settings(self, request: StepRequest, *, streaming: bool = False) -> ModelSettings:
        seconds = request.timeout or self._limits.seconds
        settings: dict[str, Any] = {
            "max_tokens": request.max_output_tokens or self._limits.output_tokens,
            # We retry ourselves: cancellation works, attempts are counted, and every provider behaves the same.
            "max_retries": 0,
            "timeout": seconds,
            # A stream may take as long as it has something to say; a silence of `seconds` still ends it.
            "first_event_timeout" if streaming else "request_timeout": seconds,
            "cache": True,
        }
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        return settings  # pyright: ignore[reportReturnType] - built by name, because one name depends on `streaming`

    async def _connection(self) -> _Connection:
        """The running loop's own connection, opened with the first step."""
        loop = asyncio.get_running_loop()
        line = self._connections.get(loop)
        if line is None:
            await asyncio.to_thread(_load)
            # Another step may have connected while this one waited.
            line = self._connections.get(loop) or self._open_connection()
            # A loop that has ended took its connections with it; only its entry is left.
            self._connections = {
                known: open_line for known, open_line in self._connections.items() if not known.is_closed()
            }
            self._connections[loop] = line
        return line

    def _open_connection(self) -> _Connection:
        import httpx2

        from redraft.providers.adapters.pydantic_ai_bridge import connect

        client = httpx2.AsyncClient(timeout=httpx2.Timeout(self._limits.seconds, connect=_CONNECT_SECONDS))
        return _Connection(client, connect(self._address, client))


def _load() -> None:
    """Import what a step needs, outside of the event loop: it takes seconds."""
    try:
        importlib.import_module("redraft.providers.adapters.pydantic_ai_bridge")
    except ImportError as error:
        raise ProviderError(
            f"The library for remote models is not installed: {error.name}.", kind="unavailable"
        ) from error
