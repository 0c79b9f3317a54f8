"""The errors of the tools: one shape, the specifications' codes, from every tool that they are to come from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from redraft.tools.registry import load_registry
from tests.tools.calling import STORY, Caller

ANY_VERSION = "0" * 16
LINES = {"start_line": 0, "end_line": 0}
# What each editing tool needs besides the document and its version.
EDITS: dict[str, dict[str, Any]] = {
    "insert_lines": {"after_line": 0, "content": "x"},
    "replace_lines": {**LINES, "content": "x"},
    "delete_lines": LINES,
    "write_document": {"content": STORY},
    "find_and_replace": {"find": "e", "replace": "x"},
    "edit_document": {"operation": "append", "content": "x"},
    "edit_text": {"old_text": "eleven", "new_text": "x"},
    "edit_section": {"heading": "The keys", "content": "x"},
    "move_document": {"to_path": "b.md"},
    "delete_document": {},
}
READS: dict[str, dict[str, Any]] = {
    "read_document": {},
    "get_outline": {},
    "search_document": {"query": "x", "match_type": "exact"},
    "get_changes_since": {"version": ANY_VERSION},
    "analyze_document": {"task": "summary"},
    "transform_document": {"transformation": "custom", "custom_prompt": "x"},
    "getEditorText": {},
}


def named(tool: str, path: str) -> dict[str, str]:
    return {"from_path" if tool == "move_document" else "path": path}


@pytest.mark.covers("TK-error-shape")
def test_every_failure_has_one_shape(reader: Caller):
    told = reader.refused("read_document", path="none.md")
    assert (told["error"], told["message"]) == ("not_found", "There is no document none.md.")
    assert told["details"] == {"path": "none.md"}
    assert (told["suggestion"], told["recoverable"]) == ("List the documents and use a path that exists.", True)


@pytest.mark.covers("TK-error-version-mismatch")
@pytest.mark.parametrize("tool", EDITS)
def test_a_stale_version_is_refused_by_every_tool_that_writes(reader: Caller, tool: str):
    told = reader.refused(tool, **named(tool, "story.md"), version=ANY_VERSION, **EDITS[tool])
    assert told["error"] == "version_mismatch"
    assert told["details"]["your_version"] == ANY_VERSION
    assert told["details"]["current_version"] == reader.version("story.md")


# `replaceText` fails in the way of its own specification: see `test_editor`.
TAKE_TABS = [
    entry.name
    for entry in load_registry().tools
    if "tab_id" in entry.input_schema["properties"] and entry.name != "replaceText"
]


@pytest.mark.covers("TK-error-invalid-tab")
@pytest.mark.parametrize("tool", TAKE_TABS)
def test_a_tab_that_is_not_there_is_refused_by_every_tool_that_takes_one(reader: Caller, tool: str):
    more = {**EDITS, **READS}[tool]
    version = {"version": ANY_VERSION} if tool in EDITS else {}
    assert reader.refused(tool, tab_id="tab_99", **{**version, **more})["error"] == "invalid_tab_id"


@pytest.mark.covers("TK-error-title-exists")
def test_a_title_that_exists_is_refused_by_create_document(agent: Caller):
    agent.workspace.open_tab("story.md")
    assert agent.refused("create_document", title="story.md")["error"] == "title_exists"


@pytest.mark.covers("TK-error-line-range", "TK-error-line-range-details")
@pytest.mark.parametrize("tool", ["read_document", "replace_lines", "delete_lines"])
@pytest.mark.parametrize(("start", "end"), [(500, 600), (4, 2)])
def test_lines_outside_the_document_or_backwards_are_refused(reader: Caller, tool: str, start: int, end: int):
    more = {} if tool == "read_document" else {"version": reader.version("story.md")}
    content = {"content": "x"} if tool == "replace_lines" else {}
    told = reader.refused(tool, path="story.md", start_line=start, end_line=end, **more, **content)
    assert told["error"] == "invalid_line_range"
    assert told["details"] == {"requested_start": start, "requested_end": end, "document_lines": 11}


@pytest.mark.covers("TK-error-file-type", "TK-binary-read")
@pytest.mark.parametrize("tool", [*READS, *EDITS])
@pytest.mark.parametrize(("name", "data"), [("picture.md", b"\x89PNG\x00\x01"), ("latin.md", b"caf\xe9\n")])
def test_a_file_that_is_no_text_is_refused_by_every_tool(reader: Caller, tool: str, name: str, data: bytes):
    reader.folder.put(name, data)
    more = READS[tool] if tool in READS else {"version": ANY_VERSION, **EDITS[tool]}
    assert reader.refused(tool, **named(tool, name), **more)["error"] == "unsupported_file_type"


@pytest.mark.covers("TK-binary-listed")
def test_a_tab_that_is_no_longer_text_is_listed_as_binary(agent: Caller):
    for name, text in {"a.md": "text", "gone.md": "text", "odd.xyz": "text", "b.md": "text"}.items():
        agent.folder.put(name, text)
        agent.workspace.open_tab(name)
    agent.folder.put("a.md", b"\x89PNG\x00\x01")
    (agent.folder.path / "gone.md").unlink()
    kinds = {tab["path"]: tab["file_type"] for tab in agent.call("list_tabs")["tabs"]}
    assert kinds == {"a.md": "binary", "gone.md": "unknown", "odd.xyz": "unknown", "b.md": "markdown"}
    told = agent.refused("read_document", path="a.md")
    assert (told["error"], "binary data" in told["message"]) == ("unsupported_file_type", True)


@pytest.mark.covers("TK-error-regex")
def test_a_bad_pattern_is_refused_in_searching_and_replacing(reader: Caller):
    assert reader.refused("search_document", path="story.md", query="(", match_type="regex")["error"] == "invalid_regex"
    call = {"path": "story.md", "version": reader.version("story.md"), "find": "(", "replace": "", "is_regex": True}
    assert reader.refused("find_and_replace", **call)["error"] == "invalid_regex"


@pytest.mark.covers("TK-error-content-required")
def test_no_content_is_refused_by_insert_lines(reader: Caller):
    call = {"path": "story.md", "version": reader.version("story.md"), "after_line": 0, "content": ""}
    assert reader.refused("insert_lines", **call)["error"] == "content_required"


@pytest.mark.covers("TK-large-content")
def test_a_write_as_large_as_a_models_whole_output_is_an_ordinary_call(agent: Caller):
    content = "A line of the story, as a model would write it.\n" * 20_000
    agent.call("write_document", path="story.md", version=agent.version("story.md"), content=content)
    assert agent.text("story.md") == content


@pytest.mark.covers("TK-types-extensions")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "markdown"),
        ("a.txt", "txt"),
        ("a.json", "json"),
        ("a.yaml", "yaml"),
        ("a.yml", "yaml"),
        ("a.xyz", "unknown"),
    ],
)
def test_a_files_type_is_known_by_its_extension(reader: Caller, name: str, kind: str):
    reader.folder.put(name, "")
    assert reader.call("read_document", path=name)["file_type"] == kind


@pytest.mark.covers("TK-types-json-valid")
def test_json_that_does_not_parse_is_reported_with_its_place(reader: Caller):
    reader.folder.put("broken.json", '{"a": 1,\n "b" 2}\n')
    answer = reader.call("get_outline", path="broken.json")
    assert (answer["outline"], answer["detection_method"]) == ([], "none")
    place = {"line": 1, "column": 5, "message": "expected : after the key, found '2'"}
    assert answer["parse_error"] == place
    [slip] = reader.call("read_document", path="broken.json", check=True)["slips"]
    assert slip == {"line": 1, "rule": "syntax", "message": place["message"]}


@pytest.mark.covers("TK-types-yaml-valid")
def test_yaml_that_does_not_parse_is_reported_with_its_place(reader: Caller):
    reader.folder.put("broken.yaml", "a: 1\nb: [1, 2\nc: 3\n")
    answer = reader.call("get_outline", path="broken.yaml")
    assert (answer["outline"], answer["detection_method"]) == ([], "none")
    place = (answer["parse_error"]["line"], answer["parse_error"]["column"])
    assert place == (2, 1), "the bracket that is open still wants closing where the next key stands"
    assert "flow sequence" in answer["parse_error"]["message"]
    [slip] = reader.call("read_document", path="broken.yaml", check=True)["slips"]
    assert (slip["line"], slip["rule"]) == (2, "syntax")


@pytest.mark.covers("TK-budget-outline-fits")
def test_an_outline_stays_small(agent: Caller):
    """However many headings there are and however long, it takes no more than a first read: 6000 tokens of 4 bytes."""
    for title in ("", "a rather long title of a chapter, as old novels have them, " * 3):
        agent.folder.put("a.md", "".join(f"# {number} {title}\n\n## deep {title}\n\n" for number in range(2000)))
        answer = agent.call("get_outline", path="a.md")
        assert len(json.dumps(answer["outline"]).encode()) <= 4 * 6000
        assert len(answer["outline"]) >= 80
        assert "4000 entries were cut to" in answer["note"]
