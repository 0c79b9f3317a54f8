"""Rank passages by the words they share with a question: BM25, plus a share of the words of the previous passage.

`carry` is the weight of the previous passage's words. A story names somebody once and then says "she"; the name
in a question is often a paragraph above the answer. Words are counted before they are weighted (as in BM25F), so what
is carried over fills a gap and never outweighs the passage's own words. Nothing is carried from one document to
another. Scores depend only on the given texts. Search by meaning is combined with these scores in `hybrid`.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from redraft.search.stems import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

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


def shared_weight(weights: dict[str, float], text: str) -> float:
    """How much of a question's weight a text contains."""
    return sum(weights[term] for term in sorted(weights.keys() & set(terms(text))))


def rank(query: str, passages: Sequence[str]) -> list[float]:
    """The plain BM25 score of each passage for a question."""
    return Bm25Index(passages).scores(query).tolist()
