"""The specifications' own sample workflows, as a model would carry them out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.tools.calling import Caller

NOVEL = "".join(
    f"# Chapter {number}\n\n" + "".join(f"Paragraph {each} of chapter {number}.\n\n" for each in range(40))
    for number in range(1, 6)
)


def test_a_story_is_written_by_one_call(agent: Caller):
    answer = agent.call("create_document", title="my_story.md", content="Once upon a time...")
    assert answer["version"] == agent.version("my_story.md")
    assert agent.text("my_story.md") == "Once upon a time..."


def test_detail_is_added_to_a_chapter(agent: Caller):
    agent.folder.put("novel.md", NOVEL)
    agent.workspace.open_tab("novel.md")
    chapter = next(each for each in agent.call("get_outline")["outline"] if each["title"] == "Chapter 3")
    read = agent.call("read_document", start_line=chapter["line_start"], end_line=chapter["line_end"])
    assert read["content"].startswith("# Chapter 3\n")
    agent.call(
        "insert_lines",
        version=read["version"],
        after_line=chapter["line_start"] + 3,
        content="A storm was coming.\n",
    )
    before, after = NOVEL.split("Paragraph 1 of chapter 3.\n", 1)
    assert agent.text("novel.md") == before + "A storm was coming.\nParagraph 1 of chapter 3.\n" + after


def test_test_data_arrives_as_json(agent: Caller):
    content = json.dumps({"users": [{"name": "Ines"}]})
    answer = agent.call("create_document", title="test_data.json", file_type="json", content=content)
    assert (answer["title"], agent.text("test_data.json")) == ("test_data.json", content)


def test_loose_notes_are_sorted_into_folders_in_one_change(agent: Caller):
    for name in ("meeting.md", "roadmap.md", "journal.md"):
        agent.folder.put(name, f"# {name}\n")
    listed = [each["path"] for each in agent.call("list_documents")["documents"]]
    assert listed == ["journal.md", "meeting.md", "roadmap.md", "story.md"]
    moves = {"meeting.md": "work/", "roadmap.md": "work/", "journal.md": "personal/"}
    agent.call(
        "batch",
        calls=[
            {"tool": "move_document", "arguments": {"from_path": name, "to_path": folder}}
            for name, folder in moves.items()
        ],
    )
    assert agent.call("list_files")["files"] == [
        "personal/journal.md",
        "story.md",
        "work/meeting.md",
        "work/roadmap.md",
    ]
    agent.call("undo_turn")
    assert agent.call("list_files")["files"] == listed


def test_next_steps_are_added_to_a_roadmap(agent: Caller):
    agent.folder.put("Project Roadmap.md", "# Roadmap\n\n## Timeline\n\nSoon.\n")
    steps = "## Next Steps\n\n- [ ] Finalize the specification\n"
    answer = agent.call("edit_document", path="Project Roadmap.md", operation="append", content=steps)
    assert agent.text("Project Roadmap.md") == "# Roadmap\n\n## Timeline\n\nSoon.\n\n" + steps
    assert "+## Next Steps" in agent.call("show_turn", turn=answer["turn"])["documents"][0]["patch"]
