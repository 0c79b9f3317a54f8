"""Find a quoted passage: it must occur once, or the call is refused with its places or with near misses.

It is searched in the text that the caller read; then the edit is handled like any other (see `target`).
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.errors import Refused
from redraft.formats.outline.outline import Format, outline
from redraft.search.pattern import compile_query
from redraft.search.text_search import find_all
from redraft.text.lines import split_lines
from redraft.text.text import find_passage
from redraft.tools.edit_turn import match_newlines
from redraft.tools.target import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.formats.outline.outline import OutlineEntry
    from redraft.text.text import Text
    from redraft.workspace.document import Document

MAX_PLACES = 10
NEAR_MISSES = 3
NEAR = 0.6
# Near misses only explain a refusal, so a long document is not searched completely for them.
MAX_LINES = 50_000
MAX_CANDIDATES = 40
# A passage that agrees this far is near enough to be shown, however long the quotation is.
NEAR_WORDS, NEAR_CHARACTERS = 50, 2000
_FOLDED = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "})


def find_once(document: Document, quoted: str) -> int:
    """The offset of the passage; refused if it is missing or occurs more than once."""
    text, wanted = document.text, match_newlines(quoted, document)
    found = list(islice(find_passage(text, wanted), MAX_PLACES))
    if not found:
        raise Refused(
            f"The quoted passage is not in {document.path}.",
            code="anchor_not_found",
            path=document.path,
            near_misses=near_misses(text, str(text), wanted),
        )
    if len(found) > 1:
        raise Refused(
            f"The quoted passage occurs {sum(1 for _ in find_passage(text, wanted))} times in {document.path}.",
            code="anchor_ambiguous",
            path=document.path,
            places=[_place(text, text.line_at(at)) for at in found],
        )
    return found[0]


def _place(text: Text, line: int) -> dict[str, Any]:
    return {"line": line, "text": shorten(text.line(line).rstrip("\r\n"))}


def near_misses(text: Text, content: str, wanted: str) -> list[dict[str, Any]]:
    """What the caller may have meant: the passage except for spaces, quotes and dashes, else lines similar to its
    first."""
    words = wanted[:NEAR_CHARACTERS].translate(_FOLDED).split()[:NEAR_WORDS]
    if words:
        loose = compile_query(r"\s+".join(map(re.escape, words)), regex=True)
        found = [at for at, _ in islice(find_all(content.translate(_FOLDED), loose), NEAR_MISSES)]
        if found:
            return [_place(text, text.line_at(at)) for at in found]
    return _similar_lines(text, wanted)


def _similar_lines(text: Text, wanted: str) -> list[dict[str, Any]]:
    first = next((line.strip() for line in split_lines(wanted) if line.strip()), "")
    words = set(first.casefold().split())
    if not words:
        return []
    lines = text.lines(0, min(text.line_count, MAX_LINES))
    shared = [(len(words & set(line.casefold().split())), -number) for number, line in enumerate(lines)]
    likely = sorted((each for each in shared if each[0]), reverse=True)[:MAX_CANDIDATES]
    matcher = SequenceMatcher(b=first[:500], autojunk=False)
    scored: list[tuple[float, int]] = []
    for _, number in likely:
        matcher.set_seq1(lines[-number].strip()[:500])
        if matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR:
            scored.append((matcher.ratio(), number))
    return [_place(text, -number) for _, number in sorted(scored, reverse=True)[:NEAR_MISSES]]


def anchored_line(document: Document, quoted: str) -> int:
    """The last line of the passage, which must occur once."""
    at = find_once(document, quoted)
    return document.text.line_at(at + max(len(match_newlines(quoted, document).rstrip("\r\n")) - 1, 0))


def check_anchor(document: Document, start: int, end: int, quoted: str) -> None:
    """Refuse if the only occurrence of a quoted passage does not begin in these lines (from 0, inclusive)."""
    here = document.text.line_at(find_once(document, quoted))
    if not start <= here <= end:
        message = f"The quoted passage begins on line {here}, not in lines {start} to {end}."
        raise Refused(message, field="match_text", path=document.path, line=here)


# Finding a section of a document by its headings.


DEEPEST = 6
MAX_SECTIONS = 10
_FORMATS: dict[str, Format] = {"markdown": "markdown", "json": "json", "yaml": "yaml"}
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_ATX = re.compile(r" {0,3}#")


class SectionSpan(NamedTuple):
    """Lines, half-open: the heading from `start`, its text from `body` up to `end`."""

    titles: tuple[str, ...]
    start: int
    body: int
    end: int


def outline_format(document: Document) -> Format:
    """The outline format to use; plain text for everything without its own."""
    return _FORMATS.get(document.format, "text")


def find_section(document: Document, headings: Sequence[str]) -> SectionSpan:
    """The one section whose headings end in the given ones, outermost first; refused if there is none or several."""
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
        places = [{"line": each.start, "headings": list(each.titles)} for each in found[:MAX_SECTIONS]]
        message = f"{len(found)} sections of {document.path} are called {name!r}."
        raise Refused(message, code="anchor_ambiguous", path=document.path, places=places)
    near = get_close_matches(wanted[-1], [each.titles[-1] for each in known], n=3)
    message = f"{document.path} has no section {name!r}."
    raise Refused(message, code="anchor_not_found", path=document.path, near_misses=near)


def sections(document: Document) -> Iterator[SectionSpan]:
    found = outline(str(document.text), outline_format(document), max_depth=DEEPEST)
    yield from _sections(found.entries, (), document.text)


def _sections(entries: Sequence[OutlineEntry], above: tuple[str, ...], text: Text) -> Iterator[SectionSpan]:
    waiting = [(entry, above) for entry in reversed(entries)]
    while waiting:
        entry, titles = waiting.pop()
        titles = (*titles, entry.title)
        end = text.line_count if entry.line_end is None else entry.line_end + 1
        yield SectionSpan(titles, entry.line_start, _after_heading(text, entry.line_start, end), end)
        waiting += [(child, titles) for child in reversed(entry.children)]


def _after_heading(text: Text, start: int, end: int) -> int:
    """The line after a heading, also if it is underlined."""
    line = start + 1
    if line < end and not _ATX.match(text.line(start)) and _UNDERLINE.fullmatch(text.line(line).rstrip("\r\n")):
        return line + 1
    return line
