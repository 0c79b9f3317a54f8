"""`redraft split`: a hunk too large to be judged at once becomes two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.history.turns import Author

if TYPE_CHECKING:
    from tests.cli.running import Program

NEW = "".join(f"- thing {number}\n" for number in range(4))


@pytest.fixture
def written(redraft: Program) -> Program:
    """`todo.md`, to which an agent would add some lines."""
    with redraft.open() as workspace, workspace.turn(Author("agent", "scribe"), "More to do") as turn:
        document = turn.read("todo.md")
        turn.write("todo.md", str(document.text) + NEW, document.version)
    return redraft


def hunks(program: Program) -> list[dict[str, Any]]:
    return [hunk for document in program.json("diff")["documents"] for hunk in document["hunks"]]


@pytest.mark.covers("SB-size-manual-split")
def test_each_half_is_decided_by_itself_and_the_cut_can_be_undone(written: Program) -> None:
    old = written.read("todo.md")
    [hunk] = hunks(written)
    shown = written.ok("split", hunk["hunk_id"], "--after", "1")
    assert shown == "Split 1 hunk in todo.md; 2 left.\nUndo with: redraft undo 2\n"
    first, second = hunks(written)
    assert (first["base"], first["working"], second["base"], second["working"]) == ("", "- thing 0\n", "", NEW[10:])
    written.ok("undo", "2")
    assert hunks(written) == [hunk]
    written.ok("split", hunk["hunk_id"], "--after", "1")
    written.ok("reject", hunks(written)[0]["hunk_id"])
    written.ok("accept", hunks(written)[0]["hunk_id"])
    assert written.read("todo.md") == old + NEW[10:]


def test_a_line_that_is_not_there_is_named(written: Program) -> None:
    [hunk] = hunks(written)
    assert "has 4 lines" in written.run("split", hunk["hunk_id"], "--after", "9").err


def test_a_new_document_is_decided_whole(redraft: Program) -> None:
    with redraft.open() as workspace, workspace.turn(Author("agent", "scribe"), "New") as turn:
        turn.create("new.md", NEW)
    assert "whole" in redraft.run("split", "file", "--after", "1", "--path", "new.md").err
