"""Authors, and their stored turns: who did what, when, in which documents, and how it ended.

A turn consists of file steps (a file's content before and after, so that a creation, a deletion and a move are steps
too) and review steps (a document's review before and after). Both have images of both sides, so every turn can be
undone. Rows are only added; only a turn's state changes and, while another program keeps writing a document that
nobody else has touched since, the last image of that program's turn.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from redraft.errors import Refused
from redraft.files.paths import DocPath
from redraft.text.diff.word_diff import refine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.history.database import Database, SnapshotId
    from redraft.text.edits import Change


# The folders that a turn created, so that undoing it removes them again if they are empty, and those that it removed,
# so that they can be created again.
#
# A note beside the history, not a part of it: if one is lost, a folder stays, and nothing else happens.


def note_created_folders(database: Database, turn: int, folders: Sequence[str]) -> None:
    """Remember folders that the turn created, outermost first, in addition to those already noted."""
    _note_folders(database, f"made by {turn}", folders)


def list_created_folders(database: Database, turn: int) -> list[DocPath]:
    return _list_noted_folders(database, f"made by {turn}")


def note_removed_folders(database: Database, turn: int, folders: Sequence[str]) -> None:
    """Remember folders that the turn removed, outermost first."""
    _note_folders(database, f"dropped by {turn}", folders)


def list_removed_folders(database: Database, turn: int) -> list[DocPath]:
    return _list_noted_folders(database, f"dropped by {turn}")


def _note_folders(database: Database, key: str, folders: Sequence[str]) -> None:
    if folders:
        with database.transaction(durable=False):
            known = _list_noted_folders(database, key)
            noted = [*known, *(folder for folder in folders if folder not in known)]
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(noted)))


def _list_noted_folders(database: Database, key: str) -> list[DocPath]:
    row = database.row("SELECT value FROM meta WHERE key = ?", (key,))
    return [DocPath(folder) for folder in json.loads(row[0])] if row else []


AuthorKind = Literal["person", "agent", "system", "outside"]


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
    """The state of a turn."""

    APPLYING = "applying"  # journaled; files are being replaced right now, or were when the program stopped
    PROPOSED = "proposed"  # waits for a person's decision
    APPLIED = "applied"
    DISCARDED = "discarded"  # refused or failed; no file contains anything of it
    UNDONE = "undone"  # a later turn undid it


class EditPosition(NamedTuple):
    """One edit of a step: where, how much went and came, which agent's edit it was and in which hunk, if it was one."""

    at: int
    old: int
    new: int
    mark: str = ""
    hunk: str = ""


def dump_positions(places: Iterable[EditPosition]) -> str:
    return json.dumps([list(place) for place in places], separators=(",", ":"))


def load_positions(written: str) -> list[EditPosition]:
    return [EditPosition(*row) for row in json.loads(written)]


def positions_of_change(change: Change) -> str:
    """A change as places. What was written as a whole is compared: most of it stays."""
    return dump_positions(
        EditPosition(part.at, len(part.old), len(part.new)) for edit in change.edits for part in refine(edit)
    )


def dump_edits(change: Change) -> str:
    """A change as places, each edit as it is: what it puts in are the very characters that were taken out before."""
    return dump_positions(EditPosition(edit.at, len(edit.old), len(edit.new)) for edit in change.edits)


