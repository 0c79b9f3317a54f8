"""What is in front of the person, as the app tells it: the tab and the selection of the window that was used last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import settled
from tests.web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from playwright.sync_api import APIResponse, Browser, Page, Route, WebSocketRoute

pytestmark = pytest.mark.slow
MODELS = {
    "edits": [
        {"calls": [call("read_document")]},
        {"calls": [call("edit_text", old_text="sail", new_text="row")]},
        {"text": "Done."},
    ]
}
PLAN = "# Plan\n\nWe sail on Monday.\n"
TALE = "# Tale\n\nIt was dark.\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("front"), MODELS) as found:
        found.write("trips/plan.md", PLAN)
        found.write("tale.md", TALE)
        for path in ("trips/plan.md", "tale.md"):
            found.server.post("/api/tabs", {"path": path})
        yield found


def front(desk: Desk) -> dict[str, Any]:
    return desk.server.get("/api/tabs/front")["front"] or {}


def expect(desk: Desk, so: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until the server has heard what is in front."""
    desk.expect(lambda: so(front(desk)))


def show(page: Page, title: str) -> None:
    page.get_by_role("tab", name=title).click()
    page.get_by_role("textbox", name=f"Text of {title}").or_(
        page.get_by_role("textbox", name=f"Text of trips/{title}")
    ).wait_for()


@pytest.mark.covers("RD-front-app")
def test_the_window_that_was_used_last_says_what_is_in_front(desk: Desk):
    desk.begin(active="tale.md", order=["tale.md", "trips/plan.md"])
    expect(desk, lambda told: told.get("path") == "tale.md")
    show(desk.page, "plan.md")
    expect(desk, lambda told: told.get("path") == "trips/plan.md")
    second = desk.page.context.new_page()
    second.goto(f"{desk.server.url}/")
    show(second, "tale.md")
    expect(desk, lambda told: told.get("path") == "tale.md")
    desk.page.get_by_role("textbox", name="Text of trips/plan.md").click()
    expect(desk, lambda told: told.get("path") == "trips/plan.md")
    second.get_by_role("textbox", name="Text of tale.md").click()
    expect(desk, lambda told: told.get("path") == "tale.md")
    second.close()
    desk.page.get_by_role("textbox", name="Text of trips/plan.md").click()
    expect(desk, lambda told: told.get("path") == "trips/plan.md")
    tabs = {tab["path"]: tab["tab_id"] for tab in desk.server.get("/api/tabs")["tabs"]}
    desk.server.post("/api/tabs/front", {"tab_id": tabs["tale.md"]}, method="PUT")  # as another browser's window does
    desk.page.evaluate("dispatchEvent(new Event('focus'))")
    expect(desk, lambda told: told.get("path") == "trips/plan.md")


@pytest.mark.covers("RD-front-app")
def test_a_window_that_hears_late_of_its_last_report_does_not_come_back_to_the_front(desk: Desk):
    desk.begin(active="trips/plan.md", order=["trips/plan.md", "tale.md"])
    text = desk.page.get_by_role("textbox", name="Text of trips/plan.md")
    text.wait_for()
    expect(desk, lambda told: told.get("path") == "trips/plan.md")
    second = desk.page.context.new_page()
    second.goto(f"{desk.server.url}/")
    show(second, "tale.md")
    expect(desk, lambda told: told.get("path") == "tale.md")
    late: list[tuple[Route, APIResponse]] = []

    def answer_late(route: Route) -> None:
        late.append((route, route.fetch())) if not late else route.continue_()

    desk.page.route("**/api/tabs/front", answer_late)
    text.click()
    desk.expect(lambda: len(late) == 1)
    desk.page.keyboard.press("Control+a")  # to be told next
    desk.page.wait_for_timeout(500)  # until the app takes it for a selection
    second.get_by_role("textbox", name="Text of tale.md").click()
    expect(desk, lambda told: told.get("path") == "tale.md")
    [(route, answered)] = late
    route.fulfill(response=answered)
    desk.page.wait_for_timeout(500)  # in which it would come back
    assert front(desk).get("path") == "tale.md"
    desk.page.unroute("**/api/tabs/front")
    second.close()


@pytest.mark.covers("RD-front-app")
def test_a_window_that_is_used_again_before_its_last_report_is_answered_reports_again(desk: Desk):
    desk.begin(active="trips/plan.md", order=["trips/plan.md", "tale.md"])
    desk.page.get_by_role("textbox", name="Text of trips/plan.md").wait_for()
    expect(desk, lambda told: told.get("path") == "trips/plan.md")
    tabs = {tab["path"]: tab["tab_id"] for tab in desk.server.get("/api/tabs")["tabs"]}
    late: list[tuple[Route, APIResponse]] = []

    def answer_late(route: Route) -> None:
        late.append((route, route.fetch())) if not late else route.continue_()

    desk.page.route("**/api/tabs/front", answer_late)
    desk.page.evaluate("dispatchEvent(new Event('focus'))")
    desk.expect(lambda: len(late) == 1)
    desk.server.post("/api/tabs/front", {"tab_id": tabs["tale.md"]}, method="PUT")  # as another browser's window does
    desk.page.evaluate("dispatchEvent(new Event('focus'))")
    [(route, answered)] = late
    route.fulfill(response=answered)
    expect(desk, lambda told: told.get("path") == "trips/plan.md")
    desk.page.unroute("**/api/tabs/front")


@pytest.mark.covers("RD-front-app")
def test_a_request_is_about_the_text_with_what_was_just_typed_into_it(desk: Desk):
    desk.write("typed.md", TALE)
    desk.server.post("/api/tabs", {"path": "typed.md"})
    late: list[Callable[[], None]] = []
    typing: list[bool] = []
    found: list[str] = []

    def hold_typing(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def forward(message: str | bytes) -> None:
            late.append(lambda: server.send(message)) if typing else server.send(message)

        socket.on_message(forward)

    def look(route: Route) -> None:
        found.append(desk.server.get("/api/documents", path="typed.md")["content"])
        route.continue_()

    desk.page.route_web_socket("**/api/live/**", hold_typing)
    desk.page.route("**/api/agent/run", look)
    desk.begin(active="typed.md", order=["typed.md"], agentModel="edits")
    desk.page.get_by_role("textbox", name="Text of typed.md").click()
    desk.page.keyboard.press("Control+End")
    typing.append(True)
    desk.page.keyboard.type("Typed.")
    desk.ask("What of it?")
    desk.page.wait_for_timeout(300)  # in which it would be sent
    typing.clear()
    for send in late:
        send()
    desk.expect(lambda: len(found) == 1)
    assert found == [TALE + "Typed."]
    desk.page.unroute("**/api/agent/run")


@pytest.mark.covers("RD-front-app")
def test_the_selection_is_told_and_a_request_means_the_document_in_front(desk: Desk):
    desk.begin(active="tale.md", order=["tale.md", "trips/plan.md"], agentModel="edits")
    show(desk.page, "plan.md")
    text = desk.page.get_by_role("textbox", name="Text of trips/plan.md")
    text.get_by_text("We sail on Monday.").dblclick(position={"x": 38, "y": 8})
    expect(desk, lambda told: told.get("selection") == {"start_line": 3, "end_line": 3, "text": "sail"})
    desk.ask("Say it with another word.")
    desk.card.get_by_text("plan.md").first.wait_for()
    job = settled(desk.server, desk.last_job()["id"])
    assert (job["status"], job["document"]) == ("awaiting_review", "trips/plan.md")
    [edit] = job["proposed_edits"]
    assert (edit["file_path"], edit["new_text"]) == ("trips/plan.md", "We row on Monday.\n")
