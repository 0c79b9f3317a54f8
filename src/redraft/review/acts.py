"""What can happen to a review: a decision, typing, an agent's turn, a change of the file from outside.

Each act takes a review and gives a new one. Decisions touch only their own part, so their order cannot matter. No act
of an agent drops a character that the person typed: before an agent's turn changes a stretch the person worked in, the
person's own version of that stretch becomes its base, and so is what a reject brings back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from redraft.review.both import both, with_both
from redraft.review.review import Part, Review, cut_parts, tidy
from redraft.text.edits import Change
from redraft.text.merge import Clean, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.text.merge import Merge

    Redo = Callable[[Sequence["Part"], int, list["Touch"]], list["Part"]]


def accept(review: Review, ids: Iterable[str]) -> Review:
    """Take the chosen hunks, as they stand in working, into base."""
    return _decide(review, ids, lambda part: Part(part.working, part.working, part.working))


def reject(review: Review, ids: Iterable[str]) -> Review:
    """Bring base back; in a hunk that the person typed into, take back the agent's part alone."""
    return _decide(review, ids, _rejected)


def take(review: Review, ids: Iterable[str]) -> Review:
    """Settle a conflict for the agent: its proposal becomes the working text, still to be accepted."""
    return _decide(review, ids, lambda part: replace(part, working=part.proposed, conflict=False))


def resolve(review: Review, name: str, text: str) -> Review:
    """Settle a hunk with a text of the person's own, accepted at once."""
    return _decide(review, [name], lambda part: Part(text, text, text))


def accept_all(review: Review) -> Review:
    return accept(review, [hunk.id for hunk in review.hunks])


def reject_all(review: Review) -> Review:
    """Reject everything of an agent's. The person's own hunks stand."""
    return reject(review, [hunk.id for hunk in review.hunks if hunk.author in ("agent", "mixed")])


def type_into(review: Review, change: Change) -> Review:
    """The person edits the working text."""
    change.apply(review.working)  # refuses a change that was made for another text
    touches = [Touch(edit.at, edit.at + len(edit.old), edit.new) for edit in change.edits]
    return _retouch(review, touches, _typed)


def agent_turn(review: Review, seen: str, result: str, turn: str) -> Review:
    """An agent that was shown `seen` made `result` of it; the person may have typed on meanwhile.

    Where only the agent changed the text, working follows the agent. Where both did, working keeps the person's text
    and the agent's stands beside it as `proposed`, marked as a conflict.
    """
    touches: list[Touch] = []
    at = 0
    for piece in merge(seen, review.working, result).pieces:
        ours = piece.ours
        if not isinstance(piece, Clean):
            touches.append(Touch(at, at + len(ours), piece.theirs, conflict=True))
        elif piece.side == "theirs" and piece.text != piece.base:
            touches.extend(_narrowed(at, piece.base, piece.text))
        at += len(ours)
    conflicts = [touch for touch in touches if touch.conflict]
    apart = Review(_cut_out(review.parts, review.working, conflicts)) if conflicts else review
    return _retouch(apart, touches, lambda parts, at, some: _by_agent(parts, at, some, turn))


def outside_change(review: Review, saved: str, disk: str) -> Review:
    """The file went from `saved` to `disk` by somebody else's hand: all three texts follow; typing is kept.

    Where both changed the same words both are kept, and the place is marked as a conflict. If an agent's proposal is
    pending there as well, it stands beside as in `agent_turn`, and working is the person's text with the other's.
    """
    working = merge(saved, review.working, disk)
    base, proposed = (with_both(merge(saved, text, disk)) for text in (review.base, review.proposed))
    parts = review.recut(base, proposed, with_both(working)) or [Part("", "", "")]
    clashes = _clashes(working)
    for first, last in reversed(_widened(parts, clashes)):
        parts[first:last] = _clashing(parts[first:last])
    after = Review(tidy(parts))
    own = with_both(merge(saved, review.to_save, disk))
    if after.to_save != own:
        # The pieces do not add up to what the person has by now. That comes first: all that is proposed stands beside.
        beside = review.recut(base if proposed == base else own, proposed, own)
        return Review(tidy(replace(part, conflict=not part.same) for part in beside))
    return after


