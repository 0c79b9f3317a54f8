"""In a real browser that is let in: pages of others read nothing and change nothing, and no document comes to life."""

from __future__ import annotations

import http.server
import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Dialog, Page

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
CHROMIUM = Path("/usr/bin/chromium")
EVIL = "evil.example"
SECRET = "Nobody else reads this."

# Everything that a page can do to another server; what it finds out it keeps in `found`.
ATTACK = """<!doctype html><title>evil</title><div id=x></div><script>
window.found = []; window.done = false;
const ours = "__OURS__";
const note = (how, what) => { if (String(what).includes("reads this")) window.found.push(how); };
const body = JSON.stringify({all: true});
const tries = [];
for (const credentials of ["include", "omit"]) for (const mode of ["cors", "no-cors"])
  for (const path of ["/", "/api/documents?path=story.md", "/api/review", "/api/workspace"])
    tries.push(fetch(ours + path, {credentials, mode}).then(r => r.text()).then(t => note("fetch", t)).catch(() => 0));
for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"])
  for (const mode of ["cors", "no-cors"])
    for (const path of ["/api/review/accept", "/api/turns/undo", "/api/visit", "/api/tools/delete_document?agree=true"])
      tries.push(fetch(ours + path, {method: "POST", credentials: "include", mode, body,
        headers: {"Content-Type": type}}).then(r => r.text()).then(t => note("post", t)).catch(() => 0));
tries.push(fetch(ours + "/api/documents?path=story.md", {method: "DELETE", credentials: "include"}).catch(() => 0));
navigator.sendBeacon(ours + "/api/review/accept", new Blob([body], {type: "text/plain"}));
for (const tag of ["script", "img", "iframe", "link"]) {
  const made = document.createElement(tag);
  made.src = made.href = ours + "/api/documents?path=story.md"; made.rel = "stylesheet";
  made.onload = () => { try { note(tag, made.contentDocument.body.innerText); } catch { } };
  document.body.append(made);
}
for (const [action, method] of [["/api/review/accept", "post"], ["/api/turns/undo", "post"], ["/enter", "post"]]) {
  const frame = document.createElement("iframe"); frame.name = action; document.body.append(frame);
  const form = document.createElement("form");
  Object.assign(form, {action: ours + action, method, enctype: "text/plain", target: action});
  const input = document.createElement("input"); input.name = '{"all": true, "x": "'; input.value = '"}';
  form.append(input); document.body.append(form); form.submit();
}
for (const path of ["/", "/api/live", "/mcp"])
  tries.push(new Promise(resolve => { try { const s = new WebSocket(ours.replace("http", "ws") + path);
    s.onopen = () => { window.found.push("websocket"); resolve(); }; s.onerror = s.onclose = () => resolve(); }
    catch { resolve(); } }));
Promise.all(tries).then(() => setTimeout(() => { window.done = true; }, 500));
</script>"""


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("there is no chromium: apt-get install chromium")
    options = ["--disable-background-networking", f"--host-resolver-rules=MAP {EVIL} 127.0.0.1"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    with sync.sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=str(CHROMIUM), args=options)
        yield browser
        browser.close()


@contextmanager
def hostile_site(page: str) -> Generator[int]:
    """Another server on this machine, which says the same to everybody."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=site.serve_forever)
    thread.start()
    try:
        yield site.server_address[1]
    finally:
        site.shutdown()
        thread.join()
        site.server_close()


def entered(chromium: Browser, server: Server) -> Page:
    """A page of a browser that has been let in."""
    page = chromium.new_context().new_page()
    page.goto(server.url + server.post("/api/visit")["path"])
    page.wait_for_selector("[role=tree]")
    assert page.url == server.url + "/"
    return page


def test_pages_of_others_read_nothing_and_change_nothing(chromium: Browser, server: Server, folder: Path):
    (folder / "story.md").write_text(f"# Mine\n\n{SECRET}\n", encoding="utf-8")
    server.tool("edit_text", path="story.md", old_text="Nobody", new_text="Hardly anybody")
    before = server.get("/api/turns")
    context = entered(chromium, server).context
    with hostile_site(ATTACK.replace("__OURS__", server.url)) as port:
        for host in (EVIL, "127.0.0.1", "localhost"):  # another site, another port of ours, another name of it
            page = context.new_page()
            page.goto(f"http://{host}:{port}/")
            page.wait_for_function("window.done", timeout=60_000)
            assert page.evaluate("window.found") == []
    assert server.get("/api/turns") == before
    assert SECRET in (folder / "story.md").read_text(encoding="utf-8")
    _check_rebinding(context.new_page(), server)


def _check_rebinding(page: Page, server: Server) -> None:
    """A name of somebody else's that now leads here: the browser takes us for that site, and we do not play along."""
    for path in ("/", "/api/documents?path=story.md", server.post("/api/visit")["path"]):
        answer = page.goto(f"http://{EVIL}:{server.port}{path}")
        assert answer is not None
        assert answer.status == 403
        assert "reads this" not in page.content()


def test_no_document_comes_to_life_on_the_page(chromium: Browser, server: Server, folder: Path, material: Path):
    """Hostile texts in documents, in what agents propose and in names: not one script, not one request elsewhere."""
    security = material / "security"
    quick = (security / "xss_payloads_quick.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    lines = [*quick, *(each["payload"] for each in json.loads((security / "dompurify_expect.json").read_bytes()))]
    leaking = [
        "<img src=http://evil.example/i>",
        "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
        "<link rel=stylesheet href=//evil.example/c>",
        "<iframe src=http://evil.example></iframe>",
        "<style>@import 'http://evil.example/s'</style>",
    ]
    payloads = [line.replace("\0", "") for line in [*leaking, *lines] if line.strip()][:200]
    text = "".join(f"{payload}\n\n" for payload in payloads)
    (folder / "hostile.md").write_text(text, encoding="utf-8")
    (folder / "<img src=x onerror=alert(1)>.md").write_text("x\n", encoding="utf-8")
    (folder / "story.md").write_text("Calm.\n", encoding="utf-8")
    server.tool("create_document", title="proposed.md", content=text)
    server.tool("edit_text", path="story.md", old_text="Calm.", new_text=text)
    for path in ("story.md", "hostile.md"):
        server.post("/api/tabs", {"path": path})
    page = chromium.new_context().new_page()
    asked: list[str] = []
    wrong: list[str] = []

    def answered(dialog: Dialog) -> None:
        wrong.append(dialog.message)
        dialog.dismiss()

    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", answered)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(server.url + server.post("/api/visit")["path"])
    page.get_by_role("tab", name="story.md").click()
    page.wait_for_selector("[data-hunk]")
    page.get_by_role("tab", name="hostile.md").click()
    page.locator(".ProseMirror").wait_for()
    page.keyboard.press("Alt+r")
    page.locator(".cm-content").wait_for()
    assert payloads[0] in page.inner_text(".cm-content")
    # The offline assistant quotes what it finds, and its answers are shown as markdown.
    page.locator("[aria-label=Agent] textarea").fill("Search for evil.example")
    page.keyboard.press("Enter")
    page.locator("[aria-label=Agent]").get_by_text("evil.example").nth(1).wait_for()
    page.wait_for_timeout(500)
    assert len(payloads) == 200
    assert [url for url in asked if not url.startswith((server.url + "/", "ws" + server.url[4:] + "/"))] == []
    assert wrong == []
    alive = "img:not([src='/icon.svg']), iframe, object, embed, body script, style:not([nonce]):not(.cm-style)"
    assert page.evaluate(f'document.querySelectorAll("{alive}").length') == 0
