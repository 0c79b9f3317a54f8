"""`replaceText` with a rich editor open: called by the official MCP client, seen in a real Chromium.

Every row of the specification's edge cases is made twice, with the editor open and on the server alone; the answers and
the bytes of the files must be the same.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.server.serving import begun, ended
from tests.speaking.lines import PATIENCE
from tests.web.conftest import Room

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser

    from tests.web.conftest import Window

pytestmark = pytest.mark.slow
HELLO = "Hello world\n"
# Who has not typed for so long lets the cursor go.
STILL_MS = 1100
# The document's own words in some part of the page: others' cursors and what a review shows as taken out are not.
OWN = """node => {
  node.querySelectorAll(".ProseMirror-widget").forEach(widget => widget.remove());
  return node;
}"""
# Blocks parted by blank lines, as the tools tell them.
SHOWN = f"""() => [...({OWN})(document.querySelector(".ProseMirror").cloneNode(true)).children]
  .map(block => block.textContent).join("\\n\\n")"""
# What was to be seen after each change of the page: the browser tells of all that one transaction did together.
WATCH = f"""() => {{
  window.seen = [];
  new MutationObserver(() => window.seen.push(({SHOWN})()))
    .observe(document.querySelector(".ProseMirror"), {{ childList: true, characterData: true, subtree: true }});
}}"""
BEFORE_CURSOR = f"""() => {{
  const range = document.createRange();
  const {{ focusNode, focusOffset }} = getSelection();
  if (!focusNode) return null;
  range.setStart(document.querySelector(".ProseMirror"), 0);
  range.setEnd(focusNode, focusOffset);
  return ({OWN})(range.cloneContents()).textContent;
}}"""


class Agent:
    """The official client of MCP, on an event loop in a thread of its own: a browser's test has this one."""

    def __init__(self, room: Room, mode: str) -> None:
        self._address = f"{room.server.url}/mcp?profile=editor&mode={mode}"
        self._headers = {"Authorization": f"Bearer {room.server.token}"}
        self._client: Any = None
        self._ready = threading.Event()
        self._done = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._connected(),))
        self._thread.start()
        assert self._ready.wait(PATIENCE)

    async def _connected(self) -> None:
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers=self._headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(self._address, http_client=http)) as self._client,
        ):
            self._ready.set()
            await self._done.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()
        self._loop.close()

    def call(self, name: str, path: str, /, **arguments: Any) -> Any:
        calling = self._client.call_tool(name, {"path": path, **arguments})
        answer = asyncio.run_coroutine_threadsafe(calling, self._loop).result(PATIENCE)
        assert not answer.is_error, answer
        return answer.structured_content

    def replace(self, path: str, start: int, end: int, new: str, **more: Any) -> Any:
        return self.call("replaceText", path, **{"from": start, "to": end, "newText": new, **more})

    def replaced(self, path: str, start: int, end: int, new: str, **more: Any) -> Any:
        """The answer to a replacement that must succeed."""
        answer = self.replace(path, start, end, new, **more)
        assert answer["success"], answer
        return answer

    def text(self, path: str) -> str:
        return self.call("getEditorText", path)["text"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Room]:
    """A server whose agents write at once; those that are to propose ask for less."""
    pytest.importorskip("mcp", reason="the SDK is not installed")
    folder = tmp_path_factory.mktemp("bridge") / "notes"
    folder.mkdir()
    room = Room(begun(folder, REDRAFT_MODE="apply"), chromium, folder)
    yield room
    ended(room.server)


@pytest.fixture(scope="module")
def agent(served: Room) -> Generator[Agent]:
    with closing(Agent(served, "apply")) as agent:
        yield agent


def opened(room: Room, path: str, text: str = HELLO) -> Window:
    room.write(path, text)
    window = room.window(path, views={path: "rich"})
    window.page.locator(".ProseMirror").wait_for()
    return window


