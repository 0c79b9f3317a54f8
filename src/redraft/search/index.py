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

from redraft.errors import Busy
from redraft.search.globs import path_filter
from redraft.search.hits import Hit, LinedText, find_hits, find_in_all, find_in_places, flatten, path_order
from redraft.search.index_database import IndexBatch, IndexDatabase, IndexInput, IndexLost, IndexUnavailable
from redraft.search.pattern import compile_query
from redraft.search.regex_syntax import required_words
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

# Texts of the index that were asked for lately, within a bound on their bytes.
#
# A text is known by its number, which one database never gives to another text, so nothing here can be out of date;
# for another database, `clear` it. With a text, where its lines start is remembered, once a search has asked. Used by
# one thread at a time.


LARGEST = 64_000_000


class TextCache:
    """`fetch` gives those of the texts with these numbers that there are."""

    def __init__(self, fetch: Callable[[Sequence[int]], dict[int, bytes]], largest: int = LARGEST) -> None:
        self._fetch = fetch
        self._largest = largest
        self._texts: dict[int, LinedText] = {}
        self.size = 0

    def get(self, numbers: Sequence[int]) -> dict[int, LinedText]:
        """These texts, as far as there are any."""
        known = self._texts
        missing = [number for number in numbers if number not in known]
        if not missing:
            return {number: known[number] for number in numbers}
        fetched = {number: LinedText(text) for number, text in self._fetch(missing).items()}
        found = {number: known[number] for number in numbers if number in known}
        self.add(fetched)
        return found | fetched

    def add(self, texts: dict[int, LinedText]) -> None:
        """Remember these; the ones remembered longest give way."""
        for number, text in texts.items():
            if number not in self._texts:
                self._texts[number] = text
                self.size += len(text.data)
        while self.size > self._largest:
            self.size -= len(self._texts.pop(next(iter(self._texts))).data)

    def clear(self) -> None:
        self._texts.clear()
        self.size = 0


# Which files the index knows as they are now, and which it has yet to read.
#
# A row holds while its file has the mark that the row was made with. Nothing is read or asked here; whoever learns of
# rows or of files says so. Used by one thread at a time.


