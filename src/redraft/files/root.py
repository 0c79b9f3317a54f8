"""The folder that a person opened, held by a descriptor: every name is resolved below it, in one step, without links.

A path is looked up once and the result is a descriptor; the checks (a regular file? how many names has it?) are
made on that descriptor, never on the name again, so that swapping a component for a link in between gains
nothing. With `openat2` the kernel confines a lookup to the folder; without it, the components are opened one by one
with `O_NOFOLLOW`. Both refuse every symbolic link, also one that would stay inside.

What this cannot see: a folder that somebody moves out of the tree while it is held open, and a hard link to a file
outside, when it is only read. Writes refuse files with several names.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import RedraftError, Refused
from redraft.files import file_image, syscalls
from redraft.files.file_image import READ_FLAGS, FileImage, FileStamp, flags_of, read_open, stamp_of
from redraft.files.paths import DocPath, is_internal_name, join_path, parse_path, split_path
from redraft.files.secret_detection import is_secret_name, secret_error
from redraft.files.syscalls import explain, explain_os_errors, through_link

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from types import TracebackType
    from typing import Self


FOLDER_FLAGS = flags_of("O_RDONLY", "O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY")
_HOLD_FLAGS = flags_of("O_PATH", "O_CLOEXEC", "O_DIRECTORY")


class Parent(NamedTuple):
    """An open folder, a name in it, and the folders that were created to get there (outermost first)."""

    fd: int
    name: str
    made: tuple[DocPath, ...]


class Root:
    """A folder and the files in it. Safe to share between threads; close it when done."""

    __slots__ = ("_fd", "folder", "secret_links")

    def __init__(self, fd: int, folder: str) -> None:
        self._fd = fd
        self.folder = folder
        self.secret_links = SecretLinks(self.open_folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Root:
        """Hold `folder`; if it is itself reached through links, that was the person's choice."""
        name = os.fspath(folder)
        file_image.forget_file_systems()
        with explain_os_errors("open", name):
            return cls(os.open(name, _HOLD_FLAGS), name)

    def close(self) -> None:
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading

    def read(self, path: DocPath, *, limit: int | None = None) -> FileImage:
        """The whole content of one regular file, with the stamp of the same descriptor."""
        with explain_os_errors("read", path):
            fd = self.open_beneath(path, READ_FLAGS)
            try:
                return read_open(fd, path, limit)
            finally:
                os.close(fd)

    def stamp(self, path: DocPath) -> FileStamp | None:
        """The stamp of the regular file or folder there; None if there is nothing."""
        found = self._status(path)
        return None if found is None else stamp_of(found)

    def is_that_file(self, path: DocPath, stamp: FileStamp) -> bool:
        """Whether the file there is the one that had this stamp. File systems give a new file the number of a deleted
        one at once, but it was created later than the other was changed, if that time is known."""
        try:
            with self.open_parent(path) as parent:
                found = os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)
                created = syscalls.birth_time_ns(parent.fd, parent.name)
        except (RedraftError, OSError):
            return False
        same = (found.st_dev, found.st_ino) == (stamp.dev, stamp.ino)
        return same and (created is None or created <= stamp.ctime_ns or stamp.ctime_ns < 0)

    def is_newer(self, path: DocPath, stamp: FileStamp) -> bool:
        """Whether the file there was created after the one that had this stamp was changed, if that time is known."""
        try:
            with self.open_parent(path) as parent:
                created = syscalls.birth_time_ns(parent.fd, parent.name)
        except (RedraftError, OSError):
            return False
        return created is None or created > stamp.ctime_ns

    def is_secret_link(self, path: DocPath) -> bool:
        """Whether the file there is another name of a secret in the folder."""
        try:
            found = self._status(path)
        except RedraftError:
            return False  # a link or something else: whoever reads it gets the error
        return found is not None and stat.S_ISREG(found.st_mode) and self.secret_links.has_secret_name(found)

    def exists(self, path: DocPath) -> bool:
        return self._status(path) is not None

    def is_folder(self, path: DocPath) -> bool:
        found = self._status(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def is_replaced(self, path: DocPath) -> bool:
        """Whether a link or a folder lies where a file should be."""
        try:
            return self.is_folder(path)
        except RedraftError as error:
            return error.code == "outside_folder"  # a link, here or on the way

    def is_empty_folder(self, path: DocPath) -> bool:
        try:
            return self.is_folder(path) and not self.names_in(path)
        except RedraftError:
            return False  # a link, here or on the way

    def _status(self, path: DocPath) -> os.stat_result | None:
        try:
            with self.open_parent(path) as parent:
                found = os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)
        except RedraftError as error:
            if error.code == "not_found":
                return None
            raise
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise explain(error, "look at", path) from error
        if stat.S_ISLNK(found.st_mode):
            raise through_link(path)
        return found

    # Folders

    @contextmanager
    def open_parent(self, path: DocPath, *, create: bool = False) -> Generator[Parent]:
        """The open folder that contains `path`; with `create`, missing folders are created first, durably."""
        parent = self.hold_parent(path, create=create)
        try:
            yield parent
        finally:
            os.close(parent.fd)

    def hold_parent(self, path: DocPath, *, create: bool = False) -> Parent:
        """Like `open_parent`, but the caller closes the descriptor."""
        folder, name = split_path(path)
        try:
            return Parent(self.open_folder(folder), name, ())
        except RedraftError as error:
            if not create or error.code != "not_found":
                raise
        fd, made = self._make_folders(folder)
        return Parent(fd, name, made)

    def open_folder(self, folder: str) -> int:
        """A descriptor of a folder ("" is the root) that can be listed and synced; the caller closes it."""
        with explain_os_errors("open", folder or self.folder):
            return self.open_beneath(folder, FOLDER_FLAGS) if folder else os.open(".", FOLDER_FLAGS, dir_fd=self._fd)

    def make_folder(self, path: DocPath) -> tuple[DocPath, ...]:
        """Create the folder and its parents; returns what was created, outermost first (nothing if it existed)."""
        try:
            fd = self.open_folder(path)
            made: tuple[DocPath, ...] = ()
        except RedraftError as error:
            if error.code != "not_found":
                raise
            fd, made = self._make_folders(path)
        os.close(fd)
        return made

    def _make_folders(self, folder: str) -> tuple[int, tuple[DocPath, ...]]:
        made: list[DocPath] = []
        here = ""
        with explain_os_errors("create", folder):
            fd = os.open(".", FOLDER_FLAGS, dir_fd=self._fd)
            try:
                for name in folder.split("/"):
                    here = join_path(here, name)
                    inner, new = _enter_or_make(fd, name, here)
                    os.close(fd)
                    fd = inner
                    if new:
                        made.append(here)
            except BaseException:
                os.close(fd)
                self.remove_empty_folders(made)
                raise
        return fd, tuple(made)

    def names_in(self, folder: DocPath) -> list[DocPath]:
        """The paths of everything in a folder, of every kind."""
        fd = self.open_folder(folder)
        try:
            with explain_os_errors("list", folder):
                return [join_path(folder, name) for name in os.listdir(fd)]
        finally:
            os.close(fd)

    def remove_folder(self, path: DocPath) -> None:
        """Remove an empty folder; raises `conflict` if something is in it."""
        with self.open_parent(path) as parent, explain_os_errors("remove", path):
            try:
                os.rmdir(parent.name, dir_fd=parent.fd)
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
                raise Refused(f"{path} is not empty.", code="conflict", path=path) from error
            os.fsync(parent.fd)

    def remove_empty_folders(self, made: Sequence[DocPath]) -> None:
        """Remove folders created for a file that was not: the innermost first, and only while they are empty."""
        for path in reversed(made):
            try:
                self.remove_folder(path)
            except RedraftError:
                return

    # Resolving

    def open_beneath(self, path: str, flags: int) -> int:
        """A descriptor of `path`; raises OSError ELOOP if a link is in the way."""
        if "/" not in path:
            return _open_one(self._fd, path, flags)
        try:
            return syscalls.openat2_beneath(self._fd, path, flags)
        except syscalls.Unsupported:
            return self._walk(path, flags)

    def _walk(self, path: str, flags: int) -> int:
        *folders, name = path.split("/")
        fd = self._fd
        try:
            for folder in folders:
                inner = _open_one(fd, folder, _HOLD_FLAGS | FOLDER_FLAGS)
                if fd != self._fd:
                    os.close(fd)
                fd = inner
            return _open_one(fd, name, flags)
        finally:
            if fd != self._fd:
                os.close(fd)


