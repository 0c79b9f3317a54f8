"""What the acts of a workspace share: the rooms below, wired for one folder, and the one way to carry something out."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.history.audit import Audit
from redraft.history.database import Database
from redraft.history.journal import AuditLine, Journal
from redraft.history.reviews import Reviews
from redraft.history.store import Store
from redraft.history.turns import Author, State, TurnRecord, Turns
from redraft.workspace.documents import Documents
from redraft.workspace.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.config import Settings
    from redraft.files.root import Root
    from redraft.workspace.plan import Plan

PERSON = Author("person", "you")


@dataclass(slots=True)
class Engine:
    """One folder's rooms, opened."""

    root: Root
    database: Database
    store: Store
    turns: Turns
    reviews: Reviews
    audit: Audit
    journal: Journal
    documents: Documents
    events: Events
    settings: Settings
    clock: Callable[[], float]

    @staticmethod
    def start(root: Root, state: str, settings: Settings, clock: Callable[[], float]) -> Engine:
        database = Database(state)
        store, turns, reviews, audit = Store(database), Turns(database), Reviews(database), Audit(database)
        events = Events()
        journal = Journal(root, database, store, turns, reviews, audit, state, events.hold)
        documents = Documents(root, store, reviews)
        return Engine(root, database, store, turns, reviews, audit, journal, documents, events, settings, clock)

    def carry_out(
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
    ) -> TurnRecord:
        """Do everything a plan says as one turn. The journal's lock must be held."""
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
        line = called or AuditLine(kind, arguments if arguments is not None else {"title": title})
        done = self.journal.carry_out(turn, plan.files, lambda: plan.steps(self.documents), line)
        record = done.turn
        for file in plan.files:
            if file.after is not None:
                self.documents.keep_written(file.path, file.after, done.standing[file.path])
        moves: dict[str, str] = {file.moved_from: file.path for file in plan.files if file.moved_from is not None}
        if moves:
            with self.database.transaction(durable=False):
                self.reviews.move_tabs(moves)
        self.tell(record)
        return record

    def tell(self, turn: TurnRecord) -> None:
        self.events.tell("checkpoint.created", checkpoint_id=turn.id, turn=turn.id)
        self.events.tell(f"turn.{turn.state}", turn=turn.id, kind=turn.kind, title=turn.title, paths=turn.paths)
        for path in turn.paths:
            self.events.tell("document.changed", path=path, turn=turn.id)

    @property
    def state(self) -> str:
        """The folder in which the history lies, and beside it what can be made again."""
        return self.journal.state

    def close(self) -> None:
        self.database.close()
        self.root.close()


def new_token() -> str:
    return secrets.token_hex(8)
