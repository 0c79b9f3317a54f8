"""The agent's own SQLite file, `agent.db` in the folder's state: sessions, jobs, events, recorded steps, usage.

It is apart from the history on purpose: a conversation may be thrown away, a document's past may not. Commits are
durable (`WAL`, `synchronous=FULL`) where something was paid for or promised, and cheap (`durable=False`, which survives
a crash of the program but not a power cut) for what only tells of it. A file that cannot be read is set aside, never
deleted, and a new one begun; documents are in no way affected.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.history.database import is_damage, our_error
from redraft.history.salvage import free_name

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

BUSY_SECONDS = 5.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, created REAL NOT NULL, updated REAL NOT NULL,
    status TEXT NOT NULL, title TEXT NOT NULL, last_job TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chat (seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, at REAL NOT NULL,
    role TEXT NOT NULL, text TEXT NOT NULL, job TEXT, data TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS chat_by_session ON chat(session);
CREATE TABLE IF NOT EXISTS context_rows (session TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL,
    data TEXT NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, session TEXT NOT NULL, status TEXT NOT NULL,
    created REAL NOT NULL, cursor INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS jobs_by_session ON jobs(session);
CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL, cursor INTEGER NOT NULL,
    type TEXT NOT NULL, ts REAL NOT NULL, data TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS events_by_job ON events(job, cursor);
CREATE TABLE IF NOT EXISTS steps (job TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (job, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, job TEXT NOT NULL,
    provider TEXT NOT NULL, model TEXT NOT NULL, document TEXT NOT NULL, input INTEGER NOT NULL,
    output INTEGER NOT NULL, cached INTEGER NOT NULL, price TEXT);
"""


class AgentDatabase:
    """One connection, shared by the threads of one process under one lock."""

    def __init__(self, state: str) -> None:
        self.path = os.path.join(state, "agent.db")
        self.losses: list[str] = []
        self.lock = threading.RLock()
        self._depth = 0
        self._flushes = True
        try:
            self._connection = self._connect()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise our_error(error) from error
            self._set_aside(str(error))
            self._connection = self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            os.chmod(self.path, 0o600)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA wal_autocheckpoint=250")
            connection.executescript(SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self, why: str) -> None:
        aside = free_name(self.path + ".damaged")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + suffix, aside + suffix)
        name = os.path.basename(aside)
        self.losses.append(f"The agent's conversations could not be read ({why}) and were set aside as {name}.")

    def close(self) -> None:
        with self.lock:
            self._connection.close()

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Generator[None]:
        """All or nothing. Nested calls join the outer transaction, and its durability."""
        with self.lock:
            if self._depth:
                yield
                return
            self._depth += 1
            try:
                self._flush(durable)
                self.execute("BEGIN IMMEDIATE")
                yield
                self.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def _flush(self, wanted: bool) -> None:
        """Whether a commit waits for the disk, from now on."""
        if wanted is not self._flushes:
            self.execute("PRAGMA synchronous=FULL" if wanted else "PRAGMA synchronous=NORMAL")
            self._flushes = wanted

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; gives how many rows it changed."""
        with self.lock:
            try:
                return self._connection.execute(statement, values).rowcount
            except sqlite3.DatabaseError as error:
                raise our_error(error) from error
            except UnicodeEncodeError as error:
                raise no_text(error) from error

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self.lock:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise our_error(error) from error
            except UnicodeEncodeError as error:
                raise no_text(error) from error

    def row(self, statement: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        found = self.rows(statement, values)
        return found[0] if found else None


def no_text(error: UnicodeEncodeError) -> Refused:
    """What a client is told that sends half of a surrogate pair, be it as a name or an id."""
    return Refused(f"The text has an unpaired surrogate at character {error.start}.", code="invalid_text")


def new_id(prefix: str) -> str:
    """An id that nobody guesses: `job_` and sixteen digits."""
    return f"{prefix}_{secrets.token_hex(8)}"
