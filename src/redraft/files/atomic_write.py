"""One file's change on disk, in phases, so that a journal can record what happens between them.

    replace   prepare(new)  [hold(old)]  exchange(old, new)  sync  discard
    create    prepare(new)               place()             sync  discard
    delete                               displace(old)       sync  discard

All phases use the target and one other name beside it, `.redraft-tmp-<token>`. `exchange` swaps the two in one step:
the old target is then under our name, and only then is it compared with what the caller expected (or before, by
`hold`, which prevents writes to it since). If somebody else was faster, the names are swapped back and the caller gets
`Stale`. So no write can slip between a check and the act, and nothing that anybody wrote is destroyed unread: a file
that can be put in neither place stays beside the target as `name.conflict-<token>.ext`, and the error names it
(`kept`).

`retract` undoes a change from whichever phase it had reached, also in another process after a crash, and leaves alone
whatever is neither `old` nor `new`. After a crash a temporary name may hold the only copy of what was displaced: record
every token in the journal before `exchange` or `displace`, and let recovery `retract` or `peek` before `sweep`.

If the file system cannot exchange names, the target is compared and then replaced with a plain rename: a write in the
microseconds between is then lost. A replacement keeps permission bits, extended attributes (including access lists),
and, if permitted, the owner.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.errors import RedraftError, Refused
from redraft.files import syscalls
from redraft.files.file_image import PlacedFile, stamp_of
from redraft.files.swap_file import SwapFile, is_unfinished
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from redraft.files.file_image import FileStamp
    from redraft.files.paths import DocPath
    from redraft.files.root import Root


def new_token() -> str:
    """A unique token for one write."""
    return os.urandom(8).hex()


class AtomicWrite:
    """The phases of one file's change. Not shared between threads; any number may be in progress at once.

    A phase that raises `Refused` or `Busy` has left the target as it was and no temporary file. After an `io_error` the
    disk may have refused to revert as well: then call `retract` again.
    """

    __slots__ = ("_displaced", "_done", "_slot", "path")

    def __init__(self, root: Root, path: DocPath, token: str, *, create_folders: bool = False) -> None:
        self.path = path
        self._slot = SwapFile(root, path, token, create_folders=create_folders)
        self._displaced: FileStamp | None = None
        # Whether the change is made; None while unknown: before the first phase, and within a step.
        self._done: bool | None = None

    @property
    def made(self) -> tuple[DocPath, ...]:
        """The folders created on the way, outermost first, for `Root.remove_empty_folders` if the file is not
        created."""
        return self._slot.made

    def close(self) -> None:
        """Close the folder; a temporary file that was neither used nor discarded stays."""
        self._slot.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Forward

    def prepare(self, new: bytes, *, mode: int | None = None) -> None:
        """Write `new` beside the target, with the target's mode unless one is given.

        Writing to the disk starts at once, so that what the caller does before `flush` costs little extra time.
        """
        with explain_os_errors("write", self.path):
            self._slot.fill_temp(new, mode)
        self._done = False

    def hold(self, old: bytes) -> None:
        """Compare a large target with `old` while the new content is written, and keep it unchanged until `exchange`.

        Anybody who opens it for writing meanwhile has to wait. This is an optimisation: if it cannot be held,
        `exchange` compares what it displaced.
        """
        self._slot.hold(old)

    def flush(self) -> None:
        """Make the prepared content durable, which must happen before it gets its name. `exchange` and `place` ensure
        it."""
        with explain_os_errors("write", self.path):
            self._slot.flush()

    def exchange(self, old: bytes, new: bytes, *, looked: bool = False) -> None:
        """Put the prepared `new` in place of `old`; if anything else is there, raise `Stale` and leave all as it was.

        `looked` means that the caller compared the target with `old` just before preparing.
        """
        slot = self._slot
        self.flush()
        with explain_os_errors("write", self.path):
            try:
                # This does not decide, but it hides from everybody a change that comes too late anyway.
                slot.check_target(old, looked=looked)
                self._done = None
                slot.swap()
            except syscalls.Unsupported:
                self._overwrite(old)
                self._done = True
                return
            except OSError as error:
                self._withdraw()
                if isinstance(error, FileNotFoundError):
                    raise slot.gone_error() from error
                raise
            except RedraftError:
                self._withdraw()
                raise
            try:
                self._check_displaced(old)
            except BaseException as error:
                _name_copy(slot.swap_back(new, None).kept, error)
                self._done = False
                raise
            self._done = True

    def place(self) -> None:
        """Give the prepared file its name, never overwriting another."""
        self.flush()
        with explain_os_errors("create", self.path):
            self._done = None
            try:
                self._slot.bring()
            except OSError as error:
                self._withdraw()
                if isinstance(error, FileExistsError):
                    raise Refused(f"{self.path} already exists.", code="already_exists", path=self.path) from error
                raise
            self._done = True

    def displace(self, old: bytes) -> None:
        """Remove the target; if it is anything but `old`, raise `Stale` and leave all as it was."""
        slot = self._slot
        with explain_os_errors("delete", self.path):
            self._done = False
            slot.check_target(old)
            try:
                slot.set_aside()
            except FileNotFoundError as error:
                raise slot.gone_error() from error
            self._done = None
            try:
                self._check_displaced(old)
            except BaseException as error:
                _name_copy(slot.bring_back(None).kept, error)
                self._done = False
                raise
            self._done = True

    def sync(self) -> None:
        """Make the names in the folder durable."""
        with explain_os_errors("write", self.path):
            os.fsync(self._slot.fd)

    def find_placed_file(self) -> PlacedFile | None:
        """The file that was placed, if it is still there as it was written and named."""
        written = self._slot.written
        try:
            found = os.stat(self._slot.name, dir_fd=self._slot.fd, follow_symlinks=False)
        except OSError:
            return None
        stamp = stamp_of(found)
        return PlacedFile(stamp, stat.S_IMODE(found.st_mode)) if stamp == written else None

    def discard(self) -> DocPath | None:
        """Remove the temporary name, if it is there; call this when the change is durable and recorded.

        A displaced file that was written to after it was compared (by a program that had looked it up just before, and
        opened it just after) is kept as a conflict copy instead, whose path is returned.
        """
        displaced, self._displaced = self._displaced, None
        with suppress(OSError):
            if displaced is not None and self._slot.temp_changed_since(displaced):
                return self._slot.keep_copy()
            self._slot.drop_displaced(displaced)
        return None

    # Back

    def peek(self) -> bytes | None:
        """The content of the temporary name: the prepared file, or after `exchange` and `displace` the displaced
        one."""
        with explain_os_errors("read", self.path):
            return self._slot.read(self._slot.temp)

    def retract(self, *, old: bytes | None, new: bytes | None) -> bool:
        """Undo a change from `old` to `new` (None: no file) from whichever phase it had reached; no temporary file is
        left.

        Returns whether the target is now `old`. If not, somebody else's content is there, and is left alone.
        """
        self._displaced = None
        with explain_os_errors("restore", self.path):
            if self._done is False:
                # What is there is not ours, even if it equals what we were going to write.
                self._slot.drop_temp()
                return self._slot.target_is(old)
            temp = self._slot.read(self._slot.temp)
            if new is None:
                return self._retract_deletion(old, temp)
            if temp is not None and is_unfinished(temp, new) and not self._slot.target_is(new):
                # Prepared, perhaps incompletely, and not exchanged or placed.
                self._slot.drop_temp()
                return self._slot.target_is(old)
            if old is None:
                return self._retract_creation(new)
            if temp is None or temp == new:  # discarded already, or overwritten where names cannot be exchanged
                self._slot.drop_temp()
                return self._slot.target_is(old) or self._rewrite(new, old)
            return self._slot.swap_back(new, old).restored and temp == old

    def _rewrite(self, new: bytes, old: bytes) -> bool:
        try:
            self.prepare(old)
            self.exchange(new, old)
        except Refused:
            self._slot.drop_temp()
            return False
        self.discard()
        return True

    def _retract_creation(self, new: bytes) -> bool:
        # If names are moved with link and unlink, the temporary name may still be a second name of the target.
        self._slot.drop_temp()
        try:
            self.displace(new)
        except Refused:
            return self._slot.target_is(None)
        self.discard()
        return True

    def _retract_deletion(self, old: bytes | None, temp: bytes | None) -> bool:
        slot = self._slot
        if temp is None:
            if old is None or not slot.target_is(None):
                return slot.target_is(old)
            slot.fill_temp(old, None)
            slot.flush()
        try:
            slot.bring()
        except FileExistsError:
            if temp in {None, old}:
                slot.drop_temp()
            else:
                slot.keep_copy()
        return slot.target_is(old)

    # The steps between

    def _withdraw(self) -> None:
        """Drop what was prepared: nothing has changed, and nothing will."""
        self._done = False
        self._slot.drop_temp()

    def _check_displaced(self, old: bytes) -> None:
        self._displaced = self._slot.verify_displaced(old)
        if self._displaced is None:
            raise self._slot.changed_error()

    def _overwrite(self, old: bytes) -> None:
        slot = self._slot
        try:
            if slot.verify_content(slot.name, old) is None:
                raise slot.changed_error()
            slot.overwrite()
        except BaseException:
            slot.drop_temp()
            raise


def _name_copy(copy: DocPath | None, error: BaseException) -> None:
    if copy is not None and isinstance(error, RedraftError):
        error.details["kept"] = copy


# A file written atomically and durably without a journal between the phases of `atomic_write`.
#
# `write_file` writes into a folder that may be hostile; `write_private` a file of the person's own, outside of any.


def write_file(
    root: Root, path: DocPath, data: bytes, *, expected: bytes | None, mode: int | None = None
) -> DocPath | None:
    """Replace `expected` (None to create the file) with `data`. Returns a conflict copy's path, if there is one."""
    with AtomicWrite(root, path, new_token(), create_folders=expected is None) as put:
        try:
            put.prepare(data, mode=mode)
            if expected is None:
                put.place()
            else:
                put.hold(expected)
                put.exchange(expected, data)
            put.sync()
        except BaseException:
            with suppress(RedraftError):
                put.retract(old=expected, new=data)
            root.remove_empty_folders(put.made)
            raise
        return put.discard()


def write_private(path: str, text: str, *, mode: int = 0o600) -> None:
    """Replace a file atomically, by default one that only its owner can read."""
    new = f"{path}.{os.getpid()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with open(os.open(new, flags, mode), "w", encoding="utf-8", newline="") as file:
        os.fchmod(file.fileno(), mode)  # whatever the umask
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
