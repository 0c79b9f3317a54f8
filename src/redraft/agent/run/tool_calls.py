"""The tool calls of a job: run in the job's turn, or replayed from the record, and returned to the model as results.

A call that fails leaves nothing in the turn. A dry run finds what needs the person's consent, so that they are asked
once, about everything that a step would do, before any of it is done. When a job is replayed, its calls run again to
stage what they staged; if a document has changed since, the job cannot continue, since the model's later steps were
made for the other text.
"""

from __future__ import annotations

import contextlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from redraft.agent.memory.permissions import verdict_of
from redraft.agent.run.prompts import label_answer, label_result
from redraft.agent.run.truncate import truncate_result
from redraft.agent.store.steps import key_of
from redraft.errors import RedraftError, Refused, Stale
from redraft.history.turns import State
from redraft.providers.contract import ToolResult
from redraft.text.text import Text
from redraft.tools.context import REMEMBERED, Savepoint, SeenDocuments, ToolContext
from redraft.tools.parameters import parse
from redraft.tools.target import MAX_PLACES, line_changes
from redraft.workspace.document import Document
from redraft.workspace.turns.modes import Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from redraft.agent.memory.permissions import PermissionRule
    from redraft.agent.store.steps import JobSteps
    from redraft.files.paths import DocPath
    from redraft.history.turns import TurnRecord
    from redraft.providers.contract import ToolCall
    from redraft.tools.registry import Registry, Tool
    from redraft.workspace.turns.modes import Mode
    from redraft.workspace.turns.turn import StagedDocument, Turn

RECENT = 200
MAX_QUESTION = 2000
# Errors in a call's form, rather than in what it wants.
FORM = frozenset(
    {"invalid_argument", "unknown_tool", "invalid_text", "invalid_line_range", "content_required", "invalid_patch"}
)


