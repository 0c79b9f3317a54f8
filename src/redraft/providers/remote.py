"""Models behind an address: Anthropic, OpenAI (chat and responses), Google, and whatever speaks OpenAI's protocol.

A step is one request and its repetitions. The library that speaks the wire formats is loaded with the first step, in a
thread, so that neither `redraft --version` nor a server's loop pays for it. Connections belong to an event loop: a
provider may be used from several, one after another or side by side, and keeps a client for each.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.providers.contract import Cancel, ProviderError, ProviderStepResult, StepDelta, StepRequest
from redraft.providers.guarding import check_address
from redraft.providers.retrying import RetryPolicy, with_retries
from redraft.providers.streaming import pump

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from redraft.providers.contract import StreamItem

PUBLIC_ADDRESSES = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "openai_responses": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
}
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is and how to be let in. An empty `base_url` is the provider's own public one."""

    kind: str
    model: str
    key: str
    base_url: str = ""

    @property
    def url(self) -> str:
        return self.base_url or PUBLIC_ADDRESSES[self.kind]

    def __repr__(self) -> str:
        # A key must not get into a log by way of a traceback or a test's output.
        return f"Address({self.kind!r}, {self.model!r}, base_url={self.base_url!r})"


@dataclass(frozen=True, slots=True)
class RemoteLimits:
    """What holds where a request does not say. `seconds` is for one attempt, or a stream's first sign of life."""

    seconds: float = 300.0
    output_tokens: int = 8192
    context_tokens: int | None = None


class _Line(NamedTuple):
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
        self._lines: dict[asyncio.AbstractEventLoop, _Line] = {}

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

    async def run_step(self, request: StepRequest, *, cancel: Cancel | None = None) -> ProviderStepResult:
        return await (cancel or Cancel()).run(self._repeated(lambda: self._ask(request)))

    async def stream_step(self, request: StepRequest, *, cancel: Cancel | None = None) -> AsyncIterator[StreamItem]:
        async def produce(show: Callable[[StepDelta], Awaitable[None]]) -> ProviderStepResult:
            return await self._repeated(lambda: self._ask_streaming(request, show))

        async for item in pump(produce, cancel or Cancel()):
            yield item

    async def aclose(self) -> None:
        """Give back the connections of the running loop."""
        line = self._lines.pop(asyncio.get_running_loop(), None)
        if line is not None:
            await line.client.aclose()

    async def _repeated(self, ask: Callable[[], Awaitable[ProviderStepResult]]) -> ProviderStepResult:
        check_address(self._address.url, self.provider_name)
        await self._line()  # what is loaded once is no part of a step's latency
        started = time.perf_counter()

        async def attempt(number: int) -> ProviderStepResult:
            return replace(await ask(), attempts=number)

        result = await with_retries(attempt, self._policy)
        return replace(result, latency_ms=(time.perf_counter() - started) * 1000)

    async def _ask(self, request: StepRequest) -> ProviderStepResult:
        line = await self._line()
        from pydantic_ai.direct import model_request

        from redraft.providers import mishaps, wire

        parameters = wire.parameters(request, line.model)
        try:
            response = await model_request(
                line.model,
                wire.history(request.messages),
                model_settings=self._settings(request),
                model_request_parameters=parameters,
                instrument=False,
            )
        except Exception as error:
            raise mishaps.failure(error, self.provider_name) from error
        return wire.result(response, request, self.provider_name)

    async def _ask_streaming(
        self, request: StepRequest, show: Callable[[StepDelta], Awaitable[None]]
    ) -> ProviderStepResult:
        line = await self._line()
        from pydantic_ai.direct import model_request_stream

        from redraft.providers import mishaps, wire

        parameters = wire.parameters(request, line.model)
        shown = False
        try:
            async with model_request_stream(
                line.model,
                wire.history(request.messages),
                model_settings=self._settings(request, streaming=True),
                model_request_parameters=parameters,
                instrument=False,
            ) as stream:
                async for event in stream:
                    if piece := wire.delta(event):
                        shown = True
                        await show(piece)
                response = stream.get()
        except Exception as error:
            failure = mishaps.failure(error, self.provider_name)
            failure.final = shown
            raise failure from error
        return wire.result(response, request, self.provider_name)

    def _settings(self, request: StepRequest, *, streaming: bool = False) -> ModelSettings:
        seconds = request.timeout or self._limits.seconds
        settings: dict[str, Any] = {
            "max_tokens": request.max_output_tokens or self._limits.output_tokens,
            # The repetitions are ours: they heed a cancellation, are counted, and are the same for every provider.
            "max_retries": 0,
            "timeout": seconds,
            # A stream lasts as long as it has something to say; a silence of `seconds` still ends it.
            "first_event_timeout" if streaming else "request_timeout": seconds,
            "cache": True,
        }
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        return settings  # pyright: ignore[reportReturnType] - built by name, because one name depends on `streaming`

    async def _line(self) -> _Line:
        """The running loop's own connection, made with the first step."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            await asyncio.to_thread(_load)
            # Another step may have connected while this one waited.
            line = self._lines.get(loop) or self._connected()
            # A loop that has ended took its connections along; only its entry is left.
            self._lines = {known: open_line for known, open_line in self._lines.items() if not known.is_closed()}
            self._lines[loop] = line
        return line

    def _connected(self) -> _Line:
        import httpx2

        from redraft.providers.connecting import connect

        client = httpx2.AsyncClient(timeout=httpx2.Timeout(self._limits.seconds, connect=_CONNECT_SECONDS))
        return _Line(client, connect(self._address, client))


def _load() -> None:
    """Import what a step needs; the seconds that it takes pass outside of the event loop."""
    try:
        importlib.import_module("redraft.providers.connecting")
        importlib.import_module("redraft.providers.wire")
    except ImportError as error:
        raise ProviderError(
            f"The library for remote models is not installed: {error.name}.", kind="unavailable"
        ) from error
