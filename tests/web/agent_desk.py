"""A browser at the agent's sidebar: one server with models that play scripts, and one window for the tests of a module.

Each test begins with a new chat in a window that remembers nothing, and has documents of its own.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.server.serving import Server, begun, ended

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Generator, Mapping, Sequence

    from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request

WEB = Path(__file__).resolve().parents[2] / "web"
PATIENCE_MS = 60_000
LIMITS = (
    "confirm_files = 25\n[agent]\ntool_calls = 40\niterations = 20\ndestructive_calls = 20\n[limits]\nactions = 40\n"
)
AXE = "{resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}"
OURS = ("[aria-label=Agent]", "[aria-label=History]", "[aria-label=Trash]", "[role=dialog]")


@dataclass(slots=True)
class Desk:
    """The window, and the server behind it."""

    server: Server
    page: Page
    folder: Path
    wrong: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])

    def watch(self) -> None:
        """Note what goes wrong on the page, and what it asks for."""

        def failed(error: Error) -> None:
            self.wrong.append(str(error))

        def told(message: ConsoleMessage) -> None:
            # The browser asks by itself for an icon where a page names none, as that of `begin` does.
            if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
                self.wrong.append(message.text)

        def asked(request: Request) -> None:
            self.asked.append(request.url)

        self.page.on("pageerror", failed)
        self.page.on("console", told)
        self.page.on("request", asked)

    def begin(self, **state: Any) -> None:
        """A window that has just been opened, with these keys of its store."""
        plain = {"autosave": False, "firstView": "source", "prose": "mono"}
        kept = {"state": {"welcomed": True, "agentModel": "offline", "side": None, **plain, **state}, "version": 0}
        self.page.goto(f"{self.server.url}/icon.svg")  # the app itself would write its own state as it goes
        self.page.evaluate("kept => localStorage.setItem('redraft', kept)", json.dumps(kept))
        self.page.goto(f"{self.server.url}/")
        self.composer.wait_for()

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message the agent")

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_role("region", name="Agent", exact=True)

    @property
    def card(self) -> Locator:
        return self.sidebar.get_by_role("region", name="Changes").last

    @property
    def working(self) -> Locator:
        return self.sidebar.get_by_role("status", name="The agent is working")

    def ask(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name)

    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def expect(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so, on the page, on the server or on the disk."""
        for _ in range(PATIENCE_MS // 50):
            if condition():
                return
            self.page.wait_for_timeout(50)
        assert condition()

    def write(self, path: str, text: str) -> None:
        """A document of this test's, as if another program had written it."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def last_job(self) -> dict[str, Any]:
        return self.server.get("/api/agent/jobs", limit=1)["jobs"][0]

    def violations(self) -> list[str]:
        """What axe-core finds serious in the sidebar, the panel at the side and the dialog, as they stand."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate((WEB / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"))
        found = self.page.evaluate(
            "names => axe.run({include: names.filter(name => document.querySelector(name))}, AXE)"
            ".then(told => told.violations)".replace("AXE", AXE),
            list(OURS),
        )
        return [
            f"{each['id']}: {node['target']}: {node['failureSummary']}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def configured(folder: Path, models: Mapping[str, Sequence[Mapping[str, Any]]], settings: str) -> None:
    """Models that each play a script, from its beginning in every job."""
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True)
    for name, steps in models.items():
        script = folder.parent / f"{name}.jsonl"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
        settings += f'[models.{name}]\nkind = "scripted"\nfile = "{script}"\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")


@contextmanager
def opened(
    browser: Browser, base: Path, models: Mapping[str, Sequence[Mapping[str, Any]]], settings: str = LIMITS
) -> Generator[Desk]:
    """A server on an empty folder, and a window of the browser that is let in."""
    folder = base / "notes"
    folder.mkdir()
    configured(folder, models, settings)
    server = begun(folder)
    try:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        desk = Desk(server, page, folder)
        desk.watch()
        page.goto(server.url + server.post("/api/visit")["path"])
        yield desk
        context.close()
    finally:
        ended(server)
    assert [url for url in desk.asked if not url.startswith(server.url + "/")] == []
    assert desk.wrong == []
