"""What the kernel said was renamed, and where that took each document. Among documents that are alike it alone tells
which is which, whatever was written to them meanwhile; and only by it is known what a document became that got a
secret's name and was overwritten or deleted before anybody looked."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from redraft.files.paths import DocPath
from redraft.files.secret_detection import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redraft.files.inotify import RenamedPath

# So many renames are kept until somebody looks at what was renamed.
MOST_RENAMES = 10_000


class RenameLog:
    """The latest renames, and when each was heard of. `is_document` says whether a document was known at a path, and
    `exists` whether a file lies there now."""

    def __init__(self, is_document: Callable[[DocPath], bool], exists: Callable[[DocPath], bool]) -> None:
        self._is_document = is_document
        self._exists = exists
        self._renames: deque[tuple[float, RenamedPath]] = deque(maxlen=MOST_RENAMES)

    def add(self, renames: Iterable[RenamedPath], now: float) -> None:
        self._renames.extend((now, rename) for rename in renames)

    def places(self, path: DocPath, since: float) -> list[DocPath]:
        """Where the document at this path may be by what was renamed since, the likeliest place first; empty if it was
        not moved."""
        trace = _Trace(path, self._is_document, self._exists)
        for heard, rename in self._renames:
            if heard >= since:
                trace.rename(rename.old, rename.new)
        return [DocPath(place) for place in trace.places()]

    def renamed(self, paths: Iterable[DocPath]) -> set[DocPath]:
        """Those of these documents that, or whose folders, were renamed lately."""
        old = {rename.old for _, rename in self._renames}
        return {path for path in paths if not old.isdisjoint((path, *_folders(path)))} if old else set()

    def secret_name(self, path: DocPath, since: float) -> DocPath | None:
        """The secret's name that the document at this path was given since, perhaps by way of others, and that it was
        not moved away from again: a program that swaps two documents may need any name for a moment."""
        places: set[str] = {path}
        for heard, rename in self._renames:
            if heard >= since:
                moved = {place for place in places if place == rename.old or place.startswith(f"{rename.old}/")}
                places -= {place for place in moved if is_secret_name(place)}
                places |= {rename.new + place[len(rename.old) :] for place in moved}
        return next((DocPath(place) for place in sorted(places) if is_secret_name(place)), None)


class _Trace:
    """Follows one document through renames. Everything is called by the path at which it lay at first; what was made
    after something else had left its place has no name (None)."""

    def __init__(
        self, path: DocPath, is_document: Callable[[DocPath], bool], exists: Callable[[DocPath], bool]
    ) -> None:
        self._path = path
        self._is_document = is_document
        self._exists = exists
        self._lies: dict[str, str | None] = {path: path}  # what lies where
        self._folders = {*_folders(path)}  # of all these places
        self._trails: dict[str, list[str]] = {path: [path]}  # where each lay, one place after the other
        self._left: dict[str, str] = {}  # which document left a place last

    def rename(self, old: str, new: str) -> None:
        if old in self._folders:
            for place in [place for place in self._lies if place.startswith(f"{old}/")]:
                self._move(place, new + place[len(old) :])
        self._move(old, new)
        self._folders.update(_folders(old), _folders(new))

    def _move(self, old: str, new: str) -> None:
        moved, replaced = self._lies.get(old, old), self._lies.get(new, new)
        self._lies[old] = None
        if self._is_known(replaced) and not self._is_known(moved):
            return  # a program saved a document by putting a new file over it
        moved = self._saved_anew_at(old) if moved is None else moved
        self._lies[new] = moved
        if moved is not None:
            self._trails.setdefault(moved, [old]).append(new)
            self._left[old] = moved

    def places(self) -> list[str]:
        trail = self._trails[self._path]
        if len(trail) == 1 or self._lies.get(trail[-1]) != self._path:
            return []  # it stayed, or another document was put over it
        here, before = trail[-1], trail[-2]
        anew = not self._is_known(self._lies.get(before)) and self._exists(DocPath(before))
        if anew and (self._is_document(DocPath(before)) or not self._exists(DocPath(here))):
            return [before, here]  # an editor gave the old file another name to keep it as a backup
        return [here]

    def _saved_anew_at(self, place: str) -> str | None:
        """The document that an editor wrote anew in this place, once it had given it another name and before it deleted
        it there."""
        name = self._left.get(place)
        if name is None or not self._is_document(DocPath(place)):
            return None
        trail = self._trails[name]
        if trail[-2:-1] != [place] or self._exists(DocPath(trail[-1])):
            return None
        self._lies[trail.pop()] = None
        return name

    def _is_known(self, name: str | None) -> bool:
        """Whether this is a document, also one that nobody has read: such a one traded places with another."""
        if name is None:
            return False
        return self._is_document(DocPath(name)) or self._lies.get(name) == self._path


def _folders(path: str) -> list[str]:
    """The folders that a path is in, without the topmost."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names))]
