"""An agent proposes, a person decides: hunks, their authors, and what each decision does to the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.config import Settings
from redraft.errors import Refused
from redraft.history.turns import State
from redraft.text.edits import Change, Edit
from redraft.workspace.document import content_hash
from tests.workspace.folder import (
    AGENT,
    POEM,
    agent_writes,
    draft_of,
    hunk_with,
    hunks,
    replaced,
    turn_of,
    type_over,
    working,
)

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


TWO = replaced(POEM, Amber="Agate", Jetty="Quay")


@pytest.mark.covers("SB-review-staged-shown", "SB-state-proposal-at-once", "SB-state-three-texts")
def test_a_proposal_is_in_the_working_text_and_not_on_disk(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    assert working(workspace, "a.md") == TWO
    assert folder.text("a.md") == POEM
    review = draft_of(workspace, "a.md").review
    assert (review.base, review.proposed, review.working) == (POEM, TWO, TWO)


@pytest.mark.covers("SB-review-accept", "SB-review-only-accepted", "SB-dec-per-hunk")
def test_accepting_one_hunk_writes_just_that_hunk(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    decided = workspace.accept({"a.md": [hunk_with(workspace, "a.md", "Agate").id]})
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")
    assert working(workspace, "a.md") == TWO
    assert (decided.counts, decided.left) == ({"a.md": 1}, {"a.md": 1})
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["agent"]


@pytest.mark.covers("SB-review-reject", "SB-dec-reject-reverts", "SB-state-reject-original", "SB-dec-per-hunk")
def test_rejecting_one_hunk_brings_its_text_back_and_leaves_the_others(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    workspace.reject({"a.md": [hunk_with(workspace, "a.md", "Agate").id]})
    assert working(workspace, "a.md") == replaced(POEM, Jetty="Quay")
    assert folder.text("a.md") == POEM
    assert len(hunks(workspace, "a.md")) == 1


@pytest.mark.covers("SB-state-undo-reject", "ML-goal-control")
def test_a_reject_can_be_undone_and_then_accepted(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    chosen = hunk_with(workspace, "a.md", "Agate").id
    workspace.reject({"a.md": [chosen]})
    assert workspace.undo().conflicts == []
    assert working(workspace, "a.md") == TWO
    assert hunk_with(workspace, "a.md", "Agate").id == chosen
    workspace.accept({"a.md": [chosen]})
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")


@pytest.mark.covers("SB-state-undo-reject")
def test_the_last_reject_of_a_review_can_be_undone_too(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": TWO}))
    workspace.reject({"a.md": None})
    assert workspace.draft("a.md") is None
    assert workspace.show(proposal.id).state is State.DISCARDED
    workspace.undo()
    assert working(workspace, "a.md") == TWO
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["agent", "agent"]
    assert workspace.show(proposal.id).state is State.PROPOSED


@pytest.mark.covers("SB-review-accept-file", "ML-record-accept", "ML-diffsys-status", "TK-review-accept-reject")
def test_accepting_all_of_a_file_writes_the_proposal_and_ends_the_review(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": TWO}))
    decided = workspace.accept({"a.md": None})
    assert folder.text("a.md") == TWO
    assert workspace.drafts() == []
    assert decided.left == {"a.md": 0}
    assert workspace.show(proposal.id).state is State.APPLIED


@pytest.mark.covers("TK-review-reject-restores", "TK-review-accept-reject")
def test_rejecting_all_of_a_turn_brings_back_the_state_before_it(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    before = folder.tree()
    proposal = turn_of(agent_writes(workspace, {"a.md": TWO, "b.md": "two\n"}))
    workspace.reject(dict.fromkeys(proposal.paths))
    assert folder.tree() == before
    assert workspace.drafts() == []
    assert [working(workspace, path) for path in ("a.md", "b.md")] == [POEM, "one\n"]
    assert workspace.show(proposal.id).state is State.DISCARDED


@pytest.mark.covers("TK-multi-whole-turn", "TK-multi-accept", "TK-multi-reject")
@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_turn_over_several_documents_is_decided_by_one_act_and_undone_by_one(folder: Folder, decision: str) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "one\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "All kinds") as turn:
        turn.write("a.md", "two\n", turn.read("a.md").version)
        turn.delete("b.md", turn.read("b.md").version)
        turn.create("c.md", "three\n")
    assert turn.outcome is not None
    proposal = turn_of(turn.outcome)
    before = folder.tree()
    (workspace.accept if decision == "accept" else workspace.reject)(dict.fromkeys(proposal.paths))
    after = {"a.md": b"two\n", "c.md": b"three\n"} if decision == "accept" else before
    assert folder.tree() == after
    assert workspace.drafts() == []
    wanted = State.APPLIED if decision == "accept" else State.DISCARDED
    assert workspace.show(proposal.id).state is wanted
    assert workspace.undo().conflicts == []
    assert folder.tree() == before
    assert workspace.show(proposal.id).state is State.PROPOSED
    assert sorted(draft.key for draft in workspace.drafts()) == ["a.md", "b.md", "c.md"]
    (workspace.accept if decision == "accept" else workspace.reject)(dict.fromkeys(proposal.paths))
    assert folder.tree() == after
    assert workspace.show(proposal.id).state is wanted


@pytest.mark.covers("TK-multi-whole-turn")
def test_where_turns_are_decided_whole_a_part_of_one_is_refused(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open(Settings(review="turn"))
    proposal = turn_of(agent_writes(workspace, {"a.md": TWO, "b.md": "two\n"}))
    before = folder.tree()
    some = hunk_with(workspace, "a.md", "Agate").id
    for act in (workspace.accept, workspace.reject):
        for choice in ({"a.md": [some], "b.md": None}, {"a.md": None}, {"b.md": None}):
            with pytest.raises(Refused):
                act(choice)
    assert folder.tree() == before
    workspace.accept(dict.fromkeys(proposal.paths))
    assert folder.tree() == {"a.md": TWO.encode(), "b.md": b"two\n"}


def test_a_proposal_is_applied_as_soon_as_any_of_it_was_taken(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": TWO}))
    workspace.accept({"a.md": [hunk_with(workspace, "a.md", "Agate").id]})
    assert workspace.show(proposal.id).state is State.PROPOSED
    workspace.reject({"a.md": None})
    assert workspace.show(proposal.id).state is State.APPLIED
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")


@pytest.mark.covers("SB-manual-joins", "SB-manual-one-mechanism", "SB-state-origin", "RD-review-authors")
def test_what_the_person_types_during_a_review_joins_it(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Ember", "Emerald")
    inside = Edit(working(workspace, "a.md").index("Quay") + 2, "", "-typed-")
    workspace.type("a.md", Change((inside,)))
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["agent", "user", "mixed"]
    assert folder.text("a.md") == POEM


@pytest.mark.covers("RD-review-mixed", "P5")
def test_rejecting_a_mixed_hunk_takes_back_the_agents_words_and_keeps_the_persons(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Quay stands", "Quay proudly stands")
    workspace.reject({"a.md": [hunk_with(workspace, "a.md", "Quay").id]})
    assert "Jetty proudly stands alone" in working(workspace, "a.md")
    assert hunk_with(workspace, "a.md", "proudly").author == "user"


@pytest.mark.covers("RD-review-save", "P5")
def test_saving_during_a_review_writes_own_edits_and_leaves_the_agents_pending(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Ember", "Emerald")
    assert workspace.save("a.md") is not None
    assert folder.text("a.md") == replaced(POEM, Ember="Emerald")
    assert working(workspace, "a.md") == replaced(TWO, Ember="Emerald")
    assert not draft_of(workspace, "a.md").dirty
    assert workspace.save("a.md") is None
    workspace.accept({"a.md": None})
    assert folder.text("a.md") == replaced(TWO, Ember="Emerald")
    assert workspace.drafts() == []


@pytest.mark.covers("RD-review-save", "P5")
def test_saving_a_mixed_hunk_writes_the_persons_words_alone(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Quay stands", "Quay proudly stands")
    workspace.save("a.md")
    assert folder.text("a.md") == POEM.replace("Jetty stands", "Jetty proudly stands")
    assert "Quay proudly stands" in working(workspace, "a.md")
    workspace.accept({"a.md": None})
    assert folder.text("a.md") == TWO.replace("Quay stands", "Quay proudly stands")


def test_accepting_does_not_save_typing_elsewhere_in_the_document(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Ember", "Emerald")
    workspace.accept({"a.md": [hunk_with(workspace, "a.md", "Agate").id]})
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")
    assert working(workspace, "a.md") == replaced(TWO, Ember="Emerald")
    assert draft_of(workspace, "a.md").dirty
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")


def test_rejecting_all_leaves_the_persons_own_hunks_standing(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Ember", "Emerald")
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == replaced(POEM, Ember="Emerald")
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["user"]


def test_a_person_may_reject_a_hunk_of_their_own(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    workspace.reject({"a.md": [hunk_with(workspace, "a.md", "Emerald").id]})
    assert working(workspace, "a.md") == POEM
    workspace.undo()
    assert working(workspace, "a.md") == replaced(POEM, Ember="Emerald")


@pytest.mark.covers("SB-safe-base-hash")
def test_accepting_is_refused_where_the_file_is_not_the_one_that_was_shown(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    shown = content_hash(folder.bytes("a.md"))
    folder.put("a.md", replaced(POEM, Fjord="Firth"))
    before = folder.tree()
    with pytest.raises(Refused) as refused:
        workspace.accept({"a.md": None}, base_hash={"a.md": shown})
    assert refused.value.code == "conflict"
    assert folder.tree() == before
    assert refused.value.details["base_file_hash"] == content_hash(folder.bytes("a.md"))
    workspace.accept({"a.md": None}, base_hash={"a.md": content_hash(folder.bytes("a.md"))})
    assert folder.text("a.md") == replaced(TWO, Fjord="Firth")


def test_an_unknown_hunk_is_refused_and_nothing_of_the_choice_is_done(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO, "b.md": "two\n"})
    before = folder.tree()
    for act in (workspace.accept, workspace.reject):
        for choice in ({"b.md": None, "a.md": ["h_nonsense"]}, {"c.md": None}, {"a.md": ["file"]}):
            with pytest.raises(Refused) as refused:
                act(choice)
            assert refused.value.code == "hunk_not_found"
    assert folder.tree() == before
    assert len(workspace.drafts()) == 2


def test_deciding_about_nothing_makes_no_turn(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    count = len(workspace.turns())
    assert workspace.accept({"a.md": []}).turn is None
    assert workspace.accept({}).turn is None
    type_over(workspace, "a.md", "Ember", "Emerald")
    workspace.reject({"a.md": None})
    count += 1
    assert workspace.reject({"a.md": None}).turn is None
    assert len(workspace.turns()) == count
