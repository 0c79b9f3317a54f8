"""A folder with a story, and the program in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Program

if TYPE_CHECKING:
    from pathlib import Path

STORY = "# The Lamp\n\nThe lighthouse was dark.\n\nShe read the letter.\n\nThen she looked for the keys.\n"


@pytest.fixture
def redraft(tmp_path: Path) -> Program:
    program = Program(tmp_path / "notes")
    program.write("story.md", STORY)
    program.write("other.md", "One line.\nAnother line.\n")
    return program
