"""Save a changed document as markdown: only blocks that really changed are written, all others keep their bytes.

Blocks are compared by content, not by marks that an editor would have to preserve: so it does not matter which editor,
or how many, made the change. A changed block is written into its old lines, as deep as the change is (an item of a
list, a paragraph in it). The result is parsed again together with its neighbours; if it would be parsed as something
else, it is written in a plainer way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.formats.rich.block_alignment import BlockSource, origins
from redraft.formats.rich.block_rewriter import BlockRewriter, MarkdownStyle
from redraft.formats.rich.inline_sources import written_before
from redraft.formats.rich.line_prefixes import PrefixedLine, text_lines
from redraft.formats.rich.parser import ParsedDocument, RichBlock, parse
from redraft.formats.rich.representable import to_representable
from redraft.formats.rich.schema import Node, content_of
from redraft.formats.rich.style import DEFAULT
from redraft.formats.rich.writer import Writer
from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        self._piece = parsed.piece
        self._pieces: list[_SavedBlock] = []

    def run(self) -> str:
        found = origins([block.node for block in self._blocks], self._new)
        self._manner = replace(self._manner, written=self._written_before(found))
        self._containers = BlockRewriter(self._manner)
        before: BlockSource | None = None
        above = -1  # the last old block that is above
        for number, (shape, origin) in enumerate(zip(self._new, found, strict=True)):
            follows = number > 0 and before is not None and origin is not None and origin.number == before.number + 1
            in_order = origin is not None and 0 <= above < origin.number
            gap = self._gap(origin, follows=follows, in_order=in_order) if number else []
            settled = origin is not None and origin.same and (follows or number == 0)
            self._pieces.append(_SavedBlock(shape, gap, self._lines(shape, origin), origin, settled))
            before = origin
            above = above if origin is None else origin.number
        for number, piece in enumerate(self._pieces):
            if not piece.settled:
                self._settle(number)
        return self._join()

    def _written_before(self, found: Sequence[BlockSource | None]) -> dict[str, str]:
        """How the words of the changed blocks were written."""
        kept = {origin.number for origin in found if origin is not None and origin.same}
        old = [block for number, block in enumerate(self._blocks) if number not in kept]
        pairs = zip(self._new, found, strict=True)
        new = [shape for shape, origin in pairs if origin is None or not origin.same]
        return written_before(old, new, self._manner.writer(""))

    def _gap(self, origin: BlockSource | None, *, follows: bool, in_order: bool) -> list[PrefixedLine]:
        """The lines above a block: the old ones where the order is the old one, else a blank one."""
        if origin is not None and in_order:
            old = self._level.cut(self._blocks[origin.number - 1].end, self._blocks[origin.number].start)
            if old or follows:
                return old
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
            yield from (replace(writer, style=replace(writer.style, bullet=sign)) for sign in "-*+")
        # Below a list, a slightly indented paragraph belongs to it unless the list's own text is indented deeper.
        for style in (replace(writer.style, gap=4), replace(writer.style, indented_code=False, setext=False)):
            yield replace(writer, style=style)
        yield Writer(DEFAULT, self._manner.references)

    def _is_read_back(self, number: int) -> bool:
        """Whether a block and its neighbours are parsed correctly."""
        first, stop = max(number - 1, 0), min(number + 2, len(self._pieces))
        pieces = self._pieces[first:stop]
        text = "".join(line.whole for piece in pieces for line in _end_lines([*piece.gap, *piece.lines], self._newline))
        found = parse(text, self._manner.references, piece=first > 0 or self._piece)
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
