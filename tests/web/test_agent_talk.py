"""Talking with the agent in the sidebar: questions, stopping it, reloads, costs, past chats, and hostile words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

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
MODELS = {
    "asks": [QUESTION, {"text": "Thank you."}],
    "slow": [
        {"text": "I look around.", "calls": [call("list_documents")]},
        {"text": "All is well.", "delay_ms": 1500},
    ],
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
    "edits": [
        {"text": "I edit.", "calls": [call("edit_text", path="tale.md", old_text="eleven", new_text="twelve")]},
        {"text": "Done."},
    ],
}
TALE = "# Tale\n\nIt was dark for eleven years.\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Generator[Desk]:
    with opened(tmp_path_factory.mktemp("talk"), MODELS) as found:
        found.write("tale.md", TALE)
        yield found


@pytest.mark.covers("SB-ui-clarify", "SB-ui-progress", "SB-ui-sidebar")
def test_a_question_is_answered(desk: Desk):
    desk.begin(agentModel="asks")
    desk.ask("What happened then?")
    desk.sidebar.get_by_text("Waiting for you").wait_for()
    desk.page.get_by_role("textbox", name="Which year do you mean?").fill("1912")
    desk.button("Answer").click()
    desk.sidebar.get_by_text("Thank you.").wait_for()
    [told] = [each for each in events(desk) if each["type"] == "clarification.received"]
    assert told["data"]["answer"] == "1912"


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
    "TK-lock-indicator",
)
def test_work_is_shown_and_can_be_stopped(desk: Desk):
    desk.begin(agentModel="stuck")
    desk.ask("Look around.")
    desk.working.get_by_text("step 2 of at most 20").wait_for()
    assert desk.working.get_by_role("progressbar", name="Steps").get_attribute("aria-valuenow") == "2"
    assert "Now: thinking" in desk.working.inner_text()
    assert "Done: Listed documents" in desk.working.inner_text()
    assert desk.violations() == []
    desk.button("Cancel").click()
    desk.sidebar.get_by_text("Stopped. Nothing was changed.").wait_for()
    assert desk.working.count() == 0
    assert desk.last_job()["status"] == "cancelled"


@pytest.mark.covers("ML-chat-locked")
def test_a_reload_in_mid_job_goes_on_showing_it_and_what_was_written_meanwhile_waits(desk: Desk):
    desk.begin(agentModel="slow")
    desk.ask("Look around.")
    desk.working.wait_for()
    desk.ask("And then?")
    desk.sidebar.get_by_text("this is sent when it is done").wait_for()
    desk.page.reload()
    desk.working.wait_for()
    assert desk.composer.input_value() == "And then?"
    desk.page.get_by_role("article", name="Request 2").get_by_text("All is well.").wait_for()
    first = desk.page.get_by_role("article", name="Request 1")
    assert first.get_by_text("All is well.").count() == 1
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


def test_tokens_and_money_are_told_by_turn_and_by_chat(desk: Desk):
    desk.begin(agentModel="dear")
    for number in (1, 2):
        desk.ask("Please.")
        desk.page.get_by_role("article", name=f"Request {number}").get_by_text(
            "2.0k tokens in, 50 out, $0.03"
        ).wait_for()
    total = desk.sidebar.get_by_text("in this chat")
    assert total.inner_text() == "4.0k tokens in, 100 out, $0.06 in this chat"


def test_calls_unfold_to_what_they_were_asked_and_answered(desk: Desk):
    desk.begin(agentModel="dear")
    desk.ask("Please.")
    line = desk.button(re.compile("^done Listed documents"))
    line.click()
    body = desk.sidebar.get_by_text("Asked with")
    body.wait_for()
    assert "document_count" in desk.sidebar.inner_text()
    line.click()
    body.wait_for(state="hidden")


@pytest.mark.covers("SB-ui-rows")
def test_context_is_added_pinned_ordered_and_removed(desk: Desk):
    desk.write("other.md", "Another.\n" * 50)
    desk.begin(agentModel="dear", selection=None)
    for name in ("tale.md", "other.md"):
        desk.button("Add a document").click()
        desk.page.get_by_role("option", name=re.compile(f"^{re.escape(name)}")).click()
    rows = desk.page.get_by_role("list", name="Context").get_by_role("listitem")
    assert [each.split("\n")[0] for each in rows.all_inner_texts()] == ["tale.md", "other.md"]
    desk.button("Move other.md up").click()
    assert [each.split("\n")[0] for each in rows.all_inner_texts()] == ["other.md", "tale.md"]
    desk.sidebar.get_by_text(re.compile("tokens in all")).wait_for()
    desk.button("Pin other.md to this chat").click()
    desk.button("Unpin other.md").wait_for()
    desk.button("Remove tale.md").click()
    assert rows.count() == 1
    desk.ask("What of it?")
    desk.sidebar.get_by_text("Two.").wait_for()
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
    desk.card.get_by_text("on disk").wait_for()
    assert "twelve" in desk.read("tale.md")
    desk.composer.press("Control+z")
    desk.card.get_by_text("undone").wait_for()
    assert desk.read("tale.md") == TALE


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_someone_with_no_key_asks_reviews_accepts_and_undoes_within_a_minute(desk: Desk, theme: str):
    desk.write("story.md", "The letter came. Then Ines read it, and Ines laughed.\n\nIn the evening Ines went up.\n")
    desk.begin(theme=theme)
    desk.sidebar.get_by_text("It is no language model").wait_for()
    suggestions = desk.page.get_by_role("list", name="Suggestions").get_by_role("button")
    suggestions.filter(has_text="Rename Ines to Marta everywhere").wait_for()
    assert suggestions.count() == 3
    suggestions.filter(has_text="Rename Ines").click()
    desk.composer.press("Enter")
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


def test_what_is_selected_in_the_editor_goes_along_with_the_next_request_alone(desk: Desk):
    desk.write("long.md", "First line.\nSecond line.\nThird line.\n")
    desk.server.post("/api/tabs", {"path": "long.md"})
    desk.begin(agentModel="dear", active="long.md", order=["long.md"])
    desk.page.get_by_text("Second line.").click()
    desk.page.keyboard.press("Home")
    desk.page.keyboard.press("Shift+End")
    desk.button(re.compile("^Add selection")).click()
    rows = desk.page.get_by_role("list", name="Context").get_by_role("listitem")
    assert rows.all_inner_texts()[0].startswith("long.md:2")
    with desk.page.expect_request("**/api/agent/run") as sent:
        desk.ask("What is this?")
    [row] = json.loads(sent.value.post_data or "")["context_rows"]
    assert (row["file_path"], row["start_line"], row["end_line"], row["content"]) == ("long.md", 2, 2, "Second line.")
    desk.sidebar.get_by_text("Two.").wait_for()
    assert rows.count() == 0


def test_quick_actions_fill_the_composer_with_what_the_assistant_understands(desk: Desk):
    desk.server.post("/api/tabs", {"path": "tale.md"})
    desk.begin(active="tale.md", order=["tale.md"])
    actions = desk.page.get_by_role("list", name="Quick actions").get_by_role("button")
    actions.filter(has_text="Summarise").wait_for()
    assert actions.filter(has_text="Tighten").count() == 0  # that takes a model
    actions.filter(has_text="Summarise").click()
    assert desk.composer.input_value() == "Summarise tale.md in 5 sentences"
    desk.composer.press("Enter")
    desk.sidebar.get_by_text("It was dark for").wait_for()
