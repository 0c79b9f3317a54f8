"""The context of a tool call: the folder, the caller, what the person allows, and what the caller has read so far.

A surface creates one context per caller and keeps it: it remembers which texts the caller has seen, so that an edit
without a version is still refused if the document has changed since it was read, and a refusal can say what
changed. A context is not shared between threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from redraft.errors import RedraftError, Stale
from redraft.files.locks import release
from redraft.history.turns import PERSON
from redraft.review.review import Review
from redraft.tools.parameters import Field
from redraft.workspace.turns.modes import Mode, Verdict, mode_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from redraft.config import Limits
    from redraft.history.journal import AuditLine
    from redraft.history.turns import Author
    from redraft.providers.embeddings import Embedder
    from redraft.text.edits import ChangeStep
    from redraft.text.text import Text
    from redraft.tools.edits.rich_editor import LiveEditors
    from redraft.tools.long_documents.worker import DocumentWorker
    from redraft.tools.registry import Registry
    from redraft.tools.target import CarriedEdits, TargetDocument
    from redraft.workspace.document import Document
    from redraft.workspace.turns.turn import Confirm, Turn, TurnState
    from redraft.workspace.workspace import Workspace

    Ask = Callable[[str], str | None]


# Texts share their unchanged blocks, so remembering them is cheap; a long session still needs a limit.
REMEMBERED = 32
MAX_TEXTS = 64
MAX_TURNS = 256


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit with its name and reason. Its lines, half-open from 0, are those of `text`: the document when the edit
    was proposed."""

    path: str
    text: Text
    edit_id: str
    operation: str
    start: int
    end: int
    new_text: str
    rationale: str


class SeenDocuments(NamedTuple):
    """The documents that a caller knows, by path, and how many were shown in calls that count as simultaneous."""

    seen: dict[str, Document]
    read: dict[str, Document]
    known: dict[str, Document]
    at_once: int