def _open_one(dir_fd: int, name: str, flags: int) -> int:
    """Open one component without following it; a link is always ELOOP, even where the system says ENOTDIR."""
    try:
        return os.open(name, flags, dir_fd=dir_fd)
    except NotADirectoryError:
        # Only the message depends on this second look.
        if stat.S_ISLNK(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def _enter_or_make(dir_fd: int, name: str, path: DocPath) -> tuple[int, bool]:
    try:
        return _open_one(dir_fd, name, FOLDER_FLAGS), False
    except FileNotFoundError:
        pass
    except NotADirectoryError as error:
        raise Refused(f"{path} is a file, not a folder.", code="already_exists", path=path) from error
    try:
        os.mkdir(name, dir_fd=dir_fd)
        new = True
    except FileExistsError:
        new = False
    try:
        os.fsync(dir_fd)
        return _open_one(dir_fd, name, FOLDER_FLAGS), new
    except BaseException:
        if new:
            with suppress(OSError):
                os.rmdir(name, dir_fd=dir_fd)
        raise


# Secrets that are recognised by what is on the disk, when the name does not say so. A missing file may have been
# renamed to a secret's name by another program, alone or with its folder. And what looks like a document may be another
# name (a hard link) of a secret. The file itself reveals both, wherever in the folder it is, in hidden places too. A
# hard link to a secret outside the folder cannot be detected.

# A new name changes the times of its file, which is noticed at once. Only renaming a folder with another name of it
# into a secret's place does not; that is noticed after this many seconds.
LINKS_SECONDS = 10.0
# The kernel's clock for files lags a few milliseconds behind the one that we read.
CLOCK_TICK_NS = 20_000_000


class ListedFile(NamedTuple):
    """A regular file of the folder."""

    path: DocPath
    status: os.stat_result


def walk_files(open_folder: Callable[[str], int]) -> Iterator[ListedFile]:
    """Every regular file, hidden ones too, except version control's and ours. No link is followed."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        files, inner = list_files(open_folder, folder)
        yield from files
        waiting += inner


def list_files(open_folder: Callable[[str], int], folder: str) -> tuple[list[ListedFile], list[str]]:
    """The regular files in one folder, and its subfolders; nothing if it cannot be read."""
    files: list[ListedFile] = []
    inner: list[str] = []
    try:
        fd = open_folder(folder)
    except RedraftError:
        return files, inner
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not is_internal_name(entry.name):
                        inner.append(join_path(folder, entry.name))
                elif entry.is_file(follow_symlinks=False):
                    files.append(ListedFile(join_path(folder, entry.name), entry.stat(follow_symlinks=False)))
    except OSError:
        pass  # it changes while it is listed: what was found so far counts
    finally:
        os.close(fd)
    return files, inner


class SecretLinks:
    """Which files with several names have a secret's name among them. Usable from any thread."""

    def __init__(self, open_folder: Callable[[str], int]) -> None:
        self._open_folder = open_folder
        self._lock = threading.Lock()
        self._secrets: set[tuple[int, int]] = set()
        self._looked_ns = 0
        self._until = 0.0

    def has_secret_name(self, status: os.stat_result) -> bool:
        """Whether one of the file's names in the folder is a secret's. Costs nothing if it has only one name."""
        if status.st_nlink < 2:
            return False
        with self._lock:
            if time.monotonic() > self._until or status.st_ctime_ns >= self._looked_ns:
                self._look()
            return (status.st_dev, status.st_ino) in self._secrets

    def _look(self) -> None:
        began = time.time_ns()
        names: dict[tuple[int, int], list[DocPath]] = {}
        for path, status in walk_files(self._open_folder):
            if status.st_nlink > 1:
                names.setdefault((status.st_dev, status.st_ino), []).append(path)
        # Judging a name takes longer than finding it. Most files with several names have the others elsewhere.
        self._secrets = {
            file for file, paths in names.items() if len(paths) > 1 and any(is_secret_name(path) for path in paths)
        }
        self._looked_ns, self._until = began - CLOCK_TICK_NS, time.monotonic() + LINKS_SECONDS


# Hard links to secrets, for programs that read a file anywhere, without an open workspace.
#
# The disk tells which folder to search for the other names: the widest one around the file that is a project of the
# person's, or in which the program was started.


# What is in a project's top folder. A second working tree of a repository has a file named `.git`.
_MARKS = (".git", ".redraft", ".agent-doc")


def check_not_secret_link(file: str) -> None:
    """Refuse a file that is another name of a secret in its project. Costs nothing if it has only one name."""
    real = os.path.realpath(file)
    try:
        found = os.lstat(real)
    except (OSError, ValueError):
        return  # whoever reads it gets the error
    if not stat.S_ISREG(found.st_mode) or found.st_nlink < 2:
        return
    folder = _project_around(os.path.dirname(real))
    with Root.open(folder) as root:
        if root.is_secret_link(parse_path(os.path.relpath(real, folder))):
            raise secret_error(os.path.basename(real))


def _project_around(folder: str) -> str:
    """The widest folder around this one, itself included, with a project file of the person's own, or which is the
    current one. What somebody else has put above, in a shared folder, makes nothing a project."""
    here, widest = os.path.realpath(os.curdir), folder
    while (above := os.path.dirname(folder)) != folder:
        if folder == here or any(_is_own(os.path.join(folder, mark)) for mark in _MARKS):
            widest = folder
        folder = above
    return widest


def _is_own(path: str) -> bool:
    with suppress(OSError):
        return os.lstat(path).st_uid == os.geteuid()
    return False
