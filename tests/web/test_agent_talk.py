"""Talking with the agent in the sidebar: questions, stopping it, reloads, costs, past chats, and hostile words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.slow

QUESTION = {"text": "Hm.", "calls": [call("clarify_user", question="Which year do you mean?")]}
HOSTILE = """# Look

<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>

![a picture](http://evil.example/picture.png) [script](javascript:document.title='taken') [data](data:text/html,x)
[the web](https://example.org/page) and [the tale](tale.md#L3) and `tale.md`

| a | b |
| --- | --- |
| 1 | 2 |
"""


def twice(path: str) -> list[dict[str, Any]]:
    """A model that changes two words of a document."""
    words = {"eleven": "twelve", "# Tale": "# Story"}
    edits = [call("edit_text", path=path, old_text=old, new_text=new) for old, new in words.items()]
    return [{"text": "I edit.", "calls": edits}, {"text": "Done."}]


MODELS = {
    "asks": [QUESTION, {"text": "Thank you."}],
    "stuck": [{"text": "I begin.", "calls": [call("list_documents")]}, {"text": "Never.", "delay_ms": 60_000}],
    "fails": [{"error": "auth", "message": "The key was refused."}],
    "dear": [
        {
            "text": "One.",
            "calls": [call("list_documents")],
            "usage": {"input_tokens": 1200, "output_tokens": 30},
            "price_usd": "0.02",
        },
        {"text": "Two.", "usage": {"input_tokens": 800, "output_tokens": 20}, "price_usd": "0.01"},
    ],
    "hostile": [{"text": HOSTILE}],
    "twice": twice("twice.md"),
    "pieces": twice("pieces.md"),
    **{f"decided-{at}": twice(f"decided-{at}.md") for at in range(4)},
    "meets": [
        {"text": "I edit.", "calls": [call("edit_text", path="meets.md", old_text="eleven", new_text="twelve")]},
        QUESTION,
        {"text": "Done."},
    ],
    "edits": [
        {"text": "I edit.", "calls": [call("edit_text", path="tale.md", old_text="eleven", new_text="twelve")]},
        {"text": "Done."},
    ],
}
TALE = "# Tale\n\nIt was dark for eleven years.\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("talk"), MODELS) as found:
        found.write("tale.md", TALE)
        yield found


@pytest.mark.covers("SB-ui-clarify")
def test_a_question_is_answered(desk: Desk):
    desk.begin(agentModel="asks")
    desk.ask("What happened then?")
    desk.sidebar.get_by_text("Waiting for you").wait_for()
    desk.page.get_by_role("textbox", name="Which year do you mean?").fill("1912")
    desk.button("Answer").click()
    desk.sidebar.get_by_text("Thank you.").wait_for()
    [told] = [each for each in events(desk) if each["type"] == "clarification.received"]
    assert told["data"]["answer"] == "1912"


def test_the_card_counts_what_is_left_to_review(desk: Desk):
    desk.write("twice.md", TALE)
    desk.server.post("/api/tabs", {"path": "twice.md"})
    desk.begin(agentModel="twice", active="twice.md", order=["twice.md"])
    desk.ask("Change it.")
    desk.card.get_by_text("2 changes to review").wait_for()
    desk.page.locator("ins", has_text="twelve").hover()
    desk.page.get_by_role("button", name='Accept: "eleven" → "twelve"').click()
    desk.card.get_by_text("1 change to review").wait_for()
    desk.page.get_by_role("button", name='Reject: "Tale" → "Story"').click()
    desk.card.get_by_text("to review").wait_for(state="detached")
    assert desk.read("twice.md") == TALE.replace("eleven", "twelve")


def test_what_was_accepted_one_by_one_the_card_takes_back_whole(desk: Desk):
    desk.write("pieces.md", TALE)
    desk.server.post("/api/tabs", {"path": "pieces.md"})
    desk.begin(agentModel="pieces", active="pieces.md", order=["pieces.md"])
    desk.ask("Change it.")
    desk.page.locator("ins", has_text="twelve").hover()
    desk.page.get_by_role("button", name='Accept: "eleven" → "twelve"').click()
    desk.card.get_by_text("1 change to review").wait_for()
    desk.page.locator("ins", has_text="Story").hover()
    desk.page.get_by_role("button", name='Accept: "Tale" → "Story"').click()
    desk.card.get_by_text("accepted", exact=True).wait_for()
    assert desk.read("pieces.md") == TALE.replace("eleven", "twelve").replace("Tale", "Story")
    desk.card.get_by_role("button", name="Undo").click()
    desk.card.get_by_text("undone").wait_for()
    assert desk.read("pieces.md") == TALE
    assert desk.server.get("/api/documents", path="pieces.md")["content"] == TALE


@pytest.mark.covers("RD-review-undo-key")
@pytest.mark.parametrize("front", [True, False])
@pytest.mark.parametrize("act", ["Accept all", "Reject all"])
def test_ctrl_z_right_after_the_cards_buttons_takes_the_decision_back(desk: Desk, act: str, front: bool):
    name = f"decided-{2 * front + (act == 'Accept all')}"
    path, aside = f"{name}.md", f"aside-{name}.md"
    shown = path if front else aside
    desk.write(path, TALE)
    desk.write(aside, TALE)
    desk.server.post("/api/tabs", {"path": shown})
    desk.begin(agentModel=name, active=shown, order=[shown])
    desk.page.get_by_role("textbox", name=f"Text of {shown}").click()
    desk.page.keyboard.press("Control+End")
    desk.page.keyboard.type("Typed.")
    desk.ask("Change it.")
    desk.card.get_by_text("2 changes to review").wait_for()
    desk.card.get_by_role("button", name=act).click()
    desk.card.get_by_text("accepted" if act == "Accept all" else "rejected").wait_for()
    desk.page.keyboard.press("Control+z")
    desk.card.get_by_text("2 changes to review").wait_for()
    assert desk.read(path) == TALE
    assert desk.server.get("/api/documents", path=shown)["content"].endswith("Typed.")
    desk.server.post("/api/review/reject", {"all": True})


@pytest.mark.covers("RD-conflict-sides", "RD-review-undo-key", "RD-review-conflict")
def test_a_conflict_between_a_person_and_an_agent_says_whose_is_what_and_is_settled_and_taken_back(desk: Desk):
    desk.write("meets.md", TALE)
    tab = desk.server.post("/api/tabs", {"path": "meets.md"})["tab_id"]
    desk.begin(agentModel="meets", active="meets.md", order=["meets.md"])
    desk.ask("Make it longer.")
    desk.sidebar.get_by_text("Waiting for you").wait_for()
    typed = TALE.replace("eleven", "ninety")
    desk.server.post(f"/api/tabs/{tab}/type", {"content": typed})
    desk.page.get_by_role("textbox", name="Which year do you mean?").fill("1912")
    desk.button("Answer").click()
    name = re.compile('^Resolve…: ".*ninety.*" or ".*twelve.*"$')
    settle = desk.page.get_by_role("button", name=name)
    for use, left in (("Use yours", "ninety"), ("Use agent's", "twelve")):
        settle.click()
        sides = {"Yours": "ninety", "agent's": "twelve"}
        for side, words in sides.items():
            assert words in desk.dialog().get_by_role("region", name=side, exact=True).inner_text()
        assert desk.violations() == []
        desk.dialog().get_by_role("button", name=use, exact=True).click()
        desk.dialog().wait_for(state="hidden")
        settle.wait_for(state="detached")
        desk.page.locator("[contenteditable=true]:focus").wait_for()
        assert desk.read("meets.md") == TALE.replace("eleven", left)
        desk.page.keyboard.press("Control+z")
        settle.wait_for()
        assert desk.read("meets.md") == TALE
        assert desk.server.get("/api/documents", path="meets.md")["content"] == typed


@pytest.mark.covers("ML-adv-memory-preferences")
def test_a_preference_is_kept_by_a_word_in_the_chat(desk: Desk):
    desk.begin(agentModel="asks")
    desk.ask("/remember Use British spelling.")
    desk.sidebar.get_by_text("I will remember that.").wait_for()
    desk.ask("/remember")
    desk.sidebar.get_by_text("Use British spelling.", exact=True).wait_for()  # the answer, not the question before
    kept = desk.folder.parent / "state" / "redraft" / "memory" / "preferences.md"
    assert "- Use British spelling." in kept.read_text(encoding="utf-8")
    desk.ask("/forget Use British spelling.")
    desk.sidebar.get_by_text("Forgotten.").wait_for()


@pytest.mark.covers("SB-ui-clarify")
def test_a_question_is_left_to_the_agent(desk: Desk):
    desk.begin(agentModel="asks")
    desk.ask("What happened then?")
    desk.button(re.compile("^Skip")).click()
    desk.sidebar.get_by_text("Thank you.").wait_for()
    [told] = [each for each in events(desk) if each["type"] == "clarification.received"]
    assert told["data"]["answer"] == "no_user_answer"


def events(desk: Desk) -> list[dict[str, Any]]:
    return desk.server.get(f"/api/agent/jobs/{desk.last_job()['job_id']}/events")["events"]


@pytest.mark.covers(
    "ML-progress-step",
    "ML-progress-bar",
    "ML-progress-cancel",
    "ML-ui-progress-done",
    "ML-store-running",
    "ML-chat-panels",
    "ML-loop-cancel",
    "TK-lock-indicator",
    "SB-ui-progress",
    "SB-scope-non-blocking",
)
def test_work_is_shown_and_can_be_stopped(desk: Desk):
    desk.write("busy.md", TALE)
    desk.server.post("/api/tabs", {"path": "busy.md"})
    desk.begin(agentModel="stuck", active="busy.md", order=["busy.md"])
    desk.ask("Look around.")
    desk.working.get_by_text("step 2 of at most 20").wait_for()
    bar = desk.working.get_by_role("progressbar", name="Steps")
    assert [bar.get_attribute(f"aria-value{name}") for name in ("now", "max")] == ["2", "20"]
    share: float = bar.evaluate(
        "bar => bar.firstChild.getBoundingClientRect().width / bar.getBoundingClientRect().width"
    )
    assert round(share, 2) == 0.1
    assert desk.page.get_by_role("article", name="Request 1").get_by_text("Look around.").count() == 1
    assert "Now: thinking" in desk.working.inner_text()
    assert "Done: Listed documents" in desk.working.inner_text()
    desk.page.get_by_role("textbox", name="Text of busy.md").click()
    desk.page.keyboard.press("Control+End")
    desk.page.keyboard.type("Typed meanwhile.")
    desk.page.get_by_text("Typed meanwhile.").wait_for()
    assert desk.violations() == []
    desk.working.get_by_role("button", name="Cancel").click()
    desk.sidebar.get_by_text("Stopped. Nothing was changed.").wait_for()
    desk.working.wait_for(state="detached")
    assert desk.last_job()["status"] == "cancelled"
    desk.expect(lambda: desk.server.get("/api/documents", path="busy.md")["content"] == TALE + "Typed meanwhile.")


@pytest.mark.covers("ML-chat-locked")
def test_a_reload_in_mid_job_goes_on_showing_it_and_what_was_written_meanwhile_waits(desk: Desk):
    desk.begin(agentModel="asks")
    desk.ask("Look around.")
    desk.working.get_by_text("Waiting for you").wait_for()
    desk.ask("And then?")
    desk.sidebar.get_by_text("will be sent when it finishes").wait_for()
    desk.page.reload()
    desk.working.wait_for()
    assert desk.composer.input_value() == "And then?"
    for number in (1, 2):
        request = desk.page.get_by_role("article", name=f"Request {number}")
        request.get_by_role("button", name=re.compile("^Skip")).click()
        request.get_by_text("Thank you.").wait_for()
    assert request.get_by_text("And then?", exact=True).count() == 1
    assert desk.composer.input_value() == ""


def test_a_draft_is_kept_through_a_reload_and_shift_enter_breaks_the_line(desk: Desk):
    desk.begin()
    desk.composer.fill("One")
    desk.composer.press("Shift+Enter")
    desk.composer.press_sequentially("Two")
    height = desk.composer.bounding_box()
    desk.page.reload()
    assert desk.composer.input_value() == "One\nTwo"
    assert height is not None
    assert height["height"] > 40  # it has grown


def test_a_failure_is_a_sentence_with_a_next_step_and_can_be_tried_again(desk: Desk):
    desk.begin(agentModel="fails")
    desk.ask("Please.")
    alert = desk.sidebar.get_by_role("alert")
    alert.get_by_text("The key was refused.").wait_for()
    desk.button("Retry").click()
    desk.page.get_by_role("article", name="Request 2").get_by_role("alert").wait_for()
    assert alert.get_by_role("button", name="Retry").count() == 1  # the first was tried again already


@pytest.mark.parametrize("typed", ["And then?", "First. And then?"])
def test_what_is_written_while_a_request_is_on_its_way_stays_and_is_sent_next(desk: Desk, typed: str):
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        route.continue_() if held else held.append(route)

    desk.begin(agentModel="dear")
    desk.page.route("**/api/agent/run", hold_first)
    desk.ask("First.")
    desk.expect(lambda: len(held) == 1)
    desk.composer.fill(typed)  # instead of what is being sent, or after it
    held[0].continue_()
    desk.page.get_by_role("article", name="Request 1").get_by_text("Two.").wait_for()
    assert desk.composer.input_value() == "And then?"
    held.clear()
    desk.composer.press("Enter")
    desk.expect(lambda: len(held) == 1)
    desk.ask("And last?")
    held[0].continue_()
    for number, asked in ((2, "And then?"), (3, "And last?")):
        desk.page.get_by_role("article", name=f"Request {number}").get_by_text(asked, exact=True).wait_for()
    desk.page.unroute("**/api/agent/run")
    desk.page.get_by_role("article", name="Request 3").get_by_text("Two.").wait_for()
    assert desk.composer.input_value() == ""


def test_trying_a_request_again_leaves_what_is_in_the_composer(desk: Desk):
    desk.begin(agentModel="fails")
    desk.ask("Please.")
    desk.button("Retry").wait_for()
    desk.composer.fill("Not sent yet.")
    desk.button("Retry").click()
    desk.page.get_by_role("article", name="Request 2").get_by_role("alert").wait_for()
    assert desk.composer.input_value() == "Not sent yet."


def test_tokens_and_money_are_told_by_turn_and_by_chat(desk: Desk):
    desk.begin(agentModel="dear")
    for number in (1, 2):
        desk.ask("Please.")
        desk.page.get_by_role("article", name=f"Request {number}").get_by_text(
            "2.0k tokens in, 50 out, $0.03"
        ).wait_for()
    total = desk.sidebar.get_by_text("in this chat")
    desk.expect(lambda: total.inner_text() == "4.0k tokens in, 100 out, $0.06 in this chat")


def test_calls_unfold_to_what_they_were_asked_and_answered(desk: Desk):
    desk.begin(agentModel="dear")
    desk.ask("Please.")
    line = desk.button(re.compile("^Done Listed documents"))
    line.click()
    body = desk.sidebar.get_by_text("Arguments")
    body.wait_for()
    assert "document_count" in desk.sidebar.inner_text()
    line.click()
    body.wait_for(state="hidden")


@pytest.mark.covers("SB-ui-rows", "SB-ui-sidebar", "SB-scope-rows-kept")
def test_context_is_added_pinned_ordered_and_removed(desk: Desk):
    desk.write("other.md", "Another.\n" * 50)
    desk.begin(agentModel="dear", selection=None)
    for name in ("tale.md", "other.md"):
        desk.button("Add document").click()
        desk.page.get_by_role("option", name=re.compile(f"^{re.escape(name)}")).click()
    rows = desk.page.get_by_role("list", name="Context").get_by_role("listitem")
    desk.expect(lambda: [each.split("\n")[0] for each in rows.all_inner_texts()] == ["tale.md", "other.md"])
    desk.button("Move other.md up").click()
    desk.expect(lambda: [each.split("\n")[0] for each in rows.all_inner_texts()] == ["other.md", "tale.md"])
    desk.sidebar.get_by_text(re.compile("tokens in total")).wait_for()
    desk.button("Pin other.md to this chat").click()
    desk.button("Unpin other.md").wait_for()
    desk.button("Remove tale.md").click()
    assert rows.count() == 1
    assert desk.sidebar.get_by_role("list", name="Context").get_by_role("listitem").count() == 1
    desk.ask("What of it?")
    exchange = desk.sidebar.get_by_role("article", name="Request 1")
    exchange.get_by_text("Two.").wait_for()
    assert "What of it?" in exchange.inner_text()
    session = desk.server.get(f"/api/agent/sessions/{desk.last_job()['session_id']}")
    assert [row["file_path"] for row in session["context_rows"]] == ["other.md"]
    assert rows.count() == 1  # what is pinned stays


def test_past_chats_are_listed_opened_and_put_away(desk: Desk):
    desk.begin(agentModel="dear")
    desk.ask("The first chat")
    desk.sidebar.get_by_text("Two.").wait_for()
    desk.button("New chat").click()
    desk.ask("The second chat")
    desk.sidebar.get_by_text("Two.").wait_for()
    desk.button("Past chats").click()
    listed = desk.page.get_by_role("list", name="Past chats")
    listed.get_by_text("The second chat").wait_for()
    assert desk.violations() == []
    listed.get_by_role("listitem").filter(has_text="The first chat").get_by_role("button", name="Archive").click()
    listed.get_by_text("The first chat").wait_for(state="hidden")
    desk.button(re.compile("^Show .* archived")).click()
    listed.get_by_text("The first chat").click()
    desk.page.get_by_role("article", name="Request 1").get_by_text("The first chat").wait_for()
    desk.page.get_by_placeholder("This chat is archived.").wait_for()
    assert desk.composer.is_disabled()


def test_no_word_of_a_model_comes_to_life(desk: Desk):
    desk.begin(agentModel="hostile")
    desk.ask("Speak.")
    desk.sidebar.get_by_role("table").wait_for()
    assert desk.page.title() != "taken"
    answer = desk.page.get_by_role("article", name="Request 1")
    assert answer.locator("img, script, iframe, style").count() == 0
    assert [link.get_attribute("href") for link in answer.get_by_role("link").all()] == ["https://example.org/page"]
    web = answer.get_by_role("link", name="the web")
    assert (web.get_attribute("rel"), web.get_attribute("target")) == ("noopener noreferrer", "_blank")
    answer.get_by_role("button", name="the tale").click()
    desk.page.get_by_role("tab", name=re.compile("tale.md")).wait_for()


@pytest.mark.covers("ML-adv-key-undo")
def test_ctrl_z_in_the_chat_undoes_what_the_agent_did_last(desk: Desk):
    desk.write("tale.md", TALE)
    desk.begin(agentModel="edits", agentMode="apply")
    desk.ask("Make it longer ago.")
    desk.card.get_by_text("applied").wait_for()
    assert "twelve" in desk.read("tale.md")
    desk.composer.press("Control+z")
    desk.card.get_by_text("undone").wait_for()
    assert desk.read("tale.md") == TALE


@pytest.mark.covers("ML-open-mobile", "ML-open-offline", "ML-banner-buttons")
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_someone_with_no_key_asks_reviews_accepts_and_undoes_within_a_minute(desk: Desk, theme: str, width: int):
    desk.page.set_viewport_size({"width": width, "height": 844})
    desk.write("story.md", "The letter came. Then Ines read it, and Ines laughed.\n\nIn the evening Ines went up.\n")
    desk.begin(theme=theme)
    desk.sidebar.get_by_text("It is not a language model").wait_for()
    suggestions = desk.page.get_by_role("list", name="Suggestions").get_by_role("button")
    suggestions.filter(has_text="Rename Ines to Marta everywhere").wait_for()
    desk.expect(lambda: suggestions.count() == 3)
    suggestions.filter(has_text="Rename Ines").click()
    desk.card.get_by_text("to review").wait_for()
    assert "Ines" in desk.read("story.md")
    assert desk.violations() == []
    desk.card.get_by_role("button", name="Accept all").click()
    desk.card.get_by_text("accepted").wait_for()
    assert "Ines" not in desk.read("story.md")
    desk.card.get_by_role("button", name="Undo").click()
    desk.card.get_by_text("to review").wait_for()  # the decision was taken back, not the proposal
    assert "Marta" not in desk.read("story.md")
    desk.card.get_by_role("button", name="Reject all").click()
    desk.card.get_by_text("rejected").wait_for()
    assert "Marta" not in desk.read("story.md")
    assert desk.page.evaluate("document.scrollingElement.scrollWidth") <= width
    desk.page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.covers("SB-ui-rows", "SB-api-run-row")
def test_what_is_selected_in_the_editor_goes_along_with_the_next_request_alone(desk: Desk):
    desk.write("long.md", "First line.\nSecond line.\nThird line.\n")
    desk.server.post("/api/tabs", {"path": "long.md"})
    desk.begin(agentModel="dear", active="long.md", order=["long.md"])
    desk.page.get_by_text("Second line.").click()
    desk.page.keyboard.press("Home")
    desk.page.keyboard.press("Shift+End")
    desk.button(re.compile("^Add selection")).click()
    rows = desk.page.get_by_role("list", name="Context").get_by_role("listitem")
    desk.expect(lambda: [each.startswith("long.md:2") for each in rows.all_inner_texts()] == [True])
    with desk.page.expect_request("**/api/agent/run") as sent:
        desk.ask("What is this?")
    [row] = json.loads(sent.value.post_data or "")["context_rows"]
    assert (row["file_path"], row["start_line"], row["end_line"], row["content"]) == ("long.md", 2, 2, "Second line.")
    desk.sidebar.get_by_text("Two.").wait_for()
    assert rows.count() == 0


@pytest.mark.covers("RD-app-quick-run")
def test_quick_actions_run_and_fit_the_document_and_what_the_assistant_understands(desk: Desk):
    desk.server.post("/api/tabs", {"path": "tale.md"})
    desk.begin(active="tale.md", order=["tale.md"])
    actions = desk.page.get_by_role("list", name="Quick actions").get_by_role("button")
    actions.filter(has_text="Summarise").wait_for()
    assert actions.filter(has_text="Tighten").count() == 0  # that takes a model
    actions.filter(has_text="Summarise").click()
    desk.sidebar.get_by_text("Summarise tale.md in 5 sentences").wait_for()
    desk.sidebar.get_by_text("It was dark for").wait_for()
    assert desk.composer.input_value() == ""
    desk.write("places.json", '{"harbour": 1}\n')
    desk.server.post("/api/tabs", {"path": "places.json"})
    desk.begin(active="places.json", order=["places.json"])
    actions.filter(has_text="What changed?").wait_for()
    assert actions.filter(has_text="People and places").count() == 0  # that is for prose
