"""Writes that may be sent twice: what was answered to an `Idempotency-Key`, kept through a restart.

A key is noted, durably, before its request is carried out, and its answer afterwards. So a repetition is never carried
out a second time: it gets the first answer, or, where the program ended in between and nobody can know, a refusal that
says so. A key belongs to one caller and one request; another request under it is refused.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.history.sqlite_file import keep_log, our_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FILE = "server.db"
KEPT_SECONDS = 24 * 3600.0
KEPT_ROWS = 10_000
BUSY_SECONDS = 5.0
SCHEMA = """CREATE TABLE IF NOT EXISTS answers (caller TEXT NOT NULL, key TEXT NOT NULL, request BLOB NOT NULL,
    at REAL NOT NULL, status INTEGER, kind TEXT, body BLOB, PRIMARY KEY (caller, key)) WITHOUT ROWID;"""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer as it was given."""

    status: int
    kind: str
    body: bytes


class Answers:
    """The table of keys and answers. Used by any thread."""

    def __init__(self, state: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()
        path = os.path.join(state, FILE)
        self._connection = self._connect(path)

    @staticmethod
    def _connect(path: str) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            os.chmod(path, 0o600)
            keep_log(connection, BUSY_SECONDS)
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(SCHEMA)
        except sqlite3.DatabaseError as error:
            raise our_error(error) from error
        return connection

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def begin(self, caller: str, key: str, request: bytes) -> Kept | None:
        """Note that a request is about to be carried out; the answer where it has been already."""
        with self._lock:
            rows = self._rows(
                "SELECT request, status, kind, body FROM answers WHERE caller = ? AND key = ?", caller, key
            )
            if not rows:
                self._forget_old()
                self._run("INSERT INTO answers (caller, key, request, at) VALUES (?, ?, ?, ?)",
                          caller, key, request, self._clock())  # fmt: skip
                self._under_way.add((caller, key))
                return None
            first, status, kind, body = rows[0]
            if first != request:
                raise Refused("This Idempotency-Key was used for another request.", field="Idempotency-Key")
            if status is not None:
                return Kept(status, kind, body)
            raise self._unknown(caller, key)

    def _unknown(self, caller: str, key: str) -> Refused:
        if (caller, key) in self._under_way:
            return Refused("The first request with this Idempotency-Key is still being carried out.", code="conflict")
        return Refused(
            "The program was stopped during the first request with this Idempotency-Key: look at the turns to see "
            "whether it was carried out, and use another key to do it again.",
            code="conflict",
        )

    def end(self, caller: str, key: str, kept: Kept) -> None:
        """Keep the answer."""
        with self._lock:
            self._under_way.discard((caller, key))
            self._run("UPDATE answers SET status = ?, kind = ?, body = ? WHERE caller = ? AND key = ?",
                      kept.status, kept.kind, kept.body, caller, key)  # fmt: skip

    def forget(self, caller: str, key: str) -> None:
        """Nothing was done: the same key may be used to try again."""
        with self._lock:
            self._under_way.discard((caller, key))
            self._run("DELETE FROM answers WHERE caller = ? AND key = ?", caller, key)

    def give_up(self, caller: str, key: str) -> None:
        """It ended without an answer: whether anything was done is not known."""
        with self._lock:
            self._under_way.discard((caller, key))

    def _forget_old(self) -> None:
        self._run("DELETE FROM answers WHERE at < ?", self._clock() - KEPT_SECONDS)
        rows = self._rows("SELECT at FROM answers ORDER BY at DESC LIMIT 1 OFFSET ?", KEPT_ROWS)
        if rows:
            self._run("DELETE FROM answers WHERE at <= ?", rows[0][0])

    def _run(self, statement: str, *values: object) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise our_error(error) from error

    def _rows(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise our_error(error) from error
