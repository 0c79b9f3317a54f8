"""Rank passages by the words they share with a question: BM25, with a share carried over from the passage before.

`carry` says how much the passage before one counts for it. A story names somebody once and then says "she"; the name
that a question asks with often stands a paragraph above the answer. Words are counted before they are weighed (as in
BM25F), so what is carried fills a gap and never outvotes what the passage says itself. Nothing is carried from one
document into another. Scores depend on nothing but the texts given. Search by meaning adds to these scores (see
`hybrid`).
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
    """Passages by number, made ready to be ranked for any number of questions. Used by one thread at a time.

    `texts` are the passages of one document, in their order; `add` takes those of another.
    """

    def __init__(self, texts: Iterable[str] = (), *, carry: float = 0.0) -> None:
        self._carry = carry
        # Of each passage: how many words it has (0 once it is removed), and whether a document begins with it.
        self._lengths = array("I")
        self._begins = array("B")
        self._present = array("B")
        # Of each term: the passages that hold it, and how often each does.
        self._places: dict[str, tuple[array[int], array[int]]] = {}
        self.add(texts)

    def add(self, texts: Iterable[str]) -> range:
        """Take in the passages of a document; returns their numbers."""
        first = len(self._lengths)
        for at, text in enumerate(texts, first):
            counts = Counter(terms(text))
            self._lengths.append(counts.total())
            self._begins.append(at == first)
            self._present.append(1)
            for term, count in counts.items():
                known = self._places.get(term)
                if known is None:
                    known = self._places[term] = (array("I"), array("I"))
                known[0].append(at)
                known[1].append(count)
        return range(first, len(self._lengths))

    def remove(self, numbers: Iterable[int]) -> None:
        """Let passages count no more, as if they had never been there. Their numbers are not given again."""
        for at in numbers:
            self._present[at] = self._lengths[at] = 0

    def scores(self, query: str) -> Scores:
        """One score a passage, by number; 0 where nothing is shared, and of one that was removed."""
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
            known = self._places.get(term)
            if known is None:
                continue
            places, counts = np.array(known[0]), np.array(known[1], np.float64)
            often = np.zeros(size)
            often[places] = np.where(present[places], counts / norms[places], 0)
            if self._carry:
                carried = self._carry * often[follows - 1]
                often[follows] += carried
            scores += self._weight(term, present) * often * (SATURATION + 1) / (often + SATURATION)
        return scores

    def weights(self, query: str) -> dict[str, float]:
        """How much each term of a question says: the rarer among the passages, the more (idf, never negative)."""
        present = np.array(self._present, bool)
        return {term: self._weight(term, present) for term in sorted(set(terms(query)))}

    def _weight(self, term: str, present: NDArray[np.bool_]) -> float:
        known = self._places.get(term)
        holding = int(present[np.array(known[0])].sum()) if known else 0
        return math.log(1 + (int(present.sum()) - holding + 0.5) / (holding + 0.5))


def shared_weight(weights: dict[str, float], text: str) -> float:
    """How much of a question's weight stands in a text."""
    return sum(weights[term] for term in sorted(weights.keys() & set(terms(text))))


def rank(query: str, passages: Sequence[str]) -> list[float]:
    """The plain BM25 score of each passage for a question."""
    return Bm25Index(passages).scores(query).tolist()
