"""The text that is to be put into a document, as nodes: plain text, markdown or simple HTML.

Where nobody says which, HTML is what has a tag that the schema knows, markdown what has markup in it, and all else is
plain. In plain text a newline ends the paragraph. Whatever the form, only what the schema has comes through; a script
ends as text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from redraft.formats.rich.html_reading import LOOKS_LIKE, html_blocks
from redraft.formats.rich.reading import read_nodes
from redraft.formats.rich.schema import Node, attrs_of, content_of, joined, node, text

if TYPE_CHECKING:
    from collections.abc import Iterator

Form = Literal["auto", "plain", "markdown", "html"]
_BREAK = re.compile(r"(?:\r\n?|\n){1,2}")


def paragraphs_of(words: str) -> list[Node]:
    """Plain text: one newline or two part paragraphs, as two do in the text of a document."""
    return [node("paragraph", [text(line)] if line else []) for line in _BREAK.split(words)]


def blocks_of(words: str, form: Form, references: dict[str, Any], *, begins_block: bool) -> list[Node]:
    """What `words` say. Unless markdown is asked for, a heading or a list is one only where a block begins."""
    if form == "plain" or not words:
        return paragraphs_of(words)
    if form == "html" or (form == "auto" and LOOKS_LIKE.search(words)):
        return _edged(words, html_blocks(words))
    if form == "markdown" or begins_block:
        found = [_harmless(block) for block in read_nodes(words, references)]
        if any(block["type"] != "paragraph" for block in found):
            return found
    lines = [_line(line, references) for line in _BREAK.split(words)]
    if form == "auto" and not any(_is_marked(line) for line in lines):
        return paragraphs_of(words)
    return lines


def _line(words: str, references: dict[str, Any]) -> Node:
    """One paragraph of markdown; the blanks around it stay, since it may go into the middle of another."""
    core = words.strip()
    found = [_harmless(block) for block in read_nodes(core, references)] if core else []
    if len(found) != 1 or found[0]["type"] != "paragraph":
        return paragraphs_of(words.replace("\r", " ").replace("\n", " "))[0]
    return _edged(words, found)[0]


def _edged(words: str, found: list[Node]) -> list[Node]:
    """Paragraphs with the blanks that were around their source."""
    if not found or found[0]["type"] != "paragraph" or found[-1]["type"] != "paragraph":
        return found
    lead = words[: len(words) - len(words.lstrip(" \t"))]
    trail = words[len(words.rstrip(" \t")) :]
    made = list(found)
    if lead:
        made[0] = node("paragraph", joined([text(lead), *content_of(made[0])]))
    if trail:
        made[-1] = node("paragraph", joined([*content_of(made[-1]), text(trail)]))
    return made


def _is_marked(paragraph: Node) -> bool:
    return any(each["type"] != "text" or each.get("marks") for each in content_of(paragraph))


def _harmless(shape: Node) -> Node:
    """HTML in markdown as the characters that it is."""
    if shape["type"] == "source" and attrs_of(shape)["kind"] in ("html", "other"):
        return node("paragraph", [text(" ".join(attrs_of(shape)["markdown"].split("\n")))])
    if not content_of(shape):
        return shape
    return {**shape, "content": joined(_harmless_inline(content_of(shape)))}


def _harmless_inline(content: list[Node]) -> Iterator[Node]:
    for each in content:
        if each["type"] == "inlineSource" and attrs_of(each)["markdown"].startswith("<"):
            yield text(attrs_of(each)["markdown"], each.get("marks") or ())
        else:
            yield _harmless(each)
