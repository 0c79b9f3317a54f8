"""Conflict markers as git writes them, around whole lines.

A conflict may be a word inside a line; for marking it is widened to where all three texts are at the beginning of a
line, and each section shows that side's own lines. Markers stand on lines of their own, end as the text's lines do, and
are longer than any run of the same sign that begins a line of the text. Nothing here decides what conflicts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Style = Literal["diff3", "merge"]
Labels = tuple[str, str, str]

_USUAL_SIZE = 7
_BREAK = re.compile(r"\r\n?|\n")
_LIKE_A_MARKER = re.compile(r"(?:\A|(?<=[\r\n]))([<|=>])\1{6,}")


class Row(NamedTuple):
    """What a merge has in one place: the merged text, or None in a conflict, and the three columns."""

    text: str | None
    base: str
    ours: str
    theirs: str

    def then(self, other: Row) -> Row:
        """Two neighbouring rows as one, which is a conflict if either is."""
        text = None if self.text is None or other.text is None else self.text + other.text
        return Row(text, self.base + other.base, self.ours + other.ours, self.theirs + other.theirs)

    @property
    def columns(self) -> tuple[str, str, str]:
        return self.ours, self.base, self.theirs

    @property
    def is_common(self) -> bool:
        return self.text == self.base == self.ours == self.theirs

    @property
    def ends_lines(self) -> bool:
        """Whether what follows begins a line in every column, given that this row does."""
        return all(column == "" or column[-1] in "\r\n" for column in self.columns)


_NOTHING = Row("", "", "", "")


def mark(rows: Iterable[Row], labels: Labels, style: Style) -> str:
    """The merged text with its conflicts marked; `labels` name ours, base and theirs."""
    blocks = list(whole_lines(rows))
    content = [part for block in blocks for part in (block.columns if block.text is None else (block.text,))]
    newline = adopt_newlines("\n", "".join(content))
    size = _size(content)
    return "".join(
        _section(block, labels, style, size, newline) if block.text is None else block.text for block in blocks
    )


def whole_lines(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows as blocks that begin where all three columns begin a line, each conflict as small as that allows."""
    block = _NOTHING
    for row in rows:
        if block.ends_lines:
            yield block
            block = _NOTHING
        cut = _cut(row.base, first=block.text is None) if row.is_common else 0
        if cut:
            head, tail = row.base[:cut], row.base[cut:]
            # Of what merged, only the text is ever shown: no need to carry three more copies of a large stretch.
            yield block.then(Row(head, head, head, head)) if block.text is None else Row(block.text + head, "", "", "")
            block = Row(tail, tail, tail, tail)
        else:
            block = block.then(row)
    yield block


def _size(content: list[str]) -> int:
    """The length of markers that no line of the content can be taken for."""
    # Looking for a run first is ten times as fast, and most texts have none.
    runs = (
        len(run[0])
        for part in content
        if any(sign * _USUAL_SIZE in part for sign in "<|=>")
        for run in _LIKE_A_MARKER.finditer(part)
    )
    return max(runs, default=_USUAL_SIZE - 1) + 1


def _cut(text: str, *, first: bool) -> int:
    """The offset behind the first line end in a text, or behind the last; 0 where there is none."""
    if first:
        found = _BREAK.search(text)
        return found.end() if found else 0
    return max(text.rfind("\n"), text.rfind("\r")) + 1


def _section(block: Row, labels: Labels, style: Style, size: int, newline: str) -> str:
    signs = "<|" if style == "diff3" else "<"
    parts: list[str] = []
    for sign, label, column in zip("<|=", (labels[0], labels[1], ""), block.columns, strict=True):
        if sign == "=" or sign in signs:
            parts += [_marker(sign, label, size, newline), _ended(column, newline)]
    parts.append(_marker(">", labels[2], size, newline))
    return "".join(parts)


def _marker(sign: str, label: str, size: int, newline: str) -> str:
    return f"{sign * size} {label}".rstrip(" ") + newline


def _ended(column: str, newline: str) -> str:
    return column if column == "" or column[-1] in "\r\n" else column + newline
