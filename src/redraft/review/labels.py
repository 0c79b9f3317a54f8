"""What a reviewer should look at first: labels on the hunks of agents' edits.

A model that rewrites a whole document also makes accidental changes, each a hunk like any other: a number becomes
another, a paragraph is gone. A label says what kind of thing a hunk touches. It is a hint for the reviewer: it changes
nothing about the hunk, and a hunk without a label may be wrong as well.

A hunk is compared together with the paragraph around it, since a digit alone does not show that it is part of a link.
Only numbers, names, links and so on that were there before count; new text brings its own. A replacement that is made
throughout the document is not an accident either.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.text.edits import Span
from redraft.text.markdown_blocks import fences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.review.review import ReviewHunk

HunkLabel = Literal[
    "paragraph_removed",
    "number_changed",
    "date_changed",
    "link_changed",
    "code_changed",
    "quotation_changed",
    "name_changed",
    "condition_changed",
]

# How much of a paragraph is looked at on either side of a hunk, and of how long a hunk.
WINDOW, MAX_LENGTH = 500, 4000
# The kinds that may be longer than a few words.
LONG, FEW_WORDS = ("code_changed", "link_changed", "quotation_changed"), 40
# How far around it the spelling of a name is looked up.
NEARBY = 10_000
# With more hunks than these nobody looks at some of them first.
MOST_HUNKS = 1000
# A replacement that occurs this often was meant.
THROUGHOUT = 2
# How many words a hunk takes out at most for a number in it to be missed.
ALONE = 3
# From how many letters on a paragraph is missed, and how much of it may be left in other words.
MISSED_LETTERS, LEFT = 30, 0.34

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_CONDITION = re.compile(
    r"\b(?:must|shall|should|may|might|can|cannot|need|needs|required?|requires|all|every|each|most|some|any|none|no|not|never"
    r"|always|only|both|either|neither|unless|until|except|before|after|prior to|at least|at most|more than|less than"
    r"|approximately|about|almost|exactly|without)\b",
    re.IGNORECASE,
)
_PATTERNS: tuple[tuple[HunkLabel, re.Pattern[str]], ...] = (
    ("code_changed", re.compile(r"`[^`\n]+`")),
    (
        "link_changed",
        re.compile(
            r"\]\([^()\s]*(?:\([^()\s]*\))?[^()\s]*|(?:https?|mailto):[^\s<>)\]]+|^\[[^\]\n]+\]:\s*\S+", re.MULTILINE
        ),
    ),
    (
        "quotation_changed",
        re.compile(r"\"[^\"\n]{8,}?\"|“[^”\n]{8,}?”|„[^“”\n]{8,}?[“”]|«[^»\n]{8,}?»|^>[^\n]*", re.MULTILINE),
    ),
    (
        "date_changed",
        re.compile(
            r"\b\d{4}-(?:\d\d-\d\d|Q\d)\b"
            rf"|\b(?:\d{{1,2}}\.? )?(?:{_MONTHS})(?: \d{{1,2}}(?:st|nd|rd|th)?,?)?(?: \d{{4}})?\b"
            r"|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\bQ[1-4] \d{4}\b"
        ),
    ),
    (
        "number_changed",
        re.compile(
            r"(?<![\w.,#-])[-+]?[$€£]?\d+(?:[.,:]\d+)*\s?%?(?![\w-])|(?<=[\w-])\d+(?:\.\d+)+|\bv\d+(?:\.\d+)*\b"
        ),
    ),
    ("name_changed", re.compile(r"(?<=[a-z,;:)] )[A-Z][\w’'-]{2,}|\b[A-Za-z]+[a-z][A-Z]\w*|\b[A-Z]{2,}\w*")),
    ("condition_changed", _CONDITION),
)
_MARKS = '`"“”„«»> \n'
_PARAGRAPH_END = re.compile(r"\r?\n[ \t]*\r?\n")
_ITEM_NUMBER = re.compile(r"^[ \t]*\d+[.)](?=\s)", re.MULTILINE)
_WORD = re.compile(r"\w+")


class _TouchedText(NamedTuple):
    """A hunk in one of the two texts: the paragraph around it, and its place there."""

    text: str
    start: int
    end: int

    def find_touched(self, label: HunkLabel, pattern: re.Pattern[str]) -> list[Span]:
        """The places of one kind that the hunk is in, or covers."""
        begin, end = 0, len(self.text)
        if label not in LONG:  # of one or a few words: the rest of the paragraph need not be searched
            begin = self.text.rfind(" ", 0, max(0, self.start - FEW_WORDS)) + 1
            end = self.end + FEW_WORDS
        found = [Span(*each.span()) for each in pattern.finditer(self.text, begin, end)]
        if label == "code_changed":
            fenced = [Span(block.start, block.end) for block in fences(self.text)]
            found = fenced + [each for each in found if not any(code.start <= each.start < code.end for code in fenced)]
        return [each for each in found if each.start < self.end and self.start < each.end]

    def read(self, label: HunkLabel, place: Span) -> str:
        """The words at a place, as they are compared."""
        found = self.text[place.start : place.end].strip()
        return found.lower() if label == "condition_changed" else found


class _TokenChange(NamedTuple):
    """What a hunk removes of one kind, and what replaces it."""

    label: HunkLabel
    gone: tuple[str, ...]
    come: tuple[str, ...]


def hunk_labels(base: str, working: str, hunks: Sequence[ReviewHunk]) -> list[tuple[HunkLabel, ...]]:
    """The labels of each hunk; only agents' hunks get any. `hunks` must be all hunks of the two texts."""
    if len(hunks) > MOST_HUNKS:
        return [()] * len(hunks)
    found = [{} if hunk.author == "user" else dict(_changes(base, working, hunk)) for hunk in hunks]
    # Two hunks in one link are one change of it.
    often = Counter(change for change, _ in {place for changes in found for place in changes.items()})
    return [tuple(dict.fromkeys(change.label for change in changes if often[change] < THROUGHOUT)) for changes in found]


