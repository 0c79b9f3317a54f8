"""Writing comfort: the cursor is where one types, keys do what they say, and the first window suits a writer."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.test_accessible import serious

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.conftest import Room

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nThe lighthouse had been dark for eleven years.\n"
DEFAULTS: dict[str, Any] = {"firstView": "rich", "prose": "serif", "autosave": True}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def kept(page: Page, name: str) -> object:
    return page.evaluate(f"JSON.parse(localStorage.redraft).state.{name}")


@pytest.mark.covers("RD-writing-focus")
@pytest.mark.parametrize("view", ["rich", "source"])
def test_what_is_typed_after_going_to_a_document_or_making_one_is_in_it(room: Room, view: str):
    (room.folder / view / "alice").mkdir(parents=True)
    room.write(f"{view}/begin.md", STORY)
    target = f"{view}/alice/chapter-01.md"
    room.write(target, STORY)
    window = room.window(f"{view}/begin.md", side="files", firstView=view)
    page = window.page
    page.keyboard.press("Control+p")
    page.keyboard.type(f"{view} alice chapter-01")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    text = page.get_by_role("textbox", name=f"Text of {target}")
    text.wait_for()
    page.wait_for_function("name => document.activeElement.ariaLabel === name", arg=f"Text of {target}")
    page.keyboard.type("First ")
    window.expect(lambda: "First " in room.working(target))
    page.keyboard.press("Control+Shift+e")  # this shows the files, and leaves the text alone
    page.get_by_role("tree", name="Documents").wait_for(state="detached")
    assert "`" not in room.working(target)
    page.keyboard.press("Alt+n")
    page.get_by_label("Name").fill(f"{view}/fresh")
    page.keyboard.press("Enter")
    fresh = f"{view}/fresh.md"
    page.wait_for_function("name => document.activeElement.ariaLabel === name", arg=f"Text of {fresh}")
    page.keyboard.type("Mine")
    window.expect(lambda: "Mine" in room.working(fresh))


@pytest.mark.covers("RD-writing-defaults")
def test_a_first_window_shows_prose_in_a_serif_and_saves_by_itself_but_not_over_a_proposal(room: Room):
    room.write("prose.md", STORY)
    room.write("data.json", "{}\n")
    window = room.window("prose.md", **DEFAULTS)
    page = window.page
    page.get_by_role("button", name="Rich", pressed=True).wait_for()
    assert "serif" in window.text.evaluate("text => getComputedStyle(text).fontFamily")
    window.go_to_end()
    window.type(" More.")
    window.expect(lambda: room.disk("prose.md").rstrip().endswith("More."))
    room.propose("prose.md", "eleven", "twelve")
    window.go_to_end()
    window.type(" Then.")
    window.expect(lambda: "Then." in room.working("prose.md"))
    page.wait_for_timeout(2500)  # longer than the pause after which it would save
    assert "twelve" not in room.disk("prose.md")
    page.keyboard.press("Alt+r")
    page.get_by_role("button", name="Source", pressed=True).wait_for()
    code = room.window("data.json", **DEFAULTS)
    assert "mono" in code.page.locator(".cm-scroller").evaluate("text => getComputedStyle(text).fontFamily").lower()


@pytest.mark.covers("RD-writing-files")
def test_pictures_are_shown_other_files_explained_and_dropped_texts_added(room: Room):
    room.write("start.md", STORY)
    (room.folder / "dot.png").write_bytes(PIXEL)
    (room.folder / "engine.bin").write_bytes(b"\0\1\2")
    window = room.window("start.md", side="files")
    page = window.page
    page.get_by_role("treeitem", name="dot.png").click()
    page.get_by_role("img", name="dot.png").wait_for()
    assert page.get_by_role("img", name="dot.png").evaluate("picture => picture.naturalWidth") == 1
    page.keyboard.press("Escape")
    page.get_by_role("treeitem", name="engine.bin").click()
    page.get_by_text("It is not text").wait_for()
    page.keyboard.press("Escape")
    dropped = page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        "data.items.add(new File(['# Dropped\\n'], 'dropped.md')); return data; }"
    )
    page.dispatch_event('[role="tree"]', "drop", {"dataTransfer": dropped})
    page.get_by_role("tab", name="dropped.md").wait_for()
    assert room.disk("dropped.md") == "# Dropped\n"
    window.wrong.clear()  # the browser itself notes the answer that the file is no text


@pytest.mark.covers("RD-writing-help")
def test_help_lists_the_keys_and_what_can_be_asked_and_a_click_asks_it(room: Room):
    room.write("help.md", STORY)
    page = room.window("help.md", agentOpen=True).page
    page.get_by_role("tab", name="help.md").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Help").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="Rename Ines to Marta everywhere").last.click()
    page.wait_for_function("document.querySelector('[aria-label=\"Message the agent\"]').value.startsWith('Rename')")


@pytest.mark.covers("RD-writing-quiet")
def test_focus_mode_leaves_the_text_alone_and_typewriter_scrolling_keeps_its_line_in_the_middle(room: Room):
    room.write("long.md", "# Long\n\n" + "A paragraph of a few words.\n\n" * 400)
    window = room.window("long.md", side="files", firstView="rich", typewriter=True)
    page = window.page
    page.keyboard.press("Alt+z")
    page.get_by_role("button", name="Leave focus mode").wait_for()
    assert page.get_by_role("tree").count() == 0
    assert serious(page) == []
    window.text.wait_for()
    window.go_to_end()
    window.type("End")
    window.expect(lambda: 250 < page.evaluate("getSelection().getRangeAt(0).getClientRects()[0]?.top ?? 0") < 550)
    page.get_by_text("min read").wait_for()
    page.keyboard.press("Alt+z")
    page.get_by_role("tree", name="Documents").wait_for()


@pytest.mark.covers("RD-writing-phone")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_one_pane_at_a_time_with_a_bar_to_switch(room: Room, theme: str):
    room.write(f"phone-{theme}.md", STORY)
    window = room.window(f"phone-{theme}.md", width=390, theme=theme, **DEFAULTS)
    page = window.page
    bar = page.get_by_role("navigation", name="Panels")
    for name, shown in (("Files", "Files"), ("History", "History"), ("Agent", "Agent")):
        bar.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("heading", name=shown, exact=True).wait_for()
        assert not window.text.is_visible()
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    bar.get_by_role("button", name="Text", exact=True).click()
    box = window.text.bounding_box()
    assert box is not None
    assert box["width"] > 300
    window.go_to_end()
    window.type(" More.")
    window.expect(lambda: "More." in room.working(f"phone-{theme}.md"))


@pytest.mark.covers("RD-writing-open-file")
def test_an_address_that_names_a_document_opens_it(room: Room):
    (room.folder / "in").mkdir()
    room.write("one.md", STORY)
    room.write("in/two words.md", STORY)
    page = room.window("one.md").page
    page.goto(room.server.url + room.server.post("/api/visit")["path"] + "#open=in/two%20words.md")
    page.get_by_role("tab", name="two words.md", selected=True).wait_for()
    assert page.evaluate("location.hash") == ""


@pytest.mark.covers("RD-writing-backlinks")
def test_the_outline_lists_the_documents_that_link_to_this_one(room: Room):
    (room.folder / "linked").mkdir()
    room.write("linked/lamp post.md", STORY)
    room.write("linked/other.md", "# Other\n\nSee [the lamp](lamp%20post.md) first.\n")
    room.write("wiki.md", "# Wiki\n\n[[lamp post]]\n")
    room.write("unlinked.md", "# Not\n\nA lamp post stood there.\n")
    page = room.window("linked/lamp post.md", side="outline").page
    links = page.get_by_role("navigation", name="Links to this document")
    links.get_by_role("button", name="wiki.md").wait_for()
    assert sorted(links.get_by_role("button").all_inner_texts()) == ["linked/other.md", "wiki.md"]
    assert serious(page) == []
    links.get_by_role("button", name="linked/other.md").click()
    page.get_by_role("tab", name="other.md", selected=True).wait_for()
