"""The tools over HTTP: listed, called one by one and several at a time, with the modes and roles that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.tools.registry import load_registry
from tests.server.serving import Client, begun, ended

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
APPEND = {"path": "story.md", "operation": "append", "content": "The end."}


# The workspace's tools as midlight's plan has them: what each takes, and what it cannot do without.
WORKSPACE = {
    "create_document": ({"name", "folder", "content", "template"}, set[str]()),
    "edit_document": ({"path", "operation", "content", "position"}, {"operation", "content"}),
    "read_document": ({"path"}, set[str]()),
    "delete_document": ({"path"}, {"path"}),
    "move_document": ({"from_path", "to_path"}, {"from_path", "to_path"}),
    "list_documents": ({"folder", "recursive"}, set[str]()),
    "search_documents": ({"query", "search_content", "folder"}, {"query"}),
    "create_folder": ({"path"}, {"path"}),
}


@pytest.mark.covers("ML-ipc-get-tools", "ML-ipc-is-destructive", "ML-ipc-is-read-only")
def test_a_client_is_told_every_tool_and_what_it_risks(server: Server):
    listed = {tool["name"]: tool for tool in server.get("/api/tools")["tools"]}
    assert set(listed) == {tool.name for tool in load_registry().tools}
    workspace = {tool["name"]: tool for tool in server.get("/api/tools", profile="workspace")["tools"]}
    assert set(workspace) == set(WORKSPACE)
    for name, (takes, needs) in WORKSPACE.items():
        schema = workspace[name]["input_schema"]
        assert takes <= set(schema["properties"]), name
        assert needs == set(schema.get("required", ())), name
        assert len(workspace[name]["description"]) > 40
    edit = workspace["edit_document"]["input_schema"]["properties"]
    assert edit["operation"]["enum"] == ["replace", "append", "prepend", "insert"]
    assert [name for name, tool in listed.items() if tool["destructive"]] == ["delete_document"]
    assert {name for name, tool in workspace.items() if tool["read_only"]} == {
        "list_documents",
        "read_document",
        "search_documents",
    }
    assert server.get("/api/tools/read_document") == listed["read_document"]
    project = {tool["name"] for tool in server.get("/api/tools", profile="project")["tools"]}
    assert project < set(listed)


def change(name: str, old: str, new: str) -> dict[str, object]:
    return {"id": name, "name": "edit_text", "arguments": {"path": "story.md", "old_text": old, "new_text": new}}


@pytest.mark.covers("ML-ipc-execute")
@pytest.mark.covers(
    "ML-exec-tool-call", "ML-exec-tool-result", "ML-exec-in-order", "ML-exec-error-value", "ML-err-shape"
)
def test_a_clients_calls_are_carried_out_each_with_a_result(server: Server, folder: Path):
    calls = [
        change("a", "eleven", "twelve"),
        {"id": "b", "name": "read_document", "arguments": {"path": "none.md"}},
        change("c", "eleven", "nine"),  # there is no such word any more
        change("d", "twelve", "thirteen"),  # there is one only since the first call
    ]
    before = (folder / "story.md").read_text(encoding="utf-8")
    results = server.post("/api/tools", {"calls": calls}, mode="apply")["results"]
    assert [(each["toolCallId"], each["success"], each["action"]) for each in results] == [
        ("a", True, "edit_text"),
        ("b", False, "read_document"),
        ("c", False, "edit_text"),
        ("d", True, "edit_text"),
    ]
    assert [("result" in each, "error" in each) for each in results] == [
        (each["success"], not each["success"]) for each in results
    ]
    assert [each["error"]["code"] for each in results[1:3]] == ["not_found", "anchor_not_found"]
    assert (results[3]["result"]["state"], results[3]["result"]["path"]) == ("applied", "story.md")
    assert (folder / "story.md").read_text(encoding="utf-8") == before.replace("eleven", "thirteen")


@pytest.mark.covers("ML-goal-safety")
def test_what_asks_first_is_done_once_the_person_agrees(server: Server, folder: Path):
    told = server.refused("POST", "/api/tools/delete_document", {"path": "story.md"}, 403, mode="apply")
    assert told["error"] == "confirmation_required"
    assert told["details"]["paths"] == ["story.md"]
    assert (folder / "story.md").exists()
    before = (folder / "story.md").read_bytes()
    server.post("/api/tools/delete_document", {"path": "story.md"}, mode="apply", agree=True)
    assert not (folder / "story.md").exists()
    server.post("/api/turns/undo", {})
    assert (folder / "story.md").read_bytes() == before


def test_consent_is_for_one_call_alone(server: Server, folder: Path):
    server.post("/api/tools/read_document", {"path": "story.md"}, mode="apply", agree=True)
    server.refused("POST", "/api/tools/delete_document", {"path": "story.md"}, 403, mode="apply")
    assert (folder / "story.md").exists()


def test_an_edit_without_a_version_is_refused_when_the_document_is_not_what_was_read(server: Server, folder: Path):
    server.tool("read_document", path="story.md")
    (folder / "story.md").write_text("Another story.\n", encoding="utf-8")
    told = server.refused("POST", "/api/tools/edit_document", APPEND)
    assert told["error"] == "version_mismatch"


@pytest.mark.covers("RD-decided-settings", "ML-mode-restricted")
def test_a_folders_settings_narrow_what_agents_may_do_and_never_widen_it(folder: Path):
    (folder / ".redraft").mkdir()
    (folder / ".redraft/settings.toml").write_text('mode = "read"\n', encoding="utf-8")
    server = begun(folder)
    told = server.refused(
        "POST", "/api/tools/edit_text", {"path": "story.md", "old_text": "dark", "new_text": "x"}, 403, mode="apply"
    )
    assert told["error"] == "mode_refuses"
    assert ended(server) == ""
    (folder / ".redraft/settings.toml").write_text('mode = "apply"\n[limits]\nactions = 90\n', encoding="utf-8")
    server = begun(folder)  # whose owner lets agents propose, and no more than twenty actions
    edit = {"path": "story.md", "old_text": "dark", "new_text": "x"}
    assert server.post("/api/tools/edit_text", edit)["state"] == "proposed", "a folder does not widen"
    calls = [{"tool": "create_document", "arguments": {"path": f"{n}.md", "content": "x"}} for n in range(21)]
    many = server.refused("POST", "/api/tools/batch", {"calls": calls}, 429, agree="true")
    assert (many["error"], many["details"]["limit"]) == ("limit_exceeded", 20)
    assert ended(server) == ""


def test_the_author_is_named_in_the_turn(server: Server):
    server.post("/api/tools/create_document", {"title": "a.md"}, mode="apply", author="Copy editor")
    assert server.get("/api/turns")["turns"][0]["author"] == {"kind": "agent", "name": "Copy editor"}


def test_a_browser_calls_a_tool_as_the_person_and_nobody_else_does(server: Server, folder: Path):
    edit = {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}
    assert server.refused("POST", "/api/tools/edit_text", edit, 403, by="person")["error"] == "not_allowed"
    browser = Client(server.port, sent={"Cookie": server.cookie(), "Origin": server.url})
    assert browser.post("/api/tools/edit_text", edit, by="person")["state"] == "applied"
    assert "twelve" in (folder / "story.md").read_text(encoding="utf-8")
    assert server.get("/api/turns")["turns"][0]["author"] == {"kind": "person", "name": "you"}
