"""`redraft propose`: a patch as a turn, whole or not at all."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import PATCH

if TYPE_CHECKING:
    from tests.cli.running import Program

RENAME = """\
diff --git a/todo.md b/lists/todo.md
similarity index 60%
rename from todo.md
rename to lists/todo.md
--- a/todo.md
+++ b/lists/todo.md
@@ -1,2 +1,2 @@
 - find the keys
-- light the lamp
+- light the lamp at nine
diff --git a/drafts/old.md b/drafts/old.md
deleted file mode 100644
--- a/drafts/old.md
+++ /dev/null
@@ -1 +0,0 @@
-An old idea.
"""


def test_a_patch_becomes_one_turn_that_waits(redraft: Program):
    shown = redraft.ok("propose", "-", "--title", "First turn", "--author", "scribe", stdin=PATCH)
    assert shown.splitlines() == [
        "Turn 1 by scribe waits for your decision: First turn",
        "  modified story.md",
        "  created  cast.md",
        "Show it: redraft diff",
        "Accept it: redraft accept --turn 1",
    ]
    assert "eleven" in redraft.read("story.md")
    assert not (redraft.folder / "cast.md").exists()


def test_renames_and_deletions_become_moves_and_deletions(redraft: Program):
    redraft.write("../changes.patch", RENAME)
    answer = redraft.json("propose", "../changes.patch")
    assert sorted(answer) == ["applied", "conflicts", "documents", "notices", "proposed", "turn"]
    assert answer["turn"]["title"] == "Patch changes.patch"
    assert {(each["path"], each["action"], each["moved_from"]) for each in answer["documents"]} == {
        ("lists/todo.md", "moved", "todo.md"),
        ("drafts/old.md", "deleted", None),
    }
    redraft.ok("accept", "--all")
    assert redraft.read("lists/todo.md") == "- find the keys\n- light the lamp at nine\n"
    assert not (redraft.folder / "todo.md").exists()
    assert not (redraft.folder / "drafts" / "old.md").exists()


def test_one_bad_hunk_and_nothing_is_staged(redraft: Program):
    result = redraft.run("propose", stdin=PATCH + RENAME.replace("-An old idea.", "-Another idea."))
    assert (result.status, result.out) == (1, "")
    assert "drafts/old.md" in result.err
    assert "Nothing was staged." in result.err
    answer = redraft.json("status")
    assert (answer["documents"], answer["turns"]) == ([], [])


@pytest.mark.covers("RD-cli-exit")
@pytest.mark.parametrize(
    ("patch", "status", "code"),
    [
        ("nothing of the kind", 2, "invalid_patch"),
        (PATCH[: len(PATCH) // 2], 2, "invalid_patch"),
        (PATCH.replace("cast.md", "../cast.md"), 2, "invalid_path"),
        (PATCH.replace("cast.md", ".git/hooks/x"), 3, "forbidden_path"),
        (PATCH.replace("cast.md", ".github/x.yml"), 3, "forbidden_path"),
        (PATCH.replace("cast.md", "todo.md"), 1, "already_exists"),
        (PATCH.replace("a/story.md", "a/gone.md").replace("b/story.md", "b/gone.md"), 4, "not_found"),
    ],
)
def test_a_patch_that_cannot_be_taken_says_why(redraft: Program, patch: str, status: int, code: str):
    result = redraft.run("propose", "--json", stdin=patch)
    assert (result.status, result.json["error"]) == (status, code)


def test_in_the_mode_apply_the_disk_is_written_at_once(redraft: Program):
    shown = redraft.ok("propose", "--mode", "apply", stdin=PATCH)
    assert "is written" in shown
    assert "redraft undo 1" in shown
    assert "twelve long years" in redraft.read("story.md")


def test_a_deletion_in_the_mode_apply_needs_consent(redraft: Program):
    result = redraft.run("propose", "--mode", "apply", stdin=RENAME)
    assert result.status == 3
    assert "--yes" in result.err
    assert (redraft.folder / "todo.md").exists()
    redraft.ok("propose", "--mode", "apply", "--yes", stdin=RENAME)
    assert not (redraft.folder / "drafts" / "old.md").exists()


def test_the_mode_read_refuses(redraft: Program):
    assert redraft.run("propose", "--mode", "read", "--json", stdin=PATCH).json["error"] == "mode_refuses"


def test_a_folder_narrows_the_mode_that_is_asked_for(redraft: Program):
    redraft.settings('mode = "propose"', of_folder=True)
    answer = redraft.json("propose", "--mode", "apply", stdin=PATCH)
    assert (answer["applied"], answer["turn"]["state"]) == ([], "proposed")


def test_a_patch_that_changes_nothing_is_no_turn(redraft: Program):
    redraft.ok("propose", "--mode", "apply", stdin=PATCH)
    undo = dedent(
        """\
        diff --git a/todo.md b/todo.md
        old mode 100644
        new mode 100755
        """
    )
    assert redraft.json("propose", stdin=undo)["turn"] is None


def test_a_byte_order_mark_and_carriage_returns_stay(redraft: Program):
    redraft.write("dos.md", "\ufeffone\r\ntwo\r\n")
    patch = "--- a/dos.md\n+++ b/dos.md\n@@ -1,2 +1,2 @@\n-\ufeffone\r\n+\ufeffOne\r\n two\r\n"
    redraft.ok("propose", "--mode", "apply", stdin=patch)
    assert (redraft.folder / "dos.md").read_bytes() == "\ufeffOne\r\ntwo\r\n".encode()


def test_a_persons_patch_may_do_more_than_an_agents_turn(redraft: Program):
    patch = "".join(f"--- /dev/null\n+++ b/many/n{number}.md\n@@ -0,0 +1 @@\n+{number}\n" for number in range(25))
    assert len(redraft.json("propose", "-", stdin=patch)["proposed"]) == 25
