"""`redraft settle`: a conflict decided for the person, for the agent, or for both."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from redraft.history.turns import Author, State
from redraft.text.edits import Change, Edit
from tests.cli.conftest import STORY
from tests.cli.running import Program

KEYS, LAMP = "- find the keys\n", "- light the lamp\n"
MINE, THEIRS = "- light the small lamp\n", "- light the big lamp\n"


@pytest.fixture
def clash(redraft: Program) -> Program:
    """`todo.md`, where the person wrote over the words that an agent was changing."""
    with redraft.open() as workspace:
        turn = workspace.turn(Author("agent", "scribe"), "Clash")
        turn.write("todo.md", KEYS + THEIRS, turn.read("todo.md").version)
        workspace.type("todo.md", Change((Edit(len(KEYS), LAMP, MINE),)))
        turn.commit()
    return redraft


def conflict(program: Program) -> dict[str, Any]:
    (document,) = program.json("diff")["documents"]
    (hunk,) = document["hunks"]
    assert hunk["conflict"]
    return hunk


def commands_in(text: str) -> list[list[str]]:
    """The `redraft settle` commands that a person is told, as they would type them."""
    return [
        shlex.split(found)[1:]
        for found in re.findall(r"redraft settle \S+.* --(?:mine|theirs|both)$", text, re.MULTILINE)
    ]


@pytest.mark.covers("RD-cli-settle-told")
@pytest.mark.parametrize("command", ["diff", "status"])
@pytest.mark.parametrize(("number", "left"), [(0, LAMP), (1, THEIRS), (2, MINE + THEIRS)])
def test_each_command_that_is_told_for_a_conflict_settles_it(
    clash: Program, command: str, number: int, left: str
) -> None:
    told = commands_in(clash.ok(command))
    assert [each[-1] for each in told] == ["--mine", "--theirs", "--both"]
    clash.ok(*told[number])
    assert clash.read("todo.md") == KEYS + left
    assert clash.json("status")["documents"] == [] or number == 0


@pytest.mark.covers("RD-cli-settle-told")
@pytest.mark.parametrize("arguments", [["--all"], ["todo.md"], ["--turn", "1"]])
def test_who_accepts_a_conflict_is_told_the_command_that_settles_it(clash: Program, arguments: list[str]) -> None:
    name = conflict(clash)["hunk_id"]
    for shown in (clash.ok("status"), clash.ok("diff")):
        assert "redraft accept" not in shown, "what would be refused"
        assert f"redraft settle {name} --mine" in shown
    refused = clash.run("accept", *arguments)
    assert (refused.status, refused.out) == (1, "")
    assert f"Resolve it first: redraft settle {name} --mine, --theirs or --both." in refused.err
    elsewhere = Program(clash.folder.parent / "elsewhere", {"XDG_STATE_HOME": clash.state_home})
    elsewhere.folder.mkdir()
    refused = elsewhere.run("accept", *arguments, "--folder", str(clash.folder), "--json")
    assert f"redraft settle {name} --folder {clash.folder} --mine" in refused.json["suggestion"]
    assert clash.read("todo.md") == KEYS + LAMP


@pytest.mark.covers("RD-cli-settle-told")
def test_a_conflict_is_named_with_its_document_where_another_has_the_same(redraft: Program) -> None:
    for path in ("a.md", "b.md"):
        redraft.write(path, "Price: 100 EUR\n")
    patch = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-Price: 100 EUR\n+Price: 200 EUR\n"
    redraft.ok("propose", "-", stdin=patch.format("a.md") + patch.format("b.md"))
    assert "If several documents have the same id, add --path." in redraft.ok("diff")
    name = redraft.json("diff")["documents"][0]["hunks"][0]["hunk_id"]
    both = redraft.run("accept", name)
    assert f"{name} is in several documents: a.md, b.md. Choose one with --path." in both.err
    redraft.write("b.md", "Price: 350 EUR\n")
    told = commands_in(redraft.run("diff").out)
    redraft.run(*told[0])
    assert redraft.read("b.md") == "Price: 350 EUR\n"
    assert [each["path"] for each in redraft.json("diff")["documents"]] == ["a.md"]


@pytest.mark.covers("RD-cli-settle-told")
def test_what_accepting_all_leaves_in_conflict_is_told_with_its_commands(proposed: Program) -> None:
    proposed.write("story.md", STORY.replace("eleven", "nineteen"))
    shown = proposed.run("accept", "--all").out
    assert "in story.md; 1 left.\n" in shown
    proposed.ok(*commands_in(shown)[1])
    assert proposed.read("story.md") == STORY.replace("eleven", "twelve long").replace("went to look", "looked")


@pytest.mark.covers("RD-cli-decide")
@pytest.mark.parametrize(("side", "left"), [("--theirs", THEIRS), ("--both", MINE + THEIRS)])
def test_the_agents_words_or_both_are_written(clash: Program, side: str, left: str) -> None:
    shown = clash.ok("settle", conflict(clash)["hunk_id"].removeprefix("h_")[:6], side)
    assert shown == "Settled 1 hunk in todo.md.\nUndo with: redraft undo 2\n"
    assert clash.read("todo.md") == KEYS + left
    assert clash.json("diff")["documents"] == []
    assert clash.json("show", "1")["turn"]["state"] == State.APPLIED


@pytest.mark.covers("RD-cli-decide")
def test_the_persons_words_stay_as_they_are_and_the_agents_are_refused(clash: Program) -> None:
    answer = clash.json("settle", conflict(clash)["hunk_id"], "--mine")
    assert answer["decided"] == {"todo.md": 1}
    assert clash.read("todo.md") == KEYS + LAMP
    with clash.open() as workspace:
        assert str(workspace.read("todo.md").text) == KEYS + MINE
        assert workspace.show(1).state is State.DISCARDED


@pytest.mark.parametrize("names", [["todo.md"], ["--path", "todo.md"]])
def test_the_only_conflict_of_a_document_is_settled_by_its_name(clash: Program, names: list[str]) -> None:
    clash.ok("settle", *names, "--theirs")
    assert clash.read("todo.md") == KEYS + THEIRS


def test_a_settlement_stands_in_the_history_as_one(clash: Program) -> None:
    clash.ok("settle", conflict(clash)["hunk_id"], "--theirs")
    assert clash.json("turns")["turns"][0]["title"] == "Settle 1 hunk in todo.md"


def test_a_settled_conflict_comes_back_by_undo(clash: Program) -> None:
    before = conflict(clash)
    clash.ok("settle", before["hunk_id"], "--both")
    clash.ok("undo")
    assert conflict(clash) == before
    assert clash.read("todo.md") == KEYS + LAMP


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "left"),
    [("--mine", "- small lamp"), ("--theirs", "- outside lamp"), ("--both", "- small outside lamp")],
)
def test_a_clash_with_somebody_outside_is_settled_the_same_way(redraft: Program, side: str, left: str) -> None:
    with redraft.open() as workspace:
        workspace.type("todo.md", Change((Edit(len(KEYS), LAMP, "- small lamp\n"),)))
    redraft.write("todo.md", KEYS + "- outside lamp\n")
    hunk = conflict(redraft)
    redraft.ok("settle", hunk["hunk_id"], side)
    assert redraft.read("todo.md") == f"{KEYS}{left}\n"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["file", "--path", "cast.md", "--mine"], 2, "accept or reject it"),
        (["h_0000000000", "--mine"], 4, "No hunk"),
        (["file"], 2, "--mine --theirs --both"),
        (["file", "--mine", "--both"], 2, "not allowed"),
        (["--mine"], 2, "HUNK"),
    ],
)
def test_what_is_no_conflict_is_refused_with_a_sentence(
    proposed: Program, arguments: list[str], status: int, said: str
) -> None:
    result = proposed.run("settle", *arguments)
    assert (result.status, result.out) == (status, "")
    assert said in result.err
