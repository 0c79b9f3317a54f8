"""`python -m evals`, run as a process of its own where a person runs it: in the project's own folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli.running import Program

COMMAND = [sys.executable, "-W", "error", "-m", "evals"]
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class EvalProgram(Program):
    """The evals with the tasks of one folder. The person's settings lie beside it."""

    @property
    def command(self) -> list[str]:
        return [*COMMAND, "--folder", str(self.folder)]

    @property
    def working_directory(self) -> Path:
        return ROOT
