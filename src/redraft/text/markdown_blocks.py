"""The one scanner of markdown's blocks: where fenced code, headings and quotations are.

CommonMark 0.31 with GFM's tables. Everybody who needs to know what is code or a heading uses this: the units of a diff,
components, the outline, lint, search and the offline assistant. It is in `text` because a diff needs it too.

It jumps from one line that could matter to the next; all other lines are paragraphs, indented code or blank, and are
checked only when an underline asks what is above it. Each pattern is tried where a line begins, after at most
three spaces, and is linear in the length of the line. All offsets are those of the given text, whatever its line
endings.
"""

from __future__ import annotations

import re
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.edits import Span
from redraft.text.lines import count_breaks, count_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

_EOL = r"(?=\n|\Z)"
_ATX = rf"\#{{1,6}}(?=[ \t]|{_EOL})"
_FENCE = rf"`{{3,}}(?=[^`\n]*{_EOL})|~{{3,}}"
_ITEM = rf"(?:[-+*]|[0-9]{{1,9}}[.)])(?=[ \t]|{_EOL})"
_RULE = rf"(?:(?:-[ \t]*+){{3,}}|(?:\*[ \t]*+){{3,}}|(?:_[ \t]*+){{3,}}){_EOL}"
_UNDERLINE_LINE = rf"(?:=+|-+)[ \t]*{_EOL}"

_BLANK = re.compile(rf"\n[ \t]*{_EOL}")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
_VALUE = r"""(?:[^\s"'=<>`]+|'[^'\n]*'|"[^"\n]*")"""
_ATTRIBUTE = rf"[ \t]+[a-zA-Z_:][a-zA-Z0-9:._-]*+(?:[ \t]*=[ \t]*{_VALUE})?"
_WHOLE_TAG = re.compile(
    rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*+[ \t]*>)[ \t]*{_EOL}"
)


@cache
def _html_start() -> re.Pattern[str]:
    """How an HTML block begins. Compiled when first needed, because it takes as long as all other patterns together."""
    return re.compile(
        rf"<(?:(?P<raw>(?:script|pre|style|textarea)(?=[\s>]|{_EOL}))|(?P<comment>!--)|(?P<instruction>\?)"
        rf"|(?P<declaration>![A-Za-z])|(?P<data>!\[CDATA\[)|(?P<block>/?(?:{_BLOCK_TAGS})(?=[\s/>]|{_EOL})))",
        re.IGNORECASE,
    )


# What the last line of an HTML block contains; if that is _BLANK, the block ends before a blank line.
_HTML_ENDS = {
    "raw": re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    "comment": re.compile(r"-->"),
    "instruction": re.compile(r"\?>"),
    "declaration": re.compile(r">"),
    "data": re.compile(r"\]\]>"),
    "block": _BLANK,
}

