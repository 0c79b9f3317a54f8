"""What undo spares: everything that came after the turn it takes back, or it names the conflict and does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.history.turns import State
from tests.workspace.folder import (
    AGENT,
    PERSON,
    POEM,
    agent_writes,
    hunk_with,
    hunks,
    person_writes,
    replaced,
    turn_of,
    type_at_end,
    type_over,
    working,
    yes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def create(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "New", mode="apply") as turn:
        turn.create("new/n.md", "new\n")


def delete(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "Gone", mode="apply", confirm=yes) as turn:
        turn.delete("a.md", turn.read("a.md").version)


def move(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "Elsewhere", mode="apply") as turn:
        turn.move("a.md", "b/c.md", turn.read("a.md").version)


@pytest.mark.covers("P5", "P6")
def test_undo_of_an_earlier_turn_keeps_later_unrelated_edits(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    first = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}, mode="apply"))
    person_writes(workspace, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")})
    folder.put("a.md", replaced(POEM, Amber="Agate", Jetty="Quay", Cedar="Cypress"))
    type_over(workspace, "a.md", "Ember", "Emerald")
    assert workspace.undo(first.id).conflicts == []
    assert folder.text("a.md") == replaced(POEM, Jetty="Quay", Cedar="Cypress")
    assert working(workspace, "a.md") == replaced(POEM, Jetty="Quay", Cedar="Cypress", Ember="Emerald")


@pytest.mark.covers("P3", "P5")
def test_undo_that_meets_a_later_edit_names_the_document_and_writes_nothing(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("b.md", "one\n")
    workspace = folder.open()
    changed = {"a.md": replaced(POEM, Amber="Agate"), "b.md": "two\n"}
    first = turn_of(agent_writes(workspace, changed, mode="apply"))
    person_writes(workspace, {"a.md": replaced(POEM, Amber="Opal")})
    before, count = folder.tree(), len(workspace.turns())
    taken = workspace.undo(first.id)
    assert taken.turn is None
    assert [clash.path for clash in taken.conflicts] == ["a.md"]
    assert taken.conflicts[0].reason
    assert (folder.tree(), len(workspace.turns())) == (before, count)
    assert workspace.show(first.id).state is State.APPLIED


@pytest.mark.covers("P5")
@pytest.mark.parametrize("act", [create, delete, move])
def test_undo_of_a_creation_deletion_or_move_spares_what_came_later(
    folder: Folder, act: Callable[[Workspace], None]
) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    act(workspace)
    number = workspace.turns()[0].id
    if act is create:
        person_writes(workspace, {"new/n.md": "new, and mine\n"})
    elif act is delete:
        folder.put("a.md", "somebody's new document\n")
    else:
        folder.put("a.md", "somebody's new document\n")
    before = folder.tree()
    taken = workspace.undo(number)
    assert taken.turn is None
    assert taken.conflicts
    assert folder.tree() == before


@pytest.mark.covers("P5")
def test_undo_of_a_creation_keeps_what_was_typed_into_the_document(folder: Folder) -> None:
    workspace = folder.open()
    create(workspace)
    type_at_end(workspace, "new/n.md", "typed\n")
    workspace.undo()
    assert "typed\n" in working(workspace, "new/n.md")


@pytest.mark.covers("P5")
def test_undo_of_a_proposal_keeps_what_was_typed_since(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")})
    type_over(workspace, "a.md", "Ember", "Emerald")
    assert workspace.undo().conflicts == []
    assert working(workspace, "a.md") == replaced(POEM, Ember="Emerald")
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["user"]


@pytest.mark.covers("P5")
def test_undo_of_an_accept_keeps_what_was_typed_since(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")})
    workspace.accept({"a.md": [hunk_with(workspace, "a.md", "Agate").id]})
    type_over(workspace, "a.md", "Ember", "Emerald")
    assert workspace.undo().conflicts == []
    assert folder.text("a.md") == POEM
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate", Jetty="Quay", Ember="Emerald")
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == replaced(POEM, Ember="Emerald")


@pytest.mark.covers("P5")
def test_undo_of_a_save_keeps_the_text_as_unsaved_typing(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    type_at_end(workspace, "a.md", "typed\n")
    workspace.save("a.md")
    workspace.undo()
    assert folder.text("a.md") == "one\n"
    assert working(workspace, "a.md") == "one\ntyped\n"


def test_a_proposal_is_undone_whole_after_it_was_accepted(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}))
    workspace.accept({"a.md": None})
    assert workspace.undo(proposal.id).conflicts == []
    assert folder.text("a.md") == working(workspace, "a.md") == POEM
    assert workspace.drafts() == []


def come_back(workspace: Workspace) -> None:
    """Turn 1 is proposed, refused by turn 2, and turn 3 takes the refusal back: its hunk waits again."""
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}, mode="propose")
    workspace.reject({"a.md": None})
    workspace.undo()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")}, mode="propose")


@pytest.mark.parametrize("both", [True, False])
def test_a_hunk_that_came_back_and_was_accepted_is_not_proposed_away_again(folder: Folder, both: bool) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    come_back(workspace)
    workspace.accept({"a.md": None if both else [hunk_with(workspace, "a.md", "Agate").id]})
    shown = working(workspace, "a.md")
    taken = workspace.undo(3)
    assert [clash.reason for clash in taken.conflicts] == [
        "the same words have been changed or decided since: undo turn 5 first"
    ]
    assert working(workspace, "a.md") == shown == replaced(POEM, Amber="Agate", Jetty="Quay")
    assert "Agate" in folder.text("a.md")


def test_an_acceptance_is_not_redone_over_a_later_refusal(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}, mode="propose")
    workspace.accept({"a.md": None})
    workspace.undo()
    workspace.reject({"a.md": None})
    assert workspace.undo(3).turn is None
    assert working(workspace, "a.md") == folder.text("a.md") == POEM
    assert workspace.drafts() == []


def test_undo_of_a_hunk_that_came_back_takes_it_away_again_with_what_was_typed_kept(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    come_back(workspace)
    type_over(workspace, "a.md", "Agate stands", "Agate TYPED stands")
    assert workspace.undo(3).conflicts == []
    assert working(workspace, "a.md") == replaced(POEM, Amber="Amber TYPED", Jetty="Quay")


@pytest.mark.covers("P5")
def test_undo_of_a_proposal_accepted_in_one_document_takes_it_back_in_both_and_keeps_typing(folder: Folder) -> None:
    for name in ("a.md", "b.md"):
        folder.put(name, POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Ember", "Ember TYPED")
    mine = replaced(POEM, Ember="Ember TYPED")
    agent_writes(workspace, {"a.md": replaced(mine, Amber="Agate"), "b.md": replaced(POEM, Amber="Agate")})
    workspace.accept({"a.md": None})
    assert workspace.undo(1).conflicts == []
    assert workspace.drafts() == []
    assert folder.text("a.md") == mine
    assert working(workspace, "b.md") == POEM


def test_undo_of_a_proposal_does_not_propose_what_somebody_else_took_out(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    with workspace.turn(AGENT, "Gone", mode="propose") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    folder.put("a.md", "")
    assert workspace.undo().conflicts == []
    assert workspace.drafts() == []
    assert working(workspace, "a.md") == ""
    assert workspace.show(1).state is State.UNDONE


def test_undo_of_a_proposal_passes_over_a_document_in_which_nothing_of_it_is_left(folder: Folder) -> None:
    for name in ("a.md", "b.md"):
        folder.put(name, POEM)
    workspace = folder.open()
    change = replaced(POEM, Amber="Agate")
    agent_writes(workspace, {"a.md": change, "b.md": change}, mode="propose")
    workspace.reject({"a.md": None})
    type_over(workspace, "a.md", "Amber", "Ambergris")
    assert workspace.undo(1).conflicts == []
    assert working(workspace, "a.md") == replaced(POEM, Amber="Ambergris")
    assert working(workspace, "b.md") == POEM


def typed_and_moved(folder: Folder) -> Workspace:
    """The person types into a document without saving; turn 1 moves it from a.md to b.md."""
    folder.put("a.md", POEM)
    workspace = folder.open()
    type_over(workspace, "a.md", "Amber", "Amber TYPED")
    with workspace.turn(PERSON, "Move") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    return workspace


@pytest.mark.covers("P5")
def test_undo_of_a_move_that_was_restored_already_keeps_the_typing(folder: Folder) -> None:
    workspace = typed_and_moved(folder)
    workspace.restore(1)
    workspace.undo(1)
    assert working(workspace, "a.md") == replaced(POEM, Amber="Amber TYPED")


@pytest.mark.covers("P5")
def test_undo_of_a_move_keeps_a_document_that_was_proposed_in_the_old_place(folder: Folder) -> None:
    workspace = typed_and_moved(folder)
    with workspace.turn(AGENT, "New", mode="propose") as turn:
        turn.create("a.md", "new\n")
    type_at_end(workspace, "a.md", "TYPED here too\n")
    taken = workspace.undo(1)
    [clash] = taken.conflicts
    assert clash.reason == "there is now another document at a.md: decide about it, rename or delete it first"
    assert working(workspace, "a.md") == "new\nTYPED here too\n"
    assert working(workspace, "b.md") == replaced(POEM, Amber="Amber TYPED")


@pytest.mark.covers("P1", "P5")
def test_undo_of_a_move_takes_what_waits_in_the_document_along(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    move(workspace)
    agent_writes(workspace, {"b/c.md": replaced(POEM, Amber="Agate")})
    type_over(workspace, "b/c.md", "Ember", "Emerald")
    assert workspace.undo(1).conflicts == []
    assert folder.text("a.md") == POEM
    [draft] = workspace.drafts()
    assert (draft.path, draft.base_path, draft.kind) == ("a.md", "a.md", "modified")
    assert draft.review.to_save == replaced(POEM, Ember="Emerald")
    assert working(workspace, "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")


@pytest.mark.covers("P1", "P5")
def test_undo_of_a_move_that_a_proposal_would_take_back_leaves_nothing_of_the_move_to_decide(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    move(workspace)
    with workspace.turn(AGENT, "Back again") as turn:
        turn.move("b/c.md", "a.md", turn.read("b/c.md").version)
    type_over(workspace, "a.md", "Ember", "Emerald")
    assert workspace.undo(1).conflicts == []
    [draft] = workspace.drafts()
    assert (draft.path, draft.kind, draft.review.pending) == ("a.md", "modified", False)
    assert draft.review.to_save == replaced(POEM, Ember="Emerald")
    assert [turn.state for turn in workspace.turns() if turn.id == 2] == [State.DISCARDED]


def test_undo_of_a_move_is_refused_where_another_document_is_to_be_made_in_the_old_place(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    move(workspace)
    type_over(workspace, "b/c.md", "Ember", "Emerald")
    with workspace.turn(AGENT, "Another") as turn:
        turn.create("a.md", "Another.\n")
    refused = workspace.undo(1)
    assert refused.turn is None
    [clash] = refused.conflicts
    assert clash.reason == "there is now another document at a.md: decide about it, rename or delete it first"
    assert working(workspace, "b/c.md") == replaced(POEM, Ember="Emerald")


def test_undo_of_a_decision_is_refused_where_the_document_went_elsewhere_since(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    move(workspace)
    type_over(workspace, "b/c.md", "Ember", "Emerald")
    with workspace.turn(AGENT, "Away") as turn:
        turn.delete("b/c.md", turn.read("b/c.md").version)
    decided = workspace.reject({"b/c.md": ["file"]}).turn
    assert workspace.undo(1).conflicts == []
    refused = workspace.undo(decided.id if decided else None)
    assert [clash.reason for clash in refused.conflicts] == [
        "the document was deleted or moved since: undo turn 4 first"
    ]
    assert [draft.path for draft in workspace.drafts()] == ["a.md"]
