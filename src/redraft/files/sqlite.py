"""How all our SQLite databases are opened, and what their errors mean. They contain private state, never documents.

Only its owner can read a database, and it uses a write-ahead log (`WAL`). Each kind of database decides how durable a
commit is, how long to wait for another process, and its tables.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import sys
import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import Busy, Damaged, RedraftError, Refused
from redraft.files.locks import folder_lock
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from contextlib import AbstractContextManager

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


# What other programs did to the files of an open database. SQLite does not check again what it wrote: a log that is
# emptied or overwritten in place would be noticed by the next to open it, when all that was acknowledged since is lost.


def file_status(path: str) -> os.stat_result | None:
    """The status of the file there; None if there is none. Other disk errors say nothing about that."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


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


# To close a descriptor of the database or of the index ends the locks that SQLite has on them for this process,
# whichever connection took them. So each file is opened once, and closed after the last connection to it.
_open: dict[tuple[int, int], tuple[int, int]] = {}
_opening = threading.Lock()


def _hold(path: str) -> tuple[int, int] | None:
    """Open a file for reading, or use it as it is open; the key to read it by."""
    with _opening, contextlib.suppress(OSError):
        there = os.stat(path)
        key = there.st_dev, there.st_ino
        fd, count = _open.get(key) or (os.open(path, os.O_RDONLY | os.O_CLOEXEC), 0)
        _open[key] = fd, count + 1
        return key
    return None


def _release(key: tuple[int, int] | None) -> None:
    with _opening:
        if key is None:
            return
        fd, count = _open[key]
        if count == 1:
            del _open[key]
            os.close(fd)
        else:
            _open[key] = fd, count - 1


# Offsets in SQLite's file formats (sqlite.org/fileformat2.html, sqlite.org/walformat.html).
_INDEX_BYTES = 100  # the header twice, and the number of frames that were copied into the file
_LOG_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = b"SQLite format 3\0"


class DatabaseFiles:
    """A database, its log and its index while a connection is open, to see whether another program wrote over them.

    What is looked at is the database's header, and the log's header and last frame: not every byte.
    """

    def __init__(self, path: str) -> None:
        self._keys = _hold(path), _hold(path + "-wal"), _hold(path + "-shm")
        self._log = b"", 0  # the salts that mark its frames since it began anew, and how many there are
        self._changes = 0

    def close(self) -> None:
        """Called after the connection was closed."""
        for key in self._keys:
            _release(key)
        self._keys = None, None, None

    def is_overwritten(self) -> bool:
        """Whether they are not what SQLite wrote. Another process may be writing; what it has under way is no fault."""
        file, log, index = (-1 if key is None else _open[key][0] for key in self._keys)
        try:
            return (file >= 0 and self._file_differs(file)) or (min(log, index) >= 0 and self._log_differs(log, index))
        except OSError:
            return False

    def counts_frames(self) -> bool:
        """Whether the index counts frames in the log; none if the log begins anew."""
        key = self._keys[2]
        return key is not None and _number(os.pread(_open[key][0], 20, 0), 16, 4) > 0

    def _file_differs(self, file: int) -> bool:
        header, known = os.pread(file, 28, 0), self._changes
        self._changes = int.from_bytes(header[24:28], "big")  # it is never counted down
        return header[:16] != _MAGIC[: len(header)] or self._changes < known

    def _log_differs(self, log: int, index: int) -> bool:
        for _ in range(3):
            told = os.pread(index, _INDEX_BYTES, 0)
            page, frames, copied = _number(told, 14, 2), _number(told, 16, 4), _number(told, 96, 4)
            if len(told) < _INDEX_BYTES or copied >= frames:
                return False  # all of it is in the file as well
            header = os.pread(log, _LOG_HEADER, 0)
            start = _LOG_HEADER + (frames - 1) * (_FRAME_HEADER + (65536 if page == 1 else page))
            last = os.pread(log, _FRAME_HEADER, start)
            if told[:48] != told[48:96] or os.pread(index, _INDEX_BYTES, 0) != told:
                continue  # somebody commits at this moment
            salts = told[32:40]
            checksum = b"".join(_number(told, at, 4).to_bytes(4, "big") for at in (24, 28))
            if header[16:24] != salts or last[8:] != salts + checksum or self._has_gone_back(salts, frames):
                return True
            self._log = salts, frames
        return False

    def _has_gone_back(self, salts: bytes, frames: int) -> bool:
        """Whether somebody put an earlier state of all three in their place."""
        then, known = self._log
        if not then or salts == then:
            return frames < known
        # Whoever lets the log begin anew adds one to the first salt, which wraps around.
        return (int.from_bytes(salts[:4], "big") - int.from_bytes(then[:4], "big")) % 2**32 >= 2**31


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], sys.byteorder)


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


