"""Searching the whole folder: an index that only ever saves work, and answers that never depend on it.

A search reads, from the disk, every file that may match: those whose words say so (see `words`), and all that the index
does not know as they are now. So an index that is empty, lost or behind costs time and nothing else. What has changed
is known from the kernel's notices, emptied before each answer; the marks of all files are looked at first thing,
whenever a folder comes or goes, where notices cannot be trusted, and once a minute for what the kernel does not tell
(see `workspace.present`). Documents under review or unsaved are searched as they are being worked on.

Safe to use from several threads, and from several processes on one folder.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self

from redraft.search.catalogue import Catalogue, Lost, Unusable
from redraft.search.globs import path_filter
from redraft.search.hits import Hit, find_hits, order
from redraft.search.pattern import compile_query
from redraft.search.required import required
from redraft.workspace.present import Present
from redraft.workspace.reading import drafted, read_all, read_many, read_marked, read_some, shown, state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from redraft.search.catalogue import Extent, Row
    from redraft.search.pattern import Pattern
    from redraft.workspace.reading import Mark
    from redraft.workspace.workspace import Workspace

    Progress = Callable[[int, int], object]
    Read = tuple[str, Mark, str | None]

__all__ = ["Hit", "Index"]

DEFAULT_LIMIT = 1000
BATCH = 200
SEGMENT = 4000
SEGMENT_BYTES = 32_000_000
SMALL_SEGMENTS = 12
# Fewer changed files are searched as they are, and no dictionary is made for them; up to a batch of them is indexed by
# the search that meets them, more are left to `update`.
AT_ONCE = 50
# A file written so lately may be written again within the same tick of the clock, and its mark stay the same.
SETTLED_NS = 100_000_000
BACKGROUND_SECONDS = 2.0
# So few files of an index's answer rarely lie in the same folders.
SCATTERED = 1000


class Index:
    """The index of one workspace. Close it before the workspace; used as a context manager it closes itself."""

    def __init__(self, workspace: Workspace, catalogue: Catalogue) -> None:
        self._engine = workspace.engine
        self.catalogue = catalogue
        self._present = Present(workspace.engine)
        self._guard = threading.RLock()
        self._rows: dict[str, Row] = {}
        self._paths: dict[int, str] = {}
        self._pending: set[str] = set()
        self._version = -1
        self._background: threading.Thread | None = None
        self._closing = threading.Event()

    @staticmethod
    def open(workspace: Workspace) -> Index:
        """Nothing is read yet: the first search looks at the folder, `update` or `start` builds the index."""
        return Index(workspace, Catalogue(state_folder(workspace.engine)))

    def close(self) -> None:
        self._closing.set()
        if self._background is not None:
            self._background.join()
        with self._guard:
            self._present.close()
            self.catalogue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Searching

    def search(
        self,
        query: str,
        *,
        regex: bool = False,
        case_sensitive: bool = True,
        whole_word: bool = False,
        glob: str | None = None,
        limit: int = DEFAULT_LIMIT,
        context: int = 0,
    ) -> list[Hit]:
        """The matching lines of all documents: of a folder first its files, then its folders, each by name."""
        pattern = compile_query(query, regex=regex, case_sensitive=case_sensitive, whole_word=whole_word, by_line=True)
        wanted = path_filter(glob)
        with self._guard:
            paths = self._candidates(pattern)
        drafts, covered = drafted(self._engine)

        def passes(path: str) -> bool:
            return path not in covered and wanted(path)

        files = self._contents(paths, passes if covered or glob else None)
        hits = find_hits(files, pattern, limit, context)
        if drafts:
            texts = ((path, text.encode()) for path, text in drafts.items() if wanted(path))
            hits += find_hits(texts, pattern, limit, context)
            hits = sorted(hits, key=lambda hit: (order(hit.path), hit.line))[: max(0, limit)]
        with self._guard:
            if AT_ONCE <= len(self._pending) <= BATCH:
                self._put(self._read(sorted(self._pending, key=order)))
        return hits

    def _contents(self, paths: list[str] | None, passes: Callable[[str], bool] | None) -> Iterator[tuple[str, bytes]]:
        if paths is None:
            return read_all(self._engine, passes)
        paths = sorted(filter(passes, paths) if passes is not None else paths, key=order)
        return (read_some if len(paths) < SCATTERED else read_many)(self._engine, paths)

    def _candidates(self, pattern: Pattern) -> list[str] | None:
        """The files that may match; None for all that there are."""
        self._reload()
        if not self._rows:
            return None
        self._refresh()
        try:
            numbers = self.catalogue.candidates(required(pattern.query, regex=pattern.regex))
            moving = self.catalogue.version() != self._version  # somebody else is writing this very moment
        except (Lost, Unusable):
            self._forget()
            return None
        if moving:
            return None
        known = self._paths
        texts = known.values() if numbers is None else [known[number] for number in numbers if number in known]
        return [*texts, *self._pending]

    # Keeping up to date

    def update(self, progress: Progress | None = None) -> int:
        """Index whatever is not indexed as it is now; gives how many files were read.

        `progress` hears how many of how many are done.
        """
        with self._guard:
            self._reload()
            self._refresh()
            self._drop_worn()
            waiting = sorted(self._pending, key=order)
        total = len(waiting)
        found: list[Read] = []
        for start in range(0, total, BATCH):
            if self._closing.is_set():
                return start
            found += self._read(waiting[start : start + BATCH])
            done = min(total, start + BATCH)
            if done == total or len(found) >= SEGMENT or sum(read[1].size for read in found) > SEGMENT_BYTES:
                with self._guard:
                    self._put(found)
                found = []
            if progress is not None:
                progress(done, total)
        return total

    def start(self, progress: Progress | None = None) -> None:
        """Keep the index up to date in the background until it is closed."""
        if self._background is None:
            self._background = threading.Thread(target=self._keep, args=(progress,), name="redraft-index", daemon=True)
            self._background.start()

    def _keep(self, progress: Progress | None) -> None:
        self.update(progress)
        while not self._closing.wait(BACKGROUND_SECONDS):
            with self._guard:
                self._reload()
                self._refresh()
            if len(self._pending) >= AT_ONCE:
                self.update()

    @property
    def waiting(self) -> int:
        """How many files were not indexed when last looked at: they are searched, but one by one."""
        return len(self._pending)

    def _drop_worn(self) -> None:
        """Let go of segments of which less than half is alive, and of small ones when they are many."""
        try:
            extents = self.catalogue.extents()
            small = [extent for extent in extents if _count(extent) < BATCH]
            worn = {extent for extent in extents if self._alive(extent) * 2 < _count(extent)}
            worn.update(small if len(small) > SMALL_SEGMENTS else ())
            if not worn:
                return
            self.catalogue.drop(worn)
            self._rows = {row.path: row for row in self.catalogue.load()}
        except (Lost, Unusable):
            self._forget()
        self._compare()

    def _alive(self, extent: Extent) -> int:
        return sum(number in self._paths for number in range(extent.first, extent.last + 1))

    def _forget(self) -> None:
        """Know nothing any more of what is in the database; it is read again, or read as empty, the next time."""
        self._rows, self._paths, self._version = {}, {}, -1
        self._pending = set(self._present.files)

    def _reload(self) -> None:
        """Read the database's rows, if another process has changed them."""
        try:
            version = self.catalogue.version()
            if version == self._version:
                return
            rows = self.catalogue.load()
        except (Lost, Unusable):
            self._forget()
            return
        self._rows = {row.path: row for row in rows}
        self._version = version
        self._compare()

    def _refresh(self) -> None:
        changed = self._present.refresh()
        if changed is None:
            self._compare()
            return
        for path in changed:
            self._compare_one(path)

    def _compare(self) -> None:
        """Which rows still hold, and which files have none that does."""
        files = self._present.files
        rows = self._rows
        self._paths = {row.number: row.path for row in rows.values() if row.number and files.get(row.path) == row.mark}
        self._pending = {path for path, mark in files.items() if path not in rows or rows[path].mark != mark}

    def _compare_one(self, path: str) -> None:
        row, mark = self._rows.get(path), self._present.files.get(path)
        if row is not None:
            self._paths.pop(row.number, None)
        self._pending.discard(path)
        if row is not None and row.mark == mark:
            if row.number:
                self._paths[row.number] = path
        elif mark is not None:
            self._pending.add(path)

    def _read(self, paths: Sequence[str]) -> list[Read]:
        """Read files for the index; those that are being written just now are left out, and stay pending."""
        now = time.time_ns()
        return [
            (path, mark, shown(path, data))
            for path, data, mark in read_marked(self._engine, paths)
            if now - mark.ctime_ns > SETTLED_NS
        ]

    def _put(self, found: Sequence[Read]) -> None:
        """Write down what was read. A file that changed after that has another mark by now, or will be heard of."""
        gone = [path for path in self._rows if path not in self._present.files]
        try:
            rows = self.catalogue.put(found, gone)
        except (Lost, Unusable):
            self._forget()
            return
        for path in gone:
            del self._rows[path]
        for row in rows:
            old = self._rows.get(row.path)
            if old is not None:
                self._paths.pop(old.number, None)
            self._rows[row.path] = row
            self._compare_one(row.path)


def _count(extent: Extent) -> int:
    return extent.last - extent.first + 1
