"""Which texts contain a piece of writing: a dictionary of the words in many texts, searched by parts of words.

A text is cut into tokens: runs of letters and digits, runs of other characters, and single characters of scripts
without spaces. A `Segment` stores the distinct tokens of some texts in one string and, for each, the numbers of the
texts that contain it. Since cutting depends only on each character's kind, a passage cut the same way tells what must
be in the dictionary: its inner tokens whole, its first token as the end and its last as the start of some word. Tens of
thousands of words are searched in less than a millisecond, and there are far fewer words than there would be trigrams.

Case is folded on both sides, character by character, so that whatever a case-insensitive search considers equal is
equal here. Answers may contain too many texts, never too few.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s{_UNSPACED}]+")
# Longer tokens (mostly encoded data) are stored as windows, so that every piece of up to _STEP characters is in one.
_WINDOW = 40
_STEP = 20
# A piece that this many words contain rules out next to nothing.
MOST_WORDS = 500


def fold(text: str) -> str:
    """Without case: a homomorphism, so a part of a text folds to a part of the folded text."""
    return text.casefold()


def tokens(text: str) -> set[str]:
    """The distinct tokens of a text."""
    found = set(_TOKEN.findall(fold(text)))
    long = [token for token in found if len(token) > _WINDOW]
    for token in long:
        found.discard(token)
        found.update(_windows(token))
    return found


def _windows(token: str) -> Iterator[str]:
    for start in range(0, len(token) - _WINDOW, _STEP):
        yield token[start : start + _WINDOW]
    yield token[-_WINDOW:]


class PassagePart(NamedTuple):
    """A part of a passage, and whether the word that contains it must begin or end with it."""

    text: str
    begins: bool
    ends: bool

    def needle(self) -> bytes:
        return ("\n" * self.begins + self.text + "\n" * self.ends).encode()


def pieces(passage: str) -> list[PassagePart]:
    """What a text with this passage must have in its dictionary, the longest first."""
    folded = fold(passage)
    found: set[PassagePart] = set()
    for match in _TOKEN.finditer(folded):
        token, start, end = match.group(), match.start(), match.end()
        if len(token) > _STEP:
            found.add(PassagePart(token[:_STEP], False, False))
        else:
            found.add(PassagePart(token, start > 0, end < len(folded)))
    return sorted(found, key=lambda piece: (-len(piece.text), piece))


class Segment:
    """The dictionary of some texts, immutable once built. The texts are numbered from `first`."""

    def __init__(self, number: int, first: int, words: bytes) -> None:
        self.number = number
        self.first = first
        self._words = words

    @cached_property
    def _ends(self) -> array[int]:
        """Where each word ends. Looking up a position is far quicker than counting the words before it, and costs some
        milliseconds when the first word is found."""
        return array("I", accumulate(len(word) + 1 for word in self._words[1:].split(b"\n")[:-1]))

    def ordinals(self, piece: PassagePart) -> list[int] | None:
        """The words that contain a piece, by their positions in the dictionary; None if there are too many to
        matter."""
        needle, words = piece.needle(), self._words
        found: list[int] = []
        ordinal = 0
        at = words.find(needle)
        while at >= 0:
            ordinal = bisect_left(self._ends, at + piece.begins, ordinal)
            found.append(ordinal)
            if len(found) > MOST_WORDS:
                return None
            at = words.find(needle, self._ends[ordinal])
        return found


class SegmentBuilder:
    """Collects texts for a new segment, by their places in it."""

    def __init__(self) -> None:
        self._texts: dict[str, array[int]] = {}
        self.size = 0

    def add(self, place: int, text: str) -> None:
        texts = self._texts
        for token in tokens(text):
            places = texts.get(token)
            if places is None:
                texts[token] = array("I", (place,))
            else:
                places.append(place)
        self.size += len(text)

    def words(self) -> bytes:
        return ("\n" + "\n".join(self._texts) + "\n").encode()

    def postings(self) -> Iterator[bytes]:
        """The places of the texts that contain each word, in the order of `words`."""
        return (numbers.tobytes() for numbers in self._texts.values())


def decode_postings(postings: bytes) -> array[int]:
    found = array("I")
    found.frombytes(postings)
    return found
