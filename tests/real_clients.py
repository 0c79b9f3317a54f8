"""Real agent programs with a scripted model, which `../shared/clients/drive` fetches and starts."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import MATERIAL

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

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


PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex", "node": "node@22"}


def client_programs(*names: str) -> str:
    """The folders with these clients' programs, as a PATH; they come from npm on first use."""
    if shutil.which("npm") is None:
        pytest.skip("npm is missing")
    home = Path(os.environ.get("CLIENTS", Path.home() / ".cache" / "agent-clients"))
    folders = [home / name / "node_modules" / ".bin" for name in (*names, "node")]
    for name, folder in zip((*names, "node"), folders, strict=True):
        if not (folder / name).exists():
            (home / name).mkdir(parents=True, exist_ok=True)
            words = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(home / name), PACKAGES[name]]
            subprocess.run(words, capture_output=True, check=False)
        if not (folder / name).exists():
            pytest.skip(f"{name} could not be installed: the npm registry is out of reach")
    return os.pathsep.join(map(str, folders))


@contextmanager
def scripted_model(folder: Path, steps: list[dict[str, Any]]) -> Generator[str]:
    """A model endpoint that plays these steps for every client; its address."""
    if not (CLIENTS / "fake_model.py").exists():
        pytest.skip("the scripted model (../shared/clients) is missing")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = folder / "steps.json"
    script.write_text(json.dumps(steps), encoding="utf-8")
    words = [sys.executable, CLIENTS / "fake_model.py", str(port), script, folder / "model.jsonl"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as model:
        try:
            deadline = time.monotonic() + 60
            while not _is_listening(port):
                assert model.poll() is None, "the scripted model has ended"
                assert time.monotonic() < deadline, "the scripted model does not listen"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            model.kill()


def _is_listening(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
