"""Several calls as one turn: all of them happen, or none."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from redraft.errors import RedraftError, Refused
from redraft.tools.context import MAX_TITLE, ChangeResult, Savepoint, ToolContext, read_after_commit, turn_result
from redraft.tools.parameters import Field
from redraft.tools.registry import Registry, tool
from redraft.workspace.turns.turn import Turn

MAX_CALLS = 500
# What an edit answers that the batch's own answer says for all of them, or that follows from the call.
SAID_FOR_ALL = frozenset(
    {"state", "status", "turn", "tab_id", "version", "lines", "lines_affected", "inserted_at", "preview"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCall:
    """One call of a batch."""

    tool: Annotated[str, Field("The tool's name.", ("name",))]
    arguments: Annotated[dict[str, Any] | None, Field("Its arguments.", ("args", "input", "parameters"))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What `batch` takes."""

    calls: Annotated[
        tuple[BatchCall, ...],
        Field("The calls, in order.", ("edits", "operations", "actions"), minimum=1, maximum=MAX_CALLS),
    ]
    title: Annotated[str | None, Field("What the calls are for, in a few words.", ("description", "summary"))] = None
    dry_run: Annotated[bool, Field("Only check the calls; change nothing.")] = False


class BatchResult(ChangeResult):
    """The answer of `batch`."""

    status: Literal["success"]
    results: Annotated[
        list[str | dict[str, Any]],
        Field('For each call, in order: "ok" for an edit that was made where it was meant, else what it answered.'),
    ]
    versions: Annotated[dict[str, str], Field("The new version of each changed document, for the next edit.")]


@tool("modify", "default", serves="TK-principle-atomic-call TK-turn-all-or-nothing")
def batch(given: Batch, context: ToolContext) -> BatchResult:
    """Run several tool calls as one change: all succeed, or nothing is written. Lines, sections and passages are those
    of the version that a call names, or that you last read before the batch, whatever the calls before it did; calls
    that overlap are refused. All edits of one document count as one action."""
    registry = context.registry
    if registry is None or context.together:
        raise Refused("A batch cannot contain another batch.", field="calls")
    if not given.calls or len(given.calls) > MAX_CALLS:
        raise Refused(
            f"A batch must have 1 to {MAX_CALLS} calls, not {len(given.calls)}. Make several batches.",
            code="limit_exceeded",
            field="calls",
            limit=MAX_CALLS,
        )
    if context.turn is not None:
        return _stage_batch(given, registry, context, context.turn)
    title = (given.title or f"Batch of {len(given.calls)} calls")[:MAX_TITLE]
    with context.begin(title) as turn:
        results = _run_calls(given.calls, registry, context, turn)
        documents = [each.now for each in turn.staged.values() if each.now is not None]
        if given.dry_run:
            turn.discard()
        else:
            context.plan_ahead(turn)
    changed = {"state": "dry_run", "turn": None} if given.dry_run else turn_result(turn)
    if not given.dry_run:
        documents = [read_after_commit(context, document) for document in documents]
    versions = {document.path: document.version for document in documents}
    answer: Any = {"status": "success", "results": results, "versions": versions, **changed}
    return answer


def _stage_batch(given: Batch, registry: Registry, context: ToolContext, turn: Turn) -> BatchResult:
    """Run the calls in a turn that continues after them: if one fails, or all are only tried, nothing of them stays."""
    before, staged = Savepoint.of(context), dict(turn.staged)
    try:
        results = _run_calls(given.calls, registry, context, turn)
        documents = [each.now for path, each in turn.staged.items() if each.now and staged.get(path) != each]
    except RedraftError:
        before.restore(context)
        raise
    if given.dry_run:
        before.restore(context)
    versions = {document.path: document.version for document in documents}
    state = "dry_run" if given.dry_run else "staged"
    answer: Any = {"status": "success", "results": results, "versions": versions, "state": state, "turn": None}
    return answer


def _run_calls(
    calls: tuple[BatchCall, ...], registry: Registry, context: ToolContext, turn: Turn
) -> list[str | dict[str, Any]]:
    outer, context.turn, context.together, turn.edited_together = context.turn, turn, True, set()
    try:
        return [_run_call(number, call, registry, context) for number, call in enumerate(calls)]
    finally:
        context.turn, context.together, turn.edited_together = outer, False, None


def _run_call(number: int, call: BatchCall, registry: Registry, context: ToolContext) -> str | dict[str, Any]:
    try:
        if registry.get(call.tool).alone:
            raise Refused(f"`{call.tool}` takes effect immediately and cannot be in a batch.", field="tool")
        return _shorten(call, registry.call(call.tool, call.arguments or {}, context))
    except RedraftError as error:
        message = f"Call {number} ({call.tool[:100]}) failed: {error.message} No call of the batch was done."
        if error.code == "limit_exceeded":
            message += " Make several smaller batches."
        details = {**error.details, "call": number, "tool": call.tool[:100]}
        raise type(error)(message, code=error.code, **details) from error


def _shorten(call: BatchCall, answer: dict[str, Any]) -> str | dict[str, Any]:
    """The answer of an edit without what the caller has just sent or finds in the batch's own answer; others whole."""
    if answer.get("state") != "staged":
        return answer
    landed = "landed" if call.tool == "edit_text" else ""  # a quoted passage is where it is
    news = {name: value for name, value in answer.items() if value and name not in (*SAID_FOR_ALL, landed)}
    return {name: value for name, value in news.items() if value != (call.arguments or {}).get(name)} or "ok"
