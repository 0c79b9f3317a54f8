"""The review in a real browser: every change of an agent's is seen in the text, and decided there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from web.conftest import Room, Window

pytestmark = pytest.mark.slow
FOCUSED = "document.activeElement.closest('[data-hunk]')?.ariaLabel"
STORY = """# The Lamp

The lighthouse had been dark for eleven years.

She read the letter twice.

Then she went to look for the keys.
"""


def proposed(room: Room, path: str) -> Window:
    """A window on a document in which three places wait for a decision."""
    room.write(path, STORY)
    room.propose(path, "eleven years", "twelve years")
    room.propose(path, "She read the letter twice.\n\n", "")
    room.propose(path, "the keys.", "the keys.\n\nThey were gone.")
    window = room.window(path)
    window.expect(lambda: window.bars.count() == 3)
    return window


@pytest.mark.covers(
    "ML-diffsys-inline",
    "ML-ui-inline-diff",
    "ML-ui-diff-footer",
    "SB-ui-hunks",
    "TK-review-buttons",
    "TK-review-colours",
    "TK-timing-commit",
)
def test_a_hunk_is_accepted_another_rejected_and_the_reject_undone(room: Room):
    window = proposed(room, "mouse.md")
    window.page.get_by_text("AI changed 3 places here").wait_for()
    assert window.page.locator("del").all_inner_texts()[:1] == ["eleven"]
    assert "twelve" in window.page.locator("ins").all_inner_texts()
    red, green, _ = colour(window, "del")
    assert red > green
    red, green, _ = colour(window, "ins")
    assert green > red
    assert window.bars.nth(0).get_by_text("AI", exact=True).count() == 1
    window.bars.nth(0).get_by_role("button", name="Accept").click()
    window.expect(lambda: room.disk("mouse.md") == STORY.replace("eleven", "twelve"))
    window.page.get_by_text("AI changed 2 places here").wait_for()
    window.expect(lambda: "The lighthouse had been dark for twelve years." in window.lines)
    window.bars.nth(0).get_by_role("button", name="Reject").click()
    window.expect(lambda: "letter twice" in room.working("mouse.md"))
    window.page.get_by_text("AI changed 1 place here").wait_for()
    window.button("Undo").click()
    window.page.get_by_text("AI changed 2 places here").wait_for()
    window.expect(lambda: window.bars.count() == 2)
    assert "letter twice" not in room.working("mouse.md")
    window.page.get_by_label("Changes in this document").get_by_role("button", name="Undo all").click()
    window.expect(lambda: room.working("mouse.md") == STORY.replace("eleven", "twelve"))
    window.expect(lambda: window.bars.count() == 0)


def colour(window: Window, tag: str) -> list[int]:
    """The colour behind a word: red, green and blue."""
    found: str = window.page.locator(tag).first.evaluate("word => getComputedStyle(word).backgroundColor")
    return [int(part) for part in re.findall(r"\d+", found)[:3]]


@pytest.mark.covers("ML-adv-key-accept", "ML-adv-key-reject")
def test_hunks_are_decided_by_keys(room: Room):
    window = proposed(room, "keys.md")
    keyboard = window.page.keyboard
    window.text.click()
    keyboard.press("Control+Home")
    keyboard.press("Alt+j")
    keyboard.press("Control+Enter")
    window.expect(lambda: "twelve" in room.disk("keys.md"))
    window.expect(lambda: window.bars.count() == 2)
    window.bars.nth(0).get_by_role("button", name="Accept").focus()
    keyboard.press("j")
    window.expect(lambda: window.page.evaluate(FOCUSED) == "Change 2 of 2")
    keyboard.press("k")
    window.expect(lambda: window.page.evaluate(FOCUSED) == "Change 1 of 2")
    keyboard.press("Escape")
    window.expect(lambda: "letter twice" in room.working("keys.md"))


@pytest.mark.covers("SB-state-editor-undo")
def test_what_the_person_types_during_a_review_is_theirs(room: Room):
    window = proposed(room, "theirs.md")
    window.page.locator(".cm-line", has_text="The lighthouse").click()
    window.page.keyboard.press("Home")
    window.type("Now and then: ")  # inside a hunk of the agent's
    window.go_to_end()
    window.page.wait_for_timeout(600)  # what is typed without a pause is undone as one
    window.type("By mistake.")
    window.expect(lambda: room.working("theirs.md").endswith("By mistake."))
    window.page.keyboard.press("Control+z")
    window.expect(lambda: room.working("theirs.md").endswith("They were gone.\n"))
    assert window.bars.count() == 3
    window.type("The end.")  # elsewhere
    window.expect(lambda: room.working("theirs.md").endswith("They were gone.\nThe end."))
    window.bars.nth(0).get_by_text("AI and you").wait_for()
    window.page.get_by_label("Changes in this document").get_by_role("button", name="Undo all").click()
    wanted = STORY.replace("The lighthouse", "Now and then: The lighthouse") + "The end."
    window.expect(lambda: room.working("theirs.md") == wanted)
    assert room.disk("theirs.md") == STORY


def test_a_conflict_is_settled_with_a_text_of_the_persons_own(room: Room):
    room.write("conflict.md", STORY)
    room.propose("conflict.md", "eleven years", "twelve years")
    room.write("conflict.md", STORY.replace("eleven years", "nine winters"))
    window = room.window("conflict.md")
    window.bars.get_by_role("button", name="Settle…").click()
    dialog = window.page.get_by_role("dialog")
    assert "nine winters" in dialog.get_by_label("Yours").inner_text()
    assert "twelve" in dialog.get_by_label("The agent's").inner_text()
    dialog.get_by_label("What shall stand here").fill("The lighthouse had been dark for ten years.")
    dialog.get_by_role("button", name="Use this text").click()
    wanted = STORY.replace("eleven", "ten")
    window.expect(lambda: room.disk("conflict.md") == wanted)
    window.expect(lambda: window.bars.count() == 0)


@pytest.mark.covers(
    "ML-banner-kinds",
    "ML-banner-open",
    "ML-banner-shown",
    "ML-diffsys-summary",
    "ML-ui-changed-badge",
    "TK-multi-buttons",
    "TK-multi-tabs",
)
def test_whole_documents_are_decided_from_the_summary(room: Room):
    room.write("old.md", STORY)
    room.write("plain.md", STORY)
    call = {"mode": "propose", "author": "Agent"}
    room.server.post("/api/tools/create_document", {"title": "made.md", "content": "New.\n"}, **call)
    room.server.post("/api/tools/delete_document", {"path": "old.md"}, agree=True, **call)
    room.write("here.md", STORY)
    room.server.post("/api/tools/move_document", {"path": "here.md", "destination": "there.md"}, **call)
    room.propose("plain.md", "eleven", "twelve")
    window = room.window("plain.md")
    summary = window.page.get_by_label("Changes that wait for you")
    summary.get_by_role("button", name="4 changes by AI in 4 documents for you to decide").click()
    rows = [row.split("\n")[0] for row in summary.get_by_role("listitem").all_inner_texts()]
    assert rows == ["New", "Changed", "Moved", "Deleted"]
    assert [summary.get_by_role("button", name=f"{act} all").count() for act in ("Accept", "Reject")] == [1, 1]
    for path, marks in {
        "made.md": ["+ New."],
        "plain.md": ["− eleven", "+ twelve"],
        "old.md": ["− # The Lamp"],
    }.items():
        summary.get_by_role("button", name=f"Show what changes in {path}").click()
        told = " ".join(summary.get_by_role("region", name=f"Changes in {path}").inner_text().split())
        assert all(re.search(rf"{re.escape(mark[0])}.*{re.escape(mark[2:])}", told) for mark in marks), told
    summary.get_by_role("button", name="made.md", exact=True).click()
    window.page.get_by_text("AI created this document").wait_for()
    summary.get_by_role("button", name="plain.md", exact=True).click()
    window.bars.first.wait_for()
    for decision in ("Reject there.md", "Accept plain.md"):
        summary.get_by_role("button", name=decision, exact=True).click()
    summary.get_by_text("2 changes by AI in 2 documents").wait_for()
    summary.get_by_role("button", name="Accept made.md").click()
    window.expect((room.folder / "made.md").exists)
    summary.get_by_role("button", name="Reject old.md").click()
    summary.wait_for(state="detached")
    assert room.disk("old.md") == STORY
    assert room.disk("made.md") == "New.\n"


@pytest.mark.covers("ML-diffsys-side", "ML-store-diff-mode")
def test_side_by_side_the_right_side_is_live(room: Room):
    window = proposed(room, "sides.md")
    window.page.get_by_role("button", name="Compare side by side").click()
    accepted = window.page.get_by_role("textbox", name="sides.md, as accepted").locator(".cm-line")
    window.expect(lambda: [line.strip() for line in accepted.all_inner_texts()] == STORY.split("\n"))
    window.page.reload()
    accepted.first.wait_for()
    window.text.click()
    window.page.keyboard.press("Control+Home")
    window.type("Typed here.")
    window.expect(lambda: room.working("sides.md").startswith("Typed here."))
    window.page.get_by_label("Changes in this document").get_by_role("button", name="Accept all").click()
    window.expect(lambda: "They were gone." in room.disk("sides.md"))
    assert "Typed here." not in room.disk("sides.md")
