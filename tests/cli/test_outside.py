"""What another program writes, seen through ours: in the history, undone by its number, and never by accident."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import STORY
from tests.speaking.programs import WAYS, another_program

if TYPE_CHECKING:
    from tests.cli.running import Program

OTHER = STORY.replace("eleven", "ninety") + "\nOne more line.\n"


def edit(redraft: Program, old: str, new: str, mode: str = "apply") -> None:
    given = json.dumps({"path": "story.md", "old_text": old, "new_text": new})
    redraft.ok("tool", "edit_text", "--json", given, "--mode", mode)


@pytest.mark.covers("RD-outside-turn")
@pytest.mark.parametrize("how", WAYS)
def test_a_document_with_a_turn_that_another_program_changed_shows_it_in_the_history(
    redraft: Program, how: str
) -> None:
    edit(redraft, "twice", "once")
    now = OTHER.replace("twice", "once")
    another_program(how, redraft.folder / "story.md", now)
    [outside, agents] = redraft.json("turns")["turns"]
    assert (outside["author"]["kind"], outside["title"]) == ("outside", "Another program changed story.md")
    assert agents["author"]["kind"] == "agent"
    assert [turn["turn"] for turn in redraft.json("turns")["turns"]] == [outside["turn"], agents["turn"]]
    shown = redraft.json("show", str(outside["turn"]))
    assert {hunk["path"] for hunk in shown["hunks"]} == {"story.md"}
    redraft.ok("undo", str(outside["turn"]))
    assert redraft.read("story.md") == STORY.replace("twice", "once")
    redraft.ok("redo")
    assert redraft.read("story.md") == now


@pytest.mark.covers("RD-outside-undo")
def test_undo_without_a_number_takes_back_what_was_done_here_and_not_what_another_program_wrote(
    redraft: Program,
) -> None:
    edit(redraft, "twice", "once")
    another_program("rename", redraft.folder / "story.md", OTHER.replace("twice", "once"))
    redraft.ok("undo")
    assert redraft.read("story.md") == OTHER
    another_program("in place", redraft.folder / "story.md", OTHER + "And another.\n")
    redraft.ok("redo")
    assert redraft.read("story.md") == OTHER.replace("twice", "once") + "And another.\n"


@pytest.mark.covers("RD-outside-undo")
def test_where_only_another_program_wrote_undo_says_which_turn_to_name(redraft: Program) -> None:
    edit(redraft, "twice", "once", mode="propose")
    redraft.ok("reject", "--all")
    redraft.ok("undo")
    redraft.ok("undo", "1")
    another_program("rename", redraft.folder / "story.md", OTHER)
    number = redraft.json("turns")["turns"][0]["turn"]
    refused = redraft.run("undo")
    assert refused.status != 0
    assert f"name its turn, {number}" in refused.err
    redraft.ok("undo", str(number))
    assert redraft.read("story.md") == STORY


@pytest.mark.covers("RD-outside-conflict")
def test_status_says_where_another_program_met_what_waits(redraft: Program) -> None:
    edit(redraft, "eleven", "fourteen", mode="propose")
    another_program("in place", redraft.folder / "story.md", STORY.replace("eleven", "ninety"))
    told = redraft.ok("status")
    assert "note: Another program changed words in story.md that were changed here too." in told
    assert "1 conflict" in told
    assert "Another program changed story.md" in redraft.ok("status")


@pytest.mark.covers("RD-outside-conflict")
def test_a_conflict_of_an_agent_with_another_program_is_not_told_as_the_persons(redraft: Program) -> None:
    edit(redraft, "eleven", "fourteen", mode="propose")
    another_program("rename", redraft.folder / "story.md", STORY.replace("eleven", "ninety"))
    for words in (["status"], ["diff"]):
        said = redraft.run(*words).out
        assert "agent's and another program's" in said
        assert "yours" not in said
    refused = redraft.run("accept", "--all")
    assert "yours" not in refused.err
