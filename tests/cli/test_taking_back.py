"""`redraft undo`, `redo`, `restore` and `rollback`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import STORY

if TYPE_CHECKING:
    from tests.cli.running import Program


@pytest.fixture
def accepted(proposed: Program) -> Program:
    """A turn that was proposed and, as turn 2, taken."""
    proposed.ok("accept", "--all")
    return proposed


def change(program: Program, path: str, old: str, new: str) -> None:
    program.write(path, program.read(path).replace(old, new))


@pytest.mark.covers("RD-cli-undo")
@pytest.mark.covers("ML-adv-undo-last", "ML-adv-redo")
def test_undo_takes_the_last_turn_back_and_redo_brings_it_again(accepted: Program):
    taken = accepted.read("story.md")
    assert "redraft redo" in accepted.ok("undo")
    assert accepted.read("story.md") == STORY
    assert not (accepted.folder / "cast.md").exists()
    accepted.ok("redo")
    assert accepted.read("story.md") == taken
    assert (accepted.folder / "cast.md").exists()


@pytest.mark.covers("RD-undo-redone")
def test_undo_after_redo_takes_back_what_was_redone(accepted: Program):
    taken = accepted.read("story.md")
    accepted.ok("undo", "1")
    states = [turn["state"] for turn in accepted.json("turns")["turns"][-2:]]
    for _ in range(2):
        accepted.ok("redo")
        assert accepted.read("story.md") == taken
        assert accepted.json("undo")["turn"]["source"] == 1
        assert accepted.read("story.md") == STORY
        assert [turn["state"] for turn in accepted.json("turns")["turns"][-2:]] == states
        assert accepted.json("status")["documents"] == []


@pytest.mark.covers("RD-undo-redone")
def test_undo_and_redo_walk_to_and_fro_in_order(redraft: Program):
    texts = [redraft.read("todo.md")]
    for number in range(3):
        edit = {
            "path": "todo.md",
            "old_text": "lamp" + "!" * number + "\n",
            "new_text": "lamp" + "!" * (number + 1) + "\n",
        }
        redraft.ok("tool", "edit_text", "--mode", "apply", "-", stdin=json.dumps(edit))
        texts.append(redraft.read("todo.md"))
    assert len(set(texts)) == 4
    at = 3
    for step in (-1, -1, 1, -1, 1, 1, -1):
        redraft.ok("undo" if step < 0 else "redo")
        at += step
        assert redraft.read("todo.md") == texts[at]


@pytest.mark.covers("RD-history-undo-undo")
def test_the_command_that_undo_names_takes_it_back_also_after_the_undo_of_an_undo(accepted: Program):
    taken = accepted.read("story.md")
    accepted.ok("undo", "2")
    told = accepted.ok("undo", "3")
    assert accepted.read("story.md") == taken
    for expected in (STORY, taken, STORY):
        told = accepted.ok(*told.partition("Undo with: redraft ")[2].split())
        assert accepted.read("story.md") == expected


@pytest.mark.slow
@pytest.mark.covers("RT-adv-undo-inspect")
def test_what_undo_and_redo_would_do_is_shown_and_not_done(accepted: Program):
    taken = accepted.read("story.md")
    told = accepted.ok("undo", "--dry-run")
    assert "`redraft undo` would undo turn 2" in told
    assert "cast.md  would be deleted" in told
    assert "+ The lighthouse had been dark for eleven years" in told
    foreseen = accepted.run("undo", "--dry-run", "--json").json
    assert (foreseen["takes_back"]["turn"], foreseen["conflicts"]) == (2, [])
    assert accepted.read("story.md") == taken
    accepted.ok("undo")
    again = accepted.run("redo", "--dry-run", "--json").json
    assert {each["path"] for each in again["documents"]} == {"story.md", "cast.md"}
    assert accepted.read("story.md") == STORY
    assert accepted.run("undo", "1", "--dry-run", "--json").status == accepted.run("undo", "1", "--json").status


def test_what_would_stand_in_the_way_of_undo_is_told_as_undo_tells_it(accepted: Program):
    change(accepted, "story.md", "twelve long years", "thirteen dark years")
    foreseen, done = (accepted.run("undo", "2", *more, "--json") for more in (["--dry-run"], []))
    assert (foreseen.status, done.status) == (1, 1)
    assert foreseen.json["conflicts"] == done.json["conflicts"]
    assert "So nothing would be changed." in accepted.run("undo", "2", "--dry-run").out


def test_undo_keeps_what_came_after(accepted: Program):
    change(accepted, "story.md", "# The Lamp", "# The Great Lamp")
    accepted.ok("undo", "2")
    assert accepted.read("story.md") == STORY.replace("# The Lamp", "# The Great Lamp")


def test_undo_that_meets_later_changes_names_them_and_changes_nothing(accepted: Program):
    change(accepted, "story.md", "twelve long years", "thirteen dark years")
    before = accepted.read("story.md")
    result = accepted.run("undo", "2")
    assert result.status == 1
    assert "conflict story.md: " in result.out
    assert "nothing was changed" in result.out
    assert accepted.read("story.md") == before
    answer = accepted.run("undo", "2", "--json")
    assert (answer.status, answer.json["turn"]) == (1, None)
    assert [sorted(clash) for clash in answer.json["conflicts"]] == [["hunk_id", "path", "reason"]]


def test_nothing_to_undo_and_nothing_to_redo_say_so(redraft: Program):
    for command in ("undo", "redo"):
        result = redraft.run(command, "--json")
        assert (result.status, result.json["error"]) == (1, "nothing_to_undo")


def test_restore_needs_consent_where_nobody_can_be_asked(accepted: Program):
    taken = accepted.read("story.md")
    for arguments in (["restore", "2"], ["rollback", "2", "--mode", "hard_all"]):
        result = accepted.run(*arguments, "--json")
        assert (result.status, result.json["error"]) == (3, "confirmation_required")
    assert accepted.read("story.md") == taken


def test_restore_asks_a_person_and_takes_no_for_an_answer(accepted: Program):
    taken = accepted.read("story.md")
    asked = accepted.on_terminal("restore", "2", answer="n\n")
    assert asked.status == 3
    assert "[y/N]" in asked.out
    assert "Nothing was changed." in asked.out
    assert accepted.read("story.md") == taken
    assert accepted.on_terminal("restore", "2", answer="y\n").status == 0
    assert accepted.read("story.md") == STORY


@pytest.mark.covers("RD-cli-undo")
@pytest.mark.covers("RD-history-undo-undo")
def test_restore_sets_the_documents_back_and_can_itself_be_undone(accepted: Program):
    change(accepted, "story.md", "twelve long years", "thirteen dark years")
    later = accepted.read("story.md")
    shown = accepted.ok("restore", "2", "--yes")
    assert accepted.read("story.md") == STORY
    assert "redraft undo 4" in shown  # turn 3 is what the other program wrote
    accepted.ok("undo", "4")
    assert accepted.read("story.md") == later


@pytest.mark.covers("RD-cli-undo", "RD-history-undo-undo")
def test_a_rollback_of_one_hunk_keeps_the_others_and_can_itself_be_undone(accepted: Program):
    taken = accepted.read("story.md")
    hunk = next(each for each in accepted.json("show", "2")["hunks"] if "twelve" in each["new_text"])
    accepted.ok("rollback", "2", "--mode", "scoped_selected", "--hunk", hunk["hunk_id"][:8])
    assert accepted.read("story.md") == STORY.replace("went to look", "looked")
    undone = accepted.json("undo")["turn"]["turn"]
    assert accepted.read("story.md") == taken
    accepted.ok("undo", str(undone))
    assert accepted.read("story.md") == STORY.replace("went to look", "looked"), "so can the undo"


@pytest.mark.covers("SB-rb-modes")
def test_of_equal_hunks_in_two_documents_a_rollback_takes_back_the_chosen_one(redraft: Program):
    """A character renamed in a story and in the notes about it: one word for the same word in both."""
    old = {"tale.md": "The character John walked in.\n", "cast.md": "John: tall, and late.\n"}
    for path, text in old.items():
        redraft.write(path, text)
        arguments = json.dumps({"path": path, "old_text": "John", "new_text": "James"})
        redraft.ok("tool", "edit_text", arguments, "--mode", "propose")
    redraft.ok("accept", "--all")
    hunks = {each["path"]: each["hunk_id"] for each in redraft.json("show", "3")["hunks"]}
    assert len(set(hunks.values())) == 2
    shared = hunks["tale.md"].partition(":")[0]
    unclear = redraft.run("rollback", "3", "--mode", "scoped_selected", "--hunk", shared)
    assert (unclear.status, "several hunks" in unclear.err) == (2, True)
    shown = redraft.ok("rollback", "3", "--mode", "scoped_selected", "--hunk", hunks["tale.md"])
    assert "Undo 1 hunk of turn 3" in shown
    assert redraft.read("tale.md") == old["tale.md"]
    assert redraft.read("cast.md") == old["cast.md"].replace("John", "James")


@pytest.mark.covers("P6")
@pytest.mark.parametrize("named", ["1", "2"])
def test_undo_takes_back_what_a_rollback_has_left_of_a_turn(accepted: Program, named: str):
    """Whether the rollback named the proposal or the decision that took it."""
    hunk = next(each for each in accepted.json("show", named)["hunks"] if "twelve" in each["new_text"])
    accepted.ok("rollback", named, "--mode", "scoped_selected", "--hunk", hunk["hunk_id"])
    assert accepted.read("story.md") == STORY.replace("went to look", "looked")
    accepted.ok("undo", "1")
    assert accepted.read("story.md") == STORY


@pytest.mark.covers("P6")
@pytest.mark.parametrize("named", ["1", "2"])
def test_a_word_that_a_rollback_brought_back_is_not_brought_back_again_by_undo(redraft: Program, named: str):
    old = "a.\nmy dog sees your cat\nend\n"
    redraft.write("tale.md", old)
    arguments = json.dumps({"path": "tale.md", "old_text": "my dog sees your cat", "new_text": "my dog  your cat"})
    redraft.ok("tool", "edit_text", arguments, "--mode", "propose")
    redraft.ok("accept", "--all")
    [hunk] = redraft.json("show", named)["hunks"]
    redraft.ok("rollback", named, "--mode", "scoped_selected", "--hunk", hunk["hunk_id"])
    assert redraft.read("tale.md") == old
    redraft.run("undo", "1")
    assert redraft.read("tale.md") == old


@pytest.mark.covers("P6")
def test_of_a_rejected_turn_nothing_is_rolled_back(redraft: Program):
    redraft.write("tale.md", "one two\ncat.\nthe end\n")
    arguments = json.dumps({"path": "tale.md", "old_text": "one two", "new_text": "one"})
    redraft.ok("tool", "edit_text", arguments, "--mode", "propose")
    redraft.ok("reject", "--all")
    redraft.write("tale.md", "one two\ncat. x\nthe end\n")
    [hunk] = redraft.json("show", "1")["hunks"]
    told = redraft.run("rollback", "1", "--mode", "scoped_selected", "--hunk", hunk["hunk_id"])
    assert (told.status, "was rejected" in told.err) == (1, True)
    assert redraft.read("tale.md") == "one two\ncat. x\nthe end\n"


def test_a_rollback_names_the_hunk_that_was_changed_again_and_takes_the_other_back(accepted: Program):
    change(accepted, "story.md", "twelve long years", "thirteen dark years")
    hunks = [each["hunk_id"] for each in accepted.json("show", "2")["hunks"] if each["path"] == "story.md"]
    chosen = [part for hunk in hunks for part in ("--hunk", hunk)]
    result = accepted.run("rollback", "2", "--mode", "scoped_selected", *chosen)
    assert result.status == 1
    assert f"conflict {hunks[0]} story.md: " in result.out
    assert "the rest was undone" in result.out
    assert accepted.read("story.md") == STORY.replace("eleven years", "thirteen dark years")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["2"], 2),
        (["2", "--mode", "gently"], 2),
        (["2", "--mode", "scoped_selected"], 2),
        (["2", "--mode", "scoped_selected", "--hunk", "h_0000"], 4),
        (["2", "--mode", "scoped_selected", "--hunk", "h_"], 2),
        (["2", "--mode", "hard_all", "--hunk", "h_"], 2),
        (["99", "--mode", "hard_all", "--yes"], 4),
    ],
)
@pytest.mark.covers("SB-rb-modes")
def test_a_rollback_that_is_not_clear_is_refused(accepted: Program, arguments: list[str], status: int):
    before = accepted.read("story.md")
    assert accepted.run("rollback", *arguments).status == status
    assert accepted.read("story.md") == before


@pytest.mark.covers("RD-cli-undo")
def test_undo_of_an_accepted_proposal_takes_its_folders_away(redraft: Program):
    arguments = json.dumps({"path": "new/deep/tale.md", "content": "Once.\n"})
    redraft.ok("tool", "create_document", arguments, "--mode", "propose")
    redraft.ok("accept", "--all")
    assert redraft.read("new/deep/tale.md") == "Once.\n"
    redraft.ok("undo", "1")
    assert not (redraft.folder / "new").exists()
    redraft.ok("redo")
    assert redraft.read("new/deep/tale.md") == "Once.\n"