@dataclass(slots=True)
class ToolContext:
    """`ask` puts a question to the person (None: nobody answered). `turn` is open while several calls belong together,
    and `together` means that they also fail together.

    If a call names no document, it gets `active_tab` or `document` if the surface has set one, else the document that
    `person` has in front of them. `guard` is the lock that the surface holds during a call, `embedder` its own model
    instead of the configured one, `find_worker` returns the worker for a whole document, `editors` are the rich editors
    open in browsers, `progress` is called with how many steps of how many a call has done. `proposals` are the edits
    that `propose_edits` has staged in the open turn. While a tool runs, `call` says how it was called, `last_turn` is
    the last turn that it began, and `logged` means that the call is already in the audit log.
    """

    workspace: Workspace
    author: Author
    mode: str | Mode | None = None
    active_tab: str | None = None
    document: str = ""
    person: str = PERSON.name
    confirm: Confirm | None = None
    ask: Ask | None = None
    turn: Turn | None = None
    together: bool = False
    registry: Registry | None = None
    guard: AbstractContextManager[Any] | None = None
    embedder: Embedder | None = None
    find_worker: Callable[[str], DocumentWorker | None] | None = None
    editors: LiveEditors | None = None
    progress: Callable[[int, int], None] | None = None
    call: AuditLine | None = None
    last_turn: Turn | None = None
    logged: bool = False
    proposals: list[Proposal] = field(default_factory=list["Proposal"])
    _seen: OrderedDict[str, Document] = field(default_factory=OrderedDict[str, "Document"])
    _texts: OrderedDict[tuple[str, str], Text] = field(default_factory=OrderedDict[tuple[str, str], "Text"])
    _own: deque[str] = field(default_factory=lambda: deque[str](maxlen=MAX_TURNS))
    _read: OrderedDict[str, Document] = field(default_factory=OrderedDict[str, "Document"])
    _at_once: list[tuple[Document, bool]] | None = None

    @property
    def rules(self) -> Mode:
        """The current mode."""
        wanted = self.workspace.settings.mode if self.mode is None else self.mode
        return wanted if isinstance(wanted, Mode) else mode_by_name(wanted)

    def log_path(self, path: str) -> None:
        """Name the document in the audit log's line of the current call, which did not name it."""
        given: Any = None if self.call is None else self.call.arguments
        if self.call is not None and isinstance(given, dict):  # otherwise it was not plain JSON
            self.call = replace(self.call, arguments={**given, "path": path})

    @property
    def limits(self) -> Limits:
        """How much a call may ask for, and the defaults."""
        return self.workspace.settings.limits

    def worker_for(self, path: str) -> DocumentWorker | None:
        """The worker for this document; None if there is no model."""
        return None if self.find_worker is None else self.find_worker(path)

    def tell_progress(self, done: int, total: int) -> None:
        """Report how far a long call is."""
        if self.progress is not None:
            self.progress(done, total)

    def copy_for_call(
        self,
        editors: LiveEditors | None = None,
        find_worker: Callable[[str], DocumentWorker | None] | None = None,
    ) -> ToolContext:
        """A copy for one call of the same caller: it may release the guard while it waits or computes, and is not
        affected by what another call sets meanwhile. What either has read is remembered for both."""
        found = copy(self)
        found.editors, found.find_worker = editors, find_worker
        return found

    def snapshot_seen(self) -> SeenDocuments:
        """What this caller has seen, to restore if staged changes are dropped."""
        return SeenDocuments(dict(self._seen), dict(self._read), {}, len(self._at_once or ()))

    def restore_seen(self, memory: SeenDocuments) -> None:
        for current, earlier in ((self._seen, memory.seen), (self._read, memory.read)):
            current.clear()
            current.update(earlier)
        if self._at_once is not None:
            del self._at_once[memory.at_once :]

    def release_guard(self) -> AbstractContextManager[None]:
        """Release the workspace while something slow is computed. The workspace must not be used meanwhile, and may
        have changed afterwards."""
        return nullcontext() if self.guard is None else release(self.guard)

    def can_read(self, path: str) -> bool:
        """Whether this caller may see a document without the person being asked: for answers about many documents,
        which leave out what `read` would refuse."""
        return not self.author.is_agent or self.rules.verdict("read", path) is Verdict.ALLOW

    def begin(self, title: str) -> Turn:
        """A turn for what the call does; the audit log lists it under the tool's name."""
        self.last_turn = self._turn(title)
        self.last_turn.called = self.call
        self._own.append(self.last_turn.token)
        return self.last_turn

    def plan_ahead(self, turn: Turn) -> None:
        """Do the slow part of committing a turn while others use the workspace."""
        work = None if self.guard is None else self.workspace.plan_ahead(turn)
        if work is not None:
            with self.release_guard():
                work()

    def _turn(self, title: str) -> Turn:
        return self.workspace.turn(self.author, title, mode=self.mode, confirm=self.confirm)

    def peek(self, path: str) -> Document:
        """The document as this caller sees it, including its open turn."""
        return (self.turn or self._turn("Read")).read(path)

    def read(self, path: str) -> Document:
        """The same, and remember that the caller has seen it."""
        document = self.peek(path)
        self.mark_seen(document)
        return document

    def mark_seen(self, document: Document, *, own: bool = False) -> None:
        """Remember what the caller has seen, or knows from its `own` edit without having read it; not what a batch
        shows, which the caller sees only when it ends."""
        if self.turn is not None:
            return
        self._remember(document)
        if self._at_once is not None:
            self._at_once.append((document, own))
            return
        self._note(document, own=own)

    def _note(self, document: Document, *, own: bool) -> None:
        for known in (self._seen,) if own else (self._seen, self._read):
            known[document.path] = document
            known.move_to_end(document.path)
            while len(known) > REMEMBERED:
                known.popitem(last=False)

    def note_staged(self, document: Document) -> None:
        """Note that an edit of the caller's is part of the open turn."""

    def _remember(self, document: Document) -> None:
        name = (document.path, document.version)
        self._texts[name] = document.text
        self._texts.move_to_end(name)
        while len(self._texts) > MAX_TEXTS:
            self._texts.popitem(last=False)

    @contextmanager
    def defer_seen(self) -> Generator[None]:
        """For calls that were made together, before any of them was answered: what one shows, the others did not know
        when they were made."""
        self._at_once = []
        try:
            yield
        finally:
            shown, self._at_once = self._at_once, None
            for document, own in shown:
                self.mark_seen(document, own=own)

    def last_seen(self, path: str) -> Document | None:
        """The document as the caller knew it when it made this call."""
        return self._seen.get(path)

    def last_read(self, path: str) -> Document | None:
        """The document as the caller last read it, before its own later edits."""
        return self._read.get(path)

    def find_seen_text(self, path: str, version: str) -> Text | None:
        """The text that the caller saw under a version."""
        return self._texts.get((path, version))

    def is_own(self, step: ChangeStep) -> bool:
        """Whether this caller itself made a step, in the open turn or before."""
        return bool(step.by) and (step.by in self._own or (self.turn is not None and step.by == self.turn.token))

    def check_version(self, document: Document, version: str | None) -> str:
        """The version for changing `document` as a whole: the given one, else the last one that the caller read; raises
        `Stale` if it is old. Changes of the open turn itself do not count."""
        now = document.version
        seen = None if version else self.last_seen(document.path)
        wanted = version or (seen.version if seen is not None else now)
        staged = None if self.turn is None else self.turn.find_staged(document.path)
        known = staged is not None and (staged.seen is None or staged.text_of(wanted) is not None)
        if wanted != now and not known:
            raise Stale(
                f"{document.path} changed since it was read.",
                path=document.path,
                your_version=wanted,
                current_version=now,
            )
        return now


