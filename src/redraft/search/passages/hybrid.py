"""Ranking passages, of one document or (`everywhere`) of all: by words and by meaning, each with one voice.

A passage's score is the mean of two: its words' (BM25) and its meaning's (cosine), each divided by the best that any
of the passages has, so that neither outweighs the other by its scale; without a model it is the words' alone. How equal
voices and the share that is carried over from the passage before were found, and how far to trust them: docs/search.md.
Of a passage, the tile that fits best says on which line it is found.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from redraft.search.passages.bm25 import Bm25Index, shared_weight
from redraft.search.passages.chunks import document_chunks, tile_sentences, tiles
from redraft.search.passages.embedding_index import EmbeddingIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from redraft.formats.outline.outline import Format
    from redraft.providers.embeddings import Embedder
    from redraft.search.passages.chunks import Chunk, SentenceGroup
    from redraft.search.passages.embedding_index import Progress, Similarity
    from redraft.search.passages.vector_cache import VectorCache

    Scores = NDArray[np.float64]
    Mask = NDArray[np.bool_]

CARRY = 0.3
SECONDS = 20.0
# Of N passages that have nothing to do with a question, the closest has a cosine below UNRELATED + SPREAD * log10(N):
# nearly always with wordllama, nine times of ten with minilm. How it was measured: docs/search.md.
UNRELATED, SPREAD = 0.10, 0.06
# What a question says beyond this would be lost in the mean of so many words anyway.
MAX_QUERY = 4_000
# Larger documents are cut and counted anew for each search: keeping them would cost more memory than the time is worth.
REMEMBERED_CHARACTERS = 4_000_000
Status = Literal["ready", "indexing"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A place that answers. Lines are from 0, half-open; `line` is where the fitting sentences, `text`, begin.

    `score` lies between 0 and 1, and 1 is a passage that no other surpasses in words or in meaning. `number` says which
    of the passages it is. `by_meaning`: it shares no word with the question.
    """

    line: int
    start_line: int
    end_line: int
    score: float
    text: str
    number: int
    by_meaning: bool = False


@dataclass(frozen=True, slots=True)
class PassageResults:
    """The best passages, best first. While `indexing`, those without a vector were judged by their words alone."""

    passages: tuple[Passage, ...]
    status: Status


class PassageIndex:
    """Passages made ready to be searched, for any number of questions. Nothing is added or removed during a search.

    `chunks` are those of one document; `add` takes those of another. Without an embedder, words alone decide.
    """

    def __init__(self, chunks: Sequence[Chunk] = (), embedder: Embedder | None = None) -> None:
        self._chunks: list[Chunk | None] = []
        self._ranking = Bm25Index(carry=CARRY)
        self._meaning = None if embedder is None else EmbeddingIndex((), embedder)
        self._one_at_a_time = threading.Lock()
        self.add(chunks)

    def add(self, chunks: Sequence[Chunk], name: str = "") -> range:
        """Take in the passages of a document; returns their numbers. The words of its name count as a heading's."""
        self._chunks += chunks
        if self._meaning is not None:
            self._meaning.add(chunks)
        return self._ranking.add(f"{name}\n{chunk.under}{chunk.text}" for chunk in chunks)

    def remove(self, numbers: Iterable[int]) -> None:
        """Let passages be found no more. Their numbers are not given again."""
        gone = list(numbers)
        for at in gone:
            self._chunks[at] = None
        self._ranking.remove(gone)
        if self._meaning is not None:
            self._meaning.remove(gone)

    def __len__(self) -> int:
        """How many numbers were given out."""
        return len(self._chunks)

    def search(
        self,
        query: str,
        cache: VectorCache | None,
        *,
        limit: int,
        seconds: float = SECONDS,
        progress: Progress | None = None,
        among: Mask | None = None,
    ) -> PassageResults:
        """The best passages; `among` says, by number, which may be found."""
        ranked = self.rank(query, cache, seconds=seconds, progress=progress, among=among)
        best = ranked.best(limit)
        return PassageResults(tuple(ranked.passage(at) for at in best), ranked.status)

    def rank(
        self,
        query: str,
        cache: VectorCache | None,
        *,
        seconds: float = SECONDS,
        progress: Progress | None = None,
        among: Mask | None = None,
    ) -> PassageRanking:
        """The score of every passage. Of several threads one at a time is served: two would embed the same."""
        with self._one_at_a_time:
            return self._rank(query, cache, seconds, progress, among)

    def _rank(
        self, query: str, cache: VectorCache | None, seconds: float, progress: Progress | None, among: Mask | None
    ) -> PassageRanking:
        query = query[:MAX_QUERY].encode("utf-8", "replace").decode("utf-8")  # a model takes no unpaired surrogates
        counted = np.array([chunk is not None for chunk in self._chunks], bool)
        if among is not None:
            counted &= among
        words = np.where(counted, self._ranking.scores(query), 0)
        status: Status = "ready"
        close = None
        if self._meaning is not None and cache is not None:
            order = np.argsort(-words, kind="stable")
            status = (
                "ready"
                if self._meaning.prepare(cache, order[counted[order]].tolist(), seconds, progress)
                else "indexing"
            )
            close = self._meaning.similarity(query)
            scores = combine_scores(words, np.where(counted, close.scores, 0))
        else:
            scores = _shares(words)
        return PassageRanking(
            self._chunks, self._ranking.weights(query), words, scores, close, status, int(counted.sum())
        )


