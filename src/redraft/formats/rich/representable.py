"""A document as markdown can express it: blanks at the edge of emphasis are outside of it, those at the edges of a
paragraph and breaks at its end are dropped, inline code has no line breaks, and a table cell is one paragraph. Parsing
the written text gives exactly this back. Pure; no words are removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.formats.interrupt import check_interrupt
from redraft.formats.rich.schema import (
    TEXTBLOCKS,
    Mark,
    Node,
    content_of,
    join_texts,
    normal_form,
    plain_text,
    sort_marks,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_EMPHASES = ("bold", "italic", "strike")


def to_representable(shape: Node) -> Node:
    """The node in its normal form, as it can be written."""
    return _represent(normal_form(shape))


def _represent(shape: Node) -> Node:
    check_interrupt()
    kind: str = shape["type"]
    content = content_of(shape)
    if kind == "codeBlock" or not content:
        return shape
    if kind in TEXTBLOCKS:
        inner = _inline(content)
    elif kind in ("tableCell", "tableHeader"):
        inner = [_one_paragraph(content)]
    else:
        inner = _blocks(content)
    made = {name: value for name, value in shape.items() if name != "content"}
    if inner:
        made["content"] = inner
    return made


def _blocks(content: list[Node]) -> list[Node]:
    """Drop empty paragraphs, which cannot be written beside other blocks."""
    settled = list(map(_represent, content))
    return [each for each in settled if each != {"type": "paragraph"}] or settled[:1]


def _one_paragraph(blocks: list[Node]) -> Node:
    """A table cell's blocks as the one line that a cell has, with breaks between them."""
    words = cell_content(blocks)
    made = _inline(words) if words else []
    return {"type": "paragraph", "content": made} if made else {"type": "paragraph"}


def cell_content(blocks: list[Node]) -> list[Node]:
    """The inline content of a cell's blocks, with a break between two."""
    content: list[Node] = []
    for number, block in enumerate(blocks):
        if number:
            content.append({"type": "hardBreak"})
        if block["type"] in TEXTBLOCKS:
            content += content_of(block)
        elif plain_text(block):
            content.append(text(plain_text(block)))
    return content


def _inline(content: list[Node]) -> list[Node]:
    edges = (content[0].get("text", "")[:1], content[-1].get("text", "")[-1:])
    if " " not in edges and not any(each["type"] == "hardBreak" or each.get("marks") for each in content):
        return content  # by far most paragraphs
    pieces = [piece for each in content for piece in _split_blanks(each)]
    for kind in _EMPHASES:
        pieces = _trim_emphasis(pieces, kind)
    while pieces and (shorter := _trim(pieces)) != pieces:
        pieces = shorter
    pieces = list(_trim_starts(pieces))
    return join_texts(
        {**piece, "marks": sort_marks(piece["marks"])} if piece.get("marks") else piece for piece in pieces
    )


def _trim(pieces: list[Node]) -> list[Node]:
    """Remove the break or the spaces at the end."""
    *before, last = pieces
    if last["type"] == "hardBreak":
        return before
    if last["type"] != "text" or _is_code(last):
        return pieces
    words = last["text"].rstrip(" ")
    return [*before, {**last, "text": words}] if words else before


def _trim_starts(pieces: list[Node]) -> Iterator[Node]:
    """Remove the blanks at the start of each line."""
    starts = True
    for piece in pieces:
        if starts and piece["type"] == "text" and not _is_code(piece):
            words = piece["text"].lstrip(" ")
            if words:
                yield {**piece, "text": words}
            starts = not words
            continue
        yield piece
        starts = piece["type"] == "hardBreak"


def _is_code(piece: Node) -> bool:
    return any(mark["type"] == "code" for mark in piece.get("marks") or ())


def _split_blanks(each: Node) -> Iterator[Node]:
    """Split the spaces off both ends of a text; code stays as it is."""
    if each["type"] != "text":
        yield each
        return
    words: str = each["text"]
    marks: list[Mark] = each.get("marks") or []
    if _is_code(each) or not marks:
        yield {**each, "text": words.replace("\r", " ").replace("\n", " ")} if _is_code(each) else each
        return
    start = len(words) - len(words.lstrip())
    end = max(len(words.rstrip()), start)
    yield from (text(part, marks) for part in (words[:start], words[start:end], words[end:]) if part)


def _trim_emphasis(pieces: list[Node], kind: str) -> list[Node]:
    """Remove the emphasis from spaces and breaks at its edges."""
    found = list(pieces)
    for order in (range(len(found)), range(len(found) - 1, -1, -1)):
        inside = False
        for number in order:
            marked = any(mark["type"] == kind for mark in found[number].get("marks") or ())
            if marked and not inside and _is_blank(found[number]):
                found[number] = _remove_mark(found[number], kind)
            else:
                inside = marked
    return found


def _is_blank(piece: Node) -> bool:
    return piece["type"] == "hardBreak" or (piece["type"] == "text" and not piece["text"].strip())


def _remove_mark(piece: Node, kind: str) -> Node:
    marks = [mark for mark in piece["marks"] if mark["type"] != kind]
    made = {name: value for name, value in piece.items() if name != "marks"}
    return {**made, "marks": marks} if marks else made