@dataclass(frozen=True, slots=True)
class FileStep:
    """One file's content before and after. None means that there was no file."""

    path: str
    before: SnapshotId | None
    after: SnapshotId | None
    mode: int | None = None
    moved_from: str | None = None
    edits: str | None = None  # what changed where, to the character, as `dump_positions` writes it

    @property
    def action(self) -> str:
        if self.moved_from is not None:
            return "moved"
        if self.before is None:
            return "created"
        return "deleted" if self.after is None else "modified"


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """A document's review before and after, as `reviews.ReviewImage` writes it. None means that there was none."""

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
    folders: tuple[str, ...] = field(default=())  # of a turn that created nothing else
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
        """Store a turn in this state, with its steps; returns it with them and its id. Called inside a transaction."""
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
            "INSERT INTO file_steps VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (number, seq, step.path, step.before, step.after, step.mode, step.moved_from, step.edits)
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

    def recent(
        self,
        *,
        limit: int = 50,
        path: str | None = None,
        before: int | None = None,
        author: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> list[TurnRecord]:
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
        bounds = (("author_name = ?", author), ("created >= ?", since), ("created < ?", until))
        for condition, value in bounds:
            if value is not None:
                where.append(condition)
                values.append(value)
        query = f"SELECT {COLUMNS} FROM turns WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?"  # noqa: S608
        return [self._read(row) for row in self._db.rows(query, (*values, limit))]

    def proposals(self) -> list[TurnRecord]:
        """The turns that await a decision."""
        return [self._read(row) for row in self._db.rows(PROPOSED_QUERY)]

    def find_applying_turn(self) -> TurnRecord | None:
        """The turn that is being committed, or was when its process stopped; under the lock, only the latter.

        It can only be the newest: no other begins before it has ended.
        """
        row = self._db.row(UNDER_WAY_QUERY)
        return self._read(row) if row else None

    def by_tokens(self, tokens: Iterable[str]) -> list[TurnRecord]:
        query = f"SELECT {COLUMNS} FROM turns WHERE token = ?"  # noqa: S608
        found = (self._db.row(query, (token,)) for token in sorted(tokens))
        return [self._read(row) for row in found if row is not None]

    def rollbacks(self, number: int, path: str) -> list[tuple[int, FileStep]]:
        """The effective scoped rollbacks of a turn, each with what it did to the file at this path."""
        query = (
            "SELECT turns.id, path, before, after, file_steps.mode, moved_from, edits FROM file_steps"
            " JOIN turns ON turns.id = file_steps.turn"
            " WHERE path = ? AND turns.kind = 'rollback' AND turns.source = ? AND state = 'applied' ORDER BY turn"
        )
        return [(row[0], FileStep(*row[1:])) for row in self._db.rows(query, (path, number))]

    def file_steps(self, path: str, *, after: int, before: int | None = None) -> list[FileStep]:
        """What later turns (up to another) did to the file at this path, in order, without turns that never took
        effect."""
        query = (
            "SELECT path, before, after, file_steps.mode, moved_from, edits FROM file_steps"
            " JOIN turns ON turns.id = file_steps.turn"
            " WHERE path = ? AND turn > ? AND turn < ? AND state NOT IN ('discarded', 'applying') ORDER BY turn, seq"
        )
        newest = self.newest() + 1 if before is None else before
        return [FileStep(*row) for row in self._db.rows(query, (path, after, newest))]

    def on_file(self, path: str, *, since: int) -> list[TurnRecord]:
        """The turns from one on that changed a file or its review, in order, without those that never took effect."""
        query = (
            f"SELECT {COLUMNS} FROM turns WHERE id >= ? AND state != 'applying'"  # noqa: S608
            " AND (state != 'discarded' OR kind = 'propose')"
            " AND (id IN (SELECT turn FROM file_steps WHERE path = ?)"
            " OR id IN (SELECT turn FROM review_steps WHERE path = ?)) ORDER BY id"
        )
        return [self._read(row) for row in self._db.rows(query, (since, path, path))]

    def acceptances(self, turn: TurnRecord) -> list[TurnRecord]:
        """The decisions in effect that accepted something of a proposal."""
        return [decision for decision in self.all_acceptances(turn) if decision.state is State.APPLIED]

    def all_acceptances(self, turn: TurnRecord) -> list[TurnRecord]:
        """The decisions that accepted something of a proposal, including undone ones."""
        query = (
            f"SELECT {COLUMNS} FROM turns WHERE id > ? AND kind = 'accept' AND state IN ('applied', 'undone')"  # noqa: S608
            " AND id IN (SELECT turn FROM review_steps WHERE instr(before, ?)) ORDER BY id"
        )
        return [self._read(row) for row in self._db.rows(query, (turn.id, turn.token))]

    def was_reverted(self, number: int) -> bool:
        """Whether anything of a turn was ever reverted, by an undo or a rollback that may have been undone since."""
        query = "SELECT 1 FROM turns WHERE source = ? AND kind IN ('undo', 'rollback') AND state != 'discarded' LIMIT 1"
        return self._db.row(query, (number,)) is not None

    def last_on(self, paths: Iterable[str]) -> TurnRecord | None:
        """The newest turn that wrote or reviewed any of these."""
        found = [turn for path in paths for turn in self.recent(limit=1, path=path)]
        return max(found, key=lambda turn: turn.id, default=None)

    def extend(self, number: int, path: str, after: SnapshotId, review: ReviewStep | None, at: float) -> None:
        """Let a turn end with another content of a file, and of its review. Called inside a transaction."""
        self._db.execute("UPDATE file_steps SET after = ? WHERE turn = ? AND path = ?", (after, number, path))
        if review is not None:
            values = (review.after, number, review.path)
            self._db.execute("UPDATE review_steps SET after = ? WHERE turn = ? AND path = ?", values)
        self._db.execute("UPDATE turns SET created = ? WHERE id = ?", (at, number))

    def mark(self, number: int, state: State) -> None:
        self._db.execute("UPDATE turns SET state = ? WHERE id = ?", (state, number))

    def mark_consequences(self, turn: TurnRecord) -> None:
        """What a committed turn means for the turn that it is about."""
        if turn.kind != "undo" or turn.source is None:
            return
        other, stands = self.get(turn.source), False
        self.mark(other.id, State.UNDONE)
        while other.kind == "undo" and other.source is not None:  # undoing an undo puts what it undid back into effect
            other, stands = self.get(other.source), not stands
            state = State.PROPOSED if other.kind == "propose" else State.APPLIED
            self.mark(other.id, state if stands else State.UNDONE)

    def last_to_undo(self) -> TurnRecord | None:
        """The last turn that was done, or redone, and is in effect. What another program wrote does not belong to
        whoever says "undo": it can be undone by its number."""
        query = (
            f"SELECT {COLUMNS} FROM turns WHERE id < ? AND state IN ('applied', 'proposed') AND pruned = 0"  # noqa: S608
            " AND (kind != 'undo' OR source IN (SELECT id FROM turns WHERE kind = 'undo'))"
            " AND NOT (kind = 'propose' AND state = 'applied')"  # what was accepted is undone by undoing that
            # Nothing is left of a decision about a turn that was undone since.
            " AND NOT (kind = 'accept' AND coalesce(source, 0) IN (SELECT id FROM turns WHERE state = 'undone'))"
            " AND author_kind != 'outside'"
            " ORDER BY id DESC LIMIT 1"
        )
        row = self._db.row(query, (self.newest() + 1,))
        while row:
            turn = self._read(row)
            done = self._original_turn(turn)
            if done.state in (State.APPLIED, State.PROPOSED) and not done.pruned:
                return done
            row = self._db.row(query, (turn.id,))
        return None

    def _original_turn(self, turn: TurnRecord) -> TurnRecord:
        """The turn that an undo, or the undo of an undo, is about in the end."""
        while turn.kind == "undo" and turn.source is not None:
            turn = self.get(turn.source)
        return turn

    def last_to_redo(self) -> TurnRecord | None:
        """The newest undo in effect, if nothing was done since except to redo what was undone after it."""
        query = (
            f"SELECT {COLUMNS} FROM turns WHERE state IN ('applied', 'proposed')"  # noqa: S608
            " AND NOT (kind = 'undo' AND source IN (SELECT id FROM turns WHERE kind = 'undo'))"
            " AND author_kind != 'outside'"
            " ORDER BY id DESC LIMIT 1"
        )
        row = self._db.row(query)
        turn = self._read(row) if row else None
        return turn if turn and turn.kind == "undo" and not turn.pruned else None

    def tally(self, author: AuthorKind, *, since: float = 0.0) -> dict[State, int]:
        """How many turns of such authors are in which state."""
        query = "SELECT state, count(*) FROM turns WHERE author_kind = ? AND created >= ? GROUP BY state"
        return {State(state): count for state, count in self._db.rows(query, (author, since))}

    def newest(self) -> int:
        row = self._db.row("SELECT max(id) FROM turns")
        return (row[0] or 0) if row else 0

    def _read(self, row: tuple[Any, ...]) -> TurnRecord:
        number, token, author_kind, author_name, kind, mode, title, state, created, source, pruned = row
        files = self._db.rows(
            "SELECT path, before, after, mode, moved_from, edits FROM file_steps WHERE turn = ? ORDER BY seq", (number,)
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
            folders=() if files or reviews else tuple(list_created_folders(self._db, number)),
            files=tuple(FileStep(*step) for step in files),
            reviews=tuple(ReviewStep(*step) for step in reviews),
        )


# Who a change is by: the person, an agent by its name, or another program.


PERSON = Author("person", "you")
OUTSIDE = Author("outside", "outside")
UNSIGNED = "unsigned"  # whoever suggested something in a file that does not say who


def agent_author(name: str) -> Author:
    """An agent by the name that it gives itself, which may not look like the person's or another program's."""
    if not name.isprintable():  # a mark that turns the reading around would let one name look like another
        raise Refused("An agent's name cannot contain invisible characters.", field="author")
    if name.strip().casefold() in (PERSON.name, OUTSIDE.name):
        raise Refused(f"An agent cannot be named {name.strip()!r}: the name is taken.", field="author")
    return Author("agent", name)


def suggester(name: str) -> Author:
    """A person who suggested something, by the name that a file gives them. A name that would pass for somebody who is
    here is not taken over."""
    known = name.isprintable() and name.strip().casefold() not in ("", PERSON.name, OUTSIDE.name)
    return Author("person", name.strip() if known else UNSIGNED)
