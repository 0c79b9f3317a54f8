"""The real program, run as a process of its own in a temporary folder, with nothing of the tester's environment."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.config import Settings
from redraft.workspace.workspace import Workspace
from tests.speaking.forking import run_program

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-W", "error", "-m", "redraft"]
PATIENCE = 120


@dataclass(frozen=True, slots=True)
class Result:
    """What a run left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Program:
    """The program in one folder. Its state and settings lie beside the folder."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def command(self) -> list[str]:
        return COMMAND

    @property
    def working_directory(self) -> Path:
        return self.folder

    @property
    def home(self) -> Path:
        return self.folder.parent

    @property
    def state_home(self) -> str:
        return str(self.home / "state")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "PATH": os.environ.get("PATH", ""),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            "TZ": "UTC",
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_STATE_HOME": self.state_home,
            **self.variables,
        }

    def bytes(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return run_program(
            [*self.command, *arguments],
            stdin=stdin,
            cwd=self.working_directory,
            env=self.environment,
            timeout=PATIENCE,
        )

    def run(self, *arguments: str, stdin: str = "") -> Result:
        done = self.bytes(*arguments, stdin=stdin.encode())
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str, stdin: str = "") -> str:
        """The output of a command that has to succeed without a word on the standard error."""
        result = self.run(*arguments, stdin=stdin)
        assert (result.status, result.err) == (0, ""), result
        return result.out

    def json(self, *arguments: str, stdin: str = "") -> Any:
        return json.loads(self.ok(*arguments, "--json", stdin=stdin))

    def on_terminal(self, *arguments: str, answer: str = "", prompt: str = "") -> Result:
        """As a person would see it: output and errors together, both on a terminal. They answer once they see the
        prompt."""
        main, terminal = pty.openpty()
        process = subprocess.Popen(
            [*self.command, *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=self.working_directory,
            env={"TERM": "xterm", **self.environment},
        )
        os.close(terminal)
        shown = b""
        while prompt.encode() not in shown:
            shown += os.read(main, 65536)
        os.write(main, answer.encode())
        while True:
            try:
                more = os.read(main, 65536)
            except OSError:  # Linux says EIO when the last writer is gone
                break
            if not more:
                break
            shown += more
        os.close(main)
        return Result(process.wait(PATIENCE), shown.decode().replace("\r\n", "\n"), "")

    def open(self, settings: Settings | None = None) -> Workspace:
        """The same folder through the engine, to prepare what a test starts from."""
        return Workspace.open(self.folder, state_home=self.state_home, settings=settings or Settings(mode="propose"))

    def write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def settings(self, text: str, *, of_folder: bool = False) -> None:
        """Write a settings file: the person's own, or the folder's."""
        if of_folder:
            self.write(".redraft/settings.toml", text)
            return
        path = self.home / "config" / "redraft" / "settings.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
