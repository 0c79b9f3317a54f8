"""One VS Code server and one browser for the stories of a module, and a server of Redraft on a folder of their own."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.editors.code_server import PATIENCE_MS, CodeServer, EditorWindow
from tests.server.serving import Server, begun, ended
from tests.speaking.lines import environment

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
# What the app finds in its store when it is opened for the first time.
STORE = "if (location.protocol === 'http:') localStorage.redraft ??= %s;"


@dataclass(slots=True)
class Stage:
    """The folder, its server, the editor's server, and the windows of this test."""

    folder: Path
    server: Server
    editor: CodeServer
    browser: Browser
    opened: list[EditorWindow] = field(default_factory=list[EditorWindow])

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_bytes(text.encode())

    def disk(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def working(self, path: str) -> str:
        """The text as the server has it."""
        return self.server.get("/api/documents", path=path, limit=1_048_576)["content"]

    def hunks(self, path: str) -> list[dict[str, Any]]:
        """What waits for a decision in a document, in the order of the text."""
        documents = self.server.get("/api/review", path=path)["documents"]
        return [hunk for draft in documents for hunk in draft["hunks"] if hunk["author"] != "user"]

    def propose(self, path: str, *edits: tuple[str, str]) -> None:
        """An agent's turn."""
        for old, new in edits:
            asked: Any = {"mode": "propose", "author": "Agent"}
            self.server.post("/api/tools/read_document", {"path": path}, **asked)
            self.server.post("/api/tools/edit_text", {"path": path, "old_text": old, "new_text": new}, **asked)

    def window(self, name: str, folder: Path | None = None) -> EditorWindow:
        """A new window of the editor, with a document of the folder in front."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        window = EditorWindow(page)
        self.opened.append(window)
        window.open_folder(self.editor.url, folder or self.folder)
        window.open_file(name)
        window.page.locator(".editor-instance .view-line").first.click()
        return window

    def app(self, path: str) -> Page:
        """A window of the app on a document."""
        self.server.post("/api/tabs", {"path": path})
        kept = {"welcomed": True, "agentOpen": False, "side": None, "active": path, "order": [path]}
        context = self.browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        context.add_init_script(STORE % json.dumps(json.dumps({"state": kept, "version": 0})))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        self.opened.append(EditorWindow(page))
        page.goto(self.server.url + self.server.post("/api/visit")["path"])
        page.get_by_role("textbox", name=f"Text of {path}").wait_for()
        return page


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("there is no chromium: apt-get install chromium")
    home = tmp_path_factory.mktemp("vscode")
    folder = home / "notes"
    folder.mkdir()
    editor = CodeServer.start(home / "code", environment(folder), {})
    server = begun(folder)
    options = ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    try:
        with sync.sync_playwright() as playing:
            browser = playing.chromium.launch(executable_path=str(CHROMIUM), args=options)
            yield Stage(folder, server, editor, browser)
            browser.close()
    finally:
        editor.stop()
        ended(server)


@pytest.fixture
def stage(standing: Stage) -> Generator[Stage]:
    yield standing
    for window in standing.opened:
        window.page.context.close()
    standing.opened.clear()
    if standing.server.get("/api/workspace")["pending"]:
        standing.server.post("/api/review/reject", {"all": True})
