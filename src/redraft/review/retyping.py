"""What becomes of an agent's edit where the person takes its words out, or types the old ones again."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from redraft.review.runs import USER, Run

if TYPE_CHECKING:
    from collections.abc import Iterator


def return_kept_characters(runs: list[Run]) -> list[Run]:
    """The runs, where the person took out an agent's words: with them go the characters that the agent kept of the old
    words, and the blanks between. They are no words of their own, so the agent's edit is taken to have replaced them
    too: a reject brings the old words back whole. Saved words that the person took out beside them stay out."""
    out: list[Run] = []
    for removed, stretch in groupby(runs, lambda run: not run.in_working):
        some = list(stretch)
        if removed and any(run.is_agents and run.gone == (USER,) for run in some):
            some = list(_give_to_agent(some))
        out += some
    return out


def _give_to_agent(runs: list[Run]) -> Iterator[Run]:
    """See `return_kept_characters`: these runs are a stretch of which the person sees nothing any more."""
    pieces = [run._replace(text=piece) for run in runs for piece in re.findall(r"\s+|\S+", run.text)]
    seen = [index for index, run in enumerate(pieces) if run.gone == (USER,) and run.by != USER and not run.clash]
    marks: dict[int, str] = {}
    for word in _words(pieces, seen):
        mark = next((pieces[index].by for index in word if pieces[index].is_agents), "")
        marks.update(dict.fromkeys(word, mark))
    for place, index in enumerate(seen):
        if pieces[index].text.isspace() and not marks[index]:
            beside = (marks[seen[other]] for other in (place - 1, place + 1) if 0 <= other < len(seen))
            marks[index] = next(filter(None, beside), "")
    for index, run in enumerate(pieces):
        if not run.by and marks.get(index):
            yield run._replace(gone=(marks[index],))
            yield run._replace(by=marks[index])
        else:
            yield run


def _words(pieces: list[Run], seen: list[int]) -> Iterator[list[int]]:
    """The places of pieces that stood together as a word, or as the blanks between two."""
    for _, word in groupby(seen, lambda index: pieces[index].text.isspace()):
        yield list(word)


def restore_retyped(runs: list[Run]) -> list[Run]:
    """Where the person typed again what they, or an agent, had just taken out there, it is as it was: an agent's edit
    of it is refused by that, if nothing else of the edit is left to see."""
    for index, run in enumerate(runs):
        if run.by != USER or run.gone or run.clash:
            continue
        for other in _hidden_beside(runs, index):
            hidden = runs[other]
            if hidden.text == run.text and hidden.by != USER and not hidden.clash and not hidden.is_agents:
                refused = [mark for mark in hidden.marks if not _is_seen(runs, mark)]
                if len(refused) == len(hidden.marks):
                    restored = [
                        each._replace(gone=()) if place == other else each
                        for place, each in enumerate(runs)
                        if place != index and not (each.is_agents and each.by in refused)
                    ]
                    return restore_retyped(restored)
            elif hidden.is_agents and hidden.text == run.text and hidden.gone == (USER,) and not hidden.clash:
                restored = [each.without(USER) if place == other else each for place, each in enumerate(runs)]
                return [each for place, each in enumerate(restored) if place != index]
    return runs


def _hidden_beside(runs: list[Run], index: int) -> Iterator[int]:
    """The runs that nobody sees right before and behind a place."""
    for step in (-1, 1):
        place = index + step
        while 0 <= place < len(runs) and not runs[place].in_working:
            yield place
            place += step


def _is_seen(runs: list[Run], mark: str) -> bool:
    return any(run.by == mark and run.in_working for run in runs)
