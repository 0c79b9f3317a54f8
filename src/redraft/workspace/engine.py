"""What all operations of a workspace share: the layers below it, opened for one folder, and the one way to commit a
plan."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from redraft.files.paths import DocPath
from redraft.history.audit import Audit
from redraft.history.database import Database, Store
from redraft.history.journal import AuditLine, Journal
from redraft.history.reviews import LastSeenTable, Reviews
from redraft.history.turns import Author, State, TurnRecord, Turns, note_created_folders
from redraft.workspace.documents import Documents
from redraft.workspace.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redraft.config import Settings
    from redraft.files.root import Root
    from redraft.workspace.comments import Comments
    from redraft.workspace.folder.outside_changes import OutsideRecorder
    from redraft.workspace.turns.plan import Plan


@dataclass(slots=True)
class Engine:
    """The opened parts of one folder."""

    root: Root
    database: Database
    store: Store
    turns: Turns
    reviews: Reviews
    seen: LastSeenTable
    audit: Audit
    journal: Journal
    documents: Documents
    events: Events
    settings: Settings
    clock: Callable[[], float]
    comments: Comments = field(init=False)  # like the next one
    outside: OutsideRecorder = field(init=False)  # given by `Workspace.open`: what it notices concerns all the acts

    @staticmethod
    def start(root: Root, state: str, settings: Settings, clock: Callable[[], float]) -> Engine:
        database = Database(state)
        store, turns, reviews, audit = Store(database), Turns(database), Reviews(database), Audit(database)
        seen = LastSeenTable(database)
        events = Events()
        journal = Journal(root, database, store, turns, reviews, audit, state, events.hold)
        documents = Documents(root, store, reviews, seen)
        return Engine(root, database, store, turns, reviews, seen, audit, journal, documents, events, settings, clock)

    def commit(
        self,
        plan: Plan,
        *,
        author: Author,
        kind: str,
        title: str,
        mode: str = "",
        state: State = State.APPLIED,
        source: int | None = None,
        token: str = "",
        arguments: Any = None,
        called: AuditLine | None = None,
        folders: Iterable[DocPath] = (),
    ) -> TurnRecord:
        """Carry out everything in a plan as one turn, and create these folders. The caller must hold the journal's
        lock."""
        turn = TurnRecord(
            author=author,
            kind=kind,
            mode=mode,
            title=title,
            created=self.clock(),
            token=token or new_token(),
            state=state,
            source=source,
        )
        paths = list(dict.fromkeys([*(file.path for file in plan.files), *plan.drafts, *folders]))
        line = called or AuditLine(kind, {"title": title, "paths": paths, **(arguments or {})})
        self.outside.before_turn(plan.files)
        decided = {} if kind in ("propose", "apply") else self.comments.reviews_of(plan.drafts)
        made = [each for folder in folders for each in self.root.make_folder(folder)]
        try:
            with self.outside.pause():
                done = self.journal.commit(turn, plan.files, lambda: plan.steps(self.documents), line)
        except BaseException:
            self.root.remove_empty_folders(made)
            raise
        note_created_folders(self.database, done.turn.id, made)
        record = done.turn if not made or plan.files else replace(done.turn, folders=tuple(made))
        for file in plan.files:
            if file.after is not None:
                self.documents.cache_content(file.path, file.after, done.standing[file.path])
            else:
                self.documents.cache_file(file.path, None, proven=False)
        moves: dict[str, str] = {file.moved_from: file.path for file in plan.files if file.moved_from is not None}
        if moves:
            with self.database.transaction(durable=False):
                self.reviews.move_tabs(moves)
            self.comments.move(moves)
        self.comments.note_decisions(decided)
        drafts = [
            draft.base_path for draft in plan.drafts.values() if draft is not None and draft.base_path is not None
        ]
        self.outside.files.remember_written({*(file.path for file in plan.files), *map(DocPath, drafts)})
        self.tell(record)
        return record

    def tell(self, turn: TurnRecord) -> None:
        self.events.tell("checkpoint.created", checkpoint_id=turn.id, turn=turn.id)
        self.events.tell(f"turn.{turn.state}", turn=turn.id, kind=turn.kind, title=turn.title, paths=turn.paths)
        for path in turn.paths:
            self.events.tell("document.changed", path=path, turn=turn.id)

    @property
    def state(self) -> str:
        """The folder that holds the history, and beside it whatever can be rebuilt."""
        return self.journal.state

    def close(self) -> None:
        self.database.close()
        self.root.close()


def new_token() -> str:
    return secrets.token_hex(8)
