"""What a tool is, and the one way to call one.

A tool is declared once, by `@tool` on the function that does it: its name is the function's, its description the
docstring, what it takes and gives the annotations. Every surface (a model's function list, MCP, HTTP, the command
line, the reference page) is made from that; there is no second list. A call checks the arguments, runs the function
and leaves a line in the audit log, also where it was refused. Failures are `RedraftError`s; any other exception is a
mistake of ours.
"""

from __future__ import annotations

import inspect
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from redraft.errors import ConfirmationRequired, Forbidden, RedraftError, Refused, Stale
from redraft.history.journal import AuditLine
from redraft.tools.arguments import check_plain, parse
from redraft.tools.profiles import PROFILES
from redraft.tools.schema import input_schema, output_schema
from redraft.tools.staleness import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from redraft.tools.context import ToolContext

Risk = Literal["read", "create", "modify", "destroy"]
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry. `alone` says that it acts at once and so has no place in a batch."""

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

    @property
    def input_schema(self) -> dict[str, Any]:
        return input_schema(self.takes)

    @property
    def output_schema(self) -> dict[str, Any]:
        return output_schema(self.gives)

    def as_json(self) -> dict[str, Any]:
        """The tool as clients are told of it."""
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
) -> Callable[[Callable[[Any, ToolContext], Any]], Tool]:
    """Declare a tool. `serves` are the prefixes of the requirements that it answers, as words."""

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

    def get(self, name: str) -> Tool:
        found = self._tools.get(name)
        if found is None:
            near = get_close_matches(name[:100], self._tools, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise Refused(f"There is no tool {name[:100]!a}.{hint}", code="unknown_tool")
        return found

    def call(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """Run a tool and give its answer; a `RedraftError` says why there is none. Either way it is in the log: with
        the turn that it made, in the same transaction, or by a line of its own."""
        with recorded(name, arguments, context):
            try:
                chosen = self.get(name)
                given = parse(chosen.takes, dict(arguments))
                context.registry = self
                answer: dict[str, Any] = chosen.run(given, context)
            except Stale as error:
                raise explained(error, context) from error
            return answer


@contextmanager
def recorded(name: str, arguments: Mapping[str, Any], context: ToolContext) -> Generator[None]:
    """Whatever a caller does in here leaves one line in the audit log, also where it is refused."""
    outcome = "error"
    outer = context.call, context.begun, context.logged
    line = context.call = _line(name, arguments)
    context.begun, context.logged = None, False
    try:
        yield
        outcome = "success"
    except (Forbidden, ConfirmationRequired):
        outcome = "rejected"
        raise
    finally:
        begun, logged = context.begun, context.logged
        context.call, context.begun, context.logged = outer
        made_turn = begun is not None and begun.outcome is not None and begun.outcome.turn is not None
        if not made_turn and not logged:
            _log(context, line, outcome)


def _line(name: str, arguments: Mapping[str, Any]) -> AuditLine:
    try:
        check_plain(dict(arguments))
        told: Any = dict(arguments)
    except Refused:
        told = "no plain JSON"
    return AuditLine(ascii(name)[1:-1][:64], told)


def _log(context: ToolContext, line: AuditLine, outcome: str) -> None:
    """A line for a call that changed nothing. One that cannot be written must not look like a failure of the call."""
    engine = context.workspace.engine
    try:
        with engine.database.transaction(durable=False):
            engine.audit.add(engine.clock(), context.author, line.tool, line.arguments, outcome)
    except RedraftError as error:
        LOG.warning("the call of %s is not in the audit log: %s", line.tool, error.message)
