"""The house as a newcomer meets it: one shape for errors, one direction for imports, two commands for the set-up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import get_args

import pytest

from redraft.errors import CODES, ConfirmationRequired, ErrorCode, RedraftError, Refused, Stale
from tests.speaking.lines import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.covers("RD-house-error-shape")
@pytest.mark.parametrize("code", CODES)
def test_every_failure_has_one_shape(code: ErrorCode) -> None:
    shape = RedraftError("It went wrong.", code=code, path="a.md").as_dict()
    assert list(shape) == ["error", "message", "suggestion", "recoverable", "details"]
    assert (shape["error"], shape["details"]) == (code, {"path": "a.md"})
    assert shape["suggestion"].endswith(".")


def test_every_code_that_can_be_named_has_its_row() -> None:
    """A code that nobody knows fails the type check; here what the check cannot see."""
    assert get_args(ErrorCode) == tuple(CODES)


def test_each_kind_of_refusal_has_a_code_of_its_own() -> None:
    kinds = (Refused, Stale, ConfirmationRequired)
    assert len({kind("no").code for kind in kinds}) == len(kinds)


@pytest.mark.slow
@pytest.mark.covers("RD-house-layers")
def test_imports_point_down_and_every_room_has_its_place() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
@pytest.mark.covers("RD-house-two-commands")
def test_a_fresh_clone_runs_with_one_command(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists() or shutil.which("make") is None:
        pytest.skip("needs a git checkout and make")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", str(clone)], check=True)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PIP_NO_COMPILE": "0",  # which means yes: to compile every package takes longer than to install it
        "BROWSER": "true",  # a program that does nothing: the address is looked at below
    }
    command = ["make", f"PYTHON={Path(sys.base_prefix) / 'bin' / 'python3'}", "run"]
    running = subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    )
    assert running.stdout is not None
    told = ""
    try:
        while (line := running.stdout.readline()) and "/enter?key=" not in line:
            told += line
        if "Could not find a version" in told or "Temporary failure" in told:
            pytest.skip("the package index is out of reach")
        assert "/enter?key=" in line, told
        jar = urllib.request.HTTPCookieProcessor()
        with urllib.request.build_opener(jar).open(line.strip(), timeout=PATIENCE) as page:
            assert b'<div id="app">' in page.read()
    finally:
        os.killpg(running.pid, signal.SIGINT)
        running.communicate(timeout=PATIENCE)
    assert "examples/notes" in told
