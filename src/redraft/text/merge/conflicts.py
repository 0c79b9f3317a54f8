"""A merge as a value: pieces that merged cleanly, and conflicts.

Each piece knows what all three texts have in its place, so the three columns of a merge join back to the three texts,
and a position in any of them can be mapped to the others. A conflict is not a failure: it is kept until a person
decides. Nothing here compares texts or decides what merges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.text.lines import adopt_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Conflict markers as in git, around whole lines.
#
# A conflict may be a word inside a line; for marking it is extended to where all three texts are at the beginning of a
# line, and each section shows that side's own lines. Markers are on lines of their own, end like the text's lines, and
# are longer than any run of the same character at the start of a line. Nothing here decides what conflicts.


Style = Literal["diff3", "merge"]
Labels = tuple[str, str, str]

_USUAL_SIZE = 7
_BREAK = re.compile(r"\r\n?|\n")
_LIKE_A_MARKER = re.compile(r"(?:\A|(?<=[\r\n]))([<|=>])\1{6,}")


class MergeRow(NamedTuple):
    """What a merge has in one place: the merged text, or None in a conflict, and the three columns."""

    text: str | None
    base: str
    ours: str
    theirs: str

    def then(self, other: MergeRow) -> MergeRow:
        """Two neighbouring rows as one, which is a conflict if either is."""
        text = None if self.text is None or other.text is None else self.text + other.text
        return MergeRow(text, self.base + other.base, self.ours + other.ours, self.theirs + other.theirs)

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


_NOTHING = MergeRow("", "", "", "")


def mark_rows(rows: Iterable[MergeRow], labels: Labels, style: Style) -> str:
    """The merged text with its conflicts marked; `labels` name ours, base and theirs."""
    blocks = list(whole_lines(rows))
    content = [part for block in blocks for part in (block.columns if block.text is None else (block.text,))]
    newline = adopt_newlines("\n", "".join(content))
    size = _size(content)
    return "".join(
        _section(block, labels, style, size, newline) if block.text is None else block.text for block in blocks
    )


def whole_lines(rows: Iterable[MergeRow]) -> Iterator[MergeRow]:
    """The rows as blocks that begin where all three columns begin a line, each conflict as small as that allows."""
    block = _NOTHING
    for row in rows:
        if block.ends_lines:
            yield block
            block = _NOTHING
        cut = _line_end(row.base, first=block.text is None) if row.is_common else 0
        if cut:
            head, tail = row.base[:cut], row.base[cut:]
            # Only the text of merged rows is ever shown: no need to copy the columns of a large stretch.
            yield (
                block.then(MergeRow(head, head, head, head))
                if block.text is None
                else MergeRow(block.text + head, "", "", "")
            )
            block = MergeRow(tail, tail, tail, tail)
        else:
            block = block.then(row)
    yield block


def _size(content: list[str]) -> int:
    """The length of markers that cannot be confused with any line of the content."""
    # Searching for a run first is ten times as fast, and most texts have none.
    runs = (
        len(run[0])
        for part in content
        if any(sign * _USUAL_SIZE in part for sign in "<|=>")
        for run in _LIKE_A_MARKER.finditer(part)
    )
    return max(runs, default=_USUAL_SIZE - 1) + 1


def _line_end(text: str, *, first: bool) -> int:
    """The offset after the first line end in a text, or after the last; 0 if there is none."""
    if first:
        found = _BREAK.search(text)
        return found.end() if found else 0
    return max(text.rfind("\n"), text.rfind("\r")) + 1


def _section(block: MergeRow, labels: Labels, style: Style, size: int, newline: str) -> str:
    signs = "<|" if style == "diff3" else "<"
    parts: list[str] = []
    for sign, label, column in zip("<|=", (labels[0], labels[1], ""), block.columns, strict=True):
        if sign == "=" or sign in signs:
            parts += [_marker(sign, label, size, newline), _end_line(column, newline)]
    parts.append(_marker(">", labels[2], size, newline))
    return "".join(parts)


def _marker(sign: str, label: str, size: int, newline: str) -> str:
    return f"{sign * size} {label}".rstrip(" ") + newline


def _end_line(column: str, newline: str) -> str:
    return column if column == "" or column[-1] in "\r\n" else column + newline


Side = Literal["base", "ours", "theirs", "both"]


@dataclass(frozen=True, slots=True)
class CleanRegion:
    """A stretch that merges cleanly into `text`, which comes from `side`."""

    text: str
    side: Side
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A stretch that each side changed differently."""

    base: str
    ours: str
    theirs: str


Piece = CleanRegion | Conflict


@dataclass(frozen=True)
class Merge:
    """The pieces of a merge, in order."""

    pieces: tuple[Piece, ...]

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Conflict))

    @property
    def clean(self) -> bool:
        return not self.conflicts

    @property
    def text(self) -> str:
        """The merged text, with ours where the sides conflict."""
        return "".join(piece.text if isinstance(piece, CleanRegion) else piece.ours for piece in self.pieces)

    def mark_conflicts(self, labels: Labels = ("ours", "base", "theirs"), style: Style = "diff3") -> str:
        """The merged text with git's conflict markers around whole lines; `merge` style leaves the base out."""
        if self.clean:
            return self.text
        rows = (
            MergeRow(piece.text if isinstance(piece, CleanRegion) else None, piece.base, piece.ours, piece.theirs)
            for piece in self.pieces
        )
        return mark_rows(rows, labels, style)


def make_unchanged_piece(text: str) -> CleanRegion:
    """A stretch that no side changed."""
    return CleanRegion(text, "base", text, text, text)


def merge_stretch(base: str, ours: str, theirs: str) -> Piece:
    """Three versions of one stretch, merged: the one change, the same change, or a conflict."""
    if ours == theirs:
        return CleanRegion(ours, "base" if ours == base else "both", base, ours, theirs)
    if ours == base:
        return CleanRegion(theirs, "theirs", base, ours, theirs)
    if theirs == base:
        return CleanRegion(ours, "ours", base, ours, theirs)
    return Conflict(base, ours, theirs)
