"""What changes in the folder while it is open, told once per file, and whether it was us.

A save is a burst of events: a temporary file appears, is written, and takes the target's name. Here it is one
`FileEvent`: events of a burst are folded by path, and the file as it now stands decides what they amount to. Temporary
names and internal places are left out. An event is `own` when the file holds just what we wrote last: judged by
content, so an outside write right after ours is never taken for ours, nor a late event of ours for somebody else's.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.errors import RedraftError
from redraft.files.listing import walk
from redraft.files.paths import DocPath, is_internal, parse_path
from redraft.files.root import Root

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

Happening = Literal["created", "changed", "deleted"]
_REMEMBERED_PATHS = 10_000
_HEARTBEAT_MS = 200


class FileEvent(NamedTuple):
    """One file is not what it was."""

    path: DocPath
    kind: Happening
    own: bool


class _Print(NamedTuple):
    """A content's size and digest; of no file, the size is -1."""

    size: int
    digest: bytes


_GONE = _Print(-1, b"")


def _print_of(data: bytes | None) -> _Print:
    return _GONE if data is None else _Print(len(data), blake2b(data, digest_size=16).digest())


class OwnWrites:
    """What we wrote last, per path. Shared between the threads that write and the one that watches."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._last: OrderedDict[str, _Print] = OrderedDict()
        self._under_way: dict[str, list[_Print]] = {}

    @contextmanager
    def writing(self, path: DocPath, data: bytes | None) -> Generator[None]:
        """Around the write of `data` (None: a deletion); its event may come before the block ends."""
        mark = _print_of(data)
        with self._guard:
            self._under_way.setdefault(path, []).append(mark)
        done = False
        try:
            yield
            done = True
        finally:
            with self._guard:
                under_way = self._under_way[path]
                under_way.remove(mark)
                if not under_way:
                    del self._under_way[path]
                if done:
                    self._remember(path, mark)

    def remember(self, path: DocPath, data: bytes | None) -> None:
        """That `data` is what we wrote last to `path`; None: that we deleted it."""
        mark = _print_of(data)
        with self._guard:
            self._remember(path, mark)

    def _remember(self, path: str, mark: _Print) -> None:
        self._last[path] = mark
        self._last.move_to_end(path)
        while len(self._last) > _REMEMBERED_PATHS:
            self._last.popitem(last=False)

    def is_own(self, root: Root, path: DocPath) -> bool:
        """Whether the file now holds what we wrote last, or are just writing."""
        with self._guard:
            marks = [*self._under_way.get(path, ())]
            if path in self._last:
                marks.append(self._last[path])
        if not marks:
            return False
        try:
            stamp = root.stamp(path)
            if stamp is None:
                return _GONE in marks
            if all(mark.size != stamp.size for mark in marks):
                return False
            return _print_of(root.read(path).data) in marks
        except RedraftError:
            return False


class _Known:
    """The files and folders seen so far: what tells a new file from a changed one, and what a lost folder held."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self.files: set[DocPath] = set()
        self.folders: set[DocPath] = set()
        self.enter("")

    def enter(self, folder: str) -> list[DocPath]:
        """Take note of everything beneath a folder; the files that were not known."""
        new: list[DocPath] = []
        for entry in walk(self._root, prefix=folder, skip_hidden=False):
            if entry.kind == "folder":
                self.folders.add(entry.path)
            elif entry.kind == "file" and entry.path not in self.files:
                self.files.add(entry.path)
                new.append(entry.path)
        return new

    def leave(self, path: DocPath) -> list[DocPath]:
        """Forget a file, or a folder with all that was in it; the files that were known."""
        gone = [path] if path in self.files else []
        if path in self.folders:
            inside = path + "/"
            gone += [file for file in self.files if file.startswith(inside)]
            self.folders -= {folder for folder in self.folders if folder == path or folder.startswith(inside)}
        self.files.difference_update(gone)
        return gone


def watch(folder: str | os.PathLike[str], *, stop: threading.Event, own: OwnWrites) -> Iterator[set[FileEvent]]:
    """The changes beneath `folder`, burst by burst, until `stop` is set.

    The first set comes as soon as the watch is in place, and may be empty: whoever compares the folder with what they
    know after it misses nothing.
    """
    from watchfiles import watch as changes

    with Root.open(folder) as root:
        real = os.path.realpath(folder)
        known = _Known(root)
        started = False
        for burst in changes(
            real,
            watch_filter=None,
            stop_event=stop,
            rust_timeout=_HEARTBEAT_MS,
            yield_on_timeout=True,
            debounce=200,
            step=20,
            raise_interrupt=False,
        ):
            happened = _fold({name for _, name in burst}, real, root, known)
            if happened or not started:
                started = True
                yield {FileEvent(path, kind, own.is_own(root, path)) for path, kind in happened.items()}


def _fold(names: set[str], folder: str, root: Root, known: _Known) -> dict[DocPath, Happening]:
    """One happening per file, however many events there were."""
    happened: dict[DocPath, Happening] = {}
    for name in sorted(names):
        path = _path_of(name, folder)
        if path is None:
            continue
        for file, kind in _happened(path, root, known):
            # A file may be told of twice, by its folder and by itself: then it is as new as it was at first.
            if happened.get(file) == "created" and kind == "changed":
                continue
            happened[file] = "changed" if happened.get(file) == "deleted" and kind == "created" else kind
    return happened


def _path_of(name: str, folder: str) -> DocPath | None:
    relative = name.removeprefix(folder.rstrip("/") + "/")
    if is_internal(relative):
        return None
    try:
        return parse_path(relative)
    except RedraftError:  # the folder itself, which stays absolute, or a name that we never open
        return None


def _happened(path: DocPath, root: Root, known: _Known) -> list[tuple[DocPath, Happening]]:
    """What an event at `path` amounts to, by what stands there now.

    Of a folder that is moved in or away, or filled before it could be watched, the system reports only the folder.
    """
    try:
        there = root.exists(path)
        folder = there and root.is_folder(path)
    except RedraftError:  # a link has taken its place: for us the file is gone
        there = folder = False
    if there and not folder:
        kind: Happening = "changed" if path in known.files else "created"
        known.files.add(path)
        return [(path, kind)]
    if not folder or path in known.files:
        gone: list[tuple[DocPath, Happening]] = [(file, "deleted") for file in known.leave(path)]
    else:
        gone = []
    if not folder:
        return gone
    known.folders.add(path)
    return gone + [(file, "created") for file in known.enter(path)]
