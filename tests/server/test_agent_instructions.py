"""Files that agents take as orders: an agent changes them only where a person has agreed, and a proposal warns."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.speaking.lines import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
NAMES = ("CLAUDE.md", "AGENTS.md", "docs/agents.MD", ".cursorrules", "GEMINI.md", ".github/copilot-instructions.md")


def put_all(folder: Path) -> None:
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("Be kind.\n", encoding="utf-8")


@pytest.mark.covers("RD-files-instructions")
@pytest.mark.parametrize("mode", ["apply", "merge"])
def test_an_agent_that_writes_instructions_at_once_asks_first(server: Server, folder: Path, mode: str):
    new = {"path": "sub/CLAUDE.md", "content": "Be kind.\n"}
    assert server.refused("POST", "/api/tools/create_document", new, 403, mode=mode)["error"] == "confirmation_required"
    move = {"path": "story.md", "new_path": "sub/AGENTS.md"}
    assert server.refused("POST", "/api/tools/move_document", move, 403, mode=mode)["error"] == "confirmation_required"
    assert not (folder / "sub").exists()
    put_all(folder)
    for name in NAMES:
        change = {"path": name, "old_text": "kind", "new_text": "cruel"}
        asked = server.refused("POST", "/api/tools/edit_text", change, 403, mode=mode)
        assert (asked["error"], "instructions" in asked["message"]) == ("confirmation_required", True), name
        assert (folder / name).read_text(encoding="utf-8") == "Be kind.\n"
        server.post("/api/tools/edit_text", change, mode=mode, agree="true")
        assert (folder / name).read_text(encoding="utf-8") == "Be cruel.\n"


@pytest.mark.covers("RD-files-instructions")
def test_a_proposal_to_change_instructions_warns(server: Server, folder: Path):
    put_all(folder)
    for name in NAMES:
        server.tool("edit_text", path=name, old_text="kind", new_text="cruel")
    server.tool("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    drafts = {draft["path"]: draft for draft in server.get("/api/review")["documents"]}
    assert "warning" not in drafts["story.md"]["hunks"][0]
    line = [sys.executable, "-m", "redraft", "diff", "--folder", str(folder)]
    told = subprocess.run(line, capture_output=True, encoding="utf-8", env=environment(folder), check=True).stdout
    for name in NAMES:
        assert [name in hunk["warning"] for hunk in drafts[name]["hunks"]] == [True], name
        assert f"Agents take instructions from {name}" in told
        assert (folder / name).read_text(encoding="utf-8") == "Be kind.\n"


def test_the_other_places_of_a_platform_stay_closed(server: Server):
    new = {"path": ".github/workflows/ci.yml", "content": "on: push\n"}
    refused = server.refused("POST", "/api/tools/create_document", new, 403, mode="apply", agree="true")
    assert refused["error"] == "forbidden_path"
