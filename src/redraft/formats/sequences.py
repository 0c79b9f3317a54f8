"""Which of a family's numbered lines are headings: those that count.

A family is all markers of one form. Headings count up from 1 and begin again under a new part; a mention in prose, a
list and a line of a poem do not fit. `chain` finds the best such sequence in one pass. Nothing here reads text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.markers import Marker

# What a step costs, where a marker that fits earns 1. A number left out is a heading that was overlooked; to begin
# again earns nothing unless at least two markers follow.
_SKIP = 0.6
_AGAIN = 0.9
_MOST_SKIPPED = 3
# A later start means that something is missing, and soon that this is no sequence at all.
_LATE_START = 0.4


@dataclass(slots=True)
class _Link:
    marker: Marker
    score: float
    before: _Link | None


def chain(family: Sequence[Marker], dividers: Sequence[int] = ()) -> list[Marker]:
    """The best sequence in a family, in the order of lines; `dividers` are lines where numbers may begin again."""
    best: _Link | None = None
    latest: dict[int, _Link] = {}
    places = iter(sorted(dividers))
    divider = next(places, None)
    divided = False
    for marker in family:
        while divider is not None and divider <= marker.line:
            divided, divider = True, next(places, None)
        link = _extend(marker, latest, best, 0.0 if divided else _AGAIN)
        rival = latest.get(marker.number)
        if rival is None or link.score >= rival.score:
            latest[marker.number] = link
        if best is None or link.score >= best.score:
            best = link
        divided = divided and marker.number != 1
    return _unroll(best)


def _extend(marker: Marker, latest: dict[int, _Link], best: _Link | None, again: float) -> _Link:
    options: list[tuple[float, _Link | None]] = [(1 - _LATE_START * (marker.number - 1), None)]
    options += [
        (before.score + 1 - _SKIP * (step - 1), before)
        for step in range(1, _MOST_SKIPPED + 1)
        if (before := latest.get(marker.number - step))
    ]
    if best is not None and marker.number == 1:
        options.append((best.score + 1 - again, best))
    score, before = max(options, key=lambda option: option[0])
    return _Link(marker, score, before)


def _unroll(link: _Link | None) -> list[Marker]:
    found: list[Marker] = []
    while link is not None:
        found.append(link.marker)
        link = link.before
    return found[::-1]
