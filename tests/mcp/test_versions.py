"""An edit lands on the text that it was made for, or is refused: by a real MCP process, in a batch and call by call."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.tools.at_once import Ledger, LineEdit, Paper, sessions
from tests.tools.speaking import McpAgent

if TYPE_CHECKING:
    from collections.abc import Generator

    Session = tuple[Paper, list[LineEdit]]

NUMBERS = count()
TEN = "".join(f"line {number}\n" for number in range(10))
LAW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module", params=["apply", "propose"])
def agent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[McpAgent]:
    place = tmp_path_factory.mktemp("versions")
    (place / "notes").mkdir()
    with McpAgent(place / "notes", "--mode", request.param, "--profile", "all") as found:
        yield found


def read(agent: McpAgent, path: str) -> tuple[str, str]:
    """A document as the agent sees it, and its version."""
    found = agent.call("read_document", path=path)
    return found["content"], found["version"]


def written(agent: McpAgent, text: str) -> str:
    path = f"paper-{next(NUMBERS)}.md"
    (agent.folder / path).write_bytes(text.encode())
    return path


def told(agent: McpAgent, call: dict[str, Any]) -> dict[str, Any]:
    result = agent.ask("tools/call", name=call["tool"], arguments=call["arguments"])
    return result["structuredContent"] if not result["isError"] else json.loads(result["content"][0]["text"])


@pytest.mark.covers("P3", "RD-decided-carried")
@given(session=sessions())
@LAW
def test_a_batch_gives_what_applying_its_edits_at_once_would_give_or_nothing(agent: McpAgent, session: Session):
    paper, edits = session
    path = written(agent, paper.text)
    _, version = read(agent, path)
    ledger = Ledger(paper)
    fits = all(ledger.takes(edit) for edit in edits)
    answer = told(agent, {"tool": "batch", "arguments": {"calls": [edit.call(path, version) for edit in edits]}})
    if fits:
        assert answer["status"] == "success"
        assert read(agent, path)[0] == ledger.text
    else:
        assert (answer["error"], answer["your_version"]) == ("version_mismatch", version)
        assert read(agent, path) == (paper.text, version)


@pytest.mark.covers("P3", "RD-decided-carried")
@given(session=sessions())
@LAW
def test_calls_one_after_the_other_for_one_version_are_as_good_as_one_batch(agent: McpAgent, session: Session):
    paper, edits = session
    path = written(agent, paper.text)
    _, version = read(agent, path)
    ledger = Ledger(paper)
    for edit in edits:
        before = read(agent, path)
        answer = told(agent, edit.call(path, version))
        if ledger.takes(edit):
            assert answer["status"] == "success", answer
            assert read(agent, path)[0] == ledger.text
        else:
            assert (answer["error"], answer["your_version"]) == ("version_mismatch", version)
            assert answer["current_version"] == before[1]
            assert read(agent, path) == before


@pytest.mark.parametrize("together", [True, False])
def test_three_line_edits_for_one_version_hit_the_lines_that_were_read(agent: McpAgent, together: bool):
    path = written(agent, TEN)
    _, version = read(agent, path)
    common = {"path": path, "version": version}
    calls: list[dict[str, Any]] = [
        {"tool": "insert_lines", "arguments": {**common, "after_line": 0, "content": "a\nb\nc"}},
        {"tool": "replace_lines", "arguments": {**common, "start_line": 5, "end_line": 5, "content": "FIVE"}},
        {"tool": "delete_lines", "arguments": {**common, "start_line": 8, "end_line": 8}},
    ]
    if together:
        answers = agent.call("batch", calls=calls)["results"]
    else:
        answers = [agent.call(call["tool"], **call["arguments"]) for call in calls]
    expected = TEN.replace("line 0\n", "line 0\na\nb\nc\n").replace("line 5", "FIVE").replace("line 8\n", "")
    assert read(agent, path)[0] == expected
    assert answers[1]["landed"] == {"start_line": 8, "end_line": 8, "made_for": version}
    assert answers[2]["landed"] == {"start_line": 11, "end_line": 10, "made_for": version}


def test_every_tool_that_names_a_place_moves_along_with_it(agent: McpAgent):
    text = "# Top\n\nfirst\n\n## One\n\nold one\n\n## Two\n\nold two\n\nlast words\n"
    path = written(agent, text)
    _, version = read(agent, path)
    common = {"path": path, "version": version}
    calls = [
        {"tool": "insert_lines", "arguments": {**common, "after_line": 0, "content": "## One\n\nanother one\n"}},
        {"tool": "edit_section", "arguments": {**common, "heading": ["One"], "content": "new one"}},
        {"tool": "edit_text", "arguments": {**common, "old_text": "old two", "new_text": "new two"}},
        {"tool": "find_and_replace", "arguments": {**common, "find": "last|first", "replace": "X", "is_regex": True}},
        {"tool": "edit_document", "arguments": {**common, "operation": "append", "content": "the end"}},
        {
            "tool": "propose_edits",
            "arguments": {
                "edits": [
                    {"file_path": path, "operation": "replace", "start_line": 9, "new_text": "## 2", "version": version}
                ]
            },
        },
    ]
    agent.call("batch", calls=calls)
    expected = "# Top\n## One\n\nanother one\n\nX\n\n## One\n\nnew one\n\n## 2\n\nnew two\n\nX words\n\nthe end\n"
    found, now = read(agent, path)
    assert found == expected
    told_again = agent.refused("edit_section", **common, heading=["Two"], content="x")
    assert (told_again["your_version"], told_again["current_version"]) == (version, now)
    assert told_again["details"]["changed_lines"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_document", {"content": "all new\n" * 20}),
        ("edit_document", {"operation": "replace", "content": "x" * 90}),
    ],
)
def test_a_write_of_the_whole_is_refused_if_anything_changed(agent: McpAgent, tool: str, arguments: dict[str, Any]):
    path = written(agent, TEN)
    _, version = read(agent, path)
    edit = {"path": path, "version": version, "start_line": 9, "end_line": 9, "content": "last"}
    agent.call("replace_lines", **edit)
    before = read(agent, path)
    answer = agent.refused(tool, path=path, version=version, **arguments)
    assert (answer["error"], answer["current_version"]) == ("version_mismatch", before[1])
    calls = [{"tool": tool, "arguments": {"path": path, "version": before[1], **arguments}}]
    first = {"tool": "delete_lines", "arguments": {"path": path, "version": before[1], "start_line": 0, "end_line": 0}}
    assert agent.refused("batch", calls=[first, *calls])["error"] == "version_mismatch"
    assert read(agent, path) == before


@pytest.mark.covers("TK-version-mismatch-shape")
def test_a_version_that_nobody_knows_is_refused(agent: McpAgent):
    path = written(agent, TEN)
    edit = {"path": path, "start_line": 9, "end_line": 9}
    answer = agent.refused("delete_lines", **edit, version="0123456789abcdef")
    assert (answer["error"], answer["your_version"]) == ("version_mismatch", "0123456789abcdef")
    assert answer["current_version"] == read(agent, path)[1]


def test_what_another_program_wrote_is_gone_past_or_refused_where_equal_lines_leave_a_doubt(agent: McpAgent):
    text = "top\n" + "same\n" * 6 + "end\n"
    path = written(agent, text)
    _, version = read(agent, path)
    (agent.folder / path).write_bytes(("TOP\n" + text.partition("\n")[2]).encode())
    edit = {"path": path, "version": version, "content": "mine"}
    assert agent.call("replace_lines", **edit, start_line=3, end_line=3)["status"] == "success"
    other = written(agent, text)
    _, version = read(agent, other)
    (agent.folder / other).write_bytes(("top\n" + "same\n" * 7 + "end\n").encode())
    edit = {"path": other, "version": version, "content": "mine"}
    assert agent.refused("replace_lines", **edit, start_line=3, end_line=3)["error"] == "version_mismatch"
    assert read(agent, other)[0] == "top\n" + "same\n" * 7 + "end\n"
