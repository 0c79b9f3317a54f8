"""What seldom happens in a window: saving by itself, reading only, a document that goes, a server that comes back."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from server.serving import begun
from server.test_team import admitted

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from web.conftest import Room, Window

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nThe lighthouse had been dark for eleven years.\n"
REFRAIN = "And so it goes.\n\n"


@pytest.mark.covers("SB-review-autosave-paused")
def test_who_chose_it_has_their_typing_saved_after_a_pause_and_a_review_lets_it_rest(room: Room):
    room.write("saves.md", STORY)
    window = room.window("saves.md")
    page = window.page
    page.keyboard.press("Control+,")
    page.get_by_label("Save by itself, shortly after I stop typing").check()
    page.get_by_role("button", name="Close", exact=True).click()
    window.go_to_end()
    window.type("More.")
    window.status("Not saved")
    window.expect(lambda: room.disk("saves.md") == STORY + "More.")
    window.status("Saved")
    room.propose("saves.md", "eleven", "twelve")
    window.bars.wait_for()
    window.go_to_end()
    window.type(" And more.")
    window.page.wait_for_timeout(2000)
    assert room.disk("saves.md") == STORY + "More."
    window.bars.get_by_role("button", name="Accept").click()
    window.expect(lambda: room.disk("saves.md") == STORY.replace("eleven", "twelve") + "More. And more.")


def test_of_many_equal_lines_the_one_that_was_changed_is_marked(room: Room):
    room.write("refrain.md", REFRAIN * 40)
    changed = REFRAIN * 20 + "And so it went.\n\n" + REFRAIN * 9 + REFRAIN * 10
    version = room.server.get("/api/documents", path="refrain.md")["version"]
    arguments = {"path": "refrain.md", "content": changed, "version": version}
    room.server.post("/api/tools/write_document", arguments, mode="propose", author="Agent")
    window = room.window("refrain.md")
    window.button("View").click()
    window.bars.first.wait_for()
    lines = [line for line in window.lines if line]
    assert [line for line in lines if line != REFRAIN.strip()] == ["And so it goeswent."]
    window.status("41:1")


def test_a_document_that_goes_away_outside_says_so_and_keeps_what_was_on_the_screen(room: Room):
    for name in ("deleted.md", "moved.md"):
        room.write(name, STORY)
        window = room.window(name, side="files")
        window.status("Live")
        if name == "deleted.md":
            (room.folder / name).unlink()
        else:
            (room.folder / name).rename(room.folder / "elsewhere.md")
        window.page.get_by_text("This document is not there any more.").wait_for()
        assert window.lines == STORY.split("\n")
        assert window.text.get_attribute("aria-readonly") == "true"
    window.page.get_by_role("treeitem", name="elsewhere.md").click()
    window.page.get_by_role("textbox", name="Text of elsewhere.md").wait_for()


def test_typing_that_is_not_saved_outlives_the_file(room: Room):
    room.write("unsaved.md", STORY)
    window = room.window("unsaved.md")
    window.go_to_end()
    window.type("Typed.")
    window.expect(lambda: room.working("unsaved.md") == STORY + "Typed.")
    (room.folder / "unsaved.md").unlink()
    window.page.wait_for_timeout(1000)
    assert room.working("unsaved.md") == STORY + "Typed."
    window.page.keyboard.press("Control+s")
    window.expect((room.folder / "unsaved.md").exists)
    assert room.disk("unsaved.md") == STORY + "Typed."


def test_after_a_restart_in_mid_review_what_waits_still_waits(room: Room):
    room.write("waits.md", STORY)
    room.propose("waits.md", "eleven years", "twelve years")
    room.propose("waits.md", "# The Lamp", "# The Lantern")
    window = room.window("waits.md")
    window.expect(lambda: window.bars.count() == 2)
    window.bars.nth(0).get_by_role("button", name="Accept").click()
    window.expect(lambda: "Lantern" in room.disk("waits.md"))
    process = room.server.process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    room.server = begun(room.folder, "--port", str(room.server.port))
    window.page.reload()
    window.bars.get_by_role("button", name="Accept").wait_for()
    assert window.bars.count() == 1
    window.bars.get_by_role("button", name="Reject").click()
    window.expect(lambda: room.working("waits.md") == STORY.replace("Lamp", "Lantern"))


def test_who_may_only_look_reads_along_and_changes_nothing(room: Room):
    room.write("looked-at.md", STORY)
    token = admitted(room.folder, "vera", "viewer")
    own = room.window("looked-at.md")
    window = entered(room, "looked-at.md", token)
    window.page.get_by_text("you may only read").wait_for()
    own.go_to_end()
    own.type("From the editor.")
    window.page.locator(".cm-line", has_text="From the editor.").wait_for()
    window.go_to_end()
    window.type("From the viewer.")
    assert window.lines[-1] == "From the editor."

    def as_editor(route: Route) -> None:
        told: dict[str, Any] = route.fetch().json()
        route.fulfill(json={**told, "caller": {"name": "vera", "role": "editor"}})

    # A page that was opened while they still might: the server has the last word.
    window.page.route("**/api/workspace", as_editor)
    window.page.reload()
    window.status("Live")
    window.go_to_end()
    window.type("From the viewer.")
    window.page.get_by_text("You may read this document, and not type into it.").wait_for()
    own.page.wait_for_timeout(300)
    assert room.working("looked-at.md") == STORY + "From the editor."
    window.wrong.clear()  # the browser itself notes a key that came while the connection was closing


def entered(room: Room, path: str, token: str) -> Window:
    """A window of somebody else's, who came in by their token."""
    window = room.window(path)
    context = window.page.context
    context.clear_cookies()
    context.request.post(
        f"{room.server.url}/enter", form={"token": token}, headers={"Origin": room.server.url}, max_redirects=0
    )
    window.page.reload()
    window.text.wait_for()
    return window


