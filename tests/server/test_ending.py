"""A server that is told to end as soon as it says where it is: it ends cleanly, however early that comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.server.serving import begun, ended
from tests.speaking.lines import PATIENCE, environment

if TYPE_CHECKING:
    from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_folders_server_may_be_ended_at_once(tmp_path: Path, number: int):
    folder = tmp_path / "notes"
    folder.mkdir()
    assert ended(begun(folder), number) == ""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_server_of_tools_may_be_ended_at_once(tmp_path: Path, number: int):
    folder = tmp_path / "notes"
    folder.mkdir()
    command = [sys.executable, "-W", "error", "-m", "redraft", "mcp", str(folder), "--http"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8", env=environment(folder)) as process:
        assert process.stderr is not None
        assert "Serving" in process.stderr.readline()
        process.send_signal(number)
        assert "Stopped" not in process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 0
