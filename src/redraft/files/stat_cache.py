"""When an unchanged stamp proves unchanged content, so that a file need not be read again.

A stamp alone proves nothing while its file is young, for two reasons. Most clocks of file systems tick every few
milliseconds, so two writes within a tick leave one stamp; and the kernel sets the time before it copies the bytes, so
who reads during a write may see the new stamp and the old bytes. Both are over once the file has been left alone for a
while: whatever is written after that gets another time.

The first reason falls away where the kernel gives a file whose time somebody has asked for a new one, of nanoseconds,
at its next change (Linux 6.13, on some file systems); the second where the content was put there by ourselves. With
both, a stamp is good at once.

What no stamp tells: later writes through a memory map that is already dirty, and on tmpfs all that are made through
one. So a stamp may decide what is shown, never what is overwritten. Nothing here looks at a file.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from redraft.files.paths import name_set

if TYPE_CHECKING:
    from redraft.files.file_image import FileStamp

# Far more than a tick of any kernel's clock, and than a write of ordinary size takes.
SETTLED_NS = 100_000_000
# A large file may be one long write, at 100 MB a second at the least.
_NS_PER_BYTE = 10
# Disks that count in seconds (ext3, or ext4 with small inodes) or in two of them (FAT) show it by round times.
_SECOND = 1_000_000_000
_COARSE_NS = 2_500_000_000
_FINE_KERNEL = (6, 13)

# Disks on which every change passes through this machine's kernel, and the times it gives are the file's own.
LOCAL = name_set("bcachefs btrfs exfat ext2 ext3 ext4 f2fs jfs ntfs3 overlay ramfs reiserfs tmpfs vfat xfs zfs")
_FINE = name_set("btrfs ext4 tmpfs xfs")
# Of disks on which a folder is open: their numbers are given to no other meanwhile.
_known: dict[int, str] = {}


def proves_content(stamp: FileStamp, read_at_ns: int, *, sole_writer: bool = False) -> bool:
    """Whether a file that has this stamp still holds what was read from it, or written to it, with this stamp.

    `read_at_ns` is the time (`time.time_ns()`) before the content was read; the stamp is that of the same descriptor,
    before and after. With `sole_writer` the content was not read but written, to a file that nobody else had open.
    """
    if not is_local(stamp.dev):
        return False
    if sole_writer and is_fine(stamp.dev) and stamp.ctime_ns % _SECOND:
        return True
    return read_at_ns - stamp.ctime_ns > settling_ns(stamp.size, stamp.ctime_ns)


def settling_ns(size: int, ctime_ns: int) -> int:
    """How long after its last change a file of this size has to be left alone until its stamp means something."""
    return (_COARSE_NS if ctime_ns % _SECOND == 0 else SETTLED_NS) + size * _NS_PER_BYTE


def is_local(device: int) -> bool:
    """Whether the disk with this number is one where no change goes past this machine's kernel."""
    return file_system(device) in LOCAL


def is_fine(device: int) -> bool:
    """Whether a file on this disk gets a new time at each change after its time was asked for."""
    return _kernel() >= _FINE_KERNEL and file_system(device) in _FINE


def file_system(device: int) -> str:
    """The kind of file system with this device number, as the kernel calls it; "" where that cannot be known."""
    found = _known.get(device)
    if found is None:
        found = _look_up(device)
        if found:
            _known[device] = found
    return found


def forget() -> None:
    """For whoever opens a folder: since the last time, a number may have been given to another disk."""
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
