"""A merge as a value: pieces that merged by themselves, and conflicts.

Each piece knows what all three texts have in its place, so the three columns of a merge join back to the three texts,
and a position in any of them can be followed to the others. A conflict is not a failure: it is carried until a person
decides. Nothing here compares texts or decides what merges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from redraft.text.markers import Labels, Row, Style, mark

Side = Literal["base", "ours", "theirs", "both"]


@dataclass(frozen=True, slots=True)
class Clean:
    """A stretch that merges by itself into `text`, which is what `side` made of it."""

    text: str
    side: Side
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A stretch that each side changed in its own way."""

    base: str
    ours: str
    theirs: str


Piece = Clean | Conflict


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
        return "".join(piece.text if isinstance(piece, Clean) else piece.ours for piece in self.pieces)

    @property
    def theirs_text(self) -> str:
        """The merged text, with theirs where the sides conflict."""
        return "".join(piece.text if isinstance(piece, Clean) else piece.theirs for piece in self.pieces)

    def marked(self, labels: Labels = ("ours", "base", "theirs"), style: Style = "diff3") -> str:
        """The merged text with git's conflict markers around whole lines; `merge` style leaves the base out."""
        if self.clean:
            return self.text
        rows = (
            Row(piece.text if isinstance(piece, Clean) else None, piece.base, piece.ours, piece.theirs)
            for piece in self.pieces
        )
        return mark(rows, labels, style)


def unchanged(text: str) -> Clean:
    """A stretch that no side changed."""
    return Clean(text, "base", text, text, text)


def settled(base: str, ours: str, theirs: str) -> Piece:
    """What three versions of one stretch come to by themselves: the one change, the same change, or a conflict."""
    if ours == theirs:
        return Clean(ours, "base" if ours == base else "both", base, ours, theirs)
    if ours == base:
        return Clean(theirs, "theirs", base, ours, theirs)
    if theirs == base:
        return Clean(ours, "ours", base, ours, theirs)
    return Conflict(base, ours, theirs)
