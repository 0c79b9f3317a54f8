"""The sections of a markdown document with their size, for a table that a person or a model reads before the text.

Every heading begins a section that ends at the next one, whatever its depth, so that the sizes add up to the document
without its frontmatter. What comes before the first heading is the `(preamble)`.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from redraft.formats.frontmatter import frontmatter_end
from redraft.formats.headings import placed_headings
from redraft.text.lines import count_breaks, count_lines, split_lines

PREAMBLE = "(preamble)"
_BYTES_PER_TOKEN = 4
_BREAK = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading (depth 0 for the preamble), its line in the file counted from 1, and how much it holds.

    `lines` counts the heading's own line, `tokens` only what follows it.
    """

    heading: str
    depth: int
    line: int
    lines: int
    tokens: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def sections(text: str) -> list[Section]:
    """The sections in the order of the document."""
    placed = placed_headings(text)
    start = frontmatter_end(text)
    first = count_breaks(text[:start])
    lines = [first, *(mark.line for _, mark in placed), count_lines(text)]
    offsets = [start, *(offset for offset, _ in placed), len(text)]
    if "\r" in text:
        starts = [0, *accumulate(map(len, split_lines(text)))]
        offsets = [starts[line] for line in lines]
    found: list[Section] = []
    if not text[start : offsets[1]].isspace() and start < offsets[1]:
        found.append(Section(PREAMBLE, 0, first + 1, lines[1] - first, _tokens(text, start, offsets[1])))
    for number, (_, mark) in enumerate(placed, 1):
        heading = _BREAK.search(text, offsets[number])
        body = heading.end() if heading else len(text)
        size = lines[number + 1] - mark.line
        found.append(Section(mark.title, mark.level, mark.line + 1, size, _tokens(text, body, offsets[number + 1])))
    return found


def _tokens(text: str, start: int, end: int) -> int:
    size = end - start if text.isascii() else len(text[start:end].encode("utf-8", "surrogatepass"))
    return size // _BYTES_PER_TOKEN
