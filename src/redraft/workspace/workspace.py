"""`Workspace`: the one door through which a document changes.

Whoever wants to read, type, stage a turn, decide or take back does it here; each act is a function of a module beside
this one, working on the same `Engine`. Several processes may hold a workspace on one folder: writes take a short lock
and compare the content they were made for; what was decided or typed elsewhere is seen by the next call.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Self

from redraft.config import Settings
from redraft.errors import Busy, Refused
from redraft.files.listing import walk
from redraft.files.root import Root
from redraft.history.retention import collect
from redraft.history.turns import State
from redraft.workspace import decisions, rollback, tabs, trash
from redraft.workspace.engine import PERSON, Engine, new_token
from redraft.workspace.identity import identify, remember
from redraft.workspace.modes import MODES, Mode, mode_named
from redraft.workspace.plan import applied, proposed
from redraft.workspace.turn import Outcome, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from redraft.config import Limits
    from redraft.files.listing import Entry
    from redraft.history.audit import Verdict
    from redraft.history.journal import AuditLine
    from redraft.history.retention import Collected
    from redraft.history.turns import Author, TurnRecord
    from redraft.text.edits import Change
    from redraft.workspace.document import Document
    from redraft.workspace.draft import Draft
    from redraft.workspace.events import Event
    from redraft.workspace.turn import Confirm


class Workspace:
    """One folder. Close it when done; used as a context manager it closes itself."""

    def __init__(self, engine: Engine, folder: str, identity: str, notices: Iterable[str]) -> None:
        self.engine = engine
        self.folder = folder
        self.id = identity
        self._notices = list(notices)

    @staticmethod
    def open(
        folder: str | os.PathLike[str],
        *,
        state_home: str,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        notices: Iterable[str] = (),
    ) -> Workspace:
        """Open a folder: find its history, end what a stopped process left half done, and sweep up after it."""
        name = os.fspath(folder)
        root = Root.open(name)
        try:
            identity = identify(root, name, state_home)
            engine = Engine.start(root, identity.state, settings or Settings(), clock)
        except BaseException:
            root.close()
            raise
        told = [*notices, *identity.notices, *engine.database.losses]
        engine.journal.recovered = lambda: decisions.close_decided(engine)
        try:
            with engine.journal.locked():
                remember(identity, name)
                engine.journal.sweep()
        except Busy:
            pass  # the holder is alive, and ends its turn itself
        except BaseException:
            engine.close()
            raise
        return Workspace(engine, name, identity.id, told)

    @property
    def notices(self) -> list[str]:
        """What a person should be told: losses, recovered turns, conflict copies."""
        return [*self._notices, *self.engine.journal.notices, *self.engine.documents.unreadable.values()]

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        return self.engine.events.subscribe(listener)

    # Reading

    def read(self, path: str, *, author: Author = PERSON) -> Document:
        """The document as it is being worked on. An agent is not shown secrets."""
        found = self.engine.documents.path(path)
        documents = self.engine.documents
        document = documents.for_agent(found) if author.is_agent else documents.document(found)
        if document is None:
            raise Refused(f"There is no document {found}.", code="not_found", path=found)
        return document

    def list(self, prefix: str = "", *, limit: int | None = None) -> list[Entry]:
        return list(walk(self.engine.root, prefix=prefix, limit=limit))

    # Turns

    def turn(
        self,
        author: Author,
        title: str,
        *,
        mode: str | Mode | None = None,
        confirm: Confirm | None = None,
        limits: Limits | None = None,
        token: str | None = None,
    ) -> Turn:
        """Begin a turn. Mode and limits are the person's choice (else those of the settings), never the agent's own.

        With a `token` of its own the caller can ask after a crash whether the turn was carried out.
        """
        wanted = self.engine.settings.mode if mode is None else mode
        chosen = wanted if isinstance(wanted, Mode) else mode_named(wanted)
        if not author.is_agent:
            chosen = MODES["apply"]
        engine = self.engine
        within = limits or engine.settings.limits
        return Turn(engine.documents, author, chosen, title, within, self._commit, confirm, token=token or new_token())

    def carried_out(self, token: str) -> TurnRecord | None:
        """The turn with this token, if it was recorded and not taken back at once."""
        found = self.engine.turns.by_tokens([token])
        return found[0] if found and found[0].state is not State.DISCARDED else None

    def _commit(self, turn: Turn) -> Outcome:
        engine = self.engine
        at_once = turn.writes_at_once
        limit = engine.settings.confirm_files
        if at_once and turn.author.is_agent and len(turn.staged) > limit:
            turn.ask(f"change {len(turn.staged)} files", sorted(turn.staged))
        token = turn.token
        with engine.journal.locked():
            plan = (applied if at_once else proposed)(turn, engine.documents, token)
            if not plan.files and not plan.drafts:
                return Outcome(None)
            done = bool(plan.files) or not turn.author.is_agent
            kind, state = ("apply", State.APPLIED) if done else ("propose", State.PROPOSED)
            record = engine.carry_out(
                plan,
                author=turn.author,
                kind=kind,
                title=turn.title,
                mode=turn.mode.name,
                state=state,
                token=token,
                called=turn.called,
            )
        paths: Sequence[str] = [file.path for file in plan.files]
        pending = [path for path, draft in plan.drafts.items() if draft is not None and path not in paths]
        return Outcome(record, list(paths), pending, plan.conflicts)

    def turns(self, *, limit: int = 50, path: str | None = None, before: int | None = None) -> Sequence[TurnRecord]:
        found = None if path is None else self.engine.documents.path(path)
        return self.engine.turns.recent(limit=limit, path=found, before=before)

    def show(self, number: int) -> TurnRecord:
        return self.engine.turns.get(number)

    def turn_hunks(self, number: int) -> Sequence[rollback.TurnHunk]:
        return rollback.turn_hunks(self.engine, self.show(number))

    def turn_texts(self, number: int) -> Sequence[tuple[str, str, str]]:
        """Per document what it said before and after the turn."""
        return rollback.turn_texts(self.engine, self.show(number))

    def undo(
        self, number: int | None = None, *, author: Author = PERSON, called: AuditLine | None = None
    ) -> rollback.TakenBack:
        return rollback.undo(self.engine, number, author=author, called=called)

    def redo(self, *, author: Author = PERSON) -> rollback.TakenBack:
        return rollback.redo(self.engine, author=author)

    def restore(self, number: int, *, author: Author = PERSON) -> rollback.TakenBack:
        return rollback.restore(self.engine, number, author=author)

    def rollback(
        self, number: int, mode: rollback.RollbackMode, hunk_ids: Iterable[str] = (), *, author: Author = PERSON
    ) -> rollback.TakenBack:
        return rollback.rollback(self.engine, number, mode, hunk_ids, author=author)

    def three_way(self, number: int, path: str) -> rollback.ThreeWay:
        return rollback.three_way(self.engine, number, path)

    # Review

    def drafts(self) -> Sequence[Draft]:
        """Every document that has something pending or unsaved."""
        return [draft for draft in self.engine.documents.drafts() if not draft.settled]

    def draft(self, path: str) -> Draft | None:
        return self.engine.documents.draft(self.engine.documents.path(path))

    def accept(self, choice: Mapping[str, Sequence[str] | None], **options: Any) -> decisions.Decided:
        return decisions.accept(self.engine, choice, **options)

    def reject(self, choice: Mapping[str, Sequence[str] | None], **options: Any) -> decisions.Decided:
        return decisions.reject(self.engine, choice, **options)

    def hunks_of_turn(self, number: int) -> Mapping[str, Sequence[str]]:
        """What is left to decide of a turn, per document: a choice for `accept` or `reject`."""
        return decisions.of_turn(self.engine, self.show(number))

    def settle(self, path: str, hunk: str, text: str | None = None) -> decisions.Decided:
        return decisions.settle(self.engine, path, hunk, text)

    def split(self, path: str, hunk: str, at: int, base_at: int | None = None) -> decisions.Decided:
        return decisions.split(self.engine, path, hunk, at, base_at)

    # Tabs

    def open_tab(self, path: str) -> tabs.Tab:
        return tabs.open_tab(self.engine, path)

    def tabs(self) -> Sequence[tabs.Tab]:
        return tabs.tabs(self.engine)

    def close_tab(self, tab_id: str, *, discard: bool = False) -> None:
        tabs.close_tab(self.engine, tab_id, discard=discard)

    def type(self, path: str, change: Change, *, version: str | None = None) -> Document:
        return tabs.type_text(self.engine, path, change, version=version)

    def save(self, path: str) -> TurnRecord | None:
        return tabs.save(self.engine, path)

    def discard_typing(self, path: str) -> TurnRecord | None:
        return tabs.discard_typing(self.engine, path)

    def refresh(self) -> Sequence[str]:
        return tabs.refresh(self.engine)

    # Keeping

    def trashed(self) -> Sequence[trash.Trashed]:
        return trash.trashed(self.engine)

    def untrash(self, path: str, *, turn: int | None = None, to: str | None = None) -> TurnRecord:
        return trash.untrash(self.engine, path, turn=turn, to=to)

    def verify_audit(self) -> Verdict:
        return self.engine.audit.verify()

    def gc(self) -> Collected:
        """Forget what is older than the settings keep."""
        engine = self.engine
        with engine.journal.locked():
            return collect(engine.database, engine.store, engine.turns, engine.settings, engine.clock())
