"""A model that plays a script: for tests, demonstrations and golden traces.

A script is JSON lines, one step each (or a YAML or JSON list of the same); blank lines and lines that start with `#`
are skipped:

    {"text": "I look it up.", "calls": [{"tool": "search", "arguments": {"query": "harbour"}}]}
    {"text": "Half a sen", "finish": "cut_off"}
    {"error": "rate_limited", "retry_after": 2, "delay_ms": 50}
    {"raw": "{\\"say\\": "}          what a model without tools wrote, read by the JSON protocol
    {"text": "Done.", "usage": {"input_tokens": 900, "output_tokens": 12}, "price_usd": "0.003"}

Steps are played in order, each once: from the first for each job, and from where it was for a job that is resumed. At
its end a script fails with an error that says so, unless it `repeat`s its last step. Requests are stored in `asked`.
Steps may be taken from several tasks and threads at a time.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, cast, get_args

from redraft.errors import RedraftError
from redraft.providers.adapters.prompted_tools import parse_answer
from redraft.providers.contract import (
    CancelToken,
    FinishReason,
    JsonObject,
    Kind,
    ProviderError,
    ProviderStepResult,
    StepDelta,
    StepRequest,
    ToolCall,
    Usage,
)
from redraft.providers.json_output import parse_structured_data, violations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from redraft.providers.contract import StreamItem

_STEP: JsonObject = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "raw": {"type": "string"},
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}, "id": {"type": "string"}},
                "required": ["tool"],
                "additionalProperties": False,
            },
        },
        "finish": {"enum": list(get_args(FinishReason))},
        "error": {"enum": list(get_args(Kind))},
        "message": {"type": "string"},
        "retry_after": {"type": "number"},
        "delay_ms": {"type": "number", "minimum": 0},
        "usage": {"type": "object", "additionalProperties": {"type": "integer"}},
        "price_usd": {"type": "string"},
    },
    "additionalProperties": False,
    "minProperties": 1,
}


@dataclass(frozen=True, slots=True)
class ScriptedStep:
    """One step of a script, checked."""

    text: str = ""
    calls: tuple[JsonObject, ...] = ()
    raw: str | None = None
    finish: FinishReason | None = None
    error: Kind | None = None
    message: str = "The script makes this step fail."
    retry_after: float | None = None
    delay_ms: float = 0.0
    usage: Usage = field(default_factory=Usage)
    price_usd: Decimal | None = None

    @classmethod
    def from_dict(cls, data: object) -> ScriptedStep:
        """A step as a script writes it; raises `invalid_settings` if it is malformed."""
        if found := violations(data, _STEP):
            raise _script_error("; ".join(found))
        table = dict(cast("JsonObject", data))
        table["calls"] = tuple(table.get("calls", ()))
        try:
            table["usage"] = Usage(**table.get("usage", {}))
            if "price_usd" in table:
                table["price_usd"] = Decimal(table["price_usd"])
        except (TypeError, InvalidOperation) as error:
            raise _script_error(str(error)) from error
        return cls(**table)


def read_script(text: str) -> list[ScriptedStep]:
    """The steps of a script: JSON lines, or a list in JSON or YAML."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    try:
        if all(line.startswith("{") for line in lines):
            entries: object = [json.loads(line) for line in lines]
        else:
            entries = _parse_yaml(text)
    except ValueError as error:
        raise _script_error(str(error)) from error
    if not isinstance(entries, list):
        raise _script_error("a script is a list of steps")
    return [ScriptedStep.from_dict(entry) for entry in cast("list[object]", entries)]


def _parse_yaml(text: str) -> object:
    import yaml

    try:
        return cast("object", yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _script_error(why: str) -> RedraftError:
    return RedraftError(f"The script cannot be read: {why}.", code="invalid_settings")


class ScriptedProvider:
    """Plays the steps it was given."""

    provider_name = "scripted"
    supports_native_tools = True

    def __init__(
        self,
        steps: Iterable[ScriptedStep | JsonObject],
        *,
        repeat: bool = False,
        model: str = "scripted",
        context_tokens: int | None = None,
    ) -> None:
        self._steps = [step if isinstance(step, ScriptedStep) else ScriptedStep.from_dict(step) for step in steps]
        self._repeat = repeat
        self._lock = threading.Lock()
        self._played = 0
        self.model = model
        self.context_tokens = context_tokens
        self.asked: list[StepRequest] = []

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        return await (cancel or CancelToken()).run(self._play(request))

    async def stream_step(
        self, request: StepRequest, *, cancel: CancelToken | None = None
    ) -> AsyncIterator[StreamItem]:
        result = await self.run_step(request, cancel=cancel)
        for word in re.findall(r"\S*\s*", result.text):
            (cancel or CancelToken()).check()
            if word:
                yield StepDelta("text", word)
        yield result

    def skip_step(self) -> None:
        """Skip a step that a job has recorded and replays, so that the script continues after it."""
        with self._lock:
            self._played += 1

    async def _play(self, request: StepRequest) -> ProviderStepResult:
        number, step = self._next(request)
        if step.delay_ms:
            await asyncio.sleep(step.delay_ms / 1000)
        if step.error is not None:
            raise ProviderError(
                step.message, kind=step.error, provider=self.provider_name, retry_after=step.retry_after
            )
        text, calls = self._output(step, request, number)
        finish = step.finish or ("tool_calls" if calls else "stop")
        whole = finish not in ("cut_off", "refused")
        data: Any = parse_structured_data(text, request, self.provider_name) if whole and not calls else None
        return ProviderStepResult(
            text=text,
            tool_calls=calls if whole else (),
            finish=finish,
            usage=step.usage,
            price_usd=step.price_usd,
            latency_ms=step.delay_ms,
            provider=self.provider_name,
            model=self.model,
            data=data,
        )

    def _next(self, request: StepRequest) -> tuple[int, ScriptedStep]:
        with self._lock:
            self.asked.append(request)
            number = self._played
            self._played += 1
        if number >= len(self._steps):
            if not (self._repeat and self._steps):
                raise ProviderError("The script has no further step.", kind="unavailable", provider=self.provider_name)
            return number, self._steps[-1]
        return number, self._steps[number]

    def _output(self, step: ScriptedStep, request: StepRequest, number: int) -> tuple[str, tuple[ToolCall, ...]]:
        if step.raw is not None and step.finish != "cut_off":
            return parse_answer(step.raw, request.tools, prefix=f"call_{number + 1}", provider=self.provider_name)
        calls = tuple(
            ToolCall(call.get("id") or f"call_{number + 1}_{index}", call["tool"], call.get("arguments", {}))
            for index, call in enumerate(step.calls, start=1)
        )
        return step.raw or step.text, calls
