"""Where a passage stands in a text, without putting the text together.

A text of 10 MB as one string is new memory each time, and getting that takes longer than looking through it. So it is
looked through in portions, which an edited text shares with the one before, and each seam between two of them once
more. Most quickly found is a single character: where the passage has one that seems to be rare, that is looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.text.text import Text

SAMPLE = 4000
# A character that turns up so often in a portion, and not in the passage, is not rare there.
MISSES = 50


def find_passage(text: Text, passage: str) -> Iterator[int]:
    """Every place where it begins, in order; such that overlap, too. An empty passage is nowhere."""
    if not passage:
        return
    reach = len(passage) - 1
    rare = _rare(text, passage)
    end, start = "", 0  # the end of what was looked through, too short for the passage; where the portion starts
    for portion in text.portions:
        for at in _in_string(end + portion[:reach], passage, rare):
            if at < len(end):
                yield start - len(end) + at
        for at in _in_string(portion, passage, rare):
            yield start + at
        start += len(portion)
        end = (portion if len(portion) >= reach else end + portion)[-reach:] if reach else ""


def _rare(text: Text, passage: str) -> int | None:
    """The place in the passage of a character that a sample from the middle of the text does not have."""
    middle = len(text) // 2
    sample = text.slice(middle, min(len(text), middle + SAMPLE))
    return next((at for at, character in enumerate(passage[:SAMPLE]) if character not in sample), None)


def _in_string(content: str, passage: str, rare: int | None) -> Iterator[int]:
    at = -1
    misses = 0
    while rare is not None and misses < MISSES:
        found = content.find(passage[rare], at + 1 + rare)
        if found < 0:
            return
        at = found - rare
        if content.startswith(passage, at):
            yield at
        else:
            misses += 1
    at = content.find(passage, at + 1)
    while at >= 0:
        yield at
        at = content.find(passage, at + 1)
