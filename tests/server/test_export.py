"""Pictures and exports over HTTP: who may have them, what is sent, and with which headers."""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from redraft.server.auth.callers import Users
from tests.formats.pictures import GIF, IMPOSTORS, JPEG, WEBP, png
from tests.server.serving import Client, Server, begun, ended

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

NOTE = "# The *Lamp*\n\n![A lamp](images/lamp.png) ![Far](https://x.org/far.png)\n\n<script>alert(1)</script>\n"
# Stands for pandoc: says how it was called, and what it was given.
STAND_IN = '#!/bin/sh\nprintf "%s\\n" "$@"\nprintf "home %s\\n" "$HOME"\ncat\n'


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One server for all: without any pandoc."""
    folder = tmp_path_factory.mktemp("export") / "notes"
    (folder / "images").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "note.md").write_text(NOTE, encoding="utf-8")
    (folder / "images" / "lamp.png").write_bytes(png())
    server = begun(folder, PATH=str(folder / "bin"))
    yield server
    assert ended(server) == ""


def place(server: Server) -> Path:
    assert server.folder is not None
    return server.folder


def sent(name: str, data: bytes, document: str = "note.md") -> dict[str, Any]:
    return {"document": document, "name": name, "content": b64encode(data).decode()}


@pytest.mark.parametrize(("data", "kind"), [(png(), "png"), (JPEG, "jpeg"), (GIF, "gif"), (WEBP, "webp")], ids=str)
def test_a_picture_is_sent_as_what_it_is_whatever_it_is_called(standing: Server, data: bytes, kind: str):
    (place(standing) / "some.txt").write_bytes(data)
    answer = standing.request("GET", "/api/images", query={"path": "some.txt"})
    assert (answer.status, answer.headers["content-type"], answer.body) == (200, f"image/{kind}", data)
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"
    again = standing.request(
        "GET", "/api/images", headers={"If-None-Match": answer.headers["etag"]}, query={"path": "some.txt"}
    )
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("name", IMPOSTORS)
def test_what_is_no_picture_is_never_sent(standing: Server, name: str):
    (place(standing) / name).write_bytes(IMPOSTORS[name])
    assert standing.refused("GET", "/api/images", None, 415, path=name)["error"] == "unsupported_file_type"


@pytest.mark.parametrize("path", ["../note.md", "/etc/passwd", ".redraft/id", "images", "none.png", "images\\lamp.png"])
def test_no_path_leads_to_anything_else(standing: Server, path: str):
    assert standing.request("GET", "/api/images", query={"path": path}).status in (403, 404, 415, 422)


def test_a_pasted_picture_is_in_the_folder_in_the_history_and_can_be_undone(standing: Server):
    added = standing.post("/api/images", sent("New one.png", png(red=7)))
    assert (added["path"], added["source"]) == ("images/New-one.png", "images/New-one.png")
    assert (place(standing) / added["path"]).read_bytes() == png(red=7)
    assert added["turn"]["author"]["kind"] == "person"
    number = added["turn"]["turn"]
    assert standing.get(f"/api/turns/{number}")["turn"]["paths"] == ["images/New-one.png"]
    standing.post("/api/turns/undo", {"turn": number})
    assert not (place(standing) / added["path"]).exists()


def test_the_same_picture_again_is_no_turn(standing: Server):
    first = standing.post("/api/images", sent("twice.png", png(red=9)))
    second = standing.post("/api/images", sent("twice.png", png(red=9)))
    assert (second["path"], second["turn"]) == (first["path"], None)


def test_a_picture_that_is_none_or_not_whole_is_refused(standing: Server):
    assert standing.refused("POST", "/api/images", sent("x.png", b"<svg/>"), 415)["error"] == "unsupported_file_type"
    broken = {"document": "note.md", "name": "x.png", "content": "%%%"}
    assert standing.refused("POST", "/api/images", broken, 422)["details"] == {"field": "content"}


def test_a_viewer_sees_pictures_and_exports_and_stores_none(standing: Server):
    viewer = Client(standing.port, Users(str(standing.state)).add("vera", "viewer"))
    assert viewer.request("GET", "/api/images", query={"path": "images/lamp.png"}).status == 200
    assert viewer.request("GET", "/api/export", query={"path": "note.md"}).status == 200
    assert viewer.request("POST", "/api/images", sent("x.png", png())).status == 403


def test_an_html_export_is_a_file_that_needs_nothing_else(standing: Server):
    answer = standing.request("GET", "/api/export", query={"path": "note.md"})
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''note.html"
    assert "sandbox" in answer.headers["content-security-policy"]
    page = answer.body.decode()
    assert "<title>The Lamp</title>" in page
    assert f'<img src="data:image/png;base64,{b64encode(png()).decode()}" alt="A lamp">' in page
    assert '<a href="https://x.org/far.png" rel="noreferrer">Far</a>' in page
    assert "<script" not in page


def test_an_export_has_what_is_typed_and_not_saved(standing: Server):
    (place(standing) / "typed.md").write_text("One.\n", encoding="utf-8")
    tab = standing.post("/api/tabs", {"path": "typed.md"})
    standing.post(f"/api/tabs/{tab['tab_id']}/type", {"content": "Two.\n"})
    assert b"<p>Two.</p>" in standing.request("GET", "/api/export", query={"path": "typed.md"}).body


def test_an_export_of_what_is_no_text_or_not_there_is_refused(standing: Server):
    assert standing.refused("GET", "/api/export", None, 404, path="none.md")["error"] == "not_found"
    picture = standing.refused("GET", "/api/export", None, 415, path="images/lamp.png")
    assert picture["error"] == "unsupported_file_type"


@pytest.mark.covers("ML-future-export")
def test_a_word_export_without_pandoc_says_how_to_get_it_and_with_it_is_made_by_it(standing: Server):
    refused = standing.refused("GET", "/api/export", None, 409, path="note.md", to="docx")
    assert refused["error"] == "program_missing"
    assert "https://pandoc.org" in refused["message"]
    assert "export as HTML" in refused["message"]
    program = place(standing) / "bin" / "pandoc"
    program.write_text(STAND_IN.replace("cat", "/bin/cat"), encoding="utf-8")
    os.chmod(program, stat.S_IRWXU)
    answer = standing.request("GET", "/api/export", query={"path": "note.md", "to": "docx"})
    program.unlink()
    assert answer.status == 200
    assert answer.headers["content-type"].endswith("wordprocessingml.document")
    assert answer.headers["content-disposition"].endswith("note.docx")
    called, _, given = answer.body.decode().partition("<!doctype html>")
    assert {"--sandbox", "--from=html", "--to=docx", "--output=-", "home /nonexistent"} <= set(called.split("\n"))
    assert 'alt="A lamp"' in given
    assert "<script" not in given


@pytest.mark.covers("RD-export-accepted", "RD-export-proposals")
def test_an_export_holds_what_is_accepted_unless_the_proposals_are_asked_for(standing: Server):
    (place(standing) / "paper.md").write_text("One line.\n\nTwo words.\n", encoding="utf-8")
    standing.tool("edit_text", path="paper.md", old_text="Two", new_text="Three")
    answer = standing.request("GET", "/api/export", query={"path": "paper.md"})
    assert (answer.status, answer.headers["redraft-proposals"]) == (200, "1")
    assert b"<p>Two words.</p>" in answer.body
    assert b"Three" not in answer.body
    answer = standing.request("GET", "/api/export", query={"path": "paper.md", "proposals": "true"})
    assert b"<p><del>Two</del><ins>Three</ins> words.</p>" in answer.body
