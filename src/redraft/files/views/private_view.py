"""A private view of a folder: a program reads and writes there as if it were the folder, which stays as it is.

Its life: `open` freezes what the program sees and finds out how it can be isolated; `command_line` says how to start a
program in it; `changes` reports what happened to the files, also after a crash or in another process (`load`); `close`
removes it. Everything is in one folder of ours, `place`:

    base             the texts as they were, to compare the program's work with
    upper/, work/    with overlayfs: what the program changed (the base, unpacked in `lower/`, and the real folder are
                     the layers below)
    copy/            otherwise: the view itself
    tmp/             the program's /tmp
    view.json, files.json, spec.json, report, lock
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from redraft.errors import Busy, RedraftError, Refused
from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock
from redraft.files.paths import DocPath, is_internal, join_path
from redraft.files.root import Root
from redraft.files.syscalls import explain_os_errors
from redraft.files.views import sandbox
from redraft.files.views.base_files import BaseFiles, BaseWriter, CopyWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from redraft.files.file_image import FileImage
    from redraft.files.views.base_files import BaseFile, ShownDocument

How = Literal["overlay", "copy"]
Confinement = Literal["namespace", "landlock", "none"]
NowKind = Literal["file", "gone", "link", "other"]
LOCK = "lock"
CHECK_SECONDS = 30
# At most this many changed files of version control are listed; an agent's commit creates hundreds.
MOST_INTERNAL = 1000


@dataclass(slots=True)
class ViewRecord:
    """What is known about a view: who works in it and how, and afterwards how it ended and what became of it."""

    id: str
    folder: str
    name: str
    command: list[str]
    title: str
    started: float
    how: How = "copy"
    confinement: Confinement = "none"
    unconfined_because: str = ""
    unfinished: str = "interrupted"  # until known otherwise
    turn: int | None = None
    left: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class ViewChange(NamedTuple):
    """A path that differs from what the program saw: the file that was there, and what is there now."""

    path: str
    was: BaseFile | None
    now: NowKind


class ViewOptions(NamedTuple):
    """How to create a view. `writable` are the places outside of it that the program may write to, `hidden` those that
    it must not see; `document_bytes` is how large a document may be, `size` how much the program may write."""

    how: Literal["auto", "copy"]
    confined: bool
    writable: Sequence[str]
    hidden: Sequence[str]
    document_bytes: int
    size: int


class ProgramStatus(NamedTuple):
    """How a program ended: with an exit status, or by a signal; or why it did not start."""

    status: int | None = None
    signal: int | None = None
    failed: str = ""
    not_started: str = ""


class PrivateView:
    """See above. One process at a time works with a view; others may ask whether it is in use."""

    def __init__(self, place: str, record: ViewRecord) -> None:
        self.place = place
        self.record = record
        self._files: BaseFiles | None = None

    @classmethod
    def open(
        cls,
        place: str,
        root: Root,
        record: ViewRecord,
        shown: Mapping[str, ShownDocument | None],
        options: ViewOptions,
    ) -> PrivateView:
        """Create a view of the folder as it is now."""
        view = cls(place, record)
        try:
            with explain_os_errors("make", "a private view"):
                for name in ("", "lower", "upper", "work", "copy", "tmp"):
                    os.mkdir(os.path.join(place, name), 0o700)
                for name in ("upper", "copy"):
                    os.chmod(view._at(name), stat.S_IMODE(os.stat(record.folder).st_mode) | stat.S_IRWXU)
                view._choose_means(options)
                with open(view._at("base"), "xb") as base:
                    files = BaseWriter(root, base, shown, options.document_bytes).write()
                if record.how == "copy":
                    with open(view._at("base"), "rb") as base:
                        CopyWriter(root, base, view._at("copy"), files).write()
                files.save(view._at("files.json"))
                view._files = files
                view.save()
        except BaseException:
            view.close()
            raise
        return view

    @classmethod
    def load(cls, place: str) -> PrivateView:
        """An existing view, perhaps created by a process that is gone."""
        try:
            with open(os.path.join(place, "view.json"), encoding="utf-8") as file:
                data = json.load(file)
            known = {entry.name for entry in fields(ViewRecord)}
            record = ViewRecord(**{name: value for name, value in data.items() if name in known})
            record.left = [(path, reason) for path, reason in record.left]
        except (OSError, ValueError, TypeError) as error:
            raise Refused(f"The view in {place} cannot be read.", code="not_found", view=place) from error
        return cls(place, record)

    def save(self) -> None:
        with explain_os_errors("write", "view.json"):
            write_private(self._at("view.json"), json.dumps(asdict(self.record)))

    def close(self) -> None:
        """Remove it."""
        remove_view(self.place)

    def hold(self) -> AbstractContextManager[None]:
        """Mark the view as in use, for as long as this process lives."""
        return folder_lock(self.place, LOCK, timeout=0)

    @property
    def is_in_use(self) -> bool:
        try:
            with self.hold():
                return False
        except Busy:
            return True

    def _at(self, name: str) -> str:
        return os.path.join(self.place, name)

    # Running a program

    @property
    def path(self) -> str:
        """Where the program finds the folder: at its usual path, or in the copy."""
        return self.record.folder if self.record.confinement == "namespace" else self._at("copy")

    @property
    def temporary_folder(self) -> str:
        """Where the program finds its private temporary folder."""
        return "/tmp" if self.record.confinement == "namespace" else self._at("tmp")  # noqa: S108

    def directory(self, inner: str) -> str:
        """Where the program finds a subfolder."""
        return os.path.normpath(os.path.join(self.path, inner))

    def command_line(self, command: Sequence[str], *, directory: str = "") -> list[str]:
        """How to start a program in the view, in one of its folders. It ends when the process that starts it does."""
        with open(self._at("spec.json"), encoding="utf-8") as file:
            spec = json.load(file)
        self._write_spec({**spec, "parent": os.getpid(), "directory": self.directory(directory)})
        with suppress(FileNotFoundError):
            os.unlink(self._at("report"))
        return [*_sandbox_program(), self._at("spec.json"), *command]

    @property
    def has_started(self) -> bool:
        """Whether the program itself runs, or did."""
        with suppress(OSError):
            return os.path.getsize(self._at("report")) > 0
        return False

    def read_end(self) -> ProgramStatus:
        """How the program ended, if the sandbox lived to report it."""
        report: dict[str, Any] = {}
        with suppress(OSError, ValueError), open(self._at("report"), encoding="utf-8") as file:
            for line in file:
                report |= json.loads(line)
        return ProgramStatus(
            report.get("exit"), report.get("signal"), report.get("failed", ""), report.get("not_started", "")
        )

    def count_written_bytes(self) -> int:
        """How much disk space the program uses: its changes, and its temporary files."""
        folders = [self._at("tmp"), self._at("upper" if self.record.how == "overlay" else "copy")]
        return sum(_disk_usage(folder) for folder in folders)

    def _choose_means(self, options: ViewOptions) -> None:
        """The best that works here: overlayfs, else a copy; namespaces, else Landlock, else nothing."""
        record = self.record
        ways: list[tuple[How, Confinement]] = [("copy", "none")]
        if options.confined:
            ways = [("copy", "namespace"), ("copy", "landlock")]
            if options.how == "auto":
                ways.insert(0, ("overlay", "namespace"))
        for how, confinement in ways:
            self._write_spec(self._spec(how, confinement, options))
            failure = _check(self._at("spec.json"))
            if not failure:
                record.how, record.confinement = how, confinement
                return
            record.unconfined_because = record.unconfined_because or failure
        self._write_spec(self._spec("copy", "none", options))

    def _spec(self, how: How, confinement: Confinement, options: ViewOptions) -> dict[str, Any]:
        places = {name: self._at(name) for name in ("base", "lower", "upper", "work", "copy", "tmp", "report")}
        places["files"] = self._at("files.json")
        return {
            **places,
            "how": how,
            "confinement": confinement,
            "folder": self.record.folder,
            "hidden": list(options.hidden),
            "writable": list(options.writable),
            "bytes": options.size,
        }

    def _write_spec(self, spec: Mapping[str, Any]) -> None:
        write_private(self._at("spec.json"), json.dumps(spec))

    # What the program changed

    @property
    def files(self) -> BaseFiles:
        """What the program was shown."""
        if self._files is None:
            with explain_os_errors("read", "files.json"):
                self._files = BaseFiles.load(self._at("files.json"))
        return self._files

    def changes(self) -> tuple[list[ViewChange], list[str]]:
        """What has changed, and which files of version control or ours have. Call it when nothing runs in the view any
        more."""
        found = _ChangeReader(self.files)
        with Root.open(self._at("upper" if self.record.how == "overlay" else "copy")) as root:
            if self.record.how == "overlay":
                found.read_layer(root)
            else:
                with open(self._at("base"), "rb") as base:
                    found.read_copy(root, base)
        return sorted(found.changes.values()), sorted(found.internal)

    def read_before(self, path: str, limit: int) -> bytes | None:
        """What the program saw at a path; None if that is no longer known."""
        file = self.files.files[path]
        try:
            if file.kind == "text":
                with explain_os_errors("read", "base"), open(self._at("base"), "rb") as base:
                    return file.read(base)
            with Root.open(self.record.folder) as root:
                image = root.read(DocPath(path), limit=limit)
        except RedraftError:
            return None
        same = (image.stamp.size, image.stamp.mtime_ns) == (file.size, file.mtime_ns)
        return image.data if same else None

    def read_after(self, path: str, limit: int) -> FileImage:
        """What the program left at a path."""
        with Root.open(self._at("upper" if self.record.how == "overlay" else "copy")) as root:
            return root.read(DocPath(path), limit=limit)

    @property
    def result_folder(self) -> str:
        """Where the program's files are, for a person who looks at a kept view."""
        return self._at("upper" if self.record.how == "overlay" else "copy")


