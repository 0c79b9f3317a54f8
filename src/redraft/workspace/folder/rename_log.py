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
        self._trail: list[str] = [path]  # where the document lay, one place after the other

    def rename(self, old: str, new: str) -> None:
        for place in [place for place in self._lies if place.startswith(f"{old}/")]:
            self._move(place, new + place[len(old) :])
        self._move(old, new)

    def _move(self, old: str, new: str) -> None:
        moved, replaced = self._lies.get(old, old), self._lies.get(new, new)
        self._lies[old] = None
        if self._is_known(replaced) and not self._is_known(moved):
            return  # a program saved a document by putting a new file over it
        if moved is None and self._is_saved_anew_at(old):
            moved = self._path
            self._lies[self._trail.pop()] = None
        self._lies[new] = moved
        if moved == self._path:
            self._trail.append(new)

    def places(self) -> list[str]:
        if len(self._trail) == 1 or self._lies.get(self._trail[-1]) != self._path:
            return []  # it stayed, or another document was put over it
        here, before = self._trail[-1], self._trail[-2]
        anew = not self._is_known(self._lies.get(before)) and self._exists(DocPath(before))
        if anew and (self._is_document(DocPath(before)) or not self._exists(DocPath(here))):
            return [before, here]  # an editor gave the old file another name to keep it as a backup
        return [here]

    def _is_saved_anew_at(self, place: str) -> bool:
        """Whether an editor gave the document another name, wrote it anew in this place, and deleted the old file."""
        is_last = self._trail[-2:-1] == [place] and self._is_document(DocPath(place))
        return is_last and not self._exists(DocPath(self._trail[-1]))

    def _is_known(self, name: str | None) -> bool:
        """Whether this is a document, also one that nobody has read: such a one traded places with another."""
        if name is None:
            return False
        return self._is_document(DocPath(name)) or self._lies.get(name) == self._path
