"""The app's own files: the page with its mark, what it loads, and nothing else of the disk."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from fastapi import Request

from redraft.server.routes import pages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server


@pytest.fixture
def built() -> None:
    if not (pages.static_files() / "index.html").is_file():
        pytest.skip("the web app is not built: python hatch_build.py")


@pytest.mark.usefixtures("built")
def test_the_page_and_its_parts_come_from_here(server: Server):
    page = server.request("GET", "/")
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.body.decode())
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert b"http" not in page.body
    assert {part.rpartition(".")[2] for part in parts} == {"css", "js", "svg"}
    for part in parts:
        answer = server.request("GET", part)
        assert answer.status == 200
        assert ("immutable" in answer.headers["cache-control"]) == part.startswith("/assets/")


@pytest.mark.usefixtures("built")
def test_the_mark_for_styles_is_new_with_every_page_and_the_same_in_header_and_page(server: Server):
    marks: list[str] = []
    for _ in range(2):
        page = server.request("GET", "/")
        [mark] = re.findall(r"style-src 'self' 'nonce-([\w-]+)'", page.headers["content-security-policy"])
        assert f'nonce="{mark}"' in page.body.decode()
        marks.append(mark)
    assert marks[0] != marks[1]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("name", ["none.js", "..%2Findex.html", "..%2f..%2fapp.py", ".js", "%00.js", "index.html"])
def test_no_other_file_is_sent(server: Server, name: str):
    assert server.refused("GET", f"/assets/{name}", None, 404)["error"] == "not_found"


def test_without_the_app_the_page_says_how_to_build_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(pages, "static_files", lambda: tmp_path)
    answer = asyncio.run(pages.app_page(Request({"type": "http"})))
    page = bytes(answer.body)
    assert (answer.status_code, b"make setup" in page) == (503, True)
    [style] = re.findall(rb"<style>(.*?)</style>", page, re.DOTALL)
    assert f"'sha256-{b64encode(sha256(style).digest()).decode()}'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("name", ["enter.html", "team.html", "unbuilt.html"])
def test_a_page_without_the_app_is_whole(name: str):
    page = pages.plain_page(name).decode()
    assert [page.count(part) for part in ("<!doctype html>", "<style>", "<h1>", "</main>", "</html>")] == [1] * 5
    assert pages.SAID.decode() not in page
