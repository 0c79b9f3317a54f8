"""Finding a section of a document by its headings."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Refused
from redraft.formats.outline import Format, outline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.formats.outline import Entry
    from redraft.text.text import Text
    from redraft.workspace.document import Document

DEEPEST = 6
MAX_PLACES = 10
_FORMATS: dict[str, Format] = {"markdown": "markdown", "json": "json", "yaml": "yaml"}
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_ATX = re.compile(r" {0,3}#")


class Section(NamedTuple):
    """Lines, half-open: the heading from `start`, what stands under it from `body` up to `end`."""

    titles: tuple[str, ...]
    start: int
    body: int
    end: int


def outline_format(document: Document) -> Format:
    """The reader that fits; whatever has none of its own is read as plain text."""
    return _FORMATS.get(document.format, "text")


def find_section(document: Document, headings: Sequence[str]) -> Section:
    """The one section whose headings end in the given ones, outermost first; refused where there is none or several."""
    wanted = tuple(heading.strip().lstrip("#").strip() for heading in headings)
    known = list(sections(document))
    found = [each for each in known if each.titles[-len(wanted) :] == wanted]
    if not found:
        folded = tuple(map(str.casefold, wanted))
        found = [each for each in known if tuple(map(str.casefold, each.titles[-len(wanted) :])) == folded]
    if len(found) == 1:
        return found[0]
    name = " > ".join(wanted)
    if found:
        places = [{"line": each.start, "headings": list(each.titles)} for each in found[:MAX_PLACES]]
        message = f"{len(found)} sections of {document.path} are called {name!r}."
        raise Refused(message, code="anchor_ambiguous", path=document.path, places=places)
    near = get_close_matches(wanted[-1], [each.titles[-1] for each in known], n=3)
    message = f"{document.path} has no section {name!r}."
    raise Refused(message, code="anchor_not_found", path=document.path, near_misses=near)


def sections(document: Document) -> Iterator[Section]:
    found = outline(str(document.text), outline_format(document), max_depth=DEEPEST)
    yield from _sections(found.entries, (), document.text)


def _sections(entries: Sequence[Entry], above: tuple[str, ...], text: Text) -> Iterator[Section]:
    waiting = [(entry, above) for entry in reversed(entries)]
    while waiting:
        entry, titles = waiting.pop()
        titles = (*titles, entry.title)
        end = text.line_count if entry.line_end is None else entry.line_end + 1
        yield Section(titles, entry.line_start, _after_heading(text, entry.line_start, end), end)
        waiting += [(child, titles) for child in reversed(entry.children)]


def _after_heading(text: Text, start: int, end: int) -> int:
    """The line after a heading: one further on where it is underlined."""
    line = start + 1
    if line < end and not _ATX.match(text.line(start)) and _UNDERLINE.fullmatch(text.line(line).rstrip("\r\n")):
        return line + 1
    return line
