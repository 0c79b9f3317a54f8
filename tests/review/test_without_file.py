"""What becomes of a review whose file somebody took away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redraft.review.operations import apply_agent_turn, reject_all, type_into
from redraft.review.outside_change import without_file
from redraft.review.review import Review
from redraft.text.edits import Change, Edit
from tests.review.drafting import Typist, reviews


@given(reviews(), st.integers(0, 500))
def test_what_the_person_has_is_theirs_where_something_of_it_is_in_no_file(made: tuple[Review, Typist], at: int):
    review, typist = made
    review = typist.type(review, at)
    assert review.to_save != review.saved
    after = without_file(review)
    assert after.saved == ""
    assert after.to_save == review.to_save


def test_a_proposal_to_change_what_was_typed_stands_beside_it():
    typed = type_into(Review.of("One.\n\nTwo.\n"), Change((Edit(3, "", " more"),)))
    changed = apply_agent_turn(typed, typed.working, "Other.\n\nTwo.\n", "t")
    after = without_file(changed)
    assert after.to_save == "One more.\n\nTwo.\n"
    [beside] = [hunk for hunk in after.hunks if hunk.conflict]
    assert beside.turn == "t"
    assert "One more" in beside.working
    assert reject_all(after).to_save == "One more.\n\nTwo.\n"


def test_without_typing_the_document_is_to_be_made_as_it_was_proposed():
    review = apply_agent_turn(Review.of("One.\n"), "One.\n", "Two.\n", "t")
    [hunk] = without_file(review).hunks
    assert (hunk.author, hunk.base, hunk.working) == ("agent", "", "Two.\n")
