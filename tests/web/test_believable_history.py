"""History people believe: one list with real names, one diff since yesterday, and every act told before it is done."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.web.test_accessible import serious

if TYPE_CHECKING:
    from tests.web.conftest import Room

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nThe lighthouse had been dark for eleven years.\n"


def fill(room: Room, name: str) -> None:
    """A day of work: the agent's turn, another program's, and documents moved, created and deleted by the person."""
    for each in ("story", "notes", "old"):
        room.write(f"{name}/{each}.md", STORY)
        room.server.post("/api/tabs", {"path": f"{name}/{each}.md"})
    edit = {"path": f"{name}/story.md", "old_text": "eleven", "new_text": "twelve"}
    room.server.post("/api/tools/edit_text", edit, mode="apply", author="Editor")
    room.write(f"{name}/notes.md", STORY.replace("dark", "bright"))
    room.server.post("/api/documents/move", {"path": f"{name}/old.md", "to": f"{name}/kept.md"})
    room.server.post("/api/documents", {"path": f"{name}/new.md", "content": "New.\n"})


@pytest.mark.covers("RD-history-filters", "RD-history-since")
def test_the_list_is_narrowed_by_author_and_day_and_one_diff_tells_what_changed_since_yesterday(room: Room):
    (room.folder / "day").mkdir()
    fill(room, "day")
    page = room.window("day/story.md", side="history").page
    turns = page.get_by_role("list", name="Turns")
    turns.get_by_text("another program").first.wait_for()
    page.get_by_label("By").select_option("Editor")
    turns.get_by_text("another program").first.wait_for(state="detached")
    assert all("Editor" in each for each in turns.get_by_role("button").all_inner_texts())
    page.get_by_label("When").select_option("Yesterday")
    page.get_by_text("No turns yet.").wait_for()
    assert serious(page) == []
    page.get_by_role("button", name="What changed since yesterday…").click()
    dialog = page.get_by_role("dialog", name="What changed")
    dialog.get_by_role("button", name="day/old.md moved to day/kept.md").wait_for()
    for told in ("day/story.md changed", "day/notes.md changed", "day/new.md created"):
        dialog.get_by_role("button", name=told).wait_for()
    assert "twelve" in dialog.get_by_role("region", name="day/story.md").inner_text()
    assert serious(page) == []


@pytest.mark.covers("RD-history-foretold", "RD-history-whole")
def test_undo_and_restore_say_what_they_will_do_and_then_do_that(room: Room):
    (room.folder / "told").mkdir()
    fill(room, "told")
    room.server.request("DELETE", "/api/documents", query={"path": "told/kept.md"})
    window = room.window("told/story.md", side="history")
    page = window.page
    page.get_by_label("Only told/story.md").check()
    page.get_by_role("list", name="Turns").get_by_role("button").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("told/story.md: 1 line in, 1 out").click()
    foretold = dialog.locator("details").inner_text()
    assert "twelve" in foretold
    assert serious(page) == []
    dialog.get_by_role("button", name="Undo this turn").click()
    window.expect(lambda: room.disk("told/story.md") == STORY)
    page.get_by_label("Only told/story.md").uncheck()
    deleted = next(turn for turn in room.server.get("/api/turns")["turns"] if turn["paths"] == ["told/kept.md"])
    page.get_by_role("list", name="Turns").get_by_text(deleted["title"]).first.click()
    dialog.get_by_text("told/kept.md deleted").wait_for()
    dialog.get_by_role("button", name="Restore earlier state…").click()
    dialog.get_by_text("told/kept.md comes back").wait_for()
    assert not (room.folder / "told" / "kept.md").exists()
    dialog.get_by_role("button", name="Restore 1 document").click()
    window.expect((room.folder / "told" / "kept.md").exists)


@pytest.mark.covers("RD-history-foretold")
def test_an_undo_that_would_be_refused_says_so_before_it_is_tried(room: Room):
    (room.folder / "clash").mkdir()
    fill(room, "clash")
    later = {"path": "clash/story.md", "old_text": "twelve", "new_text": "thirteen"}
    room.server.post("/api/tools/edit_text", later, mode="apply", author="Editor")
    turns = room.server.get("/api/turns", path="clash/story.md")["turns"]
    plan = room.server.get(f"/api/turns/{turns[1]['turn']}/plan", act="undo")
    assert plan["files"] == []
    assert f"undo turn {turns[0]['turn']} first" in plan["conflicts"][0]["reason"]
    shutil.rmtree(room.folder / "clash")
