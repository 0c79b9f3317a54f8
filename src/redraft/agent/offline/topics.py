"""Which notes belong together: groups by similarity, each with the words its notes share. Pure, except for the
embedder.

Similarity is the cosine of the notes' vectors: from an embedder if one is installed, else from their words, weighted by
how few notes contain them. The two most similar groups are joined as long as their average similarity is high enough.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.search.stems import stem, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Measured on notes about everyday topics: notes on one topic score 0.30 to 0.55 by meaning, others below 0.20.
CLOSE_BY_MEANING, CLOSE_BY_WORDS = 0.25, 0.10
SHARED = 3


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Notes that belong together, and the words that explain it, the most distinctive first."""

    members: tuple[str, ...]
    shared: tuple[str, ...]


def find_groups(notes: Mapping[str, str]) -> tuple[list[TopicGroup], str]:
    """The groups of two or more notes, given by name, and how they were compared: by `meaning` or `words`."""
    names = list(notes)
    rows, by = _vectors([notes[name] for name in names])
    close = CLOSE_BY_MEANING if by == "meaning" else CLOSE_BY_WORDS
    clusters = _cluster(len(names), lambda a, b: _cosine(rows[a], rows[b]), close)
    found = [
        TopicGroup(tuple(names[at] for at in each), find_shared_words([notes[names[at]] for at in each], notes))
        for each in clusters
        if len(each) > 1
    ]
    return [group for group in found if group.shared], by


def closeness(query: str, texts: Sequence[str]) -> list[float]:
    """How similar each text is to the query, on one scale."""
    rows, _ = _vectors([query, *texts])
    return [_cosine(rows[0], row) for row in rows[1:]]


def _vectors(texts: Sequence[str]) -> tuple[list[dict[int | str, float]], str]:
    from redraft.providers.embeddings import is_installed, load_embedder

    if is_installed("wordllama"):
        try:
            rows: list[list[float]] = load_embedder("wordllama").embed(texts).tolist()
            return [dict(enumerate(row)) for row in rows], "meaning"
        except Refused:
            pass
    counts = [Counter(terms(text)) for text in texts]
    spread = Counter(word for each in counts for word in each)
    weighed: list[dict[int | str, float]] = [
        {word: count * math.log(1 + len(texts) / spread[word]) for word, count in each.items()} for each in counts
    ]
    return weighed, "words"


def _cosine(one: dict[int | str, float], other: dict[int | str, float]) -> float:
    dot = sum(value * other.get(key, 0.0) for key, value in one.items())
    size = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return dot / size if size else 0.0


def _cluster(count: int, closeness: Callable[[int, int], float], close: float) -> list[list[int]]:
    """Average-link clustering: cubic in time, and meant for the tens of notes that a job can move."""
    near = {(a, b): closeness(a, b) for a in range(count) for b in range(a + 1, count)}
    clusters = [[at] for at in range(count)]

    def between(one: list[int], other: list[int]) -> float:
        return sum(near[min(a, b), max(a, b)] for a in one for b in other) / (len(one) * len(other))

    while len(clusters) > 1:
        pairs = (
            (between(one, other), i, j) for i, one in enumerate(clusters) for j, other in enumerate(clusters) if i < j
        )
        best, i, j = max(pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
        if best < close:
            break
        clusters[i] = sorted(clusters[i] + clusters.pop(j))
    return clusters


def find_shared_words(texts: Sequence[str], notes: Mapping[str, str]) -> tuple[str, ...]:
    """The words, as written, that at least half of the texts contain and that are rare among the other notes."""
    in_group = Counter(word for text in texts for word in set(terms(text)))
    everywhere = Counter(word for text in notes.values() for word in set(terms(text)))
    least = max(2, math.ceil(len(texts) / 2))
    telling = [
        (count / everywhere[word], count, word) for word, count in in_group.items() if count >= least and len(word) > 2
    ]
    surface: dict[str, Counter[str]] = {}
    for text in texts:
        for word in text.casefold().split():
            bare = word.strip(".,;:!?()[]*_#\"'“”‘’`-")
            if bare.isalpha():
                surface.setdefault(stem(bare), Counter())[bare] += 1
    ranked = sorted(telling, key=lambda each: (-each[0] * each[1], each[2]))
    return tuple(surface[word].most_common(1)[0][0] for _, _, word in ranked if word in surface)[:SHARED]
