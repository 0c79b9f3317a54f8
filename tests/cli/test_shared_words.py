"""Two turns that change the very same words, seen from the command line: nothing becomes a text that nobody wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from tests.cli.running import Program

pytestmark = pytest.mark.slow


def edit(program: Program, old: str, new: str, mode: str = "propose") -> None:
    call = {"path": "price.md", "old_text": old, "new_text": new}
    program.ok("tool", "edit_text", "--mode", mode, "-", stdin=json.dumps(call))


@pytest.fixture
def both(redraft: Program) -> Program:
    """Turn 1 makes `150` of `ten`, turn 2 `170` of that; both wait."""
    redraft.write("price.md", "Price: ten EUR\n")
    edit(redraft, "ten", "150")
    edit(redraft, "150", "170")
    return redraft


@pytest.mark.covers("P6")
def test_of_two_pending_turns_on_the_same_words_the_first_is_not_undone_alone(both: Program):
    refused = both.run("undo", "1")
    assert (refused.status, "another pending turn has changed the same words" in refused.out) == (1, True)
    both.ok("undo", "2")
    assert both.json("diff")["documents"][0]["hunks"][0]["working"] == "150"
    both.ok("undo", "1")
    assert "Nothing is pending." in both.ok("diff")
    assert both.read("price.md") == "Price: ten EUR\n"


@pytest.mark.covers("P6")
def test_of_two_turns_on_the_same_words_that_were_accepted_together_the_first_is_not_undone_alone(both: Program):
    both.ok("accept", "--all")
    assert both.read("price.md") == "Price: 170 EUR\n"
    refused = both.run("undo", "1")
    assert (refused.status, "undo turn 2 first" in refused.out) == (1, True)
    assert both.read("price.md") == "Price: 170 EUR\n"
    both.ok("undo", "2")
    assert both.read("price.md") == "Price: 150 EUR\n"
    both.ok("undo", "1")
    assert both.read("price.md") == "Price: ten EUR\n"


@pytest.mark.covers("P6")
def test_the_decision_about_two_turns_on_the_same_words_is_undone_whole(both: Program):
    both.ok("accept", "--all")
    both.ok("undo", "3")
    assert both.read("price.md") == "Price: ten EUR\n"


@pytest.mark.covers("P4")
def test_one_turn_of_two_on_the_same_words_is_decided_in_their_order_alone(both: Program):
    assert both.run("accept", "--turn", "2").status == 1
    assert both.run("reject", "--turn", "1").status == 1
    assert both.read("price.md") == "Price: ten EUR\n"
    both.ok("accept", "--turn", "1")
    assert both.read("price.md") == "Price: 150 EUR\n"
    both.ok("accept", "--turn", "2")
    assert both.read("price.md") == "Price: 170 EUR\n"


@pytest.mark.covers("P6")
@pytest.mark.parametrize("command", [("restore", "1"), ("rollback", "1", "--mode", "hard_all")])
def test_a_proposal_that_was_accepted_is_set_back_whole(redraft: Program, command: tuple[str, ...]):
    redraft.write("price.md", "Price: ten EUR\n")
    edit(redraft, "ten", "150")
    redraft.ok("accept", "--all")
    redraft.ok(*command, "--yes")
    assert redraft.read("price.md") == "Price: ten EUR\n"
    assert "Nothing was changed" in redraft.ok(*command, "--yes")
    redraft.ok("undo")
    assert redraft.read("price.md") == "Price: 150 EUR\n"


@pytest.mark.covers("P6")
def test_a_turn_that_was_settled_is_taken_back_or_named_and_undo_takes_the_settling_first(redraft: Program):
    for side, left in (("--theirs", "Price: 150 EUR\n"), ("--both", "Price: nine 150 EUR\n")):
        redraft.write("price.md", "Price: ten EUR\n")
        edit(redraft, "ten", "150")
        redraft.write("price.md", "Price: nine EUR\n")
        number = max(turn["turn"] for turn in redraft.json("turns")["turns"] if turn["kind"] == "propose")
        redraft.ok("settle", "price.md", side)
        assert redraft.read("price.md") == left
        undone = redraft.run("undo", str(number))
        if side == "--theirs":
            assert redraft.read("price.md") == "Price: nine EUR\n"
        else:
            assert (undone.status, "your own text" in undone.out) == (1, True)
            assert redraft.read("price.md") == left
            redraft.ok("undo")
            assert redraft.read("price.md") == "Price: nine EUR\n"
        redraft.run("reject", "--all")


@pytest.mark.covers("P6")
def test_where_two_passages_go_back_to_one_place_in_an_unknown_order_the_second_is_refused(redraft: Program):
    text = "sat mat sat mat the mat mat\n"
    redraft.write("price.md", text)
    for new in ("sat mat mat the mat mat\n", "sat mat the mat mat\n"):
        version = json.loads(redraft.ok("tool", "read_document", '{"path": "price.md"}'))["version"]
        call = {"path": "price.md", "content": new, "version": version}
        redraft.ok("tool", "write_document", "--mode", "propose", "-", stdin=json.dumps(call))
    for _ in range(2):
        hunk = redraft.json("diff")["documents"][0]["hunks"][0]["hunk_id"]
        redraft.ok("accept", hunk)
    outcomes = [redraft.run("undo", number).status for number in ("1", "2")]
    assert redraft.read("price.md") == text or 1 in outcomes
    assert redraft.read("price.md") in (text, "sat mat mat the mat mat\n", "sat mat sat the mat mat\n")


@pytest.mark.covers("P5")
def test_undo_after_settling_with_another_program_takes_the_settling_back(redraft: Program):
    redraft.write("other.md", "One.\n")
    redraft.ok("tool", "edit_text", "--mode", "apply", '{"path": "other.md", "old_text": "One", "new_text": "Two"}')
    redraft.write("price.md", "Price: ten EUR\n")
    with redraft.open() as workspace:
        document = workspace.read("price.md")
        at = str(document.text).index("ten")
        workspace.type("price.md", Change((Edit(at, "ten", "nine"),)))
    redraft.write("price.md", "Price: forty EUR\n")
    redraft.ok("settle", "price.md", "--mine")
    assert redraft.read("price.md") == "Price: nine EUR\n"
    redraft.ok("undo")
    assert (redraft.read("price.md"), redraft.read("other.md")) == ("Price: forty EUR\n", "Two.\n")


@pytest.mark.covers("P6")
def test_a_private_document_whose_proposed_deletion_was_accepted_is_restored_as_private(redraft: Program):
    redraft.write("price.md", "Price: ten EUR\n")
    (redraft.folder / "price.md").chmod(0o600)
    redraft.ok("tool", "delete_document", "--mode", "propose", "--yes", '{"path": "price.md"}')
    redraft.ok("accept", "--all")
    assert not (redraft.folder / "price.md").exists()
    redraft.ok("restore", "1", "--yes")
    assert redraft.read("price.md") == "Price: ten EUR\n"
    assert (redraft.folder / "price.md").stat().st_mode & 0o777 == 0o600
