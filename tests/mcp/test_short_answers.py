"""Models read every answer: a batch says little where all went well, and no answer gives back what was just sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tools.speaking import McpAgent

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

SENT = "A passage of its own that nobody else would write into a document. " * 5
TEXT = "# Top\n\n## One\n\nold one\n\n## Two\n\nold two\n\nlast words\n"


@pytest.fixture
def agent(tmp_path: Path) -> Generator[McpAgent]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT, encoding="utf-8")
    with McpAgent(folder, "--profile", "all", "--mode", "apply") as started:
        yield started


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"tool": "edit_text", "arguments": {"path": "a.md", "old_text": old, "new_text": new, **more}}


@pytest.mark.covers("RD-batch-size", "RD-batch-answer")
def test_a_batch_of_thirty_edits_is_answered_in_a_line_each(agent: McpAgent):
    agent.call("create_document", path="b.md", content="".join(f"word{number} here\n" for number in range(30)))
    calls = [
        {"tool": "edit_text", "arguments": {"path": "b.md", "old_text": f"word{n} ", "new_text": f"W{n} "}}
        for n in range(30)
    ]
    answer = agent.call("batch", calls=calls)
    assert answer["results"] == ["ok"] * 30
    assert agent.call("read_document", path="b.md")["content"] == "".join(f"W{n} here\n" for n in range(30))


@pytest.mark.covers("RD-batch-answer")
def test_a_batch_says_what_its_caller_does_not_know(agent: McpAgent):
    version = agent.call("read_document", path="a.md")["version"]
    answer = agent.call(
        "batch",
        calls=[
            {
                "tool": "insert_lines",
                "arguments": {"path": "a.md", "version": version, "after_line": 0, "content": "x"},
            },
            {
                "tool": "replace_lines",
                "arguments": {"path": "a.md", "version": version, "start_line": 4, "end_line": 4, "content": "new one"},
            },
            {
                "tool": "find_and_replace",
                "arguments": {"path": "a.md", "version": version, "find": "two", "replace": "2"},
            },
            {"tool": "create_document", "arguments": {"title": "Plan"}},
            {"tool": "read_document", "arguments": {"path": "a.md", "end_line": 1}},
        ],
    )
    inserted, replaced, found, created, read = answer["results"]
    assert inserted == "ok"
    assert replaced == {"landed": {"start_line": 5, "end_line": 5, "made_for": version}}
    assert (found["replacements_made"], "preview" in found) == (1, False)
    assert created["path"] == "Plan.md"
    assert read["content"] == "# Top\nx\n"


@pytest.mark.covers("RD-answer-no-echo")
def test_no_answer_gives_back_what_the_caller_has_just_sent(agent: McpAgent):
    for number, (tool, arguments) in enumerate(
        (
            ("insert_lines", {"after_line": 0, "content": SENT}),
            ("replace_lines", {"start_line": 4, "end_line": 4, "content": SENT}),
            ("edit_text", {"old_text": "old two", "new_text": SENT}),
            ("edit_text", {"old_text": SENT * 2, "new_text": SENT}),
            ("edit_section", {"heading": ["Two"], "content": SENT}),
            ("edit_document", {"operation": "append", "content": SENT}),
            ("write_document", {"content": TEXT + SENT}),
            ("write_document", {"content": TEXT + SENT, "version": "0" * 16}),
        )
    ):
        path = f"{number}.md"
        version = agent.call("create_document", path=path, content=TEXT)["version"]
        expect_no_echo(agent, tool, {"path": path, "version": version, **arguments})
    version = agent.call("read_document", path="a.md")["version"]
    line = {"file_path": "a.md", "operation": "replace", "start_line": 10, "new_text": SENT, "version": version}
    expect_no_echo(agent, "propose_edits", {"edits": [line]})
    expect_no_echo(agent, "create_document", {"path": "new.md", "content": SENT})
    expect_no_echo(agent, "batch", {"calls": [edit("# Top", f"# {SENT}")]})
    expect_no_echo(agent, "batch", {"calls": [edit("not there", SENT)]})


def expect_no_echo(agent: McpAgent, tool: str, arguments: dict[str, Any]) -> None:
    result = agent.ask("tools/call", name=tool, arguments=arguments)
    assert SENT.strip() not in str(result), (tool, result)
