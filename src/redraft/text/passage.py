"""A passage that is followed through changes of its text: the anchor of a comment.

Where a change is known to the character, `follow` says where the passage's own characters are now. Where it is not,
`find` looks for the passage by its words and what stands beside them. Either gives a place that is right, or None:
where there are two equal passages and nothing tells them apart, the anchor is lost and never moved to the wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.text.edits import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.text.edits import Change

CONTEXT = 40
# A shorter quotation is not known again at another place: too many texts have it.
LONG = 24


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """What a passage says, and what stands right before and behind it."""

    quote: str
    before: str = ""
    after: str = ""

    @staticmethod
    def of(text: str, span: Span) -> QuotedPassage:
        before, after = text[max(0, span.start - CONTEXT) : span.start], text[span.end : span.end + CONTEXT]
        return QuotedPassage(text[span.start : span.end], before, after)


def follow(span: Span, change: Change, text: str) -> Span | None:
    """Where the characters of a passage of `text` are after a change of it; None where all of them are gone. What is
    inserted beside the passage is not part of it. An edit of just the passage puts it in other words; one that replaces
    more leaves it only if the new text contains the same words, once."""
    start, end = change.map(span.start), change.map(span.end, after=False)
    if start < end:
        return Span(start, end)
    around = next((edit for edit in change.edits if edit.at <= span.start and span.end <= edit.end), None)
    quote = text[span.start : span.end]
    if around is None or not quote.strip() or around.old.count(quote) != 1 or around.new.count(quote) != 1:
        return None
    place = change.map(around.at, after=False) + around.new.index(quote)
    return Span(place, place + len(quote))


def find(text: str, passage: QuotedPassage) -> Span | None:
    """Where a passage stands, if there is one place that can be meant: the only one with its neighbours on both sides,
    or, if it is long, the only one at all."""
    if not passage.quote.strip():
        return None
    places = list(_places(text, passage.quote))
    known = [place for place in places if _fits(text, place, passage)]
    if len(known) == 1 or (not known and len(places) == 1 and len(passage.quote) >= LONG):
        place = known[0] if known else places[0]
        return Span(place, place + len(passage.quote))
    return None


def _places(text: str, quote: str) -> Iterator[int]:
    place = text.find(quote)
    while place >= 0:
        yield place
        place = text.find(quote, place + 1)


def _fits(text: str, place: int, passage: QuotedPassage) -> bool:
    return text.endswith(passage.before, 0, place) and text.startswith(passage.after, place + len(passage.quote))
