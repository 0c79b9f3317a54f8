"""Tables as GFM writes them: one line for each row, cells between pipes, and the line of dashes under the first."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from redraft.formats.rich.inline_writing import write_inline
from redraft.formats.rich.schema import TEXTBLOCKS, Node, attrs_of, content_of, node, plain_text, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.formats.rich.inline_writing import Setting

_DASHES = {None: "---", "left": ":--", "center": ":-:", "right": "--:"}


def table_lines(table: Node, setting: Setting) -> list[str]:
    """The lines of a table. Its first row is the head; a row that is short gets empty cells."""
    rows = [content_of(row) for row in content_of(table)]
    written = [[cell_text(cell, setting) for cell in row] for row in rows]
    count = max([1, *map(len, written)])
    head = rows[0] if rows else []
    aligned = [attrs_of(cell).get("align") for cell in head] + [None] * (count - len(head))
    cells = [row + [""] * (count - len(row)) for row in written] or [[""] * count]
    widths = [max(3, *(_width(row[column]) for row in cells)) for column in range(count)]
    dashes = [
        _dashes(align, width if setting.style.even_columns else 3) for align, width in zip(aligned, widths, strict=True)
    ]
    lines = [cells[0], dashes, *cells[1:]]
    return [_row(line, widths, setting) for line in lines]


def _row(cells: Sequence[str], widths: Sequence[int], setting: Setting) -> str:
    style = setting.style
    if style.even_columns:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    # Without pipes outside, an empty first cell or a lone column could not be seen.
    outer = style.outer_pipes or len(cells) == 1 or not cells[0].strip() or not cells[-1].strip()
    if not style.cell_padding:
        return f"|{'|'.join(cells)}|" if outer else "|".join(cells)
    joined = " | ".join(cells)
    return f"| {joined} |" if outer else joined.rstrip()


def row_text(cells: Sequence[Node], setting: Setting) -> str:
    """One row, without regard to the width of its columns."""
    written = [cell_text(cell, setting) for cell in cells]
    return _row(written, [len(each) for each in written], setting)


def cell_text(cell: Node, setting: Setting) -> str:
    """A cell in one line: its blocks are parted by breaks."""
    return write_inline(list(_inline(content_of(cell))), setting).replace("\n", " ")


def _inline(blocks: Sequence[Node]) -> Iterator[Node]:
    for number, block in enumerate(blocks):
        if number:
            yield node("hardBreak")
        if block["type"] in TEXTBLOCKS:
            yield from content_of(block)
        elif plain_text(block):
            yield text(plain_text(block))


def _dashes(align: str | None, width: int) -> str:
    dashes = _DASHES.get(align, "---")
    return dashes[0] + "-" * (max(width, 3) - 2) + dashes[-1]


def _width(content: str) -> int:
    """How many columns a text takes on a screen."""
    if content.isascii():
        return len(content)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in content
    )
