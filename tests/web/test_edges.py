"""What seldom happens in a window: saving by itself, reading only, a document that goes, a server that comes back."""

from __future__ import annotations

import re
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import begun
from tests.server.test_team import admitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import APIResponse, Route, WebSocketRoute

    from tests.web.conftest import Room, Window

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nThe lighthouse had been dark for eleven years.\n"
REFRAIN = "And so it goes.\n\n"


@pytest.mark.covers("SB-review-autosave-paused")
def test_who_chose_it_has_their_typing_saved_after_a_pause_and_a_review_lets_it_rest(room: Room):
    room.write("saves.md", STORY)
    window = room.window("saves.md")
    page = window.page
    page.keyboard.press("Control+,")
    page.get_by_label("Autosave").check()
    page.get_by_role("button", name="Close", exact=True).click()
    window.go_to_end()
    window.type("More.")
    window.status("Unsaved")
    window.expect(lambda: room.disk("saves.md") == STORY + "More.")
    window.status("Saved")
    room.propose("saves.md", "eleven", "twelve")
    window.bars.wait_for()
    window.go_to_end()
    window.type(" And more.")
    window.page.wait_for_timeout(2000)
    assert room.disk("saves.md") == STORY + "More."
    window.press("Accept")
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
    window.status("41:11")  # at the word


def test_a_document_that_goes_away_outside_says_so_and_keeps_what_was_on_the_screen(room: Room):
    room.write("deleted.md", STORY)
    window = room.window("deleted.md", side="files")
    window.status("Live")
    (room.folder / "deleted.md").unlink()
    window.page.get_by_text("This document no longer exists.").wait_for()
    assert window.lines == STORY.split("\n")
    assert window.text.get_attribute("aria-readonly") == "true"


def test_a_document_that_is_moved_outside_stays_open_under_its_new_name(room: Room):
    room.write("moved.md", STORY)
    window = room.window("moved.md", side="files")
    window.status("Live")
    (room.folder / "moved.md").rename(room.folder / "elsewhere.md")
    window.path = "elsewhere.md"
    window.text.wait_for()
    window.page.get_by_role("treeitem", name="elsewhere.md").wait_for()
    window.status("Live")
    assert window.lines == STORY.split("\n")
    assert window.text.get_attribute("aria-readonly") != "true"
    window.go_to_end()
    window.type("Typed.")
    window.expect(lambda: room.working("elsewhere.md") == STORY + "Typed.")
    assert not (room.folder / "moved.md").exists()


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
    window.press("Accept", 0)
    window.expect(lambda: "Lantern" in room.disk("waits.md"))
    process = room.server.process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    room.server = begun(room.folder, "--port", str(room.server.port))
    window.page.reload()
    window.bars.get_by_role("button", name="Accept").wait_for()
    assert window.bars.count() == 1
    window.press("Reject")
    window.expect(lambda: room.working("waits.md") == STORY.replace("Lamp", "Lantern"))


def test_who_may_only_look_reads_along_and_changes_nothing(room: Room):
    room.write("looked-at.md", STORY)
    token = admitted(room.folder, "vera", "viewer")
    own = room.window("looked-at.md")
    window = entered(room, "looked-at.md", token)
    window.page.get_by_text("Read only").wait_for()
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
    window.page.get_by_text("You can read this document, but not edit it.").wait_for()
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


