"""How similar passages are to a question in meaning.

A passage is embedded tile by tile (see `chunks`). Its similarity is the mean of two cosines: that of its best tile,
which is about as short as a question, and that of all its tiles together, which represent the passage's subject.
Passages are embedded when they are first searched, the most promising first. Vectors are stored (see `vector_cache`) in
half precision, and compared in it, so that an answer does not depend on which of them were cached. If time runs out,
some passages have no vector yet; the next search continues from there.
"""

from __future__ import annotations

import time
from array import array
from typing import TYPE_CHECKING

import numpy as np

from redraft.search.passages.chunks import tiles
from redraft.search.passages.vector_cache import vector_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from redraft.providers.embeddings import Embedder, Vectors
    from redraft.search.passages.chunks import Chunk
    from redraft.search.passages.vector_cache import VectorCache

    Progress = Callable[[int, int], object]
    Halves = NDArray[np.float16]
    Scores = NDArray[np.float64]

BATCH = 32
# Rows compared at one time: in full precision they take 16 MB.
ROWS = 16_384


class EmbeddingIndex:
    """Passages by number, for one model. Used by one thread at a time."""

    def __init__(self, chunks: Iterable[Chunk], embedder: Embedder) -> None:
        self._embedder = embedder
        self._chunks: list[Chunk | None] = []
        self._keys: list[bytes] = []
        self._waiting: set[int] = set()
        self._unlooked: list[int] = []
        # The vectors of all tiles as rows, those of a passage together: the passage of each group, its first row, and
        # the length of its mean vector.
        self._rows: Halves = np.zeros((0, embedder.dimension), np.float16)
        self._used = 0
        self._owners, self._starts, self._lengths = array("I"), array("I"), array("d")
        self._place: dict[int, int] = {}
        self.add(chunks)

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Add more passages, numbered from the last one."""
        for chunk in chunks:
            at = len(self._chunks)
            self._chunks.append(chunk)
            self._keys.append(vector_key(self._embedder.name, chunk.text))
            self._waiting.add(at)
            self._unlooked.append(at)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove passages."""
        for at in numbers:
            self._chunks[at] = None
            self._waiting.discard(at)

    def prepare(
        self, cache: VectorCache, order: Sequence[int], seconds: float, progress: Progress | None = None
    ) -> bool:
        """Embed what is not embedded yet, in this order, for about `seconds`; returns whether all of these are done.

        `progress` is called with how many of how many passages are done.
        """
        self._load(cache)
        waiting = [at for at in order if at in self._waiting] if self._waiting else []
        deadline = time.monotonic() + seconds
        for start in range(0, len(waiting), BATCH):
            if start and time.monotonic() > deadline:
                return False
            self._embed(cache, waiting[start : start + BATCH])
            if progress is not None:
                progress(len(order) - max(0, len(waiting) - start - BATCH), len(order))
        if waiting:
            cache.prune()
        return True

    def _load(self, cache: VectorCache) -> None:
        """Load cached vectors; each passage is looked up once."""
        wanted = [at for at in self._unlooked if at in self._waiting]
        self._unlooked = []
        cached = cache.get(self._keys[at] for at in wanted) if wanted else {}
        size = 2 * self._embedder.dimension
        for at in wanted:
            data = cached.get(self._keys[at], b"")
            if data and len(data) % size == 0:
                self._put(at, np.frombuffer(data, np.float16).reshape(-1, self._embedder.dimension))

    def _embed(self, cache: VectorCache, some: Sequence[int]) -> None:
        cut = [[tile.text for tile in tiles(chunk)] if (chunk := self._chunks[at]) else [] for at in some]
        rows = self._embedder.embed([text for texts in cut for text in texts]).astype(np.float16)
        vectors: dict[bytes, bytes] = {}
        end = 0
        for at, texts in zip(some, cut, strict=True):
            start, end = end, end + len(texts)
            self._put(at, rows[start:end])
            vectors[self._keys[at]] = rows[start:end].tobytes()
        cache.put(vectors)

    def _put(self, at: int, rows: Halves) -> None:
        self._waiting.discard(at)
        if not len(rows):
            return
        end = self._used + len(rows)
        if end > len(self._rows):
            larger = np.zeros((max(2 * len(self._rows), end, 256), self._embedder.dimension), np.float16)
            larger[: self._used] = self._rows[: self._used]
            self._rows = larger
        self._rows[self._used : end] = rows
        self._place[at] = len(self._owners)
        self._owners.append(at)
        self._starts.append(self._used)
        self._lengths.append(float(np.linalg.norm(rows.astype(np.float32).mean(axis=0))))
        self._used = end

    def similarity(self, query: str) -> Similarity:
        """The similarity of every embedded passage to a question."""
        wanted = self._embedder.embed([query])[0]
        cosines = np.zeros(self._used)
        for start in range(0, self._used, ROWS):
            end = min(start + ROWS, self._used)
            cosines[start:end] = self._rows[start:end].astype(np.float32) @ wanted
        scores = np.zeros(len(self._chunks))
        starts = np.array(self._starts)
        if len(starts):
            counts = np.diff(starts, append=self._used)
            lengths = np.array(self._lengths)
            whole = np.add.reduceat(cosines, starts) / counts / np.where(lengths > 0, lengths, 1)
            scores[np.array(self._owners)] = (whole + np.maximum.reduceat(cosines, starts)) / 2
        return Similarity(self, wanted, cosines, scores)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are used only once; they are not cached."""
        return self._embedder.embed(texts)

    def rows_of(self, at: int) -> slice | None:
        place = self._place.get(at)
        if place is None:
            return None
        following = place + 1
        return slice(self._starts[place], self._starts[following] if following < len(self._starts) else self._used)


class Similarity:
    """Similarity to one question, as cosines: `scores` of the passages by number, 0 for those that are not embedded."""

    def __init__(self, meaning: EmbeddingIndex, question: Vectors, cosines: Scores, scores: Scores) -> None:
        self._meaning = meaning
        self._question = question
        self._cosines = cosines
        self.scores = scores

    def of_tiles(self, at: int) -> list[float] | None:
        """The cosine of each tile of a passage; None if it is not embedded."""
        rows = self._meaning.rows_of(at)
        return None if rows is None else self._cosines[rows].tolist()

    def of_texts(self, texts: Sequence[str]) -> list[float]:
        """The cosines of parts of passages, which have no vectors of their own."""
        return (self._meaning.embed(texts) @ self._question).tolist()
