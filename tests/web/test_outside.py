"""Another program, seen in the app: its turns, and a notice where it met unsaved words; and what leaves the app."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.speaking.programs import another_program

if TYPE_CHECKING:
    from tests.web.conftest import Room

pytestmark = pytest.mark.slow
TEXT = "# The Lamp\n\nThe light was dark for eleven years.\n\nShe read the letter twice.\n"


@pytest.mark.covers("RD-outside-conflict", "RD-outside-turn")
def test_a_person_whose_unsaved_words_another_program_changes_is_told_sees_both_and_can_undo(room: Room) -> None:
    room.write("met.md", TEXT)
    window = room.window("met.md")
    page = window.page
    window.text.click()
    page.keyboard.press("Control+Home")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    for _ in "years.":
        page.keyboard.press("Backspace")
    page.keyboard.type("winters.")
    window.expect(lambda: "eleven winters." in room.working("met.md"))
    another_program("rename", room.folder / "met.md", TEXT.replace("years.", "days long."))
    notices = page.get_by_role("list", name="Notices")
    notices.get_by_text("Another program changed words in met.md").wait_for()
    # Theirs is on the disk, the person's words are in the text, and neither goes before the person has chosen.
    bar = page.get_by_role("group", name="Change 1 of 1")
    bar.get_by_role("button", name="Resolve").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Another program's").get_by_text("days long").wait_for()
    dialog.get_by_label("Yours").get_by_text("winters").wait_for()
    dialog.get_by_role("button", name="Later").click()
    window.text.click()
    page.keyboard.press("Control+s")
    page.get_by_text("choose yours or theirs first").first.wait_for()
    window.wrong[:] = [each for each in window.wrong if "409" not in each]  # the browser tells of the refusal too
    assert room.disk("met.md") == TEXT.replace("years.", "days long.")
    assert room.working("met.md") == TEXT.replace("years.", "winters.")
    page.get_by_role("button", name="History").first.click()
    turn = (
        page.get_by_role("list", name="Turns").get_by_role("button").filter(has_text="Another program changed met.md")
    )
    turn.get_by_label("another program").wait_for()
    turn.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("days long").first.wait_for()
    dialog.get_by_role("button", name="Undo this turn").click()
    window.expect(lambda: room.disk("met.md") == TEXT)
    window.expect(lambda: room.working("met.md") == TEXT.replace("years.", "winters."))
    notices.get_by_text("Another program changed words in met.md").wait_for(state="detached")


@pytest.mark.covers("RD-export-accepted", "RD-export-proposals")
def test_export_and_print_hold_what_is_accepted_and_say_so(room: Room) -> None:
    room.write("paper.md", TEXT)
    room.propose("paper.md", "eleven", "ninety")
    window = room.window("paper.md", views={"paper.md": "rich"})
    page = window.page
    page.get_by_role("button", name="Export or print").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Web page (HTML)").click()
        page.get_by_text("Exported the accepted text. 1 proposal is left out.").first.wait_for()
    assert "dark for eleven years" in waiting.value.path().read_text(encoding="utf-8")
    page.get_by_role("button", name="Export or print").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Web page with proposals marked").click()
    assert "<del>eleven</del><ins>ninety</ins>" in waiting.value.path().read_text(encoding="utf-8")

    def printed() -> str:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        text = re.sub(r"\s+", " ", page.locator("body").inner_text()).strip()
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        return text

    window.expect(lambda: printed() == "The Lamp The light was dark for eleven years. She read the letter twice.")
    page.get_by_text("This prints the accepted text. 1 proposal is left out.").first.wait_for()
    page.evaluate("() => { window.print = () => { window.sheet = document.querySelector('[data-paper]').innerHTML; } }")
    page.get_by_role("button", name="Export or print").click()
    page.get_by_role("menuitem", name="Print with proposals marked").click()
    window.expect(lambda: "<del>eleven</del><ins>ninety</ins>" in (page.evaluate("window.sheet ?? ''")))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("[data-paper]").count() == 0