def shown(window: Window) -> str:
    return window.page.evaluate(SHOWN)


def before_cursor(window: Window) -> str | None:
    """The text before the cursor, without what parts blocks; None where the page has none."""
    return window.page.evaluate(BEFORE_CURSOR)


class Row(NamedTuple):
    """A row of the specification's matrix; `cursor` is the text before it in the page, None where nothing is done."""

    name: str
    start: int
    end: int
    new: str
    file: str = HELLO
    cursor: str | None = None


ROWS = (
    Row("replacement", 0, 5, "Hi", "Hi world\n", "Hi"),
    Row("insertion", 5, 5, "NEW", "HelloNEW world\n", "HelloNEW"),
    Row("deletion", 0, 5, "", "world\n", ""),
    Row("nothing", 5, 5, "", HELLO, "Hello"),
    Row("from after to", 10, 5, "X"),
    Row("from below zero", -1, 5, "X"),
    Row("to above the length", 0, 9999, "X"),
    Row(
        "script",
        0,
        5,
        "<script>alert(1)</script>",
        "\\<script>alert(1)\\</script> world\n",
        "<script>alert(1)</script>",
    ),
    Row("HTML", 0, 5, "<strong>Bold</strong>", "**Bold** world\n", "Bold"),
    Row("emoji", 0, 5, "Hello \U0001f44b", "Hello \U0001f44b world\n", "Hello \U0001f44b"),
    Row("newlines", 0, 5, "Line1\nLine2", "Line1\n\nLine2 world\n", "Line1Line2"),
    Row("whole document", 0, 11, "X", "X\n", "X"),
    Row("markdown", 6, 11, "**planet**", "Hello **planet**\n", "Hello planet"),
)


@pytest.mark.covers("RT-test-browser-mcp", "RT-mcp-forward", "RT-goal-browser", "RT-edge-cursor", "RT-exec-focus",
                    "RT-test-browser-cursor", "RT-bridge-register", "RT-bridge-server-side", "RT-goal-validated",
                    "RT-edge-script", "RT-edge-newlines", "RT-edge-emoji", "RT-edge-html")  # fmt: skip
def test_every_edge_case_is_the_same_in_the_browser_and_on_the_server_alone(room: Room, agent: Agent):
    window = opened(room, "here.md")
    dialogs: list[str] = []
    window.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    for row in ROWS:
        window.page.evaluate("document.activeElement.blur()")
        assert window.page.evaluate("document.activeElement.tagName") == "BODY"
        room.write("here.md", HELLO)
        room.write("alone.md", HELLO)
        window.expect(lambda: shown(window) == HELLO.strip())
        assert [agent.text(path) for path in ("here.md", "alone.md")] == [HELLO.strip()] * 2
        here, alone = (agent.replace(path, row.start, row.end, row.new) for path in ("here.md", "alone.md"))
        told = [{name: each[name] for name in each if name not in ("path", "turn")} for each in (here, alone)]
        assert told[0] == told[1], row
        assert (room.disk("here.md"), room.disk("alone.md")) == (row.file, row.file), row
        assert here["success"] is (row.cursor is not None), row
        if row.cursor is not None:
            text = agent.text("here.md")
            window.expect(lambda text=text, row=row: (shown(window), before_cursor(window)) == (text, row.cursor))
            window.expect(lambda: window.page.evaluate("document.activeElement.className").startswith("tiptap"))
    assert (dialogs, window.page.locator(".ProseMirror script").count()) == ([], 0), "and no script ran"


