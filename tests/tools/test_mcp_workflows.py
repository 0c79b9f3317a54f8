"""The specifications' sample workflows, call by call as they are written there, by a real MCP process.

Where a workflow needs a model, the person has set up one that plays a script: what it says stands in the test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tools.speaking import McpAgent

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

JOHN = '# The Visit\n\nJohn opened the door. Johnson waited outside.\n\n"John\'s late," he said.\n'
NOVEL = "".join(
    f"# Chapter {number}\n\n" + "".join(f"Paragraph {each} of chapter {number}.\n\n" for each in range(30))
    for number in range(1, 6)
)

FIGHT = "Alice drew her sword, and the dragon breathed fire over the bridge until neither could stand."
BAKER = "The baker counted his loaves, swept the floor of the shop and put the day's bread into the window.\n\n"
NETS = "In the harbour the fishermen mended their nets, drank their tea and spoke at length of the weather.\n\n"
TALE = f"# The Bridge\n\n{BAKER * 20}## Noon\n\n{FIGHT}\n\n## Evening\n\n{NETS * 20}"
YAML = (
    "service:\n  name: lamp\n  log_level: info\n\n# Where the database is\ndatabase:\n  host: localhost\n"
    "  port: 5432\n\nmail:\n  sender: lamp@example.org\n  retries: 3\n"
)


LONDON = "# The Letter\n\nFog lay on London. Ann walked along the Thames and had tea with Mr Pike, a Londoner.\n"
TOKYO = "# The Letter\n\nRain fell on Tokyo. Ann walked along the Sumida and had tea with Mr Pike, a Londoner.\n"
FILLER = "".join(f"The road went on past milestone {at}, and nobody spoke a word.\n\n" for at in range(200))
JOHNS = "".join(f"# Chapter {at}\n\nJohn came in. He sat down.\n\n{FILLER}" for at in (1, 2))


def with_a_model(place: Path, document: str, *says: dict[str, Any]) -> McpAgent:
    """An agent whose person has opened a document, and set up a model that answers its subagents so, one at a time."""
    folder, settings = place / "notes", place / "home" / "redraft"
    folder.mkdir()
    settings.mkdir(parents=True)
    script = settings / "script.jsonl"
    steps = [json.dumps({"text": json.dumps(answer)}) for answer in says]
    script.write_text("\n".join(steps), encoding="utf-8")
    chosen = '[routing]\nagent_mode = "local"\nlocal = "played"\n[limits]\nsubagents = 1\n'
    model = f'[models.played]\nkind = "scripted"\nfile = {json.dumps(str(script))}\n'
    (settings / "settings.toml").write_text(chosen + model, encoding="utf-8")
    agent = McpAgent(folder, "--profile", "tabs")
    agent.call("create_document", title="story.md", content=document)
    return agent


@pytest.fixture
def agent(tmp_path: Path) -> Generator[McpAgent]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "visit.md").write_bytes(JOHN.encode())
    (folder / "novel.md").write_bytes(NOVEL.encode())
    with McpAgent(folder) as started:
        yield started


@pytest.mark.covers("TK-flow-write-story")
def test_1_write_me_a_story(agent: McpAgent):
    answer = agent.call("create_document", title="my_story.md", content="Once upon a time...")
    assert agent.text("my_story.md") == "Once upon a time..."
    more = agent.call("insert_lines", version=answer["version"], after_line=0, content="there was a lamp.")
    assert (more["path"], agent.text("my_story.md")) == ("my_story.md", "Once upon a time...\nthere was a lamp.")


@pytest.mark.covers("TK-flow-rename-short")
def test_2_change_john_to_james(agent: McpAgent):
    version = agent.call("read_document", path="visit.md")["version"]
    rename = {"path": "visit.md", "version": version, "find": "John", "replace": "James", "whole_word": True}
    preview = agent.call("find_and_replace", **rename, preview=True)
    assert [each["after"] for each in preview["preview"]] == [
        "James opened the door. Johnson waited outside.",
        '"James\'s late," he said.',
    ]
    assert (preview["version"], agent.text("visit.md")) == (version, JOHN)
    assert agent.call("find_and_replace", **rename)["replacements_made"] == 2
    assert agent.text("visit.md") == JOHN.replace("John ", "James ").replace("John'", "James'")


NOTHING_ELSE: dict[str, Any] = {"terms": [], "doubts": []}
SHE = {"edits": [{"old": "He sat down", "new": "She sat down"}], "doubts": []}


@pytest.mark.covers("TK-flow-rename-long")
def test_2_change_john_to_jane_throughout_a_long_story_with_the_pronouns(tmp_path: Path):
    with with_a_model(tmp_path, JOHNS, NOTHING_ELSE, NOTHING_ELSE, SHE, SHE, {"issues": []}) as agent:
        params = {"old_name": "John", "new_name": "Jane", "update_pronouns": True, "gender": "female"}
        answer = agent.call("transform_document", transformation="character_rename", params=params)
        assert answer["summary"].startswith("Renamed 'John' to 'Jane' in 4 locations")
        assert agent.text(answer["path"]) == JOHNS.replace("John", "Jane").replace("He sat", "She sat")
        assert agent.text("story.md") == JOHNS


@pytest.mark.covers("TK-flow-add-detail")
def test_3_add_details_to_chapter_3(agent: McpAgent):
    outline = agent.call("get_outline", path="novel.md")["outline"]
    chapter = next(each for each in outline if each["title"] == "Chapter 3")
    window = {"start_line": chapter["line_start"], "end_line": chapter["line_end"]}
    read = agent.call("read_document", path="novel.md", **window)
    after = chapter["line_start"] + read["content"].split("\n").index("Paragraph 9 of chapter 3.")
    agent.call("insert_lines", path="novel.md", version=read["version"], after_line=after, content="New paragraph...")
    line = "Paragraph 9 of chapter 3.\n"
    assert agent.text("novel.md") == NOVEL.replace(line, line + "New paragraph...\n")


@pytest.mark.covers("TK-flow-expand-scene")
def test_4_find_the_scene_where_alice_fights_the_dragon_and_expand_it(agent: McpAgent):
    (agent.folder / "tale.md").write_bytes(TALE.encode())
    match = agent.call("search_document", path="tale.md", query="Alice fights the dragon")["matches"][0]
    first = max(match["line"] - 5, 0)
    read = agent.call("read_document", path="tale.md", start_line=first, end_line=match["line"] + 10)
    line = first + read["content"].split("\n").index(FIGHT)
    edit = {"path": "tale.md", "version": read["version"], "start_line": line, "end_line": line}
    agent.call("replace_lines", **edit, content="Alice drew her sword, and they fought until the sun went down.")
    assert agent.text("tale.md") == TALE.replace(
        FIGHT, "Alice drew her sword, and they fought until the sun went down."
    )


@pytest.mark.covers("TK-flow-change-setting")
def test_5_change_this_story_from_london_to_tokyo(tmp_path: Path):
    edits = [
        {"old": "Fog lay on London", "new": "Rain fell on Tokyo"},
        {"old": "along the Thames", "new": "along the Sumida"},
    ]
    with with_a_model(tmp_path, LONDON, {"edits": edits, "doubts": []}, {"issues": []}) as agent:
        params = {"old_setting": "London", "new_setting": "Tokyo", "adapt_details": True}
        answer = agent.call("transform_document", transformation="setting_change", params=params)
        assert (agent.text(answer["path"]), agent.text("story.md")) == (TOKYO, LONDON)
        (left,) = answer["flags"]
        assert (left["kind"], left["line"], "Londoner" in left["quote"]) == ("leftover", 2, True)


@pytest.mark.covers("TK-flow-summary-tab")
def test_6_summarize_this_document_to_another_tab(tmp_path: Path):
    with with_a_model(tmp_path, LONDON, {"summary": "Ann has tea in the fog."}) as agent:
        answer = agent.call("analyze_document", task="summary")
        assert answer["summary"] == "Ann has tea in the fog."
        tabs = {tab["tab_id"]: tab["path"] for tab in agent.call("list_tabs")["tabs"]}
        assert tabs[answer["result_tab_id"]] == answer["path"] != "story.md"
        assert "Ann has tea in the fog." in agent.text(answer["path"])
        assert agent.text("story.md") == LONDON


@pytest.mark.covers("TK-flow-edit-yaml")
def test_7_edit_this_yaml_section(agent: McpAgent):
    (agent.folder / "app.yaml").write_bytes(YAML.encode())
    search = {"path": "app.yaml", "query": "database configuration", "match_type": "semantic"}
    match = agent.call("search_document", **search)["matches"][0]
    read = agent.call("read_document", path="app.yaml", start_line=match["line"])
    start = match["line"] + read["content"].split("\n").index("database:")
    edit = {"path": "app.yaml", "version": read["version"], "start_line": start + 1, "end_line": start + 2}
    agent.call("replace_lines", **edit, content="  host: db.example.org\n  port: 6432")
    assert agent.text("app.yaml") == YAML.replace("localhost", "db.example.org").replace("5432", "6432")


@pytest.mark.covers("TK-flow-json-data")
def test_8_generate_json_test_data(agent: McpAgent):
    content = json.dumps({"users": [{"name": "Ines"}]})
    answer = agent.call("create_document", title="test_data.json", file_type="json", content=content)
    assert (answer["title"], agent.text("test_data.json")) == ("test_data.json", content)
    assert agent.call("read_document", path="test_data.json", check=True)["slips"] == []


def test_a_stale_edit_is_told_what_changed_and_can_be_repeated(agent: McpAgent):
    version = agent.call("read_document", path="visit.md")["version"]
    (agent.folder / "visit.md").write_bytes(JOHN.replace("opened", "shut").encode())
    edit = {"path": "visit.md", "start_line": 4, "end_line": 4, "content": "Nobody spoke."}
    told = agent.refused("replace_lines", **edit, version=version)
    (changed,) = told["details"]["changed_lines"]
    assert (told["error"], changed["start_line"], changed["end_line"]) == ("version_mismatch", 2, 2)
    agent.call("replace_lines", **edit, version=told["details"]["current_version"])
    assert agent.text("visit.md") == "# The Visit\n\nJohn shut the door. Johnson waited outside.\n\nNobody spoke.\n"


def test_notes_are_sorted_into_folders_and_put_back(agent: McpAgent):
    moves = {"visit.md": "stories/", "novel.md": "stories/"}
    calls = [{"tool": "move_document", "arguments": {"from_path": old, "to_path": new}} for old, new in moves.items()]
    agent.call("batch", calls=calls, title="Sort the notes")
    assert [each["path"] for each in agent.call("list_documents", folder="stories")["documents"]] == [
        "stories/novel.md",
        "stories/visit.md",
    ]
    agent.call("undo_turn")
    assert (agent.text("visit.md"), agent.text("novel.md")) == (JOHN, NOVEL)
