"""Blanks that the person typed and has not saved, and that part the words of an accepted hunk from their neighbours.

Accepting a hunk saves no typing beside it. But where an agent replaced a word that the person had typed, the blank
behind it is theirs: without it, the words on the disk would run together. So such a blank is saved with the hunk. It is
named by its part and its place there, so that the history can tell it from the rest of what was typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.review.review import Part, Review, join_parts
from redraft.review.runs import USER, Run, turn_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def blanks_to_save(review: Review, ids: Iterable[str], turn: str = "") -> set[str]:
    """The names of the blanks to save with these hunks, of which one `turn` alone may be accepted."""
    wanted, found = set(ids), set[str]()
    last = ""  # what the disk then has in front of the run at hand
    new = False  # whether the two of them did not meet before
    blank = ""
    for part in review.parts:
        taken = part.id in wanted
        at = 0
        for run in part.runs:
            if _is_saved_after(part, run, turn) if taken else not run.by:
                new = new or bool(run.by)
                if new and blank and last.isalnum() and run.text[0].isalnum():
                    found.add(blank)
                last, new, blank = run.text[-1], bool(run.by), ""
            elif not run.by:
                new = True
            elif run == Run(run.text, USER) and not taken and not part.marks and not part.conflict:
                places = (at + place for place, char in enumerate(run.text) if char.isspace())
                blank = blank or next((f"{part.id}.{place}" for place in places), "")
            at += len(run.text)
    return found


def _is_saved_after(part: Part, run: Run, turn: str) -> bool:
    if not turn or turn not in part.turns or len(part.turns) == 1:
        return run.in_working
    mine = [mark for mark in run.marks if turn_of(mark) == turn]
    return run.by in ("", *mine) and not any(mark in run.gone for mark in mine) and (not run.by or USER not in run.gone)


def set_blanks_apart(review: Review, names: Iterable[str]) -> Review:
    """The review with each of these blanks as a part by itself, under its name."""
    places: dict[str, list[int]] = {}
    for name in names:
        hunk, _, place = name.rpartition(".")
        if hunk:
            places.setdefault(hunk, []).append(int(place))
    if not places:
        return review
    parts: list[Part] = []
    for part in review.parts:
        parts += _cut(part, sorted(places[part.id])) if part.id in places else [part]
    return Review(join_parts(parts, review.parts))


def _cut(part: Part, blanks: list[int]) -> Iterator[Part]:
    """The part, these of its characters as parts by themselves."""
    name, done = part.id, 0
    for place in blanks:
        if place > done:
            yield Part(tuple(_slice(part, done, place)), name)
            name = ""
        yield Part(tuple(_slice(part, place, place + 1)), f"{part.id}.{place}")
        done = place + 1
    rest = tuple(_slice(part, done, sum(len(run.text) for run in part.runs)))
    if rest:
        yield Part(rest, name)


def _slice(part: Part, start: int, end: int) -> Iterator[Run]:
    at = 0
    for run in part.runs:
        text = run.text[max(start - at, 0) : max(end - at, 0)]
        if text:
            yield run._replace(text=text)
        at += len(run.text)
