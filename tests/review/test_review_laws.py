"""The laws of a review, on random histories of agents' turns, typing and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.review.operations import (
    accept,
    accept_all,
    apply_agent_turn,
    reject,
    reject_all,
    save,
    take_theirs,
    type_into,
)
from redraft.review.outside_change import apply_outside_change
from redraft.review.review import Review
from redraft.review.runs import USER
from redraft.text.edits import Change, Edit
from tests.review.drafting import check_invariants, documents, reviews, rewritings

if TYPE_CHECKING:
    from tests.review.drafting import Typist


@given(documents(), st.data())
@pytest.mark.covers("P4")
def test_accepting_all_of_a_turn_gives_the_proposal(text: str, data: st.DataObject) -> None:
    result = data.draw(rewritings(text))
    review = apply_agent_turn(Review.of(text), text, result, "turn")
    check_invariants(review)
    assert (review.base, review.proposed, review.working) == (text, result, result)
    assert accept_all(review).base == result
    assert reject_all(review).working == text


@given(reviews())
@pytest.mark.covers("P4")
def test_rejecting_all_leaves_base_and_the_persons_own_edits(made: tuple[Review, Typist]) -> None:
    review, _ = made
    own = review.to_save
    rejected = reject_all(review)
    check_invariants(rejected)
    assert rejected.working == own
    assert rejected.to_save == own
    assert not rejected.pending


@given(reviews())
def test_accepting_all_makes_the_working_text_the_base(made: tuple[Review, Typist]) -> None:
    review, _ = made
    accepted = accept_all(review)
    check_invariants(accepted)
    assert accepted.working == review.working
    # What has to be settled first waits as it is.
    waiting = [hunk.id for hunk in review.hunks if hunk.unsettled]
    assert [hunk.id for hunk in accepted.hunks] == waiting
    assert waiting or accepted.base == review.working


@given(reviews(), st.data())
@pytest.mark.covers("P4")
def test_the_order_of_decisions_does_not_matter(made: tuple[Review, Typist], data: st.DataObject) -> None:
    review, _ = made
    names = [hunk.id for hunk in review.hunks]
    conflicts = {hunk.id for hunk in review.hunks if hunk.unsettled}
    verdicts = {
        name: data.draw(st.sampled_from([take_theirs if name in conflicts else accept, reject])) for name in names
    }
    results = set[tuple[str, str, str]]()
    for order in (names, data.draw(st.permutations(names)), list(reversed(names))):
        after = review
        for name in order:
            after = verdicts[name](after, [name])
            check_invariants(after)
        results.add((after.base, after.proposed, after.working))
    assert len(results) == 1


@given(reviews(), st.data())
@pytest.mark.covers("P5")
def test_no_turn_and_no_reject_loses_what_the_person_typed(made: tuple[Review, Typist], data: st.DataObject) -> None:
    review, typist = made
    typist.check_nothing_lost(review.to_save)
    review = apply_agent_turn(review, review.working, data.draw(rewritings(review.working)), "last")
    check_invariants(review)
    typist.check_nothing_lost(review.to_save)
    typist.check_nothing_lost(reject_all(review).working)


@given(reviews(), st.data())
@pytest.mark.covers("P5")
def test_an_agents_late_turn_is_merged_over_what_was_typed_meanwhile(
    made: tuple[Review, Typist], data: st.DataObject
) -> None:
    review, typist = made
    seen = review.working
    for _ in range(data.draw(st.integers(1, 3))):
        review = typist.type(review, data.draw(st.integers(0, 500)))
    review = apply_agent_turn(review, seen, data.draw(rewritings(seen)), "late")
    check_invariants(review)
    typist.check_nothing_lost(review.to_save)
    typist.check_nothing_lost(reject_all(review).working)


@given(reviews(), st.data())
def test_typing_changes_the_working_text_alone(made: tuple[Review, Typist], data: st.DataObject) -> None:
    review, _ = made
    start = data.draw(st.integers(0, len(review.working)))
    end = data.draw(st.integers(start, len(review.working)))
    change = Change((Edit(start, review.working[start:end], data.draw(documents())),))
    typed = type_into(review, change)
    check_invariants(typed)
    assert (typed.saved, typed.working) == (review.saved, change.apply(review.working))
    # Who types again what an agent took out has refused that edit; no other act of typing decides anything.
    assert marks(typed) <= marks(review)
    if marks(typed) == marks(review) and not takes_out_typing(review):
        assert (typed.base, typed.proposed) == (review.base, review.proposed)


def takes_out_typing(review: Review) -> bool:
    """Whether an agent would take out what the person typed: then that typing is what a reject brings back."""
    return any(run.by == USER and run.taken_out_by_agent for run in review.runs)


def marks(review: Review) -> set[str]:
    return {mark for part in review.parts for mark in part.marks}


@given(reviews(), st.data())
def test_typing_leaves_the_other_hunks_their_ids(made: tuple[Review, Typist], data: st.DataObject) -> None:
    review, typist = made
    at = data.draw(st.integers(0, len(review.working)))
    spans = {hunk.id: (hunk.working_at, hunk.working_at + len(hunk.working)) for hunk in review.hunks}
    far = {name for name, (start, end) in spans.items() if not start <= at <= end}
    typed = typist.type(review, at)
    assert far <= {hunk.id for hunk in typed.hunks}


@given(reviews(), st.data())
@pytest.mark.covers("P5")
def test_a_change_from_outside_keeps_what_was_typed(made: tuple[Review, Typist], data: st.DataObject) -> None:
    review, typist = made
    disk = data.draw(rewritings(review.saved))
    taken_out = set(review.saved) - set(disk)
    after = apply_outside_change(review, disk)
    check_invariants(after)
    assert after.saved == disk
    typist.typed = [key for key in typist.typed if key not in taken_out]
    typist.check_nothing_lost(after.to_save)
    assert order_of(typist.typed, after.to_save) == order_of(typist.typed, review.to_save)


def order_of(keys: list[str], text: str) -> list[str]:
    return sorted(keys, key=text.index)


@given(reviews(), st.data())
@pytest.mark.covers("P5")
def test_who_has_saved_has_the_file_as_somebody_else_left_it(made: tuple[Review, Typist], data: st.DataObject) -> None:
    review, _ = made
    disk = data.draw(rewritings(review.to_save))
    after = apply_outside_change(save(review), disk)
    check_invariants(after)
    assert after.to_save == disk
