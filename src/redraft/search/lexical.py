"""Ranking passages by the words they share with a question: BM25 over chunks, with simple stemming.

A chunk is a paragraph, or several short ones together, up to about 200 words. Stemming takes off the endings of English
words that matter most for finding (plurals, -ing, -ed, -ly and the like) and is no linguist; in other languages it does
little, and little harm. Pure: scores depend on nothing but the texts given. Search by meaning adds to these scores.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHUNK_WORDS = 200
# The usual values, from Robertson and Zaragoza; not tuned to any collection.
SATURATION = 1.2
LENGTH_WEIGHT = 0.75

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHORTEST_STEM = 3
_VOWEL = re.compile(r"[aeiouy]")
_ENDINGS = (
    ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"), ("ization", "ize"),
    ("ement", ""), ("ment", ""), ("ness", ""), ("tion", "t"), ("sion", "s"), ("able", ""), ("ible", ""),
    ("ally", "al"), ("ful", ""), ("ing", ""), ("est", ""), ("ed", ""), ("er", ""), ("ly", ""),
)  # fmt: skip
# Said in nearly every question and nearly every passage: they tell passages apart by chance only.
_STOP_WORDS = """
    a about after all am an and any are as at be because been before being but by can could did do does for from had
    has have he her hers him his how i if in into is it its me my no not of on or our out she so some than that the
    their them then there these they this those to up upon us was we were what when where which who whom whose why
    will with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: its lines, half-open from 0, and its text."""

    start_line: int
    end_line: int
    text: str


def chunks(text: str, *, words: int = CHUNK_WORDS) -> list[Chunk]:
    """Cut a text at blank lines; short paragraphs are joined and long ones cut at lines, up to so many words each."""
    found: list[Chunk] = []
    start = count = 0
    held: list[str] = []
    for number, line in enumerate(split_lines(text)):
        size = len(line.split())
        at_heading = line.startswith("#") and count > 0
        full = count + size > words or (count > words // 2 and not line.strip())
        if held and (at_heading or (full and count)):
            found.append(Chunk(start, number, "".join(held)))
            start, count, held = number, 0, []
        held.append(line)
        count += size
    if count:
        found.append(Chunk(start, start + len(held), "".join(held)))
    return found


def terms(text: str) -> Iterator[str]:
    """The stems of a text's words, those that say nothing left out."""
    for match in _WORD.finditer(text.casefold()):
        word = match.group().replace("’", "'").removesuffix("'s")
        if word not in _STOP:
            yield stem(word)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its ending; what is left need not be a word, only the same for its relatives."""
    word = _without_plural(word)
    for ending, instead in _ENDINGS:
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _SHORTEST_STEM and _VOWEL.search(rest):
            word = rest + instead
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeious":
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word


def _without_plural(word: str) -> str:
    if len(word) <= _SHORTEST_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zes")) else word[:-1]


class Ranking:
    """Passages made ready to be ranked for any number of questions."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(terms(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(texts) if texts else 0.0
        self._holding = Counter(term for counts in self._counts for term in counts)

    def scores(self, query: str) -> list[float]:
        """One score a passage, in their order; 0 where nothing is shared."""
        wanted = [(term, self._weight(term)) for term in sorted(set(terms(query)))]
        return [self._score(wanted, counts, length) for counts, length in zip(self._counts, self._lengths, strict=True)]

    def _weight(self, term: str) -> float:
        """The rarer among the passages, the more a term says (idf, never negative)."""
        holding = self._holding[term]
        return math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))

    def _score(self, wanted: Sequence[tuple[str, float]], counts: Counter[str], length: int) -> float:
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / (self._mean or 1))
        return sum(
            weight * count * (SATURATION + 1) / (count + norm) for term, weight in wanted if (count := counts.get(term))
        )


def rank(query: str, passages: Sequence[str]) -> list[float]:
    """The BM25 score of each passage for a question."""
    return Ranking(passages).scores(query)
