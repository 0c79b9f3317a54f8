"""The specifications' sample workflows, call by call as they are written there, by a real MCP process.

Where a workflow needs a model, the person has set up one that plays a script: what it says stands in the test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.tools.speaking import McpAgent

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow

JOHN = '# The Visit\n\nJohn opened the door. Johnson waited outside.\n\n"John\'s late," he said.\n'
NOVEL = "".join(
    f"# Chapter {number}\n\n" + "".join(f"Paragraph {each} of chapter {number}.\n\n" for each in range(30))
    for number in range(1, 6)
)

# 892 lines, in which chapter 3 begins at line 450.
CHAPTERS = {0: "# Chapter 1\n", 200: "# Chapter 2\n", 450: "# Chapter 3\n", 700: "# Chapter 4\n"}
STORY = [CHAPTERS.get(at, f"Line {at} of the story.\n") for at in range(892)]

# 892 lines, in which Alice fights the dragon from line 623 to line 630.
FIGHT = ["Alice drew her sword, and the dragon breathed fire over the bridge until neither could stand.\n", "\n"] * 4
BAKER = ["The baker counted his loaves, swept the floor of the shop and put the day's bread into the window.\n", "\n"]
NETS = ["In the harbour the fishermen mended their nets, drank their tea and spoke of the weather.\n", "\n"]
TALE = ["# The Bridge\n", *BAKER * 311, *FIGHT, "\n", *NETS * 130]
# The database is configured from line 45 to line 52.
SECTION = "database:\n  host: localhost\n  port: 5432\n  user: lamp\n  pool:\n    size: 5\n    idle: 2\n  timeout: 30\n"
LAMPS = "".join(f"lamp{at}:\n  place: tower {at}\n  colour: red\n" for at in range(15))
SETTINGS = f"{LAMPS}{SECTION}mail:\n  sender: lamp@example.org\n".splitlines(keepends=True)


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
    assert answer["version"] == agent.call("read_document", path="my_story.md")["version"]
    more = agent.call("insert_lines", version=answer["version"], after_line=0, content="there was a lamp.")
    assert (more["path"], agent.text("my_story.md")) == ("my_story.md", "Once upon a time...\nthere was a lamp.")


def opened(agent: McpAgent, title: str, content: str) -> None:
    """The one document that is open: calls that name none are about it."""
    agent.call("create_document", title=title, content=content)


@pytest.mark.covers("TK-flow-rename-short")
def test_2_change_john_to_james(agent: McpAgent):
    opened(agent, "story.md", JOHN)
    version = agent.call("read_document")["version"]
    rename = {"version": version, "find": "John", "replace": "James"}
    preview = agent.call("find_and_replace", **rename, preview=True)
    assert [each["after"] for each in preview["preview"]] == [
        "James opened the door. Johnson waited outside.",
        "John opened the door. Jamesson waited outside.",
        '"James\'s late," he said.',
    ]
    assert (preview["version"], agent.text("story.md")) == (version, JOHN)
    assert agent.call("find_and_replace", **rename, whole_word=True)["replacements_made"] == 2
    assert agent.text("story.md") == JOHN.replace("John ", "James ").replace("John'", "James'")


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
    opened(agent, "story.md", "".join(STORY))
    [chapter] = [each for each in agent.call("get_outline")["outline"] if each["title"] == "Chapter 3"]
    assert chapter["line_start"] == 450
    read = agent.call("read_document", start_line=450, end_line=550)
    assert read["content"] == "".join(STORY[450:551])
    agent.call("insert_lines", version=read["version"], after_line=479, content="New paragraph...")
    assert agent.text("story.md") == "".join([*STORY[:480], "New paragraph...\n", *STORY[480:]])


@pytest.mark.covers("TK-flow-expand-scene")
def test_4_find_the_scene_where_alice_fights_the_dragon_and_expand_it(agent: McpAgent):
    opened(agent, "tale.md", "".join(TALE))
    match = agent.call("search_document", query="Alice fights the dragon")["matches"][0]
    assert 620 <= match["line"] <= 630
    assert FIGHT[0] in match["context"]["content"]
    read = agent.call("read_document", start_line=610, end_line=680)
    assert read["content"].splitlines(keepends=True)[13:21] == FIGHT
    edit = {"version": read["version"], "start_line": 623, "end_line": 630}
    changed = agent.call("replace_lines", **edit, content="Expanded scene...\n\nThey fought until the sun went down.")
    new = ["Expanded scene...\n", "\n", "They fought until the sun went down.\n"]
    assert agent.text("tale.md") == "".join([*TALE[:623], *new, *TALE[631:]])
    agent.call("insert_lines", version=changed["version"], after_line=625, content="Additional details...")
    assert agent.text("tale.md") == "".join([*TALE[:623], *new, "Additional details...\n", *TALE[631:]])


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
        assert tabs[answer["result_tab_id"]] == answer["path"] == "story.md - summary.md"
        assert "Ann has tea in the fog." in agent.text(answer["path"])
        assert agent.text("story.md") == LONDON


@pytest.mark.covers("TK-flow-edit-yaml")
def test_7_edit_this_yaml_section(agent: McpAgent):
    opened(agent, "app.yaml", "".join(SETTINGS))
    match = agent.call("search_document", query="database configuration", match_type="semantic")["matches"][0]
    assert match["line"] == 45
    read = agent.call("read_document", start_line=42, end_line=54)
    assert read["content"] == "".join(SETTINGS[42:55])
    edit = {"version": read["version"], "start_line": 45, "end_line": 52}
    agent.call("replace_lines", **edit, content="database:\n  host: db.example.org\n")
    assert agent.text("app.yaml") == "".join(
        [*SETTINGS[:45], "database:\n", "  host: db.example.org\n", *SETTINGS[53:]]
    )


@pytest.mark.covers("TK-flow-json-data")
def test_8_generate_json_test_data(agent: McpAgent):
    content = json.dumps({"users": [{"name": "Ines"}]})
    answer = agent.call("create_document", title="test_data.json", file_type="json", content=content)
    assert (answer["title"], agent.text("test_data.json")) == ("test_data.json", content)
    assert agent.call("read_document", path="test_data.json", check=True)["slips"] == []


def test_a_stale_edit_is_told_what_changed_and_can_be_repeated(agent: McpAgent):
    version = agent.call("read_document", path="visit.md")["version"]
    (agent.folder / "visit.md").write_bytes(JOHN.replace("opened", "shut").encode())
    edit = {"path": "visit.md", "start_line": 2, "end_line": 2, "content": "Nobody came."}
    told = agent.refused("replace_lines", **edit, version=version)
    (changed,) = told["details"]["changed_lines"]
    assert (told["error"], changed["start_line"], changed["end_line"]) == ("version_mismatch", 2, 2)
    assert told["your_version"] == version
    agent.call("replace_lines", **edit, version=told["current_version"])
    assert agent.text("visit.md") == JOHN.replace(JOHN.splitlines()[2], "Nobody came.")


def test_an_edit_lands_where_its_lines_are_though_the_file_was_written_elsewhere(agent: McpAgent):
    version = agent.call("read_document", path="visit.md")["version"]
    (agent.folder / "visit.md").write_bytes(b"By somebody\n\n" + JOHN.encode())
    edit = {"path": "visit.md", "start_line": 2, "end_line": 2, "content": "Nobody came."}
    answer = agent.call("replace_lines", **edit, version=version)
    assert answer["landed"] == {"start_line": 4, "end_line": 4, "made_for": version}
    assert agent.text("visit.md") == "By somebody\n\n" + JOHN.replace(JOHN.splitlines()[2], "Nobody came.")


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
