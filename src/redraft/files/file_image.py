"""An open file: what it is, when it last changed, and its whole content.

Everything is asked of the descriptor, nothing of a name, so the answers are all about the same file.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from redraft.errors import Busy, Forbidden, Refused
from redraft.files.os_errors import not_a_file, through_link


def flags_of(*names: str) -> int:
    """The open flags of these names that this system has."""
    flags = 0
    for name in names:
        flags |= getattr(os, name, 0)
    return flags


# A FIFO must not block us, and a terminal must not become our controlling terminal.
READ_FLAGS = flags_of("O_RDONLY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY")
_READS_OF_A_CHANGING_FILE = 5
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class FileStamp(NamedTuple):
    """Changes whenever a file is replaced or written; cheap to compare, but no proof of equal content."""

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int


class FileImage(NamedTuple):
    """A file as it was at one instant."""

    data: bytes
    mode: int
    stamp: FileStamp


class PlacedFile(NamedTuple):
    """A file that was put in its place: its stamp there, and its mode."""

    stamp: FileStamp
    mode: int


def stamp_of(found: os.stat_result) -> FileStamp:
    return FileStamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def read_open(fd: int, path: str, limit: int | None = None) -> FileImage:
    """The content of an open file, read again while somebody is writing it; raises `busy` if that does not end."""
    found = os.fstat(fd)
    check_regular(found, path)
    for _ in range(_READS_OF_A_CHANGING_FILE):
        if limit is not None and found.st_size > limit:
            raise Refused(f"{path} is larger than {limit} bytes.", code="too_large", path=path, size=found.st_size)
        data = _read_all(fd, found.st_size)
        before, found = found, os.fstat(fd)
        if stamp_of(before) == stamp_of(found):
            return FileImage(data, stat.S_IMODE(found.st_mode), stamp_of(found))
        os.lseek(fd, 0, os.SEEK_SET)
    raise Busy(f"{path} is being written by another program.", path=path)


def _read_all(fd: int, size: int) -> bytes:
    # One byte more than the size, so that the usual file is read in one call and its end seen in the next.
    parts = [os.read(fd, size + 1)]
    while more := os.read(fd, 1 << 16):
        parts.append(more)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def check_regular(found: os.stat_result, path: str) -> None:
    """Raise unless this is a regular file."""
    if stat.S_ISLNK(found.st_mode):
        raise through_link(path)
    if not stat.S_ISREG(found.st_mode):
        raise not_a_file(path, _KINDS.get(stat.S_IFMT(found.st_mode), "something else"))


def check_replaceable(found: os.stat_result, path: str) -> None:
    """Raise unless this is a regular file with one name: another name of it may be outside the folder."""
    check_regular(found, path)
    if found.st_nlink > 1:
        raise Forbidden(
            f"{path} has {found.st_nlink} names (hard links), and one of them may lie outside the folder.",
            code="outside_folder",
            path=path,
        )