@dataclass(frozen=True, slots=True)
class Savepoint:
    """The state of a context's open turn, to restore if calls fail half-way or are only tried."""

    turn: TurnState | None
    proposals: int
    memory: SeenDocuments | None

    @staticmethod
    def of(context: ToolContext) -> Savepoint:
        turn = context.turn
        if turn is None:
            return Savepoint(None, len(context.proposals), None)
        return Savepoint(turn.state(), len(context.proposals), context.snapshot_seen())

    def restore(self, context: ToolContext) -> None:
        if context.turn is not None and self.turn is not None:
            context.turn.restore(self.turn)
            if self.memory is not None:
                context.restore_seen(self.memory)
        del context.proposals[self.proposals :]


# The contexts of everybody who calls tools in a folder; each remembers what its caller has read.


MAX_CALLERS = 64


class CallerContexts:
    """By author and the person they work for; the most recent callers are kept. Safe to use from several threads."""

    def __init__(self, workspace: Workspace, guard: AbstractContextManager[Any]) -> None:
        self._workspace = workspace
        self._guard = guard
        self._contexts: OrderedDict[tuple[str, str, str], ToolContext] = OrderedDict()
        self._lock = threading.Lock()

    def make(self, author: Author, person: str) -> ToolContext:
        """A new context that is not shared."""
        return ToolContext(self._workspace, author, person=person, guard=self._guard)

    def get(self, author: Author, person: str) -> ToolContext:
        """The context of all calls by this author for this person."""
        key = (person, author.kind, author.name)
        with self._lock:
            found = self._contexts.pop(key, None) or self.make(author, person)
            self._contexts[key] = found
            while len(self._contexts) > MAX_CALLERS:
                self._contexts.popitem(last=False)
            return found


# What all writing tools have in common: one turn per call, dry runs, and the answer about the outcome.
#
# A call within an open turn (`batch`) is only staged; alone it is a turn of its own, proposed or applied as the mode
# says. The answer's `state` says which, because a model has to know whether the person still decides.


MAX_TITLE = 200
# Longer texts are not compared for an answer's sake.
MAX_COMPARED = 200_000
State = Literal["applied", "proposed", "staged", "unchanged", "dry_run"]


