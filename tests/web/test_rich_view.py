"""The rich view in a real browser: one text in two views, and no byte changed but those of what was typed."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import begun
from tests.web.test_accessible import serious

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.web.conftest import Room, Window

pytestmark = pytest.mark.slow
STORY = """---
title: The Lamp
---

The Lamp
========

The lighthouse had been __dark__ for years.[^1]

<div class="note">
As it is.
</div>

*  one
*  two

She read the letter twice.

[^1]: Or twelve.
"""
BLOCKS = """[...(document.querySelector(".ProseMirror")?.children ?? [])]
  .filter(each => !each.matches("del") && !each.querySelector(":scope > [data-hunk]"))
  .map(each => {
    const copy = each.cloneNode(true);
    copy.querySelectorAll("del, .rich-caret").forEach(one => one.remove());
    return copy.textContent;
  })"""

# The cursor to the end of the first line, as a key moves it: the page is told with the next frame.
MOVE = """() => {
  const first = document.querySelector(".ProseMirror p").firstChild;
  getSelection().collapse(first, first.length);
}"""


def red_in(colour: str) -> bool:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return red > max(green, blue)


def green_in(colour: str) -> bool:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return green > max(red, blue)


def rich(room: Room, path: str, text: str = STORY, **state: str) -> Window:
    """A window that shows a new document in the rich view."""
    room.write(path, text)
    kept: dict[str, Any] = {"views": {path: "rich"}, **state}
    window = room.window(path, **kept)
    window.page.locator(".ProseMirror").wait_for()
    return window


def block(window: Window, words: str) -> Locator:
    return window.page.locator(".ProseMirror > *", has_text=words)


def go_to(window: Window, words: str, key: str = "End") -> None:
    """Put the cursor into the line of these words."""
    window.page.locator(".ProseMirror p, .ProseMirror h1", has_text=words).last.click()
    window.page.keyboard.press(key)


def shown(window: Window) -> list[str]:
    """The text of every block, without what the review shows as taken out."""
    return window.page.evaluate(BLOCKS)


def test_typing_in_the_rich_view_changes_the_bytes_of_its_block_alone(room: Room):
    window = rich(room, "typed.md")
    go_to(window, "lighthouse", "Home")
    window.type("Once ")
    go_to(window, "two")
    window.page.keyboard.press("Enter")
    window.type("three")
    window.page.keyboard.press("Control+s")
    wanted = STORY.replace("The lighthouse", "Once The lighthouse").replace("*  two\n", "*  two\n*  three\n")
    window.expect(lambda: room.disk("typed.md") == wanted)
    window.status("Saved")
    window.button("Source").click()
    window.expect(lambda: window.lines == wanted.split("\n"))


@pytest.mark.covers("RD-rich-novel")
def test_a_novel_of_one_and_a_half_megabytes_takes_typing_and_sends_what_changed_alone(room: Room):
    paragraph = "She read the letter twice, and\nwent up to the lamp again. " * 6
    novel = "\n".join(f"{paragraph}*Chapter* {number}.\n" for number in range(4500))
    assert len(novel) > 1_500_000
    window = rich(room, "novel.md", novel)
    sent: list[int] = []
    window.page.on("request", lambda each: sent.append(len(each.post_data or "")) if "/rich/" in each.url else None)
    window.page.locator(".ProseMirror > p").nth(3).click()
    window.page.keyboard.press("End")
    window.type(" Once")
    window.expect(lambda: " Once" in room.working("novel.md"))
    window.page.keyboard.press("Control+End")
    window.type(" More")
    window.page.keyboard.press("Control+s")
    window.expect(lambda: room.disk("novel.md").endswith(" 4499. More\n"))
    written = room.disk("novel.md")
    at = written.index(" Once")
    assert written[:at] + written[at + 5 :] == novel.removesuffix("\n") + " More\n"
    assert 0 < max(sent) < 20_000


def test_switching_keeps_the_cursor_and_takes_the_last_key_along(room: Room):
    window = rich(room, "cursor.md")
    go_to(window, "letter", "Home")
    for _ in range(3):
        window.page.keyboard.press("ArrowRight")
    window.type(" now")
    window.page.keyboard.press("Alt+r")
    window.page.locator(".cm-line", has_text="She now read the letter").wait_for()
    window.type(" and then")
    window.page.keyboard.press("Alt+r")
    window.page.locator(".ProseMirror p", has_text="She now and then read the letter").wait_for()
    window.type(",")
    window.expect(lambda: "She now and then, read the letter twice." in room.working("cursor.md"))


def test_an_agents_turn_arrives_while_typing_goes_on_and_undo_takes_back_the_persons_alone(room: Room):
    window = rich(room, "both.md")
    go_to(window, "letter")
    for number, word in enumerate(["Then ", "she ", "went ", "to ", "look."]):
        window.type((" " if number == 0 else "") + word)
        if number == 1:
            room.propose("both.md", "had been", "had stood")
        if number == 3:
            room.propose("both.md", "*  one", "*  one more")
    typed = "She read the letter twice. Then she went to look."
    proposed = STORY.replace("had been", "had stood").replace("*  one", "*  one more")
    wanted = proposed.replace("She read the letter twice.", typed)
    window.expect(lambda: room.working("both.md") == wanted)
    window.expect(lambda: typed in shown(window) and any("had stood" in each for each in shown(window)))
    window.expect(lambda: window.bars.count() == 2)
    for _ in range(8):
        window.page.keyboard.press("Control+z")
    window.expect(lambda: room.working("both.md") == proposed)
    window.expect(lambda: "She read the letter twice." in shown(window))
    window.type(" Again.")
    window.expect(lambda: "twice. Again." in room.working("both.md"))


@pytest.mark.parametrize("new", ["She went for", "She went to have", "They all left to"])
def test_a_blank_before_the_cursor_outlives_an_agents_change_to_the_words_before_it(room: Room, new: str):
    name = f"blank-{new[-4:].strip()}.md"
    window = rich(room, name)
    go_to(window, "letter")
    window.type(" She went to ")
    window.expect(lambda: "twice. She went to\n" in room.working(name))
    room.propose(name, "She went to", new)
    window.expect(lambda: any(new in each for each in shown(window)))
    window.type("look.")
    window.expect(lambda: f"{new} look." in room.working(name))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("She went to", "They left for", "They left for "),
        ("She went to", "She **went for**", "She **went for** "),
        ("She read the letter twice. She went to", "## They left for", "## They left for "),
        (
            "*  two\n\nShe read the letter twice. She went to",
            "*  three\n\nShe saw the letter. She left for",
            "left for ",
        ),
        ("dark__ for years.[^1]", "dark__ for an age.[^1]", "She went to "),
    ],
)
def test_a_blank_at_the_end_of_a_paragraph_outlives_an_agents_change_to_it_while_the_cursor_is_elsewhere(
    room: Room, old: str, new: str, line: str
):
    name = f"left-{len(old)}-{len(new)}.md"
    last_word = re.findall(r"\w+", line)[-1]
    window = rich(room, name)
    go_to(window, "letter")
    window.type(" She went to ")
    window.expect(lambda: "twice. She went to\n" in room.working(name))
    go_to(window, "lighthouse", "Home")
    room.propose(name, old, new)
    window.expect(lambda: window.bars.count() > 0 and any(last_word in each for each in shown(window)))
    window.page.locator(".ProseMirror > :is(p, h2)", has_text=last_word).last.click()
    window.page.keyboard.press("End")
    window.type("look.")
    window.expect(lambda: f"{line}look." in room.working(name))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "She read the letter twice. She went to\n\n[^1]: Or twelve.",
            "She left for\n\n[^1]: Or ten.",
            "She left for look.",
        ),
        ("*  one She went to\n*  two", "*  one She left for\n*  three", "*  one She left for look."),
        ("She read the letter twice. She went to", "## She left for", "## She left for look."),
    ],
)
def test_the_cursor_stays_in_its_paragraph_when_an_agent_changes_the_neighbours_too(
    room: Room, old: str, new: str, line: str
):
    name = f"neighbours-{line[0]}-{line.count(' ')}.md"
    window = rich(room, name)
    go_to(window, "one" if "one" in old else "letter")
    window.type(" She went to ")
    window.expect(lambda: "She went to\n" in room.working(name))
    room.propose(name, old, new)
    window.expect(lambda: any("She left for" in each for each in shown(window)))
    window.type("look.")
    window.expect(lambda: f"{line}\n" in room.working(name))


@pytest.mark.covers("ML-highlight-added", "ML-highlight-removed", "ML-highlight-clear")
def test_hunks_are_marked_accepted_and_rejected_in_the_rich_view(room: Room):
    window = rich(room, "review.md")
    room.propose("review.md", "had been", "had stood")
    room.propose("review.md", "She read the letter twice.\n\n", "")
    room.propose("review.md", "*  two\n", "*  two\n*  three\n")
    window.expect(lambda: window.bars.count() == 3)
    removed, added = window.page.locator("del"), window.page.locator("ins")
    assert removed.all_inner_texts() == ["been", "She read the letter twice."]
    assert added.all_inner_texts() == ["stood", "three"]
    style = "node => [getComputedStyle(node).textDecorationLine, getComputedStyle(node).backgroundColor]"
    for at in range(2):
        line, colour = removed.nth(at).evaluate(style)
        assert ("line-through" in line, red_in(colour)) == (True, True)
        line, colour = added.nth(at).evaluate(style)
        assert ("line-through" in line, green_in(colour)) == (False, True)
    window.press("Accept", 0)
    window.expect(lambda: room.disk("review.md") == STORY.replace("had been", "had stood"))
    window.expect(lambda: window.bars.count() == 2)
    assert added.all_inner_texts() == ["three"]  # the mark is gone, and the text as it was
    assert any("had stood" in each for each in shown(window))
    window.press("Reject", 1)
    window.expect(lambda: "She read the letter twice." in shown(window))
    window.expect(lambda: window.bars.count() == 1)
    go_to(window, "three")
    window.page.keyboard.press("Control+Enter")
    wanted = STORY.replace("had been", "had stood").replace("*  two\n", "*  two\n*  three\n")
    window.expect(lambda: room.disk("review.md") == wanted)


def test_a_killed_server_loses_nothing_that_was_typed_even_if_the_page_is_closed(room: Room):
    window = rich(room, "killed.md")
    go_to(window, "letter")
    window.type(" Before.")
    process = room.server.process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    window.type(" And after.")
    window.page.keyboard.press("Control+z")
    window.page.get_by_text("Try to undo when it is back").first.wait_for()  # and once more, for who cannot see it
    assert "She read the letter twice. Before. And after." in shown(window)
    window.page.goto("about:blank")
    room.server = begun(room.folder, "--port", str(room.server.port))
    window.page.goto(room.server.url)
    wanted = STORY.replace("letter twice.", "letter twice. Before. And after.")
    window.expect(lambda: room.working("killed.md") == wanted)
    window.expect(lambda: "She read the letter twice. Before. And after." in shown(window))
    go_to(window, "letter")
    window.type("!")
    window.expect(lambda: "And after.!" in room.working("killed.md"))


def test_what_was_typed_just_before_another_document_came_to_the_front_is_in_its_text(room: Room):
    room.write("next.md", "Next.\n")
    room.server.post("/api/tabs", {"path": "next.md"})
    link = "See [the log](http://127.0.0.1:9/log).\n"
    window = rich(room, "left.md", f"First.\n\n{link}\nLast.\n")
    go_to(window, "Last")
    window.type(" Typed.")
    window.page.get_by_role("tab", name="next.md").click()
    window.expect(lambda: "Last. Typed.\n" in room.working("left.md"))
    window.page.get_by_role("tab", name="left.md").click()
    window.expect(lambda: "Last. Typed." in shown(window))
    # A link in what was taken out does not lead away from the app.
    room.propose("left.md", f"{link}\n", "")
    with window.page.context.expect_page() as other:
        window.page.locator("del a", has_text="the log").click()
    other.value.close()
    assert "Last. Typed." in shown(window)


def test_what_was_typed_just_before_its_document_was_renamed_goes_along(room: Room):
    window = rich(room, "old-name.md", "First.\n\nLast.\n", side="files")
    go_to(window, "Last")
    window.type(" Typed.")
    window.page.get_by_role("treeitem", name="old-name.md").focus()
    window.page.keyboard.press("F2")
    window.page.get_by_label("Path").fill("new-name.md")
    window.page.keyboard.press("Enter")
    window.expect((room.folder / "new-name.md").exists)
    window.expect(lambda: "Last. Typed.\n" in room.working("new-name.md"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_rich_view_has_no_serious_barrier(room: Room, theme: str):
    path = f"{theme}-rich.md"
    text = (
        STORY
        + "\n- [ ] a task\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```python\nx = 1\n```\n\n![far](https://x.test/y.png)\n"
    )
    window = rich(room, path, text, theme=theme)
    room.propose(path, "had been", "had stood")
    window.bars.first.wait_for()
    assert serious(window.page) == []


def test_a_key_is_taken_where_the_cursor_went_however_busy_the_page_is(room: Room):
    window = rich(room, "prompt.md", "First.\n\nLast.\n")
    go_to(window, "Last.", "Home")
    enter = "{key: 'Enter', keyCode: 13, bubbles: true, cancelable: true}"
    window.page.evaluate(f"""() => {{
      ({MOVE})();
      document.querySelector(".ProseMirror").dispatchEvent(new KeyboardEvent("keydown", {enter}));
    }}""")
    window.page.keyboard.type("New.")
    window.expect(lambda: room.working(window.path) == "First.\n\nNew.\n\nLast.\n")


def test_a_change_that_arrives_leaves_the_cursor_where_it_just_went(room: Room):
    window = rich(room, "arrives.md", "First.\n\nLast.\n")
    go_to(window, "Last.", "Home")
    window.page.evaluate(f"""() => {{
      const read = Response.prototype.json;
      Response.prototype.json = async function () {{
        const found = await read.call(this);
        if (this.url.endsWith("/rich/parse")) ({MOVE})();
        return found;
      }};
    }}""")
    room.write("arrives.md", "First.\n\nLast.\n\nFrom elsewhere.\n")
    block(window, "From elsewhere.").wait_for()
    window.page.keyboard.type(" Here.")
    window.expect(lambda: room.working(window.path) == "First. Here.\n\nLast.\n\nFrom elsewhere.\n")
