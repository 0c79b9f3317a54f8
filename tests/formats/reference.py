"""What others say of the same documents: the headings that markdown-it-py sees, and real documents to ask about."""

from __future__ import annotations

import json
import re
import tarfile
from itertools import pairwise
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markdown_it.token import Token

Heading = tuple[int, int, str]
# What a block of HTML that may hold blank lines begins with, and how it ends.
_HTML_ENDS = {"<!--": "-->", "<?": "?>", "<pre": "</pre>", "<script": "</script>", "<!": ">"}

_PARSER = MarkdownIt("commonmark").enable("table")


def reference_headings(text: str) -> list[Heading]:
    """Line, level and title of every heading at the top of the document; those in quotes and lists are left out."""
    return [
        (opened.map[0], int(opened.tag[1]), " ".join(inline.content.split()))
        for opened, inline in pairwise(_PARSER.parse(text))
        if opened.type == "heading_open" and opened.level == 0 and opened.map
    ]


def reference_quoted(text: str) -> list[Heading]:
    """The same of every heading that stands in block quotes and nothing else."""
    found: list[Heading] = []
    within: list[str] = []
    for opened, inline in pairwise(_PARSER.parse(text)):
        if opened.type in ("blockquote_open", "list_item_open"):
            within.append(opened.type)
        elif opened.type in ("blockquote_close", "list_item_close"):
            within.pop()
        elif opened.type == "heading_open" and opened.map and set(within) == {"blockquote_open"}:
            found.append((opened.map[0], int(opened.tag[1]), " ".join(inline.content.split())))
    return found


def reference_code(text: str) -> set[int]:
    """The numbers of the lines of fenced code, but for blank ones: how far an open fence reaches into blank lines at
    the end of a text is a matter of taste."""
    lines = text.split("\n")
    fences = [token.map for token in _PARSER.parse(text) if token.type == "fence" and token.map]
    return {number for start, end in fences for number in range(start, end) if lines[number].strip(" >")}


def reference_closed_code(text: str) -> set[int]:
    """The same where a fence or an HTML block at the top of the document that nothing closes is a line like others."""
    lines = text.split("\n")
    for token in _PARSER.parse(text):
        if token.level == 0 and token.map and _is_open(token, lines):
            lines[token.map[0]] = "# A line"
            return reference_closed_code("\n".join(lines)) - {token.map[0]}
    return reference_code(text)


def _is_open(token: Token, lines: list[str]) -> bool:
    start, end = token.map or (0, 0)
    if token.type == "fence":
        closing = rf" {{0,3}}{token.markup[0]}{{{len(token.markup)},}}[ \t]*"
        return end == start + 1 or re.fullmatch(closing, lines[end - 1]) is None
    if token.type == "html_block":
        closing = next((stop for begin, stop in _HTML_ENDS.items() if token.content.lstrip().startswith(begin)), "")
        return closing not in token.content
    return False


def markdown_examples(material: Path) -> Iterator[str]:
    """The examples of the CommonMark and GFM specifications."""
    for path in [*sorted((material / "commonmark").glob("*.json")), *sorted((material / "gfm").glob("*.json"))]:
        for example in json.loads(path.read_text(encoding="utf-8")):
            yield example["markdown"]


def markdown_files(material: Path) -> dict[str, str]:
    """A real tree of markdown files by name."""
    with tarfile.open(material / "workspace-tree" / "rust-book-src-md.tar.gz") as archive:
        members = ((member.name, archive.extractfile(member)) for member in archive if member.isfile())
        return {name: file.read().decode("utf-8") for name, file in members if file}
