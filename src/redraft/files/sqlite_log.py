"""The files of an open SQLite database, as the log's index describes them: what other programs did to them.

SQLite reads its log by an index that it maps into memory, and does not check again what it wrote. So a log that another
program empties or overwrites in place would only be noticed by whoever opens the database next, when all that was
acknowledged meanwhile is lost.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import NamedTuple


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


class _Position(NamedTuple):
    """How far the log is: what marks its frames since it began anew, and how many there are."""

    salts: bytes
    frames: int


# Offsets in SQLite's file formats (sqlite.org/fileformat2.html, sqlite.org/walformat.html).
_INDEX_BYTES = 100  # the header twice, and the number of frames that were copied into the file
_LOG_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = b"SQLite format 3\0"
_TRIES = 3


class DatabaseFiles:
    """A database, its log and its index while a connection is open, to see whether another program wrote over them.

    What is looked at is the database's header, and the log's header and last frame: not every byte.
    """

    def __init__(self, path: str) -> None:
        self._keys = _hold(path), _hold(path + "-wal"), _hold(path + "-shm")
        self._position: _Position | None = None
        self._changes = 0

    def close(self) -> None:
        """Called after the connection was closed."""
        for key in self._keys:
            _release(key)
        self._keys = None, None, None

    def is_overwritten(self) -> bool:
        """Whether they are not what SQLite wrote. Another process may be writing; what it has under way is no fault."""
        file, log, index = (None if key is None else _open[key][0] for key in self._keys)
        try:
            return (file is not None and self._file_differs(file)) or (
                log is not None and index is not None and self._log_differs(log, index)
            )
        except OSError:
            return False

    def counts_frames(self) -> bool:
        """Whether the index counts frames in the log; none if the log begins anew."""
        if self._keys[2] is None:
            return False
        return int.from_bytes(os.pread(_open[self._keys[2]][0], 4, 16), sys.byteorder) > 0

    def _file_differs(self, file: int) -> bool:
        header = os.pread(file, 28, 0)
        changes = int.from_bytes(header[24:28], "big")
        if header[:16] != _MAGIC[: len(header)] or changes < self._changes:  # it is never counted down
            return True
        self._changes = changes
        return False

    def _log_differs(self, log: int, index: int) -> bool:
        for _ in range(_TRIES):
            told = os.pread(index, _INDEX_BYTES, 0)
            page, frames, copied = _number(told, 14, 2), _number(told, 16, 4), _number(told, 96, 4)
            if len(told) < _INDEX_BYTES or copied >= frames:
                return False  # all of it is in the file as well
            header = os.pread(log, _LOG_HEADER, 0)
            start = _LOG_HEADER + (frames - 1) * (_FRAME_HEADER + (65536 if page == 1 else page))
            last = os.pread(log, _FRAME_HEADER, start)
            if told[:48] != told[48:96] or os.pread(index, _INDEX_BYTES, 0) != told:
                continue  # somebody commits at this moment
            now = _Position(told[32:40], frames)
            checksum = b"".join(_number(told, at, 4).to_bytes(4, "big") for at in (24, 28))
            if header[16:24] != now.salts or last[8:] != now.salts + checksum or self._has_gone_back(now):
                return True
            self._position = now
        return False

    def _has_gone_back(self, now: _Position) -> bool:
        """Whether somebody put an earlier state of all three in their place."""
        then = self._position
        if then is None or now.salts == then.salts:
            return then is not None and now.frames < then.frames
        # Whoever lets the log begin anew adds one to the first salt, which wraps around.
        first, second = (int.from_bytes(each.salts[:4], "big") for each in (then, now))
        return (second - first) % 2**32 >= 2**31


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], sys.byteorder)