_LABEL = r"\[(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.){1,999}\]:"
_TARGET = r"(?:<(?:[^<>\\\n]|\\.)*>|(?!<)\S+)"
_TITLE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))"""
_GAP = r"[ \t]*(?:\n[ \t]*)?"
_DEFINITION = re.compile(
    rf"[ \t]*{_LABEL}{_GAP}{_TARGET}(?:(?:[ \t]+|[ \t]*\n[ \t]*){_TITLE})?[ \t]*(?:\n|\Z)", re.DOTALL
)
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


def _html_end(text: str, place: int) -> re.Pattern[str] | None:
    """How the HTML block that begins at `place` ends, or None if none begins or it is only a tag."""
    begin = _html_start().match(text, place)
    return _HTML_ENDS[begin.lastgroup or ""] if begin else None


def _is_whole_tag(text: str, place: int) -> bool:
    """A tag alone on its line begins a block that ends before a blank line, but never inside a paragraph."""
    return _WHOLE_TAG.match(text, place) is not None


@lru_cache(maxsize=64)
def _closing_fence(fence: str) -> re.Pattern[str]:
    """The line that closes a fence; it begins with the newline before it."""
    return re.compile(rf"\n {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*{_EOL}")


def _strip_definitions(paragraph: str) -> str:
    """What is left of a paragraph after the link definitions that it begins with."""
    place = 0
    while match := _DEFINITION.match(paragraph, place):
        place = match.end()
    return paragraph[place:]


def _is_table(lines: list[str]) -> bool:
    """A paragraph is a table from where a delimiter row follows a row with as many cells."""
    return any(
        "|" in head and _DELIMITER.fullmatch(row) is not None and _cells(head) == _cells(row)
        for head, row in pairwise(lines)
        if "-" in row
    )


def _cells(row: str) -> int:
    row = row.strip().replace("\\|", "")
    return row.removeprefix("|").removesuffix("|").count("|") + 1


# Where a block quote or a list ends: what an outline has to know about containers.
#
# A heading in a quotation belongs to the quotation, and one in a list item to its item; neither divides the document,
# so both are left out. To know where the outermost container ends, its inner blocks have to be followed line by line,
# because a paragraph may continue lazily without the container's markers, and a fence may not.


_QUOTE = -1
_STARTS = re.compile(
    rf"(?P<quote>>)|(?P<atx>{_ATX})|(?P<rule>{_RULE})|(?P<fence>{_FENCE})|(?P<html><(?=[A-Za-z/!?]))|(?P<item>{_ITEM})"
)
_UNDERLINE = re.compile(_UNDERLINE_LINE)
# By far most lists and quotations are so simple that their end is obvious: lines that each begin an item or a quotation
# with a letter, blank lines among them, and after the last of those something that is not indented and cannot be
# another item. A letter begins no block inside, and a lazy continuation without a number 1 is inside, too; only as the
# first line it may be in the middle of a paragraph and begin nothing.
_LINE = r"(?:[-+*] |> ?|[0-9]{1,9}[.)] )[A-Za-z][^\n]*+"
_LINES = rf"{_LINE}(?:\n{_LINE})*+(?:\n[ \t]*+(?=\n))++"
_SIMPLE = rf"(?=\D|1[.)]){_LINES}(?:\n{_LINES})*+(?=\n[^ \t\n>+*0-9-])"
_CODE_INDENT = 4
# Nobody nests deeper; without a limit a line of nothing but markers would take time quadratic in its length.
_DEEPEST = 100


class _OpenBlocks:
    """The open containers at one place of the document's top level, and the open block inside them."""

    def __init__(self) -> None:
        # For a list item the indentation of its content; for a block quote -1.
        self.stack: list[int] = []
        self.paragraph = False
        self.ends: re.Pattern[str] | None = None
        # The opening of the fence that is open, another object for each; and whether the last line closed one.
        self.fence: re.Match[str] | None = None
        self.closed = False
        # An item that began with a blank line and is still empty ends at the next one.
        self.empty = False

    def take_line(self, line: str) -> bool:
        """Whether the containers continue with this line (without its newline, its tabs expanded)."""
        self.closed = False
        matched, place = self._match(line)
        whole = matched == len(self.stack) and matched > 0
        if whole and self.ends is not None:
            self._in_literal(line, place)
            return True
        if not line[place:].strip():
            return self._at_blank(matched)
        if self._opens(line, place, matched):
            return bool(self.stack)
        if self.paragraph and self.stack:
            return True  # continues, lazily or not
        return self._at_text(line, place, matched)

    def _match(self, line: str) -> tuple[int, int]:
        place = 0
        for matched, width in enumerate(self.stack):
            indent = _indent(line, place)
            if width == _QUOTE:
                if indent >= _CODE_INDENT or line[place + indent : place + indent + 1] != ">":
                    return matched, place
                place += indent + 1
                place += line[place : place + 1] == " "
            elif place + indent == len(line):
                if self.empty and matched == len(self.stack) - 1:
                    return matched, place
            elif indent >= width:
                place += width
            else:
                return matched, place
        return len(self.stack), place

    def _in_literal(self, line: str, place: int) -> None:
        """Inside a fence or HTML: only its own end matters."""
        if self.ends is not None and self.ends.search("\n" + line[place:]):
            self.closed = self.fence is not None
            self.ends = self.fence = None

    def _at_blank(self, matched: int) -> bool:
        self._close(matched)
        self.paragraph = self.empty = False
        return bool(self.stack)

    def _at_text(self, line: str, place: int, matched: int) -> bool:
        self._close(matched)
        self.empty = False
        self.paragraph = _indent(line, place) < _CODE_INDENT
        return bool(self.stack)

    def _close(self, matched: int) -> None:
        if matched < len(self.stack):
            del self.stack[matched:]
            self.paragraph, self.ends, self.empty = False, None, False
            self.fence = None

    def _opens(self, line: str, place: int, matched: int) -> bool:
        """Opens what begins on this line; False if it is only text."""
        opened = False
        while True:
            indent = _indent(line, place)
            inside = self.paragraph and matched == len(self.stack)
            start = None
            if indent < _CODE_INDENT and len(self.stack) < _DEEPEST:
                start = _STARTS.match(line, place + indent)
            if inside and indent < _CODE_INDENT and _UNDERLINE.match(line, place + indent):
                self.paragraph = False
                return True
            if start is None or not self._starts(line, start, inside=inside):
                return opened and self._rest(line, place)
            self._close(matched)
            self.paragraph = self.empty = False
            opened = True
            if start.lastgroup not in ("quote", "item"):
                self._leaf(line, start)
                return True
            place = self._push(line, start, place)
            matched = len(self.stack)

    def _rest(self, line: str, place: int) -> bool:
        """What is on the line after the containers that it opens."""
        if not line[place:].strip():
            return True
        self.paragraph = _indent(line, place) < _CODE_INDENT
        return True

    def _starts(self, line: str, start: re.Match[str], *, inside: bool) -> bool:
        if start.lastgroup == "html":
            place = start.start()
            return _html_end(line, place) is not None or (not self.paragraph and _is_whole_tag(line, place))
        if start.lastgroup == "item" and inside:
            return _interrupts(line, start)
        return True

    def _leaf(self, line: str, start: re.Match[str]) -> None:
        if start.lastgroup == "fence":
            self.ends = _closing_fence(start["fence"])
            self.fence = start
        elif start.lastgroup == "html":
            end = _html_end(line, start.start()) or _BLANK
            self.ends = end if end is _BLANK or not end.search(line, start.start()) else None

    def _push(self, line: str, start: re.Match[str], place: int) -> int:
        end = start.end()
        if start.lastgroup == "quote":
            self.stack.append(_QUOTE)
            return end + (line[end : end + 1] == " ")
        spaces = _indent(line, end)
        self.empty = end + spaces == len(line)
        if self.empty or spaces > _CODE_INDENT:
            spaces = 1
        self.stack.append(end + spaces - place)
        return min(end + spaces, len(line))


