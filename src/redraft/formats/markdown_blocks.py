"""How the blocks of markdown begin and end, as regular expressions: fences, HTML, rules, list items, underlines.

CommonMark 0.31 with GFM's tables. Each pattern is tried where a line begins, after at most three spaces, and is linear
in the length of the line.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

EOL = r"(?=\n|\Z)"
ATX = rf"\#{{1,6}}(?=[ \t]|{EOL})"
FENCE = rf"`{{3,}}(?=[^`\n]*{EOL})|~{{3,}}"
ITEM = rf"(?:[-+*]|[0-9]{{1,9}}[.)])(?=[ \t]|{EOL})"
RULE = rf"(?:(?:-[ \t]*+){{3,}}|(?:\*[ \t]*+){{3,}}|(?:_[ \t]*+){{3,}}){EOL}"
UNDERLINE = rf"(?:=+|-+)[ \t]*{EOL}"

BLANK = re.compile(rf"\n[ \t]*{EOL}")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
_VALUE = r"""(?:[^\s"'=<>`]+|'[^'\n]*'|"[^"\n]*")"""
_ATTRIBUTE = rf"[ \t]+[a-zA-Z_:][a-zA-Z0-9:._-]*+(?:[ \t]*=[ \t]*{_VALUE})?"
_WHOLE_TAG = re.compile(
    rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*+[ \t]*>)[ \t]*{EOL}"
)


@cache
def _html_start() -> re.Pattern[str]:
    """How an HTML block begins. Made when the first is met, because it takes as long to make as all other patterns."""
    return re.compile(
        rf"<(?:(?P<raw>(?:script|pre|style|textarea)(?=[\s>]|{EOL}))|(?P<comment>!--)|(?P<instruction>\?)"
        rf"|(?P<declaration>![A-Za-z])|(?P<data>!\[CDATA\[)|(?P<block>/?(?:{_BLOCK_TAGS})(?=[\s/>]|{EOL})))",
        re.IGNORECASE,
    )


# What the last line of an HTML block holds; where that is BLANK, the block ends before a blank line.
_HTML_ENDS = {
    "raw": re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    "comment": re.compile(r"-->"),
    "instruction": re.compile(r"\?>"),
    "declaration": re.compile(r">"),
    "data": re.compile(r"\]\]>"),
    "block": BLANK,
}

_LABEL = r"\[(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.){1,999}\]:"
_TARGET = r"(?:<(?:[^<>\\\n]|\\.)*>|(?!<)\S+)"
_TITLE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))"""
_GAP = r"[ \t]*(?:\n[ \t]*)?"
_DEFINITION = re.compile(
    rf"[ \t]*{_LABEL}{_GAP}{_TARGET}(?:(?:[ \t]+|[ \t]*\n[ \t]*){_TITLE})?[ \t]*(?:\n|\Z)", re.DOTALL
)
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")


def html_end(text: str, place: int) -> re.Pattern[str] | None:
    """How the HTML block that begins at `place` ends, or None where none begins or it is only a tag."""
    begin = _html_start().match(text, place)
    return _HTML_ENDS[begin.lastgroup or ""] if begin else None


def is_whole_tag(text: str, place: int) -> bool:
    """A tag alone on its line begins a block that ends before a blank line, but never inside a paragraph."""
    return _WHOLE_TAG.match(text, place) is not None


@lru_cache(maxsize=64)
def closing_fence(fence: str) -> re.Pattern[str]:
    """The line that closes a fence; it begins with the newline before it."""
    return re.compile(rf"\n {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*{EOL}")


def strip_definitions(paragraph: str) -> str:
    """What is left of a paragraph after the link definitions that it begins with."""
    place = 0
    while match := _DEFINITION.match(paragraph, place):
        place = match.end()
    return paragraph[place:]


def is_table(lines: list[str]) -> bool:
    """A paragraph is a table from where a delimiter row follows a row with as many cells."""
    return any(
        "|" in head and _DELIMITER.fullmatch(row) is not None and _cells(head) == _cells(row)
        for head, row in pairwise(lines)
        if "-" in row
    )


def _cells(row: str) -> int:
    row = row.strip().replace("\\|", "")
    return row.removeprefix("|").removesuffix("|").count("|") + 1


# Where a block quote or a list ends: what an outline has to know of containers.
#
# A heading in a quotation belongs to what is quoted, and one in a list item to its item; neither divides the
# document, so both are left out. To know where the outermost container ends, its inner blocks have to be followed
# line by line, because a paragraph may go on lazily without the container's marks, and a fence may not.


_QUOTE = -1
_STARTS = re.compile(
    rf"(?P<quote>>)|(?P<atx>{ATX})|(?P<rule>{RULE})|(?P<fence>{FENCE})|(?P<html><(?=[A-Za-z/!?]))|(?P<item>{ITEM})"
)
_UNDERLINE = re.compile(UNDERLINE)
# By far most lists and quotations, so simple that their end can be seen at once: lines that each begin an item or a
# quotation with a letter, blank lines among them, and after the last of those something that is not indented and cannot
# be another item. A letter begins no block within, and what a line without a number 1 goes on with lazily is within,
# too; only as the first line it may be in the midst of a paragraph and begin nothing.
_LINE = r"(?:[-+*] |> ?|[0-9]{1,9}[.)] )[A-Za-z][^\n]*+"
_LINES = rf"{_LINE}(?:\n{_LINE})*+(?:\n[ \t]*+(?=\n))++"
SIMPLE = rf"(?=\D|1[.)]){_LINES}(?:\n{_LINES})*+(?=\n[^ \t\n>+*0-9-])"
_CODE_INDENT = 4
# No one nests deeper; without a limit a line of nothing but marks would take time quadratic in its length.
_DEEPEST = 100


class OpenBlocks:
    """The open containers of one place at the top of the document, and the block that is open within them."""

    def __init__(self) -> None:
        # For a list item how far its content is indented; for a block quote -1.
        self.stack: list[int] = []
        self.paragraph = False
        self.ends: re.Pattern[str] | None = None
        # An item that has begun with a blank line and holds nothing yet ends at the next one.
        self.empty = False

    def take_line(self, line: str) -> bool:
        """Whether the containers go on with this line (without its newline, its tabs expanded)."""
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
            return True  # goes on, lazily or not
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
            self.ends = None

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

    def _opens(self, line: str, place: int, matched: int) -> bool:
        """Opens what begins on this line; False where it is only text."""
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
        """What stands on the line after the containers that it has opened."""
        if not line[place:].strip():
            return True
        self.paragraph = _indent(line, place) < _CODE_INDENT
        return True

    def _starts(self, line: str, start: re.Match[str], *, inside: bool) -> bool:
        if start.lastgroup == "html":
            place = start.start()
            return html_end(line, place) is not None or (not self.paragraph and is_whole_tag(line, place))
        if start.lastgroup == "item" and inside:
            return _interrupts(line, start)
        return True

    def _leaf(self, line: str, start: re.Match[str]) -> None:
        if start.lastgroup == "fence":
            self.ends = closing_fence(start["fence"])
        elif start.lastgroup == "html":
            end = html_end(line, start.start()) or BLANK
            self.ends = end if end is BLANK or not end.search(line, start.start()) else None

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
    """A list item ends a paragraph only if it is not empty and its number is 1."""
    marker = start["item"]
    return bool(line[start.end() :].strip()) and (not marker[0].isdigit() or marker[:-1] == "1")
