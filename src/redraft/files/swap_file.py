"""Two names in one folder: a file's own, and a temporary one that is ours. The steps that writes consist of.

A `SwapFile` holds the folder open, so that all steps of a write happen in the same folder whatever happens to its name.
Each step is one move of the names or one look at what is there; `atomic_write` knows the order in which they are
safe. Errors are plain `OSError`s, except for a target that must not be replaced, or has changed.
"""

from __future__ import annotations

import _thread
import errno
import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Busy, RedraftError, Refused, Stale
from redraft.files import syscalls
from redraft.files.file_image import READ_FLAGS, FileStamp, check_replaceable, flags_of, is_local, read_open, stamp_of
from redraft.files.paths import MAX_NAME_BYTES, TEMP_PREFIX, DocPath, join_path, split_path
from redraft.files.syscalls import explain, explain_os_errors
from redraft.files.tree import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from redraft.files.root import Root

# Files beside the targets: temporary files that a crash left behind, found and removed; names of conflict copies.
#
# A leftover may be the only copy of what somebody wrote (see `atomic_write`), so recovery comes first: it checks every
# token of the journal's open turns, and passes the tokens that it has not settled in `keep`.


def sweep(
    root: Root, *, folders: Iterable[str] | None = None, keep: Collection[str] = (), older_than: float = 0.0
) -> list[DocPath]:
    """Remove temporary files that a crash left behind, in these folders ("" is the root) or in the whole tree.

    Not those whose token is in `keep`, nor those changed within the last `older_than` seconds. If the disk fails, the
    rest is swept and then the first error raised, so that the caller knows to try again.
    """
    if folders is None:
        folders = ["", *(entry.path for entry in walk(root, skip_hidden=False) if entry.kind == "folder")]
    removed: list[DocPath] = []
    failed: RedraftError | None = None
    for folder in folders:
        try:
            fd = root.open_folder(folder)
            try:
                with explain_os_errors("sweep", folder):
                    removed += (join_path(folder, name) for name in _sweep_folder(fd, keep, older_than))
            finally:
                os.close(fd)
        except Refused:  # a folder that is gone, or has become a link, has nothing to sweep
            continue
        except RedraftError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return removed


def _sweep_folder(fd: int, keep: Collection[str], older_than: float) -> list[str]:
    removed: list[str] = []
    with os.scandir(fd) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(TEMP_PREFIX)]
    for name in names:
        if name.removeprefix(TEMP_PREFIX) in keep:
            continue
        with suppress(FileNotFoundError):
            age = time.time() - os.stat(name, dir_fd=fd, follow_symlinks=False).st_mtime
            if age >= older_than:
                os.unlink(name, dir_fd=fd)
                removed.append(name)
    return removed


def conflict_copy_name(name: str, token: str, number: int) -> str:
    """The name of a conflict copy of a file, the first or another of its token."""
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        stem, dot, suffix = name, "", ""
    mark = f".conflict-{token}" + (f"-{number}" if number > 1 else "")
    tail = f"{mark}{dot}{suffix}".encode()[-MAX_NAME_BYTES:]
    head = stem.encode()[: MAX_NAME_BYTES - len(tail)]
    return head.decode(errors="ignore") + tail.decode(errors="ignore")


_SECTOR = 512


def is_unfinished(content: bytes, new: bytes) -> bool:
    """Whether this may be the rest of an unflushed `new`: its beginning, with zeros for what is missing."""
    if len(content) > len(new):
        return False
    return new.startswith(content) or all(
        new.startswith(sector, at) or not any(sector)
        for at in range(0, len(content), _SECTOR)
        for sector in (content[at : at + _SECTOR],)
    )


# Reading and writing a file's content and attributes: large contents take the disk and the kernel a while.
#
# Uses only open descriptors. What is written here is durable only once its file has been flushed.


WRITE_PIECE = 1 << 21  # the disk writes one while the next is passed to it


