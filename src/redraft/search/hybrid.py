"""Searching by meaning, in one document or (`everywhere`) in all: words and vectors, each with one voice.

A passage's score is the mean of two: its words' (BM25) and its meaning's (cosine), each divided by the best that any
of the passages has, so that neither outweighs the other by its scale. How equal voices and the share that
is carried over from the passage before were found, and how far to trust them: docs/search.md. Of a passage, the tile
that fits best says on which line it is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from redraft.search.chunks import document_chunks
from redraft.search.lexical import Ranking
from redraft.search.semantic import Closeness, Meaning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.outline import Format
    from redraft.providers.embeddings import Embedder
    from redraft.search.chunks import Chunk
    from redraft.search.semantic import Progress
    from redraft.search.vectors import VectorCache

CARRY = 0.3
SECONDS = 20.0
# Larger documents are cut and counted anew for each search: keeping them would cost more memory than the time is worth.
REMEMBERED_CHARACTERS = 4_000_000
Status = Literal["ready", "indexing"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A place that answers. Lines are from 0, half-open; `line` is where the fitting sentences, `text`, begin.

    `score` lies between 0 and 1, and 1 is a passage that no other surpasses in words or in meaning. `number` says which
    of the passages it is.
    """

    line: int
    start_line: int
    end_line: int
    score: float
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Found:
    """The best passages, best first. While `indexing`, those without a vector were judged by their words alone."""

    passages: tuple[Passage, ...]
    status: Status


class Searchable:
    """Passages made ready to be searched by meaning, for any number of questions."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder) -> None:
        self._chunks = chunks
        self._ranking = Ranking([chunk.under + chunk.text for chunk in self._chunks], carry=CARRY)
        self._meaning = Meaning(self._chunks, embedder)

    def search(
        self,
        query: str,
        cache: VectorCache,
        *,
        limit: int,
        seconds: float = SECONDS,
        progress: Progress | None = None,
    ) -> Found:
        query = query.encode("utf-8", "replace").decode("utf-8")  # a model takes no unpaired surrogates
        words = self._ranking.scores(query)
        order = sorted(range(len(words)), key=lambda at: (-words[at], at))
        ready = self._meaning.prepare(cache, order, seconds, progress)
        close = self._meaning.closeness(query)
        scores = combined(words, [each.score if each else 0.0 for each in close])
        best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:limit]
        found = tuple(self._passage(at, scores[at], close[at], query) for at in best if scores[at] > 0)
        return Found(found, "ready" if ready else "indexing")

    def _passage(self, at: int, score: float, close: Closeness | None, query: str) -> Passage:
        chunk, tiles = self._chunks[at], self._meaning.tiles[at]
        words = [self._ranking.shared(query, tile.text) for tile in tiles]
        fit = combined(words, close.tiles if close else [0.0] * len(tiles))
        tile = tiles[max(range(len(tiles)), key=lambda number: (fit[number], -number))]
        return Passage(tile.line, chunk.start_line, chunk.end_line, score, tile.text, at)


def combined(words: Sequence[float], meaning: Sequence[float]) -> list[float]:
    """The mean of both, each as a share of its best; what is below nothing counts as nothing."""
    most_words, most_meaning = max(words, default=0.0), max(meaning, default=0.0)
    return [
        (_share(word, most_words) + _share(close, most_meaning)) / 2 for word, close in zip(words, meaning, strict=True)
    ]


def _share(value: float, most: float) -> float:
    return max(0.0, value / most) if most > 0 else 0.0


@lru_cache(maxsize=4)
def _remembered(text: str, format: Format, embedder: Embedder) -> Searchable:  # noqa: A002 - as everywhere in formats
    return Searchable(document_chunks(text, format), embedder)


def searchable(text: str, format: Format, embedder: Embedder) -> Searchable:  # noqa: A002
    """The document, made ready; the last few stay so."""
    if len(text) > REMEMBERED_CHARACTERS:
        return Searchable(document_chunks(text, format), embedder)
    return _remembered(text, format, embedder)
