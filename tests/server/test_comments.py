"""Comments over HTTP and MCP: who may, what is shown, and what a hostile folder brings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
TEXT = "We met in Lisbon.\nIt rained.\n"


def comments(server: Server, **query: Any) -> list[dict[str, Any]]:
    return server.get("/api/comments", **query)["comments"]


def comment_on(server: Server, path: str, quote: str, says: str) -> dict[str, Any]:
    shown = server.get("/api/documents", path=path)
    at = shown["content"].index(quote)
    place = {"path": path, "start": at, "end": at + len(quote), "version": shown["version"]}
    return server.post("/api/comments", {**place, "says": says})


@pytest.mark.covers("RD-comments", "RD-comments-follow")
def test_a_person_and_an_agent_talk_about_a_passage(server: Server, folder: Path):
    (folder / "trip.md").write_text(TEXT, encoding="utf-8")
    made = comment_on(server, "trip.md", "Lisbon", "Really? @agent")
    assert made["messages"][0]["mentions"] == ["agent"]
    seen = server.tool("list_comments", path="trip.md")["comments"]
    assert [each["id"] for each in seen] == [made["id"]]
    server.tool("reply_comment", comment=made["id"], says="It was Porto.")
    server.tool("edit_text", path="trip.md", old_text="We met", new_text="The two of us met")
    (now,) = comments(server, path="trip.md")
    shown = server.get("/api/documents", path="trip.md")["content"]
    assert shown[now["start"] : now["end"]] == "Lisbon"
    assert [message["says"] for message in now["messages"]] == ["Really? @agent", "It was Porto."]
    assert now["messages"][0]["by"] != now["messages"][1]["by"]
    server.post(f"/api/comments/{made['id']}/state", {"resolved": True}, method="PUT")
    assert server.tool("list_comments", path="trip.md")["comments"] == []
    assert comments(server)[0]["resolved"]


def test_an_agent_that_may_only_read_does_not_comment(server: Server, folder: Path):
    (folder / "trip.md").write_text(TEXT, encoding="utf-8")
    call = {"path": "trip.md", "quote": "Lisbon", "says": "No."}
    answer = server.refused("POST", "/api/tools/add_comment", call, 403, mode="read")
    assert answer["error"] == "mode_refuses"
    assert comments(server) == []


@pytest.mark.covers("RD-comments-hostile")
def test_a_hostile_file_of_comments_shows_nothing_that_is_not_for_anybody(server: Server, folder: Path):
    (folder / "trip.md").write_text(TEXT, encoding="utf-8")
    (folder / ".env").write_text("TOKEN=open-sesame\n", encoding="utf-8")
    made = comment_on(server, "trip.md", "Lisbon", "<script>alert(1)</script>")
    place = folder / ".redraft" / "comments"
    for name, path in (("a" * 12, ".env"), ("b" * 12, "../outside.md"), ("c" * 12, ".redraft/id")):
        head = {"thread": name, "document": path, "quote": "open-sesame", "before": "", "after": ""}
        entry = {"id": "d" * 12, "by": "x", "at": "", "says": "hello"}
        (place / f"{name}.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(entry)}\n", encoding="utf-8")
    assert [each["id"] for each in comments(server)] == [made["id"]]
    answer = server.tool("list_comments")
    assert [each["id"] for each in answer["comments"]] == [made["id"]]
