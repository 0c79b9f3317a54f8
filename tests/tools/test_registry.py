"""The one registry: profiles, the audit log, midlight's executor, and what modes make of a call."""

from dataclasses import dataclass
from typing import TypedDict

import pytest

from redraft.config import PROFILES
from redraft.errors import RedraftError, Refused
from redraft.tools.context import ToolContext
from redraft.tools.registry import Registry, ToolCallRequest, execute, load_registry, tool
from tests.requirements import BY_ID
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import PERSON, Folder, no, person_writes

TABS = {
    "list_tabs", "read_document", "search_document", "get_outline", "create_document", "insert_lines",
    "replace_lines", "delete_lines", "write_document", "find_and_replace", "analyze_document", "transform_document",
}  # fmt: skip
WORKSPACE = {
    "create_document", "edit_document", "read_document", "delete_document", "move_document", "list_documents",
    "search_documents", "create_folder",
}  # fmt: skip
PROJECT = {"search_project", "read_file", "list_files", "clarify_user", "propose_edits"}


def names(profile: str) -> set[str]:
    return {each.name for each in load_registry().profile(profile).tools}


@pytest.mark.covers("RD-decided-profiles")
def test_a_profile_is_one_specifications_own_set_the_curated_default_or_all():
    assert (names("tabs"), names("workspace"), names("project")) == (TABS, WORKSPACE, PROJECT)
    assert names("all") >= TABS | WORKSPACE | PROJECT | names("default")
    with pytest.raises(Refused):
        load_registry().profile("everything")


@pytest.mark.covers("TK-principle-no-overlap")
def test_the_default_is_small_and_no_two_of_its_tools_do_one_thing():
    chosen = names("default")
    assert len(chosen) <= 20
    assert {"read_document", "insert_lines", "replace_lines", "delete_lines"} <= chosen
    same = [
        {"read_document", "read_file"},
        {"list_documents", "list_files"},
        {"search_documents", "search_project"},
        {"edit_text", "propose_edits"},
        {"write_document", "edit_document"},
        {"replace_lines", "edit_section"},
    ]
    assert [pair for pair in same if len(pair & chosen) != 1] == []


def test_a_tool_outside_the_profile_cannot_be_called(agent: Caller):
    with pytest.raises(RedraftError) as caught:
        load_registry().profile("project").call("read_document", {"path": "story.md"}, agent.context)
    assert caught.value.code == "unknown_tool"


@pytest.mark.parametrize("entry", load_registry().tools, ids=lambda entry: entry.name)
def test_every_tool_is_described_for_a_model(entry: object):
    assert isinstance(entry, type(load_registry().tools[0]))
    assert len(entry.description) > 40
    assert entry.profiles <= set(PROFILES)
    assert entry.input_schema["type"] == entry.output_schema["type"] == "object"
    undescribed = [name for name, field in entry.input_schema["properties"].items() if not field.get("description")]
    assert undescribed == []


def test_every_tool_serves_requirements_that_exist():
    unknown = [
        (entry.name, prefix)
        for entry in load_registry().tools
        for prefix in entry.serves
        if not any(ref == prefix or ref.startswith(prefix + "-") for ref in BY_ID)
    ]
    assert unknown == []
    assert [entry.name for entry in load_registry().tools if not entry.serves] == []


@pytest.mark.covers("TK-summary-read-only", "ML-risk-read", "ML-risk-create", "ML-risk-modify")
def test_tools_carry_their_risk():
    risks = {entry.name: entry.risk for entry in load_registry().tools}
    for name in ("list_tabs", "read_document", "search_document", "get_outline", "list_documents", "search_documents"):
        assert risks[name] == "read"
    assert [risks[name] for name in ("create_document", "create_folder")] == ["create"] * 2
    assert [risks[name] for name in ("edit_document", "move_document")] == ["modify"] * 2
    assert [name for name, risk in risks.items() if risk == "destroy"] == ["delete_document"]


