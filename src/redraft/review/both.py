"""What stands where two sides changed the same words: the words of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.text.merge import Clean

if TYPE_CHECKING:
    from redraft.text.merge import Conflict, Merge


def with_both(merged: Merge) -> str:
    """The merged text, with the words of both sides where they conflict."""
    return "".join(piece.text if isinstance(piece, Clean) else both(piece) for piece in merged.pieces)


def both(piece: Conflict) -> str:
    """Each side's words whole, the person's first; once where one side has all of the other's, or only put its own
    before or after what stood there."""
    base, ours, theirs = piece.base, piece.ours, piece.theirs
    if ours in theirs or theirs in ours:
        return max(ours, theirs, key=len)
    for one, other in ((theirs, ours), (ours, theirs)):
        added = one.removeprefix(base) if base else one
        if added != one and not _joins(base, added):
            return _apart(other, added)
        added = one.removesuffix(base) if base else one
        if added != one and not _joins(added, base):
            return _apart(added, other)
    return _apart(ours, theirs)


def _joins(first: str, second: str) -> bool:
    """Whether a word of the one would go on in the other."""
    return first[-1:].isalnum() and second[:1].isalnum()


def _apart(first: str, second: str) -> str:
    """One after the other, and not so that two words become one."""
    blank = ("\n" if "\n" in first + second else " ") if _joins(first, second) else ""
    return first + blank + second
