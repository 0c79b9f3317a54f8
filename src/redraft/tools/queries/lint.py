"""Common mistakes in a document: what will not be rendered as its author meant it.

In markdown these are unclosed markup, malformed headings or skipped levels, links that lead nowhere, and rows that do
not fit their table; in JSON and YAML, syntax errors. Only what is hardly ever intended is reported, and no matters of
taste. Nothing is corrected here; code, comments and frontmatter are checked only for where they end.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from redraft.formats.markdown_headings import headings
from redraft.formats.outline.outline import Format, outline
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.markdown_blocks import fences, line_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

# A line longer than this is data rather than prose.
MAX_LINE = 20_000
_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\n[\w-]+:(?:[ \t\n]|$)")
_CODE = re.compile(r"``(?!`)(?:[^`]|`(?!`))*+``(?!`)|`[^`]+`")
_HEADING = re.compile(r" {0,3}#{2,6}[^#\s]")
_EMPTY_LINK = re.compile(r"\[[^\[\]]+\]\([ \t]*\)")
_REVERSED_LINK = re.compile(r"\([^()\[\]]+\)\[(?:https?://|\.{0,2}/)[^\[\]]+\]")
_REFERENCE = re.compile(r"\[(?P<text>[^\[\]]+)\]\[(?P<name>[^\[\]]*)\]|\[(?P<note>\^[^\[\]\s]+)\](?!:)")
_DEFINITION = re.compile(r"[ \t>]*\[(?P<name>[^\[\]]+)\]:")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


class LintFinding(NamedTuple):
    """A place, by its line from 0, and what is wrong there."""

    line: int
    rule: str
    message: str


class _ProseLine(NamedTuple):
    """A line of prose, without the inline code in it."""

    number: int
    text: str


def lint(text: str, kind: Format) -> list[LintFinding]:
    """The findings in the text, by line. Plain text has no rules to break."""
    if kind in ("json", "yaml"):
        error = outline(text, kind).error
        return [] if error is None else [LintFinding(error.line, "syntax", error.message)]
    if kind != "markdown":
        return []
    flat = text.replace("\r\n", "\n").replace("\r", "\n")
    prose, found = _prose(flat)
    found += [*_headings(flat), *_links(prose), *_tables(prose)]
    found += [
        LintFinding(line.number, "heading-space", "A heading needs a space after its # marks.")
        for line in prose
        if _HEADING.match(line.text)
    ]
    return sorted(found)


def _prose(flat: str) -> tuple[list[_ProseLine], list[LintFinding]]:
    """The lines that are neither code, comment nor frontmatter; and what is unclosed there."""
    start = flat.count("\n", 0, frontmatter_end(flat))
    found: list[LintFinding] = []
    if not start and _FRONTMATTER.match(flat):
        found.append(LintFinding(0, "frontmatter-open", "The frontmatter has no closing --- line."))
    blocks = fences(flat, frontmatter_end(flat))
    code = {number for lines in line_ranges(flat, blocks) for number in lines}
    prose: list[_ProseLine] = []
    comment = ""
    opened = 0
    for number, line in enumerate(flat.split("\n")[start:], start):
        if number in code:
            continue
        if comment:
            comment = "" if "-->" in line else comment
        elif len(line) <= MAX_LINE:
            prose.append(_ProseLine(number, _CODE.sub("``", line)))
            comment = "<!--" if "<!--" in prose[-1].text.rpartition("-->")[2] else ""
            opened = number if comment else opened
    if blocks and not blocks[-1].closed and blocks[-1].end == len(flat):
        line = flat.count("\n", 0, blocks[-1].start)
        message = f"The fence {blocks[-1].fence} is never closed: everything after it is code."
        found.append(LintFinding(line, "fence-open", message))
    if comment:
        found.append(LintFinding(opened, "comment-open", "The comment is never closed: nothing after it is shown."))
    return prose, found


def _headings(flat: str) -> Iterator[LintFinding]:
    marks = headings(flat)
    for above, mark in pairwise(marks):
        if mark.level > above.level + 1:
            message = f"The heading has level {mark.level}, directly under one of level {above.level}."
            yield LintFinding(mark.line, "heading-skips", message)
    open_: list[tuple[int, dict[str, int]]] = [(0, {})]
    for mark in marks:
        while open_[-1][0] >= mark.level:
            open_.pop()
        siblings = open_[-1][1]
        first = siblings.setdefault(mark.title.casefold(), mark.line)
        if not mark.title:
            yield LintFinding(mark.line, "heading-empty", "The heading has no title.")
        elif first != mark.line:
            yield LintFinding(mark.line, "heading-twice", f"The same heading is on line {first}, in the same section.")
        open_.append((mark.level, {}))


def _links(prose: list[_ProseLine]) -> Iterator[LintFinding]:
    defined = {_name(mark["name"]) for line in prose if (mark := _DEFINITION.match(line.text))}
    for number, text in prose:
        for mark in _EMPTY_LINK.finditer(text):
            yield LintFinding(number, "link-empty", f"The link {mark[0]} leads nowhere.")
        for mark in _REVERSED_LINK.finditer(text):
            yield LintFinding(number, "link-reversed", f"Brackets and parentheses are swapped in {mark[0]}.")
        for mark in _REFERENCE.finditer(text):
            name = mark["note"] or mark["name"] or mark["text"]
            if _name(name) not in defined:
                yield LintFinding(number, "reference-missing", f"[{name}] is not defined in the document.")


def _name(label: str) -> str:
    return " ".join(label.casefold().split())


def _tables(prose: list[_ProseLine]) -> Iterator[LintFinding]:
    cells = 0  # of the table that the previous line is part of
    for above, line in pairwise(prose):
        if line.number != above.number + 1 or "|" not in line.text:
            cells = 0
        elif cells and _cells(line.text) > cells:
            # A row with too few cells is filled up; cells beyond the last column are not shown.
            yield LintFinding(
                line.number, "table-cells", f"The row has {_cells(line.text)} cells in a table of {cells}."
            )
        elif not cells and "|" in above.text and "-" in line.text and _DELIMITER.fullmatch(line.text):
            cells = _cells(line.text)
            if _cells(above.text) != cells:
                message = f"The table's head has {_cells(above.text)} cells and the line under it {cells}."
                yield LintFinding(above.number, "table-cells", message)


def _cells(row: str) -> int:
    return row.strip().replace("\\|", "").removeprefix("|").removesuffix("|").count("|") + 1
