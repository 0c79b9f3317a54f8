"""Replace passages of a rich document with new text, as one step.

The passages are given by offsets in the document's plain text (code points). The edit is made with ProseMirror's own
steps, so that a browser that makes it gets the same document. What would break the structure is refused: a passage
that begins in one table cell and ends outside of it, or that would silently delete a block that is not in the
text.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused, Stale
from redraft.formats.rich.foreign_schema import schema_for
from redraft.formats.rich.inserted_content import Form, blocks_of
from redraft.formats.rich.positions import Positions
from redraft.formats.rich.schema import content_of, sort_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prosemirror.model import ResolvedPos
    from prosemirror.transform import Transform

    from redraft.formats.rich.schema import Node

_CELLS = ("tableCell", "tableHeader")


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replace `start` up to but not including `end` with `new`; `expected` is what the caller believes is there."""

    start: int
    end: int
    new: str
    expected: str | None = None
    form: Form = "auto"


def apply_replacements(doc: Node, passages: Sequence[Replacement], references: dict[str, Any] | None = None) -> Node:
    """The document with every passage replaced, each by its offsets in the original text; refused as a whole if one
    cannot be."""
    from prosemirror.model import Node as ModelNode
    from prosemirror.model import ReplaceError
    from prosemirror.transform import Transform, TransformError

    positions = Positions.of(doc)
    ordered = check_replacements(passages, positions.text)
    acting = [passage for passage in ordered if passage.start < passage.end or passage.new]
    if not acting:
        return doc
    first, last = _window(positions, acting)
    content = content_of(doc)
    base = positions.starts[first] if positions.starts else 0
    try:
        part = {**doc, "content": content[first:last]} if content else doc
        made = Transform(ModelNode.from_json(schema_for(part), part))
        for passage in reversed(acting):
            _ReplaceStep(made, positions, passage, base, references or {}).run()
        made.doc.check()
    except (ReplaceError, TransformError, ValueError) as error:
        raise Refused(f"The replacement would break the document's structure: {error}.", field="newText") from error
    return {**doc, "content": [*content[:first], *content_of(cast("Node", made.doc.to_json())), *content[last:]]}


def _window(positions: Positions, passages: Sequence[Replacement]) -> tuple[int, int]:
    """Which top-level blocks the passages can touch; a large document is not rebuilt for one word."""
    starts = positions.starts
    if passages[0].start == 0 and passages[-1].end == len(positions.text):
        return 0, len(starts)
    low, _ = positions.range(passages[0].start, passages[0].end)
    high = max(positions.range(passage.start, passage.end)[1] for passage in passages)
    return max(bisect_right(starts, low) - 2, 0), min(bisect_right(starts, high) + 1, len(starts))


def check_replacements(passages: Sequence[Replacement], content: str) -> list[Replacement]:
    """The passages in text order; refused if one is outside of the text or two overlap."""
    for passage in passages:
        _check(passage, content)
    ordered = sorted(passages, key=lambda passage: (passage.start, passage.end))
    for before, after in pairwise(ordered):
        if before.end > after.start:
            message = f"The passages {before.start} to {before.end} and {after.start} to {after.end} overlap."
            raise Refused(message, field="from")
    return ordered


def _check(passage: Replacement, content: str) -> None:
    """Refuse offsets outside of the text, and raise `Stale` if the text there is not the expected one."""
    start, end, length = passage.start, passage.end, len(content)
    if start < 0:
        raise Refused(f"Invalid 'from' position: {start}. Must be >= 0.", field="from")
    if end < start:
        raise Refused(f"Invalid range: from={start}, to={end}. 'to' must be >= 'from'.", field="to")
    for name, offset in (("from", start), ("to", end)):
        if offset > length:
            message = f"'{name}' position {offset} exceeds document length {length}."
            raise Refused(message, field=name, length=length)
    if passage.expected is not None and content[start:end] != passage.expected:
        raise Stale(f"From {start} to {end} the text is not what was expected.", actual=content[start:end][:500])


