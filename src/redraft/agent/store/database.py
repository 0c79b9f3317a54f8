"""The agent's own SQLite file, `agent.db` in the folder's state: sessions, jobs, events, recorded steps, usage.

It is separate from the history on purpose: a conversation may be thrown away, a document's past may not. Commits are
durable (`WAL`, `synchronous=FULL`) where something was paid for or promised, and cheap (`durable=False`, which survives
a crash of the program but not a power cut) for mere reports. A file that cannot be read is set aside, never deleted,
and a new one is created; documents are not affected.
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

from redraft.files.sqlite import SqliteFile

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, created REAL NOT NULL, updated REAL NOT NULL,
    status TEXT NOT NULL, title TEXT NOT NULL, last_job TEXT, user TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
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


class AgentDatabase(SqliteFile):
    """One connection, shared by the threads of one process under one lock."""

    what = "the agent's conversations"
    lock_name = "agent.lock"  # not the lock of the folder's turns, which a job that opens this file may hold
    waits = True

    def __init__(self, state: str) -> None:
        super().__init__(os.path.join(state, "agent.db"))

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.executescript(SCHEMA)
        if not any(column[1] == "user" for column in connection.execute("PRAGMA table_info(sessions)")):
            connection.execute("ALTER TABLE sessions ADD COLUMN user TEXT NOT NULL DEFAULT ''")  # an older file

    def _begin_anew(self, moved_to: str, why: str) -> sqlite3.Connection:
        name = os.path.basename(moved_to)
        self.losses.append(f"The agent's conversations could not be read ({why}) and were set aside as {name}.")
        return self._connect()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; returns how many rows it changed."""
        with self.lock:
            done = self._run(statement, values).rowcount
            self.hold_in_place()
            return done


def new_id(prefix: str) -> str:
    """An id that cannot be guessed: the prefix and sixteen digits."""
    return f"{prefix}_{secrets.token_hex(8)}"
