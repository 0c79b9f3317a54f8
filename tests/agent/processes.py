"""Processes that share work: started with a role, told ready, asked for their result, killed where a story says so."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

TESTS = Path(__file__).parents[1]
PATIENCE = 240.0


@contextlib.contextmanager
def process(program: Path, *arguments: str | Path) -> Generator[subprocess.Popen[str]]:
    """A program of ours once it has said that it is ready, killed at the end."""
    command = [sys.executable, str(program), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment) as made:
        try:
            assert made.stdout is not None
            assert made.stdout.readline() == "ready\n"
            yield made
        finally:
            made.kill()


def kill(doomed: subprocess.Popen[str]) -> None:
    doomed.send_signal(signal.SIGKILL)
    doomed.wait()


def result_of(asking: subprocess.Popen[str]) -> Any:
    out, _ = asking.communicate(timeout=PATIENCE)
    assert asking.returncode == 0
    return json.loads(out)


def noted(log: Path) -> list[tuple[int, int]]:
    """Which process began which piece."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [(int(process), int(number)) for process, number in (line.split() for line in lines)]


def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)
