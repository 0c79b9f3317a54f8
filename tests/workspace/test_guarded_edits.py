"""Large hunks (agent-sidebar 23), and places that are closed to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Refused
from tests.workspace.folder import AGENT, agent_writes, draft_of, hunks

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


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