@pytest.mark.covers("RT-test-browser-undo", "RT-edge-undo", "RT-edge-redo", "RT-goal-atomic")
def test_one_undo_takes_a_replacement_back_and_the_persons_typing_has_steps_of_its_own(room: Room, agent: Agent):
    window = opened(room, "undone.md")
    reach(agent, window)
    window.text.click()
    window.page.keyboard.press("Control+End")
    window.type(" Mine.")
    text = agent.text("undone.md")
    assert text == "Hello world Mine.", "what was just typed is handed in"
    answer = agent.replaced("undone.md", 0, 5, "One\nTwo", expected="Hello")
    window.expect(lambda: shown(window) == "One\n\nTwo world Mine.")
    window.page.keyboard.press("Control+End")
    window.type(" Later.")
    steps = [("Control+z", "One\n\nTwo world Mine."), ("Control+z", text), ("Control+z", "Hello world")]
    steps += [("Control+Shift+z", text), ("Control+y", "One\n\nTwo world Mine.")]
    steps += [("Control+Shift+z", "One\n\nTwo world Mine. Later."), ("Control+z", "One\n\nTwo world Mine.")]
    for key, wanted in steps:
        window.page.keyboard.press(key)
        window.expect(lambda wanted=wanted: shown(window) == wanted)
    turns = room.server.get("/api/turns", path="undone.md")["turns"]
    by = {turn["turn"]: (turn["author"]["kind"], turn["kind"]) for turn in turns}
    assert by[answer["turn"]][0] == "agent"
    undoing = [turn for turn in turns if turn["source"] == answer["turn"]]
    assert [(turn["author"]["kind"], turn["kind"]) for turn in undoing] == [("person", "undo")]


def reach(agent: Agent, window: Window) -> None:
    """Wait until the server knows of the window's editor: a call that changes nothing puts the cursor there."""
    window.expect(lambda: bool(agent.replaced(window.path, 5, 5, "")) and before_cursor(window) == "Hello")


def use(room: Room, window: Window, place: str, word: str) -> None:
    """Type a word somewhere, until the server has it: what was said before on that connection has come, too."""
    window.text.click()
    window.page.keyboard.press(place)
    window.type(word)
    window.expect(lambda: word in room.working(window.path))


@pytest.mark.covers("RT-bridge-one-executes")
def test_of_two_windows_the_one_last_used_takes_the_cursor_and_the_other_keeps_its_own(room: Room, agent: Agent):
    one, other = (opened(room, "two.md", "Top\n\nHello world\n\nThe end\n") for _ in range(2))
    use(room, other, "Control+End", "!")
    use(room, one, "Control+Home", "On ")
    one.page.wait_for_timeout(STILL_MS)
    agent.replaced("two.md", 14, 19, "planet", expected="world")
    text = "On Top\n\nHello planet\n\nThe end!"
    one.expect(lambda: (shown(one), before_cursor(one)) == (text, "On TopHello planet"))
    other.expect(lambda: shown(other) == "On Top\n\nHello planet\n\nThe end!")
    assert before_cursor(other) == "On TopHello planetThe end!", "the person's own place is kept"
    use(room, other, "Control+End", "?")
    other.page.wait_for_timeout(STILL_MS)
    agent.text("two.md")
    agent.replaced("two.md", 8, 13, "Hi", expected="Hello")
    text = "On Top\n\nHi planet\n\nThe end!?"
    other.expect(lambda: (shown(other), before_cursor(other)) == (text, "On TopHi"))
    one.expect(lambda: shown(one) == "On Top\n\nHi planet\n\nThe end!?")
    assert before_cursor(one) == "On TopHi planet"
    by = [turn["author"]["kind"] for turn in room.server.get("/api/turns", path="two.md")["turns"]]
    assert by.count("agent") == 2, "and each was made once"


