"""Write a changed block into the lines of the old one: paragraphs, headings, code.

The new words are spliced into the old lines (`inline_sources`), so escapes, wrapping and emphasis characters that the
author chose stay. The result is used only if it parses as the new block; otherwise the block is generated from scratch.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from redraft.formats.rich.block_alignment import origins
from redraft.formats.rich.inline_sources import splices
from redraft.formats.rich.inline_writer import InlineContext
from redraft.formats.rich.line_prefixes import ContainerLines, Opaque, PrefixedLine, enter_item, enter_quote
from redraft.formats.rich.parser import parse_nodes
from redraft.formats.rich.representable import to_representable
from redraft.formats.rich.schema import ITEMS, LISTS, Node, attrs_of, content_key, content_of, node, plain_text
from redraft.formats.rich.style import Facts, facts_in, infer_style
from redraft.formats.rich.writer import Writer, cell_text, row_text, table_lines
from redraft.text.diff.sequence_diff import Region, diff_sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from redraft.formats.rich.parser import RichBlock

    Anew = Callable[[int, Node], list[str]]
    Gap = Callable[[Node, Node], list[str]]

_ATX = re.compile(r"( {0,3}#{1,6}[ \t]+)(.*?)((?:[ \t]+#+)?[ \t]*)$")


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """How a text is written: its style, its link references, its line endings, and words that it has already."""

    facts: Facts
    references: dict[str, Any]
    newline: str
    # How the inline content of blocks was written, by `content_key`.
    written: Mapping[str, str] = field(default_factory=dict[str, str])

    def writer(self, near: str) -> Writer:
        """A writer in the style of a place."""
        return Writer(infer_style(facts_in(near), self.facts), self.references, self.written)

    def reads_as(self, lines: Sequence[str], wanted: Sequence[Node]) -> bool:
        return list(map(to_representable, parse_nodes("\n".join(lines), self.references))) == list(wanted)


def content_text(lines: Sequence[PrefixedLine]) -> str:
    return "\n".join(line.content for line in lines)


def reline(
    contents: Sequence[str], lines: Sequence[PrefixedLine], level: ContainerLines, style: MarkdownStyle
) -> list[PrefixedLine]:
    """New contents for lines: each keeps the prefix and the terminator of the line that it replaces."""
    end = next((line.end for line in lines if line.end), style.newline)
    made = [PrefixedLine(line.prefix, content, line.end or end) for line, content in zip(lines, contents, strict=False)]
    return made + level.make_lines(contents[len(made) :], end)


def rewrite_paragraph(
    old: Node,
    new: Node,
    lines: list[PrefixedLine],
    level: ContainerLines,
    style: MarkdownStyle,
    is_read: Callable[[list[str]], bool] | None = None,
) -> list[PrefixedLine]:
    """`is_read` says whether words parse as the new ones in their place, if that is not a paragraph."""
    source = content_text(lines)
    writer = style.writer(source)
    before = style.written.get(content_key(new))
    known = () if before is None else (before,)
    for written in chain(known, splices(writer.anew(old), source, writer.anew(new))):
        split = written.split("\n")
        if style.reads_as(split, [new]) if is_read is None else is_read(split):
            return reline(split, lines, level, style)
    return reline(writer.block(new), lines, level, style)


def rewrite_heading(
    old: Node, new: Node, lines: list[PrefixedLine], level: ContainerLines, style: MarkdownStyle
) -> list[PrefixedLine] | None:
    """Change only the words between the hashes, or above the underline; None if the level changed."""
    if attrs_of(old)["level"] != attrs_of(new)["level"] or not content_of(old) or not content_of(new):
        return None
    inner_old, inner_new = (node("paragraph", content_of(each)) for each in (old, new))
    hashes = _ATX.match(lines[0].content) if len(lines) == 1 else None
    if hashes:
        before, words, behind = hashes.groups()
        within = [PrefixedLine(lines[0].prefix + before, words, behind + lines[0].end)]
        made = rewrite_paragraph(
            inner_old,
            inner_new,
            within,
            level,
            style,
            lambda written: len(written) == 1 and style.reads_as([before + written[0] + behind], [new]),
        )
        return made if len(made) == 1 and style.reads_as([hashes[1] + made[0].content + hashes[3]], [new]) else None
    if len(lines) < 2 or lines[-1].content.strip(" \t=-"):
        return None
    under = lines[-1]
    above = rewrite_paragraph(
        inner_old,
        inner_new,
        lines[:-1],
        level,
        style,
        lambda written: style.reads_as([*written, under.content], [new]),
    )
    made = [*above, under]
    return made if style.reads_as([line.content for line in made], [new]) else None


def rewrite_code(
    old: Node, new: Node, lines: list[PrefixedLine], level: ContainerLines, style: MarkdownStyle
) -> list[PrefixedLine] | None:
    """Change only the lines of code that differ; None if more than the code changed or its lines are indented."""
    if old.get("attrs") != new.get("attrs"):
        return None
    fenced = lines[0].content.lstrip(" ")[:3] in ("```", "~~~")
    closed = fenced and len(lines) > 1 and not lines[-1].content.strip(" ").strip(lines[0].content.lstrip(" ")[0])
    inner = lines[1 : -1 if closed else None] if fenced else lines
    indent = "" if fenced else "    "
    before, after = plain_text(old).split("\n"), plain_text(new).split("\n")
    if [line.content.removeprefix(indent) for line in inner] != before:
        return None
    made: list[PrefixedLine] = []
    at = 0
    for region in diff_sequences(before, after):
        made += inner[at : region.old_start]
        added = [indent + each if each else "" for each in after[region.new_start : region.new_end]]
        made += reline(added, inner[region.old_start : region.old_end], level, style)
        at = region.old_end
    made += inner[at:]
    whole = [*(lines[:1] if fenced else ()), *made, *(lines[-1:] if closed else ())]
    return whole if style.reads_as([line.content for line in whole], [new]) else None


# A changed table in its old lines: only changed cells, between the existing pipes.


_PIPE = re.compile(r"(?:[^|\\]|\\.)*+", re.DOTALL)


def rewrite_table(
    block: RichBlock, new: Node, lines: list[PrefixedLine], level: ContainerLines, style: MarkdownStyle
) -> list[PrefixedLine] | None:
    """None if so much changed that all of it has to be written."""
    source = content_text(lines)
    context = InlineContext(style.writer(source).style, style.references, in_table=True)
    if not block.inside:
        return None
    if _columns(block.node) != _columns(new):
        return _rewrite_columns(block, new, lines, context, style)
    rows = content_of(new)
    head, *found = origins([row.node for row in block.inside], rows)
    if head is None or head.number != 0 or any(origin and origin.number == 0 for origin in found):
        return None
    widths = _column_widths([line.content for line in lines], len(_columns(new)))
    made: list[PrefixedLine] = []
    for number, (row, origin) in enumerate(zip(rows, [head, *found], strict=True)):
        if origin is None:
            made += level.make_lines([_row_anew(new, number, context)], style.newline)
            continue
        old = block.inside[origin.number]
        line = level.cut(old.start, old.end)[0]
        content = line.content if origin.same else _row(old.node, row, line.content, context, widths)
        if content is None:
            return None
        made.append(line._replace(content=content))
        if number == 0:
            made += level.cut(old.end, old.end + 1)
    return made if style.reads_as([line.content for line in made], [new]) else None


def _columns(table: Node) -> list[object]:
    """The number of columns, and the alignment of each."""
    first = content_of(table)[0] if content_of(table) else {}
    return [cell.get("attrs") for cell in content_of(first)]


def _rewrite_columns(
    block: RichBlock, new: Node, lines: list[PrefixedLine], context: InlineContext, style: MarkdownStyle
) -> list[PrefixedLine] | None:
    """Columns added or removed: the others keep their part of each line, with its padding."""
    before, after = content_of(block.node), content_of(new)
    if len(before) != len(after) or len(lines) != len(before) + 1:
        return None
    keys, wanted = _column_keys(before), _column_keys(after)
    kept: list[int | None] = [None] * len(wanted)
    at = 0
    for region in [*diff_sequences(keys, wanted), Region(len(keys), len(keys), len(wanted), len(wanted))]:
        kept[region.new_start - (region.old_start - at) : region.new_start] = range(at, region.old_start)
        at = region.old_end
    rows = [before[0], *before]  # the line of dashes has no row of its own
    made: list[PrefixedLine] = []
    fresh = _fresh_columns(after, kept, context)
    for number, line in enumerate(lines):
        parts = _parts(line.content)
        outer, closed = line.content.lstrip().startswith("|"), len(parts) > 1 and not parts[-1].strip()
        cells = parts[outer : len(parts) - closed]
        if len(cells) != len(content_of(rows[number])):
            return None
        if not outer and kept[0] != 0 and cells[0][:1] != " ":
            cells[0] = " " + cells[0]
        parts[outer : len(parts) - closed] = [
            fresh[column][number] if origin is None else cells[origin] for column, origin in enumerate(kept)
        ]
        made.append(line._replace(content="|".join(parts)))
    return made if style.reads_as([line.content for line in made], [new]) else None


def _column_keys(rows: Sequence[Node]) -> list[str]:
    """What each column says, with its alignment."""
    count = max(len(content_of(row)) for row in rows)
    return [repr([content_of(row)[at : at + 1] for row in rows]) for at in range(count)]


def _fresh_columns(rows: Sequence[Node], kept: Sequence[int | None], context: InlineContext) -> dict[int, list[str]]:
    """The parts of each line for the columns that are new."""
    found: dict[int, list[str]] = {}
    for column in (at for at, origin in enumerate(kept) if origin is None):
        cells = [content_of(row)[column] for row in rows]
        alone = node("table", [node("tableRow", [cell]) for cell in cells])
        pad = context.style.cell_padding
        written = table_lines(alone, replace(context, style=replace(context.style, cell_padding=pad)))
        found[column] = [line[1:-1] for line in written]
    return found


def _row_anew(table: Node, number: int, context: InlineContext) -> str:
    if context.style.even_columns:
        lines = table_lines(table, context)
        return lines[number + 1] if number else lines[0]
    return row_text(content_of(content_of(table)[number]), context)


def _row(old: Node, new: Node, content: str, context: InlineContext, widths: Sequence[int | None]) -> str | None:
    """The line of a row with its changed cells."""
    before, after = content_of(old), content_of(new)
    parts = _parts(content)
    outer = content.lstrip().startswith("|")
    if len(before) != len(after):
        return None
    for number, (was, now) in enumerate(zip(before, after, strict=True)):
        if was != now:
            at = number + outer
            if at >= len(parts):
                return None  # the row is shorter than the table, and this cell is not in it
            parts[at] = _cell(was, now, parts[at], context, widths[number] if number < len(widths) else None)
    return "|".join(parts)


def _column_widths(contents: Sequence[str], count: int) -> list[int | None]:
    """How wide each column's part of the lines is, where most of them agree."""
    found: list[int | None] = []
    lines = [_parts(content)[content.lstrip().startswith("|") :] for content in contents]
    for column in range(count):
        widths = Counter(len(parts[column]) for parts in lines if column < len(parts))
        width, times = widths.most_common(1)[0] if widths else (0, 0)
        found.append(width if times > 1 and 2 * times > len(lines) else None)
    return found


