"""What a program sees of a folder: its files at one moment, kept for as long as the view exists.

Every text is copied into the view's `base`, so that the program reads one state of the folder whatever others do
meanwhile, and so that its changes can be compared with exactly what it saw. The base is one file, since creating
thousands of small ones takes seconds on a busy disk; the sandbox unpacks it in memory. Files that are not text, or too
large, are not copied: their marks are noted, and if one changes meanwhile, what the program saw is no longer known. A
secret is not in the view. Version control's data is shown as it is, and never read here.
"""

from __future__ import annotations

import json
import os
import stat
import time
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

from redraft.errors import RedraftError
from redraft.files.file_image import READ_FLAGS
from redraft.files.paths import DocPath, is_internal_name, join_path
from redraft.files.secret_detection import SECRET_HEAD, is_secret_content, is_secret_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redraft.files.root import Root

# More text than this is not copied; copying such a folder would take too long.
MOST_BYTES = 256 * 1024 * 1024
_COPY_BYTES = 1 << 24
_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
FileKind = Literal["text", "other", "hidden"]


class BaseFile(NamedTuple):
    """One file as it was. A `text` has its copy in the base, `at` that offset; `hidden` means that the program does not
    see it."""

    kind: FileKind
    mode: int
    size: int
    mtime_ns: int
    at: int = 0

    def read(self, base: BinaryIO) -> bytes:
        """The content of a text."""
        base.seek(self.at)
        return base.read(self.size)


class ShownDocument(NamedTuple):
    """A document that is shown as the person sees it, not as on disk: with unsaved changes."""

    data: bytes
    mode: int | None


@dataclass(slots=True)
class BaseFiles:
    """The files by path. `links` and `internal` are recorded for a view that is a copy: the targets of links, and the
    size and time of files that belong to version control or to us."""

    files: dict[str, BaseFile]
    links: dict[str, str] = field(default_factory=dict[str, str])
    internal: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    _sorted: list[str] = field(default_factory=list[str])

    def beneath(self, folder: str) -> list[str]:
        """The files in a folder, at any depth."""
        if len(self._sorted) != len(self.files):
            self._sorted = sorted(self.files)
        start = folder + "/"
        first = bisect_left(self._sorted, start)
        return self._sorted[first : bisect_left(self._sorted, folder + "0", first)]  # "0" is what follows "/"

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"files": self.files, "links": self.links, "internal": self.internal}, file)

    @staticmethod
    def load(path: str) -> BaseFiles:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        files = {name: BaseFile(*values) for name, values in data["files"].items()}
        return BaseFiles(files, data["links"], {name: (size, at) for name, (size, at) in data["internal"].items()})


class BaseWriter:
    """Copies the texts of a folder into the base of a view, and records all its files."""

    def __init__(self, root: Root, base: BinaryIO, shown: Mapping[str, ShownDocument | None], limit: int) -> None:
        """`shown` are the documents that differ from the disk, None for those that must not be seen; `limit` is how
        large a document may be."""
        self._root = root
        self._base = base
        self._shown = shown
        self._limit = limit
        self._size = 0
        self._files: dict[str, BaseFile] = {}

    def write(self) -> BaseFiles:
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                fd = self._root.open_folder(folder)
            except RedraftError:
                continue  # deleted meanwhile, or not readable for us
            try:
                waiting += self._write_folder(fd, folder)
            finally:
                os.close(fd)
        for path, document in self._shown.items():
            if path not in self._files and document is not None:
                self._put_shown(path, document)
        return BaseFiles(self._files)

    def _write_folder(self, fd: int, folder: str) -> list[str]:
        inner: list[str] = []
        with os.scandir(fd) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    if not is_internal_name(entry.name):
                        inner.append(join_path(folder, entry.name))
                elif entry.is_file(follow_symlinks=False) and not is_internal_name(entry.name):
                    with suppress(FileNotFoundError):  # deleted meanwhile
                        self._write_file(fd, entry.name, join_path(folder, entry.name))
        return inner

    def _write_file(self, folder: int, name: str, path: DocPath) -> None:
        if path in self._shown:
            document = self._shown[path]
            if document is None:
                self._note(path, "hidden", os.stat(name, dir_fd=folder, follow_symlinks=False))
            else:
                self._put_shown(path, document)
            return
        try:
            fd = os.open(name, READ_FLAGS, dir_fd=folder)
        except OSError:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            self._note(path, "other", found)  # neither we nor the program may read it
            return
        try:
            found = os.fstat(fd)
            whole = found.st_size <= self._limit
            data = _read(fd, found.st_size if whole else SECRET_HEAD)
        finally:
            os.close(fd)
        if is_secret_name(path) or is_secret_content(data) or self._root.secret_links.has_secret_name(found):
            self._note(path, "hidden", found)
        elif not whole or b"\0" in data or self._size + len(data) > MOST_BYTES:
            self._note(path, "other", found)
        else:
            self._put(path, data, stat.S_IMODE(found.st_mode), found.st_mtime_ns)

    def _note(self, path: str, kind: FileKind, found: os.stat_result) -> None:
        self._files[path] = BaseFile(kind, stat.S_IMODE(found.st_mode), found.st_size, found.st_mtime_ns)

    def _put_shown(self, path: str, document: ShownDocument) -> None:
        self._put(path, document.data, 0o644 if document.mode is None else document.mode, time.time_ns())

    def _put(self, path: str, data: bytes, mode: int, mtime_ns: int) -> None:
        self._files[path] = BaseFile("text", mode, len(data), mtime_ns, self._size)
        self._base.write(data)
        self._size += len(data)


