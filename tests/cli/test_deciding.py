"""`redraft diff`, `accept` and `reject`."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from redraft.history.turns import Author
from redraft.text.edits import Change, Edit
from tests.cli.conftest import STORY

if TYPE_CHECKING:
    from tests.cli.running import Program

TAKEN = STORY.replace("eleven years", "twelve long years").replace("went to look", "looked")


def hunks(program: Program, path: str) -> list[dict[str, Any]]:
    (document,) = program.json("diff", path)["documents"]
    return document["hunks"]


@pytest.mark.covers("RD-cli-turns")
def test_diff_shows_each_hunk_with_its_id_and_author(proposed: Program):
    shown = proposed.ok("diff", "story.md")
    first, second = hunks(proposed, "story.md")
    assert f"  {first['hunk_id']}  agent's  line 3  turn 1\n" in shown
    assert f"  {second['hunk_id']}  agent's  line 7  turn 1\n" in shown
    assert "  - The lighthouse had been dark for eleven years.\n" in shown
    assert "  + The lighthouse had been dark for twelve long years.\n" in shown
    assert "cast.md" not in shown


@pytest.mark.covers("RD-labels")
def test_diff_shows_and_filters_what_to_look_at_first(redraft: Program):
    text = "".join(f"Line {number} says what it says.\n\n" for number in range(60)) + "It costs 5.00 a day.\n"
    redraft.write("price.md", text)
    new = text.replace("5.00", "7.00").replace("Line 3 says", "Line 3 tells").replace("Line 9 says what", "What")
    version = redraft.json("tool", "read_document", '{"path": "price.md"}')["version"]
    call = {"path": "price.md", "version": version, "content": new}
    answer = redraft.json("tool", "write_document", json.dumps(call), "--mode", "propose")
    assert "to change 3 places; edit_text" in answer["advice"]
    assert "Check that these were meant: number changed (1)." in answer["advice"]
    assert "turn 1  number changed\n" in redraft.ok("diff")
    [document] = redraft.json("diff", "--label", "number_changed")["documents"]
    assert [(hunk["base"], hunk["labels"]) for hunk in document["hunks"]] == [("5.00", ["number_changed"])]
    shown = redraft.ok("diff", "--label", "any")
    assert ("7.00" in shown, "tells" in shown, "and 2 other changes" in shown) == (True, False, True)
    assert redraft.ok("diff", "--label", "link_changed") == "No pending change has this label.\n"


def test_diff_of_a_document_in_which_nothing_waits_is_empty(proposed: Program):
    assert proposed.ok("diff", "todo.md") == "Nothing is pending.\n"
    assert proposed.run("diff", "nowhere.md").status == 4


def test_on_a_terminal_the_changed_words_are_marked(proposed: Program):
    shown = proposed.on_terminal("diff", "story.md").out
    assert "\x1b[1;4;31meleven\x1b[0m" in shown
    assert "\x1b[1;4;32mtwelve long\x1b[0m" in shown


def test_git_apply_takes_the_patch_of_everything_that_waits(proposed: Program):
    patch = proposed.ok("diff", "--patch")
    subprocess.run(
        ["git", "apply", "-"], input=patch.encode(), cwd=proposed.folder, env=proposed.environment, check=True
    )
    assert proposed.read("story.md") == TAKEN
    assert proposed.read("cast.md") == "# Cast\n- Ines\n"


@pytest.mark.covers("RD-cli-decide")
def test_accepting_a_hunk_writes_it_and_leaves_the_other(proposed: Program):
    first, second = hunks(proposed, "story.md")
    shown = proposed.ok("accept", first["hunk_id"].removeprefix("h_")[:6])
    assert shown == "Accepted 1 hunk in story.md; 1 left.\nUndo with: redraft undo 2\n"
    assert proposed.read("story.md") == STORY.replace("eleven years", "twelve long years")
    assert [hunk["hunk_id"] for hunk in hunks(proposed, "story.md")] == [second["hunk_id"]]


@pytest.mark.covers("RD-cli-decide")
def test_accepting_all_gives_the_proposal(proposed: Program):
    answer = proposed.json("accept", "--all")
    assert sorted(answer) == ["decided", "left", "notices", "turn"]
    assert (answer["decided"], answer["left"]) == ({"cast.md": 1, "story.md": 2}, {"cast.md": 0, "story.md": 0})
    assert (proposed.read("story.md"), proposed.read("cast.md")) == (TAKEN, "# Cast\n- Ines\n")
    assert proposed.json("diff")["documents"] == []


@pytest.mark.covers("RD-cli-decide")
def test_rejecting_all_keeps_what_the_person_typed(proposed: Program):
    with proposed.open() as workspace:
        workspace.type("story.md", Change((Edit(0, "", "My own line.\n\n"),)))
    shown = proposed.ok("reject", "--all")
    assert "Undo with: redraft undo 2" in shown
    with proposed.open() as workspace:
        assert str(workspace.read("story.md").text) == "My own line.\n\n" + STORY
    assert proposed.read("story.md") == STORY


@pytest.mark.slow
@pytest.mark.covers("SB-state-undo-reject")
def test_a_rejection_can_be_undone_and_done_again(proposed: Program):
    before = proposed.json("diff")["documents"]
    proposed.ok("reject", "--all")
    assert proposed.json("diff")["documents"] == []
    proposed.ok("undo", "2")
    assert proposed.json("diff")["documents"] == before
    proposed.ok("redo")
    assert proposed.json("diff")["documents"] == []


@pytest.mark.covers("RD-cli-decide")
def test_hunks_files_and_turns_are_accepted_and_rejected(proposed: Program):
    with proposed.open() as workspace, workspace.turn(Author("agent", "other"), "Second") as turn:
        turn.write("todo.md", "- find the keys\n", turn.read("todo.md").version)
    proposed.ok("accept", "--turn", "#2")
    assert proposed.read("todo.md") == "- find the keys\n"
    assert proposed.read("story.md") == STORY
    assert proposed.run("accept", "--turn", "2").status == 4
    first, second = hunks(proposed, "story.md")
    proposed.ok("reject", first["hunk_id"])
    assert [hunk["hunk_id"] for hunk in hunks(proposed, "story.md")] == [second["hunk_id"]]
    proposed.ok("accept", "--path", "cast.md")
    assert proposed.read("cast.md") == "# Cast\n- Ines\n"
    proposed.ok("reject", "--turn", "1")
    assert (proposed.json("diff")["documents"], proposed.read("story.md")) == ([], STORY)
    assert proposed.run("accept", "--turn", "99", "--json").json["error"] == "turn_not_found"


def test_choices_narrow_each_other(proposed: Program):
    assert proposed.json("accept", "--turn", "1", "--path", "cast.md")["decided"] == {"cast.md": 1}
    assert proposed.read("story.md") == STORY


def test_an_id_that_several_documents_carry_needs_a_path(proposed: Program):
    with proposed.open() as workspace, workspace.turn(Author("agent", "other"), "Second") as turn:
        turn.create("more.md", "More.\n")
    result = proposed.run("accept", "file")
    assert result.status == 2
    assert "cast.md" in result.err
    assert "more.md" in result.err
    assert "--path" in result.err
    assert proposed.json("accept", "file", "--path", "more.md")["decided"] == {"more.md": 1}


def test_a_beginning_that_stands_for_several_hunks_is_refused(proposed: Program):
    result = proposed.run("accept", "h_")
    assert result.status == 2
    assert "matches several hunks" in result.err
    assert proposed.read("story.md") == STORY


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 2),
        (["h_0000000000"], 4),
        ([""], 4),
        (["--path", "todo.md"], 4),
        (["--path", "../x"], 2),
        (["--turn", "x"], 2),
        (["--turn", "9" * 30], 2),
    ],
)
def test_a_choice_of_nothing_is_refused_with_a_sentence(proposed: Program, arguments: list[str], status: int):
    result = proposed.run("reject", *arguments)
    assert (result.status, result.out) == (status, "")
    assert result.err.startswith("redraft: ")


@pytest.mark.covers("TK-multi-whole-turn")
def test_where_turns_are_decided_whole_a_single_hunk_is_refused(proposed: Program):
    proposed.settings('review = "turn"')
    result = proposed.run("accept", "file")
    assert result.status == 3
    assert 'review = "turn"' in result.err
    proposed.ok("accept", "--turn", "1")
    assert proposed.read("story.md") == TAKEN


def test_a_conflict_shows_both_versions(redraft: Program):
    with redraft.open() as workspace:
        turn = workspace.turn(Author("agent", "scribe"), "Clash")
        version = turn.read("todo.md").version
        turn.write("todo.md", "- find the keys\n- light the big lamp\n", version)
        workspace.type("todo.md", Change((Edit(16, "- light the lamp", "- light the small lamp"),)))
        turn.commit()
    assert "1 conflict" in redraft.ok("status")
    shown = redraft.ok("diff")
    assert shown.count("- light the small lamp") == 1, "what stands as it was is no change"
    assert "  = - light the small lamp\n" in shown
    assert "    the agent wrote:\n  ? - light the big lamp\n" in shown
    assert redraft.json("diff")["documents"][0]["hunks"][0]["conflict"] is True


def test_typing_that_an_agent_wrote_upon_is_shown_until_it_is_saved(redraft: Program):
    with redraft.open() as workspace:
        workspace.type("todo.md", Change((Edit(2, "find the keys", "find all the keys"),)))
        with workspace.turn(Author("agent", "scribe"), "Upon it") as turn:
            document = turn.read("todo.md")
            turn.write("todo.md", str(document.text).replace("all the", "four"), document.version)
    (document,) = redraft.json("diff")["documents"]
    assert [hunk["author"] for hunk in document["hunks"]] == ["agent"]
    assert document["unsaved_edits"] == [
        {"old_start": 1, "new_start": 1, "old_text": "- find the keys\n", "new_text": "- find all the keys\n"}
    ]
    shown = redraft.ok("diff")
    assert "  unsaved typing  line 1\n  - - find the keys\n  + - find all the keys\n" in shown
    redraft.ok("reject", "--all")
    redraft.ok("accept", "--path", "todo.md")
    assert redraft.read("todo.md") == "- find all the keys\n- light the lamp\n"
    assert redraft.json("diff")["documents"] == []


def test_typing_that_is_a_hunk_of_its_own_is_shown_once(redraft: Program):
    with redraft.open() as workspace:
        workspace.type("todo.md", Change((Edit(2, "find the keys", "find all the keys"),)))
    assert redraft.json("diff")["documents"][0]["unsaved_edits"] == []
    assert redraft.ok("diff").count("find all the keys") == 1


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_document_is_named_with_or_without_its_option(proposed: Program, verb: str):
    assert proposed.ok("diff", "story.md") == proposed.ok("diff", "--path", "story.md")
    assert list(proposed.json(verb, "story.md")["decided"]) == ["story.md"]
    proposed.ok("undo")
    assert list(proposed.json(verb, "--path", "story.md")["decided"]) == ["story.md"]
    assert proposed.json("turns", "story.md") == proposed.json("turns", "--path", "story.md")


def test_a_document_that_is_not_pending_is_refused_by_its_name(proposed: Program):
    told = proposed.run("accept", "todo.md")
    assert (told.status, "Nothing is pending in todo.md." in told.err) == (4, True)


def test_a_name_that_is_a_hunk_and_a_document_is_refused(redraft: Program):
    with redraft.open() as workspace, workspace.turn(Author("agent", "scribe"), "Files") as turn:
        turn.create("file", "x\n")
    assert "--path" in redraft.run("accept", "file").err
    redraft.ok("accept", "--path", "file")
    assert redraft.read("file") == "x\n"
