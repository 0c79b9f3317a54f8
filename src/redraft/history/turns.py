"""Turns as they are remembered: who did what, when, over which documents, and how it ended.

A turn consists of file steps (what a file held before and after, so that a creation, a deletion and a move are steps
too) and review steps (what a document's review was before and after). Both carry images of either side, so every turn
can be taken back. Rows are only added; the one thing that changes is a turn's state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.history.database import Database
    from redraft.history.store import SnapshotId

AuthorKind = Literal["person", "agent", "system"]


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a turn."""

    kind: AuthorKind
    name: str

    @property
    def is_agent(self) -> bool:
        return self.kind == "agent"

    def __str__(self) -> str:
        return self.name


class State(StrEnum):
    """How far a turn has come."""

    APPLYING = "applying"  # journaled; files are being replaced right now, or were when the program was stopped
    PROPOSED = "proposed"  # waits for a person's decision
    APPLIED = "applied"
    DISCARDED = "discarded"  # refused or failed; no file holds anything of it
    UNDONE = "undone"  # a later turn took it back


@dataclass(frozen=True, slots=True)
class FileStep:
    """What one file held before and after. None means that there was no file."""

    path: str
    before: SnapshotId | None
    after: SnapshotId | None
    mode: int | None = None
    moved_from: str | None = None

    @property
    def action(self) -> str:
        if self.moved_from is not None:
            return "moved"
        if self.before is None:
            return "created"
        return "deleted" if self.after is None else "modified"


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """A document's review before and after, as `reviews.Image` writes it. None means that there was none."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One row of the history."""

    author: Author
    kind: str
    mode: str
    title: str
    created: float
    token: str
    state: State = State.APPLIED
    source: int | None = None
    id: int = 0
    pruned: bool = False
    files: tuple[FileStep, ...] = field(default=())
    reviews: tuple[ReviewStep, ...] = field(default=())

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.path for step in (*self.files, *self.reviews)))


COLUMNS = "id, token, author_kind, author_name, kind, mode, title, state, created, source, pruned"
PROPOSED_QUERY = f"SELECT {COLUMNS} FROM turns WHERE state = 'proposed' ORDER BY id"  # noqa: S608 - our own words
UNDER_WAY_QUERY = f"SELECT {COLUMNS} FROM turns WHERE id = (SELECT max(id) FROM turns) AND state = 'applying'"  # noqa: S608


