"""A request as tokens that remember their position, with quoted parts kept whole.

Nothing is corrected here: the person's exact words may end up in a document. Only the comparison with a word that the
grammar expects (`likeness`) ignores inflection and typing errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from redraft.search.stems import stem

# A long request is a short command with a long text in it: the command is in the first words.
MAX_TOKENS = 60
EXACT, INFLECTED, MISTYPED = 1.0, 0.9, 0.6

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "`": "`", "‘": "’", "'": "'"}
_TOKEN = re.compile(r"\S+")
_EDGE = ",;:!?()[]"
_SHORT = {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "'d": "would", "'ll": "will"}
_CONTRACTED = frozenset(
    ("what", "where", "who", "how", "that", "there", "it", "i", "we", "you", "they", "when", "here")
)
_CLOSES_AFTER = set(" \t\n\r.,;:!?)]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or a whole quoted part. `key` is what the grammar compares, empty for a quoted part."""

    text: str
    key: str
    start: int
    end: int

    @property
    def quoted(self) -> bool:
        return not self.key


def word_list(words: str) -> tuple[str, ...]:
    """The words of a table, written as one string with spaces between them."""
    return tuple(words.split())


def tokenize(request: str) -> list[Token]:
    """The tokens of a request; everything after the first sixty is one more token."""
    found: list[Token] = []
    at = 0
    while (match := _TOKEN.search(request, at)) is not None:
        if len(found) >= MAX_TOKENS:
            end = len(request.rstrip())
            found.append(Token(request[match.start() : end], "", match.start(), end))
            break
        quoted = _read_quoted_token(request, match.start())
        if quoted is not None:
            found.append(quoted)
            at = quoted.end
        else:
            found += _split_word(match.group(), match.start())
            at = match.end()
    return found


def _read_quoted_token(request: str, start: int) -> Token | None:
    """The quoted part that begins here; an unclosed quote is just a character."""
    closing = _QUOTES.get(request[start])
    end = start
    while closing is not None and (end := request.find(closing, end + 1)) > 0:
        after = request[end + 1 : end + 2]
        if end > start + 1 and (not after or after in _CLOSES_AFTER):
            return Token(request[start + 1 : end], "", start, end + 1)
    return None


def _split_word(word: str, start: int) -> list[Token]:
    """A word without the punctuation around it, which becomes tokens of its own."""
    core = word.strip(_EDGE)
    core = core.rstrip(".") or core
    if not core:
        return [Token(word, word, start, start + len(word))]
    at = word.index(core)
    tail = word[at + len(core) :].lstrip(".")
    pieces = [(word[:at], start), *_expand_contraction(core, start + at), (tail, start + len(word) - len(tail))]
    return [Token(text, _SHORT.get(_key(text), _key(text)), where, where + len(text)) for text, where in pieces if text]


def _expand_contraction(core: str, start: int) -> list[tuple[str, int]]:
    """ "What's" and "I'm" are two words; "Anna's" is one."""
    stem_, sign, _ = _key(core).partition("'")
    if sign and stem_ in _CONTRACTED and _key(core)[len(stem_) :] in _SHORT:
        return [(core[: len(stem_)], start), (core[len(stem_) :], start + len(stem_))]
    return [(core, start)]


def _key(text: str) -> str:
    return text.casefold().replace("’", "'")


@lru_cache(maxsize=16384)
def likeness(key: str, expected: str) -> float:
    """How well a word matches the expected one: 0 if it does not."""
    if key == expected:
        return EXACT
    if not key or key[0] != expected[0]:
        return MISTYPED if len(expected) > 3 and key == expected[1:] else 0.0
    if len(expected) > 3 and len(key) > 3 and stem(key) == stem(expected):
        return INFLECTED
    allowed = 0 if len(expected) < 4 else 1 if len(expected) < 8 else 2
    if len(expected) == len(key) == 4 and sorted(key) != sorted(expected):
        return 0.0  # "tack" is not "tick": in a word this short another letter makes another word
    return MISTYPED if allowed and edit_distance(key, expected, allowed) <= allowed else 0.0


def edit_distance(one: str, other: str, most: int) -> int:
    """The number of letters omitted, added, replaced or swapped; anything above `most` means more than that."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, row = list[int](), list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