class DocumentsChanged(Stale):
    """A stopped job cannot continue: its documents have changed."""

    default_code = "conflict"


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """Something that the person has to agree to. `tool` is empty if it is about the turn as a whole."""

    tool: str
    what: str
    paths: tuple[str, ...]

    @property
    def action(self) -> str:
        return self.what.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call."""

    result: ToolResult
    shown: dict[str, str]

    @property
    def code(self) -> str:
        """The error's code, if it failed."""
        return "" if self.result.ok else str((self.result.error or {}).get("error", ""))

    @property
    def malformed(self) -> bool:
        """Whether the call failed because it is malformed."""
        return self.code in FORM


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a step needs consent for; or, in one sentence, why it would go too far."""

    wanted: list[ConsentRequest]
    refusal: str = ""


@dataclass(slots=True)
class Consent:
    """What the person has agreed to in this job, and what their rules allow without asking."""

    rules: Sequence[PermissionRule] = ()
    granted: set[ConsentRequest] = field(default_factory=set["ConsentRequest"])

    def covers(self, wanted: ConsentRequest) -> bool:
        if wanted in self.granted or (not wanted.tool and self._is_about_known_paths(wanted.paths)):
            return True
        return verdict_of(self.rules, wanted.tool, wanted.action, wanted.paths) is Verdict.ALLOW

    def _is_about_known_paths(self, paths: Iterable[str]) -> bool:
        """Whether the person has agreed to something about each of these paths: then the total is nothing new to
        them."""
        return {path for each in self.granted for path in each.paths}.issuperset(paths)


class ToolRunner:
    """Runs the calls of one job. `guard` is held while the workspace is used. `rehearsed` is what was staged before and
    after the last dry run: what the person is asked about."""

    def __init__(
        self,
        registry: Registry,
        context: JobContext,
        steps: JobSteps,
        guard: AbstractContextManager[Any],
        *,
        window: int,
        consent: Consent,
    ) -> None:
        self.registry = registry
        self.context = context
        self.consent = consent
        self.current_tool = ""
        self.rehearsed: tuple[Mapping[DocPath, StagedDocument], Mapping[DocPath, StagedDocument]] = ({}, {})
        self._steps = steps
        self._guard = guard
        self._window = window
        self._agreed = False
        self._tools = {tool.name: tool for tool in registry.tools}
        context.confirm = self._confirm

    def tool(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def _confirm(self, what: str, paths: list[str]) -> bool:
        return self._agreed or self.consent.covers(ConsentRequest(self.current_tool, what, tuple(paths)))

    # What has to be asked first

    def question_of(self, call: ToolCall) -> str:
        """What a call asks the person; empty if it asks nothing. A malformed call fails before anybody is asked."""
        tool = self.tool(call.name)
        if tool is None or tool.name != "clarify_user":
            return ""
        try:
            question = str(parse(tool.takes, dict(call.arguments)).question)
        except RedraftError:
            return ""
        return question[:MAX_QUESTION] if question.strip() else ""

    def dry_run(self, calls: Sequence[ToolCall], *, calls_left: int, deletions: int) -> DryRun:
        """What the person has to agree to before these calls run; or why they cannot all run, and then nobody is asked.
        The result is recorded: once the step has run, it could not be worked out again."""
        replaying = self._steps.replaying
        recorded = self._steps.take("note", "rehearsal")
        if recorded is not None:
            wanted, refusal = recorded.value
            return DryRun([ConsentRequest(tool, what, tuple(paths)) for tool, what, paths in wanted], refusal)
        found = DryRun([]) if replaying else self._try_all(calls, calls_left, deletions)
        if found.wanted or found.refusal:
            wanted = [[each.tool, each.what, each.paths] for each in found.wanted]
            self._steps.record("note", "rehearsal", [wanted, found.refusal])
        return found

    def _can_need_consent(self, calls: Sequence[ToolCall]) -> bool:
        """Whether anything could need consent, or exceed the limit of deletions or actions. Usually nothing does, and
        the dry run is skipped."""
        tools = [tool for tool in (self.tool(call.name) for call in calls) if tool is not None]
        special = any(tool.alone or tool.risk == "destroy" or tool.name == "batch" for tool in tools)
        return (
            special
            or self._can_exceed_actions(calls)
            or can_require_consent(self.context.rules)
            or any(rule.verdict is Verdict.ASK for rule in self.consent.rules)
        )

    def _can_exceed_actions(self, calls: Sequence[ToolCall]) -> bool:
        """Whether several calls could together take more actions than are left. A call takes one, or one per entry of a
        list argument. A single call fails as a whole."""
        if self.context.turn is None or len(calls) < 2:
            return False
        values: list[Any] = [value for call in calls for value in call.arguments.values()]
        most = len(calls) + sum(len(cast("list[Any]", value)) for value in values if isinstance(value, list))
        return self.context.turn.actions + most > self.context.limits.actions

    def _try_all(self, calls: Sequence[ToolCall], calls_left: int, deletions: int) -> DryRun:
        """What the calls ask for when they are tried; nothing of it stays."""
        wanted: list[ConsentRequest] = []

        def gather(what: str, paths: list[str]) -> bool:
            wanted.append(ConsentRequest(self.current_tool, what, tuple(paths)))
            return True

        turn = self.context.turn
        if turn is None or not self._can_need_consent(calls):
            return DryRun([])
        before, staged, limit = Savepoint.of(self.context), dict(turn.staged), self.context.limits.actions
        turn.confirm = gather
        try:
            with self.context.defer_seen(rehearsed=True):
                for call in calls:
                    tool = self.tool(call.name)
                    if tool is not None and tool.alone:
                        wanted += self._requests_of_alone_tool(tool, call)
                    elif tool is not None and tool.risk != "read":
                        self._try(tool, call)
            deleted, acts = count_deletions(turn), turn.actions
            self.rehearsed = (staged, dict(turn.staged))
        finally:
            before.restore(self.context)
            turn.confirm = self._confirm
        wanted = [each for each in dict.fromkeys(wanted) if not self.consent.covers(each)]
        if deleted > deletions:
            return DryRun([], f"This would delete {deleted} documents; a job may delete at most {deletions}.")
        if acts > limit:
            return DryRun([], f"With this step the job would take {acts} actions; it may take at most {limit}.")
        if wanted and len(calls) > calls_left:
            return DryRun([], f"These are {len(calls)} calls; this job may make only {calls_left} more.")
        return DryRun(wanted)

    def _requests_of_alone_tool(self, tool: Tool, call: ToolCall) -> list[ConsentRequest]:
        """What a tool that acts at once would change, and where; it cannot be tried. A malformed call does nothing, and
        a comment changes no document."""
        if tool.name != "undo_turn":
            return []
        try:
            turn = self._turn_to_undo(parse(tool.takes, dict(call.arguments)).turn)
        except RedraftError:
            return []
        return [] if turn is None else [ConsentRequest(tool.name, f"undo turn {turn.id}", tuple(turn.paths))]

    def _turn_to_undo(self, number: int | None) -> TurnRecord | None:
        workspace, author = self.context.workspace, self.context.author
        with contextlib.suppress(RedraftError), self._guard:
            found = workspace.turns(limit=RECENT) if number is None else [workspace.show(number)]
            own = (turn for turn in found if turn.author == author and turn.kind != "undo")
            return next((turn for turn in own if turn.state in (State.APPLIED, State.PROPOSED)), None)
        return None

    def _try(self, tool: Tool, call: ToolCall) -> None:
        before = Savepoint.of(self.context)
        try:
            with self._set_current_tool(call.name), self._guard:
                tool.run(parse(tool.takes, dict(call.arguments)), self.context)
        except RedraftError as error:
            if error.code != "limit_exceeded":  # a call that fails for another reason takes no action
                before.restore(self.context)

    @contextlib.contextmanager
    def _set_current_tool(self, name: str) -> Generator[None]:
        self.current_tool = name
        try:
            yield
        finally:
            self.current_tool = ""

    # Running calls

    def run(self, call: ToolCall) -> ToolOutcome:
        """Run the call and record its result."""
        key = key_of([call.name, call.arguments])
        tool = self.tool(call.name)
        if tool is not None and tool.alone:
            return self._run_alone(call, key)
        recorded = self._steps.play("tool", key)
        outcome = self._run(call)
        if recorded is None:
            self._record(key, outcome)
            return outcome
        self._check_same_documents(call, outcome, recorded.value)
        return _outcome_from_record(call, recorded.value)

    def _run_alone(self, call: ToolCall, key: str) -> ToolOutcome:
        """Run a tool that acts at once, outside of the turn: exactly once, whatever happens."""
        if self._steps.play("note", f"alone {key}") is not None:
            recorded = self._steps.play("tool", key)
            if recorded is None:
                message = f"The job was stopped while it called {call.name}; `redraft turns` shows whether it was done."
                raise Refused(message, code="conflict", tool=call.name)
            return _outcome_from_record(call, recorded.value)
        self._steps.record("note", f"alone {key}", call.name)
        turn, self.context.turn = self.context.turn, None
        self._agreed = True  # to all of it: that is what the person was asked
        try:
            outcome = self._run(call)
        finally:
            self.context.turn = turn
            self._agreed = False
        self._record(key, outcome)
        return outcome

    def _run(self, call: ToolCall) -> ToolOutcome:
        context = self.context
        context.shown = {}
        before = Savepoint.of(context)
        try:
            with self._set_current_tool(call.name), self._guard:
                answer = self.registry.call(call.name, call.arguments, context)
        except RedraftError as error:
            before.restore(context)
            return ToolOutcome(ToolResult(call.id, call.name, ok=False, error=error.as_dict()), dict(context.shown))
        result = (
            label_answer(answer) if call.name == "clarify_user" else truncate_result(label_result(answer), self._window)
        )
        return ToolOutcome(ToolResult(call.id, call.name, ok=True, result=result), dict(context.shown))

    def _record(self, key: str, outcome: ToolOutcome) -> None:
        value = {
            "ok": outcome.result.ok,
            "told": outcome.result.content,
            "shown": outcome.shown,
            "staged": self._list_staged_versions(),
        }
        self._steps.record("tool", key, value)

    def _list_staged_versions(self) -> dict[str, str | None]:
        """The versions of what is staged, for comparison when the job is replayed."""
        turn = self.context.turn
        staged = {} if turn is None else turn.staged
        return {str(path): None if each.now is None else each.now.version for path, each in staged.items()}

    def _check_same_documents(self, call: ToolCall, outcome: ToolOutcome, recorded: dict[str, Any]) -> None:
        now = (outcome.result.ok, outcome.shown, self._list_staged_versions())
        if now != (recorded["ok"], recorded["shown"], recorded["staged"]):
            raise DocumentsChanged(
                "The job was stopped, and its documents were changed before it could continue. Nothing was written.",
                tool=call.name,
                paths=sorted({*outcome.shown, *recorded["shown"], *recorded["staged"]}),
            )


def count_deletions(turn: Turn) -> int:
    """How many documents a turn deletes; a moved one does not count."""
    moved = set(turn.moved.values())
    return sum(staged.now is None and path not in moved for path, staged in turn.staged.items())


def can_require_consent(mode: Mode) -> bool:
    """Whether a mode may ask about anything."""
    return mode.writes_at_once or _has_asking_rule(mode)


def _has_asking_rule(mode: Mode) -> bool:
    return any(rule.verdict is Verdict.ASK for rule in mode.rules) or any(map(_has_asking_rule, mode.also))


def _outcome_from_record(call: ToolCall, value: dict[str, Any]) -> ToolOutcome:
    ok, content = bool(value["ok"]), value["told"]
    result = ToolResult(call.id, call.name, ok=ok, result=content if ok else None, error=None if ok else content)
    return ToolOutcome(result, value["shown"])


# Where a job's tools work: in one open turn, with a memory of what the model has seen of each document.
#
# A plain context remembers nothing while a turn is open. A job's turn is open from start to end, so what the model has
# seen is remembered twice here: as the turn had it, for an edit that names no version; and as the folder had it, so
# that the model can be told what the person has changed since. The calls of one step are made at the same time: what
# one of them shows is known only in the next step.


@dataclass(slots=True)
class JobContext(ToolContext):
    """The context of one job. `shown` are the documents that the current call has shown, with their versions."""

    shown: dict[str, str] = field(default_factory=dict[str, str])
    _told: dict[str, str] = field(default_factory=dict[str, str])
    _known: dict[str, Document] = field(default_factory=dict[str, "Document"])

    def snapshot_seen(self) -> SeenDocuments:
        return ToolContext.snapshot_seen(self)._replace(known=dict(self._known))

    def restore_seen(self, memory: SeenDocuments) -> None:
        ToolContext.restore_seen(self, memory)
        self._known.clear()
        self._known.update(memory.known)

    def mark_seen(self, document: Document, *, own: bool = False) -> None:
        before = self._before_turn(document)
        self.shown[document.path] = document.version
        self._note_document(document, own=own)
        self._seen.pop(document.path, None)
        if before is not None:
            self._seen[document.path] = before
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def note_staged(self, document: Document) -> None:
        self._note_document(document, own=True)

    def _note_document(self, document: Document, *, own: bool) -> None:
        self._remember(document)
        if self._at_once is not None:
            self._at_once.append((document, own))
            return
        self._known[document.path] = document
        if not own:
            self._read[document.path] = document

    @contextmanager
    def defer_seen(self, *, rehearsed: bool = False) -> Generator[None]:
        """As in `ToolContext`; a dry run shows the model nothing."""
        self._at_once = []
        try:
            yield
        finally:
            shown, self._at_once = self._at_once, None
            for document, own in () if rehearsed else shown:
                self._note_document(document, own=own)

    def last_seen(self, path: str) -> Document | None:
        return self._known.get(path)

    def _before_turn(self, document: Document) -> Document | None:
        """The document before the turn first changed it; None if the turn created it."""
        staged = None if self.turn is None else _find_staged_document(self.turn, document.path)
        return document if staged is None else staged.seen

    def mark_stale(self, path: str) -> None:
        """What the model saw of a document is out of date: it is told so, and must read it again before editing."""
        self._seen[path] = Document(path, Text(""))

    def changes_by_others(self) -> list[dict[str, Any]]:
        """What anybody else has changed in documents that the model has seen; each change is reported once."""
        found: list[dict[str, Any]] = []
        for path, seen in tuple(self._seen.items()):
            try:
                now = self.workspace.read(path, author=self.author)
            except RedraftError as error:
                if self._told.get(path) != error.code:
                    self._told[path] = error.code
                    found.append({"path": path, "now": error.message})
                continue
            if now.version not in (seen.version, self._told.get(path)):
                self._told[path] = now.version
                places = line_changes(seen.text, now.text)
                found.append({"path": path, "version": now.version, "changed_lines": places[:MAX_PLACES]})
        return found


def _find_staged_document(turn: Turn, path: str) -> StagedDocument | None:
    return next((staged for name, staged in turn.staged.items() if name == path), None)
