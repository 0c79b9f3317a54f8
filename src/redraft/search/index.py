"""Searching the whole folder: an index that only ever saves work, and answers that never depend on it.

A search looks into every file that may match: those whose words say so (see `words`), and all that the index does not
know as they are now. It looks into the texts that the index keeps where their files' marks prove them, else into the
files (see `sources`). So an index that is empty, lost or behind costs time and nothing else. What has changed is known
from the kernel's notices, emptied before each answer; the marks of all files are looked at first thing, whenever a
folder comes or goes, where notices cannot be trusted, and once a minute for what the kernel does not tell (see
`workspace.present`). Documents under review or unsaved are searched as they are being worked on.

Safe to use from several threads, and from several processes on one folder.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, Self

from redraft.search.catalogue import Catalogue, Lost, Unusable
from redraft.search.globs import path_filter
from redraft.search.hits import Hit, find_hits, flat, order
from redraft.search.pattern import compile_query
from redraft.search.records import Batch, Read
from redraft.search.remembered import Remembered
from redraft.search.required import required
from redraft.search.ripgrep import Ripgrep
from redraft.search.sources import find_in_all, find_in_places
from redraft.search.standing import Standing
from redraft.workspace.present import Present
from redraft.workspace.reading import drafted, read_settled, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from redraft.search.hits import Lined
    from redraft.search.pattern import Pattern
    from redraft.search.records import Extent
    from redraft.search.sources import Place
    from redraft.workspace.workspace import Workspace

    Progress = Callable[[int, int], object]

__all__ = ["Hit", "Index"]

DEFAULT_LIMIT = 1000
BATCH = 200
# Every segment has a dictionary, much the same as the next one's, and each is looked through by every search: so they
# should be few. What bounds them is the memory that it takes to make one, nearly three times the bytes of its files.
SEGMENT = 12_000
SEGMENT_BYTES = 48_000_000
SMALL_SEGMENTS = 12
# Fewer changed files are searched as they are, and no dictionary is made for them; up to a batch of them is indexed by
# the search that meets them, more are left to `update`.
AT_ONCE = 50
BACKGROUND_SECONDS = 2.0


class Indexing(NamedTuple):
    """How many of how many files have been read."""

    done: int
    total: int


class Index:
    """The index of one workspace. Close it before the workspace; used as a context manager it closes itself."""

    def __init__(self, workspace: Workspace, catalogue: Catalogue) -> None:
        self._engine = workspace.engine
        self.catalogue = catalogue
        self._remembered = Remembered(catalogue.texts)
        self._present = Present(workspace.engine)
        self.ripgrep = Ripgrep()
        self._guard = threading.RLock()
        self._standing = Standing()
        self._version = -1
        self._background: threading.Thread | None = None
        self._closing = threading.Event()
        self._indexing: Indexing | None = None

    @staticmethod
    def open(workspace: Workspace) -> Index:
        """Nothing is read yet: the first search looks at the folder, `update` or `start` builds the index."""
        return Index(workspace, Catalogue(workspace.engine.state))

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
            found = self._candidates(pattern)
        drafts, covered = drafted(self._engine)

        def passes(path: str) -> bool:
            return path not in covered and wanted(path)

        hits = self._look_into(found, passes if covered or glob else None, pattern, limit, context)
        if drafts:
            texts = [(path, text.encode()) for path, text in drafts.items() if wanted(path)]
            hits += find_hits([texts], pattern, limit, context)
            hits = sorted(hits, key=lambda hit: (order(hit.path), hit.line))[: max(0, limit)]
        with self._guard:
            if AT_ONCE <= len(self._standing.pending) <= BATCH:
                batch = Batch()
                for read in self._read(sorted(self._standing.pending, key=order)):
                    batch.add(read)
                self._put(batch)
        return hits

    def _look_into(
        self,
        found: list[Place] | None,
        passes: Callable[[str], bool] | None,
        pattern: Pattern,
        limit: int,
        context: int,
    ) -> list[Hit]:
        if found is None:
            return find_in_all(self._engine, self.ripgrep, passes, pattern, limit, context)
        places = found if passes is None else [place for place in found if passes(place[0])]
        places.sort(key=lambda place: order(place[0]))
        return find_in_places(self._engine, places, self._texts, pattern, limit, context)

    def _texts(self, numbers: Sequence[int]) -> dict[int, Lined]:
        """Those of these texts that are kept; fewer, or none, where the database gives way meanwhile."""
        with self._guard:
            try:
                return self._remembered.get(numbers)
            except (Lost, Unusable):
                self._forget()
                return {}

    def _candidates(self, pattern: Pattern) -> list[Place] | None:
        """The files that may match; None for all that there are."""
        self._reload()
        if not self._standing.rows:
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
        paths, rows = self._standing.paths, self._standing.rows
        known = paths.values() if numbers is None else [paths[number] for number in numbers if number in paths]
        places: list[Place] = [(path, rows[path]) for path in known]
        places += [(path, None) for path in self._standing.pending]
        return places

    # Keeping up to date

    def update(self, progress: Progress | None = None) -> int:
        """Index whatever is not indexed as it is now; gives how many files were read.

        `progress` hears how many of how many are done.
        """
        with self._guard:
            self._reload()
            self._refresh()
            self._drop_worn()
            waiting = sorted(self._standing.pending, key=order)
        total = len(waiting)
        batch = Batch()
        for start in range(0, total, BATCH):
            self._indexing = Indexing(start, total)
            if self._closing.is_set():
                break
            for read in self._read(waiting[start : start + BATCH]):
                batch.add(read)
            done = min(total, start + BATCH)
            if done == total or len(batch.reads) >= SEGMENT or batch.size > SEGMENT_BYTES:
                with self._guard:
                    self._put(batch)
                batch = Batch()
            if progress is not None:
                progress(done, total)
        self._indexing = None
        return total

    @property
    def indexing(self) -> Indexing | None:
        """How far the index has come, while it is being made or brought up to date; None when it is not."""
        return self._indexing

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
            if len(self._standing.pending) >= AT_ONCE:
                self.update()

    @property
    def waiting(self) -> int:
        """How many files were not indexed when last looked at: they are searched, but one by one."""
        return len(self._standing.pending)

    def _drop_worn(self) -> None:
        """Let go of segments of which less than half is alive, and of small ones when they are many."""
        try:
            extents = self.catalogue.extents()
            small = [extent for extent in extents if _count(extent) < BATCH]
            worn = {extent for extent in extents if self._standing.alive(extent) * 2 < _count(extent)}
            worn.update(small if len(small) > SMALL_SEGMENTS else ())
            if not worn:
                return
            self.catalogue.drop(worn)
            self._standing.compare(self._present.files, self.catalogue.load())
        except (Lost, Unusable):
            self._forget()

    def _forget(self) -> None:
        """Know nothing any more of what is in the database; it is read again, or read as empty, the next time."""
        self._version = -1
        self._remembered.clear()  # a new database gives out its numbers anew
        self._standing.compare(self._present.files, [])

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
        self._version = version
        self._standing.compare(self._present.files, rows)

    def _refresh(self) -> None:
        changed = self._present.refresh()
        if changed is None:
            self._standing.compare(self._present.files)
            return
        for path in changed:
            self._standing.compare_one(path)

    def _read(self, paths: Sequence[str]) -> list[Read]:
        """Read files for the index; those that are being written just now are left out, and stay pending."""
        return [
            Read(path, mark, shown(path, data), flat(data) if proven else None)
            for path, data, mark, proven in read_settled(self._engine, paths)
        ]

    def _put(self, batch: Batch) -> None:
        """Write down what was read. A file that changed after that has another mark by now, or will be heard of."""
        gone = self._standing.gone()
        try:
            self._standing.put(self.catalogue.put(batch, gone), gone)
        except (Lost, Unusable):
            self._forget()


def _count(extent: Extent) -> int:
    return extent.last - extent.first + 1
