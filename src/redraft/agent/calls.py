"""The tool calls of a job: run in the job's turn, or taken from what was recorded, and told to the model as results.

A call that fails leaves nothing of itself in the turn. What needs the person's consent is found by a rehearsal, so that
they are asked once, about everything that a step would do, before any of it is done. When a job is replayed its calls
are run again to stage what they staged; if a document is no longer what it was, the job cannot go on, since the model's
later steps were made for the other text.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.context import Savepoint
from redraft.agent.prompts import labelled
from redraft.agent.rules import verdict_of
from redraft.agent.steps import key_of
from redraft.agent.windows import windowed
from redraft.errors import RedraftError, Refused, Stale
from redraft.history.turns import State
from redraft.providers.contract import ToolResult
from redraft.tools.arguments import parse
from redraft.workspace.modes import Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from contextlib import AbstractContextManager

    from redraft.agent.context import JobContext
    from redraft.agent.rules import Remembered
    from redraft.agent.steps import Tape
    from redraft.history.turns import TurnRecord
    from redraft.providers.contract import ToolCall
    from redraft.tools.registry import Registry, Tool
    from redraft.workspace.modes import Mode

RECENT = 200
# What a model gets wrong in form, rather than in what it wants.
FORM = frozenset(
    {"invalid_argument", "unknown_tool", "invalid_text", "invalid_line_range", "content_required", "invalid_patch"}
)


class DocumentsChanged(Stale):
    """A job that was stopped cannot go on: its documents are not what they were."""

    default_code = "conflict"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something that the person has to agree to. `tool` is empty where it is about the turn as a whole."""

    tool: str
    what: str
    paths: tuple[str, ...]

    @property
    def action(self) -> str:
        return self.what.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Called:
    """What came of a call."""

    result: ToolResult
    shown: dict[str, str]

    @property
    def code(self) -> str:
        """The error's code, where it failed."""
        return "" if self.result.ok else str((self.result.error or {}).get("error", ""))

    @property
    def misshapen(self) -> bool:
        """Whether the call failed for its form."""
        return self.code in FORM


@dataclass(slots=True)
class Consent:
    """What the person has agreed to in this job, and what their rules agree to by themselves."""

    rules: Sequence[Remembered] = ()
    granted: set[Wanted] = field(default_factory=set["Wanted"])

    def covers(self, wanted: Wanted) -> bool:
        if wanted in self.granted or (not wanted.tool and self._seen(wanted.paths)):
            return True
        return verdict_of(self.rules, wanted.tool, wanted.action, wanted.paths) is Verdict.ALLOW

    def _seen(self, paths: Iterable[str]) -> bool:
        """Whether the person has agreed to something about each of these: then the sum of it is nothing new to them."""
        return {path for each in self.granted for path in each.paths}.issuperset(paths)


