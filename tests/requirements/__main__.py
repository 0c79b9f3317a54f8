"""`python -m requirements`, run in tests/: prints docs/requirements.md."""

from __future__ import annotations

import sys

from requirements.page import render

if __name__ == "__main__":
    sys.stdout.write(render())
