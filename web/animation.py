"""Films the README's animation: an agent is asked, its changes are decided, the person types on and undoes.

python web/animation.py [FILE]      (needs Pillow, which nothing else here does: `make pictures` installs it)
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright
from screenshots import CHAPTER, REQUEST, ROOT, serve

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZE = {"width": 1240, "height": 680}
COLOURS = 96


class Film:
    """Frames of a page, each with how long it is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[tuple[bytes, int]] = []

    def take(self, milliseconds: int) -> None:
        self._frames.append((self._page.screenshot(), milliseconds))

    def save(self, path: Path) -> None:
        image: Any = import_module("PIL.Image")  # not among the locked packages, which the types are checked with
        pictures = [image.open(io.BytesIO(data)).convert("RGB") for data, _ in self._frames]
        palette = pictures[len(pictures) // 2].quantize(COLOURS)
        first, *others = [picture.quantize(palette=palette, dither=0) for picture in pictures]
        durations = [milliseconds for _, milliseconds in self._frames]
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)


def type_slowly(film: Film, page: Page, text: str, at_a_time: int) -> None:
    for start in range(0, len(text), at_a_time):
        page.keyboard.type(text[start : start + at_a_time])
        film.take(130)


def play(page: Page) -> Film:
    film = Film(page)
    page.get_by_role("textbox", name=f"Text of {CHAPTER}").wait_for()
    page.wait_for_timeout(600)
    film.take(1800)
    page.get_by_label("Message the agent").click()
    type_slowly(film, page, REQUEST, 4)
    film.take(500)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Accept all").first.wait_for()
    bars = page.locator("[data-hunk]")
    bars.first.wait_for()
    page.wait_for_timeout(600)
    film.take(3500)
    for button in ("Accept", "Reject"):
        shown = bars.first.get_by_role("button", name=button).first
        shown.hover()
        film.take(900)
        shown.click()
        page.wait_for_timeout(600)
        film.take(1800)
    line = page.get_by_role("textbox", name=f"Text of {CHAPTER}").get_by_text("They were in the flour tin.")
    line.click(position={"x": 1, "y": 8})
    type_slowly(film, page, "Of course. ", 2)
    film.take(1200)
    page.get_by_role("button", name="Accept all").first.click()
    page.wait_for_timeout(800)
    film.take(2200)
    page.keyboard.press("Control+Shift+h")
    page.get_by_role("region", name="History").get_by_text(REQUEST).first.wait_for()
    page.wait_for_timeout(400)
    film.take(2500)
    page.get_by_role("button", name="Undo the last turn").click()
    page.wait_for_timeout(800)
    film.take(3000)
    return film


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "redraft.gif"
    options = ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playing, tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as address:
        browser = playing.chromium.launch(executable_path="/usr/bin/chromium", args=options)
        page = browser.new_context(viewport=SIZE, reduced_motion="reduce").new_page()  # type: ignore[arg-type]
        kept = {"theme": "light", "welcomed": True, "unfolded": ["story"], "side": None}
        page.add_init_script(f"localStorage.redraft ??= {json.dumps(json.dumps({'state': kept, 'version': 0}))}")
        page.goto(address)
        page.keyboard.press("Control+p")
        page.keyboard.type("chapter-1")
        page.get_by_role("option").first.wait_for()
        page.keyboard.press("Enter")
        play(page).save(target)
        browser.close()


if __name__ == "__main__":
    main()
