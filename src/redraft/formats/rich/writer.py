"""Generate blocks in a given style.

Returns lines without terminators and without the prefix of their container; nothing here looks at the previous text.
The guarantee: parsing the lines gives the nodes back, as far as markdown can express them.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from redraft.formats.rich.inline_writer import InlineContext, parse_inline, write_inline
from redraft.formats.rich.representable import cell_content, to_representable
from redraft.formats.rich.schema import LISTS, Node, attrs_of, content_key, content_of, node, plain_text
from redraft.formats.rich.style import DEFAULT, Style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Tables as in GFM: one line for each row, cells between pipes, and the line of dashes below the first.


_DASHES = {None: "---", "left": ":--", "center": ":-:", "right": "--:"}


def table_lines(table: Node, context: InlineContext) -> list[str]:
    """The lines of a table. Its first row is the head; a short row gets empty cells."""
    rows = [content_of(row) for row in content_of(table)]
    written = [[cell_text(cell, context) for cell in row] for row in rows]
    count = max([1, *map(len, written)])
    head = rows[0] if rows else []
    aligned = [attrs_of(cell).get("align") for cell in head] + [None] * (count - len(head))
    cells = [row + [""] * (count - len(row)) for row in written] or [[""] * count]
    widths = [max(3, *(_width(row[column]) for row in cells)) for column in range(count)]
    dashes = [
        _dashes(align, width if context.style.even_columns else 3) for align, width in zip(aligned, widths, strict=True)
    ]
    lines = [cells[0], dashes, *cells[1:]]
    return [_row(line, widths, context) for line in lines]


def _row(cells: Sequence[str], widths: Sequence[int], context: InlineContext) -> str:
    style = context.style
    if style.even_columns:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    # Without outer pipes, an empty first cell or a single column could not be seen.
    outer = style.outer_pipes or len(cells) == 1 or not cells[0].strip() or not cells[-1].strip()
    if not style.cell_padding:
        return f"|{'|'.join(cells)}|" if outer else "|".join(cells)
    joined = " | ".join(cells)
    return f"| {joined} |" if outer else joined.rstrip()


def row_text(cells: Sequence[Node], context: InlineContext) -> str:
    """One row, ignoring the width of its columns."""
    written = [cell_text(cell, context) for cell in cells]
    return _row(written, [len(each) for each in written], context)


def cell_text(cell: Node, context: InlineContext) -> str:
    """A cell in one line: its blocks are separated with breaks."""
    return write_inline(cell_content(content_of(cell)), context).replace("\n", " ")


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


_OTHER_BULLET = {"-": "*", "*": "-", "+": "-"}
_OTHER_DELIMITER = {".": ")", ")": "."}
_HASHES_AT_END = re.compile(r"(^|[ \t])(#+[ \t]*)$")
_INFO_SIGNS = re.compile(r"([\\&*_])")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes blocks in one style; `references` are the labels that links may use."""

    style: Style = DEFAULT
    references: dict[str, Any] = field(default_factory=dict[str, Any])
    # How the inline content of some blocks was written before, by `content_key`.
    written: Mapping[str, str] = field(default_factory=dict[str, str])

    def blocks(self, nodes: Sequence[Node], *, tight: bool = False) -> list[str]:
        """Blocks with a blank line between them."""
        lines: list[str] = []
        writer = self
        for number, each in enumerate(nodes):
            if number:
                writer = writer.beside(nodes[number - 1], each) or self
                lines += [""] * writer.gap(nodes[number - 1], each, tight=tight)
            lines += writer.block(each)
        return lines

    def document(self, nodes: Sequence[Node]) -> list[str]:
        """The blocks of a whole document. A rule of dashes at its start would be parsed as frontmatter."""
        if nodes and nodes[0]["type"] == "horizontalRule" and self.style.rule.startswith("---"):
            below = self.blocks(nodes[1:])
            return ["***", "", *below] if below else ["***"]
        return self.blocks(nodes)

    def beside(self, above: Node, below: Node) -> Writer | None:
        """A writer with other list markers, for a list directly below another of its kind: the two would become one."""
        kinds = {above["type"], below["type"]}
        style = self.style
        if kinds <= {"bulletList", "taskList"}:
            return replace(self, style=replace(style, bullet=_OTHER_BULLET[style.bullet]))
        if kinds == {"orderedList"}:
            return replace(self, style=replace(style, delimiter=_OTHER_DELIMITER[style.delimiter]))
        return None

    def gap(self, above: Node, below: Node, *, tight: bool) -> int:
        """How many blank lines separate two blocks."""
        if not tight or above["type"] != "paragraph" or not content_of(above) or below["type"] not in LISTS:
            return 1
        starts_at_one = below["type"] != "orderedList" or attrs_of(below)["start"] == 1
        return 0 if starts_at_one and plain_text(content_of(below)[0]) else 1

    def block(self, each: Node) -> list[str]:
        """The lines of one block."""
        kind: str = each["type"]
        match kind:
            case "paragraph":
                return self.inline(each).split("\n")
            case "heading":
                return self._heading(each)
            case "blockquote":
                return [f"> {line}".rstrip() if not line else f"> {line}" for line in self.blocks(content_of(each))]
            case "bulletList" | "orderedList" | "taskList":
                return self.items(each)
            case "codeBlock":
                return self._code(each)
            case "horizontalRule":
                return [self.style.rule]
            case "table":
                return table_lines(each, self._setting(in_table=True))
            case "source":
                return str(attrs_of(each)["markdown"]).split("\n")
            case _:
                return self._unknown(each)

    def _unknown(self, each: Node) -> list[str]:
        """A block of an unknown type: a lone inline node becomes a paragraph, anything else its content."""
        if each["type"] in ("image", "hardBreak", "inlineSource", "text"):
            return self.block(node("paragraph", [each]))
        return self.blocks(content_of(each)) if content_of(each) else []

    def inline(self, each: Node, *, in_heading: bool = False) -> str:
        before = self.written.get(content_key(each))
        if before is not None and not (in_heading and "\n" in before):
            return before
        return write_inline(content_of(each), self._setting(in_heading=in_heading))

    def anew(self, each: Node) -> str:
        """Its inline content, whatever was written before."""
        return write_inline(content_of(each), self._setting(in_heading=each["type"] == "heading"))

    def parses_as(self, written: str, each: Node) -> bool:
        """Whether inline markdown gives the content of a block back."""
        setting = self._setting(in_heading=each["type"] == "heading")
        found = parse_inline(written, setting)
        return to_representable({"type": "paragraph", "content": found}).get("content", []) == content_of(each)

    def _setting(self, *, in_table: bool = False, in_heading: bool = False) -> InlineContext:
        return InlineContext(self.style, self.references, in_table=in_table, in_heading=in_heading)

    def _heading(self, each: Node) -> list[str]:
        level: int = min(max(int(attrs_of(each)["level"] or 1), 1), 6)
        breaks = any(inner["type"] == "hardBreak" for inner in content_of(each))
        if level <= 2 and content_of(each) and (self.style.setext or breaks):
            lines = self.inline(each).split("\n")
            return [*lines, "=-"[level - 1] * max(3, len(lines[-1]))]
        written = self.inline(each, in_heading=True).replace("\n", " ")
        written = _HASHES_AT_END.sub(r"\1\\\2", written)
        closing = f" {'#' * level}" if self.style.closing_hashes else ""
        return [f"{'#' * level} {written}{closing}".rstrip(" ") if not written else f"{'#' * level} {written}{closing}"]

    def _code(self, each: Node) -> list[str]:
        attrs = attrs_of(each)
        content = plain_text(each).replace("\r\n", "\n").replace("\r", "\n")
        info = " ".join(filter(None, (attrs["language"], attrs["meta"])))
        lines = content.split("\n")
        if self.style.indented_code and not info and lines[0].strip() and lines[-1].strip():
            return [f"    {line}" if line.strip() else "" for line in lines]
        sign = "~" if "`" in info or self.style.fence.startswith("~") else "`"
        longest = max((len(run) for run in re.findall(rf"(?m)^[ ]*({re.escape(sign)}+)", content)), default=0)
        fence = sign * max(longest + 1, len(self.style.fence), 3)
        # A parser strips the spaces around it and resolves escapes.
        return [fence + _INFO_SIGNS.sub(r"\\\1", info), *(lines if content else []), fence]

    def items(self, each: Node) -> list[str]:
        """The lines of a list."""
        content = content_of(each)
        loose = self.style.loose or any(self._parts_its_blocks(item) for item in content)
        lines: list[str] = []
        for number, item in enumerate(content):
            if number and loose:
                lines.append("")
            lines += self.item(item, self.marker(each, number), loose=loose)
        return lines

    def _parts_its_blocks(self, item: Node) -> bool:
        inner = content_of(item)
        return any(self.gap(above, below, tight=True) for above, below in pairwise(inner))

    def marker(self, each: Node, number: int) -> str:
        """What an item's first line begins with."""
        gap = " " * self.style.gap
        if each["type"] != "orderedList":
            return self.style.bullet + gap
        start = int(attrs_of(each)["start"] or 0)
        counted = start + number if self.style.counts_up else start
        return f"{counted}{self.style.delimiter}{gap}"

    def item(self, item: Node, marker: str, *, loose: bool) -> list[str]:
        """The lines of an item, the first with the marker, the others indented as far."""
        inner = content_of(item)
        width = len(marker)
        rule_like = bool(inner) and inner[0]["type"] == "horizontalRule"
        code_like = bool(inner) and inner[0]["type"] == "codeBlock"
        style = replace(self.style, indented_code=self.style.indented_code and not code_like)
        if rule_like or self.style.rule.strip(" ")[:1] == marker[:1]:
            style = replace(style, rule="___" if marker[0] == "*" else "***")
        lines = replace(self, style=style).blocks(inner, tight=not loose)
        if item["type"] == "taskItem":
            box = "[x]" if attrs_of(item)["checked"] else "[ ]"
            begins = bool(inner) and inner[0]["type"] == "paragraph"
            lines = (
                [f"{box} {lines[0]}".rstrip(" ") if not lines[0] else f"{box} {lines[0]}", *lines[1:]]
                if begins
                else [box, "", *lines]
            )
        first = lines[0] if lines else ""
        head = marker + first if first else marker.rstrip(" ")
        return [head, *(" " * width + line if line else "" for line in lines[1:])]


def write(doc: Node, style: Style = DEFAULT, references: dict[str, Any] | None = None) -> str:
    """Generate a whole document; lines end in "\\n"."""
    lines = Writer(style, references or {}).document(content_of(doc))
    return "".join(f"{line}\n" for line in lines) if any(lines) else ""