def _parts(content: str) -> list[str]:
    parts: list[str] = []
    at = 0
    while at <= len(content):
        found = _PIPE.match(content, at)
        end = found.end() if found else at
        if end < len(content) and content[end] == "\\":  # a backslash at the very end
            end = len(content)
        parts.append(content[at:end])
        at = end + 1
    return parts


def _cell(old: Node, new: Node, part: str, context: InlineContext, width: int | None) -> str:
    """A cell's part of the line; if the column has a width and the cell had it or can have it, it keeps it."""
    source = part.strip()
    words = next(splices(cell_text(old, context), source, cell_text(new, context)))
    if not source:
        return (f" {words} " if part.startswith(" ") or not part else words).ljust(len(part))
    before = part[: len(part) - len(part.lstrip())]
    after = part[len(part.rstrip()) :]
    if width is None:
        return before + words + after
    missing = width - len(before + words + after)
    if attrs_of(new)["align"] == "right" or len(before) > len(after):
        return " " * max(len(before) + missing, min(len(before), 1)) + words + after
    return before + words + " " * max(len(after) + missing, min(len(after), 1))


# A changed block of any kind in its old lines: quotations, lists and their items, down to the changed paragraph.
#
# Each container's own markers are set aside as prefixes while its blocks are processed, and put back afterwards.


