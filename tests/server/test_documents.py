"""Documents over HTTP: reading in windows, typing and saving, and what happens when two write at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.server.routes.shapes import document_shape
from redraft.text.text import Text
from redraft.workspace.document import Document
from tests.server.serving import serving
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow


def test_a_document_has_its_version_as_its_tag(server: Server):
    first = server.request("GET", "/api/documents", query={"path": "story.md"})
    assert first.json["content"] == STORY
    assert first.headers["etag"] == f'"{first.json["version"]}"'
    told = {"If-None-Match": first.headers["etag"]}
    again = server.request("GET", "/api/documents", None, told, query={"path": "story.md"})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    later = server.request("GET", "/api/documents", None, told, query={"path": "story.md"})
    assert later.status == 200
    assert "twelve" in later.json["content"]


@settings(max_examples=100)
@given(st.text("ab\n\r\u00fc\U0001f600", max_size=60), st.integers(1, 20))
def test_windows_one_after_the_other_are_the_document(text: str, limit: int):
    document = Document("a.md", Text(text))
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        shape = document_shape(document, offset, limit)
        assert shape["start_line"] == document.text.line_at(shape["offset"]) + 1
        parts.append(shape["content"])
        offset = shape["next_offset"]
    assert "".join(parts) == text
    assert all(len(part) == limit for part in parts[:-1])


def test_a_large_document_comes_in_windows(server: Server, folder: Path):
    text = "".join(f"Line {number} of many \U0001f600.\n" for number in range(40_000))
    (folder / "large.md").write_text(text, encoding="utf-8")
    read, offset, count = "", 0, 0
    while offset is not None:
        window = server.get("/api/documents", path="large.md", offset=offset)
        read, offset, count = read + window["content"], window["next_offset"], count + 1
    assert read == text
    assert count > 3
    assert (
        server.refused("GET", "/api/documents", None, 422, path="large.md", limit=10**9)["error"] == "invalid_argument"
    )


def test_what_is_typed_is_kept_and_saved_only_when_told(server: Server, folder: Path):
    tab = server.post("/api/tabs", {"path": "story.md"})
    name = tab["tab_id"]
    edits = [{"at": 0, "old": "", "new": "\U0001f600 "}]
    typed = server.post(f"/api/tabs/{name}/type", {"version": tab["version"], "edits": edits})
    assert typed["is_dirty"] is True
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert server.get("/api/documents", path="story.md")["content"] == "\U0001f600 " + STORY
    assert server.refused("DELETE", f"/api/tabs/{name}")["error"] == "conflict"
    saved = server.post(f"/api/tabs/{name}/save")
    assert saved["turn"]["author"] == {"kind": "person", "name": "you"}
    assert (folder / "story.md").read_text(encoding="utf-8") == "\U0001f600 " + STORY
    assert server.post(f"/api/tabs/{name}/save")["turn"] is None
    assert server.post(f"/api/tabs/{name}", method="DELETE")["turn"] is None
    assert server.get("/api/tabs") == {"tabs": []}


def test_typing_that_is_dropped_can_be_brought_back(server: Server):
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    server.post(f"/api/tabs/{tab}/type", {"content": "Mine.\n" + STORY})
    closed = server.post(f"/api/tabs/{tab}", method="DELETE", discard=True)
    assert server.get("/api/documents", path="story.md")["content"] == STORY
    server.post("/api/turns/undo", {"turn": closed["turn"]["turn"]})
    assert server.get("/api/documents", path="story.md")["content"] == "Mine.\n" + STORY


def test_a_stale_edit_is_told_the_version_and_the_lines_that_changed(server: Server, folder: Path):
    tab = server.post("/api/tabs", {"path": "story.md"})
    seen = server.get("/api/documents", path="story.md")["version"]
    (folder / "story.md").write_text(STORY.replace("eleven", "twelve"), encoding="utf-8")
    now = server.get("/api/documents", path="story.md")["version"]
    for method, path, body in (
        ("POST", f"/api/tabs/{tab['tab_id']}/type", {"version": seen, "content": "x"}),
        ("PUT", "/api/documents?path=story.md", {"version": seen, "content": "x"}),
        ("POST", "/api/documents/move", {"version": seen, "path": "story.md", "to": "b.md"}),
        ("DELETE", f"/api/documents?path=story.md&version={seen}", None),
    ):
        told = server.refused(method, path, body)
        assert told["error"] == "version_mismatch"
        assert told["details"]["current_version"] == now
    changed = server.request(
        "PUT", "/api/documents", {"content": "x"}, {"If-Match": f'"{seen}"'}, query={"path": "story.md"}
    )
    assert changed.status == 409
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("eleven", "twelve")


def test_the_changed_lines_are_told_where_the_old_text_is_known(server: Server):
    seen = server.get("/api/documents", path="story.md")["version"]
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    told = server.refused("PUT", "/api/documents", {"version": seen, "content": "x"}, path="story.md")
    [place] = told["details"]["changed_lines"]
    assert (place["start_line"], "eleven" in place["old"], "twelve" in place["new"]) == (2, True, True)


def test_documents_are_made_moved_deleted_and_brought_back(server: Server, folder: Path):
    made = server.post("/api/documents", {"path": "a/new.md", "content": "New.\n"})
    assert (folder / "a/new.md").read_text(encoding="utf-8") == "New.\n"
    assert server.refused("POST", "/api/documents", {"path": "a/new.md"})["error"] == "already_exists"
    server.post("/api/documents/move", {"path": "a/new.md", "to": "b.md", "version": made["version"]})
    written = server.post(
        "/api/documents", {"content": "Newer.\n", "version": made["version"]}, method="PUT", path="b.md"
    )
    server.post("/api/documents", method="DELETE", path="b.md", version=written["version"])
    assert not (folder / "b.md").exists()
    assert [each["path"] for each in server.get("/api/trash")["documents"]] == ["b.md"]
    server.post("/api/trash/restore", {"path": "b.md"})
    assert (folder / "b.md").read_text(encoding="utf-8") == "Newer.\n"
    assert {turn["author"]["name"] for turn in server.get("/api/turns")["turns"]} == {"you"}


def test_the_folder_is_listed_in_windows(server: Server, folder: Path):
    for number in range(7):
        (folder / f"{number}.md").write_text("", encoding="utf-8")
    found: list[str] = []
    start: int | None = 0
    while start is not None:
        page = server.get("/api/tree", start=start, limit=3)
        found += [entry["path"] for entry in page["entries"]]
        start = page["next"]
    assert found == [*(f"{number}.md" for number in range(7)), "story.md"]


def test_no_path_leads_out_of_the_folder(server: Server):
    for path in ("../x", "/etc/passwd", ".redraft/id", ".git/config", "a/../../x", "\x00"):
        for method, where, body in (
            ("GET", "/api/documents", None),
            ("PUT", "/api/documents", {"content": "x"}),
            ("DELETE", "/api/documents", None),
            ("GET", "/api/outline", None),
        ):
            answer = server.request(method, where, body, query={"path": path})
            assert answer.status in (403, 404, 422), (method, where, path, answer.body)
        assert server.request("POST", "/api/documents", {"path": path, "content": "x"}).status in (403, 422)


def test_outline_and_search_give_what_the_tools_give(server: Server):
    outline = server.get("/api/outline", path="story.md")
    assert outline == server.tool("get_outline", path="story.md")
    assert server.get("/api/search", query="LETTER") == server.tool("search_documents", query="LETTER")
    given: dict[str, Any] = {
        "path": "story.md",
        "query": "keys",
        "max_results": 20,
        "case_sensitive": False,
        "match_type": "exact",
    }
    found = server.get("/api/search/document", path="story.md", query="keys")
    assert found == server.tool("search_document", **given)


@pytest.mark.covers("RD-files-listing")
def test_a_folder_of_a_hundred_thousand_files_is_listed(tmp_path: Path):
    folder = tmp_path / "notes"
    for number in range(1000):
        (folder / f"folder-{number:03}").mkdir(parents=True)
        fd = os.open(folder / f"folder-{number:03}", os.O_RDONLY)
        for inner in range(100):
            os.mknod(f"note-{inner}.md", dir_fd=fd)
        os.close(fd)
    notes = sorted(f"note-{inner}.md" for inner in range(100))
    there = [path for at in range(1000) for path in (f"folder-{at:03}", *(f"folder-{at:03}/{note}" for note in notes))]
    with serving(folder) as server:
        for start in (0, 50_000, 95_000):
            page = server.get("/api/tree", start=start, limit=10_000)
            assert [entry["path"] for entry in page["entries"]] == there[start : start + 10_000]
            assert page["next"] == (start + 10_000 if start + 10_000 < len(there) else None)
        assert server.tool("list_documents", folder="/folder-999")["count"] == 100
