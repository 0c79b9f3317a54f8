"""The review's table in the design, line by line, and sessions of real people who accepted and rejected edits."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import Refused, Stale
from redraft.review.acts import (
    accept,
    accept_all,
    agent_turn,
    outside_change,
    reject,
    reject_all,
    resolve,
    take,
    type_into,
)
from redraft.review.review import Part, Review
from redraft.text.edits import Change, Edit
from review.drafting import check_invariants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BASE = "# Title\n\nThe fox runs.\n\nThe dog sleeps.\n\nThe end.\n"


def typed(review: Review, old: str, new: str) -> Review:
    assert review.working.count(old) == 1
    after = type_into(review, Change((Edit(review.working.index(old), old, new),)))
    check_invariants(after)
    return after


def proposed(review: Review, old: str, new: str, turn: str = "turn") -> Review:
    assert review.working.count(old) == 1
    after = agent_turn(review, review.working, review.working.replace(old, new), turn)
    check_invariants(after)
    return after


def three(review: Review) -> tuple[str, str, str]:
    return review.base, review.proposed, review.working


def only(review: Review) -> str:
    (hunk,) = review.hunks
    return hunk.id


@pytest.mark.covers("RD-review-authors", "SB-state-origin")
def test_a_hunks_author_follows_from_the_three_texts() -> None:
    review = proposed(proposed(Review.of(BASE), "fox", "quick fox"), "The end.", "Fin.")
    review = typed(review, "The dog sleeps", "My dog sleeps")
    review = typed(review, "Fin.", "Fin, at last.")
    assert [hunk.author for hunk in review.hunks] == ["agent", "user", "mixed"]
    assert not any(hunk.conflict for hunk in review.hunks)


@pytest.mark.covers("SB-review-accept")
def test_accept_makes_all_three_texts_the_working_one() -> None:
    review = proposed(Review.of(BASE), "fox", "quick fox")
    review = accept(review, [only(review)])
    new = BASE.replace("fox", "quick fox")
    assert three(review) == (new, new, new)
    assert review.hunks == ()


@pytest.mark.covers("SB-review-reject")
@pytest.mark.parametrize("author", ["agent", "user"])
def test_reject_of_an_agents_or_a_persons_own_hunk_brings_base_back(author: str) -> None:
    act = proposed if author == "agent" else typed
    review = act(Review.of(BASE), "fox", "quick fox")
    review = reject(review, [only(review)])
    assert three(review) == (BASE, BASE, BASE)


@pytest.mark.covers("RD-review-mixed", "P5")
@pytest.mark.parametrize(
    ("agent", "person", "left"),
    [
        (("fox", "cat"), ("runs", "runs fast"), "The fox runs fast."),
        (("The fox runs.", "A fox ran."), ("ran", "ran home"), "home"),
        (("The fox runs.", "The fox runs. It is red."), ("fox runs", "brown fox runs"), "The brown fox runs."),
        (("The fox runs.", ""), ("# Title\n", "# Title\nBy me\n"), "By me\n"),
    ],
)
def test_reject_of_a_mixed_hunk_takes_back_the_agents_part_alone(
    agent: tuple[str, str], person: tuple[str, str], left: str
) -> None:
    review = typed(proposed(Review.of(BASE), *agent), *person)
    review = reject_all(review)
    check_invariants(review)
    assert left in review.working
    assert review.base == review.proposed == BASE
    assert not review.pending


@pytest.mark.covers("RD-review-save")
def test_saving_takes_base_and_the_persons_own_hunks() -> None:
    review = proposed(Review.of(BASE), "fox", "quick fox")
    review = typed(review, "The dog sleeps", "My dog sleeps")
    assert review.to_save == BASE.replace("The dog sleeps", "My dog sleeps")
    assert review.pending


@pytest.mark.covers("RD-review-conflict", "P5")
def test_a_late_turn_over_typing_keeps_the_typing_and_shows_both() -> None:
    seen = Review.of(BASE)
    review = typed(seen, "fox", "brown fox")
    review = agent_turn(review, seen.working, BASE.replace("fox", "red fox"), "late")
    check_invariants(review)
    (hunk,) = review.hunks
    assert (hunk.conflict, hunk.author, hunk.turn) == (True, "mixed", "late")
    assert "brown fox" in hunk.working
    assert "red fox" in hunk.proposed
    assert review.working == BASE.replace("fox", "brown fox")


@pytest.mark.covers("RD-review-conflict")
def test_a_late_turn_elsewhere_is_merged_over_the_typing() -> None:
    seen = Review.of(BASE)
    review = typed(seen, "fox", "brown fox")
    review = agent_turn(review, seen.working, BASE.replace("dog", "old dog"), "late")
    assert review.working == BASE.replace("fox", "brown fox").replace("dog", "old dog")
    assert [(hunk.author, hunk.conflict) for hunk in review.hunks] == [("user", False), ("agent", False)]


def conflicting() -> Review:
    seen = Review.of(BASE)
    return agent_turn(typed(seen, "fox", "brown fox"), seen.working, BASE.replace("fox", "red fox"), "late")


def test_a_conflict_taken_for_the_agent_waits_to_be_accepted_and_can_still_be_rejected() -> None:
    review = conflicting()
    review = take(review, [only(review)])
    check_invariants(review)
    assert review.working == BASE.replace("fox", "red fox")
    assert review.pending
    assert reject_all(review).working == BASE.replace("fox", "brown fox")
    assert accept_all(review).base == BASE.replace("fox", "red fox")


def test_a_conflict_settled_with_other_words_is_accepted_at_once() -> None:
    review = conflicting()
    (hunk,) = review.hunks
    review = resolve(review, hunk.id, hunk.working.replace("brown fox", "reddish-brown fox"))
    new = BASE.replace("fox", "reddish-brown fox")
    assert three(review) == (new, new, new)


def test_typing_inside_a_conflict_leaves_it_one_until_it_is_settled() -> None:
    review = typed(conflicting(), "brown fox", "very brown fox")
    (hunk,) = review.hunks
    assert hunk.conflict
    assert reject_all(review).working == BASE.replace("fox", "very brown fox")


@pytest.mark.covers("P5")
def test_a_turn_that_rewrites_what_the_person_typed_is_rejected_back_to_it() -> None:
    review = proposed(typed(Review.of(BASE), "fox", "brown fox"), "The brown fox runs.", "A cat walks.")
    assert [hunk.author for hunk in review.hunks] == ["agent"]
    assert reject_all(review).working == BASE.replace("fox", "brown fox")
    assert review.to_save == BASE.replace("fox", "brown fox")


def test_a_change_from_outside_moves_all_three_texts() -> None:
    review = typed(proposed(Review.of(BASE), "fox", "quick fox"), "The end.", "The end!")
    disk = BASE.replace("dog", "old dog")
    after = outside_change(review, BASE, disk)
    check_invariants(after)
    assert after.base == disk
    assert after.working == review.working.replace("dog", "old dog")
    assert [hunk.author for hunk in after.hunks] == ["agent", "user"]
    assert {hunk.id for hunk in after.hunks} == {hunk.id for hunk in review.hunks}


def test_an_unknown_hunk_and_stale_typing_are_refused() -> None:
    review = proposed(Review.of(BASE), "fox", "quick fox")
    for act in (accept, reject, take):
        with pytest.raises(Refused) as refused:
            act(review, [only(review), "h_0000000000"])
        assert refused.value.code == "hunk_not_found"
    with pytest.raises(Stale):
        type_into(review, Change((Edit(0, "not there", "x"),)))


def test_a_hunk_tells_its_place_in_lines_counted_from_one() -> None:
    review = proposed(Review.of(BASE), "# Title\n", "# Title\n\nA new line.\n")
    review = typed(review, "The dog sleeps.", "My dog sleeps.")
    last = review.hunks[-1].as_json()
    assert (last["start_line"], last["working_start_line"], last["author"]) == (5, 7, "user")
    hunk = review.hunks[-1]
    assert review.base[hunk.at :].startswith("The dog")
    assert review.working[hunk.working_at :].startswith("My dog")


def test_the_same_proposal_made_again_gets_the_same_id() -> None:
    first = proposed(Review.of(BASE), "fox", "quick fox", "one")
    second = proposed(reject_all(first), "fox", "quick fox", "two")
    assert only(first) == only(second)


def test_cuts_that_do_not_fit_their_texts_are_made_anew() -> None:
    review = proposed(Review.of(BASE), "fox", "quick fox")
    again = Review.from_cuts(*three(review), [[1, 1, 1, "", 0, ""]])
    check_invariants(again)
    assert three(again) == three(review)


def test_empty_texts_make_a_review_too() -> None:
    created = Review.between("", "new\n", "new\n", "turn")
    assert [hunk.author for hunk in created.hunks] == ["agent"]
    assert three(reject_all(created)) == ("", "", "")
    emptied = agent_turn(Review.of(BASE), BASE, "", "turn")
    assert three(accept_all(emptied)) == ("", "", "")
    assert reject_all(emptied).working == BASE


def rounds(material: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(material / "accept-reject-sessions" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield from json.loads(line)["rounds"]


@pytest.mark.slow
@pytest.mark.covers("RD-review-sessions")
def test_in_real_sessions_the_accepted_edits_give_the_recorded_document(material: Path) -> None:
    count = 0
    for recorded in rounds(material):
        review = Review.of(recorded["before"])
        edits = sorted(recorded["edits"], key=lambda edit: (edit["start"], edit["end"]), reverse=True)
        for number, edit in enumerate(edits):
            text = review.working
            new = text[: edit["start"]] + (edit["after"] or "") + text[edit["end"] :]
            review = agent_turn(review, text, new, f"turn{number}")
            review = (accept_all if edit["decision"] == "accept" else reject_all)(review)
        assert three(review) == (recorded["accepted_result"],) * 3
        count += 1
    assert count >= 50


@pytest.mark.slow
@pytest.mark.covers("P4")
def test_in_real_sessions_all_edits_at_once_are_accepted_or_rejected_whole(material: Path) -> None:
    for recorded in rounds(material):
        before = recorded["before"]
        new = before
        for edit in sorted(recorded["edits"], key=lambda edit: (edit["start"], edit["end"]), reverse=True):
            new = new[: edit["start"]] + (edit["after"] or "") + new[edit["end"] :]
        review = agent_turn(Review.of(before), before, new, "turn")
        check_invariants(review)
        assert accept_all(review).base == new
        assert reject_all(review).working == before


def test_a_hunk_within_a_line_break_of_two_characters_counts_it_once():
    parts = (Part("a\r", "a\r", "a\r"), Part("", "x", "x", id="h_1", turn="t"), Part("\nb\n", "\nb\n", "\nb\n"))
    torn = (Part("a\r", "a\r", "a\r"), Part("\nb", "\nc", "\nc", id="h_1", turn="t"), Part("\n", "\n", "\n"))
    last = Part("", "y", "y", id="h_2", turn="t")
    assert [(hunk.working_line, hunk.working_column) for hunk in Review((*parts, last)).hunks] == [(1, 0), (3, 0)]
    assert [(hunk.line, hunk.working_line) for hunk in Review((*torn, last)).hunks] == [(1, 1), (2, 2)]


def test_typing_before_a_line_and_another_programs_words_after_it_leave_the_line_there_once():
    review = Review((Part("one\n", "\n", "two \n", turn="turn2"),))
    after = outside_change(review, "one\n", "one\n\nthree\n")
    assert after.to_save.count("one") == after.to_save.count("two") == after.to_save.count("three") == 1
