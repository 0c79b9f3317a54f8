"""The sections of a markdown document with their size, for a table that a person or a model reads before the text.

Every heading begins a section that ends at the next one, whatever its depth, so that the sizes add up to the document
without its frontmatter. What comes before the first heading is the `(preamble)`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from redraft.formats.frontmatter import frontmatter_end
from redraft.formats.headings import headings
from redraft.text.lines import count_breaks, split_lines

PREAMBLE = "(preamble)"
_BYTES_PER_TOKEN = 4


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
    lines = split_lines(text)
    first = count_breaks(text[: frontmatter_end(text)])
    marks = headings(text)
    ends = [*(mark.line for mark in marks), len(lines)]
    found: list[Section] = []
    if any(line.strip() for line in lines[first : ends[0]]):
        found.append(Section(PREAMBLE, 0, first + 1, ends[0] - first, _tokens(lines[first : ends[0]])))
    for mark, end in zip(marks, ends[1:], strict=True):
        body = lines[mark.line + 1 : end]
        found.append(Section(mark.title, mark.level, mark.line + 1, end - mark.line, _tokens(body)))
    return found


def _tokens(lines: list[str]) -> int:
    return len("".join(lines).encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN
