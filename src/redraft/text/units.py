"""The units of a document that a person judges: a paragraph, a list item, a table row, a key of the frontmatter.

`markdown_blocks` says what is fenced code, and `frontmatter_block` where the frontmatter ends. Everything else is
decided by how a line begins, since parts of documents have to be cut too: this never fails, treats any text as
markdown, looks at each line once, and knows just enough to keep together what belongs together. `formats` knows what a
document means.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import count_lines, split_lines
from redraft.text.markdown_blocks import fences, line_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.text.edits import Span
    from redraft.text.markdown_blocks import CodeBlock

Kind = Literal[
    "frontmatter",
    "frontmatter_key",
    "heading",
    "list_item",
    "table_row",
    "code_block",
    "quote",
    "html",
    "rule",
    "paragraph",
    "blank",
]
Within = Literal["document", "body", "frontmatter", "code"]

_LINE = re.compile(
    r"(?P<blank>\s*$)"
    r"|(?P<heading>[ ]{0,3}\#{1,6}(?:\s|$))"
    r"|(?P<rule>[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$)"
    r"|(?P<list_item>[ \t]*(?:[-*+]|\d{1,9}[.)])(?:\s|$))"
    r"|(?P<quote>[ ]{0,3}>)"
    r"|(?P<table_row>[ \t]*\|)"
    r"|(?P<html>[ ]{0,3}<(?:!--|/?[A-Za-z][\w-]*(?:[\s/>]|$)))"
)
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$")
_KEY = re.compile(r"""(?:[^\s#'"\-:][^:\r\n]*|'[^']*'|"[^"]*")[ \t]*:(?:\s|$)""")


class Unit(NamedTuple):
    """Lines `start` to `end` (half-open) of a text, and their kind."""

    kind: Kind
    start: int
    end: int
    text: str


def units(text: str, *, within: Within = "document", code: Sequence[CodeBlock | Span] | None = None) -> list[Unit]:
    """The units of a text, which join back to it; `within` says where it is if it is a part of a document, and `code`
    where fenced code is in it, if the caller has seen the whole document."""
    lines = split_lines(text)
    if within == "code":
        return [Unit("code_block", 0, len(lines), text)] if lines else []
    front = frontmatter_end(text) if within == "document" else 0
    body = len(lines) if within == "frontmatter" else count_lines(text[:front])
    if code is None:
        code = fences(text, front)
    blocks = line_ranges(text, code) if code and within != "frontmatter" else []
    found: list[Unit] = []
    at = 0
    for block in (*blocks, range(len(lines), len(lines))):
        while at < block.start:
            kind, end = _key(lines, at, body) if at < body else _block(lines, at, block.start)
            found.append(Unit(kind, at, end, "".join(lines[at:end])))
            at = end
        if block:
            found.append(Unit("code_block", at, block.stop, "".join(lines[at : block.stop])))
            at = block.stop
    return found


def _key(lines: list[str], at: int, stop: int) -> tuple[Kind, int]:
    """A key of the frontmatter with everything below it, or one of its delimiters."""
    if lines[at].rstrip() in ("---", "..."):
        return "frontmatter", at + 1
    if not lines[at].strip():
        return "blank", _while_kind(lines, at, ("blank",), stop)
    end = at + 1
    while (
        end < stop and lines[end].strip() and not _KEY.match(lines[end]) and lines[end].rstrip() not in ("---", "...")
    ):
        end += 1
    return "frontmatter_key", end


def _block(lines: list[str], at: int, stop: int) -> tuple[Kind, int]:
    """The unit of the body that begins with a line, and the line after it; `stop` is where code begins."""
    kind = _kind(lines[at])
    if kind in ("blank", "quote"):
        return kind, _while_kind(lines, at, (kind,), stop)
    if kind == "html":
        return kind, _html_end(lines, at, stop)
    if kind not in ("paragraph", "list_item"):
        return kind, at + 1
    end = _while_kind(lines, at + 1, ("paragraph",), stop)
    if kind == "paragraph" and end < stop and _UNDERLINE.match(lines[end]):
        return "heading", end + 1
    return kind, end


def _kind(line: str) -> Kind:
    # Two quick tests that decide most lines of prose; the pattern takes five times as long.
    if line[0].isalpha():
        return "paragraph"
    if line == "\n":
        return "blank"
    match = _LINE.match(line.rstrip("\r\n"))
    return cast("Kind", match.lastgroup) if match else "paragraph"


def _while_kind(lines: list[str], at: int, kinds: tuple[Kind, ...], stop: int) -> int:
    while at < stop and _kind(lines[at]) in kinds:
        at += 1
    return at


def _html_end(lines: list[str], at: int, stop: int) -> int:
    """A comment ends at its end marker, other HTML before the next blank line."""
    comment = lines[at].lstrip().startswith("<!--")
    for index in range(at, stop):
        if comment and "-->" in lines[index]:
            return index + 1
        if not comment and not lines[index].strip():
            return index
    return stop
