"""Search the whole folder, with an index that only saves work: answers never depend on it.

A search looks into every file that may match: those whose words say so (see `segments`), and all whose current content
is not indexed. It uses the texts that the index stores if their files' marks still match, else the files (see
`hits`). So an empty, lost or outdated index costs only time. Changes are learned from inotify, which is read before
each answer. The marks of all files are checked at the start, whenever a folder appears or disappears, where inotify is
unreliable, and once a minute for changes that the kernel does not report (see `workspace.folder.file_table`).
Documents under review or with unsaved typing are searched in their current state.

Safe to use from several threads, and from several processes on one folder.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, Self

from redraft.errors import Busy
from redraft.search.globs import path_filter
from redraft.search.hits import Hit, LinedText, find_hits, find_in_all, find_in_places, flatten, path_order
from redraft.search.index_database import IndexBatch, IndexDatabase, IndexInput, IndexLost, IndexUnavailable
from redraft.search.pattern import compile_query
from redraft.search.regex_syntax import find_required_words
from redraft.search.ripgrep import Ripgrep
from redraft.workspace.folder.scan import Drafts, showable_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from redraft.providers.embeddings import Embedder
    from redraft.search.hits import Place
    from redraft.search.index_database import IndexRow, SegmentRange
    from redraft.search.passages.folder_passages import FolderPassages, FolderResults
    from redraft.search.pattern import Pattern
    from redraft.workspace.folder.scan import FileMark
    from redraft.workspace.workspace import Workspace

    Progress = Callable[[int, int], object]

# Recently used texts of the index, limited by their total size.
#
# A text is identified by its number, which a database never reuses, so nothing here can be out of date; for another
# database, call `clear`. Line starts are cached with a text once a search needs them. Used by one thread at a time.


LARGEST = 64_000_000


class TextCache:
    """`fetch` returns those of the numbered texts that exist."""

    def __init__(self, fetch: Callable[[Sequence[int]], dict[int, bytes]], largest: int = LARGEST) -> None:
        self._fetch = fetch
        self._largest = largest
        self._texts: dict[int, LinedText] = {}
        self.size = 0

    def get(self, numbers: Sequence[int]) -> dict[int, LinedText]:
        """Those of these texts that exist."""
        texts = self._texts
        missing = [number for number in numbers if number not in texts]
        if not missing:
            return {number: texts[number] for number in numbers}
        fetched = {number: LinedText(text) for number, text in self._fetch(missing).items()}
        found = {number: texts[number] for number in numbers if number in texts}
        self.add(fetched)
        return found | fetched

    def add(self, texts: dict[int, LinedText]) -> None:
        """Cache these; the oldest are evicted."""
        for number, text in texts.items():
            if number not in self._texts:
                self._texts[number] = text
                self.size += len(text.data)
        while self.size > self._largest:
            self.size -= len(self._texts.pop(next(iter(self._texts))).data)

    def clear(self) -> None:
        self._texts.clear()
        self.size = 0


# Which files are indexed in their current state, and which still have to be read.
#
# A row is valid while its file has the mark that the row was stored with. Nothing is read here; callers report new rows
# and files. Used by one thread at a time.


class IndexState:
    """`files` are the existing files with their marks: a view of a mapping that belongs to somebody else."""

    def __init__(self) -> None:
        self.files: Mapping[str, FileMark] = {}
        self.rows: dict[str, IndexRow] = {}
        self.paths: dict[int, str] = {}
        self.pending: set[str] = set()

    def compare(self, files: Mapping[str, FileMark], rows: Iterable[IndexRow] | None = None) -> None:
        """Update from all files, and from all rows if they have changed."""
        self.files = files
        if rows is not None:
            self.rows = {row.path: row for row in rows}
        by_path = self.rows
        self.paths = {
            row.number: row.path for row in by_path.values() if row.number and files.get(row.path) == row.mark
        }
        self.pending = {path for path, mark in files.items() if path not in by_path or by_path[path].mark != mark}

    def compare_one(self, path: str) -> None:
        """Update for one file that has changed."""
        row, mark = self.rows.get(path), self.files.get(path)
        if row is not None:
            self.paths.pop(row.number, None)
        self.pending.discard(path)
        if row is not None and row.mark == mark:
            if row.number:
                self.paths[row.number] = path
        elif mark is not None:
            self.pending.add(path)

    def put(self, rows: Iterable[IndexRow], deleted: Iterable[str]) -> None:
        """Add new rows, and remove those of deleted files."""
        for path in deleted:
            del self.rows[path]
        for row in rows:
            old = self.rows.get(row.path)
            if old is not None:
                self.paths.pop(old.number, None)
            self.rows[row.path] = row
            self.compare_one(row.path)

    def find_gone_paths(self) -> list[str]:
        """The files that have rows but no longer exist."""
        return [path for path in self.rows if path not in self.files]

    def count_alive(self, extent: SegmentRange) -> int:
        """How many texts of a segment are still current."""
        return sum(number in self.paths for number in range(extent.first, extent.last + 1))


__all__ = ["Hit", "Index"]

DEFAULT_LIMIT = 1000
BATCH = 200
# Every segment has a dictionary, much like the next one's, and every search scans each of them: so there should be few.
# The limit is the memory needed to build one, nearly three times the bytes of its files.
SEGMENT = 12_000
SEGMENT_BYTES = 48_000_000
SMALL_SEGMENTS = 12
# Fewer changed files than this are searched directly, without a dictionary; up to a batch of them is indexed by the
# search that meets them, more are left to `update`.
AT_ONCE = 50
BACKGROUND_SECONDS = 2.0
FIRST_LOOK_SECONDS = 0.1
# Preparing passages takes the whole CPU; pause in between for others.
PREPARE_SECONDS, BREATHING_SECONDS = 0.3, 0.1


class IndexProgress(NamedTuple):
    """How many of how many files have been read."""

    done: int
    total: int


class Index:
    """The index of one workspace. Close it before the workspace; used as a context manager it closes itself."""

    def __init__(self, workspace: Workspace, catalogue: IndexDatabase) -> None:
        self._workspace = workspace
        self._reader = workspace.reader
        self.database = catalogue
        self._text_cache = TextCache(catalogue.texts)
        self._present = workspace.watch_files()
        self.ripgrep = Ripgrep()
        self._guard = threading.RLock()
        self._state = IndexState()
        self._version = -1
        self._background: threading.Thread | None = None
        self._closing = threading.Event()
        self._indexing: IndexProgress | None = None
        self._passages: FolderPassages | None = None
        self._drafts = Drafts({}, set())
        # Called with how many of how many files are indexed, while indexing.
        self.progress: Progress | None = None

    @staticmethod
    def of(workspace: Workspace) -> Index:
        """The one index of an open folder, shared by all callers; it is closed with the folder. The first call starts
        to bring it up to date in the background, and nobody waits for that."""

        def begin() -> Index:
            index = Index.open(workspace)
            index.start()
            return index

        return workspace.share(Index, begin)

    @staticmethod
    def open(workspace: Workspace) -> Index:
        """Reads nothing yet: the first search looks at the folder, `update` or `start` builds the index."""
        return Index(workspace, IndexDatabase(workspace.state))

    def close(self) -> None:
        self._closing.set()
        if self._background is not None:
            self._background.join()
        with self._guard:
            self._present.close()
            self.database.close()

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
        drafts: Drafts | None = None,
    ) -> list[Hit]:
        """The matching lines of all documents: in each folder first the files, then the folders, each by name. Without
        `drafts` it asks the workspace for them; the caller must then hold the workspace's guard."""
        pattern = compile_query(query, regex=regex, case_sensitive=case_sensitive, whole_word=whole_word, by_line=True)
        wanted = path_filter(glob)
        with self._guard:
            found = self._candidates(pattern)
        texts, covered = self._workspace.working_drafts() if drafts is None else drafts

        def passes(path: str) -> bool:
            return path not in covered and wanted(path)

        hits = self._look_into(found, passes if covered or glob else None, pattern, limit, context)
        if texts:
            worked_on = [(path, text.encode()) for path, text in texts.items() if wanted(path)]
            hits += find_hits([worked_on], pattern, limit, context)
            hits = sorted(hits, key=lambda hit: (path_order(hit.path), hit.line))[: max(0, limit)]
        with self._guard:
            if AT_ONCE <= len(self._state.pending) <= BATCH:
                batch = IndexBatch()
                for read in self._read(sorted(self._state.pending, key=path_order)):
                    batch.add(read)
                self._put(batch)
        return hits

    def files(self) -> Mapping[str, FileMark]:
        """The existing files, with their marks."""
        with self._guard:
            self._refresh()
            return self._present.files

    def rank(
        self,
        query: str,
        drafts: Drafts,
        embedder: Embedder | None,
        *,
        limit: int,
        wanted: Callable[[str], bool] | None = None,
        seconds: float,
        least: float,
        each: int | None = None,
        sentences: bool = False,
    ) -> FolderResults:
        """The passages that answer a question best, by words and by meaning; without an embedder by words alone. Do not
        call it while holding the workspace's guard: the first call takes a while (see `folder_passages`)."""
        from redraft.search.passages.folder_passages import FolderPassages

        files = self.files()
        with self._guard:
            self._drafts = drafts
            if self._passages is None or self._passages.embedder is not embedder:
                self._passages = FolderPassages(self._workspace, embedder)
            passages = self._passages
        return passages.search(
            files,
            drafts,
            query,
            limit=limit,
            wanted=wanted,
            seconds=seconds,
            least=least,
            each=each,
            sentences=sentences,
        )

    def _look_into(
        self,
        found: list[Place] | None,
        passes: Callable[[str], bool] | None,
        pattern: Pattern,
        limit: int,
        context: int,
    ) -> list[Hit]:
        if found is None:
            return find_in_all(self._reader, self.ripgrep, passes, pattern, limit, context)
        places = found if passes is None else [place for place in found if passes(place[0])]
        places.sort(key=lambda place: path_order(place[0]))
        return find_in_places(self._reader, places, self._texts, pattern, limit, context)

    def _texts(self, numbers: Sequence[int]) -> dict[int, LinedText]:
        """Those of these texts that are stored; fewer, or none, if the database becomes unavailable."""
        with self._guard:
            try:
                return self._text_cache.get(numbers)
            except (IndexLost, IndexUnavailable):
                self._forget()
                return {}

    def _candidates(self, pattern: Pattern) -> list[Place] | None:
        """The files that may match; None for all files."""
        self._reload()
        if not self._state.rows:
            return None
        self._refresh()
        try:
            numbers = self.database.candidates(find_required_words(pattern.query, regex=pattern.regex))
            moving = self.database.version() != self._version  # another process is writing right now
        except (IndexLost, IndexUnavailable):
            self._forget()
            return None
        if moving:
            return None
        paths, rows = self._state.paths, self._state.rows
        current = paths.values() if numbers is None else [paths[number] for number in numbers if number in paths]
        places: list[Place] = [(path, rows[path]) for path in current]
        places += [(path, None) for path in self._state.pending]
        return places

    # Keeping up to date

    def update(self) -> int:
        """Index every file whose current state is not indexed; returns how many files were read."""
        with self._guard:
            self._reload()
            self._refresh()
            self._drop_worn_segments()
            waiting = sorted(self._state.pending, key=path_order)
        total = len(waiting)
        batch = IndexBatch()
        for start in range(0, total, BATCH):
            self._indexing = IndexProgress(start, total)
            if self._closing.is_set():
                break
            for read in self._read(waiting[start : start + BATCH]):
                batch.add(read)
            done = min(total, start + BATCH)
            if done == total or len(batch.reads) >= SEGMENT or batch.size > SEGMENT_BYTES:
                with self._guard:
                    self._put(batch)
                batch = IndexBatch()
            if self.progress is not None:
                self.progress(done, total)
        self._indexing = None
        return total

    @property
    def indexing(self) -> IndexProgress | None:
        """The progress while the index is being built or updated; else None."""
        return self._indexing

    def start(self) -> None:
        """Keep the index up to date in the background until it is closed."""
        if self._background is None:
            self._background = threading.Thread(target=self._run_background, name="redraft-index", daemon=True)
            self._background.start()

    def _run_background(self) -> None:
        # A program that searches only once has ended by then, and need not read what it does not need.
        if self._closing.wait(FIRST_LOOK_SECONDS):
            return
        self.update()
        pause = 0.0
        while not self._closing.wait(pause):
            with self._guard:
                self._reload()
                self._refresh()
            if len(self._state.pending) >= AT_ONCE:
                self.update()
            pause = BACKGROUND_SECONDS if self._prepare() else BREATHING_SECONDS

    def _prepare(self) -> bool:
        """Prepare the passages that the last search by meaning had no time for; returns whether none are left."""
        with self._guard:
            passages, files, drafts = self._passages, self._present.files, self._drafts
        try:
            return passages is None or passages.prepare(files, drafts, PREPARE_SECONDS)
        except Busy:
            return False  # a search is running

    @property
    def waiting(self) -> int:
        """How many files were not indexed at the last check: they are searched, but one by one."""
        return len(self._state.pending)

    def _drop_worn_segments(self) -> None:
        """Drop segments of which less than half is current, and small ones if there are many."""
        try:
            extents = self.database.extents()
            small = [extent for extent in extents if _count(extent) < BATCH]
            worn = {extent for extent in extents if self._state.count_alive(extent) * 2 < _count(extent)}
            worn.update(small if len(small) > SMALL_SEGMENTS else ())
            if not worn:
                return
            self.database.drop(worn)
            self._state.compare(self._present.files, self.database.load())
        except (IndexLost, IndexUnavailable):
            self._forget()

    def _forget(self) -> None:
        """Discard what is in memory of the database; it is read again next time."""
        self._version = -1
        self._text_cache.clear()  # a new database starts its numbers again
        self._state.compare(self._present.files, [])

    def _reload(self) -> None:
        """Read the database's rows, if another process has changed them."""
        try:
            version = self.database.version()
            if version == self._version:
                return
            rows = self.database.load()
        except (IndexLost, IndexUnavailable):
            self._forget()
            return
        self._version = version
        self._state.compare(self._present.files, rows)

    def _refresh(self) -> None:
        changed = self._present.refresh()
        if changed is None:
            self._state.compare(self._present.files)
            return
        self._state.files = self._present.files
        for path in changed:
            self._state.compare_one(path)

    def _read(self, paths: Sequence[str]) -> list[IndexInput]:
        """Read files for the index; those that are being written right now are skipped, and stay pending."""
        return [
            IndexInput(path, mark, showable_text(path, data), flatten(data) if proven else None)
            for path, data, mark, proven in self._reader.read_stable_files(paths)
        ]

    def _put(self, batch: IndexBatch) -> None:
        """Store what was read. If a file has changed since, it has another mark by now, or a change will be
        reported."""
        deleted = self._state.find_gone_paths()
        try:
            self._state.put(self.database.put(batch, deleted), deleted)
        except (IndexLost, IndexUnavailable):
            self._forget()


def _count(extent: SegmentRange) -> int:
    return extent.last - extent.first + 1
