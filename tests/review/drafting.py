"""Random reviews: texts, an agent's rewriting, and a person who types words that can be recognised again."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field

from hypothesis import strategies as st

from redraft.review.operations import accept, apply_agent_turn, reject, save, type_into
from redraft.review.outside_change import apply_outside_change
from redraft.review.review import Review
from redraft.text.edits import Change, Edit
from redraft.text.lines import split_lines

LINES = st.sampled_from(
    [
        "",
        "a",
        "b",
        "- item one",
        "- item two",
        "# Heading",
        "The quick brown fox jumps over the lazy dog.",
        "The quick brown fox leaps over the lazy dog.",
        "| a | b |",
        "```",
        "key: value",
        "𝄞 music and é accents 日本語",
        "One sentence here. Another sentence there! A third? " * 6,
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", ""])


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.tuples(LINES, ENDS), max_size=12))
    return "".join(line + end for line, end in lines)


@st.composite
def rewritings(draw: st.DrawFn, text: str) -> str:
    """What an agent might make of a text: some passages replaced, some lines dropped or added."""
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        text = text[:start] + draw(st.one_of(st.just(""), LINES, documents())) + text[end:]
    return text


@dataclass
class Typist:
    """A person whose every keystroke can be recognised again: each is a character that occurs nowhere else."""

    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(0xE000))
    typed: list[str] = field(default_factory=list[str])

    def type(self, review: Review, at: int, around: str = "") -> Review:
        key = chr(next(self.numbers))
        self.typed.append(key)
        edit = Edit(at % (len(review.working) + 1), "", around + key + around)
        return type_into(review, Change((edit,)))

    def agreed_to(self, review: Review) -> None:
        """The person has accepted something: what is gone or doubled by that is so by their own will."""
        self.typed = [key for key in self.typed if review.to_save.count(key) == 1]

    def check_nothing_lost(self, text: str) -> None:
        lost = [key for key in self.typed if text.count(key) != 1]
        assert not lost, f"{lost} of {self.typed} not once in {text!r}"


@st.composite
def reviews(draw: st.DrawFn) -> tuple[Review, Typist]:
    """A review with a past: agents' turns (some made for a text that is no longer there), typing, saving, decisions and
    another program's changes in any order."""
    review = Review.of(draw(documents()))
    typist = Typist()
    seen = review.working
    for number in range(draw(st.integers(1, 6))):
        act = draw(st.sampled_from(["agent", "agent", "late", "type", "save", "outside", "accept", "reject"]))
        if act == "agent":
            seen = review.working
            review = apply_agent_turn(review, seen, draw(rewritings(seen)), f"turn{number}")
        elif act == "late":
            review = apply_agent_turn(review, seen, draw(rewritings(seen)), f"turn{number}")
        elif act == "save":
            review = save(review)
        elif act == "outside":
            review = apply_outside_change(review, draw(rewritings(review.saved)))
            typist.agreed_to(review)
        elif act == "type":
            review = typist.type(review, draw(st.integers(0, 500)), draw(st.sampled_from(["", " ", "\n"])))
        elif decidable(review, act):
            chosen = draw(st.lists(st.sampled_from(decidable(review, act)), unique=True))
            review = (accept if act == "accept" else reject_of_agents)(review, chosen)
            if act == "accept":
                typist.agreed_to(review)
    return review, typist


def decidable(review: Review, act: str) -> list[str]:
    """The hunks that can be accepted or rejected. Some conflicts have to be settled before they are accepted."""
    return [hunk.id for hunk in review.hunks if act == "reject" or not hunk.unsettled]


def reject_of_agents(review: Review, ids: list[str]) -> Review:
    mine = {hunk.id for hunk in review.hunks if hunk.author == "user"}
    return reject(review, [name for name in ids if name not in mine])


def check_invariants(review: Review) -> None:
    """What must hold of every review."""
    ids = [part.id for part in review.parts if part.id]
    assert len(ids) == len(set(ids)), "two parts share an id"
    assert all(part.id for part in review.parts if part.is_hunk), "a hunk has no id"
    pairs = itertools.pairwise(review.parts)
    assert not any(left.same and right.same for left, right in pairs), "two equal parts lie side by side"
    again = Review.from_cuts(review.text, json.loads(json.dumps(review.cuts())))
    assert again == review, "the cuts do not give the review back"
    for hunk in review.hunks:
        assert review.working.startswith(hunk.working, hunk.working_at), "a hunk is not where it says"
        *lines, line = split_lines(review.working[: hunk.working_at] + "|")
        assert (hunk.working_line, hunk.working_column) == (len(lines), len(line) - 1), "its line is another"
