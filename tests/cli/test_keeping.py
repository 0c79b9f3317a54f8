"""`redraft trash`, `audit` and `gc`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redraft.history.turns import PERSON

if TYPE_CHECKING:
    from tests.cli.running import Program


@pytest.fixture
def deleted(redraft: Program) -> Program:
    """A document in the trash."""
    with redraft.open() as workspace, workspace.turn(PERSON, "Tidy up") as turn:
        turn.delete("drafts/old.md", turn.read("drafts/old.md").version)
    return redraft


@pytest.mark.covers("RD-cli-trash")
def test_the_trash_lists_what_can_be_brought_back(deleted: Program):
    shown = deleted.ok("trash", "list")
    assert "drafts/old.md" in shown
    assert "redraft trash restore drafts/old.md" in shown
    (entry,) = deleted.json("trash", "list")["trash"]
    assert sorted(entry) == ["author", "deleted", "path", "size", "turn"]


@pytest.mark.covers("RD-cli-trash")
@pytest.mark.covers("RD-files-trash")
def test_a_document_comes_back_from_the_trash_and_leaves_it(deleted: Program):
    answer = deleted.json("trash", "restore", "drafts/old.md")
    assert (answer["path"], answer["turn"]["kind"]) == ("drafts/old.md", "untrash")
    assert deleted.read("drafts/old.md") == "An old idea.\n"
    assert deleted.ok("trash", "list") == "The trash is empty.\n"


def test_a_document_can_come_back_under_another_name(deleted: Program):
    deleted.ok("trash", "restore", "drafts/old.md", "--to", "new.md", "--turn", "1")
    assert deleted.read("new.md") == "An old idea.\n"


def test_nothing_comes_back_over_another_document_or_out_of_nowhere(deleted: Program):
    assert deleted.run("trash", "restore", "drafts/old.md", "--to", "todo.md").status == 1
    assert deleted.run("trash", "restore", "drafts/old.md", "--turn", "7").status == 4
    assert deleted.run("trash", "restore", "story.md").status == 4
    assert deleted.run("trash", "restore", "drafts/old.md", "--to", "../x.md").status == 2
    assert "light the lamp" in deleted.read("todo.md")


@pytest.mark.covers("RD-cli-audit")
def test_a_whole_audit_log_is_told_so(deleted: Program):
    assert deleted.ok("audit", "verify") == "The audit log is intact: 1 line.\n"
    answer = deleted.json("audit", "verify")
    assert (answer["intact"], answer["entries"], answer["broken_at"]) == (True, 1, None)


@pytest.mark.covers("RD-cli-audit")
@pytest.mark.covers("RD-history-audit")
def test_a_changed_line_of_the_audit_log_is_named(deleted: Program):
    deleted.ok("trash", "restore", "drafts/old.md")
    (path,) = Path(deleted.state_home).rglob("history.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE audit SET author = 'agent:other' WHERE seq = 2")
    result = deleted.run("audit", "verify")
    assert result.status == 1
    assert "broken at line 2" in result.out
    answer = deleted.run("audit", "verify", "--json")
    assert (answer.status, answer.json["intact"], answer.json["broken_at"]) == (1, False, 2)


@pytest.mark.covers("ML-audit-fields")
def test_the_audit_log_is_listed(deleted: Program):
    (entry,) = deleted.json("audit", "list")["entries"]
    assert sorted(entry) == ["arguments", "at", "author", "result", "seq", "tool", "turn"]
    assert "person:you  apply" in deleted.ok("audit", "list", "--limit", "5")


def test_gc_says_what_it_let_go_of(deleted: Program):
    assert "0 turns" in deleted.ok("gc")
    answer = deleted.json("gc")
    assert (answer["turns"], answer["snapshots"], answer["blocks"]) == (0, 0, 0)
