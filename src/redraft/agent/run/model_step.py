"""One step of the model: paid for once, recorded before anything is done with it, and never requested again.

The step and its cost are stored in one durable transaction. A step with unusable output was paid for too, so it is
recorded like any other.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.agent.store.events import DELTA, THOUGHT, clip_text
from redraft.providers.contract import ProviderError, ProviderStepResult, StepRequest
from redraft.providers.stream import stream_step

if TYPE_CHECKING:
    from redraft.agent.run.budget import JobBudget
    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.store.jobs import Job
    from redraft.agent.store.steps import JobSteps, RecordedStep
    from redraft.errors import ErrorCode
    from redraft.providers.contract import CancelToken, Message, Provider, ToolDefinition

CUT_OFF = "Your output was cut off by its length limit, and none of it was executed. Work in smaller steps."


class OutOfTime(Exception):
    """The job's time ran out in the middle of a step; the step is discarded."""


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """A usable result; or else why it is not usable, the error code, and what the model wrote."""

    result: ProviderStepResult | None
    fault: str = ""
    code: ErrorCode = "model_output_invalid"
    output: str = ""


class ModelRunner:
    """The model's side of one job."""

    def __init__(
        self,
        store: AgentStore,
        job: Job,
        provider: Provider,
        steps: JobSteps,
        budget: JobBudget,
        cancel: CancelToken,
        output_tokens: int,
    ) -> None:
        self._store = store
        self._job = job
        self._provider = provider
        self._steps = steps
        self._budget = budget
        self._cancel = cancel
        self._output_tokens = output_tokens

    async def step(self, messages: list[Message], tools: tuple[ToolDefinition, ...]) -> ModelOutput:
        """What the model says next."""
        number = self._budget.used_iterations + 1
        recorded = self._steps.play("model", str(number))
        value = self._replay(recorded) if recorded is not None else await self._request_step(number, messages, tools)
        if "fault" in value:
            self._budget.used_iterations += 1
            return ModelOutput(None, value["fault"], value["code"], value["output"])
        result = ProviderStepResult.from_dict(value["result"])
        self._budget.count_step(result)
        if result.cut_off:
            return ModelOutput(None, CUT_OFF, "model_output_cut_off", result.text)
        return ModelOutput(result)

    def _replay(self, recorded: RecordedStep) -> dict[str, Any]:
        self._provider.skip_step()
        return recorded.value

    async def _request_step(
        self, number: int, messages: list[Message], tools: tuple[ToolDefinition, ...]
    ) -> dict[str, Any]:
        request = StepRequest(tuple(messages), tools, max_output_tokens=self._output_tokens)
        self._tell("step.started", step=number, of=self._budget.iterations)
        try:
            result = await asyncio.wait_for(self._cancel.run(self._stream(request)), self._budget.seconds_left)
        except TimeoutError as error:
            raise OutOfTime from error
        except ProviderError as error:
            if error.kind not in ("invalid_output", "cut_off"):
                raise
            fault = CUT_OFF if error.kind == "cut_off" else f"Your output could not be used: {error.message}"
            value: dict[str, Any] = {"fault": fault, "code": error.code, "output": error.output}
            self._steps.record("model", str(number), value)
            self._tell("step.invalid", step=number, reason=clip_text(fault))
            return value
        value = {"result": result.as_dict()}
        with self._store.database.transaction():
            self._steps.record("model", str(number), value)
            self._store.usage.add(self._job.id, self._job.document, result)
        self._tell_step(number, result, request)
        return value

    async def _stream(self, request: StepRequest) -> ProviderStepResult:
        cursor = self._store.jobs.get(self._job.id).cursor
        async for item in stream_step(self._provider, request, self._cancel):
            if isinstance(item, ProviderStepResult):
                return item
            if item.kind != "tool_call":
                kind = DELTA if item.kind == "text" else THOUGHT
                self._store.events.send_delta(self._job.id, cursor, item.text, kind)
        raise ProviderError("The model's answer is too long.", kind="invalid_output")

    def _tell_step(self, number: int, result: ProviderStepResult, request: StepRequest) -> None:
        self._tell(
            "step.completed",
            step=number,
            provider=result.provider,
            model=result.model,
            stop_reason=result.stop_reason(request),
            usage=result.usage.as_dict(),
            price_usd=None if result.price_usd is None else str(result.price_usd),
            latency_ms=result.latency_ms,
        )
        if result.text:
            self._tell("assistant.message", text=clip_text(result.text))

    def _tell(self, event: str, /, **data: Any) -> None:
        self._store.events.append(self._job.id, event, **data)
