"""A folder with a few documents, and the program in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.running import Program

if TYPE_CHECKING:
    from pathlib import Path

STORY = """# The Lamp

The lighthouse had been dark for eleven years.

She read the letter twice.

Then she went to look for the keys.
"""

PATCH = """\
--- a/story.md
+++ b/story.md
@@ -1,7 +1,7 @@
 # The Lamp

-The lighthouse had been dark for eleven years.
+The lighthouse had been dark for twelve long years.

 She read the letter twice.

-Then she went to look for the keys.
+Then she looked for the keys.
--- /dev/null
+++ b/cast.md
@@ -0,0 +1,2 @@
+# Cast
+- Ines
"""


@pytest.fixture
def redraft(tmp_path: Path) -> Program:
    """The program in a folder with a story, a list and a note."""
    program = Program(tmp_path / "notes")
    program.write("story.md", STORY)
    program.write("todo.md", "- find the keys\n- light the lamp\n")
    program.write("drafts/old.md", "An old idea.\n")
    return program


@pytest.fixture
def proposed(redraft: Program) -> Program:
    """The same, with a turn of an agent's that waits: two hunks in the story, and a new document."""
    redraft.ok("propose", "-", "--title", "First turn", "--author", "scribe", stdin=PATCH)
    return redraft
