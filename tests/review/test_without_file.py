"""What becomes of a review whose file somebody took away."""

from __future__ import annotations

from hypothesis import given

from redraft.review.acts import agent_turn, type_into, without_file
from redraft.review.review import Review
from redraft.text.edits import Change, Edit
from review.drafting import Typist, reviews


@given(reviews())
def test_what_the_person_has_is_theirs_where_something_of_it_is_in_no_file(made: tuple[Review, Typist]):
    review, _ = made
    after = without_file(review, "somewhere else\n")
    assert after.base == ""
    assert after.to_save == (review.to_save if review.proposed != review.base else review.working)


def test_a_proposal_to_change_what_was_typed_stands_beside_it():
    typed = type_into(Review.of("One.\n\nTwo.\n"), Change((Edit(3, "", " more"),)))
    changed = agent_turn(typed, typed.working, "Other.\n\nTwo.\n", "t")
    after = without_file(changed, "One.\n\nTwo.\n")
    assert after.to_save == "One more.\n\nTwo.\n"
    [beside] = [hunk for hunk in after.hunks if hunk.conflict]
    assert (beside.turn, beside.proposed, beside.working) == ("t", "Other.\n", "One more.\n")


def test_without_typing_the_document_is_to_be_made_as_it_was_proposed():
    review = agent_turn(Review.of("One.\n"), "One.\n", "Two.\n", "t")
    [hunk] = without_file(review, "One.\n").hunks
    assert (hunk.author, hunk.base, hunk.working) == ("agent", "", "Two.\n")
