"""Splitting a hunk by hand: no text changes, and each half is decided by itself."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.review.acts import accept, agent_turn, reject
from redraft.review.review import Review
from redraft.review.splitting import split
from review.drafting import Typist, check_invariants, reviews

OLD = "One.\n"
NEW = "First.\nSecond.\n"


def proposed() -> tuple[Review, str]:
    review = agent_turn(Review.of(OLD), OLD, NEW, "t")
    [hunk] = review.hunks
    return review, hunk.id


@given(reviews(), st.data())
def test_no_text_changes_and_both_halves_belong_to_the_turn(made: tuple[Review, Typist], data: st.DataObject):
    review, _ = made
    agents = [hunk for hunk in review.hunks if hunk.author == "agent"]
    assume(agents)
    hunk = data.draw(st.sampled_from(agents))
    at = data.draw(st.integers(0, len(hunk.working)))
    base_at = data.draw(st.integers(0, len(hunk.base)))
    try:
        after = split(review, hunk.id, at, base_at)
    except Refused:
        return
    check_invariants(after)
    assert (after.base, after.proposed, after.working, after.to_save) == (
        review.base,
        review.proposed,
        review.working,
        review.to_save,
    )
    others = {each.id for each in review.hunks} - {hunk.id}
    assert others <= {each.id for each in after.hunks}
    assert {each.turn for each in after.hunks if each.id not in others} <= {hunk.turn}


@pytest.mark.covers("SB-size-manual-split")
def test_each_half_is_taken_or_refused_by_itself():
    review, name = proposed()
    first, second = split(review, name, len("First.\n")).hunks
    assert ((first.base, first.working), (second.base, second.working)) == ((OLD, "First.\n"), ("", "Second.\n"))
    halved = split(review, name, len("First.\n"))
    assert reject(accept(halved, [first.id]), [second.id]).working == "First.\n"
    assert accept(reject(halved, [first.id]), [second.id]).working == OLD + "Second.\n"


def test_the_halves_of_what_it_takes_out_can_be_told_apart_too():
    review = agent_turn(Review.of("One.\nTwo.\n"), "One.\nTwo.\n", "", "t")
    [hunk] = review.hunks
    halved = split(review, hunk.id, 0, len("One.\n"))
    assert reject(halved, [halved.hunks[0].id]).working == "One.\n"


@pytest.mark.parametrize(("at", "base_at"), [(0, 0), (99, None), (-1, None), (len(NEW), None)])
def test_a_place_that_gives_no_two_halves_is_refused(at: int, base_at: int | None):
    review, name = proposed()
    with pytest.raises(Refused):
        split(review, name, at, base_at)


def test_a_line_break_of_two_characters_is_never_torn():
    review = agent_turn(Review.of(""), "", "a\r\nb\r\n", "t")
    with pytest.raises(Refused, match="no place"):
        split(review, review.hunks[0].id, 2)


def test_the_persons_own_hunk_is_not_split():
    review = Review.between("One.\n", "One.\n", "Mine.\nAlso mine.\n")
    with pytest.raises(Refused, match="all an agent's"):
        split(review, review.hunks[0].id, len("Mine.\n"))
