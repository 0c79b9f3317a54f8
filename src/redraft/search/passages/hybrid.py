"""Rank passages, of one document or (`folder_passages`) of all, by words and by meaning with equal weight.

A passage's score is the mean of two: its word score (BM25) and its meaning score (cosine), each divided by the highest
among the passages, so that neither dominates through its scale; without a model it is the word score alone. How equal
weights and the share carried over from the previous passage were chosen, and how far to trust them: docs/search.md.
The tile that matches best gives a passage its line.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from redraft.search.passages.chunks import document_chunks, tile_sentences, tiles
from redraft.search.passages.embedding_index import EmbeddingIndex
from redraft.search.stems import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    from redraft.formats.outline.outline import Format
    from redraft.providers.embeddings import Embedder
    from redraft.search.passages.chunks import Chunk, SentenceGroup
    from redraft.search.passages.embedding_index import Progress, Similarity
    from redraft.search.passages.vector_cache import VectorCache

    Mask = NDArray[np.bool_]


# Rank passages by the words they share with a question: BM25, plus a share of the words of the previous passage.
#
# `carry` is the weight of the previous passage's words. A story names somebody once and then says "she"; the name in a
# question is often a paragraph above the answer. Words are counted before they are weighted (as in BM25F), so what is
# carried over fills a gap and never outweighs the passage's own words. Nothing is carried from one document to another.
# Scores depend only on the given texts.


# The usual values, from Robertson and Zaragoza; not tuned to any collection.
SATURATION = 1.2
LENGTH_WEIGHT = 0.75


class Bm25Index:
    """Passages by number, indexed for any number of questions. Used by one thread at a time.

    `texts` are the passages of one document, in order; `add` takes those of another.
    """

    def __init__(self, texts: Iterable[str] = (), *, carry: float = 0.0) -> None:
        self._carry = carry
        # For each passage: its number of words (0 once it is removed), and whether it is the first of its document.
        self._lengths = array("I")
        self._begins = array("B")
        self._present = array("B")
        # For each term: the passages that contain it, and how often.
        self._places: dict[str, tuple[array[int], array[int]]] = {}
        self.add(texts)

    def add(self, texts: Iterable[str]) -> range:
        """Add the passages of a document; returns their numbers."""
        first = len(self._lengths)
        for at, text in enumerate(texts, first):
            counts = Counter(terms(text))
            self._lengths.append(counts.total())
            self._begins.append(at == first)
            self._present.append(1)
            for term, count in counts.items():
                postings = self._places.get(term)
                if postings is None:
                    postings = self._places[term] = (array("I"), array("I"))
                postings[0].append(at)
                postings[1].append(count)
        return range(first, len(self._lengths))

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove passages, as if they had never been there. Their numbers are not reused."""
        for at in numbers:
            self._present[at] = self._lengths[at] = 0

    def scores(self, query: str) -> Scores:
        """One score per passage, by number; 0 if it shares no word or was removed."""
        size = len(self._lengths)
        scores = np.zeros(size)
        if not size:
            return scores
        present = np.array(self._present, bool)
        lengths = np.array(self._lengths, np.float64)
        mean = lengths.sum() / max(1, present.sum())
        norms = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / (mean or 1)
        follows = np.flatnonzero(present & (np.array(self._begins) == 0))
        for term in sorted(set(terms(query))):
            postings = self._places.get(term)
            if postings is None:
                continue
            places, counts = np.array(postings[0]), np.array(postings[1], np.float64)
            often = np.zeros(size)
            often[places] = np.where(present[places], counts / norms[places], 0)
            if self._carry:
                carried = self._carry * often[follows - 1]
                often[follows] += carried
            scores += self._weight(term, present) * often * (SATURATION + 1) / (often + SATURATION)
        return scores

    def weights(self, query: str) -> dict[str, float]:
        """The weight of each term of a question: the rarer among the passages, the higher (idf, never negative)."""
        present = np.array(self._present, bool)
        return {term: self._weight(term, present) for term in sorted(set(terms(query)))}

    def _weight(self, term: str, present: NDArray[np.bool_]) -> float:
        postings = self._places.get(term)
        holding = int(present[np.array(postings[0])].sum()) if postings else 0
        return math.log(1 + (int(present.sum()) - holding + 0.5) / (holding + 0.5))


def weigh_shared_terms(weights: dict[str, float], text: str) -> float:
    """How much of a question's weight a text contains."""
    return sum(weights[term] for term in sorted(weights.keys() & set(terms(text))))


def rank(query: str, passages: Sequence[str]) -> list[float]:
    """The plain BM25 score of each passage for a question."""
    return Bm25Index(passages).scores(query).tolist()


