"""Does an open file hold exactly these bytes, and is nobody about to change them?

A comparison alone proves little: an editor that opened the file a moment ago may write right after it. A read lease is
granted only while nobody has the file open for writing, and holds back whoever tries to meanwhile; so content that was
compared under a lease which nobody disturbed is settled. Where leases are not to be had (another owner's file, a
network file system) the comparison has to do.

A large file takes a while to be compared, so that is done while the disk takes the new one; the lease is then `Held`
until the file has been displaced.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from redraft.errors import Busy
from redraft.files import syscalls
from redraft.files.images import check_replaceable, stamp_of

if TYPE_CHECKING:
    from redraft.files.images import Stamp

PATIENCE = 0.1
_LONGEST_PAUSE = 0.02
_PIECE = 1 << 18


def settled_stamp(fd: int, content: bytes, path: str) -> Stamp | None:
    """The stamp of the file, if it holds `content` and no writer has it open.

    None as soon as it holds anything else. `busy` if it holds `content` but a writer keeps it open past our patience;
    raises for what must not be replaced. `fd` must be open for reading only.
    """
    deadline = time.monotonic() + PATIENCE
    pause = 0.0005
    while True:
        stamp, settled = _compare(fd, content, path)
        if stamp is None or settled:
            return stamp
        if time.monotonic() > deadline:
            raise Busy(f"Another program has {path} open for writing.", path=path)
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


class Held:
    """An open file that was compared, and that nobody has opened for writing since: who wants to waits for `let_go`."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @staticmethod
    def take(fd: int, content: bytes, path: str) -> Held | None:
        """Hold the file, if it holds `content` and a lease is to be had; `fd` is closed then with `let_go`, else at
        once. It must be open for reading only."""
        try:
            if syscalls.take_read_lease(fd) and _equal(fd, content, path) is not None:
                return Held(fd)
        except syscalls.Unsupported:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # which gives the lease back
        return None

    def let_go(self) -> Stamp | None:
        """The stamp that it has by now, under whatever name; None where somebody wanted to write to it meanwhile."""
        try:
            found = os.fstat(self._fd)
            undisturbed = syscalls.drop_lease(self._fd)
        finally:
            os.close(self._fd)
        return stamp_of(found) if undisturbed and found.st_nlink == 1 else None


def _compare(fd: int, content: bytes, path: str) -> tuple[Stamp | None, bool]:
    """The stamp if the content is equal, and whether it is bound to stay so."""
    try:
        leased = syscalls.take_read_lease(fd)
    except syscalls.Unsupported:
        return _equal(fd, content, path), True
    if not leased:
        return _equal(fd, content, path), False
    undisturbed = False
    try:
        equal = _equal(fd, content, path)
    finally:
        undisturbed = syscalls.drop_lease(fd)
    return equal, undisturbed


def _equal(fd: int, content: bytes, path: str) -> Stamp | None:
    found = os.fstat(fd)
    check_replaceable(found, path)
    stamp = stamp_of(found)
    if stamp.size != len(content) or not _holds(fd, content):
        return None
    return stamp if stamp_of(os.fstat(fd)) == stamp else None


def _holds(fd: int, content: bytes) -> bool:
    """Whether just these bytes are in the file; piece by piece, which for 10 MB takes half the time of reading all."""
    at = 0
    while piece := os.pread(fd, _PIECE, at):
        if not content.startswith(piece, at):
            return False
        at += len(piece)
    return at == len(content)
