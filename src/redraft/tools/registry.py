"""What a tool is, and the one way to call one.

A tool is declared once, with `@tool` on the function that implements it: its name is the function's, its description
the docstring, its parameters and answer the annotations. Every surface (a model's function list, MCP, HTTP, the command
line, the reference page) is made from that; there is no second list. A call checks the arguments, runs the function and
writes a line to the audit log, even if it was refused. Failures are `RedraftError`s; any other exception is a bug of
ours.
"""

from __future__ import annotations

import inspect
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from redraft.config import PROFILES
from redraft.errors import VERSIONS, ConfirmationRequired, Forbidden, RedraftError, Refused, Stale
from redraft.history.journal import AuditLine
from redraft.tools.parameters import check_plain, input_schema, output_schema, parse
from redraft.tools.target import explain_stale

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from redraft.tools.context import ToolContext

Risk = Literal["read", "create", "modify", "destroy"]
# Costly shared resources that not every surface has: the folder's index, a model, the editors open in browsers.
Need = Literal["index", "model", "editors"]
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `needs` says what it uses besides the workspace; surfaces provide it because of that, never because of
    the tool's name. `alone` means that it acts at once and so cannot be part of a batch; `slow` that it may take
    seconds, during which it releases the workspace's guard."""

    name: str
    description: str
    risk: Risk
    profiles: frozenset[str]
    serves: tuple[str, ...]
    takes: type[Any]
    gives: type[Any]
    run: Callable[[Any, ToolContext], Any]
    idempotent: bool = False
    alone: bool = False
    slow: bool = False
    needs: frozenset[Need] = frozenset()

    @property
    def input_schema(self) -> dict[str, Any]:
        return input_schema(self.takes)

    @property
    def output_schema(self) -> dict[str, Any]:
        return output_schema(self.gives)

    def as_json(self) -> dict[str, Any]:
        """The tool as clients see it."""
        return {
            "name": self.name,
            "description": self.description,
            "risk": self.risk,
            "profiles": sorted(self.profiles),
            "idempotent": self.idempotent,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
        }


def tool(
    risk: Risk,
    *profiles: str,
    serves: str = "",
    idempotent: bool | None = None,
    alone: bool = False,
    slow: bool = False,
    needs: Need | None = None,
) -> Callable[[Callable[[Any, ToolContext], Any]], Tool]:
    """Declare a tool. `serves` are the prefixes of the requirements that it covers, separated by spaces."""

    def declare(run: Callable[[Any, ToolContext], Any]) -> Tool:
        hints = get_type_hints(run)
        takes = next(kind for name, kind in hints.items() if name not in ("context", "return"))
        description = " ".join(inspect.cleandoc(run.__doc__ or "").split())
        return Tool(
            name=run.__name__,
            description=description,
            risk=risk,
            profiles=frozenset(profiles),
            serves=tuple(serves.split()),
            takes=takes,
            gives=hints["return"],
            run=run,
            idempotent=risk == "read" if idempotent is None else idempotent,
            alone=alone,
            slow=slow or needs is not None,
            needs=frozenset() if needs is None else frozenset({needs}),
        )

    return declare