def write_temp(fd: int, content: bytes, target: int | None, mode: int | None) -> None:
    """Write the content of a new file, with the attributes of the target if there is one, and begin to flush it."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest[:WRITE_PIECE]) :]
        syscalls.begin_writing(fd)
    if target is not None:
        _copy_traits(fd, target)
    if mode is not None:
        os.fchmod(fd, mode & 0o777)


def _copy_traits(fd: int, target: int) -> None:
    found = os.fstat(target)
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.fchown(fd, found.st_uid, found.st_gid)
    # Access lists and labels are extended attributes. We may not be allowed to set those of the system.
    with suppress(OSError, AttributeError):
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(fd, name, os.getxattr(target, name))
    # Not setuid and the like: the kernel, too, clears them when a file is written.
    os.fchmod(fd, stat.S_IMODE(found.st_mode) & 0o777)


def close_later(fd: int) -> None:
    """Close the last descriptor of a file without waiting until the kernel has freed its space."""
    try:
        _thread.start_new_thread(_close, (fd,))  # `threading` would wait until it runs
    except RuntimeError:  # no more threads, or the program is ending
        _close(fd)


def _close(fd: int) -> None:
    with suppress(OSError):
        os.close(fd)


# Does an open file contain exactly these bytes, and is nobody about to change them?
#
# A comparison alone proves little: an editor that opened the file a moment ago may write right after it. A read lease
# is granted only while nobody has the file open for writing, and makes anybody who tries to wait; so content that was
# compared under an undisturbed lease is settled. If leases are unavailable (another owner's file, a network file
# system), the comparison has to suffice.
#
# Comparing a large file takes a while, so that is done while the disk writes the new one; the lease is then a
# `HeldFile` until the file has been displaced.


PATIENCE = 0.1
_LONGEST_PAUSE = 0.02
_COMPARE_PIECE = 1 << 18


def verify_stamp(fd: int, content: bytes, path: str) -> FileStamp | None:
    """The stamp of the file, if it contains `content` and no writer has it open.

    None as soon as it contains anything else. Raises `busy` if it contains `content` but a writer keeps it open for too
    long; also raises for what must not be replaced. `fd` must be open for reading only.
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


