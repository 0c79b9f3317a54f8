"""Which model answers, and why: `local`, `remote`, or `hybrid_auto`, which starts with the local one.

The policy is a pure function from what happened to what happens next, so that it can be read, tested and replayed. Each
choice is a value with its reason, passed to whoever traces the job. Three things never happen: a change of the model
if `fallback` is off, a change in the modes `local` and `remote`, and a return from the remote model to the local
one within a job.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from redraft.providers.contract import (
    CancelToken,
    JsonObject,
    Provider,
    ProviderError,
    ProviderStepResult,
    StepDelta,
    StepRequest,
)
from redraft.providers.stream import stream_step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from redraft.config import RoutingSettings
    from redraft.providers.contract import Kind, StreamItem

Side = Literal["local", "remote"]
# What can make `hybrid_auto` switch to the remote model. Malformed output counts towards the local model's attempts,
# since sending it back often helps; each of the others is enough alone.
Trigger = Literal[
    "tool_budget_spent", "schema_invalid", "context_overflow", "validation_failed", "timeout", "local_failed"
]
# A cancellation is the person's choice and no failure of the model, and the loop judges a truncated answer.
_TRIGGER_OF: dict[Kind, Trigger] = {
    "context_overflow": "context_overflow",
    "timeout": "timeout",
    "invalid_output": "schema_invalid",
    "auth": "local_failed",
    "quota": "local_failed",
    "rate_limited": "local_failed",
    "overloaded": "local_failed",
    "unreachable": "local_failed",
    "bad_request": "local_failed",
    "unavailable": "local_failed",
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The choice of a model, for the trace of a job."""

    side: Side
    provider: str
    model: str
    reason: str
    trigger: Trigger | None = None

    def as_dict(self) -> JsonObject:
        return {
            "side": self.side,
            "provider": self.provider,
            "model": self.model,
            "reason": self.reason,
            "trigger": self.trigger,
        }


@dataclass(frozen=True, slots=True)
class RoutingState:
    """The state of a job: which side answers, and how many failures of the local model count."""

    side: Side
    local_failures: int = 0


def starting_side(routing: RoutingSettings) -> Side:
    return "remote" if routing.agent_mode == "remote" else "local"


def next_state(state: RoutingState, trigger: Trigger, routing: RoutingSettings) -> tuple[RoutingState, str]:
    """The state after something went wrong, and the reason in words."""
    if state.side == "remote":
        return state, "staying with the remote model"
    if routing.agent_mode != "hybrid_auto":
        return state, f"agent_mode {routing.agent_mode} keeps the model"
    if not routing.fallback:
        return state, "fallback is off"
    if trigger == "context_overflow" and not routing.hybrid_remote_on_context_overflow:
        return state, "hybrid_remote_on_context_overflow is off"
    if trigger == "schema_invalid" and not routing.hybrid_remote_on_schema_fail:
        return state, "hybrid_remote_on_schema_fail is off"
    if trigger == "schema_invalid":
        failures = state.local_failures + 1
        if failures < routing.hybrid_max_local_attempts:
            return RoutingState("local", failures), f"local attempt {failures} was malformed"
        return RoutingState("remote", failures), f"{failures} local attempts were malformed"
    return RoutingState("remote", state.local_failures), f"switched from the local model: {trigger}"


class RoutedProvider:
    """The models of one job as one provider, so that a loop never asks which one it talks to.

    Failures that a step itself shows (a full context, a time-out, malformed output, an error) are handled here: the
    same request goes to the remote model at once. The loop reports what only it can know (a spent budget, a failed
    check).
    """

    def __init__(
        self,
        routing: RoutingSettings,
        *,
        local: Provider | None = None,
        remote: Provider | None = None,
        trace: Callable[[ModelChoice], None] | None = None,
        state: RoutingState | None = None,
    ) -> None:
        self._routing = routing
        self._sides: dict[Side, Provider | None] = {"local": local, "remote": remote}
        self._trace = trace
        self.choices: list[ModelChoice] = []
        self.state = state or RoutingState(starting_side(routing))
        self._started = False
        if self._sides[self.state.side] is None:
            raise ProviderError(
                f"agent_mode {routing.agent_mode} needs a {self.state.side} model and none is set up.",
                kind="unavailable",
            )

    @property
    def current(self) -> Provider:
        provider = self._sides[self.state.side]
        if provider is None:
            raise ProviderError(f"No {self.state.side} model is set up.", kind="unavailable")
        return provider

    @property
    def provider_name(self) -> str:
        return self.current.provider_name

    @property
    def model(self) -> str:
        return self.current.model

    @property
    def supports_native_tools(self) -> bool:
        return self.current.supports_native_tools

    @property
    def context_tokens(self) -> int | None:
        return self.current.context_tokens

    def report(self, trigger: Trigger) -> bool:
        """The loop saw something go wrong; returns whether another model answers from now on."""
        state, reason = next_state(self.state, trigger, self._routing)
        moved = state.side != self.state.side
        if moved and self._sides[state.side] is None:
            return False
        self.state = state
        if moved:
            self._choose(reason, trigger)
        return moved

    def skip_step(self) -> None:
        self.current.skip_step()

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        self._begin()
        while True:
            try:
                async with self._local_timeout():
                    return await self.current.run_step(request, cancel=cancel)
            except ProviderError as failure:
                if not self._fall_back(failure):
                    raise
            except TimeoutError as error:
                failure = ProviderError("The local model took too long.", kind="timeout", provider=self.provider_name)
                if not self._fall_back(failure):
                    raise failure from error

    async def stream_step(
        self, request: StepRequest, *, cancel: CancelToken | None = None
    ) -> AsyncIterator[StreamItem]:
        """Like `run_step`, streamed; but while a model may still be replaced, its words are shown only when they are
        complete, since they cannot be taken back."""
        self._begin()
        if self._can_fall_back:
            result = await self.run_step(request, cancel=cancel)
            if result.text:
                yield StepDelta("text", result.text)
            yield result
            return
        async for item in stream_step(self.current, request, cancel):
            yield item

    def _begin(self) -> None:
        if not self._started:
            self._started = True
            self._choose(f"agent_mode is {self._routing.agent_mode}", None)

    def _fall_back(self, failure: ProviderError) -> bool:
        trigger = _TRIGGER_OF.get(failure.kind)
        return trigger is not None and self.report(trigger)

    @property
    def _can_fall_back(self) -> bool:
        hybrid = self._routing.agent_mode == "hybrid_auto" and self._routing.fallback
        return hybrid and self.state.side == "local" and self._sides["remote"] is not None

    def _local_timeout(self) -> asyncio.Timeout:
        """How long to wait for a local model that may be replaced, including its retries."""
        return asyncio.timeout(self._routing.hybrid_remote_on_timeout_ms / 1000 if self._can_fall_back else None)

    def _choose(self, reason: str, trigger: Trigger | None) -> None:
        choice = ModelChoice(self.state.side, self.current.provider_name, self.current.model, reason, trigger)
        self.choices.append(choice)
        if self._trace is not None:
            self._trace(choice)

    async def aclose(self) -> None:
        for provider in self._sides.values():
            close = getattr(provider, "aclose", None)
            if close is not None:
                await close()
