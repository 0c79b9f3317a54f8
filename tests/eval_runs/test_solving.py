"""From two folders to tool calls: the calls, carried out naively, lead from the one to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.solutions import WAYS, solution_of
from redraft.errors import RedraftError
from redraft.text.lines import split_lines
from redraft.text.text import Text
from redraft.workspace.document import content_hash, version_of
from tests.eval_runs.making import task

if TYPE_CHECKING:
    from evals.solutions import Way

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "é 𝒵\n", "ab\n"]), min_size=1, max_size=8)


def ended(lines: list[str], end: str) -> str:
    return "".join(lines) + end


TEXTS = st.builds(ended, LINES, st.sampled_from(["", "", "a", "end"]))


def carried_out(text: str, calls: list[dict[str, Any]]) -> str:
    """What the calls make of a text, by the plainest reading of each tool."""
    for call in calls:
        given = call["arguments"]
        if call["tool"] == "edit_text":
            assert text.count(given["old_text"]) == 1
            text = text.replace(given["old_text"], given["new_text"])
        elif call["tool"] == "propose_edits":
            for each in reversed(given["edits"]):
                start = each["start_line"] - 1
                text = spliced(text, start, each.get("end_line", start), each["new_text"], each["expected_hash"])
        elif call["tool"] == "insert_lines":
            assert given["version"] == version_of(Text(text))
            text = spliced(text, given["after_line"] + 1, given["after_line"] + 1, given["content"])
        else:
            assert given["version"] == version_of(Text(text))
            text = spliced(text, given["start_line"], given["end_line"] + 1, given["content"])
    return text


def spliced(text: str, start: int, end: int, new: str, expected: str | None = None) -> str:
    lines = split_lines(text)
    if expected is not None:
        assert content_hash("".join(lines[start:end]).encode()) == expected
    return "".join([*lines[:start], new, *lines[end:]])


@pytest.mark.parametrize("way", WAYS)
@given(old=TEXTS, new=TEXTS)
def test_the_calls_lead_from_one_text_to_the_other(way: Way, old: str, new: str):
    try:
        steps = solution_of(task({"a.md": old}, {"a.md": new}), way)
    except RedraftError:
        # A list of edits speaks of whole lines and cannot say everything about the end of a text.
        assert way == "propose_edits"
        assert not (old.endswith("\n") and new.endswith("\n"))
        return
    calls = [call for step in steps for call in step.get("calls", [])]
    assert [call["tool"] for call in calls[:1]] == (["read_document"] if old != new else [])
    assert carried_out(old, calls[1:]) == new
    assert "calls" not in steps[-1]


@given(old=LINES, new=LINES)
def test_whole_lines_are_edited_by_the_tools_for_lines_alone(old: list[str], new: list[str]):
    steps = solution_of(task({"a.md": "".join(old)}, {"a.md": "".join(new)}), "replace_lines")
    tools = {call["tool"] for step in steps for call in step.get("calls", [])}
    assert tools <= {"read_document", "replace_lines", "insert_lines"}


def test_files_come_go_and_move():
    before = {"keep.md": "k\n", "old.md": "moved\n", "gone.md": "g\n"}
    after = {"keep.md": "k\n", "new/place.md": "moved\n", "fresh.md": "f\n"}
    steps = solution_of(task(before, after))
    called = [(call["tool"], call["arguments"]) for call in steps[1]["calls"]]
    assert called == [
        ("create_document", {"path": "fresh.md", "content": "f\n"}),
        ("move_document", {"from_path": "old.md", "to_path": "new/place.md"}),
        ("delete_document", {"path": "gone.md"}),
    ]


def test_a_document_in_which_there_is_nothing_to_quote_is_not_guessed_at():
    with pytest.raises(RedraftError, match="nothing to quote"):
        solution_of(task({"a.md": ""}, {"a.md": "x\n"}))