def _indent(line: str, place: int) -> int:
    return len(line) - place - len(line[place:].lstrip(" "))


def _interrupts(line: str, start: re.Match[str]) -> bool:
    """A list item interrupts a paragraph only if it is not empty and its number is 1."""
    marker = start["item"]
    return bool(line[start.end() :].strip()) and (not marker[0].isdigit() or marker[:-1] == "1")


# What can be skipped whole, since coming back for it costs more than continuing: lists and quotations of the simple
# kind, and code between fences of backticks, which is open to the end if nothing closes it.
_PASSED = (
    rf"{_SIMPLE}|(?P<ticks>`{{3,}}+)[^`\n]*+{_EOL}"
    rf"(?:\n(?! {{0,3}}(?P=ticks)`*[ \t]*{_EOL})[^\n]*+)*+(?:\n[^\n]*+)?"
)


@cache
def _events(passed: str) -> re.Pattern[str]:
    """The lines that may matter.

    The pattern begins with the newline before the line: with a literal in front, a search is four times as fast. The
    lookahead at the next character, which no line of prose has, spares nearly every line the alternatives.
    """
    return re.compile(
        rf"\n {{0,3}}+(?=[#=*_+`~<>0-9-])(?:(?P<atx>{_ATX})(?P<title>[^\n]*+)|(?P<passed>{passed})"
        rf"|(?P<underline>{_UNDERLINE_LINE})|(?P<rule>{_RULE})|(?P<fence>{_FENCE})|(?P<html><(?=[A-Za-z/!?]))|(?P<item>{_ITEM})"
        r"|(?P<quote>>))"
    )


