"""A document as markdown can say it: blanks at the edge of emphasis lie outside of it, breaks at the end of a paragraph
are gone, code has no line breaks within a paragraph. What is left is what reading the written text gives back, but for
blanks at the end of a paragraph. Pure; nothing with a word in it is taken away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.formats.rich.schema import TEXTBLOCKS, Mark, Node, content_of, joined, normal, sorted_marks, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_EMPHASES = ("bold", "italic", "strike")


def representable(shape: Node) -> Node:
    """The node in its normal form, as it can be written."""
    return _settled(normal(shape))


def _settled(shape: Node) -> Node:
    kind: str = shape["type"]
    content = content_of(shape)
    if kind == "codeBlock" or not content:
        return shape
    inner = _inline(content) if kind in TEXTBLOCKS else _blocks(content)
    made = {name: value for name, value in shape.items() if name != "content"}
    if inner:
        made["content"] = inner
    return made


def _blocks(content: list[Node]) -> list[Node]:
    """Empty paragraphs cannot be written beside other blocks."""
    settled = list(map(_settled, content))
    return [each for each in settled if each != {"type": "paragraph"}] or settled[:1]


def _inline(content: list[Node]) -> list[Node]:
    last = content[-1]
    if (
        last.get("text", "")[-1:] != " "
        and last["type"] != "hardBreak"
        and not any(each.get("marks") for each in content)
    ):
        return content  # by far most paragraphs
    pieces = [piece for each in content for piece in _parted(each)]
    for kind in _EMPHASES:
        pieces = _without_edges(pieces, kind)
    while pieces and (shorter := _trimmed(pieces)) != pieces:
        pieces = shorter
    return joined({**piece, "marks": sorted_marks(piece["marks"])} if piece.get("marks") else piece for piece in pieces)


def _trimmed(pieces: list[Node]) -> list[Node]:
    """Without the break or the blanks at the end."""
    *before, last = pieces
    if last["type"] == "hardBreak":
        return before
    if last["type"] != "text" or _is_code(last):
        return pieces
    words = last["text"].rstrip(" ")
    return [*before, {**last, "text": words}] if words else before


def _is_code(piece: Node) -> bool:
    return any(mark["type"] == "code" for mark in piece.get("marks") or ())


def _parted(each: Node) -> Iterator[Node]:
    """A text with the blanks at its ends apart, one that is code as it is."""
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


def _without_edges(pieces: list[Node], kind: str) -> list[Node]:
    """Blanks and breaks at the edge of a stretch of emphasis, without it."""
    found = list(pieces)
    for order in (range(len(found)), range(len(found) - 1, -1, -1)):
        inside = False
        for number in order:
            marked = any(mark["type"] == kind for mark in found[number].get("marks") or ())
            if marked and not inside and _is_blank(found[number]):
                found[number] = _unmarked(found[number], kind)
            else:
                inside = marked
    return found


def _is_blank(piece: Node) -> bool:
    return piece["type"] == "hardBreak" or (piece["type"] == "text" and not piece["text"].strip())


def _unmarked(piece: Node, kind: str) -> Node:
    marks = [mark for mark in piece["marks"] if mark["type"] != kind]
    made = {name: value for name, value in piece.items() if name != "marks"}
    return {**made, "marks": marks} if marks else made
