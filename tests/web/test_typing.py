"""Typing in a real browser: it is kept, it is saved when the person says so, and everybody sees it."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.server.serving import begun

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.web.conftest import Room

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nThe lighthouse had been dark for eleven years.\n\nThen she went to look for the keys.\n"
# Asks the page as a browser does before it is closed.
NOTHING_TO_LOSE = "dispatchEvent(new Event('beforeunload', {cancelable: true}))"


@pytest.mark.covers("SB-state-no-autosave")
def test_typing_is_kept_through_a_reload_and_saved_only_when_asked(room: Room):
    room.write("kept.md", STORY)
    window = room.window("kept.md")
    window.go_to_end()
    window.type("They were gone.")
    window.status("Unsaved")
    window.expect(lambda: room.working("kept.md").endswith("They were gone."))
    assert room.disk("kept.md") == STORY
    window.page.reload()
    window.text.wait_for()
    assert window.lines[-1] == "They were gone."
    window.go_to_end()
    window.page.keyboard.press("Control+s")
    window.status("Saved")
    assert room.disk("kept.md") == STORY + "They were gone."


@pytest.mark.parametrize("text", ["one\r\ntwo\r\nthree", "one\r\ntwo\nthree\r\nfour"])
def test_the_newlines_of_a_document_stay_as_they_are(room: Room, text: str):
    path = f"newlines{len(text)}.txt"
    room.write(path, text)
    window = room.window(path)
    window.text.click()
    window.page.keyboard.press("Control+Home")
    window.page.keyboard.press("End")
    window.page.keyboard.press("Enter")
    window.type("\N{GRINNING FACE} between")
    window.go_to_end()
    window.type("!")
    window.page.keyboard.press("Control+s")
    wanted = text.replace("one\r\n", "one\r\n\N{GRINNING FACE} between\r\n", 1) + "!"
    window.expect(lambda: room.disk(path) == wanted)


def test_two_windows_see_each_others_typing_and_undo_only_their_own(room: Room):
    room.write("shared.md", STORY)
    one, other = room.window("shared.md"), room.window("shared.md")
    one.go_to_end()
    one.type("From the first.")
    other.page.locator(".cm-line", has_text="From the first.").wait_for()
    other.page.locator(".cm-caretName").wait_for()
    other.text.click()
    other.page.keyboard.press("Control+Home")
    other.type("Second. ")
    one.page.locator(".cm-line", has_text="Second. ").wait_for()
    one.page.keyboard.press("Control+z")
    window_text = "Second. " + STORY
    one.expect(lambda: room.working("shared.md") == window_text)
    other.expect(lambda: other.lines == window_text.split("\n"))
    one.page.keyboard.press("Control+Shift+Z")
    one.expect(lambda: room.working("shared.md") == window_text + "From the first.")


def test_typing_while_the_server_is_away_is_synced_when_it_is_back(room: Room):
    room.write("away.md", STORY)
    window = room.window("away.md")
    window.go_to_end()
    window.page.context.set_offline(True)
    # A browser that is offline keeps the connections that it has; the server ends them.
    _restart(room, while_away=lambda: window.type("Typed in the dark."))
    window.page.context.set_offline(False)
    window.expect(lambda: room.working("away.md") == STORY + "Typed in the dark.")
    window.status("Live")


@pytest.mark.parametrize("noticed", [True, False])
def test_typing_finds_its_place_in_a_document_that_has_begun_anew(room: Room, noticed: bool):
    """Also where the first keys are typed before the window could notice that nobody hears them."""
    path = f"anew{noticed}.md"
    room.write(path, STORY)
    window = room.window(path)
    window.go_to_end()
    window.status("Live")
    if not noticed:
        _halt(room)
        window.type("Typed ")

    def away() -> None:
        window.page.locator("footer [data-status=offline]").wait_for()
        window.type("Typed in the dark." if noticed else "in the dark.")
        room.write(path, STORY.replace("eleven", "twelve"))
        with contextlib.closing(sqlite3.connect(room.server.state / "history.db")) as history, history:
            history.execute("DELETE FROM live_updates")
            history.execute("DELETE FROM live_rooms")

    _restart(room, while_away=away)
    wanted = STORY.replace("eleven", "twelve") + "Typed in the dark."
    window.expect(lambda: room.working(path) == wanted)
    window.expect(lambda: window.lines == wanted.split("\n"))
    window.go_to_end()
    window.type(" And on.")
    window.expect(lambda: room.working(path) == wanted + " And on.")


@pytest.mark.covers("RD-review-restart", "RD-tabs-crash")
def test_a_killed_server_loses_nothing_even_if_the_page_is_closed_meanwhile(room: Room):
    room.write("killed.md", STORY)
    room.propose("killed.md", "eleven years", "twelve years")
    window = room.window("killed.md")
    window.bars.wait_for()
    window.go_to_end()
    window.type("Before the crash. ")

    def away() -> None:
        window.type("And after it.")
        window.page.get_by_text("Offline: what you type is kept in this browser").wait_for()
        window.expect(lambda: window.page.evaluate(NOTHING_TO_LOSE))
        window.page.goto("about:blank")

    _restart(room, while_away=away)
    window.page.goto(room.server.url)
    window.text.wait_for()
    wanted = STORY.replace("eleven", "twelve") + "Before the crash. And after it."
    window.expect(lambda: room.working("killed.md") == wanted)
    window.press("Accept")
    window.expect(lambda: "twelve years" in room.disk("killed.md"))


def _halt(room: Room) -> None:
    """The server stands still, and its connections stay open."""
    process = room.server.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)


def _restart(room: Room, while_away: Callable[[], None]) -> None:
    """Kill the server as a crash does; start it again at the same address."""
    process = room.server.process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    while_away()
    room.server = begun(room.folder, "--port", str(room.server.port))
