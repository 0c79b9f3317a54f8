"""The outline of a document, computed by the reader of its format.

`outline` never raises because of a document's content: invalid JSON or YAML gives an outline without entries and with
an `error` that has a line and a column. Readers are imported when first needed, because YAML's is slow to load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redraft.formats.markdown_headings import Heading, QuotedHeading

# What an outline is: nested entries with their lines, and a confidence.
#
# Lines count from 0 and `line_end` is inclusive, as in the tool that shows outlines; it is None if only blank space
# follows, so that "to the end of the file" stays true when text is appended. Nothing here reads a document: the readers
# of each format create these values.


Method = Literal["headings", "keys", "heuristic", "none"]
Confidence = Literal["high", "medium", "low"]
Rule = Literal["chapter_marker", "visual_pattern", "scene_break", "paragraph_break"]

NOTE = "Structure detected heuristically. Use search_document for more precise navigation."
SUGGESTION = (
    "This document has no detectable structure. Use search_document to find specific content, or read_document to "
    "browse sequentially."
)
REPAIR = "The document cannot be parsed. Read the lines around the error, correct them, and ask for the outline again."


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One section: its title, its lines, and its subsections."""

    title: str
    level: int
    line_start: int
    line_end: int | None
    children: tuple[OutlineEntry, ...] = ()
    detected_by: Rule | None = None
    confidence: Confidence | None = None
    quoted: bool = False

    def as_json(self) -> dict[str, Any]:
        shape: dict[str, Any] = {
            "title": self.title,
            "level": self.level,
            "line_start": self.line_start,
            "line_end": self.line_end,
        }
        if self.detected_by:
            shape["detected_by"] = self.detected_by
        if self.confidence:
            shape["confidence"] = self.confidence
        if self.quoted:
            shape["quoted"] = True
        if self.children:
            shape["children"] = [child.as_json() for child in self.children]
        return shape


