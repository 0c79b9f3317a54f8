"""Golden traces: the steps of a real run kept in a file, and played again without the model.

One JSON line a step: a fingerprint of what was asked, and the result or the failure. Played again, a step is found by
its fingerprint, so that subagents may ask in any order; a request that was never recorded is a failure that says so and
never a guess. A trace holds what the model wrote, which may quote documents: it is kept where the person puts it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redraft.errors import Damaged
from redraft.providers.adapters.prompted_tools import ProviderWrapper
from redraft.providers.contract import (
    KINDS,
    AssistantMessage,
    CancelToken,
    JsonObject,
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redraft.providers.contract import Provider


def fingerprint(request: StepRequest) -> str:
    """What a step depends on, as a hash: equal for requests that a model could not tell apart.

    The names of calls are taken by their order, because providers make them up anew in every run.
    """
    names: dict[str, str] = {}
    asked = {
        "messages": [_without_ids(message, names) for message in request.messages],
        "tools": [[tool.name, tool.description, tool.parameters] for tool in request.tools],
        "schema": request.response_schema,
        "limits": [request.max_output_tokens, request.temperature],
    }
    written = json.dumps(asked, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _without_ids(message: Message, names: dict[str, str]) -> JsonObject:
    if isinstance(message, AssistantMessage):
        for call in message.tool_calls:
            names.setdefault(call.id, f"#{len(names)}")
        table = replace(message, opaque={}).as_dict()
        table["tool_calls"] = [{**call, "tool_call_id": names[call["tool_call_id"]]} for call in table["tool_calls"]]
        return table
    table = message.as_dict()
    if "tool_call_id" in table:
        table["tool_call_id"] = names.get(table["tool_call_id"], "?")
    return table


class RecordingProvider(ProviderWrapper):
    """Passes every step on and hands a line of it to `write`, also of one that failed."""

    def __init__(self, inner: Provider, write: Callable[[str], object]) -> None:
        super().__init__(inner)
        self._write = write
        self._lock = threading.Lock()

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        try:
            result = await self._inner.run_step(request, cancel=cancel)
        except ProviderError as failure:
            if failure.kind != "cancelled":
                self._write_line(request, {"failure": {"kind": failure.kind, "message": failure.message}})
            raise
        self._write_line(request, {"result": result.as_dict()})
        return result

    def _write_line(self, request: StepRequest, outcome: JsonObject) -> None:
        line = json.dumps({"asked": fingerprint(request), **outcome}, ensure_ascii=False)
        with self._lock:
            self._write(line + "\n")


class ReplayProvider:
    """Plays a trace again."""

    supports_native_tools = True

    def __init__(self, lines: Iterable[str], *, context_tokens: int | None = None) -> None:
        self._outcomes: dict[str, list[JsonObject]] = {}
        self._lock = threading.Lock()
        self.provider_name = "replay"
        self.model = "replay"
        self.context_tokens = context_tokens
        for line in lines:
            if line.strip():
                asked, outcome = _parse_line(line)
                self._outcomes.setdefault(asked, []).append(outcome)

    def skip_step(self) -> None:
        """It finds a step by what is asked."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        (cancel or CancelToken()).check()
        asked = fingerprint(request)
        with self._lock:
            waiting = self._outcomes.get(asked, [])
            # Asked once more than recorded, the same question gets the same answer again.
            outcome = waiting.pop(0) if len(waiting) > 1 else (waiting[0] if waiting else None)
        if outcome is None:
            raise ProviderError(
                f"The trace holds no step for this request ({asked[:12]}).", kind="unavailable", provider="replay"
            )
        if "failure" in outcome:
            raise ProviderError(outcome["failure"]["message"], kind=outcome["failure"]["kind"], provider="replay")
        return ProviderStepResult.from_dict(outcome["result"])


def _parse_line(line: str) -> tuple[str, JsonObject]:
    try:
        outcome: Any = json.loads(line)
        asked: object = outcome.pop("asked")
        if "result" in outcome:
            ProviderStepResult.from_dict(outcome["result"])
        elif outcome["failure"]["kind"] not in KINDS:
            raise KeyError("kind")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged("A line of the trace cannot be read.") from error
    return str(asked), outcome