def test_what_an_agent_proposes_waits_in_the_review_as_the_agents_though_the_person_types_beside_it(room: Room):
    window = opened(room, "proposed.md", "Hello world\n\nThe end\n")
    window.text.click()
    window.page.keyboard.press("Control+End")
    window.type(" is near")
    with closing(Agent(room, "propose")) as agent:
        answer = agent.replaced("proposed.md", 0, 5, "Hi", expected="Hello")
    assert answer["state"] == "proposed"
    assert room.disk("proposed.md") == "Hello world\n\nThe end\n"
    window.page.keyboard.press("Control+End")
    window.type("er")
    window.expect(lambda: shown(window) == "Hi world\n\nThe end is nearer")
    window.expect(lambda: room.working("proposed.md") == "Hi world\n\nThe end is nearer\n")
    hunks = room.server.get("/api/review/document", path="proposed.md")["hunks"]
    assert [hunk["author"] for hunk in hunks] == ["agent", "user"]
    room.server.post("/api/review/reject", {"all": True})
    window.expect(lambda: shown(window) == "Hello world\n\nThe end is nearer")


@contextmanager
def halted(window: Window) -> Generator[None]:
    """A page that does nothing any more, as when its machine sleeps."""
    session: Any = window.page.context.new_cdp_session(window.page)
    session.send("Debugger.enable")
    session.send("Debugger.pause")
    yield
    session.send("Debugger.resume")
    session.detach()


@pytest.mark.covers("RT-bridge-timeout")
def test_a_browser_that_does_not_answer_is_an_error_and_does_nothing_later(room: Room, agent: Agent):
    window = opened(room, "silent.md")
    reach(agent, window)
    with halted(window):
        answer = agent.replace("silent.md", 0, 5, "Hi")
    assert (answer["success"], answer["message"]) == (False, "Editor not ready")
    assert "did not answer within 5 s" in answer["error"]
    window.page.wait_for_timeout(300)
    assert (shown(window), room.disk("silent.md")) == ("Hello world", HELLO)
    assert agent.replaced("silent.md", 0, 5, "Hi"), "it is awake again"
    window.expect(lambda: (shown(window), before_cursor(window)) == ("Hi world", "Hi"))
    window.button("Source").click()
    window.page.locator(".cm-content").wait_for()
    agent.replaced("silent.md", 0, 2, "Ho")
    window.expect(lambda: window.lines[0] == "Ho world")


@pytest.mark.covers("RT-exec-transaction", "RT-adv-batch", "RT-exec-focus")
def test_several_ranges_are_one_change_for_whoever_looks_and_the_keyboard_stays_where_it_is(room: Room, agent: Agent):
    window = opened(room, "ranges.md", "Hello world\n\nThe end\n")
    window.button("Rich").focus()
    window.page.evaluate(WATCH)
    agent.replaced("ranges.md", 17, 20, "**start**", more=[{"from": 0, "to": 5, "newText": "Hi\nyou"}])
    window.expect(lambda: len(window.page.evaluate("window.seen")) > 0)
    assert set(window.page.evaluate("window.seen")) == {"Hi\n\nyou world\n\nThe start"}
    assert window.page.evaluate("document.activeElement.textContent") == "Rich"
    # Back to the text as the toolbar leads there. Where the text is given the focus from without, the browser puts the
    # cursor at the start, and the editor takes that for the person's wish if it hears of it late.
    window.page.get_by_role("toolbar", name="Formatting").get_by_role("button").first.focus()
    window.page.keyboard.press("Escape")
    window.expect(lambda: before_cursor(window) == "Hiyou worldThe start")


def test_somebody_who_types_keeps_their_place(room: Room, agent: Agent):
    window = opened(room, "typing.md", "Hello world\n\nThe end\n")
    window.text.click()
    window.page.keyboard.press("Control+End")
    typed = ""
    with ThreadPoolExecutor(1) as threads:
        replacing = threads.submit(agent.replaced, "typing.md", 0, 5, "Hi")
        while not replacing.done():
            window.page.keyboard.type(".", delay=30)
            typed += "."
        replacing.result()
    window.page.keyboard.type("!")
    window.expect(lambda: shown(window).endswith("!"))
    window.expect(lambda: shown(window) == f"Hi world\n\nThe end{typed}!")
    assert before_cursor(window) == shown(window).replace("\n\n", "")
