"""Does an open file hold exactly these bytes, and is nobody about to change them?

A comparison alone proves little: an editor that opened the file a moment ago may write right after it. A read lease is
granted only while nobody has the file open for writing, and holds back whoever tries to meanwhile; so content that was
compared under a lease which nobody disturbed is settled. Where leases are not to be had (another owner's file, a
network file system) the comparison has to do.
"""

from __future__ import annotations

import os
import time

from redraft.errors import Busy
from redraft.files import syscalls
from redraft.files.images import read_open

PATIENCE = 0.1
_LONGEST_PAUSE = 0.02


def holds_settled(fd: int, content: bytes, path: str) -> bool:
    """Whether the file holds `content` and no writer has it open.

    False as soon as it holds anything else. `busy` if it holds `content` but a writer keeps it open past our patience.
    `fd` must be open for reading only.
    """
    deadline = time.monotonic() + PATIENCE
    pause = 0.0005
    while True:
        equal, settled = _compare(fd, content, path)
        if not equal:
            return False
        if settled:
            return True
        if time.monotonic() > deadline:
            raise Busy(f"Another program has {path} open for writing.", path=path)
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def _compare(fd: int, content: bytes, path: str) -> tuple[bool, bool]:
    """Whether the content is equal, and whether it is bound to stay so."""
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


def _equal(fd: int, content: bytes, path: str) -> bool:
    if os.fstat(fd).st_size != len(content):
        return False
    os.lseek(fd, 0, os.SEEK_SET)
    return read_open(fd, path).data == content
