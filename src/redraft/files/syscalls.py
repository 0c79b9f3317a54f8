"""System calls: their errors, translated into ours, and those calls that Python does not offer.

Every `OSError` of this package leaves it through `explain`, with the original as its cause: callers and surfaces only
ever see the codes of `errors`. Missing, misplaced and protected files have codes of their own; the rest is `io_error`
with a sentence. Nothing here knows about documents.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.errors import Forbidden, RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


_SENTENCES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is exceeded",
    errno.EROFS: "the disk is read-only",
    errno.EIO: "the disk reports an error",
    errno.EMFILE: "this process has too many files open",
    errno.ENFILE: "the machine has too many files open",
    errno.EFBIG: "the file would be larger than allowed",
    errno.EBUSY: "it is in use by the system",
}
_DENIED = {errno.EACCES, errno.EPERM}


def explain(error: OSError, act: str, path: str) -> RedraftError:
    """What to raise for an `error` during the `act` ("read", "write", ...) on `path`; always raise it from `error`."""
    code = error.errno or 0
    if code in {errno.ELOOP, errno.EXDEV}:
        return through_link(path)
    if code == errno.ENOENT:
        return Refused(f"There is no {path or 'such folder'}.", code="not_found", path=path)
    if code == errno.ENOTDIR:
        return Refused(f"There is no {path}: a part of it is a file, not a folder.", code="not_found", path=path)
    if code == errno.ENXIO:
        return not_a_file(path, "a socket or a device")
    if code == errno.ENAMETOOLONG:
        return Refused(f"The file system does not allow a name as long as {path}.", code="invalid_path", path=path)
    name = errno.errorcode.get(code, str(code))
    if code in _DENIED:
        message = f"Cannot {act} {path}: permission denied."
        return RedraftError(message, code="permission_denied", path=path, errno=name)
    reason = _SENTENCES.get(code) or (error.strerror or "the system failed").lower()
    return RedraftError(f"Cannot {act} {path}: {reason}.", code="io_error", path=path, errno=name)


def through_link(path: str) -> Forbidden:
    return Forbidden(
        f"{path} is or passes through a symbolic link, which may lead outside the folder.",
        code="outside_folder",
        path=path,
    )


def not_a_file(path: str, kind: str) -> Refused:
    return Refused(f"{path} is {kind}, not a text file.", code="unsupported_file_type", path=path, kind=kind)


class explain_os_errors:  # noqa: N801 - it reads as a word of the with statement
    """Raise every OSError of the block as `explain` translates it.

    A class, because the generator of `contextmanager` costs four times as much, twenty times for every small write.
    """

    __slots__ = ("_act", "_path")

    def __init__(self, act: str, path: str) -> None:
        self._act = act
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise explain(error, self._act, self._path) from error


# The calls that Python does not offer: openat2, renameat2, sync_file_range, and leases as a question.
#
# Each is loaded on first use (ctypes costs milliseconds) and raises `Unsupported` if the machine, the kernel or the
# file system does not have it, so that the caller can use its fallback.


RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08

RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2

_OPENAT2 = 437
_HOW_SIZE = 24
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
_STATX = {"x86_64": 332, "aarch64": 291, "riscv64": 291}
_TRIES_AFTER_A_RACE = 8


class Unsupported(Exception):
    """This machine, kernel or file system does not have the call."""


class _Kernel:
    """libc's `syscall` and related functions; created once, when first needed."""

    def __init__(self) -> None:
        machine = os.uname().machine if sys.platform.startswith("linux") and sys.maxsize > 2**32 else ""
        if machine not in _RENAMEAT2:
            raise Unsupported
        import ctypes

        self.renameat2, self.statx = _RENAMEAT2[machine], _STATX[machine]
        self.errno = ctypes.get_errno
        library = ctypes.CDLL(None, use_errno=True)
        self.call: Callable[..., int] = library.syscall
        self.call.restype = ctypes.c_long  # pyright: ignore[reportFunctionMemberAccess]
        self.how = ctypes.c_uint64 * 3
        self.status = ctypes.c_char * _STATUS_SIZE
        self.sync_file_range: Callable[[int, int, int, int], int] = library.sync_file_range
        self.sync_file_range.argtypes = [  # pyright: ignore[reportFunctionMemberAccess]
            *(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
        ]
        self.has_openat2 = True


_kernel: _Kernel | None = None


def _load() -> _Kernel:
    global _kernel  # noqa: PLW0603 - a cache of one; two threads at once would make the same thing twice
    if _kernel is None:
        _kernel = _Kernel()
    return _kernel


def openat2_beneath(dir_fd: int, path: str, flags: int) -> int:
    """Open `path` below `dir_fd` without passing any symbolic link; the kernel checks every component itself."""
    kernel = _load()
    if not kernel.has_openat2:
        raise Unsupported
    # With O_NOFOLLOW and O_DIRECTORY a link as the last component is ENOTDIR; without the former, ELOOP as elsewhere.
    flags = (flags | os.O_CLOEXEC) & ~os.O_NOFOLLOW
    how = kernel.how(flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
    name = os.fsencode(path)
    for _ in range(_TRIES_AFTER_A_RACE):
        fd = kernel.call(_OPENAT2, dir_fd, name, how, _HOW_SIZE)
        if fd >= 0:
            return fd
        code = kernel.errno()
        # A sandbox (seccomp) that does not know the call may answer EPERM for it.
        if code in {errno.ENOSYS, errno.EPERM}:
            kernel.has_openat2 = False
            raise Unsupported
        # EAGAIN: something was renamed meanwhile and the kernel could not be sure.
        if code not in {errno.EINTR, errno.EAGAIN}:
            raise OSError(code, os.strerror(code), path)
    raise Unsupported


def renameat2(dir_fd: int, old: str, new: str, flags: int) -> None:
    """Rename within one folder, as `flags` say: never over an existing name, or exchanging the two."""
    kernel = _load()
    while kernel.call(kernel.renameat2, dir_fd, os.fsencode(old), dir_fd, os.fsencode(new), flags) < 0:
        code = kernel.errno()
        if code in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
            raise Unsupported
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code), old, None, new)


