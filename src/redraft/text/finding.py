"""Where a passage stands in a text, without putting the text together.

A text of 10 MB as one string is new memory each time, and getting that takes longer than looking through it. So it is
looked through in portions that fit into a processor's cache, and each seam between two of them once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.text.text import Text

BLOCKS = 64


def find_passage(text: Text, passage: str) -> Iterator[int]:
    """Every place where it begins, in order; such that overlap, too. An empty passage is nowhere."""
    if not passage:
        return
    reach = len(passage) - 1
    end, start = "", 0  # the end of what was looked through, too short for the passage; where the portion starts
    blocks = text.blocks
    for first in range(0, len(blocks), BLOCKS):
        portion = "".join([block.content for block in blocks[first : first + BLOCKS]])
        for at in _in_string(end + portion[:reach], passage):
            if at < len(end):
                yield start - len(end) + at
        for at in _in_string(portion, passage):
            yield start + at
        start += len(portion)
        end = (portion if len(portion) >= reach else end + portion)[-reach:] if reach else ""


def _in_string(content: str, passage: str) -> Iterator[int]:
    at = content.find(passage)
    while at >= 0:
        yield at
        at = content.find(passage, at + 1)
