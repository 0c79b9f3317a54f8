"""The window around the documents: the tree, the tabs, the search, the palette; all of it by keys, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from tests.web.conftest import Room

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nThe lighthouse had been dark for eleven years.\n"


def test_a_document_is_created_renamed_and_brought_back_from_the_trash(room: Room):
    room.write("begin.md", STORY)
    page = room.window("begin.md", side="files").page
    page.get_by_role("button", name="New document").click()
    page.get_by_label("Name").fill("drafts/fresh")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="fresh.md").wait_for()
    assert room.disk("drafts/fresh.md") == ""
    page.get_by_role("treeitem", name="drafts").click()
    page.get_by_role("treeitem", name="fresh.md").focus()
    page.keyboard.press("F2")
    page.get_by_label("Path").fill("drafts/old.md")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="old.md").wait_for()
    page.get_by_role("treeitem", name="old.md").focus()
    page.keyboard.press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Move to trash").click()
    page.get_by_role("tab", name="old.md").wait_for(state="detached")
    assert not (room.folder / "drafts" / "old.md").exists()
    # The toast of the renaming offers an undo as well, and may still be the only one.
    page.locator("li").filter(has_text="to the trash").get_by_role("button", name="Undo").click()
    page.get_by_role("treeitem", name="old.md").wait_for()
    assert room.disk("drafts/old.md") == ""


def test_a_name_that_is_taken_is_refused_in_words(room: Room):
    room.write("taken.md", STORY)
    room.write("mover.md", "x\n")
    page = room.window("mover.md", side="files").page
    page.get_by_role("treeitem", name="mover.md").focus()
    page.keyboard.press("F2")
    page.get_by_label("Path").fill("taken.md")
    page.keyboard.press("Enter")
    page.get_by_text("taken.md", exact=False).filter(has_text="already exists").first.wait_for()
    assert (room.disk("taken.md"), room.disk("mover.md")) == (STORY, "x\n")
    room.opened[-1].wrong.clear()  # the browser itself notes every answer of 409


def test_of_two_documents_the_one_that_was_chosen_last_is_shown_whichever_comes_first(room: Room):
    for name in ("begin.md", "slow.md", "quick.md"):
        room.write(name, STORY)
    window = room.window("begin.md", side="files")
    page = window.page
    held: list[Route] = []

    def hold_slow(route: Route) -> None:
        held.append(route) if "slow.md" in (route.request.post_data or "") else route.continue_()

    page.route("**/api/tabs", hold_slow)
    page.get_by_role("treeitem", name="slow.md").click()
    window.expect(lambda: len(held) == 1)
    page.get_by_role("treeitem", name="quick.md").click()
    page.get_by_role("tab", name="quick.md", selected=True).wait_for()
    held[0].continue_()
    window.expect(lambda: "slow.md" in page.evaluate("JSON.parse(localStorage.redraft).state.order"))
    assert page.get_by_role("tab", name="quick.md", selected=True).count() == 1


@pytest.mark.covers("SB-state-dirty-close")
def test_closing_a_document_that_is_not_saved_asks_first(room: Room):
    room.write("asks.md", STORY)
    window = room.window("asks.md")
    window.go_to_end()
    window.type("More.")
    window.status("Unsaved")
    window.page.keyboard.press("Alt+w")
    window.button("Cancel").click()
    assert window.page.get_by_role("tab", name="asks.md").count() == 1
    window.page.keyboard.press("Alt+w")
    window.button("Save and close").click()
    window.page.get_by_role("tab", name="asks.md").wait_for(state="detached")
    assert room.disk("asks.md") == STORY + "More."
    window.wrong.clear()  # as above


def test_what_the_search_finds_is_gone_to_and_replaced_as_one_turn(room: Room):
    room.write("one.md", "A kettle.\nThe kettle sang.\n")
    room.write("two.md", "No Kettle here, and no kettles.\n")
    window = room.window("one.md")
    page = window.page
    page.keyboard.press("Control+Shift+f")
    page.get_by_label("Search all documents").fill("kettle")
    page.get_by_text("3 lines in 2 documents").wait_for()
    page.get_by_label("Whole words").click()
    page.get_by_label("Match case").click()
    page.get_by_text("2 lines in 1 document").wait_for()
    page.get_by_role("button", name="The kettle sang").click()
    window.status("2:11")
    page.get_by_label("Replace with").fill("teapot")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("dialog").locator("ins").first.wait_for()
    assert page.get_by_role("dialog").locator("ins").all_inner_texts() == ["A teapot.", "The teapot sang."]
    page.get_by_role("button", name="Replace 2").click()
    window.expect(lambda: room.disk("one.md") == "A teapot.\nThe teapot sang.\n")
    assert room.server.get("/api/turns")["turns"][0]["author"]["kind"] == "person"
    assert room.disk("two.md") == "No Kettle here, and no kettles.\n"


def test_a_passage_is_found_by_its_meaning_in_another_document(room: Room):
    room.write("harbour.md", "# Harbour\n\nThe ferry left the quay at dawn.\n")
    room.write("kitchen.md", "# Kitchen\n\nShe kneaded the dough for bread.\n")
    page = room.window("kitchen.md").page
    page.keyboard.press("Control+Shift+f")
    page.get_by_role("button", name="Meaning", exact=True).click()
    page.get_by_text("Describe a passage in your own words").wait_for()
    page.get_by_label("Files to include").fill("*r*.md")
    page.get_by_label("Search all documents").fill("a boat sails away")
    page.get_by_role("button", name="The ferry left the quay").click()
    page.get_by_role("textbox", name="Text of harbour.md").wait_for()
    assert page.get_by_role("button", name="She kneaded the dough").count() == 0


def test_a_document_begins_with_a_template_of_ones_own_and_by_a_macro(room: Room):
    (room.folder / "templates").mkdir()
    room.write("templates/letter.md", "Dear {{title}},\n")
    room.write("begun.md", STORY)
    window = room.window("begun.md", agentOpen=True, agentMode="apply")
    page = window.page
    page.keyboard.press("Alt+n")
    page.get_by_label("Name").fill("Marta")
    page.get_by_label("Template").select_option(label="letter")
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Text of Marta.md").wait_for()
    assert room.disk("Marta.md") == "Dear Marta,\n"
    page.get_by_role("button", name="Macros").click()
    macro = page.get_by_role("form", name="todo-list")
    macro.get_by_label("title for todo-list").fill("Errands")
    macro.get_by_role("button", name="Run").click()
    page.get_by_role("textbox", name="Text of Errands.md").wait_for()
    assert room.disk("Errands.md").startswith("# Errands\n")


def test_a_tab_shows_what_it_holds_to_who_lingers_on_it(room: Room):
    room.write("front.md", STORY)
    room.write("behind.md", STORY)
    room.propose("behind.md", "eleven", "twelve")
    room.server.post("/api/tabs", {"path": "behind.md"})
    window = room.window("front.md")
    page = window.page
    page.get_by_label("Changes to review").get_by_text("1 change by AI in 1 document").wait_for()
    page.get_by_role("tab", name="behind.md").hover()  # which stays where it is from now on
    page.get_by_text("1 change to review").wait_for()
    card = page.locator("[data-radix-popper-content-wrapper]")
    window.expect(lambda: "dark for twelve years" in card.inner_text())


def test_a_document_and_a_command_are_found_by_a_few_letters(room: Room):
    room.write("quick-open.md", STORY)
    room.write("other.md", STORY)
    page = room.window("other.md").page
    page.keyboard.press("Control+p")
    page.keyboard.type("qo")
    page.get_by_role("option", name="quick-open.md").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="quick-open.md", selected=True).wait_for()
    page.keyboard.press("Control+Shift+p")
    page.keyboard.type("dark")
    page.keyboard.press("Enter")
    page.locator("html[data-theme=dark]").wait_for()
    assert page.get_by_role("dialog").count() == 0


def test_the_window_is_as_it_was_after_a_reload(room: Room):
    room.write("first.md", STORY)
    room.write("second.md", STORY)
    page = room.window("first.md", side="files").page
    page.get_by_role("treeitem", name="second.md").click()
    page.get_by_role("tab", name="second.md", selected=True).wait_for()
    page.keyboard.press("Control+Shift+o")
    page.get_by_role("button", name="The Lamp").wait_for()
    page.reload()
    page.get_by_role("tab", name="second.md", selected=True).wait_for()
    page.get_by_role("button", name="The Lamp").wait_for()
    assert page.get_by_role("tab").all_inner_texts()[:2] == ["first.md", "second.md"]


def test_what_others_do_is_seen_in_every_window_though_one_alone_listens(room: Room):
    room.write("news.md", STORY)
    first, second = (room.window("news.md", side="files") for _ in range(2))
    room.propose("news.md", "eleven", "twelve")
    for window in (first, second):
        window.page.get_by_text("AI changed 1 place here").wait_for()
    first.page.close()  # whoever listened: the other goes on
    room.server.post("/api/tools/create_document", {"title": "later.md"}, mode="apply", author="Agent")
    second.page.get_by_role("treeitem", name="later.md").wait_for()
    assert second.page.get_by_text("offline", exact=False).count() == 0


def test_what_changed_before_the_window_began_to_listen_is_shown_all_the_same(room: Room):
    room.write("early.md", STORY)
    window = room.window("early.md", side="files")
    page = window.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/changes/stream", hold)
    page.reload()
    page.get_by_role("treeitem", name="early.md").wait_for()  # of which the window has asked the server
    window.expect(lambda: len(held) == 1)
    room.server.post("/api/tools/create_document", {"title": "missed.md"}, mode="apply", author="Agent")
    held[0].continue_()
    page.get_by_role("treeitem", name="missed.md").wait_for()


@pytest.mark.covers("ML-open-mobile")
def test_a_narrow_window_shows_one_thing_at_a_time_and_nothing_runs_over(room: Room):
    room.write("narrow.md", STORY * 3)
    window = room.window("narrow.md", width=360)
    for keys in ("", "Control+Shift+e", "Control+Shift+e", "Control+Shift+a"):
        if keys:
            window.page.keyboard.press(keys)
        window.page.wait_for_timeout(200)
        wide = window.page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= 360
    window.page.keyboard.press("Control+Shift+a")
    window.page.keyboard.press("Control+Shift+e")
    window.page.get_by_role("treeitem", name="narrow.md").click()
    window.text.click()  # what was opened is not under the panel