class ChangeResult(TypedDict):
    """The common fields of every writing tool's answer."""

    state: Annotated[State, Field("applied: on disk. proposed: the person decides. staged: part of an open batch.")]
    turn: Annotated[int | None, Field("The turn to show or undo; null if nothing was recorded.")]
    conflicts: NotRequired[list[str]]


class LandedLines(TypedDict):
    """Lines from 0, inclusive, as the edit left them; `end_line` is before `start_line` if nothing is left there."""

    start_line: int
    end_line: int
    made_for: Annotated[str, Field("The version the edit was made for.")]


class EditResult(ChangeResult):
    """The same for an edit of one document."""

    tab_id: str | None
    path: str
    version: Annotated[str, Field("The version for the next edit.")]
    status: Literal["success"]
    landed: NotRequired[Annotated[LandedLines, Field("Only if the document had changed: where the edit was applied.")]]


DRY_RUN = Field("Only check the call; change nothing.")


class CallOutcome(NamedTuple):
    """The outcome of a call: the document as it is now, and the answer's common fields."""

    document: Document | None
    changed: dict[str, Any]


def carry_out(
    context: ToolContext, title: str, act: Callable[[Turn], Document | None], *, dry_run: bool = False
) -> CallOutcome:
    """Run `act` in the open turn, or in a new one."""
    if context.turn is not None:
        if dry_run:
            return _dry_run(context, context.turn, act)
        document = act(context.turn)
        if document is not None:
            context.note_staged(document)
        return CallOutcome(document, {"state": "staged", "turn": None})
    with context.begin(title[:MAX_TITLE]) as turn:
        document = act(turn)
        if dry_run:
            turn.discard()
            now = None if document is None else context.peek(document.path)
            return CallOutcome(now, {"state": "dry_run", "turn": None})
        context.plan_ahead(turn)
    return CallOutcome(None if document is None else read_after_commit(context, document), turn_result(turn))


def _dry_run(context: ToolContext, turn: Turn, act: Callable[[Turn], Document | None]) -> CallOutcome:
    """Run `act` in an open turn and revert it: afterwards the turn contains what it did before."""
    before = turn.state()
    try:
        document = act(turn)
    finally:
        turn.restore(before)
    now = None if document is None else context.peek(document.path)
    return CallOutcome(now, {"state": "dry_run", "turn": None})


def read_after_commit(context: ToolContext, staged: Document) -> Document:
    """A document as it is now: a merge may have added to what was staged. The commit is done, so whatever happens to
    the file next must not make this call look like a failure."""
    with suppress(RedraftError):
        staged = context.peek(staged.path)
    context.mark_seen(staged, own=True)
    return staged


def review_edit(context: ToolContext, old: str, new: str) -> Review | None:
    """An edit as a reviewer would see it, with its labels; None if the texts are too long. It may take half a second,
    in which others use the workspace."""
    if max(len(old), len(new)) > MAX_COMPARED:
        return None
    with context.release_guard():
        review = Review.between(old, new, new)
        _ = review.labels  # kept in the review
        return review


def turn_result(turn: Turn) -> dict[str, Any]:
    """The common fields of an answer about a committed turn."""
    outcome = turn.outcome
    if outcome is None or outcome.turn is None:
        return {"state": "unchanged", "turn": None}
    conflicts = {"conflicts": outcome.conflicts} if outcome.conflicts else {}
    return {"state": "applied" if outcome.applied else "proposed", "turn": outcome.turn.id, **conflicts}


def edit_result(place: TargetDocument, done: CallOutcome, carried: CarriedEdits | None = None, **more: Any) -> Any:
    """The answer of a tool that edited one document."""
    version = "" if done.document is None else done.document.version
    return {
        "tab_id": place.tab_id,
        "path": place.path,
        "version": version,
        "status": "success",
        **more,
        **({} if carried is None else carried.landed),
        **done.changed,
    }