def remove_view(place: str) -> None:
    """Remove a view, whatever the program did to its permissions."""

    def open_up(_act: Callable[..., Any], path: str, _error: Any) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(path), stat.S_IRWXU)
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)

    shutil.rmtree(place, onerror=open_up)


class _ChangeReader:
    """Walks through what a program left."""

    def __init__(self, files: BaseFiles) -> None:
        self._files = files
        self.changes: dict[str, ViewChange] = {}
        self.internal: list[str] = []

    def read_layer(self, root: Root) -> None:
        """The upper layer of an overlay: changed files, a device 0:0 for a deleted one, a marker on a folder that
        replaces another."""
        for folder, path, found in _walk(root):
            if is_internal(path):
                self._add_internal(path, found)
            elif stat.S_ISDIR(found.st_mode):
                if path in self._files.files:
                    self._add(path, "gone")
                if _is_opaque(folder, path):
                    self._remove_beneath(path)
            else:
                self._remove_beneath(path)
                self._add(path, "gone" if _is_whiteout(found) else _kind(found))
        # What is in place of a deleted folder exists, whichever of the two was found first.

    def read_copy(self, root: Root, base: BinaryIO) -> None:
        seen: set[str] = set()
        for _, path, found in _walk(root):
            seen.add(path)
            if is_internal(path):
                if not stat.S_ISDIR(found.st_mode) and not stat.S_ISLNK(found.st_mode):
                    known = self._files.internal.get(path)
                    if known != (found.st_size, found.st_mtime_ns):
                        self._add_internal(path, found)
            elif not stat.S_ISDIR(found.st_mode) and not self._is_as_copied(root, base, path, found):
                self._add(path, _kind(found))
            elif stat.S_ISDIR(found.st_mode) and path in self._files.files:
                self._add(path, "gone")
        deleted = self._files.internal.keys() - seen
        self.internal += sorted(deleted)[: MOST_INTERNAL - len(self.internal)]
        for path, file in self._files.files.items():
            if path not in seen and file.kind != "hidden":
                self._add(path, "gone")

    def _is_as_copied(self, root: Root, base: BinaryIO, path: str, found: os.stat_result) -> bool:
        if stat.S_ISLNK(found.st_mode):
            target = self._files.links.get(path)
            with root.open_parent(DocPath(path)) as parent:
                return target is not None and os.readlink(parent.name, dir_fd=parent.fd) == target
        file = self._files.files.get(path)
        if file is None or not stat.S_ISREG(found.st_mode) or file.size != found.st_size:
            return False
        if stat.S_IMODE(found.st_mode) not in (file.mode, file.mode | stat.S_IRUSR):
            return False
        if file.kind == "other":
            return file.mtime_ns == found.st_mtime_ns
        try:
            return file.kind == "text" and file.read(base) == root.read(DocPath(path)).data
        except RedraftError:
            return False

    def _remove_beneath(self, folder: str) -> None:
        for path in self._files.beneath(folder):
            self.changes.setdefault(path, ViewChange(path, self._files.files[path], "gone"))

    def _add(self, path: str, now: NowKind) -> None:
        was = self._files.files.get(path)
        if was is not None and was.kind == "hidden":
            was = None
        if was is None and now == "gone":
            return
        self.changes[path] = ViewChange(path, was, now)

    def _add_internal(self, path: str, found: os.stat_result) -> None:
        if not stat.S_ISDIR(found.st_mode) and len(self.internal) < MOST_INTERNAL:
            self.internal.append(path)


