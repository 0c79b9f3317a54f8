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


def without_definitions(paragraph: str) -> str:
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