class PassageRanking:
    """How well every passage answers one question: `scores` together, `words` alone, by number. `counted` passages were
    judged."""

    def __init__(
        self,
        chunks: Sequence[Chunk | None],
        weights: dict[str, float],
        words: Scores,
        scores: Scores,
        close: Similarity | None,
        status: Status,
        counted: int,
    ) -> None:
        self._chunks = chunks
        self._weights = weights
        self._close = close
        self._far = UNRELATED + SPREAD * math.log10(max(1, counted))
        self.words = words
        self.scores = scores
        self.status: Status = status

    def best(self, limit: int) -> list[int]:
        """The numbers of the best passages, best first; equal ones in their order."""
        # Where a row lies in a matrix changes the last bits of its product.
        order = np.argsort(-self.scores.round(6), kind="stable")[: max(0, limit)]
        return order[self.scores[order] > 0].tolist()

    def similarity(self, at: int) -> float:
        """The cosine of a passage to the question; 0 where it is not known."""
        return 0.0 if self._close is None else float(self._close.scores[at])

    def is_related(self, at: int) -> bool:
        """Whether a passage shares a word with the question, or means something closer to it than chance brings."""
        return bool(self.words[at] > 0) or self.similarity(at) >= self._far

    def passage(self, at: int, *, sentence: bool = False) -> Passage:
        """A passage that was found, and the tile of it that fits best, or only the best sentence of that."""
        chunk = self._chunks[at]
        if chunk is None:
            raise ValueError(f"passage {at} was removed")
        cut = tiles(chunk)
        close = None if self._close is None else self._close.of_tiles(at)
        words = np.array([shared_weight(self._weights, tile.text) for tile in cut])
        meaning = np.array(close) if close is not None and len(close) == len(cut) else np.zeros(len(cut))
        fit = combine_scores(words, meaning)
        tile = cut[int(np.argmax(fit))]
        if sentence:
            tile = self._best_sentence(tile)
        return Passage(
            tile.line, chunk.start_line, chunk.end_line, float(self.scores[at]), tile.text, at, not self.words[at]
        )

    def _best_sentence(self, tile: SentenceGroup) -> SentenceGroup:
        """The one with most of the question's words; of several with as many, the one that is closest in meaning."""
        cut = tile_sentences(tile)
        words = [shared_weight(self._weights, each.text) for each in cut]
        best = [each for each, weight in zip(cut, words, strict=True) if weight == max(words)]
        if self._close is None or len(best) == 1:
            return best[0]
        return best[int(np.argmax(self._close.of_texts([each.text for each in best])))]


def combine_scores(words: Scores, meaning: Scores) -> Scores:
    """The mean of both, each as a share of its best; what is below nothing counts as nothing."""
    return (_shares(words) + _shares(meaning)) / 2


def _shares(values: Scores) -> Scores:
    most = float(values.max(initial=0.0))
    return np.maximum(values, 0.0) / most if most > 0 else np.zeros(len(values))


@lru_cache(maxsize=4)
def _cached_passage_index(text: str, format: Format, embedder: Embedder) -> PassageIndex:  # noqa: A002 - as everywhere in formats
    return PassageIndex(document_chunks(text, format), embedder)


def passage_index(text: str, format: Format, embedder: Embedder) -> PassageIndex:  # noqa: A002
    """The document, made ready; the last few stay so."""
    if len(text) > REMEMBERED_CHARACTERS:
        return PassageIndex(document_chunks(text, format), embedder)
    return _cached_passage_index(text, format, embedder)