def without_file(review: Review, saved: str) -> Review:
    """The file, which held `saved`, was taken away: what an agent proposed is to be made anew. Where the person has
    typed what is not in the file, all that they have is theirs from now on, and a proposal to change it stands beside.
    """
    if review.proposed == review.base:
        return Review(tidy(review.recut("", "", review.working)))
    if review.to_save == saved:
        return Review(tidy(review.recut("", review.proposed, review.working)))
    parts: list[Part] = []
    for part in review.parts:
        own, _ = part.persons_own()
        if not part.is_hunk or part.proposed in (part.base, ""):
            parts.append(Part("", "", own))
        else:
            parts.append(replace(part, base="", working=own or part.working, conflict=bool(own)))
    return Review(tidy(parts))


def _widened(parts: Sequence[Part], clashes: list[Touch]) -> list[tuple[int, int]]:
    """The runs of parts on which a clash falls, with every changed part beside them: they are judged together."""
    runs: list[tuple[int, int]] = []
    for first, last, _ in _groups(parts, clashes):
        while first > 0 and not parts[first - 1].same:
            first -= 1  # noqa: PLW2901
        while last < len(parts) and not parts[last].same:
            last += 1  # noqa: PLW2901
        if runs and first <= runs[-1][1]:
            first = runs.pop()[0]  # noqa: PLW2901
        runs.append((first, last))
    return runs


def _clashing(parts: Sequence[Part]) -> list[Part]:
    """Mark a run of parts; an agent's proposal among them stands beside the text of the person and the other."""
    if all(part.proposed == part.base for part in parts):
        return [replace(part, conflict=True) for part in parts]
    own = "".join(part.persons_own()[0] for part in parts)
    return [Part(own, "".join(part.proposed for part in parts), own, conflict=True, turn=_last_turn(parts))]


@dataclass(frozen=True, slots=True)
class Touch:
    """A stretch of the working text and what is to stand there (or, in a conflict, what the agent would put there)."""

    start: int
    end: int
    new: str
    conflict: bool = False


def _rejected(part: Part) -> Part:
    if part.author in ("agent", "user") and not part.conflict:
        return Part(part.base, part.base, part.base)
    if part.author == "user":
        return Part(part.base, part.base, part.base)
    own, inseparable = part.persons_own()
    return replace(part, proposed=part.base, working=own, conflict=inseparable)


def _decide(review: Review, ids: Iterable[str], act: Callable[[Part], Part]) -> Review:
    wanted = review.chosen(ids)
    after = Review(tidy(act(part) if part.id in wanted and part.is_hunk else part for part in review.parts))
    return after if after.pending else _without_traces(after)


def _without_traces(review: Review) -> Review:
    """Nothing of an agent's is left to decide: neither is what the person wrote over again, which no hunk shows."""
    return Review(tidy(part if part.is_hunk else Part(part.base, part.base, part.base) for part in review.parts))


def _narrowed(at: int, old: str, new: str) -> list[Touch]:
    return [Touch(at + edit.at, at + edit.at + len(edit.old), edit.new) for edit in Change.between(old, new).edits]


def _clashes(merged: Merge) -> list[Touch]:
    """Where the conflicts lie in the text that `with_both` gives."""
    clashes: list[Touch] = []
    at = 0
    for piece in merged.pieces:
        length = len(piece.text if isinstance(piece, Clean) else both(piece))
        if not isinstance(piece, Clean):
            clashes.append(Touch(at, at + length, ""))
        at += length
    return clashes


