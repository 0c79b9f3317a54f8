"""Real agent programs, with a scripted model, read a document, edit it once, and have a stale write refused."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.real_clients import CLIENTS, drive

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "gemini"])
def test_a_real_agent_edits_once_and_its_stale_write_is_refused(tmp_path: Path, name: str) -> None:
    if not (CLIENTS / "example.json").exists():
        pytest.skip("the driver of real clients (../shared/clients) is missing")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "doc.md").write_text("# Title\nThe hero John walked in.\nEnd.\nMore\n", encoding="utf-8")
    # The stale write is about the line that was edited: an edit of another line would be carried forward.
    steps = json.loads((CLIENTS / "example.json").read_text(encoding="utf-8"))
    steps[2]["args"] |= {"start_line": 1, "end_line": 1}
    drive(name, folder, steps, [sys.executable, "-m", "redraft", "mcp", str(folder)], tmp_path / "state")
    assert (folder / "doc.md").read_text(encoding="utf-8") == "# Title\nThe hero James walked in.\nEnd.\nMore\n"