class Caller:
    """Runs the calls of one job. `guard` is held while the workspace is used."""

    def __init__(
        self,
        registry: Registry,
        context: JobContext,
        tape: Tape,
        guard: AbstractContextManager[Any],
        *,
        window: int,
        consent: Consent,
    ) -> None:
        self.registry = registry
        self.context = context
        self.consent = consent
        self.at_work = ""
        self._tape = tape
        self._guard = guard
        self._window = window
        self._agreed = False
        self._tools = {tool.name: tool for tool in registry.tools}
        context.confirm = self._confirm

    def tool(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def _confirm(self, what: str, paths: list[str]) -> bool:
        return self._agreed or self.consent.covers(Wanted(self.at_work, what, tuple(paths)))

    # What has to be asked first

    def wanted(self, calls: Sequence[ToolCall]) -> list[Wanted]:
        """What the person has to agree to before these calls are made. It is recorded, since what a step has done may
        be what its question was about."""
        replaying = self._tape.replaying
        recorded = self._tape.take("note", "wanted")
        if recorded is not None:
            return [Wanted(tool, what, tuple(paths)) for tool, what, paths in recorded.value]
        found = [] if replaying else self._rehearsed(calls)
        if found:
            self._tape.record("note", "wanted", [[each.tool, each.what, each.paths] for each in found])
        return found

    def _may_ask(self, calls: Sequence[ToolCall]) -> bool:
        """Whether anything could need consent at all; in the usual mode nothing does, and no rehearsal is made."""
        alone = any(tool is not None and tool.alone for tool in (self.tool(call.name) for call in calls))
        return alone or asks(self.context.rules) or any(rule.verdict is Verdict.ASK for rule in self.consent.rules)

    def _rehearsed(self, calls: Sequence[ToolCall]) -> list[Wanted]:
        """What the calls ask for when they are tried; nothing of it stays."""
        wanted: list[Wanted] = []

        def gather(what: str, paths: list[str]) -> bool:
            wanted.append(Wanted(self.at_work, what, tuple(paths)))
            return True

        turn = self.context.turn
        if turn is None or not self._may_ask(calls):
            return wanted
        before, actions = Savepoint.of(turn), turn.actions
        turn.confirm = gather
        try:
            for call in calls:
                tool = self.tool(call.name)
                if tool is not None and tool.alone:
                    wanted += self._wanted_alone(tool, call)
                elif tool is not None and tool.risk != "read":
                    self._try(tool, call)
        finally:
            before.restore(turn)
            turn.actions = actions
            turn.confirm = self._confirm
        return [each for each in dict.fromkeys(wanted) if not self.consent.covers(each)]

    def _wanted_alone(self, tool: Tool, call: ToolCall) -> list[Wanted]:
        """What a tool would do that acts at once, and where; it cannot be tried. A malformed call does nothing."""
        try:
            given = parse(tool.takes, dict(call.arguments))
        except RedraftError:
            return []
        if tool.name == "undo_turn":
            turn = self._turn_to_undo(given.turn)
            return [] if turn is None else [Wanted(tool.name, f"undo turn {turn.id}", tuple(turn.paths))]
        return [Wanted(tool.name, f"{tool.name} {given.path}", (str(given.path),))]

    def _turn_to_undo(self, number: int | None) -> TurnRecord | None:
        workspace, author = self.context.workspace, self.context.author
        with contextlib.suppress(RedraftError), self._guard:
            found = workspace.turns(limit=RECENT) if number is None else [workspace.show(number)]
            own = (turn for turn in found if turn.author == author and turn.kind != "undo")
            return next((turn for turn in own if turn.state in (State.APPLIED, State.PROPOSED)), None)
        return None

    def _try(self, tool: Tool, call: ToolCall) -> None:
        with contextlib.suppress(RedraftError), self._at_work(call.name), self._guard:
            tool.run(parse(tool.takes, dict(call.arguments)), self.context)

    @contextlib.contextmanager
    def _at_work(self, name: str) -> Generator[None]:
        self.at_work = name
        try:
            yield
        finally:
            self.at_work = ""

    # What is done

    def run(self, call: ToolCall) -> Called:
        """The call's result, which is recorded."""
        key = key_of([call.name, call.arguments])
        tool = self.tool(call.name)
        if tool is not None and tool.alone:
            return self._run_alone(call, key)
        recorded = self._tape.play("tool", key)
        done = self._run(call)
        if recorded is None:
            self._record(key, done)
            return done
        self._compare(call, done, recorded.value)
        return _from(call, recorded.value)

    def _run_alone(self, call: ToolCall, key: str) -> Called:
        """A tool that acts at once, outside of the turn: once, whatever happens."""
        if self._tape.play("note", f"alone {key}") is not None:
            recorded = self._tape.play("tool", key)
            if recorded is None:
                message = f"The job was stopped while it called {call.name}; `redraft turns` shows whether it was done."
                raise Refused(message, code="conflict", tool=call.name)
            return _from(call, recorded.value)
        self._tape.record("note", f"alone {key}", call.name)
        turn, self.context.turn = self.context.turn, None
        self._agreed = True  # to all of it: that is what the person was asked
        try:
            done = self._run(call)
        finally:
            self.context.turn = turn
            self._agreed = False
        self._record(key, done)
        return done

    def _run(self, call: ToolCall) -> Called:
        context, turn = self.context, self.context.turn
        context.shown = {}
        before = None if turn is None else Savepoint.of(turn)
        try:
            with self._at_work(call.name), self._guard:
                answer = self.registry.call(call.name, call.arguments, context)
        except RedraftError as error:
            if before is not None and turn is not None:
                before.restore(turn)
            return Called(ToolResult(call.id, call.name, ok=False, error=error.as_dict()), dict(context.shown))
        told = windowed(labelled(answer), self._window)
        return Called(ToolResult(call.id, call.name, ok=True, result=told), dict(context.shown))

    def _record(self, key: str, done: Called) -> None:
        value = {"ok": done.result.ok, "told": done.result.told, "shown": done.shown, "staged": self._staged()}
        self._tape.record("tool", key, value)

    def _staged(self) -> dict[str, str | None]:
        """The versions of what is staged, for comparison when the job is replayed."""
        turn = self.context.turn
        staged = {} if turn is None else turn.staged
        return {str(path): None if each.now is None else each.now.version for path, each in staged.items()}

    def _compare(self, call: ToolCall, done: Called, recorded: dict[str, Any]) -> None:
        now = (done.result.ok, done.shown, self._staged())
        if now != (recorded["ok"], recorded["shown"], recorded["staged"]):
            raise DocumentsChanged(
                "The job was stopped, and its documents were changed before it could go on. Nothing was written.",
                tool=call.name,
                paths=sorted({*done.shown, *recorded["shown"], *recorded["staged"]}),
            )


def asks(mode: Mode) -> bool:
    """Whether a mode has a rule that asks."""
    return any(rule.verdict is Verdict.ASK for rule in mode.rules) or any(map(asks, mode.also))


def _from(call: ToolCall, value: dict[str, Any]) -> Called:
    ok, told = bool(value["ok"]), value["told"]
    result = ToolResult(call.id, call.name, ok=ok, result=told if ok else None, error=None if ok else told)
    return Called(result, value["shown"])
