"""Taking a step of a review back: the present keeps what came after, and proposes nothing that nobody proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.review.acts import accept, accept_all, agent_turn, outside_change, reject_all
from redraft.review.review import Review
from redraft.review.step import without_step
from review.drafting import check_invariants, reviews, rewritings

if TYPE_CHECKING:
    from collections.abc import Callable

    from review.drafting import Typist

LINES = "one\n\ntwo\n\nthree\n"


def texts(review: Review | None) -> tuple[str, str, str] | None:
    return None if review is None else (review.base, review.proposed, review.working)


def proposing(**words: str) -> str:
    text = LINES
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def by_agent(review: Review, result: str, turn: str = "turn") -> Review:
    return agent_turn(review, review.working, result, turn)


@given(reviews(), st.data())
def test_a_step_after_which_nothing_happened_is_taken_back_whole(
    made: tuple[Review, Typist], data: st.DataObject
) -> None:
    before, _ = made
    after = by_agent(before, data.draw(rewritings(before.working)))
    assert texts(without_step(after, before, after)) == texts(before)


@given(reviews(), st.data())
@pytest.mark.covers("P5")
def test_what_was_typed_after_a_step_outlives_it(made: tuple[Review, Typist], data: st.DataObject) -> None:
    before, typist = made
    after = by_agent(before, data.draw(rewritings(before.working)))
    now = typist.type(after, data.draw(st.integers(0, 500)), data.draw(st.sampled_from(["", " ", "\n"])))
    result = without_step(now, before, after)
    if result is not None:
        check_invariants(result)
        assert typist.typed[-1] in result.to_save


@given(reviews(), st.sampled_from([accept_all, reject_all]), st.data())
def test_where_nothing_is_pending_on_either_side_nothing_is_proposed(
    made: tuple[Review, Typist], settle: Callable[[Review], Review], data: st.DataObject
) -> None:
    after, _ = made
    before, now = Review.of(after.base), settle(after)
    if data.draw(st.booleans()):
        disk = data.draw(rewritings(now.base))
        now = outside_change(now, now.base, disk)
    result = without_step(now, before, after)
    assert result is None or result.proposed == result.base


def test_a_proposal_accepted_since_is_not_taken_out_again_in_the_name_of_another() -> None:
    before = Review.of(LINES)
    after = by_agent(before, proposing(one="1"), "first")
    now = by_agent(after, proposing(one="1", three="3"), "second")
    now = accept(now, [now.hunks[0].id])
    assert without_step(now, before, after) is None


def test_a_proposal_goes_with_its_step_and_leaves_another_alone() -> None:
    before = Review.of(LINES)
    after = by_agent(before, proposing(one="1"), "first")
    now = by_agent(after, proposing(one="1", three="3"), "second")
    result = without_step(now, before, after)
    assert texts(result) == (LINES, proposing(three="3"), proposing(three="3"))
    assert result is not None
    assert [hunk.turn for hunk in result.hunks] == ["second"]
