"""A cache of computed vectors, keyed by what they were computed from.

A key is the digest of a passage's text and the model's name, so a vector is never out of date: a changed passage has
another key. The file is stored with the workspace's state, may be deleted at any time and is shared by processes. What
it does not have is computed again, and what cannot be written is not cached. Vectors unused for a month are deleted,
and the oldest if the file grows too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from typing import TYPE_CHECKING, Self

from redraft.files.sqlite import is_damage, open_cache, remove_database

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

SCHEMA = 1
BUSY_SECONDS = 2.0
KEPT_DAYS = 30
MOST_BYTES = 256 * 1024 * 1024
_DAY = 24 * 60 * 60
_AT_A_TIME = 500
TABLE = """CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL)"""


def vector_key(model: str, text: str) -> bytes:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=b"redraft-vectors")
    digest.update(b"\0" + model.encode())
    return digest.digest()


class VectorCache:
    """One connection, for one thread; used as a context manager it closes itself."""

    def __init__(self, folder: str, now: float, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = os.path.join(folder, "vectors.db")
        self._today = int(now // _DAY)
        self._most = most_bytes
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        return open_cache(self.path, _prepare, busy_seconds=BUSY_SECONDS, one_thread=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those of these that are cached."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, bytes] = {}
        old: list[bytes] = []
        try:
            for start in range(0, len(wanted), _AT_A_TIME):
                some = wanted[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(some))
                question = f"SELECT key, used, data FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only marks
                for key, used, data in self._connection.execute(question, some):
                    found[key] = data
                    if used != self._today:
                        old.append(key)
            if old:
                self._write("UPDATE vectors SET used = ? WHERE key = ?", ((self._today, key) for key in old))
        except sqlite3.Error as error:
            self._recover(error)
        return found

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Store these, if possible."""
        try:
            self._write(
                "INSERT OR REPLACE INTO vectors (key, used, data) VALUES (?, ?, ?)",
                ((key, self._today, data) for key, data in vectors.items()),
            )
        except sqlite3.Error as error:
            self._recover(error)

    def prune(self) -> None:
        """Delete what was not used for a month, and the oldest half if the file is too large."""
        try:
            self._write("DELETE FROM vectors WHERE used < ?", [(self._today - KEPT_DAYS,)])
            (size,) = self._connection.execute("SELECT coalesce(sum(length(data)), 0) FROM vectors").fetchone()
            if size > self._most:
                half = "SELECT rowid FROM vectors ORDER BY used, rowid LIMIT (SELECT count(*) + 1 FROM vectors) / 2"
                self._write(f"DELETE FROM vectors WHERE rowid IN ({half})", [()])  # noqa: S608 - no outside text
                self._connection.execute("VACUUM")
        except sqlite3.Error as error:
            self._recover(error)

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(statement, rows)
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _recover(self, error: sqlite3.Error) -> None:
        """Recreate the file if it is damaged. A lock or a full disk is temporary; a missing table is not."""
        if isinstance(error, sqlite3.DatabaseError) and not is_damage(error):
            return
        self._connection.close()
        remove_database(self.path)
        self._connection = self._open()


def _prepare(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, SCHEMA):
        raise sqlite3.DatabaseError("of another version")
    if version == 0:
        connection.execute(TABLE)
        connection.execute(f"PRAGMA user_version={SCHEMA}")
