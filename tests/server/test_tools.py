"""The tools over HTTP: listed, called one by one and several at a time, with the modes and roles that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.tools.catalogue import registry
from server.serving import Client, begun, ended

if TYPE_CHECKING:
    from pathlib import Path

    from server.serving import Server

pytestmark = pytest.mark.slow
APPEND = {"path": "story.md", "operation": "append", "content": "The end."}


@pytest.mark.covers("ML-ipc-get-tools", "ML-ipc-is-destructive", "ML-ipc-is-read-only")
def test_a_client_is_told_every_tool_and_what_it_risks(server: Server):
    listed = {tool["name"]: tool for tool in server.get("/api/tools")["tools"]}
    assert set(listed) == {tool.name for tool in registry().tools}
    assert listed["delete_document"]["destructive"] is True
    assert listed["read_document"]["read_only"] is True
    assert (listed["edit_text"]["destructive"], listed["edit_text"]["read_only"]) == (False, False)
    assert server.get("/api/tools/read_document") == listed["read_document"]
    project = {tool["name"] for tool in server.get("/api/tools", profile="project")["tools"]}
    assert project < set(listed)


@pytest.mark.covers("ML-ipc-execute")
def test_a_clients_calls_are_carried_out_each_with_a_result(server: Server, folder: Path):
    calls = [
        {"id": "a", "name": "read_document", "arguments": {"path": "none.md"}},
        {"id": "b", "name": "edit_text", "arguments": {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}},
    ]
    first, second = server.post("/api/tools", {"calls": calls}, mode="apply")["results"]
    assert (first["toolCallId"], first["success"], first["error"]["code"]) == ("a", False, "not_found")
    assert (second["toolCallId"], second["success"], second["result"]["state"]) == ("b", True, "applied")
    assert "twelve" in (folder / "story.md").read_text(encoding="utf-8")


def test_what_asks_first_is_done_once_the_person_agrees(server: Server, folder: Path):
    told = server.refused("POST", "/api/tools/delete_document", {"path": "story.md"}, 403, mode="apply")
    assert told["error"] == "confirmation_required"
    assert told["details"]["paths"] == ["story.md"]
    assert (folder / "story.md").exists()
    server.post("/api/tools/delete_document", {"path": "story.md"}, mode="apply", agree=True)
    assert not (folder / "story.md").exists()


def test_consent_is_for_one_call_alone(server: Server, folder: Path):
    server.post("/api/tools/read_document", {"path": "story.md"}, mode="apply", agree=True)
    server.refused("POST", "/api/tools/delete_document", {"path": "story.md"}, 403, mode="apply")
    assert (folder / "story.md").exists()


def test_an_edit_without_a_version_is_refused_when_the_document_is_not_what_was_read(server: Server, folder: Path):
    server.tool("read_document", path="story.md")
    (folder / "story.md").write_text("Another story.\n", encoding="utf-8")
    told = server.refused("POST", "/api/tools/edit_document", APPEND)
    assert told["error"] == "version_mismatch"


def test_a_folders_settings_narrow_the_mode_that_a_call_wishes_for(folder: Path):
    (folder / ".redraft").mkdir()
    (folder / ".redraft/settings.toml").write_text('mode = "read"\n', encoding="utf-8")
    server = begun(folder)
    told = server.refused(
        "POST", "/api/tools/edit_text", {"path": "story.md", "old_text": "dark", "new_text": "x"}, 403, mode="apply"
    )
    assert told["error"] == "mode_refuses"
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