# A SQLite file of ours: one connection, all or nothing, durable by default, and set aside if damaged.
#
# Commits are durable (`WAL`, `synchronous=FULL`) unless the caller asks for `durable=False`, which survives a crash of
# the program but not a power cut and costs no disk flush. A file that cannot be read is set aside under a lock between
# processes, never deleted, and a new one is created. Each kind of file defines its tables and what it recovers.
#
# A file that is deleted, replaced or truncated while it is open still accepts writes, and all of them are lost when
# the program ends. So before and after each transaction the file at the path is compared with the open one. If they
# differ, the open one is copied to the path, whole and durably, and only then does a commit count. Several processes
# may have had it open: a copy has a higher generation than its original, and the others continue with the highest.
#
# `LogIndex` takes care of what SQLite maps into memory.


LOG = logging.getLogger(__name__)


class SqliteFile(ABC):
    """One connection, used by one thread at a time. `losses` say what was found damaged."""

    what = "the database"
    lock_name = "lock"
    # Whether opening waits for a file that is being set aside: otherwise a new one may be opened between setting aside
    # the old file and its log, and lose its own.
    waits = False

    def __init__(self, path: str) -> None:
        self.path = path
        self.losses: list[str] = []
        self.lock = threading.RLock()
        self._depth = 0
        self._trouble = ""
        self._file: int | None = None
        self._has_pages = False
        self._log: int | None = None
        self._has_log = False
        self._index = LogIndex(path)
        self._files: DatabaseFiles | None = None
        self._log_is_gone = False
        try:
            with self._file_lock(exclusive=False) if self.waits else contextlib.nullcontext():
                self._connection = self._connect()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise explain_sqlite_error(error) from error
            try:
                self._connection = self._replace_damaged()
            except sqlite3.DatabaseError as still:
                raise self._explain(still) from still
        try:
            self._note_place()
        except BaseException:
            self._connection.close()
            raise

    # Defined by each kind of file

    @abstractmethod
    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create missing tables; raises `sqlite3.DatabaseError` if the file is no longer ours."""

    @abstractmethod
    def _begin_anew(self, moved_to: str, why: str) -> sqlite3.Connection:
        """Connect to a new file, after the damaged one was `moved_to` another name, and add to `losses`."""

    # Opening

    def _file_lock(self, *, exclusive: bool = True) -> AbstractContextManager[None]:
        return folder_lock(os.path.dirname(self.path), self.lock_name, exclusive=exclusive)

    def _connect(self) -> sqlite3.Connection:
        with explain_os_errors("open", self.what):
            return open_database(self.path, self._set_up, synchronous="FULL")

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA temp_store=MEMORY")
        # A log that starts again after 1 MB is overwritten, not appended to: a flush takes 0.33 ms, not 0.47.
        connection.execute("PRAGMA wal_autocheckpoint=250")
        self._prepare(connection)

    def _replace_damaged(self) -> sqlite3.Connection:
        """Set the damaged file aside and start a new one."""
        with self._file_lock(), explain_os_errors("replace", f"the damaged {self.what.removeprefix('the ')}"):
            try:
                return self._connect()  # another process may have done it while we waited for the lock
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                why = str(error)
            moved_to = _free_name(self.path + ".damaged")
            for suffix in SUFFIXES:
                with contextlib.suppress(FileNotFoundError):
                    os.replace(self.path + suffix, moved_to + suffix)
            return self._begin_anew(moved_to, why)

    def close(self) -> None:
        with self.lock:
            try:
                self.hold_in_place()
            except RedraftError as error:  # nobody is left to tell: see the log
                LOG.error("%s", error.message)
                _abandon(self._connection)
                return
            self._connection.close()
            if self._files is not None:
                self._files.close()
                self._files = None

    @property
    def notices(self) -> list[str]:
        """What a person should know: what was lost, and whether anything is stored at the moment."""
        return [*self.losses, self._trouble] if self._trouble else self.losses

    # Keeping the file in place

    def _note_place(self) -> None:
        """Remember which files the connection writes to."""
        with explain_os_errors("look at", self.what):
            there = file_status(self.path)
            log = file_status(self.path + "-wal")
            self._file, self._log = there and there.st_ino, log and log.st_ino
            self._has_pages = there is not None and there.st_size > 0
            self._has_log = log is not None and log.st_size > 0
            self._index.note()
            self._files = DatabaseFiles(self.path)  # those of a connection that was given up stay open with it
            self._log_is_gone = False

    def _keep_index(self) -> None:
        """Called before anything is asked of SQLite. If the index was truncated, it is unknown whether a log that is
        now empty had anything in it."""
        if not self._index.fill_up():
            return
        with explain_os_errors("look at", self.what):
            log = file_status(self.path + "-wal")
        self._log_is_gone = self._log_is_gone or (self._has_log and not (log and log.st_size))

    def _is_in_place(self) -> bool:
        self._keep_index()
        with explain_os_errors("look at", self.what):
            if self._log_is_gone or not self._lies_in_place():
                return False
        self._log_is_gone = self._files is not None and self._files.is_overwritten()
        return not self._log_is_gone

    def _lies_in_place(self) -> bool:
        there = file_status(self.path)
        if there is None or there.st_ino != self._file or (self._has_pages and not there.st_size):
            return False
        self._has_pages = there.st_size > 0
        log = file_status(self.path + "-wal")
        if self._log is None:  # none was written yet
            self._log = log and log.st_ino
        elif log is None or log.st_ino != self._log or (self._has_log and not log.st_size and self._counts_frames()):
            return False
        self._has_log = log is not None and log.st_size > 0
        return True

    def _counts_frames(self) -> bool:
        return self._files is not None and self._files.counts_frames()

    def hold_in_place(self) -> None:
        """If the file was deleted, replaced or truncated, restore the open one. Not within a transaction."""
        with self.lock:
            if self._depth:
                return
            if self._is_in_place():
                self._trouble = ""
            else:
                self._put_back()

    def _put_back(self) -> bool:
        """Copy the open file to its path, or continue with what another process has put there; returns whether it was
        copied. Raises `history_lost` if neither is possible: then nothing that was written is safe."""
        folder, name = os.path.split(self.path)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with folder_lock(folder, f"{name}.put-back"):
                if self._log_is_gone:
                    raise sqlite3.DatabaseError("part of it is gone")
                generation = _generation(self._connection)
                copied = _generation_at(self.path) <= generation
                moved_to = self._copy_into_place(generation + 1) if copied else ""
                _abandon(self._connection)
                self._connection = self._connect()
                self._note_place()
        except (OSError, sqlite3.Error, RedraftError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self._trouble = (
                f"The file of {self.what} was deleted, replaced, emptied or overwritten while Redraft was running, and"
                f" cannot be put back: {reason}. Nothing is stored until it is: copy what you typed."
            )
            raise Damaged(self._trouble, code="history_lost") from error
        self._trouble = ""
        if copied:
            there = f" The file found in its place is kept as {moved_to}." if moved_to else ""
            self.losses.append(
                f"The file of {self.what} was deleted, replaced or emptied while Redraft was running. It was "
                f"restored; nothing is lost.{there}"
            )
        return copied

    def _copy_into_place(self, generation: int) -> str:
        """Returns the new name of what was at the path, if anything was."""
        new, moved_to = f"{self.path}.new-{os.getpid()}", _free_name(self.path + ".replaced")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as copy:
            os.chmod(new, 0o600)
            self._connection.backup(copy)
            if copy.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):  # truncated pages read as zeros
                raise sqlite3.DatabaseError("part of it is gone")
            copy.execute(f"PRAGMA user_version={generation}")
        _sync(new, os.O_RDWR)
        there = os.path.exists(self.path)
        for suffix in SUFFIXES:
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.path + suffix, moved_to + suffix)
        os.replace(new, self.path)
        _sync(os.path.dirname(self.path), os.O_RDONLY | os.O_DIRECTORY)
        return os.path.basename(moved_to) if there else ""

    # Transactions and queries

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Generator[None]:
        """All or nothing. Nested calls join the outer transaction, and its durability."""
        with self.lock:
            if self._depth:
                yield
                return
            self.hold_in_place()
            self._depth += 1
            try:
                if not durable:
                    self._run("PRAGMA synchronous=NORMAL")
                self._run("BEGIN IMMEDIATE")
                yield
                self._run("COMMIT")
                if not self._is_in_place() and not self._put_back():
                    raise Busy("Another process has restored this folder's history; try again.")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1
                if not durable:
                    self._run("PRAGMA synchronous=FULL")

    @property
    def in_transaction(self) -> bool:
        return self._depth > 0

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self.lock:
            try:
                return self._run(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise self._explain(error) from error

    def row(self, statement: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        with self.lock:
            try:
                return self._run(statement, values).fetchone()
            except sqlite3.DatabaseError as error:
                raise self._explain(error) from error

    def _run(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        # Called many times per turn: a context manager here would cost a tenth of a small turn.
        self._keep_index()
        if self._log_is_gone:
            self._put_back()  # which raises
        try:
            return self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from error
        except UnicodeEncodeError as error:  # half of a surrogate pair, in a name or an id
            message = f"The text has an unpaired surrogate at character {error.start}."
            raise Refused(message, code="invalid_text") from error

    def _explain(self, error: sqlite3.DatabaseError) -> RedraftError:
        """Our error for SQLite's, or our own first if the file is not what it was."""
        if self._file is not None and is_damage(error):
            try:
                self.hold_in_place()
            except RedraftError as lost:
                return lost
        return explain_sqlite_error(error)


def _generation(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _generation_at(path: str) -> int:
    """The generation of the file at a path; -1 if there is none that can be read."""
    from urllib.parse import quote

    if not os.path.exists(path):
        return -1
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as there:
            return _generation(there)
    except sqlite3.Error:
        return -1


def _sync(path: str, flags: int) -> None:
    fd = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _abandon(connection: sqlite3.Connection) -> None:
    """Never close it, not even at the end of the program: SQLite would delete the log beside the path by its name, and
    that now belongs to another file."""
    import ctypes  # importing it takes as long as opening the file

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _free_name(path: str) -> str:
    number = 1
    while os.path.exists(f"{path}-{number}"):
        number += 1
    return f"{path}-{number}"
