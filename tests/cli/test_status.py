"""`redraft status`: a newcomer, a person with work waiting, and a folder that something happened to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from redraft.text.edits import Change, Edit
from tests.cli.running import Program

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_a_fresh_folder_says_what_to_try(redraft: Program):
    shown = redraft.ok("status")
    assert str(redraft.folder) in shown
    assert "redraft propose CHANGES.patch" in shown


def test_the_example_folder_names_the_first_turn_beside_it(tmp_path: Path):
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns(".redraft"))
    redraft = Program(tmp_path)
    shown = redraft.ok("status", "--folder", "examples/notes")
    assert "redraft propose examples/first-turn.patch --folder examples/notes" in shown
    redraft.ok("propose", "examples/first-turn.patch", "--folder", "examples/notes")
    waiting = redraft.json("status", "--folder", "examples/notes")["documents"]
    assert {document["kind"] for document in waiting} == {"created", "modified", "moved"}


@pytest.mark.covers("RD-cli-status")
def test_status_names_each_document_with_its_hunks_and_the_next_step(proposed: Program):
    shown = proposed.ok("status")
    assert "cast.md  created" in shown
    assert "story.md  2 hunks, agent's" in shown
    assert "First turn" in shown
    assert "redraft diff\n" in shown


def test_status_tells_whose_hunks_wait_and_what_is_not_saved(proposed: Program):
    with proposed.open() as workspace:
        workspace.type("story.md", Change((Edit(0, "", "My own line.\n\n"),)))
        workspace.type("todo.md", Change((Edit(0, "", "- buy oil\n"),)))
    shown = proposed.ok("status")
    assert "story.md  3 hunks: 2 agent's, 1 your own  not saved yet" in shown
    assert "Unsaved typing:\n  todo.md" in shown


def test_typing_that_is_not_saved_can_be_saved(redraft: Program):
    with redraft.open() as workspace:
        workspace.type("todo.md", Change((Edit(0, "", "- buy oil\n"),)))
    assert "Save your typing: redraft accept --path todo.md\n" in redraft.ok("status")
    redraft.ok("accept", "--path", "todo.md")
    assert redraft.read("todo.md").startswith("- buy oil\n- find the keys")
    assert redraft.json("status")["documents"] == []


def test_status_as_json_has_stable_keys(proposed: Program):
    answer = proposed.json("status")
    assert sorted(answer) == [
        "documents",
        "folder",
        "mode",
        "notices",
        "proposals",
        "review",
        "trash",
        "turns",
        "workspace_id",
    ]
    assert (answer["mode"], answer["review"], answer["proposals"], answer["trash"]) == ("propose", "hunk", [1], 0)
    created, story = answer["documents"]
    assert (created["path"], created["kind"], created["hunks"][0]["hunk_id"]) == ("cast.md", "created", "file")
    assert sorted(story) == [
        "base_file_hash",
        "base_path",
        "hunks",
        "kind",
        "path",
        "pending",
        "unsaved",
        "unsaved_edits",
    ]
    assert [(hunk["author"], hunk["turn"], hunk["conflict"]) for hunk in story["hunks"]] == [("agent", 1, False)] * 2
    assert [sorted(hunk) for hunk in (*created["hunks"], *story["hunks"])] == [
        [
            "author",
            "base",
            "conflict",
            "hunk_id",
            "kind",
            "labels",
            "oversized_hunk",
            "proposed",
            "start_line",
            "turn",
            "working",
            "working_at",
            "working_column",
            "working_start_line",
        ]
    ] * 3


@pytest.mark.covers("RD-cli-status")
def test_a_lost_history_is_told_and_the_documents_are_untouched(proposed: Program):
    for database in Path(proposed.state_home).rglob("history.db*"):
        database.unlink()
    result = proposed.run("status")
    assert result.status == 0
    assert "note: The history of this folder was missing" in result.out
    assert "eleven years" in proposed.read("story.md")


def test_other_commands_tell_what_was_lost_beside_their_answer(proposed: Program):
    for database in Path(proposed.state_home).rglob("history.db*"):
        database.unlink()
    result = proposed.run("turns")
    assert (result.status, result.out) == (0, "There are no turns yet.\n")
    assert result.err.startswith("note: The history of this folder was missing")


def test_a_folder_that_is_not_there_is_not_found(redraft: Program):
    result = redraft.run("status", "--folder", "nowhere")
    assert (result.status, result.out) == (4, "")
    assert result.err == (
        "redraft: The folder nowhere does not exist.\n         Name a folder that exists, or create it first.\n"
    )


def test_status_offers_only_what_can_be_done_next(proposed: Program):
    proposed.ok("accept", "--all")
    assert proposed.ok("status").endswith("Nothing is pending. Undo the last turn: redraft undo\n")
    proposed.ok("undo")
    proposed.ok("reject", "--all")
    proposed.ok("undo")
    proposed.ok("undo")
    assert proposed.ok("status").endswith("Nothing is pending. Redo what was undone: redraft redo\n")
    assert proposed.run("undo").err == "redraft: There is nothing to undo.\n"
