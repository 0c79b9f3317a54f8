"""The piece of work that any worker can do: ask a model for one step.

An item is the request as JSON with the name of the model; the result is the step's. It needs no document and no folder,
so it may be done on another machine than the one that the documents are on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redraft.providers.contract import StepRequest, message_from_dict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redraft.agent.driving import Providers
    from redraft.providers.choosing import Choice
    from redraft.providers.contract import Provider

MODEL_STEP = "model_step"


def piece_of(request: StepRequest, model: str = "") -> dict[str, Any]:
    """A request without tools as an item for `Durable.fan_out`."""
    return {
        "model": model,
        "messages": [message.as_dict() for message in request.messages],
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "response_schema": request.response_schema,
        "timeout": request.timeout,
    }


def request_of(item: dict[str, Any]) -> StepRequest:
    """The request that `piece_of` wrote."""
    request = StepRequest(tuple(message_from_dict(message) for message in item["messages"]))
    return replace(
        request,
        max_output_tokens=item["max_output_tokens"],
        temperature=item["temperature"],
        response_schema=item["response_schema"],
        timeout=item["timeout"],
    )


def model_step(providers: Providers) -> Callable[[Any], Awaitable[Any]]:
    """The handler of such items, with these models."""
    made: dict[str, Provider] = {}

    async def handle(item: Any) -> dict[str, Any]:
        name = str(item["model"])
        if name not in made:
            made[name] = providers.provider(name, _untold)
        return (await made[name].run_step(request_of(item))).as_dict()

    return handle


def _untold(choice: Choice) -> None:
    """Which model answered is in the result."""
