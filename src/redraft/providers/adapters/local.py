"""A GGUF file as a model, in this process (the extra `redraft[local]`).

llama.cpp computes in its own threads; a step waits for it in one of ours, so the event loop stays free. The file is
loaded with the first step and stays loaded. If the request has a JSON schema, decoding is constrained to it, so even a
very small model answers in the right form. Small models have no native tools; `prompted_tools.PromptedTools` adds
ours. Nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import secrets
import threading
import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from redraft.providers.contract import (
    AssistantMessage,
    CancelToken,
    JsonObject,
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    SystemMessage,
    ToolResult,
    Usage,
)
from redraft.providers.json_output import parse_structured_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.providers.contract import Kind

NAME = "local"


@dataclass(slots=True)
class _Generation:
    """What has been generated of one answer so far, and whether to continue."""

    stop: threading.Event
    deadline: float
    text: list[str] = field(default_factory=list[str])
    usage: JsonObject = field(default_factory=dict[str, Any])
    finish: str = ""
    error: JsonObject | None = None
    late: bool = False

    def take(self, chunk: Any) -> bool:
        """Add a piece; returns True to stop the decoder."""
        if "error" in chunk:
            self.error = chunk["error"]
            return True
        for choice in chunk.get("choices", ()):
            self.text.append(choice.get("delta", {}).get("content") or "")
            self.finish = choice.get("finish_reason") or self.finish
        self.usage = chunk.get("usage") or self.usage
        self.late = time.monotonic() > self.deadline
        return self.late or self.stop.is_set()


class LocalProvider:
    """A model in a file."""

    provider_name = NAME
    supports_native_tools = False

    def __init__(
        self, file: str, *, context_tokens: int = 8192, output_tokens: int = 1024, seconds: float = 300.0
    ) -> None:
        self._file = file
        self._output_tokens = output_tokens
        self._seconds = seconds
        self._loading = threading.Lock()
        self._server: Any = None
        self.context_tokens = context_tokens

    @property
    def model(self) -> str:
        return os.path.basename(self._file)

    def skip_step(self) -> None:
        """Nothing to do: each step sends the whole conversation."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        return await (cancel or CancelToken()).run(self._step(request))

    async def _step(self, request: StepRequest) -> ProviderStepResult:
        await asyncio.to_thread(self._load)
        seconds = request.timeout or self._seconds
        started = time.monotonic()
        writing = _Generation(threading.Event(), started + seconds)
        try:
            async with asyncio.timeout(seconds):
                await asyncio.to_thread(self._generate, self._body(request), writing)
        except TimeoutError as error:
            raise self._error("The model did not answer in time.", "timeout") from error
        finally:
            writing.stop.set()
        return self._result(writing, request, (time.monotonic() - started) * 1000)

    def _load(self) -> None:
        with self._loading:
            if self._server is not None:
                return
            if not os.path.isfile(self._file):
                raise self._error(f"There is no file {self._file}.", "unavailable")
            try:
                library = importlib.import_module("xllamacpp")
            except ImportError as error:
                raise self._error("Install redraft[local] to run a model from a file.", "unavailable") from error
            settings = library.CommonParams()
            settings.model.path = self._file
            settings.n_ctx = self.context_tokens
            settings.n_parallel = 1
            settings.verbosity = -1
            # Leave one core to the person: threads that outnumber the free cores wait for each other. On two busy cores
            # one thread wrote 29-38 tokens a second and two wrote 3-10 (four runs each, alternating). An idle machine,
            # where one more thread should help, was not measured.
            settings.cpuparams.n_threads = max(1, (os.cpu_count() or 2) - 1)
            settings.cpuparams_batch.n_threads = settings.cpuparams.n_threads
            # The library also listens on a loopback port; nobody but us can know its key.
            settings.api_keys = [secrets.token_urlsafe(32)]
            try:
                self._server = library.Server(settings)
            except RuntimeError as error:
                raise self._error(f"{self._file} cannot be loaded as a model: {error}.", "unavailable") from error

    def _generate(self, body: JsonObject, writing: _Generation) -> None:
        try:
            answer = self._server.handle_chat_completions(body, writing.take)
        except RuntimeError as error:
            raise self._error(f"The model failed: {error}.", "bad_request") from error
        if isinstance(answer, dict):
            writing.take(answer)

    def _body(self, request: StepRequest) -> JsonObject:
        body: JsonObject = {
            "messages": _chat(request.messages),
            "max_tokens": request.max_output_tokens or self._output_tokens,
            "temperature": 0.0 if request.temperature is None else request.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.response_schema is not None:
            schema = {"name": "answer", "schema": request.response_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _result(self, writing: _Generation, request: StepRequest, latency: float) -> ProviderStepResult:
        if writing.error is not None:
            overflow = writing.error.get("type") == "exceed_context_size_error"
            raise self._error(str(writing.error.get("message")), "context_overflow" if overflow else "bad_request")
        if writing.late:
            raise self._error("The model did not answer in time.", "timeout")
        text = "".join(writing.text)
        whole = writing.finish == "stop"
        return ProviderStepResult(
            text=text,
            finish="stop" if whole else "cut_off",
            usage=Usage(writing.usage.get("prompt_tokens", 0), writing.usage.get("completion_tokens", 0)),
            price_usd=Decimal(0),
            latency_ms=latency,
            provider=NAME,
            model=self.model,
            data=parse_structured_data(text, request, NAME) if whole else None,
        )

    def _error(self, message: str, kind: Kind) -> ProviderError:
        return ProviderError(message, kind=kind, provider=NAME)


def _chat(messages: Iterable[Message]) -> list[JsonObject]:
    """The conversation for a chat template, most of which allow one system text at the start and strictly alternating
    turns."""
    listed = list(messages)
    orders = "\n\n".join(message.text for message in listed if isinstance(message, SystemMessage))
    turns: list[JsonObject] = [{"role": "system", "content": orders}] if orders else []
    for message in listed:
        if isinstance(message, SystemMessage):
            continue
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        text = str(message.content) if isinstance(message, ToolResult) else message.text
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += f"\n\n{text}"
        else:
            turns.append({"role": role, "content": text})
    return turns
