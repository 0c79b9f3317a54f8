"""What a decision took of a review, character by character: which of the turns in it changed words of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.review.blanks import save_blanks
from redraft.review.runs import USER, turn_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.review.review import Part, Review
    from redraft.review.runs import Run
    from redraft.workspace.turns.edit_positions import EditPosition


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A review before a decision, and what of it went into the file."""

    review: Review
    taken: frozenset[str]  # the hunks that were accepted
    typing: frozenset[str]  # the parts of which only the person's typing was saved
    pending: frozenset[str]  # the agents' edits that still waited afterwards

    @staticmethod
    def of(before: Review, after: Review | None, places: Iterable[EditPosition]) -> Acceptance:
        written = {(place.hunk, bool(place.mark)) for place in places}
        before = save_blanks(before, (hunk for hunk, _ in written))
        left = {part.id for part in after.parts} if after else set[str]()
        # A hunk that only took out what was typed and not saved was written nowhere, nor were words that one turn put
        # in and another took out.
        decided = {part.id for part in before.parts if part.marks and part.id not in left and _is_decided(part)}
        taken = frozenset(hunk for hunk, of_agent in written if of_agent) | decided
        typing = frozenset(hunk for hunk, _ in written) - taken
        untouched = {part.id for part in before.parts} - taken  # an edit may have pieces in several parts
        waiting = [part for part in after.parts if part.id not in untouched] if after else []
        pending = frozenset(mark for part in waiting for mark in part.marks)
        return Acceptance(before, taken, typing, pending)

    def text(self) -> str:
        """What the decision left in the file."""
        return "".join([run.text for part in self.review.parts for run in part.runs if self._has(part, run)])

    def later_turns(self, turn: str) -> set[str]:
        """The turns, accepted in the same decision, that later changed words of this one."""
        found: set[str] = set()
        for part in self.review.parts:
            if part.id in self.taken:
                waiting = {turn_of(mark) for mark in part.marks if mark in self.pending}
                found |= part.find_entangled_turns(turn).later - waiting
        return found

    def _has(self, part: Part, run: Run) -> bool:
        """Whether the file has a run."""
        if part.id not in self.taken:
            return run.in_own if part.id in self.typing else not run.by
        if any(mark != USER and mark not in self.pending for mark in run.gone):
            return False
        if run.is_agents:
            return run.by not in self.pending and USER not in run.gone
        if self.pending.isdisjoint(part.marks):
            return USER not in run.gone
        return not run.by  # only one of the turns in the hunk was accepted: typing waits with the others


def _is_decided(part: Part) -> bool:
    """Whether a decision about all there is takes this part. What the person wrote over again is refused by that."""
    return part.is_hunk or not any(USER in (run.by, *run.gone) for run in part.runs)
