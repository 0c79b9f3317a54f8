"""A part of a long document, parsed and saved without the rest.

Top-level blocks of markdown are independent of each other, except for what a text says once for all of it: its link
definitions, and the style that new blocks take. `context_of` puts these into a short markdown text of its own, which
goes along with the part. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from redraft.formats.rich.inline_writer import link_destination, link_title
from redraft.formats.rich.parser import ParsedDocument, parse
from redraft.formats.rich.schema import mark, node, text
from redraft.formats.rich.style import infer_style
from redraft.formats.rich.writer import write

if TYPE_CHECKING:
    from redraft.formats.rich.schema import Node


def context_of(parsed: ParsedDocument) -> str:
    """The definitions and the style of a text, as markdown."""
    style = infer_style(parsed.facts)
    defined = [
        f"[{entry['label']}]: {link_destination(entry['href']) or '<>'}{link_title(entry.get('title'))}\n"
        for entry in parsed.references.values()
    ]
    return write(_SAMPLE, style) + "\n" + "".join(defined)


def parse_part(markdown: str, context: str, *, first: bool) -> ParsedDocument:
    """The document of a part of a text; `first` if it is the beginning."""
    about = _parsed_context(context)
    return replace(parse(markdown, about.references, piece=not first), facts=about.facts)


@lru_cache(maxsize=8)
def _parsed_context(context: str) -> ParsedDocument:
    return parse(context, piece=True)


def _paragraph(words: str) -> Node:
    return node("paragraph", [text(words)])


def _items(*words: str) -> list[Node]:
    return [node("listItem", [_paragraph(each)]) for each in words]


def _row(kind: str, *words: str) -> Node:
    return node("tableRow", [node(kind, [_paragraph(each)]) for each in words])


# One of each thing that a style decides.
_SAMPLE = node(
    "doc",
    [
        node("heading", [text("Heading")], level=2),
        node("bulletList", _items("one", "two")),
        node("orderedList", _items("one", "two")),
        node(
            "paragraph",
            [
                text("a", [mark("italic")]),
                text(" and "),
                text("b", [mark("bold")]),
                node("hardBreak"),
                text("c"),
            ],
        ),
        node("horizontalRule"),
        node("table", [_row("tableHeader", "a", "long words"), _row("tableCell", "b", "c")]),
        node("codeBlock", [text("code")]),
    ],
)
