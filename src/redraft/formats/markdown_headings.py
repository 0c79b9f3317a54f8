"""The headings of a markdown document, as in CommonMark and GFM, in one pass.

Headings inside block quotes and list items are left out: they belong to the quotation or the item and divide nothing.
So are those in fences, HTML, comments and frontmatter. `find_quoted_headings` returns those in block quotes. Inline
markup in titles stays as it is written.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import count_breaks, count_lines, split_lines
from redraft.text.markdown_blocks import scan_headings

if TYPE_CHECKING:
    from redraft.formats.outline.outline import Confidence, Rule

# A heading: what the readers of markdown and of plain text return, to be nested into an outline.
#
# In its own module, and a plain tuple, because the command line lists 10 MB of headings and its start-up time matters.


class Heading(NamedTuple):
    """A heading before nesting: where a section begins, and at which level."""

    title: str
    level: int
    line: int
    detected_by: Rule | None = None
    confidence: Confidence | None = None


_QUOTE = re.compile(r" {0,3}> ?")
_ONLY_RULE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
# Nobody nests quotations deeper; each level takes another pass over the text.
_DEEPEST_QUOTE = 8


def headings(text: str) -> list[Heading]:
    """The headings that divide the document, with the line where each begins."""
    return [mark for _, mark in headings_with_offsets(text)]


def headings_with_offsets(text: str) -> list[tuple[int, Heading]]:
    """The same, each with the offset of its line."""
    found: list[tuple[int, Heading]] = []
    line = counted = 0
    for place in scan_headings(text, frontmatter_end(text))[0]:
        line += count_breaks(text[counted : place.start])
        counted = place.start
        found.append((place.start, Heading(place.title, place.level, line)))
    return found


class QuotedHeading(NamedTuple):
    """A heading inside a block quote, and the last line of that quote."""

    mark: Heading
    end: int


def find_quoted_headings(text: str) -> list[QuotedHeading]:
    """The headings inside block quotes, in the order of the document; not those in lists."""
    skipped = frontmatter_end(text)
    body = text[skipped:].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _find_quoted(body, count_breaks(text[:skipped]), _DEEPEST_QUOTE) if ">" in body else []


def _find_quoted(body: str, first: int, deepest: int) -> list[QuotedHeading]:
    """The quoted headings of a text whose first line has this number."""
    found: list[QuotedHeading] = []
    line, counted = first, 0
    for quote in scan_headings(body)[1]:
        line += body.count("\n", counted, quote.start)
        counted = quote.start
        inner = "\n".join(map(_strip_quote, body[quote.start : quote.end].split("\n")))
        last = line + inner.rstrip().count("\n")
        found += [
            QuotedHeading(Heading(place.title, place.level, line + inner.count("\n", 0, place.start)), last)
            for place in scan_headings(inner)[0]
        ]
        if deepest > 1 and ">" in inner:
            found += _find_quoted(inner, line, deepest - 1)
    return sorted(found, key=lambda each: each.mark.line)


def _strip_quote(line: str) -> str:
    """A line without its quote marker. A line without one continues a paragraph, and underlines nothing."""
    mark = _QUOTE.match(line)
    if mark is not None:
        return line[mark.end() :]
    return f"\\{line.lstrip()}" if _ONLY_RULE.fullmatch(line) else line


# The sections of a markdown document with their size, as a table to read before the text.
#
# Every heading begins a section that ends at the next one, whatever its level, so that the sizes add up to the
# document without its frontmatter and its headings. The text before the first heading is the `(preamble)`.


PREAMBLE = "(preamble)"
_BYTES_PER_TOKEN = 4


class Section(NamedTuple):
    """A heading (depth 0 for the preamble), its line in the file counted from 1, and the size of its section.

    `lines` and `tokens` count what follows the heading's line.
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
    marks, offsets, bodies = _locate_headings(text)
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
            size = after - mark.line - 1
            found.append(Section(mark.title, mark.level, mark.line + 1, size, _tokens(text, body, end)))
    return found


def _locate_headings(text: str) -> tuple[list[Heading], list[int], list[int]]:
    """The headings, the offset of each, and that of the line after it."""
    placed = headings_with_offsets(text)
    marks = [mark for _, mark in placed]
    if "\r" in text:
        starts = [0, *accumulate(map(len, split_lines(text)))]
        return marks, [starts[mark.line] for mark in marks], [starts[mark.line + 1] for mark in marks]
    find, size = text.find, len(text)
    return marks, [offset for offset, _ in placed], [find("\n", offset) + 1 or size for offset, _ in placed]


def _tokens(text: str, start: int, end: int) -> int:
    size = end - start if text.isascii() else len(text[start:end].encode("utf-8", "surrogatepass"))
    return size // _BYTES_PER_TOKEN
