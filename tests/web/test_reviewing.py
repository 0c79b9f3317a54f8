"""The review in a real browser: every change of an agent's is seen in the text, and decided there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.web.conftest import Room, Window

pytestmark = pytest.mark.slow
FOCUSED = "document.activeElement.closest('[data-hunk]')?.ariaLabel"
# Press a key on the bar that has the focus; whose button has it when the page has done what it does at once.
DECIDE = """key => {
  const pressed = {key, ctrlKey: key === "Enter", bubbles: true, cancelable: true};
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", pressed));
  return document.activeElement.ariaLabel;
}"""
TOP = "line => Math.round(line.getBoundingClientRect().top)"
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
@pytest.mark.covers(
    "TK-review-accept-reject", "SB-state-reject-original", "SB-review-staged-shown", "SB-state-proposal-at-once"
)
def test_a_hunk_is_accepted_another_rejected_and_the_reject_undone(room: Room):
    window = proposed(room, "mouse.md")
    window.page.get_by_text("AI changed 3 places here (+2 −2 lines)").wait_for()
    assert window.page.locator("del").all_inner_texts() == ["eleven", "She read the letter twice.\n"]
    assert window.page.locator("ins").all_inner_texts() == ["twelve", "They were gone."]
    labels = [window.bars.nth(at).get_by_role("button", name="Accept").get_attribute("aria-label") for at in range(3)]
    assert labels == [
        'Accept: "eleven" → "twelve"',
        'Accept: delete "She read the letter twice."',
        'Accept: add "They were gone."',
    ]
    red, green, _ = colour(window, "del")
    assert red > green
    red, green, _ = colour(window, "ins")
    assert green > red
    assert window.bars.nth(0).get_by_text("AI", exact=True).count() == 1
    window.press("Accept", 0)
    window.expect(lambda: room.disk("mouse.md") == STORY.replace("eleven", "twelve"))
    window.page.get_by_text("AI changed 2 places here").wait_for()
    window.expect(lambda: "The lighthouse had been dark for twelve years." in window.lines)
    window.press("Reject", 0)
    window.expect(lambda: "letter twice" in room.working("mouse.md"))
    window.page.get_by_text("AI changed 1 place here").wait_for()
    window.button("Undo").click()
    window.page.get_by_text("AI changed 2 places here").wait_for()
    window.expect(lambda: window.bars.count() == 2)
    assert "letter twice" not in room.working("mouse.md")
    footer = window.page.get_by_label("Changes in this document")
    assert footer.get_by_role("button").all_inner_texts() == ["", "View", "Reject all", "Accept all"]
    footer.get_by_role("button", name="Reject all").click()
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


@pytest.mark.parametrize("view", ["source", "rich"])
def test_whoever_decides_by_keys_is_at_the_next_change_at_once_and_stays_there(room: Room, view: str):
    """At once, or the next key would be typed into the text; and also when the server has answered."""
    path = f"onward-{view}.md"
    room.write(path, STORY)
    for old, new in (("eleven", "twelve"), ("the letter", "her letter"), ("the keys", "her keys")):
        room.propose(path, old, new)
    window = room.window(path, views={path: view})
    window.expect(lambda: window.bars.count() == 3)
    window.bars.nth(0).get_by_role("button", name="Accept").focus()
    for left, key in ((2, "Escape"), (1, "Control+Enter")):
        words = window.page.evaluate(DECIDE, key.rpartition("+")[2])
        assert words == 'Accept: "the" → "her"'
        window.expect(lambda left=left: window.page.evaluate(FOCUSED) == f"Change 1 of {left}")
        title = {"Escape": "Reject", "Control+Enter": "Accept"}[key]
        window.expect(lambda title=title: room.server.get("/api/turns")["turns"][0]["title"].startswith(title))
        window.page.wait_for_timeout(500)  # in which the bars could be drawn anew
        assert window.page.evaluate(FOCUSED) == f"Change 1 of {left}"
    assert room.working(path) == STORY.replace("the letter", "her letter").replace("the keys", "her keys")


@pytest.mark.covers("SB-state-editor-undo")
@pytest.mark.covers("SB-manual-joins", "SB-manual-one-mechanism")
def test_what_the_person_types_during_a_review_is_theirs(room: Room):
    window = proposed(room, "theirs.md")
    window.page.locator(".cm-line", has_text="The lighthouse").click()
    window.page.keyboard.press("Home")
    window.type("Now and then: ")  # beside a hunk of the agent's
    for _ in "The lighthouse had been dark for twe":
        window.page.keyboard.press("ArrowRight")
    window.type("XX")  # inside its word
    window.expect(lambda: "Now and then: The lighthouse had been dark for tweXXlve years." in room.working("theirs.md"))
    window.go_to_end()
    window.page.wait_for_timeout(600)  # what is typed without a pause is undone as one
    window.type("By mistake.")
    window.expect(lambda: room.working("theirs.md").endswith("By mistake."))
    window.page.keyboard.press("Control+z")
    window.expect(lambda: room.working("theirs.md").endswith("They were gone.\n"))
    window.expect(lambda: window.bars.count() == 3)
    window.type("The end.")  # elsewhere
    window.expect(lambda: room.working("theirs.md").endswith("They were gone.\nThe end."))
    window.bars.nth(0).get_by_text("AI and you").wait_for()
    window.page.get_by_label("Changes in this document").get_by_role("button", name="Reject all").click()
    wanted = STORY.replace("The lighthouse", "Now and then: The lighthouse").replace("eleven", "elevenXX") + "The end."
    window.expect(lambda: room.working("theirs.md") == wanted)
    assert room.disk("theirs.md") == STORY


@pytest.mark.covers("RD-conflict-sides", "ML-err-ask")
def test_a_conflict_is_settled_with_a_text_of_the_persons_own(room: Room):
    room.write("conflict.md", STORY)
    room.propose("conflict.md", "eleven years", "twelve years")
    room.write("conflict.md", STORY.replace("eleven years", "nine winters"))
    window = room.window("conflict.md")
    window.press("Resolve…")
    dialog = window.page.get_by_role("dialog")
    assert "nine" in dialog.get_by_role("region", name="Another program's", exact=True).inner_text()
    assert "twelve" in dialog.get_by_role("region", name="Agent's", exact=True).inner_text()
    assert "eleven" in dialog.get_by_role("region", name="Before", exact=True).inner_text()
    dialog.get_by_label("Resolved text").fill("ten")
    dialog.get_by_role("button", name="Use this text").click()
    wanted = STORY.replace("eleven years", "ten winters")  # the agent did not touch the other word
    window.expect(lambda: room.disk("conflict.md") == wanted)
    window.expect(lambda: window.bars.count() == 0)


@pytest.mark.covers("RD-conflict-outside")
@pytest.mark.parametrize(
    ("button", "left"),
    [("Keep mine", "ninety"), ("Use yours", "ninety"), ("Use the other program's", "twenty")],
)
def test_a_conflict_with_another_program_is_settled_in_the_app_for_either_side(room: Room, button: str, left: str):
    name = f"outside-{button.partition(' ')[2][:4]}.md"
    room.write(name, STORY)
    window = room.window(name)
    tab = room.server.post("/api/tabs", {"path": name})["tab_id"]
    room.server.post(f"/api/tabs/{tab}/type", {"content": STORY.replace("eleven", "ninety")})
    room.write(name, STORY.replace("eleven", "twenty"))
    window.bars.get_by_text("Conflict", exact=True).wait_for()
    if button == "Keep mine":
        window.press(button)
    else:
        window.press("Resolve…")
        dialog = window.page.get_by_role("dialog")
        assert "twenty" in dialog.get_by_role("region", name="Another program's", exact=True).inner_text()
        assert "ninety" in dialog.get_by_role("region", name="Yours", exact=True).inner_text()
        dialog.get_by_role("button", name=button, exact=True).click()
    window.expect(lambda: window.bars.count() == 0)
    window.expect(lambda: room.disk(name) == room.working(name) == STORY.replace("eleven", left))


@pytest.mark.covers("RD-bar-names")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_bars_of_one_line_are_told_apart_by_the_words_that_they_decide(room: Room, view: str):
    name = f"one-line-{view}.md"
    hostile = "\u202e<img src=x onerror=alert(1)> " + "very " * 20 + "long"
    room.write(name, "One six two nine three ten four.\n")
    for old, new in (("six", "seven"), (" nine", ""), ("ten", hostile)):
        room.propose(name, old, new)
    window = room.window(name, views={name: view})
    window.expect(lambda: window.bars.count() == 3)
    names = [window.bars.nth(at).get_by_role("button", name="Accept").get_attribute("aria-label") for at in range(3)]
    assert names[:2] == ['Accept: "six" → "seven"', 'Accept: delete "nine"']
    assert names[2] == 'Accept: "ten" → "<img src=x onerror=alert(1)> very very …"'
    window.press('Reject: "six" → "seven"')
    window.press('Accept: delete "nine"')
    window.expect(lambda: room.disk(name) == "One six two three ten four.\n")
    window.expect(lambda: window.bars.count() == 1)
    room.server.post("/api/review/reject", {"all": True})  # other tests count what waits in the folder


@pytest.mark.covers("TK-multi-tabs", "TK-multi-buttons", "TK-multi-whole-turn", "TK-multi-accept", "TK-multi-reject")
@pytest.mark.covers("TK-timing-commit", "TK-version-reject-same")
def test_a_turn_over_two_documents_is_decided_as_a_whole(room: Room):
    """A character is renamed in a story and in the notes about it, as the specification has it."""
    old = {"story.md": "The character John walked in.\n", "character_notes.md": "John: tall, and late.\n"}
    new = {path: text.replace("John", "James") for path, text in old.items()}
    for path, text in old.items():
        room.write(path, text)
    calls = [
        {"tool": "edit_text", "arguments": {"path": path, "old_text": "John", "new_text": "James"}} for path in old
    ]
    room.server.post("/api/settings", {"review": "turn"}, method="PUT")
    window = room.window("story.md")
    summary = window.page.get_by_label("Changes to review")
    before = {path: room.server.get("/api/documents", path=path)["version"] for path in old}
    after = before
    for act, wanted in (("Reject", old), ("Accept", new)):
        room.server.post("/api/tools/batch", {"calls": calls}, mode="propose", author="Agent")
        summary.get_by_role("button", name="2 changes by AI in 2 documents to review").click()
        for path in old:
            summary.get_by_role("button", name=f"Show changes in {path}").click()
            told = " ".join(summary.get_by_role("region", name=f"Changes in {path}").inner_text().split())
            assert told == "1 − John 1 + James"
            assert [summary.get_by_role("button", name=f"{one} {path}").count() for one in ("Accept", "Reject")] == [
                0,
                0,
            ]
        assert {path: room.disk(path) for path in old} == old
        summary.get_by_role("button", name=f"{act} all").click()
        summary.wait_for(state="detached")
        assert {path: room.disk(path) for path in old} == wanted
        assert {path: room.working(path) for path in old} == wanted
        after = {path: room.server.get("/api/documents", path=path)["version"] for path in old}
        assert (after == before) is (act == "Reject")
    window.expect(lambda: window.lines[0] == "The character James walked in.")
    assert all(after[path] != before[path] for path in old)
    room.server.post("/api/settings", {"review": "hunk"}, method="PUT")


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
    window = room.window("plain.md", side="files")
    window.page.get_by_role("treeitem", name=re.compile("^plain.md")).get_by_text("1 to review", exact=True).wait_for()
    window.page.get_by_label("Changes in this document").get_by_text("AI changed 1 place here").wait_for()
    summary = window.page.get_by_label("Changes to review")
    summary.get_by_role("button", name="4 changes by AI in 4 documents to review").click()
    rows = [row.split("\n")[0] for row in summary.get_by_role("listitem").all_inner_texts()]
    assert rows == ["New", "Changed", "Moved", "Deleted"]
    assert [summary.get_by_role("button", name=f"{act} all").count() for act in ("Accept", "Reject")] == [1, 1]
    for path, marks in {
        "made.md": ["+ New."],
        "plain.md": ["− eleven", "+ twelve"],
        "old.md": ["− # The Lamp"],
    }.items():
        summary.get_by_role("button", name=f"Show changes in {path}").click()
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
    # What was changed stands at one height on both sides, marked: red where it was, green where it is.
    for side, text, other in (("a", "eleven", "twelve"), ("b", "twelve", "eleven")):
        mark = window.page.locator(f".cm-merge-{side} .cm-changedLine", has_text=f"dark for {text}")
        twin = window.page.locator(f".cm-merge-{'b' if side == 'a' else 'a'} .cm-changedLine", has_text=other)
        window.expect(lambda mark=mark, twin=twin: mark.evaluate(TOP) == twin.evaluate(TOP))
        shade: str = mark.evaluate("line => getComputedStyle(line).backgroundColor")
        assert shade == {"a": "rgb(251, 230, 227)", "b": "rgb(226, 243, 229)"}[side]
    left, right = (
        window.page.get_by_role("textbox", name=name).bounding_box()
        for name in ("sides.md, as accepted", "Text of sides.md")
    )
    assert left is not None
    assert right is not None
    assert left["x"] < right["x"]
    window.page.reload()
    accepted.first.wait_for()
    window.text.click()
    window.page.keyboard.press("Control+Home")
    window.type("Typed here.")
    window.expect(lambda: room.working("sides.md").startswith("Typed here."))
    window.page.get_by_label("Changes in this document").get_by_role("button", name="Accept all").click()
    window.expect(lambda: "They were gone." in room.disk("sides.md"))
    assert "Typed here." not in room.disk("sides.md")


def propose_deletion(room: Room, path: str) -> None:
    room.server.post("/api/tools/delete_document", {"path": path}, mode="propose", author="Agent", agree="true")


@pytest.mark.parametrize("view", ["source", "rich"])
def test_a_document_that_is_to_be_deleted_stays_open_until_the_person_agrees(room: Room, view: str):
    path = f"leaving-{view}.md"
    room.write(path, STORY)
    window = room.window(path, views={path: view})
    window.go_to_end()
    window.type("Typed before. ")
    window.expect(lambda: "Typed before." in room.working(path))
    propose_deletion(room, path)
    bar = window.page.get_by_label("Proposed deletion")
    bar.get_by_text("AI proposes to move this document to the trash").wait_for()
    window.type("Typed meanwhile.")
    window.expect(lambda: "Typed before. Typed meanwhile." in room.working(path))
    bar.get_by_role("button", name="Reject", exact=True).click()
    bar.wait_for(state="detached")
    window.page.get_by_text(re.compile("^Rejected: ")).first.wait_for()  # the bar goes before it is carried out
    window.type(" And after.")
    window.expect(lambda: "Typed meanwhile. And after." in room.working(path))
    assert room.disk(path) == STORY
    propose_deletion(room, path)
    bar.get_by_role("button", name="Accept", exact=True).click()
    window.page.get_by_text(f"Moved {path} to the trash.", exact=True).wait_for()
    window.page.get_by_role("tab", name=path).wait_for(state="detached")
    assert not (room.folder / path).exists()
    room.server.post("/api/trash/restore", {"path": path})
    assert "Typed before. Typed meanwhile. And after." in room.working(path)
    assert room.disk(path) == STORY


def test_a_document_that_is_to_be_moved_is_typed_into_meanwhile_and_stays_when_that_is_refused(room: Room):
    room.write("here.md", STORY)
    window = room.window("here.md")
    arguments = {"path": "here.md", "new_path": "there.md"}
    room.server.post("/api/tools/move_document", arguments, mode="propose", author="Agent")
    window.path = "there.md"
    window.go_to_end()
    window.type("Typed meanwhile.")
    window.expect(lambda: "Typed meanwhile." in room.working("there.md"))
    window.page.get_by_label("Changes in this document").get_by_role("button", name="Reject all").click()
    window.path = "here.md"
    window.go_to_end()
    window.type(" And after.")
    window.expect(lambda: "Typed meanwhile. And after." in room.working("here.md"))
    assert room.disk("here.md") == STORY


@pytest.mark.parametrize("button", ["Keep mine", "Remove mine"])
def test_words_typed_over_an_agents_that_a_reject_leaves_beside_the_old_ones_are_shown_as_a_conflict(
    room: Room, button: str
):
    path = f"retyped-{button[0]}.md"
    room.write(path, "cat sat here.\n")
    room.propose(path, "cat", "dog")
    window = room.window(path)
    window.bars.get_by_role("button", name="Reject").wait_for()
    window.text.click()
    window.page.keyboard.press("Control+Home")
    for _ in "dog":
        window.page.keyboard.press("Shift+ArrowRight")
    window.type("hound")
    window.expect(lambda: room.working(path) == "hound sat here.\n")
    window.press("Reject")
    window.expect(lambda: {"cat", "hound"} <= set(re.findall("cat|hound", room.working(path))))
    both = room.working(path)
    window.bars.get_by_text("Conflict", exact=True).wait_for()
    window.press("Resolve…")
    window.page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
    window.bars.wait_for(state="detached")
    window.expect(lambda: room.working(path) == (both if button == "Keep mine" else "cat sat here.\n"))


def test_who_saves_over_a_conflict_is_led_to_it(room: Room):
    path = "led.txt"
    room.write(path, "100\n\nThe end.\n")
    window = room.window(path)
    window.text.click()
    window.page.keyboard.press("Control+Home")
    window.page.keyboard.press("Shift+End")
    window.type("250")
    window.expect(lambda: room.working(path).startswith("250\n"))
    room.write(path, "180\n\nThe end.\n")
    window.bars.get_by_role("button", name="Resolve…").wait_for()
    window.go_to_end()
    window.page.keyboard.press("Control+s")
    window.page.get_by_text("choose yours or theirs first").first.wait_for()
    window.button("Go to the conflict").click()
    window.expect(lambda: window.page.get_by_title("Line and column").inner_text().startswith("1:"))
    window.wrong[:] = [each for each in window.wrong if "409" not in each]  # the browser tells of the refusal too


@pytest.mark.covers("RD-labels")
def test_what_to_look_at_first_is_labelled_and_found(room: Room):
    room.write("first.md", STORY.replace("eleven", "11"))
    room.propose("first.md", "The lighthouse", "This lighthouse")
    room.propose("first.md", "11 years", "12 years")
    window = room.window("first.md")
    window.expect(lambda: window.bars.count() == 2)
    assert window.bars.nth(0).get_by_text("number changed").count() == 0
    assert window.bars.nth(1).get_by_text("number changed").count() == 1
    window.button("Check 1 first").click()
    window.expect(lambda: window.page.evaluate("getSelection().anchorNode.textContent") in ("12", "11"))