@dataclass(frozen=True, slots=True)
class ParseError:
    """Why a document has no outline, and where: line and column from 0."""

    message: str
    line: int
    column: int

    def as_json(self) -> dict[str, Any]:
        return {"message": self.message, "line": self.line, "column": self.column}


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of a document.

    A document that cannot be parsed has an `error` and no entries; one with a duplicate key has both, because parsers
    disagree on what that means and an editor has to be able to find it.
    """

    detection_method: Method
    entries: tuple[OutlineEntry, ...] = ()
    detection_confidence: Confidence | None = None
    note: str | None = None
    suggestion: str | None = None
    error: ParseError | None = None

    def walk(self) -> Iterator[OutlineEntry]:
        """Every entry, parents before their children, in the order of the document."""
        waiting = list(reversed(self.entries))
        while waiting:
            entry = waiting.pop()
            yield entry
            waiting.extend(reversed(entry.children))

    def as_json(self) -> dict[str, Any]:
        shape: dict[str, Any] = {"detection_method": self.detection_method}
        if self.detection_confidence:
            shape["detection_confidence"] = self.detection_confidence
        shape["outline"] = [entry.as_json() for entry in self.entries]
        if self.note:
            shape["note"] = self.note
        if self.suggestion:
            shape["suggestion"] = self.suggestion
        if self.error:
            shape["parse_error"] = self.error.as_json()
        return shape

    def truncate(self, most: int) -> Outline:
        """At most `most` entries: the deepest levels are dropped first, then the last entries; the note says so.

        A model reads an outline with a limited context, and 87,000 lines of YAML have 10,000 keys.
        """
        levels = sorted(entry.level for entry in self.walk())
        if len(levels) <= most:
            return self
        # A level stays only if all of its entries fit.
        deepest = levels[most] - 1 if most >= 0 else 0
        entries = tuple(_down_to(self.entries, deepest)) if deepest >= levels[0] else self._first(most)
        shown = f"The outline is too large to show: {len(levels)} entries were cut to {_count(entries)}."
        return replace(self, entries=entries, note=f"{self.note} {shown}" if self.note else shown)

    def _first(self, most: int) -> tuple[OutlineEntry, ...]:
        return tuple(replace(entry, children=()) for entry in self.entries[: max(most, 0)])


def no_outline() -> Outline:
    return Outline("none", suggestion=SUGGESTION)


def parse_failure(message: str, line: int, column: int) -> Outline:
    return Outline("none", suggestion=REPAIR, error=ParseError(message, line, column))


def nest(marks: Sequence[Heading]) -> tuple[OutlineEntry, ...]:
    """The sections that these headings begin: each ends at the next heading of its own level or a higher one."""
    ends: list[int | None] = [None] * len(marks)
    open_: list[int] = []
    for number, mark in enumerate(marks):
        while open_ and marks[open_[-1]].level >= mark.level:
            ends[open_.pop()] = mark.line - 1
        open_.append(number)
    return build_tree(
        OutlineEntry(mark.title, mark.level, mark.line, end, (), mark.detected_by, mark.confidence)
        for mark, end in zip(marks, ends, strict=True)
    )


def build_tree(entries: Iterable[OutlineEntry]) -> tuple[OutlineEntry, ...]:
    """Nest entries, given in the order of the document: each under the last one before it that has a lower level."""
    roots: list[OutlineEntry] = []
    open_: list[tuple[OutlineEntry, list[OutlineEntry]]] = []

    def close(level: int) -> None:
        while open_ and open_[-1][0].level >= level:
            entry, children = open_.pop()
            whole = replace(entry, children=tuple(children)) if children else entry
            (open_[-1][1] if open_ else roots).append(whole)

    for entry in entries:
        close(entry.level)
        open_.append((entry, []))
    close(0)
    return tuple(roots)


def insert(entries: Sequence[OutlineEntry], new: Sequence[OutlineEntry]) -> tuple[OutlineEntry, ...]:
    """Insert new entries, in the order of the document, each as a child of the innermost entry that contains it."""
    found: list[OutlineEntry] = []
    left = list(new)
    for entry in entries:
        while left and left[0].line_start < entry.line_start:
            found.append(left.pop(0))
        inside = [each for each in left if entry.line_end is None or each.line_start <= entry.line_end]
        left = left[len(inside) :]
        found.append(replace(entry, children=insert(entry.children, inside)) if inside else entry)
    return (*found, *left)


def _down_to(entries: Sequence[OutlineEntry], deepest: int) -> Iterator[OutlineEntry]:
    for entry in entries:
        if entry.level <= deepest:
            yield replace(entry, children=tuple(_down_to(entry.children, deepest)))


def _count(entries: Sequence[OutlineEntry]) -> int:
    return sum(1 + _count(entry.children) for entry in entries)


Format = Literal["markdown", "text", "json", "yaml", "unknown"]

# Deeper nesting tells a reader nothing, and nested entries must not overflow the stack.
_DEEPEST = 64

__all__ = ["Format", "Outline", "OutlineEntry", "ParseError", "outline"]


def outline(
    text: str,
    format: Format,  # noqa: A002
    *,
    max_depth: int = 3,
    detect_chapters: bool = True,
    quoted: bool = False,
) -> Outline:
    """The sections of `text` down to `max_depth` levels. `detect_chapters` applies to plain text, `quoted` to markdown:
    headings inside block quotes are included, each within the section that quotes it, since they divide nothing.

    A document of unknown format is read as plain text.
    """
    max_depth = min(max_depth, _DEEPEST)
    match format:
        case "markdown":
            found = _markdown(text, max_depth, quoted=quoted)
        case "json":
            from redraft.formats.outline.key_outline import outline_json

            found = outline_json(text, max_depth)
        case "yaml":
            from redraft.formats.outline.key_outline import outline_yaml

            found = outline_yaml(text, max_depth)
        case "text" | "unknown":
            from redraft.formats.outline.plain_outline import outline_plain

            found = outline_plain(text, max_depth, detect_chapters=detect_chapters)
    return found if found.entries or found.error else replace(no_outline(), note=found.note)


def _markdown(text: str, max_depth: int, *, quoted: bool) -> Outline:
    from redraft.formats.markdown_headings import find_quoted_headings, headings

    entries = nest([mark for mark in headings(text) if mark.level <= max_depth])
    inside = [each for each in find_quoted_headings(text) if each.mark.level <= max_depth] if quoted else []
    if inside:
        entries = insert(entries, [entry for end, run in groupby(inside, key=_end) for entry in _quotation(run, end)])
    return Outline("headings", entries)


def _end(each: QuotedHeading) -> int:
    return each.end


def _quotation(inside: Iterable[QuotedHeading], end: int) -> list[OutlineEntry]:
    """The headings of one block quote, nested; none extends beyond it."""
    return [_within(entry, end) for entry in nest([each.mark for each in inside])]


def _within(entry: OutlineEntry, end: int) -> OutlineEntry:
    children = tuple(_within(child, end) for child in entry.children)
    return replace(
        entry, line_end=end if entry.line_end is None else min(entry.line_end, end), children=children, quoted=True
    )