class IndexState:
    """`files` are those that are there, with their marks: a view of somebody else's knowledge."""

    def __init__(self) -> None:
        self.files: Mapping[str, FileMark] = {}
        self.rows: dict[str, IndexRow] = {}
        self.paths: dict[int, str] = {}
        self.pending: set[str] = set()

    def compare(self, files: Mapping[str, FileMark], rows: Iterable[IndexRow] | None = None) -> None:
        """Take in all files, and all rows where they are other ones than before."""
        self.files = files
        if rows is not None:
            self.rows = {row.path: row for row in rows}
        known = self.rows
        self.paths = {row.number: row.path for row in known.values() if row.number and files.get(row.path) == row.mark}
        self.pending = {path for path, mark in files.items() if path not in known or known[path].mark != mark}

    def compare_one(self, path: str) -> None:
        """Take in that this file is not what it was."""
        row, mark = self.rows.get(path), self.files.get(path)
        if row is not None:
            self.paths.pop(row.number, None)
        self.pending.discard(path)
        if row is not None and row.mark == mark:
            if row.number:
                self.paths[row.number] = path
        elif mark is not None:
            self.pending.add(path)

    def put(self, rows: Iterable[IndexRow], gone: Iterable[str]) -> None:
        """Take in new rows, and forget those of files that are gone."""
        for path in gone:
            del self.rows[path]
        for row in rows:
            old = self.rows.get(row.path)
            if old is not None:
                self.paths.pop(old.number, None)
            self.rows[row.path] = row
            self.compare_one(row.path)

    def gone_paths(self) -> list[str]:
        """The files of which there are rows and nothing else."""
        return [path for path in self.rows if path not in self.files]

    def count_alive(self, extent: SegmentRange) -> int:
        """How many texts of a segment are still those of their files."""
        return sum(number in self.paths for number in range(extent.first, extent.last + 1))


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
FIRST_LOOK_SECONDS = 0.1
# Getting passages ready takes the processor for itself; others get their turn in between.
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
        # Hears how many of how many files are indexed, while they are.
        self.progress: Progress | None = None

    @staticmethod
    def of(workspace: Workspace) -> Index:
        """The one index of an open folder, whoever asks; it is closed with the folder. It is brought up to date in the
        background from the first time on that somebody asks, and nobody waits for that."""

        def begin() -> Index:
            index = Index.open(workspace)
            index.start()
            return index

        return workspace.share(Index, begin)

    @staticmethod
    def open(workspace: Workspace) -> Index:
        """Nothing is read yet: the first search looks at the folder, `update` or `start` builds the index."""
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
        """The matching lines of all documents: of a folder first its files, then its folders, each by name. Without
        `drafts` it asks the workspace for them, which the caller must have to itself."""
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
        """The files that there are now, with their marks."""
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
        """The passages that answer a question best, by words and by meaning; by words alone without an embedder. Never
        to be called by those who hold the workspace's guard: the first time it takes a while (see `everywhere`)."""
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
        """Those of these texts that are kept; fewer, or none, where the database gives way meanwhile."""
        with self._guard:
            try:
                return self._text_cache.get(numbers)
            except (IndexLost, IndexUnavailable):
                self._forget()
                return {}

    def _candidates(self, pattern: Pattern) -> list[Place] | None:
        """The files that may match; None for all that there are."""
        self._reload()
        if not self._state.rows:
            return None
        self._refresh()
        try:
            numbers = self.database.candidates(required_words(pattern.query, regex=pattern.regex))
            moving = self.database.version() != self._version  # somebody else is writing this very moment
        except (IndexLost, IndexUnavailable):
            self._forget()
            return None
        if moving:
            return None
        paths, rows = self._state.paths, self._state.rows
        known = paths.values() if numbers is None else [paths[number] for number in numbers if number in paths]
        places: list[Place] = [(path, rows[path]) for path in known]
        places += [(path, None) for path in self._state.pending]
        return places

    # Keeping up to date

    def update(self) -> int:
        """Index whatever is not indexed as it is now; returns how many files were read."""
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
        """How far the index has come, while it is being made or brought up to date; None when it is not."""
        return self._indexing

    def start(self) -> None:
        """Keep the index up to date in the background until it is closed."""
        if self._background is None:
            self._background = threading.Thread(target=self._run_background, name="redraft-index", daemon=True)
            self._background.start()

    def _run_background(self) -> None:
        # A program that only asks once is done by then, and need not read what it does not need.
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
        """Get the passages ready that the last search by meaning had no time for; gives whether none are left."""
        with self._guard:
            passages, files, drafts = self._passages, self._present.files, self._drafts
        try:
            return passages is None or passages.prepare(files, drafts, PREPARE_SECONDS)
        except Busy:
            return False  # somebody searches just now

    @property
    def waiting(self) -> int:
        """How many files were not indexed when last looked at: they are searched, but one by one."""
        return len(self._state.pending)

    def _drop_worn_segments(self) -> None:
        """Let go of segments of which less than half is alive, and of small ones when they are many."""
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
        """Know nothing any more of what is in the database; it is read again, or read as empty, the next time."""
        self._version = -1
        self._text_cache.clear()  # a new database gives out its numbers anew
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
        """Read files for the index; those that are being written just now are left out, and stay pending."""
        return [
            IndexInput(path, mark, showable_text(path, data), flatten(data) if proven else None)
            for path, data, mark, proven in self._reader.read_stable_files(paths)
        ]

    def _put(self, batch: IndexBatch) -> None:
        """Write down what was read. A file that changed after that has another mark by now, or will be heard of."""
        gone = self._state.gone_paths()
        try:
            self._state.put(self.database.put(batch, gone), gone)
        except (IndexLost, IndexUnavailable):
            self._forget()


def _count(extent: SegmentRange) -> int:
    return extent.last - extent.first + 1
