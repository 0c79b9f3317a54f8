"""How all our SQLite databases are opened, and what their errors mean. They contain private state, never documents.

Only its owner can read a database, and it uses a write-ahead log (`WAL`). Each kind of database decides how durable a
commit is, how long to wait for another process, and its tables.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Literal

from redraft.errors import Busy, Damaged, RedraftError

if TYPE_CHECKING:
    from collections.abc import Callable

BUSY_SECONDS = 5.0
# The database, its log, and the log's index.
SUFFIXES = ("", "-wal", "-shm")
_MEMORY = ":memory:"


def open_database(
    path: str,
    prepare: Callable[[sqlite3.Connection], object],
    *,
    synchronous: Literal["FULL", "NORMAL"],
    busy_seconds: float = BUSY_SECONDS,
    one_thread: bool = False,
) -> sqlite3.Connection:
    """Connect to a database, and create it if there is none; `prepare` creates its tables or refuses it.

    With `FULL` a commit survives a power cut, with `NORMAL` only a crash of the program. Raises `sqlite3.DatabaseError`
    or `OSError` if it cannot be opened, and leaves nothing open.
    """
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=one_thread)
    try:
        if path != _MEMORY:
            os.chmod(path, 0o600)
        _enable_wal(connection, busy_seconds)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_cache(
    path: str, prepare: Callable[[sqlite3.Connection], object], *, busy_seconds: float, one_thread: bool = False
) -> sqlite3.Connection:
    """Connect to a database whose content can be rebuilt: a new one if it is damaged, and one in memory if the disk or
    another process prevents it."""

    def connect(place: str) -> sqlite3.Connection:
        return open_database(place, prepare, synchronous="NORMAL", busy_seconds=busy_seconds, one_thread=one_thread)

    for _ in range(2):
        try:
            return connect(path)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                break
            remove_database(path)
        except OSError:
            break
    return connect(_MEMORY)


def remove_database(path: str) -> None:
    """Delete it, as far as possible."""
    for suffix in SUFFIXES:
        with contextlib.suppress(OSError):
            os.unlink(path + suffix)


def _enable_wal(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch to `WAL`. If two processes open a new file at once, SQLite refuses one immediately to avoid a deadlock: it
    retries, and finds the file as the other created it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if (_code_of(error) or 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.002)


class LogIndex:
    """The index of SQLite's log, a third file that SQLite maps into memory. The kernel kills a program that touches a
    page of the map beyond the end of the file, so whoever keeps a connection open calls `fill_up` before each use.
    Truncating the file in the microseconds between still kills us."""

    def __init__(self, path: str) -> None:
        self._path = path + "-shm"
        self._file: int | None = None
        self._size = 0

    def note(self) -> None:
        """Remember which file a new connection has mapped."""
        there = file_status(self._path)
        self._file, self._size = (there.st_ino, there.st_size) if there else (None, 0)

    def fill_up(self) -> bool:
        """Whether the file was truncated. It is then filled with zeros, which makes SQLite rebuild it from the log."""
        try:
            there = os.stat(self._path)
            if there.st_ino != self._file:
                return False
            if there.st_size >= self._size:
                self._size = there.st_size
                return False
            # By its path: closing a descriptor of it would end SQLite's locks on it. Truncate it first, so that SQLite
            # finds it empty, not wrong.
            os.truncate(self._path, 0)
            os.truncate(self._path, self._size)
        except OSError:  # deleted: what is mapped stays
            return False
        return True


def file_status(path: str) -> os.stat_result | None:
    """The status of the file there; None if there is none. Other disk errors say nothing about that."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def explain_sqlite_error(error: sqlite3.DatabaseError) -> RedraftError:
    """What to raise for SQLite's error: temporary trouble is distinguished from a damaged file."""
    message, code = str(error), _code_of(error)
    if code is None or not isinstance(error, sqlite3.OperationalError):
        return Damaged(f"The history could not be read: {message}.")
    if "locked" in message or "busy" in message or "locking" in message:
        return Busy("Another process is writing to this folder's history.")
    # A log cannot be opened without its index, and there is no space for its first 32 kB.
    if "full" in message or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return RedraftError("The disk that holds Redraft's history is full.", code="io_error")
    return RedraftError(f"The history is not accessible: {message}.", code="io_error")


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, not the disk or other processes. To SQLite a missing table is an ordinary
    error; here it means that this is no longer our database."""
    code = _code_of(error)
    return not isinstance(error, sqlite3.OperationalError) or code is None or code & 0xFF == sqlite3.SQLITE_ERROR


def _code_of(error: sqlite3.Error) -> int | None:
    """SQLite's code; None if Python itself objects, for example to a text column without text."""
    return getattr(error, "sqlite_errorcode", None)
