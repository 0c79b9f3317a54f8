"""agent-doc in a folder of its own: run in this process where that is enough, as a program where it matters."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from redraft.cli.agent_doc import main
from redraft.sessions.project import Project
from tests.speaking.forking import start_program

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

PROGRAM = [sys.executable, "-W", "error", "-m", "redraft.cli.agent_doc"]
PATIENCE = 120


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left behind."""

    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class AgentDoc:
    """The command in one folder, which is the current one."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    patching: pytest.MonkeyPatch

    def run(self, *arguments: str, stdin: str = "") -> Ran:
        """Run it in this process."""
        self.patching.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        self.capture.readouterr()
        status = main(list(arguments))
        sys.stdout.flush()
        said = self.capture.readouterr()
        return Ran(status, said.out, said.err)

    def ok(self, *arguments: str, stdin: str = "") -> str:
        done = self.run(*arguments, stdin=stdin)
        assert done.status == 0, done
        return done.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments))

    def process(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start it as a program."""
        return start_program(
            [*PROGRAM, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )

    def write(self, name: str, text: str) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def read(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def snapshot(self, name: str) -> str | None:
        project = Project.of(name, str(self.folder))
        path = self.folder / ".agent-doc" / "snapshots" / f"{project.name}.md"
        return path.read_bytes().decode() if path.exists() else None

    def answers(self) -> list[str]:
        """The answers that are kept."""
        kept = self.folder / ".agent-doc" / "answers"
        return [path.read_bytes().decode() for path in sorted(kept.glob("*"))] if kept.is_dir() else []


@pytest.fixture
def agent_doc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> AgentDoc:
    """The command in an empty folder, with a state and settings of its own."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("GIT_", "TMUX", "CLAUDE", "REDRAFT_MODE"))]:
        monkeypatch.delenv(name)
    variables = {
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ines")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ines@example.org")
    monkeypatch.chdir(folder)
    return AgentDoc(folder, capfd, monkeypatch)


def until(true: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait for something that other processes bring about."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Tmux:
    """A tmux server of the test's own, to which everything that the test starts talks."""

    folder: Path

    def run(self, *words: str) -> str:
        done = subprocess.run(["tmux", *words], check=False, capture_output=True, encoding="utf-8", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def session(self, name: str, *words: str) -> str:
        """A session with one pane; the pane."""
        size = ("-x", "200", "-y", "50")
        made = self.run("-f", os.devnull, "new-session", "-d", "-P", "-F", "#{pane_id}", *size, "-s", name, *words)
        self.run("set-option", "-g", "status", "off")
        return made

    def split(self, beside: str, *words: str, way: str = "-h") -> str:
        return self.run("split-window", "-d", way, "-P", "-F", "#{pane_id}", "-t", beside, *words)

    def window(self, session: str, *words: str) -> str:
        return self.run("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"{session}:", *words)

    def ask(self, pane: str, what: str) -> str:
        return self.run("display-message", "-p", "-t", pane, f"#{{{what}}}")

    def inside(self, window: str) -> list[str]:
        return self.run("list-panes", "-t", window, "-F", "#{pane_id}").split()

    def kill(self, pane: str) -> None:
        self.run("kill-pane", "-t", pane)


@pytest.fixture
def tmux(agent_doc: AgentDoc, tmp_path: Path) -> Generator[Tmux]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    agent_doc.patching.setenv("TMUX_TMPDIR", str(tmp_path))
    agent_doc.patching.setenv("LC_ALL", "C.UTF-8")
    agent_doc.patching.setenv("SHELL", "/bin/sh")
    yield Tmux(agent_doc.folder)
    subprocess.run(["tmux", "kill-server"], check=False, capture_output=True)
