"""Who wrote which line: each line of a document, and the turn that it is from.

`blamed` is pure: it follows the lines through a series of texts. `revisions` reads the series from the history, as far
back as it goes and along the document's moves. A line that is older than the history, or was written by another program
or is not saved yet, is nobody's. What an agent proposed and a person accepted is the agent's; what was taken back is
from the turn that took it back.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from redraft.history.turns import State
from redraft.text.matching import changed_lines
from redraft.workspace.rollback import turn_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.history.turns import FileStep, TurnRecord
    from redraft.workspace.engine import Engine

# A document with a longer history is followed through its latest turns; what is older is nobody's.
MAX_TURNS = 500
PAGE = 50


class Revision(NamedTuple):
    """What a document said, and the turn that made it so; None where no turn did."""

    turn: int | None
    text: str


class Stretch(NamedTuple):
    """Lines that follow one another and are from one turn. `start` counts from 0."""

    turn: int | None
    start: int
    lines: int


def blamed(revisions: Iterable[Revision]) -> list[int | None]:
    """For each line of the last text, the turn that it is from. A line is from the last turn that changed it."""
    before, owners = "", list[int | None]()
    for turn, text in revisions:
        kept, at = list[int | None](), 0
        for region in changed_lines(before, text):
            kept += owners[at : region.old_start]
            kept += [turn] * (region.new_end - region.new_start)
            at = region.old_end
        before, owners = text, kept + owners[at:]
    return owners


def stretches(owners: list[int | None]) -> list[Stretch]:
    found = list[Stretch]()
    for at, turn in enumerate(owners):
        if found and found[-1].turn == turn:
            found[-1] = found[-1]._replace(lines=found[-1].lines + 1)
        else:
            found.append(Stretch(turn, at, 1))
    return found


def revisions(engine: Engine, path: str, text: str) -> list[Revision]:
    """The texts of a document in their order, up to `text`, which is what it says now."""
    found = [Revision(None, text)]
    for turn, step in islice(_written(engine, path), MAX_TURNS):
        old, new = next((old, new) for name, old, new in turn_texts(engine, turn) if name == step.path)
        found += [Revision(_origin(turn), new), Revision(None, old)]
    return found[::-1]


def _written(engine: Engine, path: str) -> Iterator[tuple[TurnRecord, FileStep]]:
    """The turns that wrote a document, the newest first, back to the one that made it."""
    where, before = path, None
    while page := engine.turns.recent(limit=PAGE, path=where, before=before):
        for turn in page:
            before = turn.id
            step = next((step for step in turn.files if step.path == where), None)
            if step is None or turn.state not in (State.APPLIED, State.UNDONE):
                continue  # it was only proposed, or nothing came of it
            if turn.pruned or step.after is None:
                return  # what had the name before was deleted, or is too long ago
            yield turn, step
            if step.before is None and step.moved_from is None:
                return
            if step.moved_from is not None:
                where = step.moved_from
                break


def _origin(turn: TurnRecord) -> int:
    return turn.source if turn.kind == "accept" and turn.source is not None else turn.id


def blame(engine: Engine, path: str, text: str) -> list[Stretch]:
    """Who wrote the lines of a document that says `text` now."""
    return stretches(blamed(revisions(engine, path, text)))
