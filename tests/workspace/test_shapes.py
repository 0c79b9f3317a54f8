"""The shapes: the turn that a hunk is told to belong to is one that its decision belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.workspace.shapes import draft_shape
from redraft.workspace.turns.decisions import list_undecided_hunks
from tests.workspace.folder import AGENT, OTHER_AGENT, agent_writes

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def told(workspace: Workspace) -> dict[str, int | None]:
    """Which turn each hunk is told to belong to; checked against what deciding that turn decides."""
    turns = workspace.proposals()
    found: dict[str, int | None] = {}
    for draft in workspace.drafts():
        for hunk in draft_shape(draft, turns)["hunks"]:
            number = hunk["turn"]
            found[hunk["kind"]] = number
            assert number is None or hunk["hunk_id"] in list_undecided_hunks(draft, workspace.show(number))
    return found


@pytest.fixture
def workspace(folder: Folder) -> Workspace:
    folder.put("a.md", "one\n")
    return folder.open()


def test_a_move_belongs_to_the_turn_that_moves(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "move") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    assert told(workspace) == {"moved": 1}


def test_a_move_stays_with_its_turn_when_a_later_one_edits_the_document(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "move") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    agent_writes(workspace, {"b.md": "two\n"}, author=OTHER_AGENT)
    assert told(workspace) == {"moved": 1, "modified": 2}


def test_an_empty_document_belongs_to_the_turn_that_creates_it(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "create") as turn:
        turn.create("new.md", "")
    assert told(workspace) == {"created": 1}


def test_a_created_document_belongs_to_the_newest_turn_that_has_a_word_in_it(workspace: Workspace) -> None:
    with workspace.turn(AGENT, "create") as turn:
        turn.create("new.md", "new\n")
    agent_writes(workspace, {"new.md": "new\nnewer\n"}, author=OTHER_AGENT)
    assert told(workspace) == {"created": 2}


def test_a_deletion_belongs_to_the_turn_that_deletes(workspace: Workspace) -> None:
    agent_writes(workspace, {"a.md": "one\ntwo\n"})
    with workspace.turn(OTHER_AGENT, "delete") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    assert told(workspace) == {"deleted": 2, "modified": 1}
