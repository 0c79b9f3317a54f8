"""A changed table in its old lines: only the cells that changed, between the pipes that were there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.formats.rich.aligning import origins
from redraft.formats.rich.inline_writing import Setting
from redraft.formats.rich.rewriting import Manner, content_text
from redraft.formats.rich.schema import Node, content_of
from redraft.formats.rich.tables import cell_text, row_text, table_lines
from redraft.text.merge import merge

if TYPE_CHECKING:
    from redraft.formats.rich.prefixes import Level, Line
    from redraft.formats.rich.reading import Block

_PIPE = re.compile(r"(?:[^|\\]|\\.)*+", re.DOTALL)


def rewrite_table(block: Block, new: Node, lines: list[Line], level: Level, manner: Manner) -> list[Line] | None:
    """None where its columns are others: then all of it has to be written."""
    if _columns(block.node) != _columns(new) or not block.inside:
        return None
    source = content_text(lines)
    setting = Setting(manner.writer(source).style, manner.references, in_table=True)
    rows = content_of(new)
    head, *found = origins([row.node for row in block.inside], rows)
    if head is None or head.number != 0 or any(origin and origin.number == 0 for origin in found):
        return None
    made: list[Line] = []
    for number, (row, origin) in enumerate(zip(rows, [head, *found], strict=True)):
        if origin is None:
            made += level.added([_row_anew(new, number, setting)], manner.newline)
            continue
        old = block.inside[origin.number]
        line = level.cut(old.start, old.end)[0]
        content = line.content if origin.same else _row(old.node, row, line.content, setting)
        if content is None:
            return None
        made.append(line._replace(content=content))
        if number == 0:
            made += level.cut(old.end, old.end + 1)
    return made if manner.reads_as([line.content for line in made], [new]) else None


def _columns(table: Node) -> list[object]:
    """How many columns there are, and how each is aligned."""
    first = content_of(table)[0] if content_of(table) else {}
    return [cell.get("attrs") for cell in content_of(first)]


def _row_anew(table: Node, number: int, setting: Setting) -> str:
    if setting.style.even_columns:
        lines = table_lines(table, setting)
        return lines[number + 1] if number else lines[0]
    return row_text(content_of(content_of(table)[number]), setting)


def _row(old: Node, new: Node, content: str, setting: Setting) -> str | None:
    """The line of a row with the cells that changed."""
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
            parts[at] = _cell(was, now, parts[at], setting)
    return "|".join(parts)


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


def _cell(old: Node, new: Node, part: str, setting: Setting) -> str:
    """A cell's part of the line, as wide as before where the words leave room."""
    source = part.strip()
    merged = merge(cell_text(old, setting), source, cell_text(new, setting))
    words = merged.text if merged.clean else cell_text(new, setting)
    if not source:
        return (f" {words} " if part.startswith(" ") or not part else words).ljust(len(part))
    before = part[: len(part) - len(part.lstrip())]
    after = part[len(part.rstrip()) :]
    room = len(part) - len(before) - len(words)
    return before + words + " " * max(room, min(len(after), 1))
