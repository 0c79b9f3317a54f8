"""A hunk that is too large to be judged at once, cut in two by the person (agent-sidebar, section 23). Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.review.review import Review, tidy

if TYPE_CHECKING:
    from redraft.review.review import Part


def split(review: Review, name: str, at: int, base_at: int | None = None) -> Review:
    """The review with this hunk of an agent's as two: what it puts in is cut at `at`, what it takes out at `base_at`
    (by default the first hunk takes out all of it). No text changes; each half is decided by itself from now on."""
    review.chosen([name])
    parts: list[Part] = []
    for part in review.parts:
        parts += _halves(part, at, len(part.base) if base_at is None else base_at) if part.id == name else [part]
    return Review(tidy(parts))


def _halves(part: Part, at: int, base_at: int) -> list[Part]:
    if part.author != "agent":
        raise Refused("Only a hunk that is all an agent's can be split.", hunk_id=part.id)
    for text, place in ((part.working, at), (part.base, base_at)):
        if not 0 <= place <= len(text) or text[place - 1 : place + 1] == "\r\n":
            raise Refused(f"There is no place {place} to split the hunk at.", hunk_id=part.id, at=place)
    halves = [(part.base[:base_at], part.working[:at]), (part.base[base_at:], part.working[at:])]
    if ("", "") in halves:
        raise Refused("One half of the hunk would be empty.", hunk_id=part.id)
    return [replace(part, base=base, proposed=working, working=working, id="") for base, working in halves]
