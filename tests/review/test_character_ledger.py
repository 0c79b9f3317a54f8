"""Every character tells where it comes from, so that a result can be judged without knowing how it was made.

The document is written in small letters, agents write in capitals (each turn in its own), the person types digits.
Words repeat all the time. After any mix of turns, typing and deletions by the person, a reject must leave every small
letter that the person did not delete, in order, every digit that they typed and did not delete, and no capital letter.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from redraft.review.operations import (
    accept,
    apply_agent_turn,
    discard_typing,
    reject,
    reject_all,
    save,
    type_into,
    withdraw,
)
from redraft.review.review import Review
from redraft.text.edits import Change, Edit
from tests.review.drafting import check_invariants

ROUNDS = 10_000 if os.environ.get("REDRAFT_TORTURE") else 400
WORDS = ("ab", "abc", "ab", "de", "f", "abab")


@dataclass
class Ledger:
    """What the person may expect, kept beside the review."""

    random: random.Random
    review: Review
    base: str
    typed: Counter[str] = field(default_factory=Counter[str])
    deleted: Counter[str] = field(default_factory=Counter[str])
    ever: Counter[str] = field(default_factory=Counter[str])
    exact: bool = True  # whether it is known, to the character, what the agents did
    retyped: bool = False  # whether the person took out anything of an agent's
    number: int = 0

    def agent(self) -> None:
        """An agent replaces, deletes and inserts words, with capital letters of its own."""
        self.number += 1
        letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[self.number % 26]
        text = self.review.working
        edits: list[Edit] = []
        at = 0
        for _ in range(self.random.randint(1, 3)):
            start = self.random.randint(at, len(text))
            end = min(len(text), start + self.random.choice([0, 0, 1, 3, 8]))
            new = self.random.choice(["", letter, letter * 3, f"{letter}{letter}_{letter}"])
            if new or end > start:
                edits.append(Edit(start, text[start:end], new))
            at = end
        change = Change(tuple(edits))
        calls = [change] if self.random.random() < 0.5 else []
        self.exact = self.exact and bool(calls)
        self.review = apply_agent_turn(self.review, text, change.apply(text), f"turn{self.number}", calls)

    def type(self) -> None:
        """The person types digits, sometimes over a letter or two, whoever wrote them."""
        text = self.review.working
        start = self.random.randint(0, len(text))
        end = min(len(text), start + self.random.choice([0, 0, 0, 1, 2]))
        new = "".join(self.random.choice("0123456789") for _ in range(self.random.randint(0, 3)))
        if new or end > start:
            self.typed += Counter(new)
            self.ever += Counter(new)
            taken = Counter(text[start:end])
            self.retyped = self.retyped or any(char.isupper() or char == "_" for char in taken)
            self.typed -= Counter({char: count for char, count in taken.items() if char.isdigit()})
            self.deleted += Counter({char: count for char, count in taken.items() if char.islower() or char in " \n"})
            self.review = type_into(self.review, Change((Edit(start, text[start:end], new),)))

    def check_text(self, text: str) -> None:
        assert not any(char.isupper() or char == "_" for char in text), f"something of the agents': {text!r}"
        digits = Counter(char for char in text if char.isdigit())
        letters = "".join(char for char in text if not char.isdigit())
        left = Counter(self.base) - self.deleted
        # Where an agent wrote a whole text, the person may have deleted the copy of a character that it wrote: then the
        # character itself comes back. So does one that stood within words of an agent's that the person took out. More
        # may be there than expected, never less.
        assert digits == self.typed if self.exact else self.typed <= digits <= self.ever, (
            f"typed {self.typed}: {text!r}"
        )
        exact = self.exact and not self.retyped
        assert Counter(letters) == left if exact else left <= Counter(letters), f"of {self.base!r} is {letters!r}"
        rest = iter(self.base)
        assert all(char in rest for char in letters), f"not in the order of {self.base!r}: {letters!r}"


def begin(seed: int) -> Ledger:
    chance = random.Random(seed)
    base = "".join(chance.choice(WORDS) + chance.choice([" ", " ", "\n"]) for _ in range(chance.randint(0, 14)))
    return Ledger(chance, Review.of(base), base)


def run(seed: int, acts: int) -> Ledger:
    ledger = begin(seed)
    for _ in range(acts):
        ledger.random.choice([ledger.agent, ledger.type, ledger.type])()
        check_invariants(ledger.review)
    return ledger


@pytest.mark.covers("P5", "RD-review-mixed")
def test_rejecting_all_leaves_every_character_of_the_document_and_of_the_person_and_none_of_an_agents():
    for seed in range(ROUNDS):
        ledger = run(seed, 6)
        ledger.check_text(ledger.review.to_save)
        ledger.check_text(reject_all(ledger.review).working)


@pytest.mark.covers("P5")
def test_withdrawing_turns_in_any_order_leaves_the_others_their_words():
    for seed in range(ROUNDS):
        ledger = run(seed, 6)
        turns = [f"turn{number}" for number in range(1, ledger.number + 1)]
        gone = set[str]()
        while turns:
            turn = ledger.random.choice(turns)
            after = withdraw(ledger.review, turn)
            if after is None:  # a later turn changed the same words: the last one of all can always go
                assert turn != turns[-1]
                turn = turns[-1]
                after = withdraw(ledger.review, turn)
            assert after is not None
            turns.remove(turn)
            ledger.review = after
            check_invariants(after)
            gone.add("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[int(turn[4:]) % 26])
            assert not ledger.exact or not gone.intersection(after.working)
            ledger.check_text(after.to_save)
        ledger.check_text(ledger.review.working)


@pytest.mark.covers("P4", "P5")
def test_hunks_decided_one_by_one_in_any_order_give_one_result_and_lose_nothing_of_the_persons():
    for seed in range(ROUNDS):
        ledger = run(seed, 5)
        names = [hunk.id for hunk in ledger.review.hunks if hunk.author != "user"]
        verdicts = {name: ledger.random.choice([accept, reject]) for name in names}
        results = set[str]()
        for _ in range(2):
            ledger.random.shuffle(names)
            review = ledger.review
            for name in names:
                review = verdicts[name](review, [name])
            results.add(review.working)
            digits = Counter(char for char in review.working if char.isdigit())
            assert digits >= ledger.typed or accept in verdicts.values()
        assert len(results) == 1


@pytest.mark.covers("P5", "RD-review-save")
def test_saving_in_between_changes_nothing_of_what_is_left_after_a_reject():
    for seed in range(ROUNDS):
        ledger = run(seed, 4)
        ledger.review = save(ledger.review)
        assert ledger.review.saved == ledger.review.to_save
        ledger.check_text(ledger.review.saved)
        ledger.agent()
        ledger.check_text(reject_all(ledger.review).working)


def test_discarding_what_was_typed_brings_back_the_document_and_leaves_the_proposals():
    for seed in range(ROUNDS):
        ledger = run(seed, 5)
        review = discard_typing(ledger.review)
        check_invariants(review)
        assert not ledger.exact or not any(char.isdigit() for char in review.working)
        assert reject_all(review).working == ledger.base