def _walk(root: Root) -> Iterator[tuple[int, str, os.stat_result]]:
    """Everything below, a folder before its content; with the descriptor of its parent folder."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            fd = root.open_folder(here)
        except RedraftError:
            continue
        try:
            for name in sorted(os.listdir(fd)):
                path = join_path(here, name)
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    if found.st_mode & stat.S_IRWXU != stat.S_IRWXU:  # as the program left it
                        os.chmod(name, stat.S_IRWXU, dir_fd=fd)
                    waiting.append(path)
                yield fd, path, found
        finally:
            os.close(fd)


def _kind(found: os.stat_result) -> NowKind:
    if stat.S_ISREG(found.st_mode):
        return "file"
    return "link" if stat.S_ISLNK(found.st_mode) else "other"


def _is_whiteout(found: os.stat_result) -> bool:
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _is_opaque(folder: int, path: str) -> bool:
    fd = os.open(path.rpartition("/")[2], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return os.getxattr(fd, "user.overlay.opaque") == b"y"
    except OSError:
        return False
    finally:
        os.close(fd)


def _disk_usage(folder: str) -> int:
    total, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue  # it changes while we look
    return total


def _sandbox_program() -> list[str]:
    return [sys.executable, "-I", "-S", sandbox.__file__]


def _check(spec: str) -> str:
    """Why a sandbox is not possible here; empty if it is."""
    if not sys.platform.startswith("linux"):
        return "this system has neither namespaces nor Landlock"
    command = [*_sandbox_program(), spec]
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stdout.decode(errors="replace") or "the check failed"