_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_LONE_MARKER = re.compile(rf"(?:-|[+*]|[0-9]{{1,9}}[.)])[ \t]*{_EOL}")
_INDENTED = re.compile(r" {0,3}\t| {4}")
_QUOTE_MARK = re.compile(r" {0,3}>")
# What a line that opens a fence begins with: a run of one of these, after the markers of quotations and list items.
_RUNS = ("```", "~~~")
_FENCE_SIGNS = re.compile(_FENCE)
_LEAD = re.compile(r"(?:[ \t>]|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]))*+")
_TAG = re.compile(r"\n {0,3}<(?=[A-Za-z/!?])")
_LITERAL_TAG = re.compile(r"\n {0,3}<(?=[!?PpSsTt])")


class CodeBlock(NamedTuple):
    """Fenced code: whole lines, including its fences. `closed` says whether a line closes it, or the end of the text,
    of the quotation or of the list item."""

    start: int
    end: int
    fence: str
    closed: bool


class HeadingPlace(NamedTuple):
    """A top-level heading, and where its line begins."""

    start: int
    level: int
    title: str


def has_fence(text: str) -> bool:
    """Whether anything in a text could open or close a fence."""
    # Most texts have no tilde at all, and searching for one character is ten times as fast as for three.
    return ("`" in text and "```" in text) or ("~" in text and "~~~" in text)


def fences(text: str, start: int = 0, *, closed: bool = False) -> list[CodeBlock]:
    """The fenced code from `start` on, where the body begins; fast enough for 10 MB.

    With `closed`, an unclosed fence or HTML block is a line like any other: somebody may be typing it.
    """
    if not has_fence(text):
        return []
    scanner = _Scanner(text, start, _events(_SIMPLE), closed=closed)
    scanner.scan_fences()
    return scanner.code


def line_ranges(text: str, blocks: Iterable[CodeBlock | Span]) -> list[range]:
    """The line numbers of each block; blocks are given in order."""
    found: list[range] = []
    line = counted = 0
    for block in blocks:
        line += count_breaks(text[counted : block.start])
        found.append(range(line, line + count_lines(text[block.start : block.end])))
        counted = block.start
    return found


def scan_headings(text: str, start: int = 0) -> tuple[list[HeadingPlace], list[Span]]:
    """The headings from `start` on, where the body begins, and the block quotes, which may have headings of their own.

    Headings in block quotes and list items are left out: they belong to the quotation or the item and divide nothing.
    """
    scanner = _Scanner(text, start, _events(_PASSED))
    scanner.scan_all()
    return scanner.headings, scanner.quotes


