"""Characters that a file had or has, as the history tells of them, and what a turn did to them.

A gap is a place between two characters of the file: what a review has there that is not in the file, and the tombstones
of what was there once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from redraft.review.runs import USER, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from redraft.review.review import Review
    from redraft.review.runs import Run
    from redraft.text.edits import Change

# Beyond so many characters of tombstones and pending words at one place, only equal beginnings and ends are matched.
MAX_GAP = 2_000


@dataclass(slots=True)
class HistoryRun:
    """Characters that share one fate, in the file or not."""

    text: str
    here: bool  # whether the file has it
    by: str = ""  # who put it in, as a run says it
    gone: tuple[str, ...] = ()  # by whom it was taken out in a review, accepted or not
    pending: bool = False  # whether the review has it and the file has not
    part: str = ""  # the part of the review in which it waits
    accepted: bool = False  # whether it is gone because a decision took what a turn did to it
    removed: tuple[str, ...] = ()  # by whom it was taken out when that was accepted last
    changed: tuple[int, int] | None = None  # the turn, and its edit, that took it out other than by a decision
    taken: int = 0  # the turn that took it out of the file last
    added: bool = False  # whether nobody knows where it stands among the tombstones beside it
    maybe: frozenset[str] = frozenset()  # turns whose words it may be: an undo put it in, and no tombstone says it

    def cut_blank(self) -> tuple[HistoryRun, HistoryRun]:
        """The piece without the blank that it ends with, and that."""
        return self.split(len(self.text) - (2 if self.text.endswith("\r\n") else 1))

    def split(self, at: int) -> tuple[HistoryRun, HistoryRun]:
        return replace(self, text=self.text[:at]), replace(self, text=self.text[at:])


class FileChange(NamedTuple):
    """What a turn did to the file. A decision has the mark of each edit, empty for typing, and the part of the review
    that it took; an undo or a rollback names the turns that it took back by their tokens, and the turn that it is
    about."""

    turn: int
    change: Change
    marks: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    undone: AbstractSet[str] | None = None
    source: int | None = None
    scoped: bool = False  # a rollback takes back whole hunks, also what nobody saw in them
    withdrawn: str = ""  # the proposal that an undo took back whole
    blanks: Mapping[int, int] = {}  # of edits that save a blank: how much of what waits there begins with it
    at_once: bool = False  # whether the edits of the marks went into the file without a decision
    inverts: int | None = None  # the turn that an undo or a rollback takes back, which may be one itself

    def matcher(self, mark: str, taken: Sequence[HistoryRun] = ()) -> Callable[[HistoryRun], bool]:
        """Tells which tombstones a text may be that an edit puts in. An undo also puts back what it has `taken` out
        together with words of the turn, and which is nobody's or another's."""
        if mark:
            return lambda piece: piece.by == mark and piece.pending
        undone, source, inverts = self.undone, self.source, self.inverts
        if undone is None:
            return lambda piece: piece.by == USER and piece.pending
        kept = {id(piece) for piece in taken if turn_of(piece.by) not in undone}
        return lambda piece: (
            id(piece) in kept
            or any(turn_of(each) in undone for each in (piece.by, *piece.gone, *piece.removed))
            or (piece.changed is not None and piece.changed[0] == source)
            or piece.taken == inverts
        )

    def matchers(self, index: int, taken: Sequence[HistoryRun]) -> tuple[Callable[[HistoryRun], bool], ...]:
        """The same of one of the edits, the narrowest first: what it takes of its own part of the review, and what a
        rollback brings back that the turns which it takes back did not put in themselves."""
        widest = self.matcher(self.marks[index] if self.marks else "", taken)
        part, undone = self.parts[index] if self.parts else "", self.undone
        if part:
            return (lambda piece: piece.part == part and widest(piece)), widest
        if self.scoped and undone is not None:
            return (lambda piece: turn_of(piece.by) not in undone and widest(piece)), widest
        return (widest,)

    def sign(self, taken: Sequence[HistoryRun], index: int) -> None:
        """Note by whom pieces are gone that one of the edits took out."""
        for piece in taken:
            piece.taken = self.turn
            if self.marks and self.marks[index]:
                if self.at_once:
                    piece.gone = (*piece.gone, self.marks[index])
                piece.accepted, piece.removed = True, piece.gone
            elif self.undone is None:
                piece.changed = (self.turn, index)
            elif not self.undone.isdisjoint(map(turn_of, piece.removed)):
                piece.accepted, piece.gone = True, piece.removed


def gaps_of(review: Review) -> Iterator[tuple[list[HistoryRun], Run | None]]:
    """Each character stretch of the file with what the review has in the gap before it; None behind the last gap."""
    gap: list[HistoryRun] = []
    for part in review.parts:
        for run in part.runs:
            if run.by:
                gap.append(HistoryRun(run.text, here=False, by=run.by, gone=run.gone, pending=True, part=part.id))
            else:
                yield gap, run
                gap = []
    yield gap, None


def zip_gaps(
    pieces: list[tuple[list[HistoryRun], HistoryRun | None]], runs: list[tuple[list[HistoryRun], Run | None]]
) -> Iterator[tuple[tuple[list[HistoryRun], HistoryRun | None], tuple[list[HistoryRun], Run | None]]]:
    """Both, cut to the same lengths."""
    left, right = iter(pieces), iter(runs)
    (gap, piece), (between, run) = next(left), next(right)
    while piece is not None and run is not None:
        length = min(len(piece.text), len(run.text))
        head, tail = (piece, None) if len(piece.text) == length else piece.split(length)
        yield (gap, head), (between, run._replace(text=run.text[:length]))
        gap, between = [], []
        if tail is not None and tail.text:
            piece = tail
        else:
            gap, piece = next(left)
        if len(run.text) > length:
            run = run._replace(text=run.text[length:])
        else:
            between, run = next(right)
    yield (gap, None), (between, None)


def merge_gap(gap: list[HistoryRun], runs: list[HistoryRun], *, accepts: bool) -> list[HistoryRun]:
    """The tombstones at one place with what a review has there that is not in the file."""
    if not gap:
        return runs
    known: list[Hashable]
    now: list[Hashable]
    if accepts:  # what a decision leaves waits as it did, and all of it has waited before
        known = [(char, piece.by, piece.gone, piece.pending) for piece in gap for char in piece.text]
        now = [(char, run.by, run.gone, True) for run in runs for char in run.text]
    else:
        # What a decision took comes back to a review only as it was; typing that is new is not the same.
        final = {(piece.by, piece.gone) for piece in gap if piece.accepted and not piece.pending}
        known = [(char, piece.by, piece.accepted and not piece.pending) for piece in gap for char in piece.text]
        now = [(char, run.by, bool(run.gone) and (run.by, run.gone) in final) for run in runs for char in run.text]
    out: list[HistoryRun] = []
    for piece, run in _align(_letters(gap), _letters(runs), known, now):
        if run is not None:
            found = run
        elif piece is not None:
            taken = accepts and piece.pending and bool(piece.gone)
            found = replace(piece, pending=False, accepted=piece.accepted or taken)
            found.removed = piece.gone if taken else piece.removed
        else:
            continue
        last = out[-1] if out else None
        if last is not None and replace(last, text="") == replace(found, text=""):
            last.text += found.text
        else:
            out.append(found)
    return out


def _letters(gap: list[HistoryRun]) -> list[HistoryRun]:
    return [replace(piece, text=char) for piece in gap for char in piece.text]


def _align(
    pieces: list[HistoryRun], runs: list[HistoryRun], known: Sequence[Hashable], now: Sequence[Hashable]
) -> Iterator[tuple[HistoryRun | None, HistoryRun | None]]:
    """Letter by letter, those that are the same side by side. What is new comes first."""
    done = seen = 0
    if len(known) + len(now) > MAX_GAP and known != now:
        start = 0
        while start < min(len(known), len(now)) and known[start] == now[start]:
            start += 1
        blocks = [(0, 0, start), (len(known), len(now), 0)]
    else:
        blocks = SequenceMatcher(None, known, now, autojunk=False).get_matching_blocks()
    for first, second, size in blocks:
        yield from ((None, run) for run in runs[seen:second])
        yield from ((piece, None) for piece in pieces[done:first])
        yield from zip(pieces[first : first + size], runs[second : second + size], strict=True)
        done, seen = first + size, second + size