_BOX = re.compile(r"\[[ xX]\](?=[ ]*$)")
_MARKER = re.compile(r"([-+*]|[0-9]{1,9}[.)])([ ]*)")


class BlockRewriter:
    """Rewrites blocks of one text."""

    def __init__(self, style: MarkdownStyle) -> None:
        self._manner = style

    def rewrite(self, block: RichBlock, new: Node, level: ContainerLines) -> list[PrefixedLine]:
        """The lines of a block that now is `new`."""
        lines = level.cut(block.start, block.end)
        found = None
        if block.node["type"] == new["type"]:
            try:
                found = self._in_place(block, new, lines, level)
            except Opaque:
                found = None
        return self._write_anew(new, lines, level) if found is None else found

    def _in_place(
        self, block: RichBlock, new: Node, lines: list[PrefixedLine], level: ContainerLines
    ) -> list[PrefixedLine] | None:
        old, style = block.node, self._manner
        match new["type"]:
            case "paragraph":
                return rewrite_paragraph(old, new, lines, level, style)
            case "heading":
                return rewrite_heading(old, new, lines, level, style)
            case "codeBlock":
                return rewrite_code(old, new, lines, level, style)
            case "table":
                return rewrite_table(block, new, lines, level, style)
            case "blockquote":
                return self._quote(block, new, level)
            case "listItem" | "taskItem":
                return self._item(block, new, level)
            case kind if kind in LISTS:
                return self._list(block, new, level)
            case _:
                return None

    def _write_anew(self, new: Node, lines: list[PrefixedLine], level: ContainerLines) -> list[PrefixedLine]:
        """Generate all of it; its first line keeps the position of the old one."""
        source = content_text(lines)
        writer = self._manner.writer(source)
        written = self._item_anew(new, source, writer) if new["type"] in ITEMS else writer.block(new)
        if not written:
            return []
        first = PrefixedLine(lines[0].prefix, written[0], lines[0].end or self._manner.newline)
        return [first, *level.make_lines(written[1:], first.end)]

    @staticmethod
    def _item_anew(new: Node, source: str, writer: Writer) -> list[str]:
        """An item with its old marker."""
        found = _MARKER.search(source)
        marker = found[1] + (found[2] or " ") if found else writer.style.bullet + " "
        return writer.item(new, marker, loose=False)

    def _quote(self, block: RichBlock, new: Node, level: ContainerLines) -> list[PrefixedLine] | None:
        if not block.inside:
            return None
        within = enter_quote(level.within(block.start, block.end))
        writer = self._manner.writer(content_text(level.cut(block.start, block.end)))
        return self._sequence(block.inside, content_of(new), within, lambda _, each: writer.block(each), _blank_gap)

    def _list(self, block: RichBlock, new: Node, level: ContainerLines) -> list[PrefixedLine] | None:
        if block.node.get("attrs") != new.get("attrs"):
            return None
        within = level.within(block.start, block.end)
        writer = self._manner.writer(content_text(level.cut(block.start, block.end)))
        loose = writer.style.loose

        def anew(number: int, each: Node) -> list[str]:
            return writer.item(each, writer.marker(new, number), loose=loose)

        return self._sequence(block.inside, content_of(new), within, anew, _blank_gap if loose else _no_gap)

    def _item(self, block: RichBlock, new: Node, level: ContainerLines) -> list[PrefixedLine] | None:
        if not block.inside:
            return None
        task = new["type"] == "taskItem"
        within = enter_item(level.within(block.start, block.end), task=task)
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
        return _put_marker(lines, marker, within)

    def _sequence(
        self, old: Sequence[RichBlock], new: Sequence[Node], level: ContainerLines, anew: Anew, gap: Gap
    ) -> list[PrefixedLine]:
        """The blocks within a container, in its lines."""
        newline = self._manner.newline
        last = level.base + len(level.lines)
        lines = level.cut(level.base, old[0].start)
        before: int | None = None
        above = -1  # the last old block that is above
        for number, (shape, origin) in enumerate(zip(new, origins([block.node for block in old], new), strict=True)):
            kept: list[PrefixedLine] = []
            if number and origin is not None and 0 <= above < origin.number:
                kept = level.cut(old[origin.number - 1].end, old[origin.number].start)
            follows = origin is not None and before is not None and origin.number == before + 1
            if kept or follows:
                lines += kept
            elif number:
                lines += level.make_lines(gap(new[number - 1], shape), newline)
            if origin is None:
                lines += level.make_lines(anew(number, shape), newline)
            elif origin.same:
                lines += level.cut(old[origin.number].start, old[origin.number].end)
            else:
                lines += self.rewrite(old[origin.number], shape, level)
            before = None if origin is None else origin.number
            above = above if before is None else before
        return lines + level.cut(old[-1].end, last)


def _blank_gap(_above: Node, _below: Node) -> list[str]:
    return [""]


def _no_gap(_above: Node, _below: Node) -> list[str]:
    return []


def _put_marker(lines: list[PrefixedLine], marker: str, within: ContainerLines) -> list[PrefixedLine]:
    """An item's lines, with its marker before the first only."""
    if not lines:
        return []
    rest = [line._replace(prefix=within.fresh) if line.prefix == within.lines[0].prefix else line for line in lines[1:]]
    return [lines[0]._replace(prefix=marker), *rest]
