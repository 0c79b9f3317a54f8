"""`redraft turns` and `redraft show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.config import Settings
from redraft.history.turns import PERSON
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from tests.cli.running import Program


@pytest.mark.covers("RD-cli-turns")
def test_turns_are_listed_with_the_newest_first(proposed: Program):
    proposed.ok("accept", "--path", "story.md")
    lines = proposed.ok("turns").splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert "applied" in lines[0]
    assert "to review" in lines[1]  # the word of the app
    assert "scribe  First turn" in lines[1]


@pytest.mark.slow
def test_turns_can_be_fewer_and_of_one_document(proposed: Program):
    proposed.ok("accept", "--path", "story.md")
    assert [turn["turn"] for turn in proposed.json("turns", "--limit", "1")["turns"]] == [2]
    assert [turn["turn"] for turn in proposed.json("turns", "--path", "cast.md")["turns"]] == [1]
    assert proposed.json("turns", "--path", "todo.md")["turns"] == []
    assert proposed.run("turns", "--limit", "0").status == 2


def test_a_turn_as_json_has_stable_keys(proposed: Program):
    (turn,) = proposed.json("turns")["turns"]
    assert sorted(turn) == [
        "author",
        "created",
        "folders",
        "kind",
        "mode",
        "paths",
        "pruned",
        "source",
        "state",
        "title",
        "turn",
    ]
    assert turn["author"] == {"kind": "agent", "name": "scribe"}


@pytest.mark.covers("RD-cli-turns")
def test_show_lists_what_became_of_each_document_and_the_hunks_for_a_rollback(proposed: Program):
    proposed.ok("accept", "--all")
    shown = proposed.ok("show", "2")
    answer = proposed.json("show", "2")
    assert sorted(answer) == ["documents", "hunks", "notices", "turn"]
    assert {(each["path"], each["action"]) for each in answer["documents"]} == {
        ("cast.md", "created"),
        ("story.md", "modified"),
    }
    assert len(answer["hunks"]) == 3
    assert all(hunk["hunk_id"] in shown for hunk in answer["hunks"])
    assert "  + Then she looked for the keys.\n" in shown


def test_show_of_a_proposal_leads_to_its_review(proposed: Program):
    shown = proposed.ok("show", "#1")
    assert "Turn 1  First turn\n" in shown
    assert "It waits for your decision: redraft diff\n" in shown
    assert {(each["path"], each["action"]) for each in proposed.json("show", "1")["documents"]} == {
        ("cast.md", "created"),
        ("story.md", "modified"),
    }


def test_a_turn_that_is_not_there_is_told(redraft: Program):
    result = redraft.run("show", "7")
    assert (result.status, result.out) == (4, "")
    assert "There is no turn 7." in result.err


@pytest.mark.covers("RD-cli-gc")
def test_a_turn_whose_content_was_let_go_is_still_told(redraft: Program):
    redraft.write("todo.md", "one\n")
    old = Workspace.open(redraft.folder, state_home=redraft.state_home, settings=Settings(), clock=lambda: 0.0)
    with old as workspace:
        turn = workspace.turn(PERSON, "Long ago")
        turn.write("todo.md", "two\n", turn.read("todo.md").version)
        turn.commit()
    assert redraft.json("gc")["turns"] == 1
    shown = redraft.ok("show", "1")
    assert "Long ago" in shown
    assert "no longer kept" in shown
    assert redraft.json("show", "1")["hunks"] == []


def test_turns_of_a_path_that_leads_out_of_the_folder_are_refused(redraft: Program):
    result = redraft.run("turns", "--path", "../x", "--json")
    assert (result.status, result.json["error"]) == (2, "invalid_path")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_behind_a_change_that_ends_its_line_comes_the_next_line(redraft: Program, ending: str):
    lines = ["one", "two", "three", "four", "five"]
    redraft.write("lines.txt", ending.join(lines))
    redraft.ok("tool", "edit_text", '{"path": "lines.txt", "old_text": "three", "new_text": "THREE"}')
    shown = ["    one", "    two", "  - three", "  + THREE", "    four", "    five"]
    for command in (["diff"], ["show", "1"]):
        out = redraft.ok(*command).splitlines()
        assert out[(at := out.index(shown[0])) : at + len(shown)] == shown, out
    redraft.ok("reject", "--all")
    redraft.ok("tool", "edit_text", '{"path": "lines.txt", "old_text": "three", "new_text": ""}')
    assert redraft.ok("diff").split("  - three\n")[1].splitlines()[:2] == ["    ", "    four"], "it is empty now"