CARRY = 0.3
SECONDS = 20.0
# Of N passages unrelated to a question, the closest has a cosine below UNRELATED + SPREAD * log10(N): nearly always
# with wordllama, nine times out of ten with minilm. How it was measured: docs/search.md.
UNRELATED, SPREAD = 0.10, 0.06
# The rest of a longer question would be lost in the mean of so many words anyway.
MAX_QUERY = 4_000
# Larger documents are cut and counted again for each search: caching them would cost more memory than it is worth.
REMEMBERED_CHARACTERS = 4_000_000
Status = Literal["ready", "indexing"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A place that answers. Lines are from 0, half-open; `line` is where the matching sentences, `text`, begin.

    `score` is between 0 and 1; 1 is a passage that no other exceeds in words or in meaning. `number` identifies the
    passage. `by_meaning`: it shares no word with the question.
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
    """The best passages, best first. While `indexing`, those without a vector were ranked by words alone."""

    passages: tuple[Passage, ...]
    status: Status


class PassageIndex:
    """Passages indexed for any number of questions. Nothing is added or removed during a search.

    `chunks` are those of one document; `add` takes those of another. Without an embedder, words alone decide.
    """

    def __init__(self, chunks: Sequence[Chunk] = (), embedder: Embedder | None = None) -> None:
        self._chunks: list[Chunk | None] = []
        self._ranking = Bm25Index(carry=CARRY)
        self._meaning = None if embedder is None else EmbeddingIndex((), embedder)
        self._one_at_a_time = threading.Lock()
        self.add(chunks)

    def add(self, chunks: Sequence[Chunk], name: str = "") -> range:
        """Add the passages of a document; returns their numbers. The words of its name count like a heading's."""
        self._chunks += chunks
        if self._meaning is not None:
            self._meaning.add(chunks)
        return self._ranking.add(f"{name}\n{chunk.under}{chunk.text}" for chunk in chunks)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove passages. Their numbers are not reused."""
        removed = list(numbers)
        for at in removed:
            self._chunks[at] = None
        self._ranking.remove(removed)
        if self._meaning is not None:
            self._meaning.remove(removed)

    def __len__(self) -> int:
        """How many numbers have been used."""
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
        """The score of every passage. One thread at a time is served: two would embed the same passages."""
        with self._one_at_a_time:
            return self._rank(query, cache, seconds, progress, among)

    def _rank(
        self, query: str, cache: VectorCache | None, seconds: float, progress: Progress | None, among: Mask | None
    ) -> PassageRanking:
        query = query[:MAX_QUERY].encode("utf-8", "replace").decode("utf-8")  # models do not accept unpaired surrogates
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
    """How well every passage answers one question: `scores` combined, `words` alone, by number. `counted` passages were
    ranked."""

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
        """The numbers of the best passages, best first; equal ones in order."""
        # The position of a row in a matrix changes the last bits of its product.
        order = np.argsort(-self.scores.round(6), kind="stable")[: max(0, limit)]
        return order[self.scores[order] > 0].tolist()

    def similarity(self, at: int) -> float:
        """The cosine of a passage to the question; 0 if unknown."""
        return 0.0 if self._close is None else float(self._close.scores[at])

    def is_related(self, at: int) -> bool:
        """Whether a passage shares a word with the question, or is closer to it in meaning than by chance."""
        return bool(self.words[at] > 0) or self.similarity(at) >= self._far

    def passage(self, at: int, *, sentence: bool = False) -> Passage:
        """A passage with its best tile, or only the best sentence of that."""
        chunk = self._chunks[at]
        if chunk is None:
            raise ValueError(f"passage {at} was removed")
        cut = tiles(chunk)
        close = None if self._close is None else self._close.of_tiles(at)
        words = np.array([weigh_shared_terms(self._weights, tile.text) for tile in cut])
        meaning = np.array(close) if close is not None and len(close) == len(cut) else np.zeros(len(cut))
        fit = combine_scores(words, meaning)
        tile = cut[int(np.argmax(fit))]
        if sentence:
            tile = self._best_sentence(tile)
        return Passage(
            tile.line, chunk.start_line, chunk.end_line, float(self.scores[at]), tile.text, at, not self.words[at]
        )

    def _best_sentence(self, tile: SentenceGroup) -> SentenceGroup:
        """The sentence with most of the question's words; among equals, the closest in meaning."""
        cut = tile_sentences(tile)
        words = [weigh_shared_terms(self._weights, each.text) for each in cut]
        best = [each for each, weight in zip(cut, words, strict=True) if weight == max(words)]
        if self._close is None or len(best) == 1:
            return best[0]
        return best[int(np.argmax(self._close.of_texts([each.text for each in best])))]


def combine_scores(words: Scores, meaning: Scores) -> Scores:
    """The mean of both, each relative to its highest; negative values count as 0."""
    return (_shares(words) + _shares(meaning)) / 2


def _shares(values: Scores) -> Scores:
    most = float(values.max(initial=0.0))
    return np.maximum(values, 0.0) / most if most > 0 else np.zeros(len(values))


@lru_cache(maxsize=4)
def _open_passage_index(text: str, format: Format, embedder: Embedder) -> PassageIndex:  # noqa: A002 - as everywhere in formats
    return PassageIndex(document_chunks(text, format), embedder)


def passage_index(text: str, format: Format, embedder: Embedder) -> PassageIndex:  # noqa: A002
    """The index of a document; the last few are cached."""
    if len(text) > REMEMBERED_CHARACTERS:
        return PassageIndex(document_chunks(text, format), embedder)
    return _open_passage_index(text, format, embedder)