def _retouch(review: Review, touches: list[Touch], redo: Redo) -> Review:
    """Cut anew only the parts on which a touch falls; every other part stays as it is, id and all."""
    before = review.parts or (Part("", "", ""),)
    after: list[Part] = []
    done = at = 0
    for first, last, some in _groups(before, touches):
        at += sum(len(part.working) for part in before[done:first])
        after += before[done:first]
        after += redo(before[first:last], at, some)
        at += sum(len(part.working) for part in before[first:last])
        done = last
    return Review(tidy([*after, *before[done:]]))


def _typed(parts: Sequence[Part], at: int, touches: list[Touch]) -> list[Part]:
    base, proposed, working = _joined(parts)
    working = _carry_out(working, at, touches)
    if any(part.conflict for part in parts):
        return [Part(base, proposed, working, conflict=True, turn=_last_turn(parts))]
    return cut_parts(base, proposed, working, _last_turn(parts))


def _by_agent(parts: Sequence[Part], at: int, touches: list[Touch], turn: str) -> list[Part]:
    """What the person wrote here becomes base, so that rejecting the agent's new text brings it back."""
    own = "".join(part.persons_own()[0] for part in parts)
    _, _, working = _joined(parts)
    proposed = _carry_out(working, at, touches)
    if any(touch.conflict for touch in touches):
        # The new proposal stands for whatever was pending here; the person sees their own text until they choose.
        return [Part(own, proposed, own, conflict=True, turn=turn)]
    return cut_parts(own, proposed, proposed, turn)


def _groups(parts: Sequence[Part], touches: list[Touch]) -> list[tuple[int, int, list[Touch]]]:
    """Runs of parts `[first, last)` with the touches that fall on them, in order and apart from each other."""
    starts = [0, *accumulate(len(part.working) for part in parts)]
    groups: list[tuple[int, int, list[Touch]]] = []
    for touch in touches:
        first, last = _range(parts, starts, touch)
        if groups and first < groups[-1][1]:
            earlier, end, some = groups.pop()
            groups.append((min(earlier, first), max(end, last), [*some, touch]))
        else:
            groups.append((first, last, [touch]))
    return groups


def _range(parts: Sequence[Part], starts: list[int], touch: Touch) -> tuple[int, int]:
    if touch.start < touch.end:
        first = bisect_right(starts, touch.start) - 1
        return first, bisect_left(starts, touch.end)
    # An insertion between two parts goes to the one in which nothing is pending, so that it is judged by itself.
    low = max(bisect_left(starts, touch.start) - 1, 0)
    high = min(bisect_right(starts, touch.start), len(parts))
    inside = [index for index in range(low, high) if starts[index] <= touch.start <= starts[index + 1]]
    first = next((index for index in inside if parts[index].same != touch.conflict), inside[-1])
    return first, first + 1


def _cut_out(parts: Sequence[Part], working: str, conflicts: list[Touch]) -> tuple[Part, ...]:
    """Cut the lines of each conflict out of the unchanged parts, so that a conflict is no larger than its lines."""
    points = set[int]()
    for touch in conflicts:
        points.add(working.rfind("\n", 0, touch.start) + 1)
        end = working.find("\n", touch.end)
        points.add(len(working) if end < 0 else end + 1)
    pieces: list[Part] = []
    at = 0
    for part in parts:
        end = at + len(part.working)
        inner = sorted(point - at for point in points if at < point < end) if part.same else []
        for start, stop in pairwise([0, *inner, end - at]):
            text = part.working[start:stop]
            pieces.append(Part(text, text, text) if inner else part)
        at = end
    return tuple(pieces)


def _carry_out(working: str, at: int, touches: list[Touch]) -> str:
    for touch in reversed(touches):
        working = working[: touch.start - at] + touch.new + working[touch.end - at :]
    return working


def _joined(parts: Sequence[Part]) -> tuple[str, str, str]:
    return (
        "".join(part.base for part in parts),
        "".join(part.proposed for part in parts),
        "".join(part.working for part in parts),
    )


def _last_turn(parts: Sequence[Part]) -> str:
    return next((part.turn for part in reversed(parts) if part.turn), "")
