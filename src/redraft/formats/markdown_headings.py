"""The headings of a markdown document, as CommonMark and GFM see them, in one pass.

The scanner jumps from one line that could matter to the next; all other lines are paragraphs, code or blank, and are
looked at only when an underline asks what stands above it. Headings inside block quotes and list items are left out:
they belong to what is quoted or listed and divide nothing. So are those in fences, HTML, comments and frontmatter.
`quoted_headings` gives those in block quotes by themselves. Inline markup in titles stays as it is written.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any, NamedTuple

from redraft.formats.frontmatter import frontmatter_end
from redraft.formats.heading import Heading
from redraft.formats.markdown_blocks import (
    ATX,
    BLANK,
    EOL,
    FENCE,
    ITEM,
    RULE,
    SIMPLE,
    UNDERLINE,
    OpenBlocks,
    closing_fence,
    html_end,
    is_table,
    is_whole_tag,
    strip_definitions,
)
from redraft.text.lines import count_breaks, count_lines, split_lines

# What can be passed over whole, since to come back for it costs more than to go on: lists and quotations of the simple
# kind, and code between fences of backticks, which is open to the end where nothing closes it.
PASSED = (
    rf"{SIMPLE}|(?P<ticks>`{{3,}}+)[^`\n]*+{EOL}"
    rf"(?:\n(?! {{0,3}}(?P=ticks)`*[ \t]*{EOL})[^\n]*+)*+(?:\n[^\n]*+)?"
)


def event_pattern(passed: str = PASSED) -> re.Pattern[str]:
    """The lines that may matter.

    The pattern begins with the newline before the line: with a literal in front, a search is four times as fast. The
    look at the next sign, which no line of prose has, spares nearly every line the alternatives.
    """
    return re.compile(
        rf"\n {{0,3}}+(?=[#=*_+`~<>0-9-])(?:(?P<atx>{ATX})(?P<title>[^\n]*+)|(?P<passed>{passed})"
        rf"|(?P<underline>{UNDERLINE})|(?P<rule>{RULE})|(?P<fence>{FENCE})|(?P<html><(?=[A-Za-z/!?]))|(?P<item>{ITEM})"
        r"|(?P<quote>>))"
    )


_EVENT = event_pattern()
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_LONE_MARKER = re.compile(rf"(?:-|[+*]|[0-9]{{1,9}}[.)])[ \t]*{EOL}")
_INDENTED = re.compile(r" {0,3}\t| {4}")
_QUOTE = re.compile(r" {0,3}> ?")
_ONLY_RULE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
# Nobody quotes a quotation of quotations more often; each time the text is looked through once more.
_DEEPEST_QUOTE = 8


def headings(text: str) -> list[Heading]:
    """The headings that divide the document, with the line where each begins."""
    return [mark for _, mark in headings_with_offsets(text)]


def headings_with_offsets(text: str) -> list[tuple[int, Heading]]:
    """The same, each after the offset of its line, which is right only in a text whose every line ends in "\\n"."""
    skipped = frontmatter_end(text)
    first_line = count_breaks(text[:skipped])
    body = text[skipped:].removeprefix("\ufeff")
    skipped = len(text) - len(body)
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    scanner = _Scanner("\n" + body)
    scanner.run()
    found: list[tuple[int, Heading]] = []
    line, counted = first_line - 1, 0
    for place, level, title in scanner.found:
        line += scanner.text.count("\n", counted, place + 1)
        counted = place + 1
        found.append((skipped + place, Heading(title, level, line)))
    return found


class QuotedHeading(NamedTuple):
    """A heading inside a block quote, and the last line of that quote."""

    mark: Heading
    end: int


def quoted_headings(text: str) -> list[QuotedHeading]:
    """The headings inside block quotes, in the order of the document; not those in lists."""
    skipped = frontmatter_end(text)
    body = text[skipped:].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _find_quoted(body, count_breaks(text[:skipped]), _DEEPEST_QUOTE) if ">" in body else []


def _find_quoted(body: str, first: int, deepest: int) -> list[QuotedHeading]:
    """Those of a text whose first line has this number."""
    scanner = _Scanner("\n" + body)
    scanner.run()
    found: list[QuotedHeading] = []
    line, counted = first - 1, 0
    for start, end in scanner.quotes:
        line += scanner.text.count("\n", counted, start + 1)
        counted = start + 1
        inner = "\n".join(map(_strip_quote, scanner.text[start + 1 : end].split("\n")))
        inside = _Scanner("\n" + inner)
        inside.run()
        last = line + inner.rstrip().count("\n")
        found += [
            QuotedHeading(Heading(title, level, line + inside.text.count("\n", 0, place)), last)
            for place, level, title in inside.found
        ]
        if deepest > 1 and ">" in inner:
            found += _find_quoted(inner, line, deepest - 1)
    return sorted(found, key=lambda each: each.mark.line)


def _strip_quote(line: str) -> str:
    """A line without its mark. One that has none goes on with a paragraph, and underlines nothing."""
    mark = _QUOTE.match(line)
    if mark is not None:
        return line[mark.end() :]
    return f"\\{line.lstrip()}" if _ONLY_RULE.fullmatch(line) else line


class _Scanner:
    """A place in the text, always at a newline, and what has been found so far: newline, level and title of each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[tuple[int, int, str]] = []
        # Block quotes that may hold a heading: the newline before each, and where it ends.
        self.quotes: list[tuple[int, int]] = []
        # Where the last block that is no paragraph ended: nothing above it can be part of a paragraph.
        self.floor = 0
        # A line that was looked at and goes on with a paragraph or a table, where that begins, and whether it is a
        # table: so that a long one of lines that might have mattered is not looked through again for each of them.
        self.known = (-1, -1, False)

    def run(self) -> None:
        place: int | None = 0
        while place is not None:
            place = self._scan(place)

    def _scan(self, place: int) -> int | None:
        """Goes on to the next line that has to be looked at, and gives the place after it; None at the end."""
        for event in _EVENT.finditer(self.text, place):
            kind = event.lastgroup
            if kind == "title":
                level, title = event.group("atx", "title")
                title = title.strip(" \t")
                if title.endswith("#"):
                    title = _CLOSING.sub("", title)
                self.found.append((event.start(), len(level), title.strip()))
            elif kind != "passed":
                return self._meet(event)
            self.floor = event.end()
        return None

    def _meet(self, event: re.Match[str]) -> int:
        """Deals with a line that may matter; the place where to go on."""
        match event.lastgroup:
            case "underline":
                return self._underline(event)
            case "rule":
                return self._end_block(self._line_end(event.end()))
            case "fence":
                return self._to(closing_fence(event["fence"]), self._line_end(event.end()))
            case "html":
                return self._html(event)
            case "item":
                return self._item(event)
            case _:
                return self._container(event.start())

    def _underline(self, event: re.Match[str]) -> int:
        end, rule = self._line_end(event.end()), event["underline"].rstrip()
        above = self._above(event.start())
        in_paragraph = above is not None and not above[1]
        if above is not None and in_paragraph:
            paragraph = self.text[above[0] + 1 : event.start()]
            rest = strip_definitions(paragraph) if paragraph.lstrip(" ").startswith("[") else paragraph
            if rest.strip():
                title = " ".join(line.strip() for line in rest.split("\n"))
                self.found.append((event.start() - len(rest) - 1, 1 if rule[0] == "=" else 2, title))
                return self._end_block(end)
        if rule[0] == "-" and len(rule) >= 3:
            return self._end_block(end)
        if rule == "-" and not in_paragraph:
            return self._container(event.start())
        return self._continue_paragraph(event.start(), above or (event.start(), False))

    def _html(self, event: re.Match[str]) -> int:
        tag, above = event.start("html"), None
        closing = html_end(self.text, tag)
        if closing is None and is_whole_tag(self.text, tag):
            above = self._above(event.start())
            closing = BLANK if above is None or above[1] else None
        if closing is None:
            return self._continue_paragraph(event.start(), above)
        return self._to(closing, self._line_end(tag) if closing is BLANK else tag)

    def _item(self, event: re.Match[str]) -> int:
        marker = event["item"]
        unable = marker[0].isdigit() and marker[:-1] != "1"
        if unable or _LONE_MARKER.match(self.text, event.start("item")):
            above = self._above(event.start())
            if above is not None and not above[1]:
                return self._continue_paragraph(event.start(), above)
        return self._container(event.start())

    def _container(self, place: int) -> int:
        """Passes over a block quote or a list."""
        containers, start = OpenBlocks(), place
        while place < len(self.text):
            end = self._line_end(place + 1)
            if not containers.take_line(self.text[place + 1 : end].expandtabs(4)):
                break
            place = end
        if _QUOTE.match(self.text, start + 1):
            self.quotes.append((start, place))
        return self._end_block(place)

    def _to(self, closing: re.Pattern[str], place: int) -> int:
        """Passes over everything up to the line that closes a block."""
        end = closing.search(self.text, place)
        return self._end_block(self._line_end(end.end()) if end else len(self.text))

    def _end_block(self, place: int) -> int:
        self.floor = place
        return place

    def _continue_paragraph(self, place: int, above: tuple[int, bool] | None) -> int:
        """The line is part of a paragraph or a table after all."""
        if above is not None:
            self.known = (place, *above)
        return self._line_end(place + 1)

    def _line_end(self, place: int) -> int:
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end

    def _above(self, place: int) -> tuple[int, bool] | None:
        """The newline before the paragraph or table that is open above `place`, and whether it is a table."""
        lines: list[int] = []
        end, known = place, self.known
        while place > self.floor:
            if place == self._line_end(known[0] + 1) and known[0] >= self.floor:
                return known[1], known[2] or self._is_table(known[0], end)
            before = self.text.rfind("\n", self.floor, place)
            if before < 0 or not self.text[before:place].strip():
                break
            lines.append(before)
            place = before
        # Indented lines after a blank one are code, and a paragraph begins below them.
        while lines and _INDENTED.match(self.text, lines[-1] + 1):
            lines.pop()
        return (lines[-1], self._is_table(lines[-1], end)) if lines else None

    def _is_table(self, start: int, end: int) -> bool:
        return "|" in self.text[start:end] and is_table(self.text[start + 1 : end].split("\n"))


# The sections of a markdown document with their size, for a table that a person or a model reads before the text.
#
# Every heading begins a section that ends at the next one, whatever its depth, so that the sizes add up to the
# document without its frontmatter and its headings. What comes before the first heading is the `(preamble)`.


PREAMBLE = "(preamble)"
_BYTES_PER_TOKEN = 4


class Section(NamedTuple):
    """A heading (depth 0 for the preamble), its line in the file counted from 1, and how much it holds.

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
