"""Edits that name the lines they were made for by a hash (agent-sidebar 8 and 22), and large hunks (23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused, Stale
from redraft.text.edits import Span
from redraft.workspace.document import content_hash
from workspace.folder import AGENT, agent_writes, draft_of, hunks

if TYPE_CHECKING:
    from workspace.folder import Folder

NOTES = "# Notes\n\nfirst\nsecond\nthird\n"
SECOND = content_hash(b"second\n")


@pytest.mark.covers("SB-safe-expected-hash")
def test_lines_that_are_still_there_are_replaced_whatever_changed_elsewhere(folder: Folder) -> None:
    folder.put("notes.md", NOTES)
    workspace = folder.open()
    folder.put("notes.md", NOTES.replace("third", "last"))
    with workspace.turn(AGENT, "edit", mode="apply") as turn:
        turn.replace_lines("notes.md", Span(3, 4), "2nd\n", SECOND)
    assert folder.text("notes.md") == "# Notes\n\nfirst\n2nd\nlast\n"


@pytest.mark.covers("SB-safe-expected-hash", "SB-safe-conflict", "SB-conflict-hash")
def test_lines_that_say_something_else_now_are_a_conflict_and_nothing_is_written(folder: Folder) -> None:
    folder.put("notes.md", NOTES.replace("second", "another"))
    workspace = folder.open()
    before = folder.tree()
    with (
        pytest.raises(Stale, match="no longer what they were") as caught,
        workspace.turn(AGENT, "edit", mode="apply") as turn,
    ):
        turn.replace_lines("notes.md", Span(3, 4), "2nd\n", SECOND)
    assert caught.value.code == "conflict"
    assert caught.value.details["current_hash"] == content_hash(b"another\n")
    assert folder.tree() == before


def test_an_insertion_is_guarded_by_the_hash_of_nothing(folder: Folder) -> None:
    folder.put("notes.md", NOTES)
    workspace = folder.open()
    with workspace.turn(AGENT, "edit", mode="apply") as turn:
        turn.replace_lines("notes.md", Span(5, 5), "fourth\n", content_hash(b""))
    assert folder.text("notes.md") == NOTES + "fourth\n"


def test_lines_beyond_the_document_are_refused(folder: Folder) -> None:
    folder.put("notes.md", NOTES)
    workspace = folder.open()
    turn = workspace.turn(AGENT, "edit", mode="apply")
    with pytest.raises(Refused) as caught:
        turn.replace_lines("notes.md", Span(4, 6), "", content_hash(b""))
    assert (caught.value.code, caught.value.details["document_lines"]) == ("invalid_line_range", 5)


@pytest.mark.covers("SB-size-oversized-choice")
def test_a_hunk_too_large_to_split_says_so_and_is_taken_as_one(folder: Folder) -> None:
    folder.put("data.md", "before\n\n" + "a" * 9000 + "\n\nafter\n")
    workspace = folder.open()
    agent_writes(workspace, {"data.md": "before\n\n" + "b" * 9000 + "\n\nafter\n"}, mode="propose")
    (hunk,) = hunks(workspace, "data.md")
    assert hunk.oversized
    assert hunk.as_json()["oversized_hunk"] is True
    workspace.accept({"data.md": [hunk.id]})
    assert folder.text("data.md") == "before\n\n" + "b" * 9000 + "\n\nafter\n"


def test_a_long_new_section_is_offered_in_pieces_that_can_be_judged(folder: Folder) -> None:
    folder.put("book.md", "start\n")
    workspace = folder.open()
    section = "".join(f"Paragraph {number} of the chapter.\n\n" for number in range(120))
    agent_writes(workspace, {"book.md": "start\n\n" + section}, mode="propose")
    assert len(hunks(workspace, "book.md")) > 1
    assert not any(hunk.oversized for hunk in hunks(workspace, "book.md"))
    assert draft_of(workspace, "book.md").review.working == "start\n\n" + section


@pytest.mark.covers("ML-sens-system")
@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "sub/THUMBS.DB", "desktop.ini"])
def test_what_the_system_keeps_for_itself_is_closed_to_agents(folder: Folder, name: str) -> None:
    workspace = folder.open()
    with pytest.raises(Refused) as caught, workspace.turn(AGENT, "create", mode="apply") as turn:
        turn.create(name, "x")
    assert caught.value.code == "forbidden_path"
    assert name not in folder.tree()
