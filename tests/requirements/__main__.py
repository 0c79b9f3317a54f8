"""`python -m tests.requirements`: prints docs/requirements.md."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.requirements.doors import Suite
from tests.requirements.page import render

if __name__ == "__main__":
    sys.stdout.write(render(Suite.of(Path(__file__).resolve().parents[1]).doors_of))
