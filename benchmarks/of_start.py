"""How soon the command answers, against the bare interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Result, side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterator


def results(folder: Path) -> Iterator[Result]:
    command = str(Path(sys.executable).parent / "redraft")
    ours, bare = side_by_side(
        lambda: subprocess.run([command, "--version"], stdout=subprocess.DEVNULL, cwd=folder, check=True),
        lambda: subprocess.run([sys.executable, "-c", "pass"], cwd=folder, check=True),
        rounds=25,
    )
    yield Result("redraft --version", ours, "python -c pass", bare, 2.5)
