"""Hearing of changes beneath a folder at once: what was written before a question is known when the question is asked.

The kernel queues a notice (inotify) within the very call that changes a file, so whoever empties the queue before
answering has missed nothing that was done by then. That is what `watch` cannot promise, which gathers bursts in its own
time. Only names are learnt here, no content is read.

What the kernel does not tell: writes through a memory map, changes made by other machines on a network disk, and writes
through a hard link in another folder. `trusting.is_local` says no for disks of the second kind; for the rest, look
again now and then. `Unsupported` where there is no inotify, or no watches are left.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import TYPE_CHECKING, NamedTuple

from redraft.files.syscalls import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE, _SELF = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200, 0xC00
_ONLYDIR = 0x0100_0000
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF | _ONLYDIR
_UNMOUNT, _OVERFLOW, _IGNORED, _ISDIR = 0x2000, 0x4000, 0x8000, 0x4000_0000
_HEAD = struct.Struct("iIII")
_READ_BYTES = 1 << 16


class Heard(NamedTuple):
    """Paths of files that changed; `lost` where folders changed too, or too much happened: then look at everything."""

    paths: set[str]
    lost: bool


class Notices:
    """Watches on any number of folders. Used by one thread at a time; close it when done."""

    def __init__(self) -> None:
        self._add, self._fd = _start()
        self._folders: dict[int, str] = {}

    def watch(self, folder: str, fd: int) -> None:
        """Hear of changes in the folder that `fd` is open on; to be called before its content is looked at."""
        watch = self._add(self._fd, f"/proc/self/fd/{fd}".encode(), _MASK)
        if watch < 0:
            raise Unsupported
        self._folders[watch] = folder

    def heard(self) -> Heard:
        """What changed since the last call, or since the watches were set."""
        found = Heard(set(), False)
        while True:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except BlockingIOError:
                return found
            found = Heard(found.paths, self._take(data, found.paths) or found.lost)

    def _take(self, data: bytes, paths: set[str]) -> bool:
        lost = False
        at = 0
        while at < len(data):
            watch, mask, _, length = _HEAD.unpack_from(data, at)
            name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
            at += _HEAD.size + length
            folder = self._folders.get(watch)
            if mask & (_OVERFLOW | _UNMOUNT | _IGNORED | _SELF) or folder is None:
                lost = True
            elif name and mask & _ISDIR:
                lost = lost or bool(mask & (_MOVED | _CREATE | _DELETE))
            elif name:
                shown = os.fsdecode(name)
                paths.add(f"{folder}/{shown}" if folder else shown)
        return lost

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _start() -> tuple[Callable[..., int], int]:
    if not sys.platform.startswith("linux"):
        raise Unsupported
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        raise Unsupported
    return libc.inotify_add_watch, fd