class _ReplaceStep:
    """Applies one passage to a transform; later passages are applied already, so its positions are still valid."""

    def __init__(
        self, made: Transform, positions: Positions, passage: Replacement, base: int, references: dict[str, Any]
    ) -> None:
        self._made = made
        self._passage = passage
        self._references = references
        self._whole = passage.start == 0 < passage.end == len(positions.text)
        self._start, self._end = (place - base for place in positions.range(passage.start, passage.end))
        if self._whole:
            self._take_all()

    def _take_all(self) -> None:
        """Select the whole text, without frontmatter, which the text does not include; a lone block keeps its type."""
        doc = self._made.doc
        head = doc.first_child
        at = head.node_size if head and head.type.name == "source" and head.attrs["kind"] == "frontmatter" else 0
        rest = doc.child(doc.child_count - 1)
        if at + rest.node_size == doc.content.size and rest.is_textblock:
            self._whole = False
            self._start, self._end = at + 1, doc.content.size - 1
        else:
            self._start, self._end = at, doc.content.size

    def run(self) -> None:
        before, after = self._made.doc.resolve(self._start), self._made.doc.resolve(self._end)
        self._check_structure(before, after)
        if before.parent.type.spec.get("code") and before.same_parent(after):
            self._put_inline([{"type": "text", "text": self._passage.new}] if self._passage.new else [])
            return
        begins = before.parent_offset == 0 or not before.parent.inline_content
        blocks = blocks_of(self._passage.new, self._passage.form, self._references, begins_block=begins)
        blocks = blocks or [{"type": "paragraph"}]
        if self._whole:
            self._put(blocks, 0, 0)
        elif len(blocks) == 1 and blocks[0]["type"] == "paragraph":
            self._put_inline(self._inherit_marks(blocks[0].get("content", []), before, after))
        elif any(block["type"] != "paragraph" for block in blocks):
            self._put_blocks(blocks)
        else:
            self._put(blocks, 1, 1)

    def _check_structure(self, before: ResolvedPos, after: ResolvedPos) -> None:
        if _cell(before) != _cell(after) and not self._whole:
            raise Refused("The passage crosses a table cell: replace within one cell at a time.", field="to")
        if self._whole:
            return
        hidden: list[str] = []

        def look(child: Any, *_: Any) -> bool:
            if child.type.name == "source":
                hidden.append(child.attrs["kind"])
            return True

        self._made.doc.nodes_between(self._start, self._end, look)
        if hidden:
            message = f"The passage contains a block that is not in the text ({hidden[0]}): replace around it."
            raise Refused(message, field="to")

    def _inherit_marks(self, content: list[Node], before: ResolvedPos, after: ResolvedPos) -> list[Node]:
        """New text with the formatting of what it replaces, or of its surroundings."""
        around = self._marks(before, after)
        if not around:
            return content
        return [{**each, "marks": sort_marks([*(each.get("marks") or ()), *around])} for each in content]

    def _marks(self, before: ResolvedPos, after: ResolvedPos) -> list[dict[str, Any]]:
        if not before.parent.inline_content:
            return []
        if before.pos == after.pos:
            left, right = before.node_before, before.node_after
            beside = left or right
            marks = [] if beside is None else list(beside.marks)
            after_it = [] if left is None or right is None else list(right.marks)
            # A link or code does not extend to what is written beside it.
            inherited = [each for each in marks if each.type.name not in ("link", "code") or each in after_it]
            return [cast("Node", each.to_json()) for each in inherited]
        found: list[list[Any]] = []

        def look(child: Any, *_: Any) -> bool:
            if child.is_text:
                found.append(list(child.marks))
            return True

        self._made.doc.nodes_between(before.pos, after.pos, look)
        shared = [each for each in found[0] if all(each in marks for marks in found)] if found else []
        return [cast("Node", each.to_json()) for each in shared]

    def _put_inline(self, content: list[Node]) -> None:
        self._put(content, 0, 0)

    def _put(self, content: list[Node], open_start: int, open_end: int) -> None:
        from prosemirror.model import Fragment, Slice
        from prosemirror.model import Node as ModelNode

        schema = self._made.doc.type.schema
        nodes = [ModelNode.from_json(schema, each) for each in content]
        self._made.replace(self._start, self._end, Slice(Fragment.from_(nodes), open_start, open_end))

    def _put_blocks(self, blocks: list[Node]) -> None:
        """Blocks other than paragraphs: delete the passage, and put them between the two halves of its block."""
        self._made.delete(self._start, self._end)
        place = self._made.doc.resolve(self._start)
        if not place.parent.inline_content:
            at = place.pos
        elif not place.parent.content.size:
            self._start, self._end = place.before(), place.after()
            self._put(blocks, 0, 0)
            return
        elif place.parent_offset == 0:
            at = place.before()
        elif place.parent_offset == place.parent.content.size:
            at = place.after()
        else:
            self._made.split(place.pos)
            at = place.pos + 1
        self._start = self._end = at
        self._put(blocks, 0, 0)


def _cell(place: ResolvedPos) -> int:
    """Where the innermost table cell around a place begins; -1 if there is none."""
    for depth in range(place.depth, 0, -1):
        if place.node(depth).type.name in _CELLS:
            return place.before(depth)
    return -1
