"""Each change is decided where its words stand; larger units, other documents and what was written at once likewise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.web.test_accessible import serious

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.web.conftest import Room, Window

pytestmark = pytest.mark.slow
TALE = """# The Lamp

It had been dark for eleven years when the letter came. She read it twice. Then she took the brass key.

- Take the long road
- Bring the iron key and the rope

| who | what |
| --- | --- |
| Ruth | winds the lens |
"""
EDITS = (
    ("eleven", "twelve"),
    ("letter", "telegram"),
    ("brass", "small"),
    ("iron", "heavy"),
    ("rope", "chain"),
    ("winds", "cleans"),
)
# How far a bar is from the words of its change, and whether it covers any of them.
TIED = """bar => {
  const box = bar.getBoundingClientRect();
  const marks = [...document.querySelectorAll(`[data-of="${bar.dataset.hunk}"]`)];
  const words = marks.map(each => each.getBoundingClientRect());
  const gaps = words.map(({top, bottom}) => Math.max(box.top - bottom, top - box.bottom));
  return {gap: Math.min(...gaps), covers: Math.min(...gaps) < 0, rings: bar.parentElement.querySelectorAll("i").length};
}"""


def proposed(room: Room, path: str, view: str, width: int = 1280, **state: object) -> Window:
    room.write(path, TALE)
    for old, new in EDITS:
        room.propose(path, old, new)
    window = room.window(path, width=width, views={path: view}, **state)
    window.expect(lambda: window.bars.count() == len(EDITS))
    return window


def shown(window: Window) -> Locator:
    return window.page.locator("[data-hunk][data-shown]")


@pytest.mark.covers("RD-words-decide", "RD-words-toast")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_each_run_of_words_has_its_own_bar_at_it_and_is_decided_alone(room: Room, view: str):
    name = f"runs-{view}.md"
    window = proposed(room, name, view)
    assert shown(window).count() == 0  # the text is as it reads, until somebody looks at a change
    text = TALE
    for (old, new), act in zip(EDITS, ("Accept", "Reject", "Accept", "Accept", "Reject", "Accept"), strict=True):
        window.page.locator("ins", has_text=new).hover()
        button = shown(window).get_by_role("button", name=f'{act}: "{old}" → "{new}"', exact=True)
        button.wait_for()
        tied = shown(window).evaluate(TIED)
        assert (0 <= tied["gap"] <= 8, tied["covers"], tied["rings"]) == (True, False, 2)
        button.click()
        text = text.replace(old, new) if act == "Accept" else text
        window.expect(lambda text=text: room.disk(name) == text)
        done = window.page.get_by_text(f'{act}ed: "{old}" → "{new}"', exact=True)
        done.first.wait_for()
        assert window.button("Undo").count() == 1  # one message on decisions, however many there are
    assert room.working(name) == text
    window.button("Undo").click()
    window.expect(lambda: "cleans" not in room.disk(name))
    window.expect(lambda: window.bars.count() == 1)


@pytest.mark.covers("RD-words-decide", "RD-words-units")
@pytest.mark.parametrize(("view", "theme"), [("source", "light"), ("rich", "dark")])
def test_on_a_phone_a_tap_shows_the_bar_and_its_units_and_nothing_is_cut_off(room: Room, view: str, theme: str):
    name = f"tapped-{view}.md"
    window = proposed(room, name, view, width=390, theme=theme)
    window.page.locator("ins", has_text="telegram").click()
    window.page.mouse.move(380, 790)  # a finger does not stay where it tapped
    bar = shown(window)
    bar.get_by_role("button", name=re.compile("^More")).click()
    rows = ["This sentence: 2 changes", "This paragraph: 3 changes", "This document: 6 changes"]
    for row in rows:
        bar.get_by_text(row, exact=True).wait_for()
    box = bar.bounding_box()
    assert box is not None
    assert (box["x"] >= 0, box["x"] + box["width"] <= 390) == (True, True)
    assert serious(window.page) == []
    bar.get_by_role("button", name="Reject this sentence").click()
    window.expect(lambda: "telegram" not in room.working(name) and "twelve" not in room.working(name))
    window.expect(lambda: window.bars.count() == 4)
    window.page.get_by_text("Rejected 2 changes.").first.wait_for()
    window.page.locator("ins", has_text="chain").click()
    bar.get_by_role("button", name=re.compile("^More")).click()
    bar.get_by_role("button", name="Accept this item").click()
    window.expect(lambda: "heavy key and the chain" in room.disk(name))
    assert "winds" in room.disk(name)


@pytest.mark.covers("RD-words-decide", "RD-words-across")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_by_keys_alone_one_goes_from_change_to_change_and_on_to_the_next_document(room: Room, view: str):
    first, second = f"a-{view}.md", f"b-{view}.md"
    for path in (first, second):
        room.write(path, TALE)
    room.propose(first, "eleven", "twelve")
    room.propose(first, "letter", "telegram")
    room.propose(second, "brass", "small")
    window = room.window(first, views={first: view, second: view})
    window.expect(lambda: window.bars.count() == 2)
    window.text.focus()
    keyboard = window.page.keyboard
    keyboard.press("Control+Home")
    for words in ('Accept: "eleven" → "twelve"', 'Accept: "letter" → "telegram"'):
        keyboard.press("Alt+j")
        shown(window).get_by_role("button", name=words).wait_for()
    keyboard.press("Alt+j")
    window.page.get_by_role("tab", name=second, selected=True).wait_for()
    shown(window).get_by_role("button", name='Accept: "brass" → "small"').wait_for()
    keyboard.press("Control+Enter")
    window.expect(lambda: "small key" in room.disk(second))
    keyboard.press("Control+z")
    window.expect(lambda: "brass key" in room.disk(second))
    window.bars.wait_for()
    keyboard.press("Alt+k")
    window.page.get_by_role("tab", name=first, selected=True).wait_for()
    shown(window).get_by_role("button", name='Accept: "letter" → "telegram"').wait_for()


@pytest.mark.covers("RD-words-arrive")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_a_turn_that_arrives_is_shown_at_its_first_change_unless_somebody_types(room: Room, view: str):
    path = f"arriving-{view}.md"
    room.write(path, TALE + "\nAnd so on.\n" * 80 + "\nThe last line.\n")
    window = room.window(path, views={path: view})
    room.propose(path, "The last line.", "The very end.")
    shown(window).get_by_role("button", name=re.compile("^Accept")).wait_for()
    window.page.locator("ins", has_text="very end").wait_for()
    assert window.page.evaluate("document.activeElement === document.body")
    window.text.focus()
    window.page.keyboard.press("Control+Home")
    window.type("Typed. ")
    room.propose(path, "brass", "small")
    window.page.locator("ins", has_text="small").wait_for()
    window.type("And more. ")
    window.expect(lambda: "Typed. And more. " in room.working(path))
    assert shown(window).count() == 0


@pytest.mark.covers("RD-words-tree")
def test_the_tree_says_what_waits_in_folders_and_of_documents_that_come_move_and_go(room: Room):
    call = {"mode": "propose", "author": "Agent"}
    (room.folder / "part").mkdir()
    for path in ("part/one.md", "part/two.md", "gone.md", "here.md"):
        room.write(path, TALE)
    room.propose("part/one.md", "eleven", "twelve")
    room.propose("part/one.md", "brass", "small")
    room.propose("part/two.md", "brass", "small")
    room.server.post("/api/tools/create_document", {"title": "made.md", "content": "New.\n"}, **call)
    room.server.post("/api/tools/delete_document", {"path": "gone.md"}, agree=True, **call)
    room.server.post("/api/tools/move_document", {"path": "here.md", "destination": "part/there.md"}, **call)
    window = room.window("part/one.md", side="files")

    def badge(name: str) -> str:
        row = window.page.get_by_role("treeitem", name=re.compile(f"^{name}"))
        return row.inner_text().removeprefix(name).strip()

    window.page.get_by_role("treeitem", name=re.compile("^made.md")).wait_for()
    assert [badge(name) for name in ("part", "made.md", "gone.md")] == ["4 to review", "New", "Deleted"]
    assert window.page.get_by_role("treeitem", name=re.compile("^here.md")).count() == 0
    window.page.get_by_role("treeitem", name=re.compile("^part")).click()
    window.page.get_by_role("treeitem", name=re.compile("^one.md")).wait_for()
    assert [badge(name) for name in ("part", "one.md", "two.md", "there.md")] == [
        "",
        "2 to review",
        "1 to review",
        "Moved",
    ]


@pytest.mark.covers("RD-words-applied")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_what_was_written_at_once_is_shown_in_the_text_and_kept_or_undone(room: Room, view: str):
    path = f"applied-{view}.md"
    room.write(path, TALE)
    window = room.window(path, views={path: view})
    calls = [
        {"tool": "edit_text", "arguments": {"path": path, "old_text": old, "new_text": new}}
        for old, new in (("eleven", "twelve"), ("winds", "cleans"))
    ]
    room.server.post("/api/tools/batch", {"calls": calls}, mode="apply", author="Agent")
    banner = window.page.get_by_label("Applied changes")
    banner.get_by_text("AI changed 2 places here. The changes are saved.").wait_for()
    window.expect(lambda: window.bars.count() == 2)
    applied = TALE.replace("eleven", "twelve").replace("winds", "cleans")
    assert room.disk(path) == applied
    window.page.locator("ins", has_text="cleans").hover()
    shown(window).get_by_role("button", name=re.compile("^Undo")).click()
    window.expect(lambda: room.disk(path) == TALE.replace("eleven", "twelve"))
    window.expect(lambda: window.bars.count() == 1)
    assert serious(window.page) == []
    window.press(re.compile("^Keep"))
    window.expect(lambda: window.bars.count() == 0)
    banner.wait_for(state="detached")
    assert room.disk(path) == TALE.replace("eleven", "twelve")
