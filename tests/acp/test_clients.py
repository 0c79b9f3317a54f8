"""A client that others wrote, `acpx` from npm, and what makes the agent known to clients: its entry in the registry."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redraft import __version__
from tests.acp.conftest import STORY
from tests.acp.editor import scripted
from tests.agent.desk import call, edit, says
from tests.cli.running import COMMAND, PATIENCE
from tests.mcp.test_inspectors import installed

if TYPE_CHECKING:
    from tests.cli.running import Program

ROOT = Path(__file__).resolve().parents[2]
ENTRY = ROOT / "editors" / "acp"
ACPX = ("acpx", "acpx@0.19.1", "acpx")


@pytest.mark.slow
@pytest.mark.covers("RD-acp-acpx")
def test_acpx_drives_a_whole_prompt_with_a_diff_and_a_permission(redraft: Program):
    command, variables = installed(*ACPX)
    change, delete = edit("story.md", "was dark", "stood dark"), call("delete_document", path="other.md")
    scripted(redraft, says("I look. ", call("read_document", path="story.md")), says("", change, delete), says("Done."))
    agent = shlex.join([*COMMAND, "acp", "--mode", "apply"])
    options = ["--agent", agent, "--cwd", str(redraft.folder), "--approve-all", "--format", "json"]
    done = subprocess.run(
        [*command, *options, "exec", "Light the lamp"],
        cwd=redraft.folder,
        env={**redraft.environment, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    updates = [each["params"]["update"] for each in messages if each.get("method") == "session/update"]
    said = [each["content"]["text"] for each in updates if each["sessionUpdate"] == "agent_message_chunk"]
    assert "".join(said).startswith("I look. Done.")
    assert any(each.get("method") == "session/request_permission" for each in messages)
    assert messages[-1]["result"]["stopReason"] == "end_turn"
    assert redraft.read("story.md") == STORY.replace("was dark", "stood dark")
    assert not (redraft.folder / "other.md").exists()


@pytest.mark.covers("RD-acp-registry")
def test_the_entry_for_the_registry_is_in_the_wheel_and_fits_its_rules():
    entry = json.loads((ENTRY / "agent.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"[a-z][a-z0-9-]*", entry["id"])
    assert all(entry[name] for name in ("name", "description"))
    assert entry["version"] == __version__
    assert entry["distribution"] == {"uvx": {"package": f"redraft=={__version__}", "args": ["acp"]}}
    icon = (ENTRY / "icon.svg").read_text(encoding="utf-8")
    assert 'width="16" height="16"' in icon
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', icon)) <= {"currentColor", "none"}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["force-include"]["editors/acp"] == "redraft/editors/acp"
