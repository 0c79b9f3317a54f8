"""Searching a whole folder by meaning: the passages of all its documents, judged together by `hybrid`.

Documents are read as the person sees them, what is not saved included; a secret never is. Reading wants the workspace
to itself; judging does not, and takes its time the first time: so they are two steps. Nothing is written but the kept
vectors.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from redraft.files.textfile import format_of
from redraft.search.chunks import document_chunks
from redraft.search.globs import path_filter
from redraft.search.hits import order
from redraft.search.hybrid import Searchable
from redraft.workspace.reading import drafted, read_all, shown

if TYPE_CHECKING:
    from redraft.formats.outline import Format
    from redraft.providers.embeddings import Embedder
    from redraft.search.hybrid import Passage, Status
    from redraft.search.vectors import VectorCache
    from redraft.workspace.engine import Engine

MOST_CHARACTERS = 5_000_000
# A page waits for the answer; what is not embedded by then is judged by its words, and the next search goes on.
SECONDS = 3.0
# A whole folder always has passages that fit a little; they would stand between those that do.
WORTH = 0.5
FORMATS: dict[str, Format] = {"markdown": "markdown", "json": "json", "yaml": "yaml", "text": "text"}

_one_at_a_time = threading.Lock()


class Read(NamedTuple):
    """The documents of a folder, in order, and whether there were more than can be judged."""

    documents: tuple[tuple[str, str], ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The best passages of all, each with its document, best first; `status` as in `hybrid.Found`."""

    passages: tuple[tuple[str, Passage], ...]
    status: Status


def read_folder(engine: Engine, glob: str | None = None, most: int = MOST_CHARACTERS) -> Read:
    """The texts of a folder, or of the files that fit a glob. For those who have the workspace to themselves."""
    first = _First(most)
    fits = path_filter(glob)

    def wanted(path: str) -> bool:
        return fits(path) and format_of(path) in FORMATS and first.wants(path)

    drafts, covered = drafted(engine)
    for path, text in drafts.items():
        if wanted(path):
            first.add(path, text)
    for portion in read_all(engine, lambda path: path not in covered and wanted(path)):
        for path, data in portion:
            text = shown(path, data)
            if text is not None:
                first.add(path, text)
    return first.found()


class _First:
    """The first documents of a folder in their order, as many as fit; never many more are held at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._texts: list[tuple[str, str]] = []
        self._size = 0
        self._end: str | None = None

    def wants(self, path: str) -> bool:
        """Whether it comes before the first that did not fit."""
        return self._end is None or order(path) < order(self._end)

    def add(self, path: str, text: str) -> None:
        self._texts.append((path, text))
        self._size += len(text)
        if self._size > 2 * self._most:
            self._cut()

    def _cut(self) -> None:
        texts = sorted((each for each in self._texts if self.wants(each[0])), key=lambda each: order(each[0]))
        self._texts, self._size = [], 0
        for path, text in texts:
            if self._size + len(text) > self._most:
                self._end = path
                return
            self._texts.append((path, text))
            self._size += len(text)

    def found(self) -> Read:
        self._cut()
        return Read(tuple(self._texts), truncated=self._end is not None)


def search_everywhere(
    read: Read, query: str, embedder: Embedder, cache: VectorCache, *, limit: int, seconds: float = SECONDS
) -> Everywhere:
    """The passages that answer a description best: none that is not half as good as the first.

    One search is made at a time, since two would embed the same passages.
    """
    with _one_at_a_time:
        ready, starts = _ready(read.documents, embedder)
        found = ready.search(query, cache, limit=limit, seconds=seconds)
    least = max((passage.score for passage in found.passages), default=0.0) * WORTH
    passages = [passage for passage in found.passages if passage.score >= least]
    paths = [read.documents[bisect_right(starts, passage.number) - 1][0] for passage in passages]
    return Everywhere(tuple(zip(paths, passages, strict=True)), found.status)


@lru_cache(maxsize=1)
def _ready(documents: tuple[tuple[str, str], ...], embedder: Embedder) -> tuple[Searchable, list[int]]:
    """The passages of all documents, and the number of the first of each."""
    chunks = [document_chunks(text, FORMATS[format_of(path)]) for path, text in documents]
    starts = [0, *accumulate(len(some) for some in chunks)]
    return Searchable([chunk for some in chunks for chunk in some], embedder), starts[:-1]
