"""Splitting a hunk by hand: no text changes, and each half is decided by itself."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.review.operations import accept, apply_agent_turn, reject, reject_all, split_hunk, type_into, withdraw
from redraft.review.review import Review
from redraft.text.edits import Change, Edit
from tests.review.drafting import Typist, check_invariants, reviews

OLD = "One.\n"
NEW = "First\nSecond.\n"


def proposed() -> tuple[Review, str]:
    review = apply_agent_turn(Review.of(OLD), OLD, NEW, "t")
    [hunk] = review.hunks
    return review, hunk.id


@given(reviews(), st.data())
def test_no_text_changes_and_the_halves_belong_to_the_hunks_turns(made: tuple[Review, Typist], data: st.DataObject):
    review, _ = made
    agents = [hunk for hunk in review.hunks if hunk.author == "agent"]
    assume(agents)
    hunk = data.draw(st.sampled_from(agents))
    at = data.draw(st.integers(0, len(hunk.working)))
    base_at = data.draw(st.integers(0, len(hunk.base)))
    try:
        after = split_hunk(review, hunk.id, at, base_at)
    except Refused:
        return
    check_invariants(after)
    for reading in ("base", "proposed", "working", "saved", "to_save", "turns"):
        assert getattr(after, reading) == getattr(review, reading), reading
    assert reject_all(after).working == reject_all(review).working
    others = {each.id for each in review.hunks} - {hunk.id}
    assert others <= {each.id for each in after.hunks}
    assert {turn for each in after.hunks if each.id not in others for turn in each.turns} <= set(hunk.turns)


@pytest.mark.covers("SB-size-manual-split")
def test_each_half_is_taken_or_refused_by_itself():
    review, name = proposed()
    halved = split_hunk(review, name, len("First\n"))
    first, second = halved.hunks
    assert ((first.base, first.working), (second.base, second.working)) == (("One", "First\n"), ("", "Second"))
    assert reject(accept(halved, [first.id]), [second.id]).working == "First\n.\n"
    assert accept(reject(halved, [first.id]), [second.id]).working == "OneSecond.\n"


def test_the_halves_of_what_it_takes_out_can_be_told_apart_too():
    review = apply_agent_turn(Review.of("One.\nTwo.\n"), "One.\nTwo.\n", "", "t")
    [hunk] = review.hunks
    halved = split_hunk(review, hunk.id, 0, len("One.\n"))
    assert reject(halved, [halved.hunks[0].id]).working == "One.\n"


def test_what_the_person_typed_and_the_agent_takes_out_stays_theirs_in_both_halves():
    typed = type_into(Review.of("Title\n"), Change((Edit(len("Title\n"), "", "mine"),)))
    review = apply_agent_turn(typed, typed.working, "Title\nwords", "t")
    [hunk] = review.hunks
    halved = split_hunk(review, hunk.id, len("wo"), len("mi"))
    assert halved.saved == "Title\n"
    assert halved.to_save == reject_all(halved).working == typed.working


def test_both_turns_that_wrote_a_hunk_know_their_words_in_each_half():
    first = apply_agent_turn(Review.of(""), "", "one two\nthree four\n", "first")
    second = apply_agent_turn(first, first.working, "ONE two\nthree FOUR\n", "second")
    [hunk] = second.hunks
    halved = split_hunk(second, hunk.id, len("ONE two\n"))
    assert [each.turns for each in halved.hunks] == [("first", "second")] * 2
    withdrawn = withdraw(halved, "second")
    assert withdrawn is not None
    assert withdrawn.working == first.working


@pytest.mark.parametrize(("at", "base_at"), [(0, 0), (99, None), (-1, None), (len("First\nSecond"), None)])
def test_a_place_that_gives_no_two_halves_is_refused(at: int, base_at: int | None):
    review, name = proposed()
    with pytest.raises(Refused):
        split_hunk(review, name, at, base_at)


def test_a_line_break_of_two_characters_is_never_torn():
    review = apply_agent_turn(Review.of(""), "", "a\r\nb\r\n", "t")
    with pytest.raises(Refused, match="cannot be split at"):
        split_hunk(review, review.hunks[0].id, 2)


def test_the_persons_own_hunk_is_not_split():
    review = Review.between("One.\n", "One.\n", "Mine.\nAlso mine.\n")
    with pytest.raises(Refused, match="entirely an agent's"):
        split_hunk(review, review.hunks[0].id, len("Mine.\n"))
