"""A SQLite file of ours: one connection, all or nothing, durable unless told otherwise, and set aside when damaged.

Commits are durable (`WAL`, `synchronous=FULL`) unless the caller asks for `durable=False`, which survives a crash of
the program but not a power cut and costs no disk flush. A file that cannot be read is set aside under a lock between
processes, never deleted, and a new one begun. What its tables are, and what is carried over, each kind of file says.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from redraft.errors import Busy, Damaged, RedraftError, Refused
from redraft.files.faults import told
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from contextlib import AbstractContextManager

BUSY_SECONDS = 5.0


class SqliteFile(ABC):
    """One connection, used by one thread at a time. `losses` say what was found damaged."""

    what = "the database"
    lock_name = "lock"
    # Whether opening waits for a file that is being set aside: else one that begins anew may be opened between the
    # setting aside of the old file and that of its log, and lose its own.
    waits = False

    def __init__(self, path: str) -> None:
        self.path = path
        self.losses: list[str] = []
        self.lock = threading.RLock()
        self._depth = 0
        try:
            with self._locked(exclusive=False) if self.waits else contextlib.nullcontext():
                self._connection = self._connect()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise our_error(error) from error
            try:
                self._connection = self._replaced()
            except sqlite3.DatabaseError as still:
                raise self._told(still) from still

    # What each kind of file says

    @abstractmethod
    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables that are not there; `sqlite3.DatabaseError` where the file is not ours any more."""

    @abstractmethod
    def _begin_anew(self, aside: str, why: str) -> sqlite3.Connection:
        """Connect to a new file, the damaged one lying `aside`, and add to `losses`."""

    # Opening

    def _locked(self, *, exclusive: bool = True) -> AbstractContextManager[None]:
        return folder_lock(os.path.dirname(self.path), self.lock_name, exclusive=exclusive)

    def _connect(self) -> sqlite3.Connection:
        with told("open", self.what):
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                os.chmod(self.path, 0o600)
                keep_log(connection)
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute("PRAGMA temp_store=MEMORY")
                # A log that begins anew after 1 MB is overwritten, not appended to: a flush takes 0.33 ms, not 0.47.
                connection.execute("PRAGMA wal_autocheckpoint=250")
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _replaced(self) -> sqlite3.Connection:
        """Set the damaged file aside and start a new one."""
        with self._locked(), told("replace", f"the damaged {self.what.removeprefix('the ')}"):
            try:
                return self._connect()  # another process may have done it while we waited for the lock
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                why = str(error)
            aside = _free_name(self.path + ".damaged")
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.replace(self.path + suffix, aside + suffix)
            return self._begin_anew(aside, why)

    def close(self) -> None:
        with self.lock:
            self._connection.close()

    # Using it

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Generator[None]:
        """All or nothing. Nested calls join the outer transaction, and its durability."""
        with self.lock:
            if self._depth:
                yield
                return
            self._depth += 1
            try:
                if not durable:
                    self._run("PRAGMA synchronous=NORMAL")
                self._run("BEGIN IMMEDIATE")
                yield
                self._run("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1
                if not durable:
                    self._run("PRAGMA synchronous=FULL")

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self.lock:
            try:
                return self._run(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise self._told(error) from error

    def row(self, statement: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        with self.lock:
            try:
                return self._run(statement, values).fetchone()
            except sqlite3.DatabaseError as error:
                raise self._told(error) from error

    def _run(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        # Asked many times a turn: a context manager here would cost a tenth of a small turn.
        try:
            return self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise self._told(error) from error
        except UnicodeEncodeError as error:  # half of a surrogate pair, be it as a name or an id
            message = f"The text has an unpaired surrogate at character {error.start}."
            raise Refused(message, code="invalid_text") from error

    def _told(self, error: sqlite3.DatabaseError) -> RedraftError:
        """Our word for SQLite's error."""
        return our_error(error)


def keep_log(connection: sqlite3.Connection, seconds: float = BUSY_SECONDS) -> None:
    """Write to a log beside the file from now on (`WAL`). Of two that open a new file at once SQLite refuses one on the
    spot, lest they wait for each other: it lets go, and finds the file as the other made it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if (_code_of(error) or 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.002)


def _free_name(path: str) -> str:
    number = 1
    while os.path.exists(f"{path}-{number}"):
        number += 1
    return f"{path}-{number}"


def our_error(error: sqlite3.DatabaseError) -> RedraftError:
    """What to raise for SQLite's error: trouble that may pass is told apart from a file that holds nonsense."""
    said, code = str(error), _code_of(error)
    if code is None or not isinstance(error, sqlite3.OperationalError):
        return Damaged(f"The history could not be read: {said}.")
    if "locked" in said or "busy" in said or "locking" in said:
        return Busy("Another process is writing to this folder's history.")
    # A log cannot be opened without its index, whose first 32 kB find no room.
    if "full" in said or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return RedraftError("The disk that holds Redraft's history is full.", code="io_error")
    return RedraftError(f"The history could not be reached: {said}.", code="io_error")


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is at fault, as found at opening: not the disk, nor other processes. A table that is
    missing is an ordinary error for SQLite; here it means that this is not our database any more."""
    return not isinstance(error, sqlite3.OperationalError) or _code_of(error) in (None, sqlite3.SQLITE_ERROR)


def _code_of(error: sqlite3.Error) -> int | None:
    """SQLite's code; None where Python itself objects, as to a text column that holds no text."""
    return getattr(error, "sqlite_errorcode", None)
