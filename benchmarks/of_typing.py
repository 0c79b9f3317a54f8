"""How long the app takes in a real browser: to be seen, and for a key in long documents and over two thousand hunks.

Of a key is measured what the page's main thread does from it to the frame that shows it, in the thread's own time. Of
the opening, what the browser says: from the request to the first words on the screen, and to the text of the document,
with nothing in its cache. The best of some rounds counts, because a browser has other things to do.
"""

from __future__ import annotations

import json
import os
import random
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Note, Result, shown
from benchmarks.of_server import Caller, serving
from benchmarks.texts import prose

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from playwright.sync_api import Browser, Page

    from benchmarks.measure import Line

CHROMIUM = Path("/usr/bin/chromium")
ROUNDS, KEYS, PAUSE_MS = 5, 30, 40
SIZES = {"1 MB": (1_000_000, 0.016), "10 MB": (10_000_000, 0.050)}
HUNKS, HUNKS_WITHIN = 2000, 0.016
NOVEL = 1_500_000
PAINT_WITHIN = 1.0
WRITTEN = """new MutationObserver((_, observer) => {
  if (!document.querySelector(".cm-line")) return;
  window.writtenAt = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });"""
TASK, FRAME = "ThreadControllerImpl::RunTask", "WebFrameWidgetImpl::BeginMainFrame"
CATEGORIES = ["devtools.timeline", "toplevel", "blink"]


def results(folder: Path) -> Iterator[Line]:
    if not CHROMIUM.exists():
        yield Note("     typing in the app: there is no chromium here")
        return
    with serving(folder) as server, _browser() as browser:
        yield from _painting(browser, server, folder)
        for name, (size, bound) in SIZES.items():
            (folder / "notes" / f"{size}.md").write_text(prose(size), encoding="utf-8")
            page = _opened(browser, server, f"{size}.md")
            yield Result(
                f"a key in {name}, p95 of the page's own time", _p95(browser, page), f"{bound * 1000:g} ms", bound, 1.0
            )
            page.context.close()
        (folder / "notes" / "novel.md").write_text(prose(NOVEL), encoding="utf-8")
        page = _opened(browser, server, "novel.md", views={"novel.md": "rich"})
        keys = _p95(browser, page)
        yield Result("a key in 1.5 MB in the rich view, p95 of the page's own time", keys, "16 ms", 0.016, 1.0)
        yield Result("until its round is written, p95", _round_p95(page), "100 ms", 0.1, 1.0)
        page.context.close()
        page = _opened(browser, server, _reviewed(folder, server))
        page.get_by_text(f"AI changed {HUNKS} places here").wait_for()
        yield Result(f"a key over {HUNKS} hunks, p95", _p95(browser, page), "16 ms", HUNKS_WITHIN, 1.0)


def _painting(browser: Browser, server: Caller, folder: Path) -> Iterator[Line]:
    (folder / "notes" / "first.md").write_text(prose(10_000), encoding="utf-8")
    painted: list[float] = []
    written: list[float] = []
    for _ in range(ROUNDS):
        page = _opened(browser, server, "first.md")
        painted.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        written.append(page.evaluate("window.writtenAt"))
        page.context.close()
    yield Result("the app's first paint", min(painted) / 1000, "1 s", PAINT_WITHIN, 1.0)
    yield Note(f"     until the document's text is there                {shown(min(written) / 1000):>9}")


@contextmanager
def _browser() -> Generator[Browser]:
    from playwright.sync_api import sync_playwright

    options = ["--disable-background-networking", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=str(CHROMIUM), args=options)
        yield browser
        browser.close()


def _opened(browser: Browser, server: Caller, path: str, **state: object) -> Page:
    server.post("/api/tabs", {"path": path})
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(60_000)
    kept = {"welcomed": True, "agentOpen": False, "side": None, "active": path, "order": [path], **state}
    page.add_init_script(f"localStorage.redraft ??= {json.dumps(json.dumps({'state': kept, 'version': 0}))}")
    page.add_init_script(WRITTEN)
    page.goto(f"http://127.0.0.1:{server.port}{server.post('/api/visit')['path']}")
    page.get_by_role("textbox", name=f"Text of {path}").click()
    page.wait_for_timeout(1500)
    return page


def _round_p95(page: Page) -> float:
    """The 95th percentile of the seconds from a key to the server's answer that has it."""
    page.evaluate("""() => {
      let pressed = 0;
      window.rounds = [];
      addEventListener("keydown", () => (pressed = performance.now()), { capture: true });
      new PerformanceObserver(list => {
        for (const each of list.getEntries()) {
          if (each.name.endsWith("/rich/serialise")) window.rounds.push(each.responseEnd - pressed);
        }
      }).observe({ type: "resource" });
    }""")
    for _ in range(KEYS):
        page.keyboard.press(random.choice("abcdefgh"))
        page.wait_for_timeout(10 * PAUSE_MS)
    times = sorted(page.evaluate("window.rounds"))
    return times[int(len(times) * 0.95)] / 1000


def _reviewed(folder: Path, server: Caller) -> str:
    """A document in which every other paragraph waits for a decision."""
    lines = [f"Paragraph {number} of the old text, which goes on for a while.\n\n" for number in range(2 * HUNKS)]
    changes = [line if at % 2 else line.replace("old", "very new") for at, line in enumerate(lines)]
    (folder / "notes" / "hunks.md").write_text("".join(lines), encoding="utf-8")
    version = server.get("/api/documents?path=hunks.md")["version"]
    arguments = {"path": "hunks.md", "content": "".join(changes), "version": version}
    server.post("/api/tools/write_document?mode=propose", arguments)
    return "hunks.md"


def _p95(browser: Browser, page: Page) -> float:
    """The 95th percentile of a key's time in seconds, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        browser.start_tracing(page=page, categories=CATEGORIES)
        for _ in range(KEYS):
            page.keyboard.press(random.choice("abcdefgh"))
            page.wait_for_timeout(PAUSE_MS)
        times = sorted(key_times(browser.stop_tracing()))
        best = min(best, times[int(len(times) * 0.95)] / 1000)
    return best


def key_times(trace: bytes) -> list[float]:
    """From a trace: of each key, the milliseconds of the tasks that saw to it and of the frame after them."""
    events = [each for each in json.loads(trace)["traceEvents"] if each.get("ph") == "X" and "tdur" in each]
    pressed = [
        each for each in events if each["name"] == "EventDispatch" and each["args"]["data"]["type"] == "keypress"
    ]
    thread = pressed[0]["tid"]
    tasks = [each for each in events if each["name"] == TASK and each["tid"] == thread]
    frames = sorted((each["ts"], each["tdur"]) for each in events if each["name"] == FRAME and each["tid"] == thread)
    times: list[float] = []
    for key in pressed:
        own = max(each["tdur"] for each in tasks if each["ts"] <= key["ts"] <= each["ts"] + each["dur"])
        frame = next((spent for at, spent in frames if at > key["ts"]), 0)
        times.append((own + frame) / 1000)
    return times
