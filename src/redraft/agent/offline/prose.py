"""The prose of a document: its sentences and words with their lines, and what in it is not prose.

Tables, HTML comments, headings, quotations and list items are recognised by how their lines begin. Sentences are
always verbatim parts of the text; only line breaks become spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import count_breaks, split_lines
from redraft.text.markdown_blocks import fences, line_ranges
from redraft.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["prose", "quote", "item", "heading", "table", "code", "meta", "blank"]
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_QUOTE = re.compile(r"\s*>\s?")


@dataclass(frozen=True, slots=True)
class ProseLine:
    """One line: its number from 0, its kind, and its text without the marker of that kind."""

    number: int
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, verbatim except for line breaks, and the line, from 0, on which it begins."""

    text: str
    line: int

    @property
    def words(self) -> list[str]:
        return WORD.findall(self.text)


def lines_of(text: str, kind: str = "markdown") -> Iterator[ProseLine]:
    """Every line of a document with its kind."""
    if kind in ("json", "yaml"):
        yield from (ProseLine(number, "code", line) for number, line in enumerate(split_lines(text)))
        return
    body = frontmatter_end(text)
    meta = count_breaks(text[:body])
    code = {number for lines in line_ranges(text, fences(text, body)) for number in lines}
    for number, line in enumerate(each.rstrip("\r\n") for each in split_lines(text)):
        if number < meta:
            yield ProseLine(number, "meta", line)
        elif number in code:
            yield ProseLine(number, "code", line)
        else:
            yield _plain_line(number, line) if kind == "markdown" else _other_line(number, line)


def _plain_line(number: int, line: str) -> ProseLine:
    stripped = line.strip()
    if not stripped:
        return ProseLine(number, "blank", "")
    if re.match(r" {0,3}#{1,6}(?:\s|$)", line):
        return ProseLine(number, "heading", stripped.strip("#").strip())
    if stripped.startswith(("|", "<!--")) or re.fullmatch(r"[-=*_ ]{3,}|[-|: ]+", stripped):
        return ProseLine(number, "table", line)
    if (mark := _QUOTE.match(line)) is not None:
        return ProseLine(number, "quote", line[mark.end() :])
    if (mark := _ITEM.match(line)) is not None:
        return ProseLine(number, "item", line[mark.end() :])
    return ProseLine(number, "prose", line)


def _other_line(number: int, line: str) -> ProseLine:
    return ProseLine(number, "prose" if line.strip() else "blank", line)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together, joined with line breaks, and the number of the first."""

    kind: Kind
    line: int
    text: str


def paragraphs(text: str, kind: str = "markdown") -> list[Paragraph]:
    """The paragraphs of prose, quotations and list items, in order."""
    found: list[Paragraph] = []
    open_: list[ProseLine] = []

    def close() -> None:
        if open_:
            joined = "\n".join(line.text for line in open_)
            found.append(Paragraph(open_[0].kind, open_[0].number, joined))
            open_.clear()

    for line in lines_of(text, kind):
        if line.kind not in ("prose", "quote", "item"):
            close()
            continue
        goes_on = open_ and (line.kind == open_[0].kind != "item" or (line.kind == "prose" and open_[0].kind == "item"))
        if not goes_on:
            close()
        open_.append(line)
    close()
    return found


def _paragraph_sentences(paragraph: Paragraph) -> Iterator[Sentence]:
    text = paragraph.text
    breaks = [at for at, character in enumerate(text) if character == "\n"]
    start = 0
    for piece in sentences(text):
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            yield Sentence(" ".join(piece.split()), paragraph.line + bisect_right(breaks, first))
        start += len(piece)


def all_sentences(
    text: str, kind: str = "markdown", kinds: tuple[str, ...] = ("prose", "quote", "item")
) -> list[Sentence]:
    """The sentences in paragraphs of these kinds."""
    return [
        each
        for paragraph in paragraphs(text, kind)
        if paragraph.kind in kinds
        for each in _paragraph_sentences(paragraph)
    ]
