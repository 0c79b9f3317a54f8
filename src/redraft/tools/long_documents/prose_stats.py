"""What can be counted in a text without a model: mentions of names, first appearances, style figures.

A name matches as whole words, with any white space between them, so that a line break does not hide it. What looks
like a name (`likely_names`) is a guess by capital letters, and labelled as one. Lines count from 0. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from redraft.text.lines import count_breaks
from redraft.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
CAPITALISED = r"[^\W\d_a-zß-öø-ÿ][\w’'-]*"  # a word, as a pattern
_RUN = re.compile(rf"(?<![\w’'-]){CAPITALISED}(?:[^\S\r\n]+{CAPITALISED})*")
POSSESSIVE = re.compile(r"['’]s?\Z")
_QUOTED = re.compile(r"“[^”]*”|«[^»]*»|\"[^\"\n]*\"")


def word_set(text: str) -> frozenset[str]:
    """The words of a table, written as one string."""
    return frozenset(text.split())


# Capitalised in the middle of a sentence, but not a name.
_NO_NAMES = word_set(
    """i i’m i'm i’ll i'll i’ve i've i’d i'd o oh ah mr mrs ms dr sir madam miss lord lady god chapter book part
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december english french german latin greek"""
)
LEAST_MENTIONS = 2
WORDS_A_MINUTE = 230


@dataclass(frozen=True, slots=True)
class NameCounts:
    """How often a name occurs in a text, and on which line first; None if it does not."""

    name: str
    count: int
    first_line: int | None


def name_pattern(name: str) -> str:
    """The regular expression for a name as whole words, without a possessive ending."""
    words = r"\s+".join(map(re.escape, name.split()))
    return rf"(?<!\w){words}(?!\w)"


def mentions_of(text: str, names: Iterable[Sequence[str]]) -> list[NameCounts]:
    """The mentions of each person, who may have several names, in one pass over the text. A longer name is never also
    counted as a shorter one within it."""
    people = [tuple(" ".join(name.split()) for name in person) for person in names]
    owners = {name: at for at, person in enumerate(people) for name in reversed(person) if name}
    counts, first = Counter[int](), dict[int, int]()
    if owners:
        longest_first = sorted(owners, key=lambda name: (-len(name), name))
        for match in re.finditer("|".join(map(name_pattern, longest_first)), text):
            owner = owners[" ".join(match.group().split())]
            counts[owner] += 1
            first.setdefault(owner, match.start())
    lines = _lines_at(text, first)
    return [NameCounts(person[0], counts[at], lines.get(at)) for at, person in enumerate(people) if person]


def _lines_at(text: str, places: dict[int, int]) -> dict[int, int]:
    """The lines of offsets, counted in one pass."""
    lines: dict[int, int] = {}
    at = line = 0
    for owner, place in sorted(places.items(), key=lambda pair: pair[1]):
        line += count_breaks(text[at:place])
        at = place
        lines[owner] = line
    return lines


def likely_names(text: str, most: int = 50) -> list[NameCounts]:
    """What looks like a name, by mentions: capitalised in the middle of a sentence, and more than once in the text."""
    found = Counter[str]()
    for name in _inner_names(text):
        found[name] += 1
    wanted = [name for name, count in found.most_common(4 * most) if count >= LEAST_MENTIONS]
    counted = mentions_of(text, [(name,) for name in wanted])
    return sorted(counted, key=lambda each: (-each.count, each.name))[:most]


def _inner_names(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        begins = len(sentence) - len(sentence.lstrip(" \t\r\n\"'“‘«(*_#>-"))
        for match in _RUN.finditer(sentence):
            words = POSSESSIVE.sub("", match.group()).split()
            quoted = match.start() > 0 and sentence[match.start() - 1] in "\"'“‘«("
            if match.start() <= begins or quoted:
                words = words[1:]  # its capital letter means nothing
            while words and words[0].casefold().rstrip(".") in _NO_NAMES:
                words = words[1:]
            name = " ".join(words)
            if name and not name.isupper():
                yield name


def style_figures(text: str) -> dict[str, Any]:
    """The figures of a text's style: lengths, vocabulary, how much of it is spoken."""
    lengths = [len(words) for sentence in sentences(text) if (words := WORD.findall(sentence))]
    words = Counter(word.casefold() for word in WORD.findall(text))
    total = words.total()
    spoken = sum(len(WORD.findall(match.group())) for match in _QUOTED.finditer(text))
    return {
        "words": total,
        "different_words": len(words),
        "sentences": len(lengths),
        "average_sentence_words": round(total / len(lengths), 1) if lengths else 0.0,
        "median_sentence_words": float(median(lengths)) if lengths else 0.0,
        "longest_sentence_words": max(lengths, default=0),
        "average_word_letters": round(sum(len(w) * n for w, n in words.items()) / total, 1) if total else 0.0,
        "spoken_percent": round(100 * spoken / total, 1) if total else 0.0,
        "reading_minutes": round(total / WORDS_A_MINUTE, 1),
    }
