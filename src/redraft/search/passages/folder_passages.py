"""Rank the passages of a whole folder, all documents together (see `hybrid`).

The passages stay in memory from one search to the next; a document is read and cut again when its file has another
mark, or its draft another text. So the first search of a large folder is slow and the next ones take milliseconds.
Documents are read as the person sees them, including unsaved typing; secrets are never read. Everything here runs
without the workspace's guard: what only the workspace knows (`Drafts`) is passed in. Nothing is written except the
vector cache.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from redraft.errors import Busy
from redraft.files.textfile import format_of
from redraft.search.hits import path_order
from redraft.search.passages.chunks import document_chunks
from redraft.search.passages.hybrid import PassageIndex
from redraft.search.passages.vector_cache import VectorCache
from redraft.workspace.folder.scan import Drafts, FileMark, showable_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from redraft.formats.outline.outline import Format
    from redraft.providers.embeddings import Embedder
    from redraft.search.passages.hybrid import Passage, PassageRanking, Status
    from redraft.workspace.workspace import Workspace

    Wanted = Callable[[str], bool]

MOST_CHARACTERS = 20_000_000
# Larger files are indexed by words only: one vector cannot represent a hundred thousand words.
LARGEST_FILE = 8_000_000
# Somebody is waiting for the answer: documents not read in time are missing from it, passages not embedded are ranked
# by words, and the next search continues.
SECONDS = 3.0
# A whole folder always has passages that match a little; they would only be noise among the good ones.
WORTH = 0.5
FORMATS: dict[str, Format] = {"markdown": "markdown", "json": "json", "yaml": "yaml", "text": "text"}
_AT_A_TIME = 50
# Some passages of a document with many good ones are skipped: look at this many times the requested number.
_LOOKED_THROUGH = 20
# If more than half of the passages belong to changed or deleted documents, everything is counted again.
_MANY_GONE = 1000


@dataclass(frozen=True, slots=True)
class FolderResults:
    """The best passages of the folder, each with its document, best first; `status` as in `hybrid.PassageResults`.
    `truncated` means that the folder has more text than is searched."""

    passages: tuple[tuple[str, Passage], ...]
    status: Status
    truncated: bool


class _Document(NamedTuple):
    """The passages of one document as it was read: at a file's mark, or from a draft's text. Without a stamp nobody
    knows whether it is still current."""

    stamp: object
    size: int
    numbers: range


class FolderPassages:
    """The passages of one folder for one model. Safe to use from several threads; one is served at a time."""

    def __init__(self, workspace: Workspace, embedder: Embedder | None, most: int = MOST_CHARACTERS) -> None:
        self.embedder = embedder
        self._workspace = workspace
        self._reader = workspace.reader
        self._most = most
        self._turn = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        """Discard everything in memory. The vectors are on disk, so starting again takes a second per few megabytes."""
        self._searchable = PassageIndex((), self.embedder)
        self._documents: dict[str, _Document] = {}
        self._owners: list[str] = []
        self._gone = 0
        self._size = 0
        self._too_large: set[str] = set()

    def search(
        self,
        files: Mapping[str, FileMark],
        drafts: Drafts,
        query: str,
        *,
        limit: int,
        wanted: Wanted | None = None,
        seconds: float = SECONDS,
        least: float = WORTH,
        each: int | None = None,
        sentences: bool = False,
    ) -> FolderResults:
        """The passages of the `wanted` documents that answer best: none whose score is below `least` of the first
        one's, none that is unrelated to the question, and at most `each` per document; with `sentences`, the best
        sentence of each. `files` are the existing files. Raises `Busy` if others' searches take too long."""
        deadline = time.monotonic() + seconds
        if not self._turn.acquire(timeout=2 * seconds):
            raise Busy("Other searches of this folder are running; try again in a moment.")
        try:
            while True:
                done = self._update(files, drafts, deadline)
                ranked = self._rank(query, wanted, max(0.0, deadline - time.monotonic()))
                best = [at for at in self._best(ranked, limit, each) if ranked.is_related(at)]
                enough = ranked.scores[best[0]] * least if best else 0.0
                best = [at for at in best if ranked.scores[at] >= enough]
                unproven = self._unproven({self._owners[at] for at in best})
                for path in unproven:
                    self._forget(path)
                # Others have taken its place in the ranking, unless somebody writes faster than we read.
                if not unproven or time.monotonic() > deadline:
                    break
            found = [
                (self._owners[at], ranked.passage(at, sentence=sentences))
                for at in best
                if self._owners[at] not in unproven
            ]
            status = ranked.status if done and not unproven else "indexing"
            return FolderResults(tuple(found), status, bool(self._too_large))
        finally:
            self._turn.release()

    def _unproven(self, paths: Collection[str]) -> set[str]:
        """Those of these documents whose files have changed since they were read, or have become secrets."""
        read = {path: stamp for path in paths if isinstance(stamp := self._documents[path].stamp, FileMark)}
        if not read:
            return set()
        with self._reader.compare_marks() as has_mark:
            return {path for path, mark in read.items() if not has_mark(path, mark)}

    def _best(self, ranked: PassageRanking, limit: int, each: int | None) -> list[int]:
        if each is None:
            return ranked.best(limit)
        found: list[int] = []
        counts: Counter[str] = Counter()
        for at in ranked.best(limit * _LOOKED_THROUGH):
            counts[self._owners[at]] += 1
            if counts[self._owners[at]] <= each:
                found.append(at)
        return found[:limit]

    def prepare(self, files: Mapping[str, FileMark], drafts: Drafts, seconds: float) -> bool:
        """Read and embed ahead of the next search, for about `seconds`; returns whether there is nothing left to do."""
        found = self.search(files, drafts, "", limit=0, seconds=seconds)
        return found.status == "ready"

    def _rank(self, query: str, wanted: Wanted | None, seconds: float) -> PassageRanking:
        among = None
        if wanted is not None:
            may = {path: wanted(path) for path in self._documents}
            among = np.array([may.get(path, False) for path in self._owners], bool)
        if self.embedder is None:
            return self._searchable.rank(query, None, among=among)
        with VectorCache(self._workspace.state, self._workspace.now()) as cache:
            return self._searchable.rank(query, cache, seconds=seconds, among=among)

    # Following changes in the folder

    def _update(self, files: Mapping[str, FileMark], drafts: Drafts, deadline: float) -> bool:
        """Read what is new or has changed, in the order of the folder; returns whether there was time for all of it."""
        if self._gone > _MANY_GONE and 2 * self._gone > len(self._owners):
            self._reset()
        stamps: dict[str, object] = {
            path: mark for path, mark in files.items() if path not in drafts.covered and mark.size <= LARGEST_FILE
        }
        stamps |= {path: hash(text) for path, text in drafts.texts.items()}
        for path in [
            path for path, document in self._documents.items() if path not in stamps or document.stamp is None
        ]:
            self._forget(path)
        changed = [
            path
            for path, stamp in stamps.items()
            if path not in self._documents or self._documents[path].stamp != stamp
        ]
        if not changed:
            return True
        changed.sort(key=path_order)
        left = len(changed)
        for start in range(0, len(changed), _AT_A_TIME):
            for path, text, stamp in self._read(changed[start : start + _AT_A_TIME], drafts):
                self._add(path, text, stamp)
                left -= 1
                if time.monotonic() > deadline:
                    return left == 0
        return True

    def _read(self, paths: Sequence[str], drafts: Drafts) -> Iterator[tuple[str, str | None, object]]:
        unread = dict.fromkeys(paths)
        for path in paths:
            if path in drafts.texts:
                del unread[path]
                yield path, drafts.texts[path], hash(drafts.texts[path])
        for path, data, mark, _ in self._reader.read_stable_files(list(unread)):
            del unread[path]
            yield path, showable_text(path, data), mark
        for path, data in self._reader.read_many(unread):  # written just now: valid for this search only
            yield path, showable_text(path, data), None

    def _add(self, path: str, text: str | None, stamp: object) -> None:
        """Documents that may not be shown, or do not fit, are stored as empty, so that they are not read for every
        search."""
        self._forget(path)
        text = text or ""
        if self._size + len(text) > self._most:
            self._too_large.add(path)
            text = ""
        name = path.rpartition("/")[2].rpartition(".")[0]
        numbers = self._searchable.add(document_chunks(text, FORMATS.get(format_of(path), "text")), name)
        self._owners += [path] * len(numbers)
        self._documents[path] = _Document(stamp, len(text), numbers)
        self._size += len(text)

    def _forget(self, path: str) -> None:
        document = self._documents.pop(path, None)
        self._too_large.discard(path)
        if document is None:
            return
        self._size -= document.size
        self._searchable.remove(document.numbers)
        self._gone += len(document.numbers)
