"""Windows of a real browser on a real server, for the tests of documents and their review.

The browser is one for all of these modules, the server one for each; each test has documents of its own, and windows
that remember nothing. A window notes what went wrong in it, and its test fails for that, too.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import Server, begun, ended

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Generator

    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_MS = 60_000  # far more than it ever takes: only a machine under heavy load comes near
LINES = """[...document.querySelectorAll(".cm-line")].map(line => {
  const copy = line.cloneNode(true);
  copy.querySelectorAll(".cm-caret").forEach(caret => caret.remove());
  return copy.textContent;
})"""
# What a browser itself says of a server that is away, which no page can keep from being said.
AWAY = ("net::ERR_", "WebSocket connection to")


@dataclass(slots=True)
class Window:
    """A page with one document in front."""

    page: Page
    server: Server
    path: str
    wrong: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> Locator:
        return self.page.get_by_role("textbox", name=f"Text of {self.path}")

    @property
    def lines(self) -> list[str]:
        """What is in sight, line by line, with what the review shows as taken out; the cursors of others left out."""
        return self.page.evaluate(LINES)

    @property
    def bars(self) -> Locator:
        return self.page.locator("[data-hunk]")

    def press(self, name: str | re.Pattern[str], at: int | None = None) -> None:
        """A button of a change's bar, which shows itself while the pointer is over the words."""
        button = (self.bars if at is None else self.bars.nth(at)).get_by_role("button", name=name)
        change = button.evaluate("button => button.closest('[data-hunk]').dataset.hunk")
        words = self.page.locator(f'[data-of="{change}"]').first
        if words.is_visible():
            words.hover()
        else:
            button.focus()
        button.click()

    def status(self, text: str) -> None:
        """Wait until the foot of the pane says this."""
        self.page.locator("footer").get_by_text(text, exact=True).wait_for()

    def go_to_end(self) -> None:
        self.text.click()
        self.page.keyboard.press("Control+End")

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def expect(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so, on the server or on the disk."""
        for _ in range(PATIENCE_MS // 50):
            if condition():
                return
            self.page.wait_for_timeout(50)
        assert condition()


# What the app finds in its store when it is opened for the first time; afterwards, what it has put there.
STORE = "if (location.protocol === 'http:') localStorage.redraft ??= %s;"


@dataclass(slots=True)
class Room:
    """A server, a browser, and the folder that both are about."""

    server: Server
    browser: Browser
    folder: Path
    opened: list[Window] = field(default_factory=list[Window])

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_bytes(text.encode())

    def disk(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()

    def working(self, path: str) -> str:
        """The text as the server has it."""
        return self.server.get("/api/documents", path=path)["content"]

    def propose(self, path: str, old: str, new: str) -> None:
        arguments = {"path": path, "old_text": old, "new_text": new}
        self.server.post("/api/tools/edit_text", arguments, mode="propose", author="Agent")

    def window(self, path: str, *, width: int = 1280, **state: Any) -> Window:
        """A new window with the document in front; its store begins with these keys."""
        self.server.post("/api/tabs", {"path": path})
        plain = {"autosave": False, "firstView": "source", "prose": "mono"}
        kept = {"welcomed": True, "agentOpen": False, "side": None, "active": path, "order": [path], **plain, **state}
        context = self.browser.new_context(viewport={"width": width, "height": 800}, reduced_motion="reduce")
        # Not by `storage_state`, for which Playwright opens a page of its own and takes half a second.
        context.add_init_script(STORE % json.dumps(json.dumps({"state": kept, "version": 0})))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        window = Window(page, self.server, path)
        page.on("pageerror", lambda error: window.wrong.append(str(error)))
        page.on("console", lambda told: window.wrong.append(told.text) if _is_bad(told) else None)
        page.goto(self.server.url + self.server.post("/api/visit")["path"])
        window.text.wait_for()
        self.opened.append(window)
        return window


def _is_bad(told: ConsoleMessage) -> bool:
    return told.type in ("error", "warning") and not any(part in told.text for part in AWAY)


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """One for each module, and no longer: while it runs, this thread can run no other event loop, and a worker that has
    done a test of the app may take one of another folder next."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("there is no chromium: apt-get install chromium")
    options = ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync.sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=str(CHROMIUM), args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Room]:
    folder = tmp_path_factory.mktemp("web") / "notes"
    folder.mkdir()
    room = Room(begun(folder), chromium, folder)
    yield room
    ended(room.server)


@pytest.fixture
def room(served: Room) -> Generator[Room]:
    """The module's room; what goes wrong in a window of this test is this test's failure."""
    yield served
    wrong = [each for window in served.opened for each in window.wrong]
    for window in served.opened:
        window.page.context.close()
    served.opened.clear()
    if served.server.get("/api/workspace")["pending"]:
        served.server.post("/api/review/reject", {"all": True})
    assert wrong == []