class HeldFile:
    """An open file that was compared and not opened for writing since: whoever tries waits for `let_go`."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @staticmethod
    def take(fd: int, content: bytes, path: str) -> HeldFile | None:
        """Hold the file, if it contains `content` and a lease is available; `let_go` then closes `fd`, otherwise it is
        closed at once. It must be open for reading only."""
        try:
            if syscalls.take_read_lease(fd) and _equal(fd, content, path) is not None:
                return HeldFile(fd)
        except syscalls.Unsupported:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # which releases the lease
        return None

    def let_go(self) -> FileStamp | None:
        """Its stamp by now, under whatever name; None if somebody tried to write to it meanwhile."""
        try:
            found = os.fstat(self._fd)
            undisturbed = syscalls.drop_lease(self._fd)
        finally:
            os.close(self._fd)
        return stamp_of(found) if undisturbed and found.st_nlink == 1 else None


def _compare(fd: int, content: bytes, path: str) -> tuple[FileStamp | None, bool]:
    """The stamp if the content is equal, and whether it is certain to stay so."""
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


def _equal(fd: int, content: bytes, path: str) -> FileStamp | None:
    found = os.fstat(fd)
    check_replaceable(found, path)
    stamp = stamp_of(found)
    if stamp.size != len(content) or not _holds(fd, content):
        return None
    return stamp if stamp_of(os.fstat(fd)) == stamp else None


def _holds(fd: int, content: bytes) -> bool:
    """Whether the file contains exactly these bytes; piece by piece, which for 10 MB takes half the time of reading
    all."""
    at = 0
    while piece := os.pread(fd, _COMPARE_PIECE, at):
        if not content.startswith(piece, at):
            return False
        at += len(piece)
    return at == len(content)


_CREATE_FLAGS = flags_of("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC")
LARGE = 1 << 20
_TOKEN_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


class RestoreResult(NamedTuple):
    """Whether a displaced file has its name back; if not, the conflict copy that it may be kept as."""

    restored: bool
    kept: DocPath | None


class SwapFile:
    """The target's name, the temporary name, and the open folder that has both."""

    __slots__ = ("fd", "held", "made", "name", "path", "seen", "temp", "token", "unflushed", "written")

    def __init__(self, root: Root, path: DocPath, token: str, *, create_folders: bool) -> None:
        if not token or len(token) > 64 or not _TOKEN_LETTERS.issuperset(token):
            raise ValueError(f"not a token: {token!r}")
        self.path = path
        self.token = token
        self.temp = TEMP_PREFIX + token
        self.seen: FileStamp | None = None  # of the target, when the temporary file was written
        self.unflushed = -1  # the temporary file, open, while it is written but not flushed
        self.written: FileStamp | None = (
            None  # of the temporary file, when it was flushed, and then when it got its name
        )
        self.held: HeldFile | None = None  # the target, while nobody may write to it
        self.fd, self.name, self.made = root.hold_parent(path, create=create_folders)

    def close(self) -> None:
        lease, self.held = self.held, None
        if lease is not None:
            with suppress(OSError):
                lease.let_go()
        self.let_go()
        if self.fd >= 0:
            # Nothing is written through a folder's descriptor, so closing it cannot fail in a way that matters.
            with suppress(OSError):
                os.close(self.fd)
            self.fd = -1

    def let_go(self) -> None:
        """Close the temporary file, if it is not flushed yet: its content is not needed, or already safe."""
        if self.unflushed >= 0:
            fd, self.unflushed = self.unflushed, -1
            with suppress(OSError):
                os.close(fd)

    # Looking

    def open_target(self) -> int | None:
        """The open file at the target, if it may be replaced; None if there is nothing."""
        try:
            fd = os.open(self.name, READ_FLAGS, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        try:
            check_replaceable(os.fstat(fd), self.path)
            # A rename needs only the folder's permission; a file marked read-only should still be left alone.
            if not os.access(self.name, os.W_OK, dir_fd=self.fd):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self.name)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def check_target(self, old: bytes, *, looked: bool = False) -> None:
        """Raise unless the target may be replaced and contains `old`.

        With `looked`, the caller has compared it just before the temporary file was written: then an unchanged stamp
        is enough.
        """
        if looked and stamp_of(os.stat(self.name, dir_fd=self.fd, follow_symlinks=False)) == self.seen:
            return
        target = self.open_target()
        if target is None:
            raise self.gone_error()
        try:
            if read_open(target, self.path).data != old:
                raise self.changed_error()
        finally:
            os.close(target)

    def gone_error(self) -> Stale:
        return Stale(f"{self.path} was deleted or moved.", path=self.path)

    def changed_error(self) -> Stale:
        return Stale(f"{self.path} was changed on disk.", path=self.path)

    def read(self, name: str) -> bytes | None:
        """The content of the regular file at one of the two names; None if there is nothing."""
        try:
            fd = os.open(name, READ_FLAGS, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        try:
            return read_open(fd, self.path).data
        finally:
            os.close(fd)

    def target_is(self, content: bytes | None) -> bool:
        """Whether the target contains exactly this, or, for None, does not exist."""
        try:
            return self.read(self.name) == content
        except RedraftError:  # a folder, a pipe, a file that is being written
            return False
        except OSError as error:
            if explain(error, "read", self.path).code in ("io_error", "permission_denied"):
                raise
            return False

    def verify_content(self, name: str, content: bytes) -> FileStamp | None:
        """The stamp of the file at one of the two names, if it contains `content` and no writer has it open.

        Raises for what must not be replaced, and `busy` for a writer that keeps it open.
        """
        fd = os.open(name, READ_FLAGS, dir_fd=self.fd)
        try:
            return verify_stamp(fd, content, self.path)
        finally:
            os.close(fd)

    def hold(self, content: bytes) -> None:
        """Keep the target unchanged until it is displaced, if it is large and contains `content`."""
        if len(content) < LARGE or self.held is not None:
            return
        with suppress(OSError, RedraftError):  # then what is displaced is compared, as for smaller files
            fd = os.open(self.name, READ_FLAGS, dir_fd=self.fd)
            self.held = HeldFile.take(fd, content, self.path)

    def verify_displaced(self, content: bytes) -> FileStamp | None:
        """The stamp of the file at the temporary name, if it contains `content` and no writer has it open."""
        lease, self.held = self.held, None
        stamp = lease and lease.let_go()
        if stamp is not None and not self.temp_changed_since(stamp):
            return stamp
        return self.verify_content(self.temp, content)

    def temp_is_ours(self, content: bytes) -> bool:
        """Whether the temporary name has what we wrote, and nobody else has it open."""
        try:
            return self.verify_content(self.temp, content) is not None
        except RedraftError:  # somebody has it open for writing, or it is no longer our file
            return False

    def temp_changed_since(self, stamp: FileStamp) -> bool:
        return stamp_of(os.stat(self.temp, dir_fd=self.fd, follow_symlinks=False)) != stamp

    # Moving

    def fill_temp(self, content: bytes, mode: int | None) -> None:
        """Write the temporary file, with the attributes of the target if that exists. It is durable after `flush`."""
        target = self.open_target()
        try:
            # Without a target, the system applies the umask; otherwise the file is private until it is complete.
            self.seen = None if target is None else stamp_of(os.fstat(target))
            first_mode = 0o666 if target is None and mode is None else 0o600
            fd = os.open(self.temp, _CREATE_FLAGS, first_mode, dir_fd=self.fd)
            try:
                write_temp(fd, content, target, mode)
            except BaseException:
                os.close(fd)
                self.drop_temp()
                raise
            self.unflushed = fd
        finally:
            if target is not None:
                os.close(target)

    def flush(self) -> None:
        """Make the content of the temporary file durable."""
        if self.unflushed >= 0:
            try:
                os.fsync(self.unflushed)
                self.written = stamp_of(os.fstat(self.unflushed))
            finally:
                self.let_go()

    def swap(self) -> None:
        """Exchange the two names in one step."""
        syscalls.renameat2(self.fd, self.temp, self.name, syscalls.RENAME_EXCHANGE)
        self._learn_stamp()

    def overwrite(self) -> None:
        """Rename the temporary file over the target: only if names cannot be exchanged."""
        os.rename(self.temp, self.name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        self._learn_stamp()

    def set_aside(self) -> None:
        """Rename the target to the temporary name."""
        try:
            syscalls.renameat2(self.fd, self.name, self.temp, syscalls.RENAME_NOREPLACE)
        except syscalls.Unsupported:
            os.rename(self.name, self.temp, src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def bring(self, name: str | None = None) -> None:
        """Rename the temporary file to the target (or another name), never overwriting anything."""
        name = name or self.name
        try:
            syscalls.renameat2(self.fd, self.temp, name, syscalls.RENAME_NOREPLACE)
        except syscalls.Unsupported:
            os.link(self.temp, name, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)
            os.unlink(self.temp, dir_fd=self.fd)
        self._learn_stamp()

    def _learn_stamp(self) -> None:
        """Learn the stamp of what was written, now that it has its name; none if it has changed since it was
        flushed."""
        written, self.written = self.written, None
        with suppress(OSError):
            found = stamp_of(os.stat(self.name, dir_fd=self.fd, follow_symlinks=False))
            if written is not None and found._replace(ctime_ns=written.ctime_ns) == written:
                self.written = found

    def swap_back(self, new: bytes, known: bytes | None) -> RestoreResult:
        """After a swap: swap again, so that the displaced file has its name back.

        What comes out must be our own `new`. If it is not, somebody has written there meanwhile, and theirs is newer:
        they keep the name, and the displaced file is kept as a copy, unless its content is `known`.
        """
        if known is None or self.target_is(new):
            try:
                self.swap()
            except (FileNotFoundError, syscalls.Unsupported):  # deleted meanwhile, or moved to a disk that cannot
                return self.bring_back(known)
            if self.temp_is_ours(new):
                self.drop_temp()
                return RestoreResult(True, None)
            self.swap()
        return self._drop_or_keep(known)

    def bring_back(self, known: bytes | None) -> RestoreResult:
        """Give the displaced file its name back, unless there is a new one, or its content is `known` anyway."""
        if known is None:
            with suppress(FileExistsError):
                self.bring()
                return RestoreResult(True, None)
        return self._drop_or_keep(known)

    def _drop_or_keep(self, known: bytes | None) -> RestoreResult:
        if known is not None and self.read(self.temp) == known:
            self.drop_temp()
            return RestoreResult(False, None)
        return RestoreResult(False, self.keep_copy())

    def keep_copy(self) -> DocPath:
        """Keep the file at the temporary name beside the target as a conflict copy."""
        number = 0
        while True:
            number += 1
            name = conflict_copy_name(self.name, self.token, number)
            with suppress(FileExistsError):
                self.bring(name)
                return join_path(split_path(self.path)[0], name)

    def drop_displaced(self, stamp: FileStamp | None) -> None:
        """Remove the temporary name. The space of a large file is freed while nobody waits for it."""
        fd = -1
        if stamp is not None and stamp.size >= LARGE and is_local(stamp.dev):
            with suppress(OSError):
                fd = os.open(self.temp, READ_FLAGS, dir_fd=self.fd)
        self.drop_temp()
        if fd >= 0:
            close_later(fd)

    def drop_temp(self) -> bool:
        """Remove the temporary name; False if it was not there. If it cannot be removed now, it is swept later."""
        try:
            os.unlink(self.temp, dir_fd=self.fd)
        except FileNotFoundError:
            return False
        except OSError:
            pass
        return True
