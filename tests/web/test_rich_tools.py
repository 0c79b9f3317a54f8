"""The tools of the rich editor in a real browser: what they make is what the markdown says."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from tests.formats.pictures import png
from tests.web.clipboards import DOCS, DOCS_MARKDOWN, PAGE, PAGE_MARKDOWN, WORD, WORD_MARKDOWN
from tests.web.conftest import PATIENCE_MS
from tests.web.test_accessible import serious

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.web.conftest import Room, Window

pytestmark = pytest.mark.slow

PASTE = """([target, kind, content]) => {
  const data = new DataTransfer();
  if (kind === "file") data.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], "Old lamp.png",
    {type: "image/png"}));
  else data.setData(kind, content);
  document.querySelector(target).dispatchEvent(
    new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""
COPY = """() => {
  const data = new DataTransfer();
  document.querySelector(".ProseMirror").dispatchEvent(
    new ClipboardEvent("copy", {clipboardData: data, bubbles: true, cancelable: true}));
  return data.getData("text/html");
}"""
WIDTHS = "[...document.querySelectorAll('.ProseMirror img:not(.ProseMirror-separator)')].map(i => i.naturalWidth)"
# Use something, by a key or a click; who has the focus when the page has done what it does at once.
USE = """async (used, key) => {
  if (key) used.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  else used.click();
  for (let at = 0; at < 20; at += 1) await Promise.resolve();
  return document.activeElement.getAttribute("role");
}"""
DROP = """([content]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], "drop.png", {type: "image/png"}));
  const last = document.querySelector(".ProseMirror").lastElementChild.getBoundingClientRect();
  document.querySelector(".ProseMirror").dispatchEvent(new DragEvent("drop",
    {dataTransfer: data, bubbles: true, cancelable: true, clientX: last.left + 1, clientY: last.top + 5}));
}"""


def rich(room: Room, path: str, text: str, *, width: int = 1280) -> Window:
    """A window with the document in the rich view, the cursor at its end."""
    room.write(path, text)
    window = room.window(path, width=width, views={path: "rich"})
    window.page.get_by_role("toolbar", name="Formatting").wait_for()
    window.text.click()
    window.page.keyboard.press("Control+End")
    return window


def assert_text(room: Room, window: Window, text: str) -> None:
    """Wait until the document's text is this; else show what it is."""
    for _ in range(PATIENCE_MS // 100):
        if room.working(window.path) == text:
            return
        window.page.wait_for_timeout(100)
    assert room.working(window.path) == text


def paste(page: Page, kind: str, content: str) -> None:
    page.evaluate(PASTE, [".ProseMirror", kind, content])


def test_markdown_signs_become_what_they_mean(room: Room):
    window = rich(room, "signs.md", "Begin.\n")
    keys = window.page.keyboard
    lines = [
        "## Part",
        "- point",
        "",
        "1. first",
        "",
        "[ ] task",
        "",
        "> quote",
        "",
        "**bold** *slant* ~~gone~~ `code` end",
    ]
    for line in lines:
        keys.press("Enter")
        keys.type(line)
    keys.press("Enter")
    keys.type("``` ")
    keys.type("x = 1")
    keys.press("Control+Enter")
    keys.type("---")
    keys.type("Last.")
    assert_text(
        room,
        window,
        "Begin.\n\n## Part\n\n- point\n\n1. first\n\n- [ ] task\n\n> quote\n\n**bold** *slant* ~~gone~~ `code` end\n\n"
        "```\nx = 1\n```\n\n---\n\nLast.\n",
    )


def test_the_slash_menu_is_filtered_chosen_by_keys_and_put_away(room: Room):
    window = rich(room, "slash.md", "Words.\n")
    page, keys = window.page, window.page.keyboard
    keys.press("Enter")
    keys.type("and/or /")
    menu = page.get_by_role("listbox", name="Insert")
    menu.wait_for()
    assert menu.get_by_role("option").count() == 13
    assert window.text.get_attribute("aria-activedescendant") == "rich-slash-menu-paragraph"
    keys.press("Escape")
    menu.wait_for(state="hidden")
    keys.press("Enter")
    keys.type("/list")
    lists = ["Bullet list", "Numbered list", "Task list"]
    window.expect(lambda: menu.get_by_role("option").all_inner_texts() == lists)
    keys.press("ArrowDown")
    menu.get_by_role("option", name="Numbered list", selected=True).wait_for()
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    keys.press("Enter")
    menu.wait_for(state="hidden")
    keys.type("a task")
    keys.press("Enter")
    keys.press("Enter")
    keys.type("/line across")
    assert_text(room, window, "Words.\n\nand/or /\n\n- [ ] a task\n\n/line across\n")
    keys.press("Control+a")
    assert_text(room, window, "Words.\n\nand/or /\n\n- [ ] a task\n\n/line across\n")


def test_the_toolbar_writes_tables_links_and_code(room: Room):
    window = rich(room, "bar.md", "Start the lamp.\n")
    page, keys = window.page, window.page.keyboard
    bar = page.get_by_role("toolbar", name="Formatting")
    page.get_by_text("Start").dblclick(position={"x": 5, "y": 8})
    page.get_by_role("toolbar", name="Format the selection").get_by_role("button", name="Bold").click()
    keys.press("Control+k")
    dialog = page.get_by_role("dialog", name="Add link")
    dialog.get_by_label("URL").fill("javascript:alert(1)")
    assert dialog.get_by_role("button", name="Add").is_disabled()
    dialog.get_by_label("URL").fill("www.example.org/a b")
    keys.press("Enter")
    assert_text(room, window, "[**Start**](https://www.example.org/a%20b) the lamp.\n")
    keys.press("Control+End")
    keys.press("Enter")
    bar.get_by_role("button", name="Table").click()
    for word in ("A", "B", "C", "1"):
        keys.type(word)
        keys.press("Tab")
    rows = bar.get_by_role("button", name="Rows and columns")
    for act in ("Delete column", "Insert row below", "Delete row", "Insert column after"):
        rows.click()
        page.get_by_role("menuitem", name=act).click()
    table = "| A |  | C |\n| --- | --- | --- |\n|  |  |  |\n|  |  |  |\n"
    assert_text(room, window, "[**Start**](https://www.example.org/a%20b) the lamp.\n\n" + table)
    page.get_by_text("A", exact=True).click()
    rows.click()
    assert page.get_by_role("menuitem", name="Delete row").get_attribute("data-disabled") is not None
    page.get_by_role("menuitem", name="Delete table").click()
    keys.press("Control+End")
    keys.press("Enter")
    bar.get_by_role("button", name="Code block").click()
    keys.type("let x = 1;")
    field = bar.get_by_label("Code language")
    field.fill("js on")
    field.press("Enter")
    keys.press("End")
    keys.type(" // on")
    assert_text(room, window, "[**Start**](https://www.example.org/a%20b) the lamp.\n\n```js\nlet x = 1; // on\n```\n")
    page.locator(".tok-keyword", has_text="let").wait_for()


def test_pictures_that_are_pasted_or_dropped_are_stored_shown_and_undone_from_the_history(room: Room):
    (room.folder / "deep").mkdir(exist_ok=True)
    window = rich(room, "deep/pictures.md", "Look:\n\nLast.\n")
    page = window.page
    page.keyboard.type(" ")
    paste(page, "file", b64encode(png()).decode())
    assert_text(room, window, "Look:\n\nLast. ![Old lamp](images/Old-lamp.png)\n")
    assert (room.folder / "deep/images/Old-lamp.png").read_bytes() == png()
    page.evaluate(DROP, [b64encode(png(red=1)).decode()])
    assert_text(room, window, "Look:\n\n![drop](images/drop.png)Last. ![Old lamp](images/Old-lamp.png)\n")
    window.expect(lambda: page.evaluate(WIDTHS) == [8, 8])
    paste(page, "text/plain", "x")
    [turn] = [each for each in room.server.get("/api/turns")["turns"] if each["paths"] == ["deep/images/drop.png"]]
    room.server.post("/api/turns/undo", {"turn": turn["turn"]})
    assert not (room.folder / "deep/images/drop.png").exists()


@pytest.mark.parametrize(
    ("name", "html", "markdown"),
    [("word", WORD, WORD_MARKDOWN), ("page", PAGE, PAGE_MARKDOWN), ("docs", DOCS, DOCS_MARKDOWN)],
)
def test_what_is_pasted_from_elsewhere_is_cleaned(room: Room, name: str, html: str, markdown: str):
    window = rich(room, f"{name}.md", "")
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    paste(window.page, "text/html", html)
    assert_text(room, window, markdown)
    assert [url for url in asked if not url.startswith(room.server.url)] == []


def test_what_was_copied_here_is_pasted_as_it_is_and_no_other_page_can_say_so_of_its_own(room: Room):
    aside = "<aside>As it is.</aside>\n"
    window, html = rich(room, "copied.md", f"{aside}\nHere:\n"), ""
    for key in ("Control+a", "ArrowRight"):
        window.page.keyboard.press(key)
        html = html or window.page.evaluate(COPY)
    paste(window.page, "text/html", html)
    window.expect(lambda: room.working("copied.md").count(aside) == 2)
    paste(
        window.page, "text/html", "<p data-pm-slice='0 0 []' data-redraft='1'>Far.</p><pre data-source='html'><b></pre>"
    )
    window.expect(lambda: "Far." in room.working("copied.md"))
    assert "\n<b>\n" not in room.working("copied.md").replace("```\n<b>\n", "")


def test_find_marks_steps_and_replaces_in_one_undo(room: Room):
    text = "The lamp and **the** lamp.\n\n- Other lamps\n\n```\nlamp\n```\n"
    window = rich(room, "find.md", text)
    page, keys = window.page, window.page.keyboard
    keys.press("Control+Home")
    keys.press("Control+f")
    find = page.get_by_role("search", name="Find in document")
    keys.type("lamp")
    find.get_by_text("1 of 4").wait_for()
    keys.press("Enter")
    find.get_by_text("2 of 4").wait_for()
    keys.press("Shift+Enter")
    find.get_by_role("button", name="Whole words").click()
    find.get_by_text("1 of 3").wait_for()
    instead = find.get_by_label("Replace with")
    instead.fill("light")
    instead.press("Enter")
    assert_text(room, window, text.replace("lamp", "light", 1))
    find.get_by_role("button", name="Replace all").click()
    after = "The light and **the** light.\n\n- Other lamps\n\n```\nlight\n```\n"
    assert_text(room, window, after)
    find.get_by_text("No results").wait_for()
    keys.press("Escape")
    find.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "textbox"
    keys.press("Control+z")
    assert_text(room, window, text.replace("lamp", "light", 1))


@pytest.mark.parametrize("act", ["find", "link", "language", "button", "menu"])
def test_the_key_after_a_tool_is_for_the_text_however_busy_the_page_is(room: Room, act: str):
    """The page gets no time to draw, nor any for its timers, between the tool and the key."""
    window = rich(room, f"{act}-focus.md", "```\nx = 1\n```\n" if act == "language" else "Words.\n")
    page, keys = window.page, window.page.keyboard
    bar = page.get_by_role("toolbar", name="Formatting")
    used, key = bar.get_by_role("button", name="Bold", exact=True), ""
    if act == "find":
        keys.press("Control+f")
        used, key = page.get_by_role("search").get_by_label("Find", exact=True), "Escape"
    elif act == "link":
        keys.press("Control+k")
        used = page.get_by_role("dialog").get_by_role("button", name="Cancel")
    elif act == "language":
        used, key = bar.get_by_label("Code language"), "Enter"
    elif act == "menu":
        bar.get_by_role("button", name="Style: Text").click()
        used = page.get_by_role("menuitem", name="Heading 2")
    used.focus()
    assert used.evaluate(USE, key) == "textbox"
    keys.type("!")
    page.locator(".ProseMirror", has_text="x = 1!" if act == "language" else "Words.!").wait_for()


def test_a_picture_that_was_slow_to_store_takes_the_keyboard_from_nobody(room: Room):
    room.write("slow-picture.md", "Look:\n")
    window = room.window("slow-picture.md", views={"slow-picture.md": "rich"}, agentOpen=True)
    page = window.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/images", hold)
    window.text.click()
    page.keyboard.press("Control+End")
    paste(page, "file", b64encode(png()).decode())
    window.expect(lambda: len(held) == 1)
    composer = page.get_by_role("textbox", name="Message the agent")
    composer.press_sequentially("Make it ")
    held[0].continue_()
    assert_text(room, window, "Look:![Old lamp](images/Old-lamp.png)\n")
    page.keyboard.type("shorter.")
    assert composer.input_value() == "Make it shorter."


def test_a_document_is_exported_and_only_it_is_printed(room: Room):
    window = rich(room, "export.md", "---\ntitle: Papers\n---\n# Title\n\nWords.\n")
    page = window.page
    page.keyboard.type(" More.")
    page.get_by_role("button", name="Export or print").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Web page (HTML)").click()
    assert waiting.value.suggested_filename == "export.html"
    assert "<p>Words. More.</p>" in waiting.value.path().read_text(encoding="utf-8")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert re.sub(r"\s+", " ", page.locator("body").inner_text()).strip() == "Title Words. More."
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("[data-paper]").count() == 0


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
def test_the_tools_stand_in_nobodys_way(room: Room, theme: str, width: int):
    room.write(f"{theme}-tools.md", "# The Lamp\n\nThe *dark* lamp.\n\n```python\nx = 1  # one\n```\n\nEnd.\n")
    path = f"{theme}-tools.md"
    window = room.window(path, width=width, views={path: "rich"}, theme=theme)
    page, keys = window.page, window.page.keyboard
    page.locator(".tok-comment").wait_for()
    window.text.click()
    keys.press("Control+End")
    keys.press("Alt+F10")
    window.expect(lambda: page.evaluate("document.activeElement.closest('[role=toolbar]') !== null"))
    keys.press("ArrowRight")
    window.expect(lambda: page.evaluate("document.activeElement.getAttribute('aria-label')") == "Bold")
    keys.press("Escape")
    keys.press("Enter")
    keys.type("/")
    page.get_by_role("listbox", name="Insert").wait_for()
    found = {"slash": serious(page)}
    keys.press("Escape")
    keys.press("Shift+Home")
    keys.press("Control+f")
    keys.type("lamp")
    found["find"] = serious(page)
    keys.press("Escape")
    page.locator("em").dblclick()
    page.get_by_role("toolbar", name="Format the selection").wait_for()
    found["bubble"] = serious(page)
    keys.press("Control+k")
    page.get_by_role("dialog").wait_for()
    found["link"] = serious(page)
    assert {view: said for view, said in found.items() if said} == {}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