def test_a_document_that_was_moved_is_not_given_up_however_slow_the_way_to_it_is(room: Room):
    room.write("slowly.md", STORY)
    window = room.window("slowly.md")
    page = window.page
    closed: list[Callable[[], None]] = []
    late: list[Callable[[], None]] = []
    asked: list[Route] = []

    def slow_down(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        server.on_close(lambda code, reason: closed.append(lambda: socket.close(code=code, reason=reason)))
        if "there" in socket.url:
            server.on_message(lambda message: late.append(lambda: socket.send(message)))

    def hold(route: Route) -> None:
        asked.append(route)

    page.route_web_socket("**/api/live/**", slow_down)
    page.route("**/api/live?path=there*", hold)
    page.reload()
    window.status("Live")
    arguments = {"from_path": "slowly.md", "to_path": "there/slowly.md"}
    room.server.post("/api/tools/move_document", arguments, mode="apply", author="Agent")
    # The window hears of the move, and only then that the document is no longer where it was.
    window.expect(lambda: len(asked) == 1 and len(closed) == 1)
    closed[0]()
    page.wait_for_timeout(1500)  # in which it could be given up
    asked[0].continue_()
    window.expect(lambda: len(late) > 0)
    page.wait_for_timeout(1500)  # and again
    assert page.get_by_text("This document no longer exists.").count() == 0
    while late:
        late.pop(0)()
        page.wait_for_timeout(50)
    window.status("Live")
    window.path = "there/slowly.md"
    window.go_to_end()
    window.type("Typed.")
    window.expect(lambda: room.working("there/slowly.md") == STORY + "Typed.")


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


@pytest.mark.covers("RD-review-undo-key")
def test_ctrl_z_takes_a_decision_back_that_the_server_has_not_answered_yet(room: Room):
    room.write("at-once.md", STORY)
    room.propose("at-once.md", "eleven", "twelve")
    window = room.window("at-once.md")

    def answer_late(route: Route) -> None:
        answered = route.fetch()
        window.page.keyboard.press("Control+z")
        route.fulfill(response=answered)

    window.page.route("**/api/review/accept", answer_late)
    window.press("Accept")
    window.expect(lambda: window.server.get("/api/turns")["turns"][0]["title"].startswith("Undo: Accept"))
    window.bars.get_by_role("button", name="Accept").wait_for()
    assert room.disk("at-once.md") == STORY


@pytest.mark.covers("RD-review-undo-key")
def test_a_decision_made_while_an_undo_is_on_its_way_waits_for_it(room: Room):
    room.write("waits.md", STORY)
    room.propose("waits.md", "eleven", "twelve")
    room.propose("waits.md", "Lamp", "Lantern")
    window = room.window("waits.md")
    window.expect(lambda: window.bars.count() == 2)
    window.press("Accept", 0)
    window.expect(lambda: "Lantern" in room.disk("waits.md"))
    window.bars.first.get_by_role("button", name='Accept: "eleven" → "twelve"').wait_for()
    late: list[tuple[Route, APIResponse]] = []
    asked: list[Route] = []

    undoing: list[Route] = []

    def hold(route: Route) -> None:
        # What the page still asks about the first decision is answered: the undo waits for that.
        asked.append(route) if undoing else route.continue_()

    def delay(route: Route) -> None:
        undoing.append(route)
        late.append((route, route.fetch()))

    # The server has taken it back, and the page has not heard of it by any way.
    window.page.route("**/api/review?path=**", hold)
    window.page.route("**/api/turns/undo", delay)
    window.page.locator("[contenteditable=true]:focus").wait_for()
    window.page.keyboard.press("Control+z")
    window.expect(lambda: len(late) == 1)
    assert room.disk("waits.md") == STORY
    window.press('Accept: "eleven" → "twelve"', -1)
    window.page.wait_for_timeout(500)  # in which it would be sent, and refused
    [(undone, answered)] = late
    undone.fulfill(response=answered)
    window.page.unroute("**/api/review?path=**")
    for route in asked:
        route.continue_()
    window.expect(lambda: room.disk("waits.md") == STORY.replace("eleven", "twelve"))
    window.bars.get_by_role("button", name='Accept: "Lamp" → "Lantern"').wait_for()


@pytest.mark.covers("RD-review-undo-key")
def test_what_was_said_of_a_decision_goes_when_it_is_taken_back(room: Room):
    room.write("hushed.md", STORY)
    room.propose("hushed.md", "eleven", "twelve")
    window = room.window("hushed.md")
    window.press("Reject")
    said = window.page.get_by_text(re.compile("^Rejected: "))
    said.first.wait_for()
    window.page.locator("[contenteditable=true]:focus").wait_for()
    window.page.keyboard.press("Control+z")
    window.bars.get_by_role("button", name="Reject").wait_for()
    assert said.count() == 0
    assert window.button("Undo").count() == 0


@pytest.mark.covers("RD-review-undo-key")
@pytest.mark.parametrize("view", ["source", "rich"])
@pytest.mark.parametrize("choice", ["Use Agent's", "Keep current text", "Use this text"])
def test_ctrl_z_right_after_a_conflict_is_settled_takes_the_decision_back(room: Room, choice: str, view: str):
    name = f"settled-{choice[-4:].strip()}-{view}.md"
    room.write(name, STORY)
    room.propose(name, "eleven", "twelve")
    met = STORY.replace("eleven", "ninety")
    room.write(name, met)
    window = room.window(name, views={name: view})
    window.press("Resolve…")
    dialog = window.page.get_by_role("dialog")
    if choice == "Use this text":
        dialog.get_by_label("Resolved text").fill("a hundred")
    before = room.server.get("/api/review", path=name)["documents"]
    dialog.get_by_role("button", name=choice, exact=True).click()
    dialog.wait_for(state="hidden")
    window.bars.wait_for(state="detached")
    window.page.locator("[contenteditable=true]:focus").wait_for()
    settled = {"Use Agent's": "twelve", "Keep current text": "ninety", "Use this text": "a hundred"}[choice]
    window.expect(lambda: room.disk(name) == STORY.replace("eleven", settled))
    window.page.keyboard.press("Control+z")
    window.bars.get_by_role("button", name="Resolve…").wait_for()
    assert room.disk(name) == met
    assert room.working(name) == met
    assert room.server.get("/api/review", path=name)["documents"] == before


@pytest.mark.covers("RD-review-undo-key", "SB-state-editor-undo")
@pytest.mark.parametrize("act", ["Accept", "Reject"])
def test_ctrl_z_right_after_a_decision_takes_the_decision_back(room: Room, act: str):
    name = f"undone-{act}.md"
    room.write(name, STORY)
    room.propose(name, "eleven", "twelve")
    window = room.window(name)
    window.press(act)
    window.bars.wait_for(state="detached")
    window.text.click()
    window.page.keyboard.press("Control+z")
    window.bars.get_by_role("button", name=act).wait_for()
    assert room.disk(name) == STORY
    window.press(act)
    window.bars.wait_for(state="detached")
    window.go_to_end()
    window.type("Typed.")
    window.page.keyboard.press("Control+z")
    window.expect(lambda: "Typed." not in "".join(window.lines))
    assert window.bars.count() == 0


@pytest.mark.covers("RD-review-undo-key", "SB-state-editor-undo")
@pytest.mark.parametrize("view", ["source", "rich"])
@pytest.mark.parametrize("act", ["Accept", "Reject"])
def test_ctrl_z_takes_back_decisions_and_typing_in_the_order_in_which_they_were_made(room: Room, act: str, view: str):
    name = f"in-order-{act}-{view}.md".lower()
    room.write(name, STORY)
    room.propose(name, "Lamp", "Lantern")
    room.propose(name, "eleven", "twelve")
    window = room.window(name, views={name: view})
    window.expect(lambda: window.bars.count() == 2)

    def standing() -> tuple[str, str, list[str]]:
        drafts = room.server.get("/api/review", path=name)["documents"]
        open_hunks = [hunk["working"] for draft in drafts for hunk in draft["hunks"] if hunk["author"] != "user"]
        return room.working(name).rstrip("\n"), room.disk(name), open_hunks

    def typed(words: str) -> None:
        window.go_to_end()
        window.page.keyboard.insert_text(words)  # at once: keys with a pause in between are steps of their own
        window.expect(lambda: words in room.working(name))

    def decide(left: int) -> None:
        window.press(act, 0)
        window.expect(lambda: len(standing()[2]) == left and window.bars.count() == left)
        window.page.locator("[contenteditable=true]:focus").wait_for()

    steps = [standing()]
    for make in (lambda: typed("One."), lambda: decide(1), lambda: typed("Two."), lambda: decide(0)):
        make()
        steps.append(standing())
    for key, passed in (("Control+z", steps[-2::-1]), ("Control+y", steps[1:]), ("Control+z", steps[-2::-1])):
        for wanted in passed:
            window.page.keyboard.press(key)
            window.expect(lambda wanted=wanted: standing() == wanted)
            window.expect(lambda wanted=wanted: window.bars.count() == len(wanted[2]))


def test_a_change_is_accepted_right_after_another_though_the_page_has_not_heard_of_that_yet(room: Room):
    room.write("quick.md", STORY)
    room.propose("quick.md", "Lamp", "Lantern")
    room.propose("quick.md", "eleven", "twelve")
    window = room.window("quick.md")
    window.expect(lambda: window.bars.count() == 2)
    held: list[Route] = []
    is_holding = True
    pattern = "**/api/review?path=quick.md"
    window.page.route(pattern, lambda route: held.append(route) if is_holding and decided() else route.continue_())

    def decided() -> bool:
        return "Lantern" in room.disk("quick.md")

    window.press("Accept", 0)
    window.expect(lambda: decided() and len(held) > 0 and window.bars.count() == 1)
    window.press("Accept")
    window.page.wait_for_timeout(500)  # in which it would be sent with what the page has
    is_holding = False
    for route in held:
        route.continue_()
    window.expect(lambda: room.disk("quick.md") == STORY.replace("Lamp", "Lantern").replace("eleven", "twelve"))


@pytest.mark.covers("RD-review-undo-key")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_typing_is_undone_after_the_decision_that_was_made_later_however_long_that_takes(room: Room, view: str):
    name = f"slow-undo-{view}.md"
    room.write(name, STORY)
    room.propose(name, "eleven", "twelve")
    window = room.window(name, views={name: view})
    page = window.page
    window.bars.get_by_role("button", name="Reject").wait_for()
    window.go_to_end()
    page.keyboard.insert_text("One.")
    window.expect(lambda: "One." in room.working(name))
    window.press("Reject")
    window.expect(lambda: "twelve" not in room.working(name) and window.bars.count() == 0)
    page.locator("[contenteditable=true]:focus").wait_for()
    held: list[Route] = []
    page.route("**/api/turns/undo", lambda route: held.append(route))  # noqa: PLW0108 - it gets an attribute
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    window.expect(lambda: len(held) == 1)
    page.wait_for_timeout(300)  # in which the typing would go
    assert "One." in room.working(name)
    held[0].continue_()
    window.expect(lambda: room.working(name) == STORY.replace("eleven", "twelve"))
    window.bars.get_by_role("button", name="Reject").wait_for()


def test_a_review_that_arrives_between_a_reject_and_its_undo_is_shown_once_the_text_is_back(room: Room):
    """The text is the old one again, with the old version: nothing but the arrivals tells the page to look again."""
    room.write("between.md", STORY)
    room.propose("between.md", "eleven", "twelve")
    window = room.window("between.md")
    page = window.page
    sockets: list[WebSocketRoute] = []
    held: list[str | bytes] = []
    is_holding = False

    def follow(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server().on_message(
            lambda message: held.append(message) if is_holding else socket.send(message)
        )

    page.route_web_socket("**/api/live/**", follow)
    page.reload()
    window.bars.get_by_role("button", name="Reject").wait_for()
    is_holding = True
    window.press("Reject")
    window.expect(lambda: room.server.get("/api/review", path="between.md")["documents"] == [])
    answers: list[Route] = []
    page.route(
        "**/api/review?path=between.md", lambda route: answers.append(route) if is_holding else route.continue_()
    )
    page.keyboard.press("Control+z")
    window.expect(lambda: len(room.server.get("/api/review", path="between.md")["documents"]) == 1 and len(answers) > 0)
    rejected = STORY.rstrip("\n").split("\n")
    while window.lines[: len(rejected)] != rejected:
        window.expect(lambda: len(held) > 0)
        sockets[-1].send(held.pop(0))
    with page.expect_request_finished(lambda request: "/api/review?path" in request.url):
        for answer in answers:
            answer.continue_()
    page.evaluate("() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")
    is_holding = False
    for message in held:
        sockets[-1].send(message)
    window.expect(lambda: "twelve" in "".join(window.lines))
    window.bars.get_by_role("button", name="Reject").wait_for()


@pytest.mark.covers("RD-review-undo-key", "SB-state-editor-undo")
@pytest.mark.parametrize("keys", ["Control+z", "Control+z Control+y"])
def test_ctrl_z_after_a_reject_brings_back_no_words_that_the_person_had_typed_over(room: Room, keys: str):
    """Nor does any other number of undos and redos make a text that nobody wrote."""
    name = f"typed-over-{len(keys)}.md"
    room.write(name, "Total: 5.00 EUR is due.\n\nThe end.\n")
    room.propose(name, "5.00", "7.50")
    window = room.window(name)
    window.bars.get_by_role("button", name="Accept").wait_for()
    window.text.click()
    window.page.keyboard.press("Control+Home")
    for _ in range(len("Total: 7.")):
        window.page.keyboard.press("ArrowRight")
    for _ in "50":
        window.page.keyboard.press("Shift+ArrowRight")
    window.type("9")
    window.expect(lambda: "Total: 7.9 EUR" in room.working(name))
    before = room.working(name)
    window.press("Reject")
    window.expect(lambda: room.working(name) != before)
    rejected = room.working(name)
    window.go_to_end()
    window.type("x")
    window.expect(lambda: room.working(name) == rejected + "x")
    written = {before, rejected, rejected + "x"}
    pressed = keys.split()
    for at in range(8):
        window.page.keyboard.press(pressed[(at // 4) % len(pressed)])
        window.page.wait_for_timeout(300)  # in which a wrong text would come
        assert room.working(name) in written
    if len(pressed) == 1:
        window.expect(lambda: room.working(name) == before)


@pytest.mark.covers("RD-review-undo-key", "SB-state-editor-undo")
@pytest.mark.parametrize("view", ["source", "rich"])
@pytest.mark.parametrize("act", ["Accept", "Reject", "Accept all", "Reject all"])
def test_ctrl_z_right_after_a_button_takes_the_decision_back_and_not_what_was_typed_before(
    room: Room, act: str, view: str
):
    name = f"pressed-{act}-{view}.md".replace(" ", "-").lower()
    room.write(name, STORY)
    room.propose(name, "eleven", "twelve")
    room.propose(name, "Lamp", "Lantern")
    window = room.window(name, views={name: view})
    window.expect(lambda: window.bars.count() == 2)
    window.go_to_end()
    window.page.keyboard.insert_text("Typed.")  # at once, and decided before the server has it
    if act.endswith("all"):
        window.button(act).click()
    else:
        window.press(act, 0)
    left = 0 if act.endswith("all") else 1
    window.expect(lambda: window.bars.count() == left)
    window.page.locator("[contenteditable=true]:focus").wait_for()
    window.page.keyboard.press("Control+z")
    window.expect(lambda: window.bars.count() == 2)
    proposed = STORY.replace("eleven", "twelve").replace("Lamp", "Lantern")
    window.expect(lambda: room.working(name).rstrip("\n") in (proposed + "Typed.", proposed[:-1] + "Typed."))
    assert room.disk(name) == STORY
    window.page.keyboard.press("Control+z")  # now what was typed
    window.expect(lambda: room.working(name) == proposed)
    assert window.bars.count() == 2
    assert room.disk(name) == STORY


@pytest.mark.covers("RD-review-undo-key")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_a_decided_change_does_not_come_back_before_the_server_answers_and_comes_back_with_its_undo(
    room: Room, view: str
):
    name = f"late-{view}.md"
    room.write(name, STORY)
    room.propose(name, "eleven", "twelve")
    room.propose(name, "Lamp", "Lantern")
    window = room.window(name, views={name: view})
    window.expect(lambda: window.bars.count() == 2)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    window.page.route("**/api/review/reject", hold)
    window.press("Reject", 0)
    window.expect(lambda: len(held) == 1)
    window.go_to_end()
    window.type("Typed.")  # of which the server tells, and whereupon the page asks for the review
    window.expect(lambda: "Typed." in room.working(name))
    window.page.wait_for_timeout(1000)  # in which the change could come back
    assert window.bars.count() == 1
    held[0].continue_()
    window.expect(lambda: "# The Lamp\n" in room.working(name))
    window.button("Undo").click()
    window.expect(lambda: window.bars.count() == 2)
    assert "# The Lantern\n" in room.working(name)


@pytest.mark.parametrize("view", ["source", "rich"])
def test_decisions_made_faster_than_the_server_answers_are_all_carried_out(room: Room, view: str):
    name = f"fast-{view}.md"
    room.write(name, STORY)
    room.propose(name, "eleven", "twelve")
    room.propose(name, "Lamp", "Lantern")
    window = room.window(name, views={name: view})
    window.expect(lambda: window.bars.count() == 2)
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    window.page.route("**/api/review/accept", hold_first)
    for left in (1, 0):
        window.press("Accept", 0)
        window.expect(lambda left=left: window.bars.count() == left)
    window.expect(lambda: len(held) == 1)
    held[0].continue_()
    window.expect(lambda: room.disk(name) == STORY.replace("eleven", "twelve").replace("Lamp", "Lantern"))
    window.page.get_by_label("Changes in this document").wait_for(state="detached")
