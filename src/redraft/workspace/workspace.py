"""`Workspace`: the one door through which a document changes.

Reading, typing, staging a turn, deciding and undoing all go through it. Each operation is a function in a module beside
this one, and all of them work on the same `Engine`. Several processes may hold a workspace on one folder: a write takes
a short lock and compares the content that it was made for, and the next call sees what another process decided or
typed.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from redraft.config import Settings
from redraft.errors import Busy
from redraft.files.root import Root
from redraft.files.secret_detection import secret_error
from redraft.files.tree import walk
from redraft.history.retention import collect
from redraft.history.turns import PERSON, State
from redraft.workspace import export, past_texts, pictures, tabs
from redraft.workspace.comments import Comments
from redraft.workspace.engine import Engine, new_token
from redraft.workspace.folder.file_table import FileTable, FileTableView
from redraft.workspace.folder.identity import identify, remember
from redraft.workspace.folder.outside_changes import OutsideRecorder
from redraft.workspace.folder.scan import Drafts, FolderReader, working_drafts
from redraft.workspace.private_views import PrivateViews
from redraft.workspace.secret_gate import (
    check_stays_secret,
    find_withheld,
    mask_audit,
    mask_draft,
    mask_records,
    mask_texts,
)
from redraft.workspace.turns import decisions
from redraft.workspace.turns.modes import MODES, Mode, mode_by_name
from redraft.workspace.turns.plan import plan_ahead, plan_proposal, plan_write
from redraft.workspace.turns.turn import Outcome, Turn
from redraft.workspace.undo import rollback, trash
from redraft.workspace.undo.history_view import HistoryView

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from types import TracebackType

    from redraft.config import Limits
    from redraft.files.paths import DocPath
    from redraft.files.tree import TreeEntry
    from redraft.history.audit import AuditCheck
    from redraft.history.database import Database
    from redraft.history.journal import AuditLine
    from redraft.history.retention import GcResult
    from redraft.history.turns import Author, AuthorKind, TurnRecord
    from redraft.review.operations import Unit
    from redraft.text.edits import Change, ChangeLog
    from redraft.text.text import Text
    from redraft.workspace.document import Document, Draft
    from redraft.workspace.events import Event
    from redraft.workspace.turns.plan import Plan
    from redraft.workspace.turns.turn import Confirm
    from redraft.workspace.undo.draft_moves import Clash


class SharedResource(Protocol):
    """Something that is closed when the workspace closes."""

    def close(self) -> None: ...


Shared = TypeVar("Shared", bound=SharedResource)


class Workspace:
    """One folder. Close it when done; used as a context manager it closes itself."""

    def __init__(self, engine: Engine, folder: str, identity: str, notices: Iterable[str]) -> None:
        self._engine = engine
        self.history = HistoryView(engine)
        self.folder = folder
        self.id = identity
        self._notices = list(notices)
        self._sharing = threading.RLock()
        self._shared: dict[type[Any], SharedResource] = {}

    @staticmethod
    def open(
        folder: str | os.PathLike[str],
        *,
        state_home: str,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        notices: Iterable[str] = (),
    ) -> Workspace:
        """Open a folder: find its history, finish or roll back what a stopped process left half done, and clean up
        after it."""
        name = os.fspath(folder)
        root = Root.open(name)
        try:
            identity = identify(root, name, state_home)
            engine = Engine.start(root, identity.state, settings or Settings(), clock)
        except BaseException:
            root.close()
            raise
        engine.journal.on_recovery = lambda: decisions.update_proposals(engine)
        engine.comments = Comments(engine)
        engine.events.subscribe(engine.comments.hear)
        engine.outside = OutsideRecorder(engine)
        engine.documents.look = engine.outside.look
        engine.documents.draft_before_run = engine.outside.draft_before_run
        try:
            with engine.journal.lock():
                remember(identity, name)
                engine.journal.sweep()
                engine.outside.look_at(engine.outside.open_documents())
                engine.outside.find_conflicts()
        except Busy:
            pass  # the holder is alive, and ends its turn itself
        except BaseException:
            engine.close()
            raise
        return Workspace(engine, name, identity.id, [*notices, *identity.notices])

    @property
    def settings(self) -> Settings:
        """The settings that apply to this folder."""
        return self._engine.settings

    def change_settings(self, settings: Settings, values: Mapping[str, Any], *, author: Author) -> None:
        """Use these settings from now on; `values` are the ones that the author chose."""
        self._engine.settings = settings
        self._engine.audit.add(self.now(), author, "settings", values, "success")

    @property
    def state(self) -> str:
        """The folder that holds the history, and beside it whatever can be rebuilt."""
        return self._engine.state

    @property
    def database(self) -> Database:
        """The history's database, for data that must be written in one transaction with it."""
        return self._engine.database

    def now(self) -> float:
        return self._engine.clock()

    @property
    def notices(self) -> list[str]:
        """What the person should know: losses, recovered turns, conflict copies, conflicts with other programs."""
        engine = self._engine
        return [
            *self._notices,
            *engine.database.notices,
            *engine.journal.notices,
            *engine.documents.unreadable.values(),
            *engine.outside.notices,
        ]

    def close(self) -> None:
        with self._sharing:
            shared, self._shared = self._shared, {}
        for each in reversed(shared.values()):
            each.close()
        self._engine.close()

    def share(self, kind: type[Shared], make: Callable[[], Shared]) -> Shared:
        """Get a costly resource that everyone who uses this folder shares, such as the index. The first caller creates
        it; it is closed with the workspace. Safe to call from any thread."""
        with self._sharing:
            if kind not in self._shared:
                made = make()
                self._shared[kind] = made
            found: Any = self._shared[kind]
            return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        return self._engine.events.subscribe(listener)

    # Reading

    def read(self, path: str, *, author: Author = PERSON, confirmed: Container[str] = ()) -> Document:
        """Read a document in its working state. A secret is shown only to its owner, after they confirmed it."""
        return self._engine.documents.read(self.path(path), confirmed=confirmed, for_agent=author.is_agent)

    def read_unmasked(self, path: str) -> Document | None:
        """Read a document, even a secret. For callers that decide themselves who may see it."""
        return self._engine.documents.read_unmasked(self.path(path))

    def path(self, raw: str) -> DocPath:
        """Check the path of a document and return it in its canonical form; the document need not exist."""
        return self._engine.documents.path(raw)

    def is_folder(self, path: str) -> bool:
        return self._engine.root.is_folder(self.path(path))

    @property
    def reader(self) -> FolderReader:
        """A reader for many files at once, as a search needs it."""
        return FolderReader(self._engine.root)

    def watch_files(self) -> FileTableView:
        """A view of which files exist and what changed since it was last asked. All views share one watch."""

        def begin() -> FileTable:
            table = FileTable(self._engine.root)
            self._engine.outside.hear_renames = table.hear_renames
            return table

        return self.share(FileTable, begin).view()

    def working_drafts(self) -> Drafts:
        """The drafts as a search sees them. The caller must have the workspace to itself."""
        return working_drafts(self._engine)

    def read_picture(self, path: str) -> pictures.Picture:
        return pictures.read_picture(self._engine, path)

    def add_picture(self, document: str, name: str, data: bytes, *, author: Author) -> pictures.AddedPicture:
        return pictures.add_picture(self._engine, document, name, data, author)

    def read_accepted_document(self, path: str) -> export.AcceptedDocument:
        """Read what a document says without what agents propose."""
        return export.read_accepted_document(self._engine, path)

    def export(self, found: export.AcceptedDocument, *, proposals: bool = False) -> export.ExportedPage:
        """Make the document's page. It may take seconds, and needs no guard."""
        return export.page_of(self._engine, found, proposals=proposals)

    def list(self, prefix: str = "", *, limit: int | None = None) -> list[TreeEntry]:
        return list(walk(self._engine.root, prefix=prefix, limit=limit))

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
        confirmed: Container[str] = (),
        suggest: bool = False,
    ) -> Turn:
        """Begin a turn. The person chooses its mode and limits (by default those of the settings), never the agent.
        What a person does is written at once unless they `suggest`: then it waits for a decision, as an agent's change
        does. A caller that passes its own `token` can ask after a crash whether the turn was committed."""
        wanted = self._engine.settings.mode if mode is None else mode
        chosen = wanted if isinstance(wanted, Mode) else mode_by_name(wanted)
        if not author.is_agent:
            chosen = MODES["propose" if suggest else "apply"]
        engine = self._engine
        within = limits or engine.settings.limits
        shown = () if author.is_agent else confirmed
        named = token or new_token()
        return Turn(
            engine.documents, author, chosen, title, within, self._commit, confirm, token=named, confirmed=shown
        )

    @property
    def comments(self) -> Comments:
        """What people and agents say about passages."""
        return self._engine.comments

    @property
    def private_views(self) -> PrivateViews:
        """Where other programs work, and how their work becomes a turn."""
        return PrivateViews(self._engine, self.turn)

    def find_turn(self, token: str) -> TurnRecord | None:
        """The turn with this token, if it was recorded and not undone at once."""
        found = self._engine.turns.by_tokens([token])
        return found[0] if found and found[0].state is not State.DISCARDED else None

    def plan_ahead(self, turn: Turn) -> Callable[[], None] | None:
        """Do the slow part of committing a turn, if there is one. Call it first, while others use the workspace."""
        return plan_ahead(turn, self._engine.documents)

    def _commit(self, turn: Turn) -> Outcome:
        engine = self._engine
        at_once = turn.writes_at_once
        limit = engine.settings.confirm_files
        if at_once and turn.author.is_agent and len(turn.touched) > limit:
            turn.ask(f"change {len(turn.touched)} files", sorted(turn.touched))
        token = turn.token
        with engine.journal.lock():
            plan = (plan_write if at_once else plan_proposal)(turn, engine.documents, token)
            folders = [folder for folder in turn.folders if not engine.root.is_folder(folder)] if at_once else []
            if not plan.files and not plan.drafts and not folders:
                return Outcome(None)
            done = bool(plan.files or folders) or (at_once and not turn.author.is_agent)
            kind, state = ("apply", State.APPLIED) if done else ("propose", State.PROPOSED)
            record = engine.commit(
                plan,
                author=turn.author,
                kind=kind,
                title=turn.title,
                mode=turn.mode.name,
                state=state,
                token=token,
                called=turn.called,
                folders=folders,
            )
            for path, staged in turn.staged.items():  # known before anybody is told
                engine.documents.changes.add(path, staged.steps)
        paths: Sequence[str] = [*(file.path for file in plan.files), *folders]
        pending = [path for path, draft in plan.drafts.items() if draft is not None and path not in paths]
        return Outcome(record, list(paths), pending, plan.conflicts)

    def turns(self, *, limit: int = 50, path: str | None = None, before: int | None = None) -> Sequence[TurnRecord]:
        return self.history.turns(limit=limit, path=path, before=before)

    def look(self, number: int | None) -> None:
        """Record what another program did to the documents of a turn, or to any document, before going on."""
        self._engine.outside.look_now(() if number is None else self.show(number).paths)

    def show(self, number: int) -> TurnRecord:
        return self._engine.turns.get(number)

    def turn_texts(self, number: int) -> Sequence[tuple[str, str, str]]:
        """What each document said before and after the turn; for a secret, only that its content is withheld."""
        texts = rollback.turn_texts(self._engine, self.show(number))
        return mask_texts(texts, find_withheld(self._engine, number, texts))

    def turn_content(self, number: int) -> rollback.TurnContent:
        """What a turn did, without secrets, for use without the guard. None for a turn that was pruned."""
        turn = self.show(number)
        if turn.pruned:
            return rollback.TurnContent(turn, (), tuple)
        texts = rollback.turn_texts(self._engine, turn)
        hidden = find_withheld(self._engine, number, texts)

        def hunks() -> Sequence[rollback.TurnHunk]:
            return [hunk for hunk in rollback.turn_hunks(self._engine, turn) if hunk.path not in hidden]

        return rollback.TurnContent(turn, mask_texts(texts, hidden), hunks)

    def newest_turn(self) -> int:
        return self._engine.turns.newest()

    def last_to_undo(self) -> TurnRecord | None:
        return self._engine.turns.last_to_undo()

    def last_to_redo(self) -> TurnRecord | None:
        return self._engine.turns.last_to_redo()

    def proposals(self) -> dict[str, int]:
        """The number of each turn that waits for a decision, by the token that its hunks carry."""
        return {turn.token: turn.id for turn in self._engine.turns.proposals()}

    def count_turns(self, author_kind: AuthorKind, *, since: float = 0.0) -> Mapping[State, int]:
        return self._engine.turns.tally(author_kind, since=since)

    def turns_undone_with(self, turn: TurnRecord | None) -> Sequence[TurnRecord]:
        """A turn with those that are undone with it, the newest first: an agent's work for one prompt."""
        return [] if turn is None else rollback.turns_of_one_prompt(self._engine, turn)

    def plan_undo(self, turns: Sequence[TurnRecord]) -> tuple[Sequence[Plan], Sequence[Clash]]:
        """What undoing these turns, the newest first, would write, or what stands in their way. Nothing is undone."""
        self._engine.outside.prompts.look()
        self.look(turns[0].id)
        with self._engine.journal.lock():
            return rollback.plan_undo_all(self._engine, turns)

    def revisions(self, path: str, text: str) -> Sequence[past_texts.Revision]:
        """The texts of a document in order, ending with `text`, its current one."""
        return past_texts.revisions(self._engine, path, text)

    def blame(self, path: str, text: str) -> Sequence[past_texts.BlamedLines]:
        """Who wrote each line of a document that now says `text`."""
        return past_texts.blame(self._engine, path, text)

    @property
    def changes(self) -> ChangeLog:
        """What happened to documents since recent versions."""
        return self._engine.documents.changes

    def text_of_version(self, path: str, version: str) -> Text | None:
        """What a document said at a version, as far as the history knows."""
        return past_texts.text_of_version(self._engine, path, version)

    def check_past(self, path: str, version: str, text: Text) -> None:
        """Refuse to show an old text of a document that is a secret now."""
        past_texts.check_past(self._engine, path, version, text)

    @property
    def outside(self) -> OutsideRecorder:
        """Records what other programs do."""
        return self._engine.outside

    def undo(
        self,
        number: int | None = None,
        *,
        author: Author = PERSON,
        called: AuditLine | None = None,
        confirmed: Container[str] = (),
    ) -> rollback.RollbackResult:
        self._engine.outside.prompts.look()
        self.look(number)
        turn = self._engine.turns.last_to_undo() if number is None else self.show(number)
        self._check_stay_secret(self.turns_undone_with(turn), author, confirmed)
        return rollback.undo(self._engine, number, author=author, called=called)

    def redo(self, *, author: Author = PERSON, confirmed: Container[str] = ()) -> rollback.RollbackResult:
        self.look(None)
        self._check_stay_secret(self.turns_undone_with(self._engine.turns.last_to_redo()), author, confirmed)
        return rollback.redo(self._engine, author=author)

    def restore(
        self, number: int, *, author: Author = PERSON, confirmed: Container[str] = ()
    ) -> rollback.RollbackResult:
        self.look(number)
        self._check_stay_secret([self.show(number)], author, confirmed, restoring=True)
        return rollback.restore(self._engine, number, author=author)

    def rollback(
        self,
        number: int,
        mode: rollback.RollbackMode,
        hunk_ids: Iterable[str] = (),
        *,
        author: Author = PERSON,
        confirmed: Container[str] = (),
    ) -> rollback.RollbackResult:
        self.look(number)
        self._check_stay_secret([self.show(number)], author, confirmed, restoring=True)
        return rollback.rollback(self._engine, number, mode, hunk_ids, author=author)

    def _check_stay_secret(
        self, turns: Sequence[TurnRecord], author: Author, confirmed: Container[str], *, restoring: bool = False
    ) -> None:
        for turn in turns:
            if author != PERSON:  # who may not read a secret can neither delete, write nor move it
                hidden = find_withheld(self._engine, turn.id, rollback.turn_texts(self._engine, turn))
                if hidden:
                    raise secret_error(min(hidden))
            check_stays_secret(self._engine, turn, confirmed, restoring=restoring)

    def three_way(self, number: int, path: str) -> rollback.ThreeWayView:
        if path in find_withheld(self._engine, number, rollback.turn_texts(self._engine, self.show(number))):
            raise secret_error(path)
        return rollback.three_way(self._engine, number, path)

    # Review

    def drafts(self, *, confirmed: Container[str] = ()) -> Sequence[Draft]:
        """Every document that has something pending or unsaved; for a secret, only that it has."""
        drafts = self._engine.documents.drafts()
        return [mask_draft(self._engine.root, draft, confirmed) for draft in drafts if not draft.settled]

    def draft(self, path: str, *, confirmed: Container[str] = ()) -> Draft | None:
        draft = self._engine.documents.draft(self._engine.documents.path(path))
        return draft if draft is None or draft.settled else mask_draft(self._engine.root, draft, confirmed)

    def draft_places(self) -> Sequence[tuple[str | None, str | None]]:
        """For every draft, where its file is and where the document stands; None where it has no file, or no place any
        more."""
        return [(draft.base_path, draft.path) for draft in self._engine.documents.drafts()]

    def draft_unmasked(self, path: str) -> Draft | None:
        return self._engine.documents.draft(self.path(path))

    def draft_of(self, image: str) -> Draft:
        return self._engine.documents.from_image(image)

    def accept(
        self,
        choice: Mapping[str, Sequence[str] | None],
        *,
        author: Author = PERSON,
        base_hash: Mapping[str, str] | None = None,
        turn: int | None = None,
    ) -> decisions.DecisionResult:
        return decisions.accept(self._engine, choice, author=author, base_hash=base_hash, turn=turn)

    def reject(
        self, choice: Mapping[str, Sequence[str] | None], *, author: Author = PERSON, turn: int | None = None
    ) -> decisions.DecisionResult:
        return decisions.reject(self._engine, choice, author=author, turn=turn)

    def expand_choice(self, choice: Mapping[str, Sequence[str] | None], unit: Unit) -> dict[str, list[str] | None]:
        """Add to a choice every hunk that is decided together with it in a larger unit."""
        return decisions.expand_choice(self._engine, choice, unit)

    def hunks_of_turn(self, number: int) -> Mapping[str, Sequence[str]]:
        """What is left to decide of a turn, by document; pass it to `accept` or `reject`."""
        return decisions.list_undecided_of_turn(self._engine, self.show(number))

    def settle(
        self, path: str, hunk: str, text: str | None = None, *, author: Author = PERSON
    ) -> decisions.DecisionResult:
        return decisions.settle(self._engine, path, hunk, text, author=author)

    def split(
        self, path: str, hunk: str, at: int, base_at: int | None = None, *, author: Author = PERSON
    ) -> decisions.DecisionResult:
        return decisions.split(self._engine, path, hunk, at, base_at, author=author)

    # Tabs

    def open_tab(self, path: str, *, confirmed: Container[str] = ()) -> tabs.Tab:
        return tabs.open_tab(self._engine, path, confirmed=confirmed)

    def tabs(self) -> Sequence[tabs.Tab]:
        return tabs.tabs(self._engine)

    def tab(self, tab_id: str) -> tabs.Tab:
        return tabs.tab(self._engine, tab_id)

    def tab_of(self, path: str) -> str | None:
        """The id of a document's tab, if it is open."""
        return self._engine.reviews.tab_of(path)

    def tab_paths(self) -> dict[str, str]:
        """The path of each open document by the id of its tab, without reading any of them."""
        return tabs.tab_paths(self._engine)

    def close_tab(self, tab_id: str, *, discard: bool = False) -> None:
        tabs.close_tab(self._engine, tab_id, discard=discard)

    def front(self, person: str = PERSON.name) -> tabs.FrontTab | None:
        """The document that a person is looking at."""
        return tabs.front(self._engine, person)

    def bring_to_front(
        self, tab_id: str, selection: tabs.Selection | None = None, *, person: str = PERSON.name
    ) -> tabs.FrontTab | None:
        return tabs.bring_to_front(self._engine, tab_id, selection, person=person)

    def type(
        self,
        path: str,
        change: Change,
        *,
        version: str | None = None,
        also: Callable[[Document], None] | None = None,
    ) -> Document:
        """Change what a document says without saving it. What `also` writes is stored in the same transaction."""
        return tabs.type_text(self._engine, path, change, version=version, also=also)

    def save(self, path: str, *, author: Author = PERSON) -> TurnRecord | None:
        return tabs.save(self._engine, path, author=author)

    def discard_typing(self, path: str, *, author: Author = PERSON) -> TurnRecord | None:
        return tabs.discard_typing(self._engine, path, author=author)

    def refresh(self) -> Sequence[str]:
        return tabs.refresh(self._engine)

    # Keeping

    def list_trash(self) -> Sequence[trash.TrashedDocument]:
        return trash.list_trash(self._engine)

    def untrash(
        self,
        path: str,
        *,
        turn: int | None = None,
        to: str | None = None,
        author: Author = PERSON,
        confirmed: Container[str] = (),
    ) -> TurnRecord:
        return trash.untrash(self._engine, path, turn=turn, to=to, author=author, confirmed=confirmed)

    def audit(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The newest lines of the audit log, oldest first, without any text of a secret."""
        return mask_audit(self._engine, self._engine.audit.entries(limit=limit))

    def log_call(self, author: Author, line: AuditLine, outcome: str) -> None:
        """Log a call that changed nothing."""
        with self._engine.database.transaction(durable=False):
            self._engine.audit.add(self.now(), author, line.tool, line.arguments, outcome)

    def mask_records(self, records: Sequence[dict[str, Any]], at: float) -> list[dict[str, Any]]:
        """Filter recorded agent calls: for a document that is a secret now, show only that a call was made. `at` is
        when the recording began. Safe to call from any thread."""
        return mask_records(self._engine, records, at)

    def verify_audit(self) -> AuditCheck:
        return self._engine.audit.verify()

    def gc(self) -> GcResult:
        """Delete history that is older than the settings keep."""
        engine = self._engine
        with engine.journal.lock():
            return collect(engine.database, engine.store, engine.turns, engine.settings, engine.clock())
