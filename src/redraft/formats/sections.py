"""The sections of a markdown document with their size, for a table that a person or a model reads before the text.

Every heading begins a section that ends at the next one, whatever its depth, so that the sizes add up to the document
without its frontmatter. What comes before the first heading is the `(preamble)`.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.formats.frontmatter import frontmatter_end
from redraft.formats.headings import placed_headings
from redraft.text.lines import count_breaks, count_lines, split_lines

if TYPE_CHECKING:
    from redraft.formats.marks import Mark

PREAMBLE = "(preamble)"
_BYTES_PER_TOKEN = 4


class Section(NamedTuple):
    """A heading (depth 0 for the preamble), its line in the file counted from 1, and how much it holds.

    `lines` counts the heading's own line, `tokens` only what follows it.
    """

    heading: str
    depth: int
    line: int
    lines: int
    tokens: int

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def sections(text: str) -> list[Section]:
    """The sections in the order of the document."""
    marks, offsets, bodies = _placed(text)
    start = frontmatter_end(text)
    first = count_breaks(text[:start])
    found: list[Section] = []
    end = offsets[0] if offsets else len(text)
    if start < end and not text[start:end].isspace():
        size = (marks[0].line if marks else count_lines(text)) - first
        found.append(Section(PREAMBLE, 0, first + 1, size, _tokens(text, start, end)))
    if marks:
        lines = [mark.line for mark in marks[1:]]
        lines.append(marks[-1].line + count_lines(text[offsets[-1] :]))
        for mark, body, end, after in zip(marks, bodies, [*offsets[1:], len(text)], lines, strict=True):
            size = after - mark.line
            found.append(Section(mark.title, mark.level, mark.line + 1, size, _tokens(text, body, end)))
    return found


def _placed(text: str) -> tuple[list[Mark], list[int], list[int]]:
    """The headings, the offset of each, and that of the line after it."""
    placed = placed_headings(text)
    marks = [mark for _, mark in placed]
    if "\r" in text:
        starts = [0, *accumulate(map(len, split_lines(text)))]
        return marks, [starts[mark.line] for mark in marks], [starts[mark.line + 1] for mark in marks]
    find, size = text.find, len(text)
    return marks, [offset for offset, _ in placed], [find("\n", offset) + 1 or size for offset, _ in placed]


def _tokens(text: str, start: int, end: int) -> int:
    size = end - start if text.isascii() else len(text[start:end].encode("utf-8", "surrogatepass"))
    return size // _BYTES_PER_TOKEN
