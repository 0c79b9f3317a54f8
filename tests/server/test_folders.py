"""Folders that agents make, and hard rollbacks that change nothing: over HTTP, by the program and over MCP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Program
from tests.speaking.lines import Lines

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow


@pytest.mark.covers("RD-folder-turn")
def test_over_http_a_folder_is_undone_with_its_turn_and_redone(server: Server, folder: Path) -> None:
    made = server.tool("create_folder", mode="apply", path="a/b")
    [turn] = server.get("/api/turns")["turns"]
    assert (turn["turn"], turn["folders"], turn["title"]) == (made["turn"], ["a", "a/b"], "Create the folder a/b")
    assert server.post("/api/turns/undo", {})["conflicts"] == []
    assert not (folder / "a").exists()
    server.post("/api/turns/redo")
    assert (folder / "a" / "b").is_dir()
    (folder / "a" / "b" / "mine.md").write_text("Mine.\n", encoding="utf-8")
    answer = server.post("/api/turns/undo", {})
    assert (answer["turn"], [clash["path"] for clash in answer["conflicts"]]) == (None, ["a"])
    assert (folder / "a" / "b" / "mine.md").exists()


@pytest.mark.covers("RD-folder-turn")
def test_a_folder_made_in_a_batch_goes_with_all_of_it(server: Server, folder: Path) -> None:
    calls = [
        {"tool": "create_folder", "arguments": {"path": "plans/old"}},
        {"tool": "create_document", "arguments": {"path": "plans/new.md", "content": "New.\n"}},
    ]
    turn = server.tool("batch", mode="apply", calls=calls)["turn"]
    assert (folder / "plans" / "old").is_dir()
    assert len(server.get("/api/turns")["turns"]) == 1
    server.post("/api/turns/undo", {"turn": turn})
    assert not (folder / "plans").exists()
    server.post("/api/turns/redo")
    assert (folder / "plans" / "old").is_dir()
    assert (folder / "plans" / "new.md").read_text(encoding="utf-8") == "New.\n"


@pytest.mark.covers("RD-folder-turn")
def test_by_the_program_a_folder_is_undone_with_its_turn(folder: Path) -> None:
    program = Program(folder)
    program.ok("tool", "create_folder", "--json", json.dumps({"path": "new"}), "--mode", "apply")
    assert "Create the folder new" in program.ok("turns")
    program.ok("undo")
    assert not (folder / "new").exists()
    program.ok("redo")
    assert (folder / "new").is_dir()


@pytest.mark.covers("RD-folder-turn")
def test_over_mcp_a_folder_is_undone_with_its_turn(folder: Path) -> None:
    client = Lines.to(folder, "--mode", "apply", "--profile", "all")
    client.start()
    turn = client.call("create_folder", path="new")["structuredContent"]["turn"]
    assert (folder / "new").is_dir()
    assert client.call("undo_turn", turn=turn)["structuredContent"]["undone"] == turn
    assert not (folder / "new").exists()
    assert client.close() == ""


@pytest.mark.covers("RD-rollback-no-op")
def test_a_second_hard_rollback_is_no_turn(server: Server, folder: Path) -> None:
    turn = server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="ninety")["turn"]
    where = f"/api/agent/checkpoints/{turn}/rollback"
    first = server.post(where, {"mode": "hard_all"})
    assert (first["status"], first["turn"]["kind"]) == ("completed", "restore")
    count = len(server.get("/api/turns")["turns"])
    for _ in range(2):
        assert server.post(where, {"mode": "hard_all"}) == {"status": "completed", "turn": None, "conflicts": []}
    assert len(server.get("/api/turns")["turns"]) == count
    program = Program(folder)
    assert "Nothing was changed" in program.ok("restore", str(turn), "--yes")
    assert len(server.get("/api/turns")["turns"]) == count


@pytest.mark.covers("RD-rollback-no-op")
def test_a_second_hard_rollback_of_a_proposal_is_no_turn(server: Server) -> None:
    turn = server.tool("edit_text", path="story.md", old_text="eleven", new_text="ninety")["turn"]
    where = f"/api/agent/checkpoints/{turn}/rollback"
    assert server.post(where, {"mode": "hard_all"})["turn"] is not None
    assert server.post(where, {"mode": "hard_all"})["turn"] is None
    assert server.get("/api/review")["documents"] == []