class Turns:
    """The table of turns and their steps."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self, turn: TurnRecord, state: State, files: Sequence[FileStep], reviews: Sequence[ReviewStep]
    ) -> TurnRecord:
        """Write a turn in this state, with its steps; gives it with them and its id. Called inside a transaction."""
        number = self._db.execute(
            "INSERT INTO turns (token, author_kind, author_name, kind, mode, title, state, created, source)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                turn.token,
                turn.author.kind,
                turn.author.name,
                turn.kind,
                turn.mode,
                turn.title,
                state,
                turn.created,
                turn.source,
            ),
        )
        self._db.many(
            "INSERT INTO file_steps VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (number, seq, step.path, step.before, step.after, step.mode, step.moved_from)
                for seq, step in enumerate(files)
            ],
        )
        self._db.many(
            "INSERT INTO review_steps VALUES (?, ?, ?, ?, ?)",
            [(number, seq, step.path, step.before, step.after) for seq, step in enumerate(reviews)],
        )
        return replace(turn, id=number, files=tuple(files), reviews=tuple(reviews))

    def get(self, number: int) -> TurnRecord:
        row = self._db.row(f"SELECT {COLUMNS} FROM turns WHERE id = ?", (number,))  # noqa: S608 - our own names
        if row is None:
            raise Refused(f"There is no turn {number}.", code="turn_not_found", turn=number)
        return self._read(row)

    def recent(self, *, limit: int = 50, path: str | None = None, before: int | None = None) -> list[TurnRecord]:
        """The newest turns first."""
        where, values = ["1"], list[Any]()
        if path is not None:
            where.append(
                "(id IN (SELECT turn FROM file_steps WHERE path = ? OR moved_from = ?)"
                " OR id IN (SELECT turn FROM review_steps WHERE path = ?))"
            )
            values += [path, path, path]
        if before is not None:
            where.append("id < ?")
            values.append(before)
        query = f"SELECT {COLUMNS} FROM turns WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?"  # noqa: S608
        return [self._read(row) for row in self._db.rows(query, (*values, limit))]

    def proposed(self) -> list[TurnRecord]:
        """The turns that wait for a decision."""
        return [self._read(row) for row in self._db.rows(PROPOSED_QUERY)]

    def under_way(self) -> TurnRecord | None:
        """The turn that is being carried out, or was when its process stopped; under the lock, only the second.

        It can only be the newest: no other is begun before it has ended.
        """
        row = self._db.row(UNDER_WAY_QUERY)
        return self._read(row) if row else None

    def by_tokens(self, tokens: Iterable[str]) -> list[TurnRecord]:
        query = f"SELECT {COLUMNS} FROM turns WHERE token = ?"  # noqa: S608
        found = (self._db.row(query, (token,)) for token in sorted(tokens))
        return [self._read(row) for row in found if row is not None]

    def mark(self, number: int, state: State) -> None:
        self._db.execute("UPDATE turns SET state = ? WHERE id = ?", (state, number))

    def mark_consequences(self, turn: TurnRecord) -> None:
        """What a turn that now stands means for the turn it is about."""
        if turn.kind != "undo" or turn.source is None:
            return
        other, stands = self.get(turn.source), False
        self.mark(other.id, State.UNDONE)
        while other.kind == "undo" and other.source is not None:  # undoing an undo lets what it undid stand again
            other, stands = self.get(other.source), not stands
            standing = State.PROPOSED if other.kind == "propose" else State.APPLIED
            self.mark(other.id, standing if stands else State.UNDONE)

    def last_to_undo(self) -> TurnRecord | None:
        """The newest turn that still stands and is not itself an undo."""
        query = (
            f"SELECT {COLUMNS} FROM turns WHERE state IN ('applied', 'proposed') AND kind != 'undo'"  # noqa: S608
            " AND NOT (kind = 'propose' AND state = 'applied')"  # what was accepted is undone by undoing that
            " AND pruned = 0 ORDER BY id DESC LIMIT 1"
        )
        row = self._db.row(query)
        return self._read(row) if row else None

    def last_to_redo(self) -> TurnRecord | None:
        """The newest undo that still stands, if nothing was done since but to redo what was undone after it."""
        query = (
            f"SELECT {COLUMNS} FROM turns WHERE state IN ('applied', 'proposed')"  # noqa: S608
            " AND NOT (kind = 'undo' AND source IN (SELECT id FROM turns WHERE kind = 'undo'))"
            " ORDER BY id DESC LIMIT 1"
        )
        row = self._db.row(query)
        turn = self._read(row) if row else None
        return turn if turn and turn.kind == "undo" and not turn.pruned else None

    def tally(self, author: AuthorKind, *, since: float = 0.0) -> dict[State, int]:
        """How many turns of such authors stand in which state."""
        query = "SELECT state, count(*) FROM turns WHERE author_kind = ? AND created >= ? GROUP BY state"
        return {State(state): count for state, count in self._db.rows(query, (author, since))}

    def newest(self) -> int:
        row = self._db.row("SELECT max(id) FROM turns")
        return (row[0] or 0) if row else 0

    def _read(self, row: tuple[Any, ...]) -> TurnRecord:
        number, token, author_kind, author_name, kind, mode, title, state, created, source, pruned = row
        files = self._db.rows(
            "SELECT path, before, after, mode, moved_from FROM file_steps WHERE turn = ? ORDER BY seq", (number,)
        )
        reviews = self._db.rows("SELECT path, before, after FROM review_steps WHERE turn = ? ORDER BY seq", (number,))
        return TurnRecord(
            author=Author(author_kind, author_name),
            kind=kind,
            mode=mode,
            title=title,
            created=created,
            token=token,
            state=State(state),
            source=source,
            id=number,
            pruned=bool(pruned),
            files=tuple(FileStep(*step) for step in files),
            reviews=tuple(ReviewStep(*step) for step in reviews),
        )