@pytest.mark.parametrize("view", ["source", "rich"])
def test_typing_goes_on_while_somebody_else_moves_the_document(room: Room, view: str):
    for path in (f"first-{view}.md", f"{view}.md"):
        room.write(path, STORY)
        room.server.post("/api/tabs", {"path": path})
    window = room.window(f"{view}.md", views={f"{view}.md": view})
    window.status("Live")
    window.go_to_end()
    arguments = {"from_path": f"{view}.md", "to_path": f"moved/{view}.md"}
    typed = "All of these words were typed while the agent put the document away."

    def move() -> None:
        room.server.post("/api/tools/move_document", arguments, mode="apply", author="Agent")

    moving = threading.Timer(0.4, move)
    moving.start()
    window.page.keyboard.type(typed, delay=25)
    moving.join()
    assert room.working(f"moved/{view}.md").startswith("# The Lamp")
    window.page.get_by_role("textbox", name=f"Text of moved/{view}.md").wait_for()
    window.expect(lambda: room.working(f"moved/{view}.md").rstrip("\n").endswith(typed))
    assert room.working(f"moved/{view}.md").count("typed") == 1


def test_a_new_document_under_the_name_that_another_had_is_not_that_one(room: Room):
    room.write("traded.md", "Old.\n")
    window = room.window("traded.md")
    window.go_to_end()
    window.type("Typed before. ")
    arguments = {"from_path": "traded.md", "to_path": "old.md"}
    room.server.post("/api/tools/move_document", arguments, mode="apply", author="Agent")
    window.page.get_by_role("textbox", name="Text of old.md").wait_for()
    room.write("traded.md", "New.\n")
    room.server.post("/api/tabs", {"path": "traded.md"})
    window.page.get_by_role("tab", name="traded.md").click()
    window.page.get_by_role("textbox", name="Text of traded.md").get_by_text("New.").wait_for()
    window.page.get_by_role("textbox", name="Text of traded.md").click()
    window.page.keyboard.press("Control+End")
    window.type("Typed after.")
    window.expect(lambda: room.working("traded.md") == "New.\nTyped after.")
    assert room.working("old.md") == "Old.\nTyped before. "
