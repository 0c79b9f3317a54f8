"""`redraft settle`: a conflict decided for the person, for the agent, or for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.history.turns import Author, State
from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from cli.running import Program

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


def test_diff_tells_how_to_settle_a_conflict(clash: Program) -> None:
    name = conflict(clash)["hunk_id"]
    shown = clash.ok("diff")
    assert f"Settle a conflict with redraft settle {name} and --mine, --theirs or --both.\n" in shown


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


def test_status_tells_how_to_settle_a_conflict(clash: Program) -> None:
    name = conflict(clash)["hunk_id"]
    assert f"Settle a conflict, with --mine, --theirs or --both: redraft settle {name}\n" in clash.ok("status")


def test_a_settled_conflict_comes_back_by_undo(clash: Program) -> None:
    before = conflict(clash)
    clash.ok("settle", before["hunk_id"], "--both")
    clash.ok("undo")
    assert conflict(clash) == before
    assert clash.read("todo.md") == KEYS + LAMP


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "left"),
    [("--mine", "small outside lamp"), ("--theirs", "outside lamp"), ("--both", "small outside lamp")],
)
def test_a_clash_with_somebody_outside_is_settled_the_same_way(redraft: Program, side: str, left: str) -> None:
    """The working text holds the words of both already: it is kept as it stands, or given up for the file's."""
    with redraft.open() as workspace:
        workspace.type("todo.md", Change((Edit(len(KEYS), LAMP, "- small lamp\n"),)))
    redraft.write("todo.md", KEYS + "- outside lamp\n")
    hunk = conflict(redraft)
    redraft.ok("settle", hunk["hunk_id"], side)
    assert redraft.read("todo.md").split() == (KEYS + "- " + left).split()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["file", "--path", "cast.md", "--mine"], 2, "accept it or reject it"),
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
