"""The three-way cut: base, proposed and working, side by side in chunks.

A review is three texts and nothing else; everything it shows is derived from this cut. The hunks of base against
proposed and of base against working that overlap or touch in base become one chunk, what lies between is a chunk with
three equal parts, and the three columns always join back to the three texts. It never decides anything, and never
merges: a chunk in which both authors worked is `mixed`, and stays whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from redraft.text.diff import diff
from redraft.text.guard import guard
from redraft.text.matching import Region
from redraft.text.weave import Group, weave

Author = Literal["none", "agent", "user", "mixed"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One stretch of a document as the three texts have it."""

    base: str
    proposed: str
    working: str

    @property
    def author(self) -> Author:
        """Who made working differ from base here; `none` where it does not."""
        if self.working == self.base:
            return "none"
        if self.working == self.proposed:
            return "agent"
        return "user" if self.proposed == self.base else "mixed"


def cut(base: str, proposed: str, working: str) -> tuple[Chunk, ...]:
    """The chunks of the three-way diff, in order; what lies between two of them is a chunk with three equal parts."""
    chunks: list[Chunk] = []
    at = 0
    for group in _groups(base, proposed, working):
        if group.start > at:
            same = base[at : group.start]
            chunks.append(Chunk(same, same, same))
        chunks.append(
            Chunk(
                base[group.start : group.end],
                proposed[group.left_start : group.left_end],
                working[group.right_start : group.right_end],
            )
        )
        at = group.end
    if at < len(base):
        chunks.append(Chunk(base[at:], base[at:], base[at:]))
    return tuple(chunks)


def _groups(base: str, proposed: str, working: str) -> list[Group]:
    """The hunks of both sides, grouped. A hunk that both have is one hunk, and so bridges no others of either."""
    left, right = _regions(base, proposed), _regions(base, working)
    both = set(left.values()).intersection(right.values())

    def apart(ours: Region, theirs: Region) -> bool:
        return left[ours] != right[theirs] and (left[ours] in both or right[theirs] in both)

    return weave(list(left), list(right), apart)


def _regions(old: str, new: str) -> dict[Region, tuple[int, int, str]]:
    """The hunks as regions, each with what it does, by which it is known again on the other side."""
    return {
        Region(hunk.at, hunk.at + len(hunk.old_text), hunk.new_at, hunk.new_at + len(hunk.new_text)): (
            hunk.at,
            len(hunk.old_text),
            hunk.new_text,
        )
        for hunk in guard(diff(old, new), old)
    }
