"""A model's tool calls, run in their order, each with a result of its own: what midlight calls the agent executor.

A call that fails is told as a result and never stops those after it. Calls that belong together are a `batch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redraft.tools.context import ToolContext
    from redraft.tools.registry import Registry


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model asks for."""

    id: str
    name: str
    arguments: Mapping[str, Any]


def execute(calls: Iterable[ToolCall], registry: Registry, context: ToolContext) -> list[dict[str, Any]]:
    """The result of each call: `toolCallId`, `success`, and `result` or `error`."""
    return [_execute(call, registry, context) for call in calls]


def _execute(call: ToolCall, registry: Registry, context: ToolContext) -> dict[str, Any]:
    shape: dict[str, Any] = {"toolCallId": call.id, "success": True, "action": call.name}
    try:
        return {**shape, "result": registry.call(call.name, call.arguments, context)}
    except RedraftError as error:
        path = error.details.get("path") or call.arguments.get("path")
        return {**shape, "success": False, **({"path": path} if path else {}), "error": error_shape(error)}


def error_shape(error: RedraftError) -> dict[str, Any]:
    """A failure as midlight tells it."""
    told = error.as_dict()
    return {
        "code": told["error"],
        "message": told["message"],
        "recoverable": told["recoverable"],
        "suggestions": [told["suggestion"]],
        "details": error.details,
    }
