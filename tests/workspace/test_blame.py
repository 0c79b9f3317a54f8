"""Who wrote which line: followed through any texts, and through turns, proposals, moves and other programs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from redraft.text.diff.line_diff import diff_lines
from redraft.text.lines import count_lines, split_lines
from redraft.workspace.past_texts import BlamedLines, Revision, blame_lines, group_blamed_lines
from tests.workspace.folder import AGENT, PERSON, agent_writes, person_writes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d"]), max_size=12).map("".join)
HISTORIES = st.lists(st.tuples(st.none() | st.integers(1, 9), TEXTS), max_size=8)


def naive(history: list[tuple[int | None, str]]) -> list[int | None]:
    """The slow twin: for each line of each text, find by counting which line of the last text it was."""
    before, owners = "", list[int | None]()
    for turn, text in history:
        regions = diff_lines(before, text)
        found = list[int | None]()
        for line in range(count_lines(text)):
            if any(region.new_start <= line < region.new_end for region in regions):
                found.append(turn)
                continue
            passed = [region for region in regions if region.new_end <= line]
            shift = sum((r.new_end - r.new_start) - (r.old_end - r.old_start) for r in passed)
            found.append(owners[line - shift])
        before, owners = text, found
    return owners


@given(HISTORIES)
def test_lines_are_followed_as_a_slow_twin_follows_them(history: list[tuple[int | None, str]]):
    owners = blame_lines(Revision(*each) for each in history)
    assert owners == naive(history)
    last = history[-1][1] if history else ""
    assert len(owners) == count_lines(last)


@given(HISTORIES)
def test_a_line_stands_in_the_text_of_the_turn_that_it_is_from(history: list[tuple[int | None, str]]):
    lines = split_lines(history[-1][1] if history else "")
    for line, owner in zip(lines, blame_lines(Revision(*each) for each in history), strict=True):
        assert any(turn == owner and line in split_lines(text) for turn, text in history)


@given(st.lists(st.none() | st.integers(1, 3)))
def test_stretches_are_the_lines_again(owners: list[int | None]):
    found = group_blamed_lines(owners)
    assert [turn for turn, _, lines in found for _ in range(lines)] == owners
    assert all(one.turn != other.turn for one, other in pairwise(found))
    assert all(one.start + one.lines == other.start for one, other in pairwise(found))


def test_a_document_is_followed_through_its_turns_a_proposal_a_move_and_another_program(folder: Folder):
    folder.put("old.md", "one\ntwo\nthree\n")
    workspace = folder.open()
    mine = person_writes(workspace, {"old.md": "one\nTWO\nthree\n"}).id
    with workspace.turn(AGENT, "Moved", mode="apply") as turn:
        turn.move("old.md", "new.md", turn.read("old.md").version)
    agent_writes(workspace, {"new.md": "one\nTWO\nTHREE\n"})
    proposed = workspace.turns(limit=1)[0].id
    workspace.accept({"new.md": None})
    folder.put("new.md", "one\nTWO\nTHREE\nfour\n")
    text = str(workspace.read("new.md").text)
    noticed = workspace.turns(limit=1)[0]
    assert (noticed.author.kind, noticed.title) == ("outside", "Another program changed new.md")
    expected = [
        BlamedLines(None, 0, 1),
        BlamedLines(mine, 1, 1),
        BlamedLines(proposed, 2, 1),
        BlamedLines(noticed.id, 3, 1),
    ]
    assert workspace.blame("new.md", text) == expected


def test_a_document_of_the_same_name_that_was_deleted_before_is_another_one(folder: Folder):
    workspace = folder.open()
    for act in ("create", "delete", "create"):
        with workspace.turn(PERSON, act) as turn:
            if act == "create":
                turn.create("same.md", "same\n")
            else:
                turn.delete("same.md", turn.read("same.md").version)
    newest = workspace.turns(limit=1)[0].id
    assert workspace.blame("same.md", "same\n") == [BlamedLines(newest, 0, 1)]