@pytest.mark.covers("TK-principle-line-addressing")
def test_no_tool_takes_byte_offsets():
    fields = {name for entry in load_registry().tools for name in entry.input_schema["properties"]}
    assert not {name for name in fields if "offset" in name or "byte" in name} - {"max_bytes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """Nothing."""


class Greeting(TypedDict):
    """An answer."""

    words: str


@tool("read", "default")
def greet(_given: Nothing, context: ToolContext) -> Greeting:
    """Greet whoever calls."""
    return {"words": f"Hello, {context.author.name}."}


@pytest.mark.engine
@pytest.mark.covers("ML-goal-extend")
def test_a_new_tool_is_one_entry_and_has_everything_else(agent: Caller):
    extended = Registry([*load_registry().tools, greet])
    assert extended.call("greet", {}, agent.context) == {"words": "Hello, scribe."}
    assert extended.get("greet").as_json()["output_schema"]["required"] == ["words"]


# The log


@pytest.mark.covers("ML-audit-every")
def test_every_call_is_in_the_log_with_how_it_ended(agent: Caller):
    agent.call("read_document", path="story.md")
    agent.refused("read_document", path="none.md")
    agent.refused("read_document", wrong=1)
    agent.refused("no_such_tool")
    agent.context.confirm = no
    agent.refused("delete_document", path="story.md")
    agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    lines = [(line["tool"], line["result"]) for line in agent.workspace.audit()]
    assert lines == [
        ("read_document", "success"),
        ("read_document", "error"),
        ("read_document", "error"),
        ("no_such_tool", "error"),
        ("delete_document", "rejected"),
        ("edit_text", "applied"),
    ]
    assert agent.workspace.verify_audit().intact


def test_what_leaves_a_line_of_its_own_leaves_one(agent: Caller):
    agent.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    turn = agent.call("undo_turn")["turn"]
    folder = agent.call("create_folder", path="a")["turn"]
    agent.call("create_folder", path="a")
    lines = [(line["tool"], line["result"], line["turn"]) for line in agent.workspace.audit()]
    assert lines[1:] == [
        ("undo_turn", "applied", turn),
        ("create_folder", "applied", folder),
        ("create_folder", "success", None),
    ]


# midlight's executor


@pytest.mark.engine
@pytest.mark.covers("ML-exec-tool-call", "ML-exec-tool-result", "ML-exec-in-order", "ML-exec-error-value")
def test_calls_run_in_order_and_a_failure_stops_nothing(agent: Caller):
    results = execute(
        [
            ToolCallRequest("1", "edit_text", {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}),
            ToolCallRequest("2", "edit_text", {"path": "story.md", "old_text": "eleven", "new_text": "x"}),
            ToolCallRequest("3", "edit_text", {"path": "story.md", "old_text": "twelve", "new_text": "ten"}),
        ],
        load_registry(),
        agent.context,
    )
    assert [(each["toolCallId"], each["success"]) for each in results] == [("1", True), ("2", False), ("3", True)]
    assert results[0]["result"]["status"] == "success"
    assert agent.text("story.md") == STORY.replace("eleven", "ten")


@pytest.mark.engine
@pytest.mark.covers("ML-exec-unknown-tool", "ML-err-shape", "ML-err-shape-recovery", "ML-err-validation")
def test_a_failed_call_says_what_failed_and_what_to_do(agent: Caller):
    calls = [ToolCallRequest("1", "read_document", {"path": "../x.md"}), ToolCallRequest("2", "red_document", {})]
    wrong, unknown = execute(calls, load_registry(), agent.context)
    assert (wrong["success"], wrong["action"], wrong["path"]) == (False, "read_document", "../x.md")
    assert (wrong["error"]["code"], wrong["error"]["recoverable"]) == ("invalid_path", True)
    assert wrong["error"]["suggestions"] == ["Use a path relative to the folder, with plain names."]
    assert unknown["error"]["message"] == "There is no tool 'red_document'. Did you mean `read_document`?"


# Modes


def test_in_mode_propose_a_call_waits_and_the_agent_sees_its_own_change(proposer: Caller):
    answer = proposer.call("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    assert (answer["state"], proposer.text("story.md")) == ("proposed", STORY)
    read = proposer.call("read_document", path="story.md")
    assert ("twelve" in read["content"], read["version"]) == (True, answer["version"])


@pytest.mark.parametrize("entry", [each.name for each in load_registry().tools if each.risk != "read"])
def test_in_mode_read_no_tool_writes(folder: Folder, entry: str):
    reader = Caller.at(folder, "read")
    version = reader.version("story.md")
    edit = {"path": "story.md", "version": version}
    calls: dict[str, dict[str, object]] = {
        "create_document": {"title": "a.md"},
        "create_folder": {"path": "a"},
        "insert_lines": {**edit, "after_line": 0, "content": "x"},
        "replace_lines": {**edit, "start_line": 0, "end_line": 0, "content": "x"},
        "delete_lines": {**edit, "start_line": 0, "end_line": 0},
        "write_document": {**edit, "content": STORY * 2},
        "find_and_replace": {**edit, "find": "The", "replace": "A"},
        "edit_document": {"path": "story.md", "operation": "append", "content": "x"},
        "edit_text": {"path": "story.md", "old_text": "eleven", "new_text": "x"},
        "edit_section": {"path": "story.md", "heading": "The keys", "content": "x"},
        "move_document": {"from_path": "story.md", "to_path": "b.md"},
        "delete_document": {"path": "story.md"},
        "propose_edits": {"edits": [{"file_path": "story.md", "operation": "delete", "start_line": 1, "end_line": 1}]},
        "batch": {"calls": [{"tool": "delete_lines", "arguments": {**edit, "start_line": 0, "end_line": 0}}]},
        "undo_turn": {"turn": 1},
        "add_comment": {"path": "story.md", "quote": "eleven", "says": "x"},
        "reply_comment": {"comment": "0" * 12, "says": "x"},
        "resolve_comment": {"comment": "0" * 12},
        "replaceText": {"path": "story.md", "from": 0, "to": 3, "newText": "x"},
        "analyze_document": {"path": "story.md", "task": "style"},
        "transform_document": {
            **edit,
            "transformation": "character_rename",
            "params": {"old_name": "letter", "new_name": "note"},
            "output_mode": "in_place",
        },
    }
    if entry == "undo_turn":
        Caller.at(folder, "apply").call("create_document", title="other.md")
    assert reader.refused(entry, **calls[entry])["error"] == "mode_refuses"


@pytest.mark.covers("RD-decided-lines")
def test_each_tool_speaks_its_own_specifications_lines(reader: Caller):
    line = "She read the letter twice.\n"
    assert reader.call("read_document", path="story.md", start_line=6, end_line=6)["content"] == line
    assert reader.call("read_file", file_path="story.md", start_line=7, end_line=7)["content"] == line
    [match] = reader.call("search_document", path="story.md", query="letter twice", match_type="exact")["matches"]
    [found] = reader.call("search_project", query="letter twice")["results"]
    shown = STORY.split("\n")[found["start_line"] - 1 : found["end_line"]]
    assert (match["line"], found["snippet"]) == (6, "\n".join(shown))
    outline = reader.call("get_outline", path="story.md")["outline"]
    assert [each["line_start"] for each in outline[0]["children"]] == [4, 8]


def test_a_stale_version_carries_the_new_one_and_the_lines_that_changed(agent: Caller):
    version = agent.version("story.md")
    person_writes(agent.workspace, {"story.md": STORY.replace("eleven", "twelve") + "mine\n"})
    told = agent.refused("delete_lines", path="story.md", version=version, start_line=2, end_line=2)
    details = told["details"]
    assert (told["your_version"], told["current_version"]) == (version, details["current_version"])
    assert (told["error"], details["your_version"]) == ("version_mismatch", version)
    assert details["current_version"] == agent.version("story.md")
    assert [(place["start_line"], place["end_line"]) for place in details["changed_lines"]] == [(2, 2), (11, 11)]


def test_in_mode_merge_a_stale_place_is_still_refused_and_an_edit_is_written(folder: Folder):
    merger = Caller.at(folder, "merge")
    version = merger.version("story.md")
    person_writes(merger.workspace, {"story.md": STORY.replace("eleven", "twelve") + "mine\n"})
    edit = {"path": "story.md", "start_line": 2, "end_line": 2, "content": "x"}
    assert merger.refused("replace_lines", **edit, version=version)["error"] == "version_mismatch"
    assert merger.call("replace_lines", **edit, version=merger.version("story.md"))["state"] == "applied"
    assert merger.text("story.md").endswith("mine\n")


def test_tools_that_are_called_by_a_person_are_not_held_to_an_agents_mode(folder: Folder):
    reader = Caller.at(folder, "read")
    reader.context.author = PERSON
    assert reader.call("edit_text", path="story.md", old_text="eleven", new_text="ten")["state"] == "applied"
