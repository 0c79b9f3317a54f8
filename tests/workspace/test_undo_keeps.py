"""What undo spares: everything that came after the turn it takes back, or it names the conflict and does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused
from redraft.history.turns import State
from workspace.folder import (
    AGENT,
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
    from workspace.folder import Folder


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


def test_a_proposal_that_was_accepted_is_undone_by_undoing_the_decision(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    proposal = turn_of(agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")}))
    workspace.accept({"a.md": None})
    with pytest.raises(Refused):
        workspace.undo(proposal.id)
    assert folder.text("a.md") == replaced(POEM, Amber="Agate")
    workspace.undo()
    workspace.undo()
    assert folder.text("a.md") == working(workspace, "a.md") == POEM
    assert workspace.drafts() == []
