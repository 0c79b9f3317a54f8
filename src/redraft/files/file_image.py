"""An open file: what it is, when it last changed, its whole content, and how long its stamp vouches for that.

Everything is asked of the descriptor, nothing of a name, so the answers are all about the same file.
"""

from __future__ import annotations

import os
import stat
import sys
from functools import lru_cache
from typing import NamedTuple

from redraft.errors import Busy, Forbidden, Refused
from redraft.files.paths import name_set
from redraft.files.syscalls import not_a_file, through_link


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


# When an unchanged stamp proves unchanged content, so that a file need not be read again.
#
# A stamp alone proves nothing while its file is young, for two reasons. Most file system clocks tick every few
# milliseconds, so two writes within a tick leave one stamp; and the kernel sets the time before it copies the bytes, so
# a reader during a write may see the new stamp and the old bytes. Both are over once the file has been left alone for a
# while: any later write gets another time.
#
# The first reason does not apply if the kernel gives a file a new time, in nanoseconds, at its next change after
# somebody has read its time (Linux 6.13, on some file systems); the second if we wrote the content ourselves. With
# both, a stamp is good at once.
#
# No stamp shows later writes through a memory map that is already dirty, and on tmpfs any write through one. So a stamp
# may decide what is shown, never what is overwritten. Nothing below looks at a file.


# Far longer than a tick of any kernel's clock, and than a write of ordinary size takes.
SETTLED_NS = 100_000_000
# A large file may be one long write, at 100 MB a second or more.
_NS_PER_BYTE = 10
# File systems that count in seconds (ext3, or ext4 with small inodes) or in two of them (FAT) show it by round times.
_SECOND = 1_000_000_000
_COARSE_NS = 2_500_000_000
_FINE_KERNEL = (6, 13)

# File systems on which every change goes through this machine's kernel, and whose times are the kernel's.
LOCAL = name_set("bcachefs btrfs exfat ext2 ext3 ext4 f2fs jfs ntfs3 overlay ramfs reiserfs tmpfs vfat xfs zfs")
_FINE = name_set("btrfs ext4 tmpfs xfs")
# Of disks on which a folder is open: their numbers are not reused meanwhile.
_known: dict[int, str] = {}


def proves_content(stamp: FileStamp, read_at_ns: int, *, sole_writer: bool = False) -> bool:
    """Whether a file with this stamp still has the content that was read from it, or written to it, with this stamp.

    `read_at_ns` is the time (`time.time_ns()`) before the content was read; the stamp is that of the same descriptor,
    before and after. With `sole_writer` the content was not read but written, to a file that nobody else had open.
    """
    if not is_local(stamp.dev):
        return False
    if sole_writer and is_fine(stamp.dev) and stamp.ctime_ns % _SECOND:
        return True
    return read_at_ns - stamp.ctime_ns > settling_ns(stamp.size, stamp.ctime_ns)


def settling_ns(size: int, ctime_ns: int) -> int:
    """How long after its last change a file of this size has to be left alone before its stamp means something."""
    return (_COARSE_NS if ctime_ns % _SECOND == 0 else SETTLED_NS) + size * _NS_PER_BYTE


def is_local(device: int) -> bool:
    """Whether every change on the disk with this number goes through this machine's kernel."""
    return file_system(device) in LOCAL


def is_fine(device: int) -> bool:
    """Whether a file on this disk gets a new time at each change after its time was read."""
    return _kernel() >= _FINE_KERNEL and file_system(device) in _FINE


def file_system(device: int) -> str:
    """The kernel's name for the file system with this device number; "" if unknown."""
    found = _known.get(device)
    if found is None:
        found = _look_up(device)
        if found:
            _known[device] = found
    return found


def forget_file_systems() -> None:
    """Call this when opening a folder: a number may since have been given to another disk."""
    _known.clear()


def _look_up(device: int) -> str:
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
            for line in table:
                fields = line.split()
                if fields[2] == wanted:
                    return fields[fields.index("-") + 1]
    except (OSError, ValueError, IndexError):
        pass
    return ""


@lru_cache(maxsize=1)
def _kernel() -> tuple[int, int]:
    if not sys.platform.startswith("linux"):
        return 0, 0
    major, minor, *_ = (*os.uname().release.split("."), "0", "0")
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)