class Registry:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for entry in tools:
            if self._tools.setdefault(entry.name, entry) is not entry:
                raise ValueError(f"two tools are called {entry.name}")

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def profile(self, name: str) -> Registry:
        """Only the tools of a profile; no other can be called through it."""
        if name not in PROFILES:
            raise Refused(f"There is no profile {name!a}. Known: {', '.join(PROFILES)}.", field="profile")
        return Registry(entry for entry in self.tools if name == "all" or name in entry.profiles)

    def needs(self, name: str) -> frozenset[Need]:
        """What a tool needs; nothing for an unknown one, which `call` refuses."""
        found = self._tools.get(name)
        return frozenset() if found is None else found.needs

    def get(self, name: str) -> Tool:
        found = self._tools.get(name)
        if found is None:
            near = get_close_matches(name[:100], self._tools, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise Refused(f"There is no tool {name[:100]!a}.{hint}", code="unknown_tool")
        return found

    def call(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """Run a tool and return its answer; a `RedraftError` says why there is none. Either way it is logged: with the
        turn that it made, in the same transaction, or as a separate line."""
        with audit_call(name, arguments, context):
            try:
                chosen = self.get(name)
                given = parse(chosen.takes, dict(arguments))
                context.registry = self
                answer: dict[str, Any] = chosen.run(given, context)
            except Stale as error:
                raise explain_stale(error, context) from error
            return answer


@contextmanager
def audit_call(name: str, arguments: Mapping[str, Any], context: ToolContext) -> Generator[None]:
    """Whatever a caller does in this block leaves one line in the audit log, even if it is refused."""
    outcome = "error"
    outer = context.call, context.last_turn, context.logged
    context.call = _line(name, arguments)
    context.last_turn, context.logged = None, False
    try:
        yield
        outcome = "success"
    except (Forbidden, ConfirmationRequired):
        outcome = "rejected"
        raise
    finally:
        line, turn, logged = context.call, context.last_turn, context.logged
        context.call, context.last_turn, context.logged = outer
        made_turn = turn is not None and turn.outcome is not None and turn.outcome.turn is not None
        if not made_turn and not logged:
            _log(context, line, outcome)


def _line(name: str, arguments: Mapping[str, Any]) -> AuditLine:
    try:
        check_plain(dict(arguments))
        logged: Any = dict(arguments)
    except Refused:
        logged = "not plain JSON"
    return AuditLine(ascii(name)[1:-1][:64], logged)


def _log(context: ToolContext, line: AuditLine, outcome: str) -> None:
    """Log a call that changed nothing. Failing to write the log must not look like a failure of the call."""
    try:
        context.workspace.log_call(context.author, line, outcome)
    except RedraftError as error:
        LOG.warning("could not write the call of %s to the audit log: %s", line.tool, error.message)


# Every tool there is. A new one is declared in its family's module and thereby available on every surface.


FAMILIES = (
    "queries.read_document",
    "queries.search_document",
    "edits.create_document",
    "edits.lines",
    "edits.write_document",
    "edits.passages",
    "edits.find_and_replace",
    "edits.move_document",
    "queries.list_folder",
    "queries.search_folder",
    "edits.propose_edits",
    "queries.history",
    "queries.comments",
    "long_documents.analyze_document",
    "long_documents.transform_document",
    "edits.rich_editor",
    "edits.batch",
)


@cache
def load_registry() -> Registry:
    """The one registry, loaded on first use."""
    modules = [import_module(f"redraft.tools.{family}") for family in FAMILIES]
    return Registry(entry for module in modules for entry in vars(module).values() if isinstance(entry, Tool))


# Run a model's tool calls in order, each with a result of its own: what midlight calls the agent executor.
#
# A call that fails is reported as a result and never stops those after it. Calls that belong together are a `batch`.


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A call that a model makes."""

    id: str
    name: str
    arguments: Mapping[str, Any]


def execute(calls: Iterable[ToolCallRequest], registry: Registry, context: ToolContext) -> list[dict[str, Any]]:
    """The result of each call: `toolCallId`, `success`, and `result` or `error`."""
    with context.defer_seen():
        return [_execute(call, registry, context) for call in calls]


def _execute(call: ToolCallRequest, registry: Registry, context: ToolContext) -> dict[str, Any]:
    shape: dict[str, Any] = {"toolCallId": call.id, "success": True, "action": call.name}
    try:
        return {**shape, "result": registry.call(call.name, call.arguments, context)}
    except RedraftError as error:
        path = error.details.get("path") or call.arguments.get("path")
        return {**shape, "success": False, **({"path": path} if path else {}), "error": error_shape(error)}


def error_shape(error: RedraftError) -> dict[str, Any]:
    """An error in midlight's form."""
    shape = error.as_dict()
    return {
        "code": shape["error"],
        "message": shape["message"],
        "recoverable": shape["recoverable"],
        "suggestions": [shape["suggestion"]],
        "details": error.details,
        **{name: shape[name] for name in VERSIONS if name in shape},
    }
