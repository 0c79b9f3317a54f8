"""The headings of a markdown document, as CommonMark and GFM see them, in one pass.

The scanner jumps from one line that could matter to the next; all other lines are paragraphs, code or blank, and are
looked at only when an underline asks what stands above it. Headings inside block quotes and list items are left out:
they belong to what is quoted or listed and divide nothing. So are those in fences, HTML, comments and frontmatter.
Inline markup in titles stays as it is written.
"""

from __future__ import annotations

import re

from redraft.formats.block_starts import (
    ATX,
    BLANK,
    EOL,
    FENCE,
    ITEM,
    RULE,
    UNDERLINE,
    closing_fence,
    html_end,
    is_table,
    is_whole_tag,
    without_definitions,
)
from redraft.formats.containers import SIMPLE, Containers
from redraft.formats.frontmatter import frontmatter_end
from redraft.formats.marks import Mark
from redraft.text.lines import count_breaks

# What can be passed over whole, since to come back for it costs more than to go on: lists and quotations of the simple
# kind, and code between fences of backticks, which is open to the end where nothing closes it.
PASSED = (
    rf"{SIMPLE}|(?P<ticks>`{{3,}}+)[^`\n]*+{EOL}"
    rf"(?:\n(?! {{0,3}}(?P=ticks)`*[ \t]*{EOL})[^\n]*+)*+(?:\n[^\n]*+)?"
)


def events(passed: str = PASSED) -> re.Pattern[str]:
    """The lines that may matter.

    The pattern begins with the newline before the line: with a literal in front, a search is four times as fast. The
    look at the next sign, which no line of prose has, spares nearly every line the alternatives.
    """
    return re.compile(
        rf"\n {{0,3}}+(?=[#=*_+`~<>0-9-])(?:(?P<atx>{ATX})(?P<title>[^\n]*+)|(?P<passed>{passed})"
        rf"|(?P<underline>{UNDERLINE})|(?P<rule>{RULE})|(?P<fence>{FENCE})|(?P<html><(?=[A-Za-z/!?]))|(?P<item>{ITEM})"
        r"|(?P<quote>>))"
    )


_EVENT = events()
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_LONE_MARKER = re.compile(rf"(?:-|[+*]|[0-9]{{1,9}}[.)])[ \t]*{EOL}")
_INDENTED = re.compile(r" {0,3}\t| {4}")


def headings(text: str) -> list[Mark]:
    """The headings that divide the document, with the line where each begins."""
    return [mark for _, mark in placed_headings(text)]


def placed_headings(text: str) -> list[tuple[int, Mark]]:
    """The same, each after the offset of its line, which is right only in a text whose every line ends in "\\n"."""
    skipped = frontmatter_end(text)
    first_line = count_breaks(text[:skipped])
    body = text[skipped:].removeprefix("\ufeff")
    skipped = len(text) - len(body)
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    scanner = _Scanner("\n" + body)
    scanner.run()
    found: list[tuple[int, Mark]] = []
    line, counted = first_line - 1, 0
    for place, level, title in scanner.found:
        line += scanner.text.count("\n", counted, place + 1)
        counted = place + 1
        found.append((skipped + place, Mark(title, level, line)))
    return found


class _Scanner:
    """A place in the text, always at a newline, and what has been found so far: newline, level and title of each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[tuple[int, int, str]] = []
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
                return self._ended(self._line_end(event.end()))
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
            rest = without_definitions(paragraph) if paragraph.lstrip(" ").startswith("[") else paragraph
            if rest.strip():
                title = " ".join(line.strip() for line in rest.split("\n"))
                self.found.append((event.start() - len(rest) - 1, 1 if rule[0] == "=" else 2, title))
                return self._ended(end)
        if rule[0] == "-" and len(rule) >= 3:
            return self._ended(end)
        if rule == "-" and not in_paragraph:
            return self._container(event.start())
        return self._goes_on(event.start(), above or (event.start(), False))

    def _html(self, event: re.Match[str]) -> int:
        tag, above = event.start("html"), None
        closing = html_end(self.text, tag)
        if closing is None and is_whole_tag(self.text, tag):
            above = self._above(event.start())
            closing = BLANK if above is None or above[1] else None
        if closing is None:
            return self._goes_on(event.start(), above)
        return self._to(closing, self._line_end(tag) if closing is BLANK else tag)

    def _item(self, event: re.Match[str]) -> int:
        marker = event["item"]
        unable = marker[0].isdigit() and marker[:-1] != "1"
        if unable or _LONE_MARKER.match(self.text, event.start("item")):
            above = self._above(event.start())
            if above is not None and not above[1]:
                return self._goes_on(event.start(), above)
        return self._container(event.start())

    def _container(self, place: int) -> int:
        """Passes over a block quote or a list."""
        containers = Containers()
        while place < len(self.text):
            end = self._line_end(place + 1)
            if not containers.takes(self.text[place + 1 : end].expandtabs(4)):
                break
            place = end
        return self._ended(place)

    def _to(self, closing: re.Pattern[str], place: int) -> int:
        """Passes over everything up to the line that closes a block."""
        end = closing.search(self.text, place)
        return self._ended(self._line_end(end.end()) if end else len(self.text))

    def _ended(self, place: int) -> int:
        self.floor = place
        return place

    def _goes_on(self, place: int, above: tuple[int, bool] | None) -> int:
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
