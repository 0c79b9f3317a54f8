"""A file that may hold a secret: the app asks its owner, then it opens, and can be typed into and saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.web.conftest import Room

pytestmark = pytest.mark.slow


@pytest.mark.covers("RD-secrets-owner")
def test_the_app_asks_before_it_opens_a_secret(room: Room):
    room.write("calm.md", "Calm.\n")
    room.write("prod.env", "PASSWORD=hunter\n")
    window = room.window("calm.md", side="files")
    page = window.page
    page.get_by_role("treeitem", name="prod.env").click()
    dialog = page.get_by_role("dialog", name="Open prod.env?")
    dialog.get_by_text("may contain passwords or keys").wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    assert "hunter" not in page.content()
    page.get_by_role("treeitem", name="prod.env").click()
    page.get_by_role("button", name="Open file").click()
    text = page.get_by_role("textbox", name="Text of prod.env")
    text.get_by_text("PASSWORD=hunter").wait_for()
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("MORE=1")
    page.keyboard.press("Control+s")
    window.expect(lambda: room.disk("prod.env") == "PASSWORD=hunter\nMORE=1")
    assert room.server.refused("GET", "/api/documents", None, 403, path="prod.env")["error"] == "secret"
    window.wrong.clear()  # the browser itself notes every answer of 403


@pytest.mark.covers("RD-files-instructions")
def test_a_proposal_for_instructions_warns_in_the_app(room: Room):
    room.write("AGENTS.md", "Be kind.\n")
    room.propose("AGENTS.md", "kind", "cruel")
    window = room.window("AGENTS.md")
    window.page.get_by_text("Agents take instructions from AGENTS.md").wait_for()
    window.page.get_by_text("Instructions to agents").wait_for()
    assert room.disk("AGENTS.md") == "Be kind.\n"
