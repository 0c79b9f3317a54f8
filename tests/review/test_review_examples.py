"""The review's table in the design, line by line, and sessions of real people who accepted and rejected edits."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import Refused, Stale
from redraft.review.operations import (
    accept,
    accept_all,
    apply_agent_turn,
    expand,
    reject,
    reject_all,
    resolve,
    take_theirs,
    type_into,
    withdraw,
)
from redraft.review.outside_change import apply_outside_change
from redraft.review.review import Review
from redraft.review.runs import Run
from redraft.text.edits import Change, Edit
from tests.review.drafting import check_invariants

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
    after = apply_agent_turn(review, review.working, review.working.replace(old, new), turn)
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
    review = type_into(review, Change((Edit(review.working.index("Fin") + 1, "", "-"),)))
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
    review = apply_agent_turn(review, seen.working, BASE.replace("fox", "red fox"), "late")
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
    review = apply_agent_turn(review, seen.working, BASE.replace("dog", "old dog"), "late")
    assert review.working == BASE.replace("fox", "brown fox").replace("dog", "old dog")
    assert [(hunk.author, hunk.conflict) for hunk in review.hunks] == [("user", False), ("agent", False)]


def conflicting() -> Review:
    seen = Review.of(BASE)
    return apply_agent_turn(typed(seen, "fox", "brown fox"), seen.working, BASE.replace("fox", "red fox"), "late")


def test_a_conflict_taken_for_the_agent_waits_to_be_accepted_and_can_still_be_rejected() -> None:
    review = conflicting()
    review = take_theirs(review, [only(review)])
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
    assert reject_all(review).working == BASE.replace("fox", "brown fox")
    assert review.to_save == BASE.replace("fox", "brown fox")


def test_a_change_from_outside_moves_all_three_texts() -> None:
    review = typed(proposed(Review.of(BASE), "fox", "quick fox"), "The end.", "The end!")
    disk = BASE.replace("dog", "old dog")
    after = apply_outside_change(review, disk)
    check_invariants(after)
    assert after.base == disk
    assert after.working == review.working.replace("dog", "old dog")
    assert [hunk.author for hunk in after.hunks] == ["agent", "user"]
    assert {hunk.id for hunk in after.hunks} == {hunk.id for hunk in review.hunks}


def test_an_unknown_hunk_and_stale_typing_are_refused() -> None:
    review = proposed(Review.of(BASE), "fox", "quick fox")
    for act in (accept, reject, take_theirs):
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


def test_empty_texts_make_a_review_too() -> None:
    created = Review.between("", "new\n", "new\n", "turn")
    assert [hunk.author for hunk in created.hunks] == ["agent"]
    assert three(reject_all(created)) == ("", "", "")
    emptied = apply_agent_turn(Review.of(BASE), BASE, "", "turn")
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
            review = apply_agent_turn(review, text, new, f"turn{number}")
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
        review = apply_agent_turn(Review.of(before), before, new, "turn")
        check_invariants(review)
        assert accept_all(review).base == new
        assert reject_all(review).working == before


def test_a_hunk_within_a_line_break_of_two_characters_counts_it_once():
    inserted = Review.of_runs([Run("a\r"), Run("x", "t#1.0"), Run("\nb\n"), Run("y", "t#2.0")])
    assert [(hunk.working_line, hunk.working_column) for hunk in inserted.hunks] == [(1, 0), (3, 0)]
    torn = Review.of_runs([Run("a\r"), Run("\nb", "", ("t#1.0",)), Run("\nc", "t#1.0"), Run("\n"), Run("y", "t#2.0")])
    assert [(hunk.line, hunk.working_line) for hunk in torn.hunks] == [(1, 1), (2, 2)]


def test_what_another_program_did_as_the_agent_proposed_leaves_nothing_to_decide():
    review = proposed(Review.of(BASE), "fox", "cat")
    assert apply_outside_change(review, BASE.replace("fox", "cat")) == Review.of(BASE.replace("fox", "cat"))


def test_typing_over_a_whole_line_that_another_program_changed_can_be_settled_for_either_side():
    text = "One.\n\nThe cat sat here.\n"
    review = type_into(Review.of(text), Change((Edit(6, "The cat sat here.", "My parrot sings."),)))
    disk = text.replace("The cat sat here.", "A dog ran away.")
    after = apply_outside_change(review, disk)
    check_invariants(after)
    assert after.saved == disk
    assert after.working == text.replace("The cat sat here.", "My parrot sings.")
    (hunk,) = after.hunks
    assert (hunk.conflict, hunk.author, hunk.unsettled) == (True, "user", True)
    assert ("A dog ran away" in hunk.base, "My parrot sings" in hunk.working) == (True, True)
    with pytest.raises(Refused):
        accept(after, [hunk.id])
    assert take_theirs(after, [hunk.id]) == Review.of(disk)
    assert resolve(after, hunk.id, hunk.working) == Review.of(after.working)


def test_an_agents_edit_of_words_that_another_program_changed_stands_beside_them():
    review = proposed(Review.of(BASE), "fox", "cat")
    after = apply_outside_change(review, BASE.replace("fox", "hen"))
    check_invariants(after)
    (hunk,) = after.hunks
    assert (hunk.conflict, hunk.base, hunk.proposed, hunk.working) == (True, "hen", "cat", "hen")
    with pytest.raises(Refused) as refused:
        accept(after, [hunk.id])
    assert refused.value.code == "conflict"
    assert accept_all(take_theirs(after, [hunk.id])).base == BASE.replace("fox", "cat")
    assert reject_all(after).working == BASE.replace("fox", "hen")


@pytest.mark.parametrize(
    ("base", "agent", "typed_in", "left"),
    [
        ("Total: 5.00 EUR\n", ("5.00", "7.50"), (7, "x"), "Total: x5.00 EUR\n"),
        ("in the end\n", ("the", "that"), (4, "<411>"), "in t<411>he end\n"),
        ("one two three\n", (" two", ""), (3, "!"), "one! two three\n"),
    ],
)
def test_reject_keeps_every_character_of_base_and_of_the_persons_and_adds_none(
    base: str, agent: tuple[str, str], typed_in: tuple[int, str], left: str
) -> None:
    at, new = typed_in
    review = type_into(proposed(Review.of(base), *agent), Change((Edit(at, "", new),)))
    assert reject_all(review).working == left
    assert reject_all(review).to_save == review.to_save == left


def test_decisions_by_a_larger_unit_take_all_the_hunks_in_it() -> None:
    text = "One two. Three four. Five six.\n\nSeven eight.\n"
    new = "1 2. 3 four. Five 6.\n\n7 eight.\n"
    review = apply_agent_turn(Review.of(text), text, new, "turn")
    first = review.hunks[0].id
    shown = {
        unit: [hunk.working for hunk in review.hunks if hunk.id in expand(review, [first], unit)]
        for unit in ("words", "sentence", "paragraph", "suggestion", "document")
    }
    assert shown == {
        "words": ["1 2"],
        "sentence": ["1 2"],
        "paragraph": ["1 2", "3", "6"],
        "suggestion": ["1 2", "3", "6", "7"],
        "document": ["1 2", "3", "6", "7"],
    }


def test_a_larger_unit_takes_no_hunk_of_the_persons_own_with_it() -> None:
    text = "one two three four. five.\n"
    review = typed(typed(Review.of(text), "one", "o8ne"), "five", "fi9ve")
    review = proposed(review, "three", "THREE")
    (agents,) = [hunk.id for hunk in review.hunks if hunk.author == "agent"]
    for unit in ("suggestion", "sentence", "paragraph", "document"):
        assert expand(review, [agents], unit) == [agents]


@pytest.mark.slow
@pytest.mark.covers("RD-review-sessions")
def test_every_decision_of_real_sessions_can_be_made_when_all_edits_come_at_once(material: Path) -> None:
    for recorded in rounds(material):
        before = recorded["before"]
        edits = sorted(recorded["edits"], key=lambda edit: (edit["start"], edit["end"]))
        change = Change(
            tuple(Edit(edit["start"], before[edit["start"] : edit["end"]], edit["after"] or "") for edit in edits)
        )
        review = apply_agent_turn(Review.of(before), before, change.apply(before), "turn", [change])
        verdicts = {f"turn#{number}": edit["decision"] for number, edit in enumerate(edits, 1)}
        accepted = [hunk.id for hunk in review.hunks if verdicts[hunk.suggestion] == "accept"]
        rejected = [hunk.id for hunk in review.hunks if verdicts[hunk.suggestion] != "accept"]
        assert reject(accept(review, accepted), rejected).working == recorded["accepted_result"]


def test_who_writes_over_a_hunk_what_stood_there_before_refuses_it_and_keeps_their_own_words():
    typed = type_into(Review.of("# Title\n"), Change((Edit(0, "", "My "),)))
    review = apply_agent_turn(typed, typed.working, "itle\n", "turn")
    (hunk,) = review.hunks
    assert (hunk.base, hunk.working) == ("My # Title", "itle")
    after = type_into(review, Change((Edit(0, "itle", "My # Title"),)))
    assert after == typed


def test_three_who_change_one_word_each_keep_theirs():
    review = proposed(Review.of(BASE), "fox", "cat")
    at = review.working.index("cat")
    review = type_into(review, Change((Edit(at + 3, "", "XX"),)))
    after = apply_outside_change(review, BASE.replace("fox", "hen"))
    check_invariants(after)
    (hunk,) = after.hunks
    assert (hunk.base, hunk.proposed, hunk.working, hunk.unsettled) == ("hen", "cat", "foxXX", True)
    refused = reject_all(after)
    assert (refused.saved, refused.working) == (BASE.replace("fox", "hen"), BASE.replace("fox", "foxXX"))
    assert refused.unsaveable  # the person's words and the other program's are still at odds
    (left,) = refused.hunks
    assert take_theirs(refused, [left.id]) == Review.of(BASE.replace("fox", "hen"))


@pytest.mark.parametrize("half", ["", "The cat", "The cat sat"])
def test_a_program_that_writes_a_file_in_two_goes_doubles_nothing_beside_unsaved_typing(half: str):
    text = "The cat sat here.\nSecond line.\n"
    review = type_into(Review.of(text), Change((Edit(7, "", "!"),)))
    halfway = apply_outside_change(review, half)
    check_invariants(halfway)
    assert halfway.saved == half
    assert "!" in halfway.working
    assert halfway.unsaveable or half
    on = type_into(halfway, Change((Edit(halfway.working.index("!") + 1, "", "?"),)))
    after = apply_outside_change(on, text + "Third.\n")
    check_invariants(after)
    assert (after.saved, after.working) == (text + "Third.\n", text.replace("cat", "cat!?") + "Third.\n")
    # What is marked as a conflict waits for the person, and nothing else does.
    assert after.unsaveable is any(hunk.conflict for hunk in after.hunks) is (half == "The cat sat")


def test_a_full_stop_typed_behind_words_that_another_program_changed_stays_behind_them():
    text = "It was dark for eleven years.\n"
    at = text.index("years.")
    review = type_into(Review.of(text), Change((Edit(at, "years.", ""),)))
    for place, key in enumerate("winters."):
        review = type_into(review, Change((Edit(at + place, "", key),)))
    after = apply_outside_change(review, text.replace("years", "days long"))
    check_invariants(after)
    assert (after.working, after.to_save) == (text.replace("years", "winters"),) * 2


@pytest.mark.parametrize(
    ("base", "old", "new", "typing", "left"),
    [
        ("Total: 5.00 EUR.\n", "5.00 EUR", "7.50 USD", [("50", "99")], "Total: 5.0099 EUR.\n"),
        ("Total: 5.00 EUR.\n", "5.00 EUR", "7.50 USD", [("50 ", " ")], "Total: 5.00 EUR.\n"),
        ("Total: 5.00 EUR.\n", "5.00 EUR", "7.50 USD", [("0 ", " "), ("5 ", " ")], "Total: 5.00 EUR.\n"),
        (
            "The cat sat here.\n",
            "cat sat",
            "dog stood",
            [("dog stood", "h"), ("h h", "hounds h")],
            "The cat sathounds here.\n",
        ),
        ("The cat sat here.\n", "cat", "dog", [("dog", "hound")], "The cathound sat here.\n"),
        ("The cat sat here.\n", "cat", "dog", [("dog", ""), ("The ", "The hound")], "The houndcat sat here.\n"),
        ("The cat sat here.\n", "cat", "dog", [("dog sat ", "")], "The cat here.\n"),
    ],
    ids=["typed over", "deleted", "one by one", "two words", "one word", "deleted, then typed", "and a saved word"],
)
@pytest.mark.covers("P5", "RD-review-mixed")
def test_who_takes_out_an_agents_words_gets_the_old_ones_back_whole_with_a_reject(
    base: str, old: str, new: str, typing: list[tuple[str, str]], left: str
):
    review = proposed(Review.of(base), old, new)
    for was, becomes in typing:
        review = typed(review, was, becomes)
    seen = review.working
    assert accept_all(review).base == seen
    after = reject_all(review)
    check_invariants(after)
    assert after.working == left
    assert any(hunk.conflict for hunk in after.hunks) == any(becomes.strip() for _, becomes in typing)


def test_what_is_typed_in_place_of_an_agents_word_is_one_hunk_with_it():
    review = typed(proposed(Review.of("The cat sat.\n"), "cat", "dog"), "dog", "hound")
    (hunk,) = review.hunks
    assert (hunk.author, hunk.base, hunk.working) == ("mixed", "cat", "hound")


TYPED_EVERYWHERE = (
    *(("wbbz", "wbb1z"), ("wadz", "w2adz"), ("wccz", "wcc3z"), ("waaz", "4waaz"), ("wacz", "wa5cz")),
    *(("wcaz", "wca6z"), ("wbb1z", "wb7b1z"), ("wbaz", "8wbaz")),
)


@pytest.mark.parametrize(
    ("old", "new", "shown"), [("AGFZ", "AGBD", True), ("AGF AGFZ", "AGH", True), ("AGFZ\n4waaz", "ZZ", False)]
)
def test_an_agents_words_within_a_conflict_are_edited_whole_or_not_at_all_and_come_back_with_a_reject(
    old: str, new: str, shown: bool
):
    base = "waaz wabz wacz wadz\nwbaz wbbz wbcz\nwcaz wcbz wccz"
    review = Review.of(base)
    for word, becomes in TYPED_EVERYWHERE:
        review = typed(review, word, becomes)
    review = apply_outside_change(review, base.replace("wbcz", "OUTD wbcz"))
    assert [hunk.conflict for hunk in review.hunks] == [True]
    review = apply_agent_turn(review, review.working, f"AGF AGFZ\n{review.working}", "first")
    assert review.working.startswith("AGF AGFZ\n4waaz")
    after = proposed_beside(review, old, new)
    assert after.working == (review.working.replace(old, new) if shown else review.working)
    undone = withdraw(after, "second")
    assert undone is not None
    assert undone.working == review.working


def proposed_beside(review: Review, old: str, new: str) -> Review:
    at = review.working.index(old)
    change = Change((Edit(at, old, new),))
    return apply_agent_turn(review, review.working, change.apply(review.working), "second", [change])
