"""Read the whole folder at once, as a search does: every name, every stamp, many files' bytes.

The same rules apply as for one document: nothing is read through a link, hidden and internal places do not exist, and
not a byte of a secret is returned. They are only applied in another order, because a search opens thousands of files to
show a few: `showable_text` judges what is about to be shown, and nothing may be shown that has not passed it.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import RedraftError
from redraft.files.file_image import READ_FLAGS, is_local, proves_content, settling_ns, stamp_of
from redraft.files.paths import DocPath, is_internal_name, join_path, name_fault, parse_path
from redraft.files.secret_detection import is_secret_content, is_secret_name
from redraft.files.syscalls import Unsupported
from redraft.files.textfile import BOM
from redraft.workspace.secret_gate import is_secret_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from redraft.files.inotify import Inotify
    from redraft.files.root import Root
    from redraft.workspace.engine import Engine

_FIRST_READ = 1 << 14
_PORTION = 64


class FileMark(NamedTuple):
    """Changes whenever a file is written or replaced. The kernel sets the last part, which no program can set."""

    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Folder(NamedTuple):
    """One folder and its files, sorted, each with its mark."""

    path: str
    names: list[str]
    marks: list[FileMark]


def mark_of(found: os.stat_result) -> FileMark:
    return FileMark(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def folders(root: Root, notices: Inotify | None = None) -> Iterator[Folder]:
    """Every folder with the marks of its files; `notices` receives all changes from now on. Raises `Unsupported` if
    changes could be missed."""
    local: set[int] = set()

    def listen(path: str, fd: int) -> None:
        if notices is not None:
            _listen(notices, path, fd, local)

    for path, fd, names in _walk(root, listen):
        yield Folder(path, names, _marks(fd, names))


def _walk(root: Root, entering: Callable[[str, int], None] | None = None) -> Iterator[tuple[str, int, list[str]]]:
    """Every folder, parents first, sorted: its path, a descriptor that is valid while it is the current one, and the
    names of its files. `entering` is called before its files are listed."""
    waiting = [""]
    while waiting:
        path = waiting.pop()
        try:
            fd = root.open_folder(path)
        except RedraftError:
            continue  # gone meanwhile, or not for us
        try:
            if entering is not None:
                entering(path, fd)
            names, inner, hidden = _content(fd)
            waiting.extend(join_path(path, name) for name in reversed(inner))
            if entering is not None:
                _enter_secret_folders(root, [join_path(path, name) for name in hidden], entering)
            yield path, fd, names
        finally:
            os.close(fd)


def _enter_secret_folders(root: Root, folders: Iterable[str], entering: Callable[[str, int], None]) -> None:
    """Watch a hidden folder for secrets without reading it: a file that is moved into it has to be noticed."""
    for folder in folders:
        if not is_secret_name(f"{folder}/x"):
            continue
        try:
            fd = root.open_folder(folder)
        except RedraftError:
            continue
        try:
            entering(folder, fd)
        finally:
            os.close(fd)


def _listen(notices: Inotify, path: str, fd: int, local: set[int]) -> None:
    device = os.fstat(fd).st_dev
    if device not in local:
        if not is_local(device):
            raise Unsupported
        local.add(device)
    notices.watch(path, fd)


def _content(fd: int) -> tuple[list[str], list[str], list[str]]:
    """The files, the folders and the hidden folders. File names are checked once more, and completely, by `shown`."""
    files: list[str] = []
    inner: list[str] = []
    hidden: list[str] = []
    with os.scandir(fd) as found:
        for item in found:
            name = item.name
            if name[0] == ".":
                if item.is_dir(follow_symlinks=False):
                    hidden.append(name)
                continue
            if item.is_file(follow_symlinks=False):
                if name.isascii() or name_fault(name) is None:
                    files.append(name)
            elif item.is_dir(follow_symlinks=False) and not is_internal_name(name) and name_fault(name) is None:
                inner.append(name)
    files.sort()
    inner.sort()
    return files, inner, hidden


def _marks(fd: int, names: list[str]) -> list[FileMark]:
    """The marks of these files; a file that disappeared meanwhile is also removed from the names."""
    marks: list[FileMark] = []
    gone: list[str] = []
    for name in names:
        try:
            marks.append(mark_of(os.stat(name, dir_fd=fd, follow_symlinks=False)))
        except OSError:
            gone.append(name)
    for name in gone:
        names.remove(name)
    return marks


def file_mark(root: Root, path: str) -> FileMark | None:
    """The mark of one regular file; None if there is none that could be a document."""
    try:
        with root.open_parent(DocPath(path)) as parent:
            found = os.stat(parent.name, dir_fd=parent.fd, follow_symlinks=False)
    except (RedraftError, OSError):
        return None
    return mark_of(found) if stat.S_ISREG(found.st_mode) else None


def can_be_listed(path: str) -> bool:
    """Whether `folders` would have listed this path."""
    return not (path.startswith(".") or "/." in path) and (
        path.isascii() or name_fault(path.rpartition("/")[2]) is None
    )


def can_be_searched(path: str) -> bool:
    """Whether `FolderReader.read_all` would have read this path."""
    folder = path.rpartition("/")[0]
    return can_be_listed(path) and not any(
        is_internal_name(name) or name_fault(name) is not None for name in folder.split("/") if folder
    )


class StableFile(NamedTuple):
    """A file as it was read. `proven` means that it has this content as long as it has this mark."""

    path: str
    data: bytes
    mark: FileMark
    proven: bool


class FolderReader:
    """Reads the files of one folder, many at a time. Safe to use from several threads."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def read_all(self, wanted: Callable[[str], bool] | None = None) -> Generator[list[tuple[str, bytes]]]:
        """The bytes of every wanted file without their byte order marks, in portions; unreadable files are left out. No
        link is followed, at any level. Nearly all of the time is spent in four system calls for each file."""
        for folder, fd, names in _walk(self._root):
            start = folder + "/" if folder else ""
            chosen = names if wanted is None else [name for name in names if wanted(start + name)]
            for first in range(0, len(chosen), _PORTION):
                yield _read_at(self._root, fd, start, chosen[first : first + _PORTION])

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Like `read_all`, for these files; each folder is opened once for consecutive files."""
        for folder, run in groupby(paths, lambda path: path.rpartition("/")[0]):
            start = folder + "/" if folder else ""
            try:
                fd = self._root.open_folder(folder)
            except RedraftError:
                continue
            try:
                yield from _read_at(self._root, fd, start, [path[len(start) :] for path in run])
            finally:
                os.close(fd)

    def read_stable_files(self, paths: Iterable[str]) -> Iterator[StableFile]:
        """Like `read_many`, with the mark of each content. A file that was written just now or during the read is left
        out."""
        for path in paths:
            try:
                fd = self._root.open_beneath(path, READ_FLAGS)
            except OSError:
                continue
            try:
                began = time.time_ns()
                before = os.fstat(fd)
                if self._root.secret_links.has_secret_name(before):
                    continue
                data = _content_of(fd)
                after = stamp_of(os.fstat(fd))
            except OSError:
                continue
            finally:
                os.close(fd)
            settled = began - after.ctime_ns > settling_ns(after.size, after.ctime_ns)
            if settled and after == stamp_of(before) and stat.S_ISREG(before.st_mode):
                yield StableFile(path, data, FileMark(*after[1:]), proves_content(after, began))

    @contextmanager
    def open_folder(self) -> Generator[int]:
        """The workspace's folder, as a descriptor."""
        fd = self._root.open_folder("")
        try:
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def compare_marks(self) -> Generator[Callable[[str, FileMark], bool]]:
        """Check quickly whether files still have these marks and are not secrets. By then a path may lead anywhere, but
        no other file has the same mark. Check before showing anything that was read earlier: the watch does not report
        a new name (a hard link) of a file, and if that name is a secret's, the file is one."""
        fd = self._root.open_folder("")

        def has_mark(path: str, mark: FileMark) -> bool:
            try:
                found = os.stat(path, dir_fd=fd, follow_symlinks=False)
            except OSError:
                return False
            same = mark == (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            return same and not self._root.secret_links.has_secret_name(found)

        try:
            yield has_mark
        finally:
            os.close(fd)


def _read_at(root: Root, folder: int, start: str, names: Sequence[str]) -> list[tuple[str, bytes]]:
    """Read the files of one folder, whose paths begin with `start`. Written inline for speed: it runs for every
    file."""
    found: list[tuple[str, bytes]] = []
    for name in names:
        try:
            fd = os.open(name, READ_FLAGS, dir_fd=folder)
        except OSError:
            continue
        try:
            if root.secret_links.has_secret_name(os.fstat(fd)):
                continue
            data = os.read(fd, _FIRST_READ)
            if len(data) == _FIRST_READ:
                data += _rest_of(fd)
        except OSError:
            continue
        finally:
            os.close(fd)
        found.append((start + name, data[3:] if data[:3] == BOM else data))
    return found


def _content_of(fd: int) -> bytes:
    data = os.read(fd, _FIRST_READ)
    if len(data) == _FIRST_READ:
        data += _rest_of(fd)
    return data[3:] if data.startswith(BOM) else data


def _rest_of(fd: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def showable_text(path: str, data: bytes) -> str | None:
    """The text in `data` if it may be shown: a document's name, no secret, UTF-8 without NUL. Otherwise None."""
    if b"\0" in data or is_secret_name(path) or is_secret_content(data):
        return None
    try:
        parse_path(path)
        return str(data, "utf-8")
    except (RedraftError, UnicodeDecodeError):
        return None


class Drafts(NamedTuple):
    """The working texts of documents under review or unsaved, and the paths on disk that they replace."""

    texts: dict[str, str]
    covered: set[str]


def working_drafts(engine: Engine) -> Drafts:
    """The current drafts. The caller must have the workspace to itself."""
    texts: dict[str, str] = {}
    hidden: set[str] = set()
    for draft in engine.documents.drafts():
        hidden.update(path for path in (draft.path, draft.base_path) if path is not None)
        if draft.path is not None and can_be_listed(draft.path) and not is_secret_draft(engine.root, draft):
            texts[draft.path] = draft.review.working
    return Drafts(texts, hidden)
