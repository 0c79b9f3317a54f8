"""Taking a step of a review back: the present keeps what came after, and proposes nothing that nobody proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.review.operations import accept, accept_all, apply_agent_turn, reject, reject_all, save, withdraw
from redraft.review.outside_change import apply_outside_change
from redraft.review.revert_step import revert_step
from redraft.review.review import Review
from redraft.text.diff.word_diff import word_edits
from redraft.text.edits import Change, Edit
from tests.review.drafting import check_invariants, reviews, rewritings

if TYPE_CHECKING:
    from tests.review.drafting import Typist


def compare(old: str, new: str) -> Change:
    return Change(tuple(word_edits(old, new, tidy=False)))


LINES = "one\n\ntwo\n\nthree\n"


def texts(review: Review | None) -> tuple[str, str, str] | None:
    return None if review is None else (review.base, review.proposed, review.working)


def proposing(**words: str) -> str:
    text = LINES
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def by_agent(review: Review, result: str, turn: str = "turn") -> Review:
    return apply_agent_turn(review, review.working, result, turn)


def taken_back(now: Review, before: Review, after: Review) -> Review | None:
    step, since = compare(before.saved, after.saved), compare(after.saved, now.saved)
    return revert_step(now, before, after, step, since, where_it_is)


def where_it_is(_: Review, change: Change) -> tuple[Change, tuple[int, ...]]:
    """Nothing is known of places among typing that is not saved."""
    return change, ()


@given(reviews(), st.sampled_from(["agent", "accept", "reject", "save"]), st.data())
def test_a_step_after_which_nothing_happened_is_taken_back_whole(
    made: tuple[Review, Typist], act: str, data: st.DataObject
) -> None:
    before, _ = made
    if act == "agent":
        after = by_agent(before, data.draw(rewritings(before.working)))
    elif act == "save":
        after = save(before)
    else:
        after = (accept_all if act == "accept" else reject_all)(before)
    result = taken_back(after, before, after)
    assert result is None or texts(result) == texts(before)


def test_an_acceptance_is_taken_back_around_what_came_since() -> None:
    before = by_agent(Review.of(LINES), proposing(one="1", three="3"))
    first, second = before.hunks
    after = accept(before, [first.id])
    now = reject(after, [second.id])
    assert texts(taken_back(now, before, after)) == (LINES, proposing(one="1"), proposing(one="1"))


def test_a_refusal_is_taken_back_at_its_own_place_among_equal_words() -> None:
    text = "same\n\nsame\n\nsame\n"
    before = apply_agent_turn(Review.of(text), text, text, "turn", [Change((Edit(6, "same", "other"),))])
    after = reject_all(before)
    now = apply_outside_change(after, "same\n\n" + text)
    result = revert_step(now, before, after, Change(), Change((Edit(0, "", "same\n\n"),)), where_it_is)
    assert result is not None
    assert result.working == "same\n\nsame\n\nother\n\nsame\n"


@given(reviews(), st.data())
@pytest.mark.covers("P5")
def test_what_was_typed_after_a_step_outlives_it(made: tuple[Review, Typist], data: st.DataObject) -> None:
    before, typist = made
    after = by_agent(before, data.draw(rewritings(before.working)))
    now = typist.type(after, data.draw(st.integers(0, 500)), data.draw(st.sampled_from(["", " ", "\n"])))
    for result in (taken_back(now, before, after), withdraw(now, "turn")):
        if result is not None:
            check_invariants(result)
            assert typist.typed[-1] in result.to_save


def test_a_proposal_goes_with_its_turn_and_leaves_another_alone() -> None:
    now = by_agent(by_agent(Review.of(LINES), proposing(one="1"), "first"), proposing(one="1", three="3"), "second")
    result = withdraw(now, "first")
    assert result is not None
    assert texts(result) == (LINES, proposing(three="3"), proposing(three="3"))
    assert [hunk.turn for hunk in result.hunks] == ["second"]


def test_a_turn_knows_its_own_words_within_a_hunk_that_it_shares() -> None:
    text = "one two three\n"
    now = by_agent(by_agent(Review.of(text), "one 2 and 3\n", "first"), "one 2 or, well, 3\n", "second")
    assert withdraw(now, "first") is None  # without its words the second's would make no sense
    once = withdraw(now, "second")
    assert once is not None
    assert once.working == "one 2 and 3\n"
    assert withdraw(once, "first") == Review.of(text)
