"""Real agent programs with a scripted model, which `../shared/clients/drive` fetches and starts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import MATERIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

CLIENTS = MATERIAL.parent / "clients"


def drive(name: str, folder: Path, steps: list[dict[str, Any]], server: Sequence[str], state: str | Path) -> None:
    """Let an agent take these steps in the folder, with an MCP server beside it; it must end well."""
    if not (CLIENTS / "drive").exists() or shutil.which("npm") is None:
        pytest.skip("the driver of real clients (../shared/clients) or npm is missing")
    script = folder.parent / "steps.json"
    script.write_text(json.dumps(steps), encoding="utf-8")
    done = subprocess.run(
        [CLIENTS / "drive", name, folder, script, *server],
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    home = Path(os.environ.get("CLIENTS", Path.home() / ".cache" / "agent-clients"))
    if not (home / name / "node_modules" / ".bin" / name).exists():
        pytest.skip(f"{name} could not be installed: the npm registry is out of reach")
    assert "rc=0" in done.stdout, done.stdout
