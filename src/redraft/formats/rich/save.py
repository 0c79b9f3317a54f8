"""Save a changed document as markdown: only blocks that really changed are written, all others keep their bytes.

Blocks are compared by content, not by marks that an editor would have to preserve: so it does not matter which editor,
or how many, made the change. A changed block is written into its old lines, as deep as the change is (an item of a
list, a paragraph in it). The result is parsed again together with its neighbours; if it would be parsed as something
else, it is written in a plainer way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.formats.interrupt import check_interrupt
from redraft.formats.rich.block_alignment import BlockSource, origins
from redraft.formats.rich.block_rewriter import BlockRewriter, MarkdownStyle
from redraft.formats.rich.line_prefixes import PrefixedLine, text_lines
from redraft.formats.rich.parser import ParsedDocument, RichBlock, parse
from redraft.formats.rich.schema import TEXTBLOCKS, Mark, Node, content_of, join_texts, normal_form, sort_marks, text
from redraft.formats.rich.style import DEFAULT
from redraft.formats.rich.writer import Writer
from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A document as markdown can express it: spaces at the edge of emphasis are outside of it, breaks at the end of a
# paragraph are dropped, inline code has no line breaks. Parsing the written text gives exactly this back, except for
# spaces at the end of a paragraph. Pure; no words are removed.


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
    inner = _inline(content) if kind in TEXTBLOCKS else _blocks(content)
    made = {name: value for name, value in shape.items() if name != "content"}
    if inner:
        made["content"] = inner
    return made


def _blocks(content: list[Node]) -> list[Node]:
    """Drop empty paragraphs, which cannot be written beside other blocks."""
    settled = list(map(_represent, content))
    return [each for each in settled if each != {"type": "paragraph"}] or settled[:1]


def _inline(content: list[Node]) -> list[Node]:
    last = content[-1]
    if (
        last.get("text", "")[-1:] != " "
        and last["type"] != "hardBreak"
        and not any(each.get("marks") for each in content)
    ):
        return content  # by far most paragraphs
    pieces = [piece for each in content for piece in _split_blanks(each)]
    for kind in _EMPHASES:
        pieces = _trim_emphasis(pieces, kind)
    while pieces and (shorter := _trim(pieces)) != pieces:
        pieces = shorter
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


_EMPTY: Node = {"type": "paragraph"}


def save(doc: Node, before: str | ParsedDocument) -> str:
    """The markdown of `doc`, which is a changed version of `before`."""
    parsed = parse(before) if isinstance(before, str) else before
    old = [to_representable(block.node) for block in parsed.blocks]
    # If the document was changed in this process, an untouched block is the very same object.
    known = {id(block.node): shape for block, shape in zip(parsed.blocks, old, strict=True)}
    new = [known.get(id(shape)) or to_representable(shape) for shape in content_of(doc)]
    new = [shape for shape in new if shape != _EMPTY]
    if new == old:
        return parsed.text
    return _Saver(parsed, old, new).run()


@dataclass(slots=True)
class _SavedBlock:
    """A block of the result: the lines between it and the one above, and its own."""

    node: Node
    gap: list[PrefixedLine]
    lines: list[PrefixedLine]
    origin: BlockSource | None
    settled: bool


class _Saver:
    """Saves one document."""

    def __init__(self, parsed: ParsedDocument, old: list[Node], new: list[Node]) -> None:
        self._blocks = [replace_node(block, shape) for block, shape in zip(parsed.blocks, old, strict=True)]
        self._new = new
        self._level = text_lines(parsed.text)
        self._newline = adopt_newlines("\n", parsed.text)
        self._manner = MarkdownStyle(parsed.facts, parsed.references, self._newline)
        self._containers = BlockRewriter(self._manner)
        self._text = parsed.text
        self._pieces: list[_SavedBlock] = []

    def run(self) -> str:
        found = origins([block.node for block in self._blocks], self._new)
        before: BlockSource | None = None
        for number, (shape, origin) in enumerate(zip(self._new, found, strict=True)):
            follows = number > 0 and before is not None and origin is not None and origin.number == before.number + 1
            gap = self._gap(origin, follows=follows) if number else []
            settled = origin is not None and origin.same and (follows or number == 0)
            self._pieces.append(_SavedBlock(shape, gap, self._lines(shape, origin), origin, settled))
            before = origin
        for number, piece in enumerate(self._pieces):
            if not piece.settled:
                self._settle(number)
        return self._join()

    def _gap(self, origin: BlockSource | None, *, follows: bool) -> list[PrefixedLine]:
        """The lines between two blocks: the old ones if both were neighbours before, else a blank one."""
        if follows and origin is not None:
            return self._level.cut(self._blocks[origin.number - 1].end, self._blocks[origin.number].start)
        return [PrefixedLine("", "", self._newline)]

    def _lines(self, shape: Node, origin: BlockSource | None) -> list[PrefixedLine]:
        if origin is None:
            return self._anew(shape, self._manner.writer(""))
        block = self._blocks[origin.number]
        if origin.same:
            return self._level.cut(block.start, block.end)
        return self._containers.rewrite(block, shape, self._level)

    def _anew(self, shape: Node, writer: Writer) -> list[PrefixedLine]:
        return self._level.make_lines(writer.block(shape), self._newline)

    def _settle(self, number: int) -> None:
        """Write a block in plainer ways until it and its neighbours are parsed correctly."""
        piece = self._pieces[number]
        if self._is_read_back(number):
            return
        blank = [PrefixedLine("", "", self._newline)]
        piece.gap = piece.gap if number == 0 or any(not line.content.strip() for line in piece.gap) else blank
        if number + 1 < len(self._pieces) and not self._pieces[number + 1].gap:
            self._pieces[number + 1].gap = blank
        for writer in self._writers(number):
            piece.lines = self._anew(piece.node, writer)
            if number == 0:
                piece.lines = self._level.make_lines(writer.document([piece.node]), self._newline)
            if self._is_read_back(number):
                return

    def _writers(self, number: int) -> Iterator[Writer]:
        piece = self._pieces[number]
        near = ""
        if piece.origin is not None:
            block = self._blocks[piece.origin.number]
            near = "".join(line.whole for line in self._level.cut(block.start, block.end))
        writer = self._manner.writer(near)
        yield writer
        above = self._pieces[number - 1].node if number else _EMPTY
        below = self._pieces[number + 1].node if number + 1 < len(self._pieces) else _EMPTY
        for neighbour in (above, below):
            if other := writer.beside(neighbour, piece.node):
                yield other
        if piece.node["type"] in ("bulletList", "taskList"):  # between two others, only the third character is left
            yield from (Writer(replace(writer.style, bullet=sign), self._manner.references) for sign in "-*+")
        # Below a list, a slightly indented paragraph belongs to it unless the list's own text is indented deeper.
        for style in (replace(writer.style, gap=4), replace(writer.style, indented_code=False, setext=False)):
            yield Writer(style, self._manner.references)
        yield Writer(DEFAULT, self._manner.references)

    def _is_read_back(self, number: int) -> bool:
        """Whether a block and its neighbours are parsed correctly."""
        first, stop = max(number - 1, 0), min(number + 2, len(self._pieces))
        pieces = self._pieces[first:stop]
        text = "".join(line.whole for piece in pieces for line in _end_lines([*piece.gap, *piece.lines], self._newline))
        found = parse(text, self._manner.references, piece=first > 0)
        return [to_representable(block.node) for block in found.blocks] == [piece.node for piece in pieces]

    def _join(self) -> str:
        """The result, including what was above the first block and below the last."""
        lines = [line for piece in self._pieces for line in (*piece.gap, *piece.lines)]
        if not self._blocks:
            return "".join(line.whole for line in [*_end_lines(lines, self._newline), *self._level.lines])
        head = self._level.cut(0, self._blocks[0].start)
        tail = self._level.cut(self._blocks[-1].end, len(self._level.lines))
        whole = _end_lines([*head, *lines, *tail], self._newline)
        text = "".join(line.whole for line in whole)
        ended = self._text.endswith(("\n", "\r"))
        return text if ended or not whole else text.removesuffix(whole[-1].end)


def replace_node(block: RichBlock, shape: Node) -> RichBlock:
    """A block with all of its nodes in the form in which they are compared."""
    content = content_of(shape)
    if len(block.inside) != len(content):
        return replace(block, node=shape, inside=())
    inside = tuple(replace_node(each, inner) for each, inner in zip(block.inside, content, strict=True))
    return replace(block, node=shape, inside=inside)


def _end_lines(lines: Sequence[PrefixedLine], newline: str) -> list[PrefixedLine]:
    """The lines, each with a terminator."""
    return [line if line.end else line._replace(end=newline) for line in lines]