def _changes(base: str, working: str, hunk: ReviewHunk) -> Iterator[tuple[_TokenChange, int]]:
    """What a hunk changes of each kind, and where that begins in the old text."""
    if _is_paragraph_removed(base, hunk):
        yield _TokenChange("paragraph_removed", (hunk.base, hunk.id), ()), hunk.at
        return
    if max(len(hunk.base), len(hunk.working)) > MAX_LENGTH:
        return
    before = _around(base, hunk.at, hunk.at + len(hunk.base))
    after = _around(working, hunk.working_at, hunk.working_at + len(hunk.working))
    for change, at in _compare(before, after):
        if _is_missed(change, hunk, base[max(0, hunk.at - NEARBY) : hunk.at + NEARBY], after.text):
            yield change, hunk.at - before.start + at


@lru_cache(maxsize=2 * MOST_HUNKS)  # a key that is typed leaves all hunks but one as they are
def _compare(before: _TouchedText, after: _TouchedText) -> tuple[tuple[_TokenChange, int], ...]:
    """What is removed of each kind, what replaces it, and where it began."""
    found: list[tuple[_TokenChange, int]] = []
    for label, pattern in _PATTERNS:
        places = before.find_touched(label, pattern)
        old = Counter(before.read(label, place) for place in places)
        new = Counter(after.read(label, place) for place in after.find_touched(label, pattern))
        if gone := tuple(sorted((old - new).elements())):
            found.append((_TokenChange(label, gone, tuple(sorted((new - old).elements()))), places[0].start))
    return tuple(found)


def _is_missed(change: _TokenChange, hunk: ReviewHunk, nearby: str, after: str) -> bool:
    """Whether the removed text is missed: it is not only written differently, and did not go together with its whole
    sentence."""
    label, gone, come = change
    if label == "name_changed":
        return bool(come) and not all(_is_respelt(name, come, hunk, nearby) for name in gone)
    if label in ("code_changed", "quotation_changed") and all(_holds(after, text.strip(_MARKS)) for text in gone):
        return False  # only the marks around it are gone
    return bool(come) or len(_WORD.findall(hunk.base)) <= ALONE


def _is_respelt(name: str, come: tuple[str, ...], hunk: ReviewHunk, nearby: str) -> bool:
    """Whether a name is only written differently (`WiFi` and `Wi-Fi`), by its initials, or as the old text nearby
    spells it."""
    initials = "".join(word[0] for word in _WORD.findall(hunk.base))
    if any(_letters(name) == _letters(new) or new == initials for new in come):
        return True
    return nearby.count(name) == 1 and any(_holds(nearby, new) for new in come)


def _holds(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _around(text: str, start: int, end: int) -> _TouchedText:
    """A passage with the rest of its paragraph, without the numbers of list items."""
    low, high = max(0, start - WINDOW), min(len(text), end + WINDOW)
    begin = max((match.end() for match in _PARAGRAPH_END.finditer(text, low, start)), default=low)
    close = _PARAGRAPH_END.search(text, end, high)
    part = text[begin : close.start() if close else high].replace("–", "-").replace("—", "-")
    return _TouchedText(_ITEM_NUMBER.sub(lambda match: " " * len(match.group()), part), start - begin, end - begin)


def _is_paragraph_removed(base: str, hunk: ReviewHunk) -> bool:
    """Whether a whole paragraph was removed, with little in its place."""
    start, end = hunk.at, hunk.at + len(hunk.base)
    old = _WORD.findall(hunk.base)
    if len(hunk.base.strip()) < MISSED_LETTERS or len(_WORD.findall(hunk.working)) > LEFT * len(old):
        return False
    if _PARAGRAPH_END.search(hunk.base.strip()):
        return True  # where a deletion begins and ends among equal words is a matter of taste
    begins = start == 0 or base[start - 1] == "\n" or hunk.base.startswith("\n")
    ends = end == len(base) or base[end] in "\r\n" or hunk.base.endswith("\n")
    return begins and ends
