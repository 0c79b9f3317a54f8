"""The test's side of `driver`: start a child, let it go, read what it says, and end it at a chosen instant."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redraft.workspace.workspace import Workspace
from tests.faults.scenes import Scene, tree

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0


class Driver:
    """The running driver. One child at a time; what it has said is in `told`."""

    def __init__(self) -> None:
        search = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": search}
        command = [sys.executable, "-m", "tests.faults.driver"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._rest = b""
        self.told: list[dict[str, Any]] = []
        self.pid = 0
        self._child = -1
        self._until("serving")

    def start(self, scene: Scene, job: str = "act", **more: Any) -> int:
        """Start a child and wait until it is ready; gives its process id."""
        self.told = []
        words = {"job": job, "folder": str(scene.folder), "state_home": str(scene.state_home), **more}
        self._write(json.dumps(words))
        self.pid = self._until("ready")
        self._child = os.pidfd_open(self.pid)
        return self.pid

    def go(self) -> None:
        self._write("")

    def kill(self) -> None:
        """SIGKILL, to this child only: it may have ended already, and its number belong to another."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._child, signal.SIGKILL)

    def until(self, word: str, times: int = 1) -> None:
        """Read on until the child has said this word so often, or has ended."""
        self._until(word, times, or_end=True)

    def wait(self) -> int:
        """Read on until the child has ended; gives its exit status, negative for a signal."""
        status = self._until("exit")
        os.close(self._child)
        return status

    def listen(self, seconds: float) -> None:
        """Read what the child says for so long, or until it ends."""
        deadline = time.monotonic() + seconds
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            self._read(left)

    @property
    def ended(self) -> bool:
        return any("exit" in words for words in self.told)

    def last(self, word: str, otherwise: int) -> int:
        """The newest value that the child gave with this word."""
        return next((words[word] for words in reversed(self.told) if word in words), otherwise)

    def all(self, word: str) -> list[Any]:
        return [words[word] for words in self.told if word in words]

    def close(self) -> None:
        with self._process as process:
            process.terminate()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def _until(self, word: str, times: int = 1, *, or_end: bool = False) -> int:
        deadline = time.monotonic() + PATIENCE
        while len(self.all(word)) < times and not (or_end and self.ended):
            left = deadline - time.monotonic()
            assert left > 0, f"no {word!r} within {PATIENCE} s; heard {self.told[-3:]}"
            assert word == "exit" or not self.ended, f"ended before {word!r}: {self.told}"
            self._read(left)
        return self.last(word, 0)

    def _read(self, seconds: float) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        if not select.select([stdout], [], [], seconds)[0]:
            return
        found = os.read(stdout.fileno(), 1 << 16)
        assert found, "the driver is gone"
        *lines, self._rest = (self._rest + found).split(b"\n")
        self.told += (json.loads(line) for line in lines)


@contextmanager
def drivers(count: int) -> Generator[list[Driver]]:
    """Several drivers, for children that work at the same time."""
    started: list[Driver] = []
    try:
        started.extend(Driver() for _ in range(count))
        yield started
    finally:
        for driver in started:
            driver.close()


def open_scene(scene: Scene) -> Workspace:
    return Workspace.open(scene.folder, state_home=str(scene.state_home))


def new_scene(place: Path) -> Scene:
    """A folder at step 0 that Redraft already knows, kept as `fresh`."""
    scene = Scene(place)
    scene.begin(tree("save", 0))
    open_scene(scene).close()
    scene.keep("fresh")
    return scene
