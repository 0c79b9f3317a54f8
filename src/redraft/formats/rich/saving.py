"""A changed document back into its markdown: only blocks that really changed are written, all others keep their bytes.

Blocks are compared by what they say, not by marks that an editor would have to carry along: so it does not matter
which editor, or how many, made the change. A changed block is brought into its old lines as far down as the change is
(an item of a list, a paragraph in it). What is put in is read again together with its neighbours; where it would be
read as something else, it is written in a plainer way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.formats.rich.aligning import Origin, origins
from redraft.formats.rich.containers import Containers
from redraft.formats.rich.prefixes import Line, level_of
from redraft.formats.rich.reading import Block, Parsed, parse
from redraft.formats.rich.representable import representable
from redraft.formats.rich.rewriting import Manner
from redraft.formats.rich.schema import Node, content_of
from redraft.formats.rich.style import DEFAULT
from redraft.formats.rich.writing import Writer
from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EMPTY: Node = {"type": "paragraph"}


def save(doc: Node, before: str | Parsed) -> str:
    """The markdown of `doc`, which was made out of `before`."""
    parsed = parse(before) if isinstance(before, str) else before
    old = [representable(block.node) for block in parsed.blocks]
    # A block that nobody touched is the very same object where the document was changed in this process.
    known = {id(block.node): shape for block, shape in zip(parsed.blocks, old, strict=True)}
    new = [known.get(id(shape)) or representable(shape) for shape in content_of(doc)]
    new = [shape for shape in new if shape != _EMPTY]
    if new == old:
        return parsed.text
    return _Saving(parsed, old, new).run()


@dataclass(slots=True)
class _Piece:
    """A block of the result: the lines that part it from the one above, and its own."""

    node: Node
    gap: list[Line]
    lines: list[Line]
    origin: Origin | None
    settled: bool


class _Saving:
    """One document on its way back."""

    def __init__(self, parsed: Parsed, old: list[Node], new: list[Node]) -> None:
        self._blocks = [replace_node(block, shape) for block, shape in zip(parsed.blocks, old, strict=True)]
        self._new = new
        self._level = level_of(parsed.text)
        self._newline = adopt_newlines("\n", parsed.text)
        self._manner = Manner(parsed.facts, parsed.references, self._newline)
        self._containers = Containers(self._manner)
        self._text = parsed.text
        self._pieces: list[_Piece] = []

    def run(self) -> str:
        found = origins([block.node for block in self._blocks], self._new)
        before: Origin | None = None
        for number, (shape, origin) in enumerate(zip(self._new, found, strict=True)):
            follows = number > 0 and before is not None and origin is not None and origin.number == before.number + 1
            gap = self._gap(origin, follows=follows) if number else []
            settled = origin is not None and origin.same and (follows or number == 0)
            self._pieces.append(_Piece(shape, gap, self._lines(shape, origin), origin, settled))
            before = origin
        for number, piece in enumerate(self._pieces):
            if not piece.settled:
                self._settle(number)
        return self._joined()

    def _gap(self, origin: Origin | None, *, follows: bool) -> list[Line]:
        """The lines between two blocks: as they were where both stood so, else a blank one."""
        if follows and origin is not None:
            return self._level.cut(self._blocks[origin.number - 1].end, self._blocks[origin.number].start)
        return [Line("", "", self._newline)]

    def _lines(self, shape: Node, origin: Origin | None) -> list[Line]:
        if origin is None:
            return self._anew(shape, self._manner.writer(""))
        block = self._blocks[origin.number]
        if origin.same:
            return self._level.cut(block.start, block.end)
        return self._containers.changed(block, shape, self._level)

    def _anew(self, shape: Node, writer: Writer) -> list[Line]:
        return self._level.added(writer.block(shape), self._newline)

    def _settle(self, number: int) -> None:
        """Write a block in plainer ways until it is read as what it is, with its neighbours as they are."""
        piece = self._pieces[number]
        if self._is_read(number):
            return
        blank = [Line("", "", self._newline)]
        piece.gap = piece.gap if number == 0 or any(not line.content.strip() for line in piece.gap) else blank
        if number + 1 < len(self._pieces) and not self._pieces[number + 1].gap:
            self._pieces[number + 1].gap = blank
        for writer in self._writers(number):
            piece.lines = self._anew(piece.node, writer)
            if number == 0:
                piece.lines = self._level.added(writer.document([piece.node]), self._newline)
            if self._is_read(number):
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
        # Under a list, a paragraph that is a little indented belongs to it unless the list's own text lies deeper.
        for style in (replace(writer.style, gap=4), replace(writer.style, indented_code=False, setext=False)):
            yield Writer(style, self._manner.references)
        yield Writer(DEFAULT, self._manner.references)

    def _is_read(self, number: int) -> bool:
        """Whether a block and its neighbours are read as themselves."""
        first, stop = max(number - 1, 0), min(number + 2, len(self._pieces))
        pieces = self._pieces[first:stop]
        text = "".join(line.whole for piece in pieces for line in _ended([*piece.gap, *piece.lines], self._newline))
        found = parse(text, self._manner.references, piece=first > 0)
        return [representable(block.node) for block in found.blocks] == [piece.node for piece in pieces]

    def _joined(self) -> str:
        """The result, with what stood above the first block and below the last."""
        lines = [line for piece in self._pieces for line in (*piece.gap, *piece.lines)]
        if not self._blocks:
            return "".join(line.whole for line in [*_ended(lines, self._newline), *self._level.lines])
        head = self._level.cut(0, self._blocks[0].start)
        tail = self._level.cut(self._blocks[-1].end, len(self._level.lines))
        whole = _ended([*head, *lines, *tail], self._newline)
        text = "".join(line.whole for line in whole)
        ended = self._text.endswith(("\n", "\r"))
        return text if ended or not whole else text.removesuffix(whole[-1].end)


def replace_node(block: Block, shape: Node) -> Block:
    """A block whose nodes are in the form in which they are compared, all the way down."""
    content = content_of(shape)
    if len(block.inside) != len(content):
        return replace(block, node=shape, inside=())
    inside = tuple(replace_node(each, inner) for each, inner in zip(block.inside, content, strict=True))
    return replace(block, node=shape, inside=inside)


def _ended(lines: Sequence[Line], newline: str) -> list[Line]:
    """Lines that all end."""
    return [line if line.end else line._replace(end=newline) for line in lines]