class _Scanner:
    """A position in the text, always at a newline, and what has been found so far.

    A newline is added before the first line as well, so the newline before a line has the offset that the line has in
    the given text.
    """

    def __init__(self, given: str, start: int, events: re.Pattern[str], *, closed: bool = False) -> None:
        self.given = given if "\r" not in given else given.replace("\r\n", " \n").replace("\r", "\n")
        if given.startswith("\ufeff", start):  # treated as a separate line, so that the next begins after a newline
            self.given = f"{self.given[:start]}\n{self.given[start + 1 :]}"
            start += 1
        self.size = len(given) + 1
        self.place: int | None = start
        self.events = events
        # Whether unclosed blocks do not count; and the ends that were searched and do not exist ahead.
        self.closed = closed
        self.missing: set[re.Pattern[str]] = set()
        self.headings: list[HeadingPlace] = []
        # Block quotes that may contain a heading.
        self.quotes: list[Span] = []
        self.code: list[CodeBlock] = []
        # Where the last block other than a paragraph ended: nothing above it can be part of a paragraph.
        self.floor = start
        # The last line found to continue a paragraph or a table, where that begins, and whether it is a table: so that
        # a long one of lines that might matter is not searched again for each of them.
        self.known = (-1, -1, False)

    @cached_property
    def text(self) -> str:
        """The text with its first newline: created when needed, since copying 1 MB takes as long as a search."""
        return "\n" + self.given

    def scan_all(self) -> None:
        while self.place is not None:
            self.place = self._scan(self.place)

    def scan_fences(self) -> None:
        """Look for fences only. Nothing but an open HTML block keeps an unindented fence from opening, so for most the
        text before them need not be checked: this takes a third of the time of `scan_all`."""
        given, ahead = self.given, dict.fromkeys((run for run in _RUNS if run[0] in self.given), -1)
        at = self.place or 0
        while self.place is not None:
            for run, place in list(ahead.items()):
                if place < at:
                    ahead[run] = given.find(run, at)
                    if ahead[run] < 0:
                        del ahead[run]
            if not ahead:
                return
            run = min(ahead.values())
            line, at = given.rfind("\n", 0, run) + 1, self._line_end(run + 1)
            fence = _FENCE_SIGNS.match(given, run)
            if fence is None or not _LEAD.fullmatch(given, line, run):
                continue
            if run == line and self._is_past_html(self.place, line):
                self.place = at = self._fence(line, at, fence[0])
                continue
            while self.place is not None and self.place <= line:
                self.place = self._scan(self.place)
            at = max(at, self.place or 0)

    def _is_past_html(self, place: int, line: int) -> bool:
        """Whether every HTML block that may begin between a position and a line is certain to have ended before it:
        those that end before a blank line, and the others, whose end is known."""
        given, first = self.given, place - 1
        if first < 0:
            if given.startswith((" ", "<")):
                return False
            first = 0
        blank = max(first, given.rfind("\n\n", first, line))
        if blank + 2 < line and _TAG.search(given, blank, line - 1):
            return False
        for tag in _LITERAL_TAG.finditer(given, first, blank):
            closing = _html_end(given, tag.end() - 1) or _BLANK
            if closing is _BLANK or closing in self.missing or closing.search(given, tag.end(), line):
                continue
            if not self.closed or self._find_end(closing, tag.end() + 1):
                return False
        return True

    def _scan(self, place: int) -> int | None:
        """Advances to the next line that has to be checked, and returns the position after it; None at the end."""
        for event in self.events.finditer(self.text, place):
            kind = event.lastgroup
            if kind == "title":
                level, title = event.group("atx", "title")
                title = title.strip(" \t")
                if title.endswith("#"):
                    title = _CLOSING.sub("", title)
                self.headings.append(HeadingPlace(event.start(), len(level), title.strip()))
            elif kind != "passed":
                return self._meet(event)
            self.floor = event.end()
        return None

    def _meet(self, event: re.Match[str]) -> int:
        """Handles a line that may matter; returns where to continue."""
        match event.lastgroup:
            case "underline":
                return self._underline(event)
            case "rule":
                return self._end_block(self._line_end(event.end()))
            case "fence":
                return self._fence(event.start(), self._line_end(event.end()), event["fence"])
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
            rest = _strip_definitions(paragraph) if paragraph.lstrip(" ").startswith("[") else paragraph
            if rest.strip():
                title = " ".join(line.strip() for line in rest.split("\n"))
                self.headings.append(HeadingPlace(event.start() - len(rest) - 1, 1 if rule[0] == "=" else 2, title))
                return self._end_block(end)
        if rule[0] == "-" and len(rule) >= 3:
            return self._end_block(end)
        if rule == "-" and not in_paragraph:
            return self._container(event.start())
        return self._continue_paragraph(event.start(), above or (event.start(), False))

    def _html(self, event: re.Match[str]) -> int:
        tag, above = event.start("html"), None
        closing = _html_end(self.text, tag)
        if closing is None and _is_whole_tag(self.text, tag):
            above = self._above(event.start())
            closing = _BLANK if above is None or above[1] else None
        if closing is None:
            return self._continue_paragraph(event.start(), above)
        return self._to(closing, self._line_end(tag) if closing is _BLANK else tag)

    def _item(self, event: re.Match[str]) -> int:
        marker = event["item"]
        unable = marker[0].isdigit() and marker[:-1] != "1"
        if unable or _LONE_MARKER.match(self.text, event.start("item")):
            above = self._above(event.start())
            if above is not None and not above[1]:
                return self._continue_paragraph(event.start(), above)
        return self._container(event.start())

    def _container(self, place: int) -> int:
        """Skips a block quote or a list."""
        containers, start, opened = _OpenBlocks(), place, place
        while place < self.size:
            end, fence = self._line_end(place + 1), containers.fence
            goes_on = containers.take_line(self.text[place + 1 : end].expandtabs(4))
            if containers.fence is not fence:
                if fence is not None:
                    self._add_code(
                        opened, end if containers.closed else place, fence["fence"], closed=containers.closed
                    )
                opened = place
            if not goes_on:
                break
            place = end
        if containers.fence is not None:
            self._add_code(opened, place, containers.fence["fence"], closed=False)
        if _QUOTE_MARK.match(self.text, start + 1):
            self.quotes.append(Span(start, place - 1))
        return self._end_block(place)

    def _fence(self, line: int, after: int, fence: str) -> int:
        """Skips the code that a top-level line opens, which ends before `after`."""
        end = self._find_end(_closing_fence(fence), after)
        if not end and self.closed:
            return self._end_block(after)
        place = self._line_end(end) if end else self.size
        self._add_code(line, place, fence, closed=bool(end))
        return self._end_block(place)

    def _add_code(self, line: int, end: int, fence: str, *, closed: bool) -> None:
        self.code.append(CodeBlock(line, min(end, self.size - 1), fence, closed))

    def _to(self, closing: re.Pattern[str], place: int) -> int:
        """Skips everything up to the line that closes an HTML block."""
        end = self._find_end(closing, place)
        if not end and self.closed and closing is not _BLANK:
            return self._end_block(self._line_end(place))
        return self._end_block(self._line_end(end) if end else self.size)

    def _find_end(self, closing: re.Pattern[str], place: int) -> int:
        """Where the next end of a block ends, 0 if there is none. What is not found once will not be found later."""
        if closing in self.missing:
            return 0
        end = closing.search(self.given, place - 1)
        if end is None:
            self.missing.add(closing)
        return end.end() + 1 if end else 0

    def _end_block(self, place: int) -> int:
        self.floor = place
        return place

    def _continue_paragraph(self, place: int, above: tuple[int, bool] | None) -> int:
        """The line is part of a paragraph or a table after all."""
        if above is not None:
            self.known = (place, *above)
        return self._line_end(place + 1)

    def _line_end(self, place: int) -> int:
        return self.given.find("\n", place - 1) + 1 or self.size

    def _above(self, place: int) -> tuple[int, bool] | None:
        """The newline before the paragraph or table that is open above `place`, and whether it is a table."""
        lines: list[int] = []
        end, known = place, self.known
        while place > self.floor:
            if known[0] >= self.floor and place == self._line_end(known[0] + 1):
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
        return "|" in self.text[start:end] and _is_table(self.text[start + 1 : end].split("\n"))
