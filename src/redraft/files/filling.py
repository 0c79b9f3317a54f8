"""What a file holds and what it is like, on the way in and out: large contents take the disk and the kernel a while.

Works with open descriptors alone. Durable is what is written here only when its file has been flushed.
"""

from __future__ import annotations

import _thread
import os
import stat
from contextlib import suppress

from redraft.files import syscalls

PIECE = 1 << 21  # the disk takes one while the next is handed over


def fill(fd: int, content: bytes, target: int | None, mode: int | None) -> None:
    """Write the content of a new file, with the traits of the target where there is one, and begin to flush it."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest[:PIECE]) :]
        syscalls.begin_writing(fd)
    if target is not None:
        _keep_traits(fd, target)
    if mode is not None:
        os.fchmod(fd, mode & 0o777)


def _keep_traits(fd: int, target: int) -> None:
    found = os.fstat(target)
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.fchown(fd, found.st_uid, found.st_gid)
    # Access lists and labels are extended attributes. Those of the system may not be ours to set.
    with suppress(OSError, AttributeError):
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(fd, name, os.getxattr(target, name))
    # Not setuid and its like: the kernel, too, takes them from a file that is written.
    os.fchmod(fd, stat.S_IMODE(found.st_mode) & 0o777)


def close_later(fd: int) -> None:
    """Close the last hold on a file without waiting until the kernel has given back what the file took up."""
    try:
        _thread.start_new_thread(_close, (fd,))  # `threading` would wait until it runs
    except RuntimeError:  # no more threads, or the program is ending
        _close(fd)


def _close(fd: int) -> None:
    with suppress(OSError):
        os.close(fd)
