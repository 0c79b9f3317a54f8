"""A pending hunk belongs to the turn that proposed it, and stays in sight, whatever happens around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused
from redraft.history.turns import State
from tests.workspace.folder import (
    AGENT,
    OTHER_AGENT,
    PERSON,
    agent_writes,
    draft_of,
    hunks,
    type_over,
    working,
)

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

LINES = "one two three\n\nmiddle\n\nlast line\n"


def proposed(folder: Folder, text: str = LINES.replace("two", "2")) -> Workspace:
    """A folder in which turn 1 waits for a decision."""
    folder.put("a.md", LINES)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": text}, mode="propose")
    return workspace


def clashing(folder: Folder) -> Workspace:
    """As `proposed`, but the person wrote over the same words meanwhile."""
    folder.put("a.md", LINES)
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Clash", mode="propose")
    turn.write("a.md", LINES.replace("two", "AGENT"), turn.read("a.md").version)
    type_over(workspace, "a.md", "two", "PERSON")
    turn.commit()
    (hunk,) = hunks(workspace, "a.md")
    assert hunk.conflict
    return workspace


def check_open(workspace: Workspace, number: int = 1) -> None:
    """Turn 1 waits, and everything that is pending is its own."""
    assert workspace.show(number).state is State.PROPOSED
    pending = [hunk.id for hunk in hunks(workspace, "a.md") if hunk.author in ("agent", "mixed")]
    assert pending
    assert workspace.hunks_of_turn(number) == {"a.md": pending}


def test_a_turn_that_is_applied_around_a_hunk_leaves_it_its_turn(folder: Folder) -> None:
    workspace = proposed(folder)
    agent_writes(workspace, {"a.md": working(workspace, "a.md").replace("last", "LAST")}, mode="apply")
    check_open(workspace)
    assert folder.text("a.md") == LINES.replace("last", "LAST")


def test_an_outside_edit_on_the_same_line_leaves_a_hunk_its_turn(folder: Folder) -> None:
    workspace = proposed(folder)
    folder.put("a.md", LINES.replace("three", "three and more"))
    check_open(workspace)
    assert working(workspace, "a.md").startswith("one 2 three and more\n")


def test_undoing_ones_own_save_leaves_a_hunk_its_turn(folder: Folder) -> None:
    workspace = proposed(folder)
    type_over(workspace, "a.md", "three", "three and more")
    workspace.save("a.md")
    workspace.undo()
    check_open(workspace)
    assert folder.text("a.md") == LINES
    assert working(workspace, "a.md").startswith("one 2 three and more\n")


def test_undoing_an_acceptance_leaves_a_later_proposal_its_own_turn(folder: Folder) -> None:
    workspace = proposed(folder)
    workspace.accept({"a.md": None})
    agent_writes(workspace, {"a.md": working(workspace, "a.md").replace("last", "LAST")}, mode="propose")
    workspace.undo(2)
    first, second = hunks(workspace, "a.md")
    assert workspace.hunks_of_turn(1) == {"a.md": [first.id]}
    assert workspace.hunks_of_turn(3) == {"a.md": [second.id]}


def test_undoing_a_proposal_takes_back_what_was_accepted_of_it_too(folder: Folder) -> None:
    both = LINES.replace("two", "2").replace("last", "LAST")
    workspace = proposed(folder, both)
    first, second = hunks(workspace, "a.md")
    workspace.accept({"a.md": [first.id]})
    workspace.undo(1)
    assert workspace.drafts() == []
    assert working(workspace, "a.md") == folder.text("a.md") == LINES
    workspace.redo()
    assert folder.text("a.md") == LINES.replace("two", "2")
    assert [hunk.id for hunk in hunks(workspace, "a.md")] == [second.id]
    check_open(workspace)


def test_the_next_undo_after_a_proposal_is_undone_passes_over_its_acceptance(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": LINES.replace("middle", "MIDDLE")}, mode="apply")
    agent_writes(workspace, {"a.md": LINES.replace("middle", "MIDDLE").replace("two", "2")}, mode="propose")
    workspace.accept({"a.md": None})
    workspace.undo(2)
    assert folder.text("a.md") == LINES.replace("middle", "MIDDLE")
    assert workspace.undo().conflicts == []
    assert folder.text("a.md") == LINES


def test_an_outside_edit_beside_a_conflict_leaves_the_agents_words_in_sight(folder: Folder) -> None:
    workspace = clashing(folder)
    folder.put("a.md", "first of all\n" + LINES.replace("three", "three and more"))
    (hunk,) = hunks(workspace, "a.md")
    assert hunk.conflict
    assert "AGENT" in hunk.proposed
    assert "PERSON" in hunk.working
    check_open(workspace)


def test_a_merging_turn_over_a_conflict_is_refused_and_loses_no_typing(folder: Folder) -> None:
    workspace = clashing(folder)
    before = draft_of(workspace, "a.md")
    turn = workspace.turn(OTHER_AGENT, "Over it", mode="merge")
    turn.write("a.md", working(workspace, "a.md").replace("PERSON", "OTHER"), turn.read("a.md").version)
    with pytest.raises(Refused, match="unsaved or undecided"):
        turn.commit()
    assert draft_of(workspace, "a.md") == before
    assert folder.text("a.md") == LINES


def test_a_proposed_document_that_the_person_moves_stays_with_its_turn(folder: Folder) -> None:
    workspace = folder.open()
    with workspace.turn(AGENT, "New", mode="propose") as turn:
        turn.create("new.md", LINES)
    with workspace.turn(PERSON, "Move") as turn:
        turn.move("new.md", "other.md", turn.read("new.md").version)
    assert workspace.hunks_of_turn(1) == {"other.md": ["file"]}
    workspace.accept(workspace.hunks_of_turn(1))
    assert workspace.show(1).state is State.APPLIED
    assert folder.tree() == {"other.md": LINES.encode()}


def test_a_hunk_that_is_typed_away_leaves_nothing_to_decide_or_save(folder: Folder) -> None:
    workspace = proposed(folder)
    type_over(workspace, "a.md", "2", "two")
    assert workspace.drafts() == []


def test_a_turn_is_written_or_waits_but_not_both(folder: Folder) -> None:
    folder.put("a.md", LINES)
    folder.put("b.md", LINES)
    workspace = folder.open()
    with workspace.turn(AGENT, "Move", mode="propose") as turn:
        turn.move("a.md", "moved.md", turn.read("a.md").version)
    change = {"moved.md": LINES.upper(), "b.md": LINES.upper()}
    with pytest.raises(Refused, match="is itself waiting for a decision"):
        agent_writes(workspace, change, mode="apply")
    assert folder.tree() == {"a.md": LINES.encode(), "b.md": LINES.encode()}
    assert agent_writes(workspace, {"moved.md": LINES.upper()}, mode="apply").proposed == ["moved.md"]
    assert workspace.show(2).state is State.PROPOSED


def moved_after_discarding(folder: Folder) -> Workspace:
    """The person dropped what they had typed (turn 1), and an agent proposes to move the document (turn 2)."""
    folder.put("a.md", LINES)
    workspace = folder.open()
    type_over(workspace, "a.md", "two", "TYPED")
    workspace.discard_typing("a.md")
    with workspace.turn(AGENT, "Move", mode="propose") as turn:
        turn.move("a.md", "moved.md", turn.read("a.md").version)
    return workspace


def test_undo_brings_no_second_draft_of_a_file_that_is_to_be_moved(folder: Folder) -> None:
    workspace = moved_after_discarding(folder)
    taken = workspace.undo(1)
    assert [clash.reason for clash in taken.conflicts] == ["the document is now at moved.md: decide its move first"]
    assert [draft.key for draft in workspace.drafts()] == ["moved.md"]
    workspace.undo(2)
    workspace.undo(1)
    assert "TYPED" in working(workspace, "a.md")


def test_restore_takes_back_a_move_that_was_proposed_since(folder: Folder) -> None:
    workspace = moved_after_discarding(folder)
    workspace.restore(1)
    assert [(draft.path, draft.base_path) for draft in workspace.drafts()] == [("a.md", "a.md")]
    assert "TYPED" in working(workspace, "a.md")
    workspace.undo()
    assert [(draft.path, draft.base_path) for draft in workspace.drafts()] == [("moved.md", "a.md")]
    assert workspace.show(2).state is State.PROPOSED


def test_what_is_typed_where_a_hunk_was_typed_away_is_the_persons_own_once_all_is_decided(folder: Folder) -> None:
    workspace = proposed(folder)
    type_over(workspace, "a.md", "2", "two")
    type_over(workspace, "a.md", "middle", "middle TYPED")
    agent_writes(workspace, {"a.md": working(workspace, "a.md").replace("last", "LAST")}, mode="propose")
    workspace.reject({"a.md": None})
    assert [workspace.show(number).state for number in (1, 2)] == [State.DISCARDED, State.DISCARDED]
    type_over(workspace, "a.md", "two", "twofold")
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["user", "user"]


def test_a_proposal_of_which_all_was_typed_away_is_closed_by_the_next_decision(folder: Folder) -> None:
    workspace = proposed(folder)
    type_over(workspace, "a.md", "2", "two")
    folder.put("b.md", LINES)
    agent_writes(workspace, {"b.md": LINES.upper()}, mode="propose")
    workspace.reject({"b.md": None})
    assert workspace.show(1).state is State.DISCARDED
    type_over(workspace, "a.md", "two", "twofold")
    assert [hunk.author for hunk in hunks(workspace, "a.md")] == ["user"]


@pytest.mark.covers("P5")
@pytest.mark.parametrize("typed", [("three", "three TYPED"), ("2", "2 TYPED")])
def test_refusing_a_turn_twice_refuses_nothing_that_the_person_typed_into_it(
    folder: Folder, typed: tuple[str, str]
) -> None:
    workspace = proposed(folder)
    type_over(workspace, "a.md", *typed)
    workspace.reject(workspace.hunks_of_turn(1))
    assert workspace.show(1).state is State.DISCARDED
    assert workspace.hunks_of_turn(1) == {}
    workspace.reject(workspace.hunks_of_turn(1))
    assert "TYPED" in working(workspace, "a.md")


def to_be_deleted(folder: Folder) -> Workspace:
    """Turn 1 brings a document; turn 2 proposes to delete it."""
    workspace = folder.open()
    with workspace.turn(PERSON, "New") as turn:
        turn.create("a.md", LINES)
    with workspace.turn(AGENT, "Gone", mode="propose") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    return workspace


def test_a_proposed_deletion_goes_with_the_file_and_does_not_meet_the_next_one(folder: Folder) -> None:
    workspace = to_be_deleted(folder)
    workspace.undo(1)
    assert workspace.drafts() == []
    with workspace.turn(PERSON, "New again") as turn:
        turn.create("a.md", "another\n")
    assert workspace.drafts() == []
    assert working(workspace, "a.md") == "another\n"


def test_a_deletion_that_somebody_else_carried_out_is_not_proposed_for_what_comes_later(folder: Folder) -> None:
    workspace = to_be_deleted(folder)
    (folder.path / "a.md").unlink()
    folder.put("b.md", LINES)
    agent_writes(workspace, {"b.md": LINES.upper()}, mode="propose")
    workspace.reject({"b.md": None})
    assert workspace.show(2).state is State.DISCARDED
    folder.put("a.md", "another\n")
    assert workspace.drafts() == []
    assert working(workspace, "a.md") == "another\n"


@pytest.mark.covers("P5")
def test_what_was_typed_into_a_document_to_be_deleted_stays_when_its_file_goes(folder: Folder) -> None:
    folder.put("a.md", LINES)
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Gone", mode="propose")
    turn.delete("a.md", turn.read("a.md").version)
    type_over(workspace, "a.md", "two", "two TYPED")
    turn.commit()
    (folder.path / "a.md").unlink()
    assert working(workspace, "a.md") == LINES.replace("two", "two TYPED")
    assert draft_of(workspace, "a.md").kind == "created"


def test_a_proposal_that_an_outside_edit_swallowed_does_not_come_back_when_it_is_undone(folder: Folder) -> None:
    before = "# Title\n\nfirst\nsecond\n\n- a\n- b\n"
    folder.put("a.md", before)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": "# Title\n\nfirst\nsecon"}, mode="propose")
    folder.put("a.md", "# Title\n\nfirst\nsecond\n b\n")
    assert workspace.undo(1).conflicts == []
    folder.put("a.md", "# Title\n\nfirst\nse")
    assert workspace.drafts() == []
    assert workspace.show(1).state is State.UNDONE
