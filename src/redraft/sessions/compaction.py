"""Shorten a long conversation: cut out its older rounds, to be stored elsewhere. Pure.

In a component `exchange` each heading of the highest level present begins a round; in a conversation of blocks, each
`## User`. What comes before the first round stays, and so does the block that the person is writing in and nobody has
answered yet. Nothing is rewritten: remaining and cut text together are the old text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.formats.components import component, components
from redraft.formats.markdown_headings import headings
from redraft.sessions.answers.fills import ASSISTANT, USER
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from redraft.formats.markdown_headings import Heading

EXCHANGE = "exchange"
ARCHIVE = ".archive.md"


@dataclass(frozen=True, slots=True)
class Compaction:
    """The text without its older rounds, those rounds, and their number."""

    text: str
    cut: str
    rounds: int


def archive_path(path: str) -> str:
    """Where the older rounds of a document are stored: beside it."""
    return os.path.splitext(path)[0] + ARCHIVE


def compact_rounds(text: str, keep: int) -> Compaction | None:
    """Keep the last rounds, at least one; None if there are no more than those."""
    place = component(text, EXCHANGE)
    if place is None and components(text):
        return None
    start, end = (frontmatter_end(text), len(text)) if place is None else (place.inner_start, place.inner_end)
    region = text[start:end]
    begins = _round_starts(region, blocks=place is None)
    if len(begins) <= keep:
        return None
    first, rest = start + begins[0], start + begins[-keep]
    return Compaction(text[:first] + text[rest:], text[first:rest], len(begins) - keep)


def _round_starts(region: str, *, blocks: bool) -> list[int]:
    """Where the rounds begin. Only answered blocks count."""
    marks = [(at, mark.level, mark.title) for at, mark in _heading_offsets(region)]
    if not blocks:
        top = min((level for _, level, _ in marks), default=0)
        return [at for at, level, _ in marks if level == top]
    found: list[int] = []
    asked: int | None = None
    for at, level, title in marks:
        if level != USER.count("#"):
            continue
        if f"## {title}" == USER:
            asked = at if asked is None else asked
        elif f"## {title}" == ASSISTANT and asked is not None:
            found.append(asked)
            asked = None
    return found


def _heading_offsets(region: str) -> list[tuple[int, Heading]]:
    """The headings, each with the offset of its line."""
    lines = split_lines(region)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return [(starts[mark.line], mark) for mark in headings(region)]
