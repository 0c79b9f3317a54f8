"""Taking one step of a review back while keeping what came after it: the step's inverse, merged into the present.

The three texts are merged each by itself, and need not fit together: where a proposal was accepted since, or somebody
else wrote the same, base keeps the words while the inverse takes them out of proposed. That would be a hunk which
nobody proposed. So every proposal in the result must be one of the present or one of the past; else there is no result.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from redraft.review.review import Review, cut_parts, tidy
from redraft.text.edits import Change, Edit
from redraft.text.merge import Clean, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redraft.review.review import Part
    from redraft.text.merge import Merge

    Span = tuple[int, int]


def without_step(now: Review, before: Review, after: Review) -> Review | None:
    """The present without the step that led from `before` to `after`; None where later changes meet it."""
    base = merge(after.base, now.base, before.base)
    proposed = merge(after.proposed, now.proposed, before.proposed)
    working = merge(after.working, now.working, before.working)
    if not (base.clean and proposed.clean and working.clean):
        return None
    # The present names its hunks best; those that come back are named by the past.
    parts = now.recut(base.text, proposed.text, working.text, before)
    owned = [*_agents_places(now, proposed, ours=True), *_agents_places(before, proposed, ours=False)]
    return Review(tidy(parts)) if _all_owned(parts, owned) else None


def _all_owned(parts: Sequence[Part], owned: Sequence[Span]) -> bool:
    """Whether each proposal lies where one was, or touches such a place."""
    places = sorted(owned)
    starts = [start for start, _ in places]
    furthest = [-1, *accumulate((stop for _, stop in places), max)]
    return all(furthest[bisect_right(starts, end)] >= at for at, end in _proposals(parts))


def _agents_places(review: Review, merged: Merge, *, ours: bool) -> list[Span]:
    """Where the agents' parts of a review, whose proposed text is one side of the merge, lie in the merged text."""
    edits: list[Edit] = []
    at = 0
    for piece in merged.pieces:
        own = piece.ours if ours else piece.theirs
        if isinstance(piece, Clean) and piece.text != own:
            edits.append(Edit(at, own, piece.text))
        at += len(own)
    others = Change(tuple(edits))
    # Where lines or sentences repeat, a fresh cut, as the result has it, may see the same proposals at other places.
    fresh = cut_parts(review.base, review.proposed, review.working)
    return [
        (others.map(start, after=False), others.map(end, after=True))
        for parts in (review.parts, fresh)
        for start, end in _proposals(parts)
    ]


def _proposals(parts: Iterable[Part]) -> Iterator[Span]:
    """Where in the proposed text agents have a say."""
    at = 0
    for part in parts:
        end = at + len(part.proposed)
        if part.proposed != part.base:
            yield at, end
        at = end
