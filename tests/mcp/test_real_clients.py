"""Real agent programs, with a scripted model, read a document, edit it once, and have a stale write refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MATERIAL

CLIENTS = MATERIAL.parent / "clients"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "gemini"])
def test_a_real_agent_edits_once_and_its_stale_write_is_refused(tmp_path: Path, name: str) -> None:
    if not (CLIENTS / "drive").exists() or shutil.which("npm") is None:
        pytest.skip("the driver of real clients is not beside this checkout, or there is no npm")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "doc.md").write_text("# Title\nThe hero John walked in.\nEnd.\nMore\n", encoding="utf-8")
    # The stale write is about the line that was edited: an edit of another line would be carried forward.
    steps = json.loads((CLIENTS / "example.json").read_text(encoding="utf-8"))
    steps[2]["args"] |= {"start_line": 1, "end_line": 1}
    script = tmp_path / "steps.json"
    script.write_text(json.dumps(steps), encoding="utf-8")
    program = [sys.executable, "-m", "redraft", "mcp", str(folder)]
    done = subprocess.run(
        [CLIENTS / "drive", name, folder, script, *program],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    home = Path(os.environ.get("CLIENTS", Path.home() / ".cache" / "agent-clients"))
    if not (home / name / "node_modules" / ".bin" / name).exists():
        pytest.skip(f"{name} could not be installed: the npm registry is out of reach")
    assert "rc=0" in done.stdout, done.stdout
    assert (folder / "doc.md").read_text(encoding="utf-8") == "# Title\nThe hero James walked in.\nEnd.\nMore\n"
