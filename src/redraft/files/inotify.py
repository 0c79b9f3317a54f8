"""Notice changes in a folder at once: what was written before a question is known when the question is asked.

The kernel queues an event (inotify) within the very call that changes a file, so emptying the queue before answering
misses nothing that was done by then. A watcher that collects bursts over time cannot promise that. Only names are
reported here, no content is read.

The kernel does not report writes through a memory map, changes made by other machines on a network disk, and writes
through a hard link in another folder. `file_image.is_local` is false for disks of the second kind; for the rest, check
again now and then. Raises `Unsupported` if there is no inotify, or no watches are left.
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
_MOVED_FROM, _ONLYDIR = 0x40, 0x0100_0000
_MASK = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _SELF | _ONLYDIR
_UNMOUNT, _OVERFLOW, _IGNORED, _ISDIR = 0x2000, 0x4000, 0x8000, 0x4000_0000
_HEAD = struct.Struct("iIII")
_READ_BYTES = 1 << 16


# For how many renames one side is kept until the other arrives: a file that leaves the watched folders has none.
_OPEN_RENAMES = 1000


class RenamedPath(NamedTuple):
    """A file, or a folder with all its content, that got another path."""

    old: str
    new: str


class InotifyChanges(NamedTuple):
    """Paths of files that changed; `lost` if folders changed too, or too much happened: then check everything.
    `renames` are those within the watched folders, in order."""

    paths: set[str]
    lost: bool
    renames: list[RenamedPath]

    @classmethod
    def none(cls) -> InotifyChanges:
        return cls(set(), False, [])


class Inotify:
    """Watches on any number of folders. Used by one thread at a time; close it when done."""

    def __init__(self) -> None:
        self._add, self._fd = _start()
        self._folders: dict[int, str] = {}
        self._left: dict[int, str] = {}  # what was moved away, by the number that the kernel gives to both sides

    def watch(self, folder: str, fd: int) -> None:
        """Watch the folder that `fd` is open on; call this before reading its content."""
        watch = self._add(self._fd, f"/proc/self/fd/{fd}".encode(), _MASK)
        if watch < 0:
            raise Unsupported
        self._folders[watch] = folder

    def read_changes(self) -> InotifyChanges:
        """What changed since the last call, or since the watches were set."""
        found = InotifyChanges.none()
        while True:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except BlockingIOError:
                return found
            found = found._replace(lost=self._take(data, found) or found.lost)

    def _take(self, data: bytes, found: InotifyChanges) -> bool:
        lost = False
        at = 0
        while at < len(data):
            watch, mask, cookie, length = _HEAD.unpack_from(data, at)
            name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
            at += _HEAD.size + length
            folder = self._folders.get(watch)
            path = "" if folder is None else os.fsdecode(name) if not folder else f"{folder}/{os.fsdecode(name)}"
            if path and name and mask & _MOVED:
                self._pair(mask, cookie, path, found.renames)
            if mask & (_OVERFLOW | _UNMOUNT | _IGNORED | _SELF) or folder is None:
                lost = True
            elif name and mask & _ISDIR:
                lost = lost or bool(mask & (_MOVED | _CREATE | _DELETE))
            elif name:
                found.paths.add(path)
        return lost

    def _pair(self, mask: int, cookie: int, path: str, renames: list[RenamedPath]) -> None:
        if mask & _MOVED_FROM:
            self._left[cookie] = path
            while len(self._left) > _OPEN_RENAMES:
                del self._left[next(iter(self._left))]
        elif (old := self._left.pop(cookie, None)) is not None:
            renames.append(RenamedPath(old, path))

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
