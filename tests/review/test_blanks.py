"""Words that are parted by a blank stay so: on the disk, on the screen, and in what saving would write."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.review.operations import accept, apply_agent_turn, reject, save, type_into, withdraw
from redraft.review.review import Review
from redraft.text.edits import Change, Edit


def type_before(review: Review, word: str, new: str) -> Review:
    return type_into(review, Change((Edit(review.working.index(word), "", new),)))


def propose(review: Review, text: str, turn: str) -> Review:
    return apply_agent_turn(review, review.working, text, turn)


def accept_words(review: Review, *words: str) -> Review:
    return accept(review, [hunk.id for hunk in review.hunks if hunk.working.strip() in words])


def test_a_hunk_is_accepted_with_the_typed_blank_behind_it_that_another_proposal_takes_out() -> None:
    review = type_before(Review.of("one two three\n"), "two", "mine ")
    review = propose(review, "one mine\n", "t1")  # with the blank behind `mine`
    review = propose(review, "one NEW\n", "t2")
    review = accept_words(review, "NEW")
    assert review.saved == "one NEW two three\n"
    assert review.working == "one NEW\n"
    left = [hunk.id for hunk in review.hunks]
    assert accept(review, left).saved == "one NEW\n"
    assert reject(review, left).working == "one NEW two three\n"


def test_a_hunk_is_accepted_with_a_blank_on_either_side_of_a_word_that_another_proposal_takes_out() -> None:
    review = type_before(Review.of("one two three\n"), "two", "left ")
    review = type_before(review, " three", " right")
    review = propose(review, "one left right three\n", "t1")
    review = propose(review, "one LEFT right three\n", "t2")
    review = propose(review, "one LEFT RIGHT three\n", "t3")
    review = accept_words(review, "LEFT", "RIGHT")
    assert review.working == "one LEFT RIGHT three\n"
    assert review.saved == "one LEFT two RIGHT three\n"


def test_a_word_typed_behind_the_first_word_of_a_proposal_is_saved_apart_from_the_word_before_it() -> None:
    review = propose(Review.of("one two\n"), "one two NEW WORDS\n", "t1")
    review = type_before(review, "WORDS", "mine ")
    assert review.working == "one two NEW mine WORDS\n"
    assert save(review).saved == "one two mine\n"


def test_a_word_typed_between_the_words_of_a_replacement_is_saved_apart_from_the_words_it_replaces() -> None:
    review = propose(Review.of("one two three\n"), "one NEW WORDS three\n", "t1")
    review = type_before(review, "WORDS", "mine ")
    assert review.working == "one NEW mine WORDS three\n"
    assert save(review).saved == "one two mine three\n"


def test_a_word_typed_behind_a_word_that_is_put_in_is_saved_apart_from_the_word_behind() -> None:
    review = propose(Review.of("one two\n"), "one NEW WORDS two\n", "t1")
    review = type_before(review, " WORDS", " mine")
    assert review.working == "one NEW mine WORDS two\n"
    assert save(review).saved == "one mine two\n"


def test_a_proposal_that_takes_out_a_typed_word_leaves_its_blank_where_it_was() -> None:
    review = propose(Review.of("one two\n"), "one two NEW\n", "t1")
    review = type_before(review, "NEW", "mine ")
    review = accept_words(review, "NEW")
    review = propose(review, "one two NEW\n", "t2")
    assert save(review).saved == "one two mine NEW\n"


def test_words_that_come_back_amid_what_another_proposal_takes_out_run_into_none() -> None:
    review = propose(Review.of("one two three four\n"), "one two four\n", "t1")
    after = withdraw(propose(review, "one\n", "t2"), "t1")
    assert after is not None
    assert after.working == "one three\n"


def test_typing_that_comes_back_amid_what_another_proposal_takes_out_runs_into_none() -> None:
    review = type_before(Review.of("one two three\n"), "three", "mine ")
    review = propose(review, "one three\n", "t1")
    review = propose(review, "one\n", "t2")
    after = withdraw(propose(review, "one NEW\n", "t3"), "t1")
    assert after is not None
    assert set(after.working.split()) == {"one", "NEW", "two", "mine"}


def test_edits_of_two_turns_within_one_word_are_decided_together() -> None:
    review = propose(Review.of("one dt2a three\n"), "one Aa12a three\n", "t1")
    review = propose(review, "one Aa13a three\n", "t2")
    assert [(hunk.base, hunk.working) for hunk in review.hunks] == [("dt2a", "Aa13a")]
    assert withdraw(review, "t1") is None  # nothing is left of the word that the second turn changed
    after = withdraw(review, "t2")
    assert after is not None
    assert after.working == "one Aa12a three\n"


class Words:
    """A review in which no two words are the same, and random acts on it."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.known: set[str] = set()
        self.turns = 0
        names = [self.new_word("d") for _ in range(dice.randint(3, 9))]
        self.review = Review.of("".join(name + dice.choice("   \n") for name in names)[:-1] + "\n")

    def new_word(self, letter: str) -> str:
        name = f"{letter}{self.dice.choice('aabt')}{len(self.known)}{self.dice.choice('aat')}"
        self.known.add(name)
        return name

    def types(self) -> None:
        places = [match.start() for match in re.finditer(r"\S+", self.review.working)]
        edit = Edit(self.dice.choice(places), "", self.new_word("K") + " ")
        self.review = type_into(self.review, Change((edit,)))

    def proposes(self) -> None:
        words = re.findall(r"\S+\s", self.review.working)
        first = self.dice.randint(0, len(words) - 1)
        last = min(first + self.dice.choice([0, 1, 1, 2, 3]), len(words) - 1)
        new = [f"{self.new_word('A')} " for _ in range(self.dice.randint(0 if last > first else 1, 2))]
        self.turns += 1
        self.review = propose(self.review, "".join([*words[:first], *new, *words[last:]]), f"t{self.turns}")

    def decides(self) -> None:
        hunks = [hunk for hunk in self.review.hunks if hunk.author != "user"]
        if not hunks:
            return
        act = self.dice.choice([accept, accept, reject])
        turn = self.dice.choice(["", self.dice.choice(hunks).turn])
        chosen = self.dice.sample(hunks, self.dice.choice([1, len(hunks)]))
        try:
            self.review = act(self.review, [hunk.id for hunk in chosen], turn)
        except Refused as why:
            assert why.code == "conflict"  # noqa: PT017

    def withdraws(self) -> None:
        self.review = withdraw(self.review, f"t{self.dice.randint(1, self.turns + 1)}") or self.review

    def saves(self) -> None:
        self.review = save(self.review)

    def play(self) -> None:
        for _ in range(self.dice.randint(3, 9)):
            self.dice.choice(
                [self.types, self.types, self.proposes, self.proposes, self.decides, self.withdraws, self.saves]
            )()
            if any(part.conflict for part in self.review.parts):
                return  # what stands in a conflict waits for the person
            for text in (self.review.working, self.review.saved, self.review.to_save):
                assert self.known.issuperset(text.split()), text


@given(st.integers(0, 10**9))
def test_no_word_ever_runs_into_another(seed: int) -> None:
    Words(random.Random(seed)).play()
