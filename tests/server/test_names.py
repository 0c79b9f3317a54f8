"""Who did what: the caller's own name in turns and the audit log, and lines that a person can read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Program
from tests.server.serving import Client, Server, serving, settled

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nIt was dark.\n"
KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    script = tmp_path / "play.jsonl"
    edit = {"path": "story.md", "old_text": "dark", "new_text": "black"}
    steps = [{"text": "", "calls": [{"tool": "edit_text", "arguments": edit}]}, {"text": "Done."}]
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    config = tmp_path / "config" / "redraft"
    config.mkdir(parents=True)
    settings = f'[models.play]\nkind = "scripted"\nfile = "{script}"\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")
    with serving(folder) as found:
        yield found


def admitted(server: Server, name: str) -> Client:
    assert server.folder is not None
    return Client(server.port, Program(server.folder).json("users", "add", name, "--role", "editor")["token"])


def lines(server: Server) -> list[tuple[str, str, Any]]:
    entries = server.get("/api/audit")["entries"]
    return [(entry["author"], entry["tool"], json.loads(entry["arguments"])) for entry in entries]


@pytest.mark.covers("RD-audit-caller")
def test_the_callers_own_name_is_in_turns_and_the_log_whatever_they_claim(server: Server):
    anna, bob = admitted(server, "anna"), admitted(server, "bob")
    arguments = {"path": "story.md", "old_text": "Lamp", "new_text": "Light"}
    anna.post("/api/tools/edit_text", arguments, mode="apply", author="scribe")
    calls = {"calls": [{"id": "1", "name": "read_document", "arguments": {"path": "story.md"}}]}
    bob.post("/api/tools", calls, author="anna")
    claim = bob.refused("POST", "/api/tools/edit_text", arguments, 422, author="scribe for anna")
    assert claim["details"]["field"] == "author"
    server.refused("POST", "/api/tools", calls, 422, author="scribe for anna")
    hidden = server.refused("POST", "/api/tools", calls, 422, author="ebircs\u202e")
    assert "invisible characters" in hidden["message"]
    for name in ("you", " YOU", "outside"):
        assert "the name is taken" in server.refused("POST", "/api/tools", calls, 422, author=name)["message"]
    session = anna.post("/api/agent/sessions", {})["session_id"]
    body = {"session_id": session, "instruction": "Please.", "mode": "apply", "model": "play"}
    job = settled(anna, anna.post("/api/agent/run", body)["job_id"])
    assert (job["status"], job["asked_by"]) == ("completed", "anna")
    turns = [turn["author"]["name"] for turn in server.get("/api/turns")["turns"]]
    assert turns == ["agent for anna", "scribe for anna"]
    authors = [author for author, _, _ in lines(server)]
    assert authors == ["agent:scribe for anna", "agent:anna for bob", "agent:agent for anna", "agent:agent for anna"]


@pytest.mark.covers("RD-audit-readable")
def test_a_line_names_the_document_of_a_call_that_named_none(server: Server):
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    server.tool("read_document")
    server.tool("read_document", tab_id=tab)
    server.tool("edit_text", old_text="dark", new_text="dim")
    server.refused("POST", "/api/tools/edit_text", {"old_text": "never there", "new_text": "x"})
    told = [(tool, arguments.get("path"), arguments.get("tab_id")) for _, tool, arguments in lines(server)]
    read, edit = ("read_document", "story.md"), ("edit_text", "story.md", None)
    assert told == [(*read, None), (*read, tab), edit, edit]


@pytest.mark.covers("RD-audit-readable")
def test_a_line_names_path_and_arguments_and_masks_secrets(server: Server):
    server.tool("edit_text", path="story.md", old_text="dark", new_text=f"{KEY} and {'long ' * 100}")
    server.tool("search_documents", query="lamp")
    first, second = lines(server)
    assert (first[1], first[2]["path"], first[2]["old_text"]) == ("edit_text", "story.md", "dark")
    assert first[2]["new_text"].startswith("[masked] and long")
    assert len(first[2]["new_text"]) < 200
    assert second[2] == {"query": "lamp"}
    assert server.folder is not None
    shown = Program(server.folder).ok("audit", "list")
    assert '"path": "story.md"' in shown
    assert KEY not in shown
    assert server.get("/api/audit/verify")["intact"] is True
