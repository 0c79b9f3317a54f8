"""Several calls as one turn: all of them happen, or none."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from redraft.errors import RedraftError, Refused
from redraft.tools.context import ToolContext
from redraft.tools.editing import MAX_TITLE, Changed, after_commit, changed_by
from redraft.tools.registry import Registry, tool
from redraft.tools.schema import Says
from redraft.workspace.turn import Turn

MAX_CALLS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCall:
    """One call of a batch."""

    tool: Annotated[str, Says("The tool's name.", ("name",))]
    arguments: Annotated[dict[str, Any] | None, Says("Its arguments.", ("args", "input", "parameters"))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What `batch` takes."""

    calls: Annotated[tuple[BatchCall, ...], Says("The calls, in order.", ("edits", "operations", "actions"))]
    title: Annotated[str | None, Says("What the calls are for, in a few words.", ("description", "summary"))] = None
    dry_run: Annotated[bool, Says("If true, make sure that every call would succeed, but change nothing.")] = False


class BatchDone(Changed):
    """The answer of `batch`."""

    status: Literal["success"]
    results: Annotated[list[dict[str, Any]], Says("The answer of each call, in order.")]
    versions: Annotated[dict[str, str], Says("The version of each document that was changed, for the next edit.")]


@tool("modify", "default", serves="TK-principle-atomic-call TK-turn-all-or-nothing", alone=True)
def batch(given: Batch, context: ToolContext) -> BatchDone:
    """Run several tool calls as one change: all succeed, or nothing is written. Each call sees what the calls before it
    did, so line numbers are those of the document as the batch has left it; the version that you read before the batch
    stays good throughout it. At most 20 of the calls may edit."""
    registry = context.registry
    if registry is None or context.turn is not None:
        raise Refused("A batch cannot hold another batch.", field="calls")
    if not given.calls or len(given.calls) > MAX_CALLS:
        raise Refused(f"A batch has 1 to {MAX_CALLS} calls.", code="limit_exceeded", field="calls", limit=MAX_CALLS)
    title = (given.title or f"Batch of {len(given.calls)} calls")[:MAX_TITLE]
    with context.begin(title) as turn:
        results = _run(given.calls, registry, context, turn)
        documents = [each.now for each in turn.staged.values() if each.now is not None]
        if given.dry_run:
            turn.discard()
    changed = {"state": "dry_run", "turn": None} if given.dry_run else changed_by(turn)
    if not given.dry_run:
        documents = [after_commit(context, document) for document in documents]
    versions = {document.path: document.version for document in documents}
    answer: Any = {"status": "success", "results": results, "versions": versions, **changed}
    return answer


def _run(calls: tuple[BatchCall, ...], registry: Registry, context: ToolContext, turn: Turn) -> list[dict[str, Any]]:
    context.turn, context.together = turn, True
    try:
        return [_call(number, call, registry, context) for number, call in enumerate(calls)]
    finally:
        context.turn, context.together = None, False


def _call(number: int, call: BatchCall, registry: Registry, context: ToolContext) -> dict[str, Any]:
    try:
        if registry.get(call.tool).alone:
            raise Refused(f"`{call.tool}` acts at once and has no place in a batch.", field="tool")
        return registry.call(call.tool, call.arguments or {}, context)
    except RedraftError as error:
        message = f"Call {number} ({call.tool[:100]}) failed: {error.message} Nothing of the batch was done."
        details = {**error.details, "call": number, "tool": call.tool[:100]}
        raise type(error)(message, code=error.code, **details) from error