class CopyWriter:
    """Creates a view that is a copy: from the base for texts in it, else from the folder."""

    def __init__(self, root: Root, base: BinaryIO, copy: str, files: BaseFiles) -> None:
        self._root = root
        self._base = base
        self._copy = copy
        self._files = files

    def write(self) -> None:
        waiting: list[tuple[str, bool]] = [("", False)]
        while waiting:
            folder, internal = waiting.pop()
            with suppress(RedraftError):
                waiting += self._copy_folder(folder, internal)
        for path, file in self._files.files.items():
            if file.kind == "text" and not os.path.lexists(f"{self._copy}/{path}"):
                os.makedirs(os.path.dirname(f"{self._copy}/{path}"), exist_ok=True)
                self._copy_text(path, file)
            elif file.kind == "other" and not os.path.lexists(f"{self._copy}/{path}"):
                self._files.files[path] = file._replace(kind="hidden")  # it could not be read

    def _copy_folder(self, folder: str, internal: bool) -> Iterator[tuple[str, bool]]:
        inner: list[tuple[str, bool]] = []
        fd = self._root.open_folder(folder)
        try:
            with os.scandir(fd) as found:
                for entry in found:
                    path = join_path(folder, entry.name)
                    here = internal or is_internal_name(entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        os.mkdir(f"{self._copy}/{path}")
                        inner.append((path, here))
                    elif entry.is_symlink():
                        self._files.links[path] = os.readlink(entry.name, dir_fd=fd)
                        os.symlink(self._files.links[path], f"{self._copy}/{path}")
                    elif entry.is_file(follow_symlinks=False):
                        with suppress(FileNotFoundError, PermissionError):
                            self._copy_file(fd, entry.name, path, here)
        finally:
            os.close(fd)
        return iter(inner)

    def _copy_file(self, folder: int, name: str, path: str, internal: bool) -> None:
        known = self._files.files.get(path)
        if known is not None and known.kind == "text":
            self._copy_text(path, known)
        elif internal or (known is not None and known.kind == "other"):
            source = os.open(name, READ_FLAGS, dir_fd=folder)
            found = self._copy_open(source, path)
            if internal:
                self._files.internal[path] = (found.st_size, found.st_mtime_ns)
            else:  # what the copy contains is what counts
                self._files.files[path] = BaseFile(
                    "other", stat.S_IMODE(found.st_mode), found.st_size, found.st_mtime_ns
                )

    def _copy_text(self, path: str, file: BaseFile) -> None:
        target = os.open(f"{self._copy}/{path}", _NEW_FLAGS, 0o600)
        try:
            _write_all(target, file.read(self._base))
            os.fchmod(target, file.mode | stat.S_IRUSR)
            os.utime(target, ns=(file.mtime_ns, file.mtime_ns))
        finally:
            os.close(target)

    def _copy_open(self, source: int, path: str) -> os.stat_result:
        """Copy an open file and close it. The disk may share the blocks of both; a hard link would be one file."""
        try:
            found = os.fstat(source)
            target = os.open(f"{self._copy}/{path}", _NEW_FLAGS, 0o600)
            try:
                _copy_bytes(source, target)
                os.fchmod(target, stat.S_IMODE(found.st_mode))
                os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
            finally:
                os.close(target)
        finally:
            os.close(source)
        return found


def _read(fd: int, size: int) -> bytes:
    parts = [os.read(fd, size + 1)]
    while sum(map(len, parts)) < size and (more := os.read(fd, size)):
        parts.append(more)
    return b"".join(parts)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _copy_bytes(source: int, target: int) -> None:
    try:
        while os.copy_file_range(source, target, _COPY_BYTES):
            pass
    except (AttributeError, OSError):  # not on this system, or not between these disks
        os.lseek(source, 0, os.SEEK_SET)
        os.lseek(target, 0, os.SEEK_SET)
        os.ftruncate(target, 0)
        while data := os.read(source, _COPY_BYTES):
            _write_all(target, data)
