"""A changed block of any kind in its old lines: quotations, lists and their items down to the paragraph that changed.

Each container's own signs are kept aside as prefixes while its blocks are treated, and put back before them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.formats.rich.aligning import origins
from redraft.formats.rich.prefixes import Level, Line, Opaque, in_item, in_quote
from redraft.formats.rich.rewriting import Manner, content_text, rewrite_code, rewrite_heading, rewrite_paragraph
from redraft.formats.rich.schema import ITEMS, LISTS, Node, attrs_of, content_of
from redraft.formats.rich.table_rewriting import rewrite_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redraft.formats.rich.reading import Block
    from redraft.formats.rich.writing import Writer

    Anew = Callable[[int, Node], list[str]]
    Gap = Callable[[Node, Node], list[str]]

_BOX = re.compile(r"\[[ xX]\](?=[ ]*$)")
_MARKER = re.compile(r"([-+*]|[0-9]{1,9}[.)])([ ]*)")


class Containers:
    """Rewrites blocks of one text."""

    def __init__(self, manner: Manner) -> None:
        self._manner = manner

    def changed(self, block: Block, new: Node, level: Level) -> list[Line]:
        """The lines of a block that now says `new`."""
        lines = level.cut(block.start, block.end)
        found = None
        if block.node["type"] == new["type"]:
            try:
                found = self._in_place(block, new, lines, level)
            except Opaque:
                found = None
        return self._anew(new, lines, level) if found is None else found

    def _in_place(self, block: Block, new: Node, lines: list[Line], level: Level) -> list[Line] | None:
        old, manner = block.node, self._manner
        match new["type"]:
            case "paragraph":
                return rewrite_paragraph(old, new, lines, level, manner)
            case "heading":
                return rewrite_heading(old, new, lines, level, manner)
            case "codeBlock":
                return rewrite_code(old, new, lines, level, manner)
            case "table":
                return rewrite_table(block, new, lines, level, manner)
            case "blockquote":
                return self._quote(block, new, level)
            case "listItem" | "taskItem":
                return self._item(block, new, level)
            case kind if kind in LISTS:
                return self._list(block, new, level)
            case _:
                return None

    def _anew(self, new: Node, lines: list[Line], level: Level) -> list[Line]:
        """Written as a whole; its first line stands where the old one stood."""
        source = content_text(lines)
        writer = self._manner.writer(source)
        written = self._item_anew(new, source, writer) if new["type"] in ITEMS else writer.block(new)
        if not written:
            return []
        first = Line(lines[0].prefix, written[0], lines[0].end or self._manner.newline)
        return [first, *level.added(written[1:], first.end)]

    @staticmethod
    def _item_anew(new: Node, source: str, writer: Writer) -> list[str]:
        """An item with the marker that it had."""
        found = _MARKER.search(source)
        marker = found[1] + (found[2] or " ") if found else writer.style.bullet + " "
        return writer.item(new, marker, loose=False)

    def _quote(self, block: Block, new: Node, level: Level) -> list[Line] | None:
        if not block.inside:
            return None
        within = in_quote(level.within(block.start, block.end))
        writer = self._manner.writer(content_text(level.cut(block.start, block.end)))
        return self._sequence(block.inside, content_of(new), within, lambda _, each: writer.block(each), _apart)

    def _list(self, block: Block, new: Node, level: Level) -> list[Line] | None:
        if block.node.get("attrs") != new.get("attrs"):
            return None
        within = level.within(block.start, block.end)
        writer = self._manner.writer(content_text(level.cut(block.start, block.end)))
        loose = writer.style.loose

        def anew(number: int, each: Node) -> list[str]:
            return writer.item(each, writer.marker(new, number), loose=loose)

        return self._sequence(block.inside, content_of(new), within, anew, _apart if loose else _close)

    def _item(self, block: Block, new: Node, level: Level) -> list[Line] | None:
        if not block.inside:
            return None
        task = new["type"] == "taskItem"
        within = in_item(level.within(block.start, block.end), task=task)
        writer = self._manner.writer(content_text(within.cut(block.start, block.end)))
        lines = self._sequence(
            block.inside,
            content_of(new),
            within,
            lambda _, each: writer.block(each),
            lambda above, below: [""] * writer.gap(above, below, tight=True),
        )
        marker = within.lines[0].prefix
        if task:
            checked = attrs_of(new)["checked"]
            if not _BOX.search(marker):
                return None
            if checked != attrs_of(block.node)["checked"]:
                marker = _BOX.sub("[x]" if checked else "[ ]", marker)
        return _marked(lines, marker, within)

    def _sequence(self, old: Sequence[Block], new: Sequence[Node], level: Level, anew: Anew, gap: Gap) -> list[Line]:
        """The blocks within a container, in its lines."""
        newline = self._manner.newline
        last = level.base + len(level.lines)
        lines = level.cut(level.base, old[0].start)
        before: int | None = None
        for number, (shape, origin) in enumerate(zip(new, origins([block.node for block in old], new), strict=True)):
            if number and origin is not None and before is not None and origin.number == before + 1:
                lines += level.cut(old[before].end, old[origin.number].start)
            elif number:
                lines += level.added(gap(new[number - 1], shape), newline)
            if origin is None:
                lines += level.added(anew(number, shape), newline)
            elif origin.same:
                lines += level.cut(old[origin.number].start, old[origin.number].end)
            else:
                lines += self.changed(old[origin.number], shape, level)
            before = None if origin is None else origin.number
        return lines + level.cut(old[-1].end, last)


def _apart(_above: Node, _below: Node) -> list[str]:
    return [""]


def _close(_above: Node, _below: Node) -> list[str]:
    return []


def _marked(lines: list[Line], marker: str, within: Level) -> list[Line]:
    """An item's lines with its marker before the first, and before no other."""
    if not lines:
        return []
    rest = [line._replace(prefix=within.fresh) if line.prefix == within.lines[0].prefix else line for line in lines[1:]]
    return [lines[0]._replace(prefix=marker), *rest]
