"""The agent at the cursor: asked by a key or a button where the person is, it answers with a change in place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Locator, Request

pytestmark = pytest.mark.slow
TALE = "# The Lamp\n\nIt had been dark for eleven years.\n\nThe end came late.\n"
USAGE: dict[str, Any] = {"usage": {"input_tokens": 900, "output_tokens": 120}, "price_usd": "0.003"}
MODELS = {
    "editor": [{"calls": [call("edit_text", path="tale.md", old_text="eleven", new_text="twelve")]}, {"text": "Done."}],
    "refiner": [
        {"calls": [call("edit_text", path="tale.md", old_text="twelve", new_text="a hundred")]},
        {"text": "Done."},
    ],
    "writer": [
        {"calls": [call("edit_text", path="tale.md", old_text="years.\n", new_text="years.\n\nThen rain fell.\n")]},
        {"text": "Done."},
    ],
    "talker": [{"text": "There is nothing to mend here."}],
    "slow": [
        {"text": "I read.", "calls": [call("read_document", path="tale.md")], **USAGE},
        {"delay_ms": 60_000, "text": "Late."},
    ],
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("cursor"), MODELS) as found:
        yield found


@pytest.fixture
def desk(served: Desk) -> Generator[Desk]:
    served.page.set_viewport_size({"width": 1280, "height": 900})
    served.write("tale.md", TALE)
    served.server.post("/api/tabs", {"path": "tale.md"})
    yield served
    if served.server.get("/api/workspace")["pending"]:
        served.server.post("/api/review/reject", {"all": True})


def begun(desk: Desk, model: str, view: str, **state: Any) -> Locator:
    """The document in front, with the agent's panel closed."""
    desk.begin(agentModel=model, active="tale.md", order=["tale.md"], views={"tale.md": view}, **state)
    desk.page.keyboard.press("Control+Shift+a")
    desk.composer.wait_for(state="detached")
    text = desk.page.get_by_role("textbox", name="Text of tale.md")
    text.wait_for()
    return text


def bar(desk: Desk) -> Locator:
    return desk.page.locator("[data-hunk][data-shown]")


@pytest.mark.covers("RD-ask-here")
@pytest.mark.parametrize(("view", "theme"), [("source", "light"), ("rich", "dark")])
def test_by_keys_alone_the_selection_is_changed_in_place_and_then_refined(desk: Desk, view: str, theme: str):
    text = begun(desk, "editor", view, theme=theme)
    keyboard = desk.page.keyboard
    fronts: list[dict[str, Any]] = []

    def told(request: Request) -> None:
        if request.url.endswith("/api/tabs/front"):
            fronts.append(json.loads(request.post_data or ""))

    desk.page.on("request", told)
    text.get_by_text("It had been dark").click()
    keyboard.press("Home")
    keyboard.press("Shift+End")
    desk.page.get_by_role("button", name="Ask the agent", exact=True).wait_for()  # for those who know no key
    keyboard.press("Control+j")
    box = desk.page.get_by_role("textbox", name="Ask the agent here")
    desk.page.get_by_role("button", name="Tighten").wait_for()
    assert box.evaluate("field => field === document.activeElement")
    assert desk.violations() == []
    keyboard.type("Make it longer ago")
    with desk.page.expect_request("**/api/agent/run") as sent:
        keyboard.press("Enter")
    desk.page.remove_listener("request", told)
    selected = {"start_line": 3, "end_line": 3, "text": "It had been dark for eleven years."}
    assert fronts[-1]["selection"] == selected  # it goes along by itself
    asked = json.loads(sent.value.post_data or "")["instruction"]
    passage = '"It had been dark for eleven years."'
    assert asked == f"Change only the selected passage in line 3 of tale.md, {passage}: Make it longer ago"
    bar(desk).get_by_role("button", name='Accept: "eleven" → "twelve"').wait_for()
    assert box.count() == 0
    assert desk.read("tale.md") == TALE

    begun(desk, "refiner", view, theme=theme)
    desk.page.locator("ins", has_text="twelve").hover()
    bar(desk).get_by_role("button", name=re.compile("^Refine")).click()
    desk.page.get_by_role("textbox", name="Refine this change").fill("Longer still")
    keyboard.press("Enter")
    bar(desk).get_by_role("button", name='Accept: "eleven" → "a hundred"').click()
    desk.expect(lambda: desk.read("tale.md") == TALE.replace("eleven", "a hundred"))
    assert "twelve" not in desk.server.get("/api/documents", path="tale.md")["content"]


@pytest.mark.covers("RD-ask-here")
def test_the_bubble_and_an_empty_line_ask_too_and_an_answer_without_a_change_is_read_in_place(desk: Desk):
    text = begun(desk, "talker", "rich")
    text.get_by_text("It had been dark").click()
    desk.page.keyboard.press("Home")
    desk.page.keyboard.press("Shift+End")
    desk.page.get_by_role("button", name="Ask the agent").click()
    desk.page.get_by_role("button", name="Fix spelling").click()
    box = desk.page.get_by_role("dialog", name="Ask the agent here")
    box.get_by_text("There is nothing to mend here.").wait_for()
    desk.page.keyboard.press("Escape")
    box.wait_for(state="detached")
    assert text.evaluate("shown => shown.contains(document.activeElement)")

    desk.page.set_viewport_size({"width": 390, "height": 844})
    text = begun(desk, "writer", "source")
    text.locator(".cm-line").nth(3).click()
    desk.page.keyboard.press("Control+j")
    box.wait_for()
    assert box.get_by_role("list", name="Quick requests").get_by_role("button").all_inner_texts() == [
        "Continue",
        "Outline",
    ]
    place = box.bounding_box()
    assert place is not None
    assert (place["x"] >= 0, place["x"] + place["width"] <= 390) == (True, True)
    box.get_by_role("button", name="Continue").click()
    bar(desk).get_by_role("button", name='Accept: add "Then rain fell."').wait_for()
    assert desk.last_job()["instruction"].startswith("At the empty line 4 of tale.md: Continue the text")


@pytest.mark.covers("RD-words-arrive")
def test_what_was_asked_in_the_chat_opens_at_its_first_change_and_the_next_request_can_be_typed(desk: Desk):
    desk.write("other.md", TALE)
    desk.server.post("/api/tabs", {"path": "other.md"})
    desk.begin(agentModel="editor", active="other.md", order=["other.md"])
    desk.page.get_by_role("textbox", name="Text of other.md").wait_for()
    desk.ask("Make it longer ago")
    desk.page.get_by_role("tab", name="tale.md", selected=True).wait_for()
    bar(desk).get_by_role("button", name='Accept: "eleven" → "twelve"').wait_for()
    desk.page.keyboard.type("And then")
    assert desk.composer.input_value() == "And then"


@pytest.mark.covers("RD-agent-line")
def test_with_the_panel_closed_the_foot_says_what_the_agent_does_and_costs_and_stops_it(desk: Desk):
    text = begun(desk, "slow", "source")
    line = desk.page.get_by_role("region", name="Agent status")
    line.get_by_text("The agent is ready.").wait_for()
    text.click()
    desk.page.keyboard.press("Control+j")
    desk.page.keyboard.type("Look at it")
    desk.page.keyboard.press("Enter")
    line.get_by_text("Working: step 2 of at most 20 · Now: thinking").wait_for()
    line.get_by_text("900 tokens in, 120 out, $0.0030").wait_for()
    line.get_by_role("button", name="Cancel").click()
    line.get_by_text("The agent is ready.").wait_for()
    assert desk.last_job()["status"] == "cancelled"
