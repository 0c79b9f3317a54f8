"""Takes the pictures of docs/images: six views of the app on examples/notes, each in light and in dark.

python web/screenshots.py [FOLDER]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
SIZE = {"width": 1280, "height": 800}
CHAPTER = "story/chapter-1.md"
REQUEST = "Rename Ines to Marta everywhere"


def writing(page: Page) -> None:
    page.get_by_role("treeitem", name="chapter-1.md").wait_for()


def reviewing(page: Page) -> None:
    page.get_by_label("Message the agent").fill(REQUEST)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Accept all").first.wait_for()
    page.locator("[data-hunk]").first.wait_for()


def comparing(page: Page) -> None:
    page.get_by_role("button", name="Compare side by side").click()
    page.locator(".cm-mergeView").wait_for()


def searching(page: Page) -> None:
    page.get_by_role("button", name="Compare side by side").click()
    page.keyboard.press("Control+Shift+f")
    page.get_by_label("Search all documents").fill("lamp")
    page.get_by_text("documents", exact=False).first.wait_for()


def past(page: Page) -> None:
    page.get_by_role("button", name="Accept all").first.click()
    page.keyboard.press("Control+Shift+h")
    page.get_by_text(REQUEST).first.wait_for()


def turn(page: Page) -> None:
    page.get_by_role("region", name="History").get_by_text(REQUEST).first.click()
    page.get_by_role("dialog").wait_for()


VIEWS: dict[str, Callable[[Page], None]] = {
    "writing": writing,
    "review": reviewing,
    "compare": comparing,
    "search": searching,
    "history": past,
    "turn": turn,
}


@contextmanager
def serve(folder: Path) -> Generator[str]:
    """The address that lets a browser in once, of a server on a copy of the example."""
    shutil.copytree(ROOT / "examples" / "notes", folder / "notes", ignore=shutil.ignore_patterns(".redraft"))
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    command = [sys.executable, "-m", "redraft", "serve", str(folder / "notes"), "--json"]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert server.stdout is not None  # noqa: S101
        # It says where it is as an object over some lines, and nothing more.
        yield json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["enter"]
    finally:
        server.terminate()
        server.wait()


def take(browser: Browser, theme: str, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as address:
        page = browser.new_context(viewport=SIZE, device_scale_factor=1, reduced_motion="reduce").new_page()  # type: ignore[arg-type]
        kept = {"theme": theme, "welcomed": True, "unfolded": ["story"]}
        page.add_init_script(f"localStorage.redraft ??= {json.dumps(json.dumps({'state': kept, 'version': 0}))}")
        page.goto(address)
        page.get_by_role("treeitem", name="chapter-1.md").click()
        page.get_by_role("textbox", name=f"Text of {CHAPTER}").wait_for()
        for name, act in VIEWS.items():
            act(page)
            page.wait_for_timeout(600)
            page.screenshot(path=target / f"{name}-{theme}.png")
        page.context.close()


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    options = ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path="/usr/bin/chromium", args=options)
        for theme in ("light", "dark"):
            take(browser, theme, target)
        browser.close()


if __name__ == "__main__":
    main()