_STATUS_SIZE = 256
_NO_LINKS = 0x100  # AT_SYMLINK_NOFOLLOW
_BIRTH_TIME = 0x800  # STATX_BTIME


def birth_time_ns(dir_fd: int, name: str) -> int | None:
    """When the file with this name was created; None if that is not known."""
    try:
        kernel = _load()
    except Unsupported:
        return None
    status = kernel.status()
    if kernel.call(kernel.statx, dir_fd, os.fsencode(name), _NO_LINKS, _BIRTH_TIME, status) < 0:
        return None
    known, seconds, nanoseconds = struct.unpack_from("=I76xqI", status.raw)
    return seconds * 10**9 + nanoseconds if known & _BIRTH_TIME else None


_BEGIN_WRITING = 2  # SYNC_FILE_RANGE_WRITE


def begin_writing(fd: int) -> None:
    """Let the disk start writing, without waiting for it; this promises nothing, and `fsync` is still needed."""
    with suppress(Unsupported):
        _load().sync_file_range(fd, 0, 0, _BEGIN_WRITING)


# When a lease is about to be broken, its holder gets a signal, SIGIO by default, which would end the process.
# SIGURG is ignored unless a program asks for it.
_HARMLESS_SIGNAL = 23


def take_read_lease(fd: int) -> bool:
    """Whether nobody has the file open for writing; if so, whoever opens it for writing now waits for `drop_lease`.

    `fd` must be open for reading only. Needs the file's owner or CAP_LEASE, and a local file system.
    """
    if not sys.platform.startswith("linux"):
        raise Unsupported
    import fcntl

    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, _HARMLESS_SIGNAL)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        if error.errno in {errno.EAGAIN, errno.EWOULDBLOCK}:
            return False
        raise Unsupported from error
    return True


def drop_lease(fd: int) -> bool:
    """Release the lease; False if somebody was waiting to open the file for writing."""
    import fcntl

    undisturbed = fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_RDLCK
    with suppress(BlockingIOError):  # they waited so long that the kernel revoked it
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return undisturbed
