"""Convert between offsets in the plain text of a rich document and the editor's positions.

The text is that of TipTap's `getText({blockSeparator: "\\n\\n"})`: every block except one at the start of the document
puts two newlines before its text, a list as well as its items and their paragraphs. A position counts as in
ProseMirror: one for each UTF-16 unit and for each boundary of a node. Offsets here are code points, and are converted
to UTF-16 units only inside positions. An offset means the place of the character after it; at the end of a block's
text, the end of that block; between the two newlines of a separator, the place before the block that they belong to.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Refused
from redraft.formats.rich.schema import NODES, TEXTBLOCKS, Node, attrs_of, content_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATOR = "\n\n"


class _TextRun(NamedTuple):
    """A part of the text: characters of a text node, the text of an atom, or (`gap` >= 0) a separator.

    `position` is the node's; `gap` is where the text before the separator ended."""

    offset: int
    position: int
    text: str
    atom: bool
    gap: int
    astral: bool

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


@dataclass(frozen=True)
class Positions:
    """The text of one document, and the mapping between its offsets and positions. Built once, used often. `starts` are
    the positions of the document's top-level blocks."""

    text: str
    size: int
    runs: tuple[_TextRun, ...]
    last: int
    starts: tuple[int, ...]

    @staticmethod
    def of(doc: Node) -> Positions:
        walk = _PositionWalk()
        walk.inside(doc, 0)
        text = "".join(run.text for run in walk.runs)
        return Positions(text, walk.at, tuple(walk.runs), walk.here, tuple(walk.starts))

    def position(self, offset: int) -> int:
        """The position of an offset, from 0 to the length of the text; refused outside of it."""
        self._check(offset)
        number = bisect_right(self._offsets, offset) - 1
        if offset == len(self.text) or number < 0:
            return self.last
        run = self.runs[number]
        inside = offset - run.offset
        if run.gap >= 0:
            return run.position if inside else run.gap
        return run.position if run.atom else run.position + _units(run, inside)

    def after(self, offset: int) -> int:
        """The position right after the character that ends at an offset; at the start, the offset's own."""
        self._check(offset)
        if offset == 0:
            return self.position(0)
        run = self.runs[bisect_right(self._offsets, offset - 1) - 1]
        inside = offset - run.offset
        if run.gap >= 0:
            return run.position + (inside == len(run.text))
        if run.atom:
            return run.position + (inside == len(run.text))
        return run.position + _units(run, inside)

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The positions of a passage: neighbours without text (an image) stay outside."""
        place = self.position(start)
        return (place, place) if start == end else (place, max(place, self.after(end)))

    def offset(self, position: int) -> int:
        """How many characters of the text come before a position, as TipTap counts them; a position inside a surrogate
        pair does not count its character."""
        if not 0 <= position <= self.size:
            raise Refused(f"Position {position} is outside the document, which has size {self.size}.", field="position")
        number = bisect_left(self._positions, position) - 1
        if number < 0:
            return 0
        run = self.runs[number]
        if run.atom or run.gap >= 0:
            return run.end
        units = position - run.position
        if not run.astral:
            return run.offset + min(units, len(run.text))
        return run.offset + len(run.text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))

    def all(self) -> list[int]:
        """The position of every offset, including the end of the text."""
        return [*(place for run in self.runs for place in _places(run)), self.last]

    def _check(self, offset: int) -> None:
        if not 0 <= offset <= len(self.text):
            message = f"Offset {offset} is outside the text, which has {len(self.text)} characters."
            raise Refused(message, field="offset", length=len(self.text))

    @cached_property
    def _offsets(self) -> list[int]:
        return [run.offset for run in self.runs]

    @cached_property
    def _positions(self) -> list[int]:
        return [run.position for run in self.runs]


def _units(run: _TextRun, inside: int) -> int:
    """How many UTF-16 units the first characters of a run have."""
    return inside if not run.astral else len(run.text[:inside].encode("utf-16-le")) // 2


def _places(run: _TextRun) -> Iterator[int]:
    if run.gap >= 0:
        yield run.gap
        yield run.position
        return
    at = run.position
    for character in run.text:
        yield at
        at += 0 if run.atom else 2 if character > "\uffff" else 1


class _PositionWalk:
    """One pass over a document, in order. `here` is where the text so far ends."""

    def __init__(self) -> None:
        self.runs: list[_TextRun] = []
        self.at = 0
        self.here = 0
        self.starts: list[int] = []
        self._length = 0

    def inside(self, shape: Node, start: int) -> None:
        self.at = start
        inline = is_textblock(shape)
        top = shape["type"] == "doc"
        for child in content_of(shape):
            if top:
                self.starts.append(self.at)
            if child["type"] == "text":
                self._text(child)
            elif inline:
                self._inline(child)
            else:
                self._block(child)

    def _add(self, text: str, *, atom: bool = False, gap: int = -1) -> None:
        astral = not text.isascii() and max(text) > "\uffff"
        self.runs.append(_TextRun(self._length, self.at, text, atom, gap, astral))
        self._length += len(text)

    def _text(self, child: Node) -> None:
        self._add(child["text"])
        self.at += _units(self.runs[-1], len(child["text"]))
        self.here = self.at

    def _inline(self, child: Node) -> None:
        if text := text_of_atom(child):
            self._add(text, atom=True)
        start = self.at
        if is_leaf(child):
            self.at = start + 1
        else:
            self.inside(child, start + 1)
            self.at += 1
        self.here = self.at

    def _block(self, child: Node) -> None:
        start = self.at
        if start > 0:
            self._add(SEPARATOR, gap=self.here)
        if start > 0 or is_textblock(child):
            self.here = start + 1
        if is_leaf(child):
            self.at = start + 1
            return
        self.inside(child, start + 1)
        self.at += 1


def is_textblock(shape: Node) -> bool:
    """Whether a node contains text; for an unknown type, its content decides."""
    kind: str = shape["type"]
    if kind in NODES:
        return kind in TEXTBLOCKS
    return any(child["type"] in ("text", "hardBreak") for child in content_of(shape))


def is_leaf(shape: Node) -> bool:
    """Whether a node cannot have content; for an unknown type, whether it has none."""
    kind: str = shape["type"]
    return not (NODES[kind][0] if kind in NODES else content_of(shape))


def text_of_atom(shape: Node) -> str:
    """The text that TipTap writes for an inline node: its text serialisers know a break and a mention."""
    kind: str = shape["type"]
    if kind == "hardBreak":
        return "\n"
    if kind == "mention":
        attrs = attrs_of(shape)
        return f"{attrs.get('mentionSuggestionChar') or '@'}{attrs.get('label') or attrs.get('id') or ''}"
    return ""
