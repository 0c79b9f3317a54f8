"""Ranking passages by the words they share with a question: BM25, with a passage's past at its back.

`carry` says how much the passage before one counts for it. A story names somebody once and then says "she"; the name
that a question asks with often stands a paragraph above the answer. Words are counted before they are weighed (as in
BM25F), so what is carried fills a gap and never outvotes what the passage says itself. Pure: scores depend on nothing
but the texts given. Search by meaning adds to these scores (see `hybrid`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from redraft.search.stems import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

# The usual values, from Robertson and Zaragoza; not tuned to any collection.
SATURATION = 1.2
LENGTH_WEIGHT = 0.75


class Ranking:
    """Passages, in the order of their document, made ready to be ranked for any number of questions."""

    def __init__(self, texts: Sequence[str], *, carry: float = 0.0) -> None:
        self._size = len(texts)
        self._carry = carry
        lengths: list[int] = []
        # Of each term: the passages that hold it, and how often.
        self._places: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for at, text in enumerate(texts):
            counts = Counter(terms(text))
            lengths.append(counts.total())
            for term, count in counts.items():
                self._places[term][at] = count
        mean = sum(lengths) / len(texts) if texts else 0.0
        self._norms = [1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / (mean or 1) for length in lengths]

    def scores(self, query: str) -> list[float]:
        """One score a passage, in their order; 0 where nothing is shared."""
        scores = [0.0] * self._size
        for term in sorted(set(terms(query))):
            weight = self._weight(term)
            for at, often in self._often(term).items():
                scores[at] += weight * often * (SATURATION + 1) / (often + SATURATION)
        return scores

    def shared(self, query: str, text: str) -> float:
        """How much of a question's weight stands in a part of a passage."""
        return sum(map(self._weight, sorted(set(terms(query)).intersection(terms(text)))))

    def _weight(self, term: str) -> float:
        """The rarer among the passages, the more a term says (idf, never negative)."""
        holding = len(self._places.get(term, ()))
        return math.log(1 + (self._size - holding + 0.5) / (holding + 0.5))

    def _often(self, term: str) -> dict[int, float]:
        """How often a term occurs in each passage, for its length, with what is carried over from the one before."""
        own = {at: count / self._norms[at] for at, count in self._places.get(term, {}).items()}
        if not self._carry:
            return own
        carried = dict(own)
        for at, often in own.items():
            if at + 1 < self._size:
                carried[at + 1] = carried.get(at + 1, 0.0) + self._carry * often
        return carried


def rank(query: str, passages: Sequence[str]) -> list[float]:
    """The plain BM25 score of each passage for a question."""
    return Ranking(passages).scores(query)
