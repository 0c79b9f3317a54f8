"""A person and several agents at one document: late turns, conflicts, proposals side by side, and a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused
from redraft.history.turns import State
from tests.workspace.folder import (
    AGENT,
    OTHER_AGENT,
    POEM,
    agent_writes,
    draft_of,
    hunk_with,
    hunks,
    person_writes,
    replaced,
    turn_of,
    type_at_end,
    type_over,
    working,
)

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


TWO = replaced(POEM, Amber="Agate", Jetty="Quay")


def late_conflict(folder: Folder) -> None:
    """The agent rewrites a sentence that the person rewrites meanwhile."""
    folder.put("a.md", POEM)
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Late")
    turn.write("a.md", replaced(POEM, Ember="Flame"), turn.read("a.md").version)
    type_over(workspace, "a.md", "Ember", "Glow")
    turn.commit()


@pytest.mark.covers("RD-review-conflict", "P5")
def test_an_agents_late_turn_over_typing_is_a_conflict_that_keeps_the_typing(folder: Folder) -> None:
    late_conflict(folder)
    workspace = folder.open()
    (hunk,) = hunks(workspace, "a.md")
    assert (hunk.conflict, hunk.author) == (True, "mixed")
    assert "Glow" in hunk.working
    assert "Flame" in hunk.proposed
    assert working(workspace, "a.md") == replaced(POEM, Ember="Glow")


@pytest.mark.covers("RD-review-conflict")
def test_a_conflict_settled_for_the_agent_still_waits_to_be_accepted(folder: Folder) -> None:
    late_conflict(folder)
    workspace = folder.open()
    workspace.settle("a.md", hunks(workspace, "a.md")[0].id)
    assert working(workspace, "a.md") == replaced(POEM, Ember="Flame")
    assert folder.text("a.md") == POEM
    assert not hunks(workspace, "a.md")[0].conflict
    workspace.accept({"a.md": None})
    assert folder.text("a.md") == replaced(POEM, Ember="Flame")


@pytest.mark.covers("RD-review-conflict")
def test_a_conflict_settled_with_a_text_of_ones_own_is_written(folder: Folder) -> None:
    late_conflict(folder)
    workspace = folder.open()
    hunk = hunks(workspace, "a.md")[0]
    workspace.settle("a.md", hunk.id, hunk.working.replace("Glow", "Glowing flame"))
    assert folder.text("a.md") == replaced(POEM, Ember="Glowing flame")
    assert workspace.drafts() == []
    workspace.undo()
    assert working(workspace, "a.md") == replaced(POEM, Ember="Glow")
    assert hunks(workspace, "a.md")[0].conflict


def test_a_conflict_is_not_accepted_before_it_is_settled(folder: Folder) -> None:
    late_conflict(folder)
    workspace = folder.open()
    (hunk,) = hunks(workspace, "a.md")
    for choice in (None, [hunk.id]):
        with pytest.raises(Refused) as refused:
            workspace.accept({"a.md": choice})
        assert refused.value.code == "conflict"
    assert folder.text("a.md") == POEM
    assert hunks(workspace, "a.md") == (hunk,)


def test_a_conflict_rejected_for_the_persons_words_leaves_them_unsaved_typing(folder: Folder) -> None:
    late_conflict(folder)
    workspace = folder.open()
    workspace.reject({"a.md": None})
    draft = draft_of(workspace, "a.md")
    assert (draft.pending, draft.dirty) == (False, True)
    assert working(workspace, "a.md") == replaced(POEM, Ember="Glow")
    workspace.save("a.md")
    assert folder.text("a.md") == replaced(POEM, Ember="Glow")


@pytest.mark.covers("RD-review-restart", "RD-tabs-crash")
@pytest.mark.parametrize("crash", [False, True])
def test_a_pending_review_and_unsaved_typing_survive(folder: Folder, crash: bool) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    type_over(workspace, "a.md", "Ember", "Emerald")
    shown = hunks(workspace, "a.md")
    if not crash:
        workspace.close()
    again = folder.open()
    assert hunks(again, "a.md") == shown
    assert working(again, "a.md") == replaced(TWO, Ember="Emerald")
    assert folder.text("a.md") == POEM
    again.accept({"a.md": None})
    assert folder.text("a.md") == replaced(TWO, Ember="Emerald")


def test_two_agents_proposals_on_one_document_are_judged_apart(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    first = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}))
    second = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")}, author=OTHER_AGENT))
    assert [hunk.turn for hunk in hunks(workspace, "a.md")] == [first.token, second.token]
    workspace.reject({"a.md": [hunk_with(workspace, "a.md", "Agate").id]})
    assert workspace.show(first.id).state is State.DISCARDED
    assert workspace.show(second.id).state is State.PROPOSED
    workspace.accept({"a.md": None})
    assert workspace.show(second.id).state is State.APPLIED
    assert folder.text("a.md") == replaced(POEM, Jetty="Quay")


def test_two_agents_proposals_accepted_by_one_act_are_both_applied(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    first = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}))
    second = turn_of(agent_writes(workspace, {"a.md": TWO}, author=OTHER_AGENT))
    workspace.accept({"a.md": None})
    assert [workspace.show(turn.id).state for turn in (first, second)] == [State.APPLIED, State.APPLIED]
    assert folder.text("a.md") == TWO


def test_a_second_agent_may_build_on_the_first_ones_proposal(folder: Folder) -> None:
    folder.put("a.md", "The fox runs.\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "The quick fox runs.\n"})
    agent_writes(workspace, {"a.md": "The quick fox runs away.\n"}, author=OTHER_AGENT)
    assert working(workspace, "a.md") == "The quick fox runs away.\n"
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == "The fox runs.\n"


@pytest.mark.covers("P5")
def test_an_agents_turn_over_what_the_person_typed_can_be_rejected_back_to_it(folder: Folder) -> None:
    folder.put("a.md", "The fox runs.\n")
    workspace = folder.open()
    type_over(workspace, "a.md", "fox", "brown fox")
    agent_writes(workspace, {"a.md": "A dog sleeps.\n"})
    assert working(workspace, "a.md") == "A dog sleeps.\n"
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == "The brown fox runs.\n"


def test_an_agent_in_apply_leaves_unsaved_typing_unsaved(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    text = working(workspace, "a.md")
    agent_writes(workspace, {"a.md": replaced(text, Amber="Agate")}, mode="apply")
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")
    assert draft_of(workspace, "a.md").dirty


@pytest.mark.covers("P5")
def test_an_agent_in_apply_cannot_write_over_unsaved_typing(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Emerald")
    before = folder.tree()
    with pytest.raises(Refused) as refused:
        agent_writes(workspace, {"a.md": replaced(working(workspace, "a.md"), Emerald="Flame")}, mode="apply")
    assert refused.value.code == "conflict"
    assert folder.tree() == before
    assert working(workspace, "a.md") == replaced(POEM, Ember="Emerald")


def test_a_persons_turn_keeps_what_is_pending_pending(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": TWO})
    person_writes(workspace, {"a.md": replaced(TWO, Ember="Emerald")})
    assert folder.text("a.md") == replaced(POEM, Ember="Emerald")
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["agent", "agent"]


def test_hunks_keep_their_ids_while_others_are_decided_and_typing_goes_on(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(TWO, Ember="Flame")})
    names = {word: hunk_with(workspace, "a.md", word).id for word in ("Agate", "Flame", "Quay")}
    type_over(workspace, "a.md", "Grove", "Copse")
    workspace.accept({"a.md": [names["Flame"]]})
    type_at_end(workspace, "a.md", "The end.\n")
    assert hunk_with(workspace, "a.md", "Agate").id == names["Agate"]
    assert hunk_with(workspace, "a.md", "Quay").id == names["Quay"]


@pytest.mark.covers("P5")
def test_a_conflict_settled_in_a_document_that_is_still_proposed_waits_with_it(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "New", mode="propose") as turn:
        turn.create("new.md", "one two\n\nlast\n")
    turn = workspace.turn(AGENT, "Again", mode="propose")
    turn.write("new.md", "one 2\n\nlast\n", turn.read("new.md").version)
    type_over(workspace, "new.md", "two", "TYPED")
    turn.commit()
    (hunk,) = [hunk for hunk in hunks(workspace, "new.md") if hunk.conflict]
    workspace.settle("new.md", hunk.id, "one TYPED and 2\n")
    assert "new.md" not in folder.tree()
    assert "one TYPED and 2\n" in working(workspace, "new.md")
    workspace.reject({"new.md": None})
    assert "TYPED and 2" in working(workspace, "new.md")


def test_settling_a_hunk_deletes_no_document(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "two\n"}, mode="propose")
    with workspace.turn(AGENT, "Gone", mode="propose") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    (hunk,) = hunks(workspace, "a.md")
    workspace.settle("a.md", hunk.id, "one and two")
    assert folder.text("a.md") == "one and two\n"
    assert [draft.kind for draft in workspace.drafts()] == ["deleted"]
