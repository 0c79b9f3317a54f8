"""An agent program in the sidebar: chosen as a model is, and everything that it says, asks and does is shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import redraft
from tests.web.agent_desk import LIMITS, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser

    from tests.web.agent_desk import Desk

AGENT = Path(__file__).parents[1] / "programs" / "scripted_agent.py"


@pytest.fixture(scope="module")
def hosted(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Desk]:
    if any(place.startswith("/tmp/") for place in (sys.executable, __file__, redraft.__file__)):
        pytest.skip("programs below /tmp are not found in a private view")
    command = json.dumps([sys.executable, str(AGENT)])
    stranger = json.dumps([sys.executable, str(AGENT), "signed-out"])
    entries = f"[agents.toy]\ncommand = {command}\n[agents.stranger]\ncommand = {stranger}\n"
    with opened(chromium, tmp_path_factory.mktemp("programs"), {}, LIMITS + entries) as desk:
        yield desk


def ask(desk: Desk, *steps: dict[str, Any]) -> None:
    desk.ask(json.dumps(steps))


@pytest.mark.covers("RD-host-app")
def test_words_thoughts_plan_calls_with_their_diffs_and_cost_are_shown_and_the_turn_is_judged(hosted: Desk):
    hosted.write("story.md", "The house was dark.\n")
    hosted.begin()
    hosted.button(re.compile("^Model:")).click()
    hosted.page.get_by_role("menuitemradio", name="toy").click()
    ask(
        hosted,
        {"think": "What is asked?"},
        {"say": "I look at it. "},
        {"plan": [["Read it", "completed"], ["Light the lamp", "in_progress"]]},
        {"edit": ["story.md", "dark", "bright"]},
        {"usage": [50_000, 200_000, 0.25]},
        {"say": "It is done."},
    )
    dialog = hosted.dialog()
    dialog.get_by_role("button", name="Allow").wait_for()
    assert "toy wants to: Edit story.md" in dialog.inner_text()
    dialog.get_by_role("button", name="Allow").click()
    hosted.card.wait_for()
    shown = hosted.sidebar
    assert shown.get_by_text("I look at it.", exact=True).count() == 1
    assert shown.get_by_text("It is done.", exact=True).count() == 1
    shown.get_by_text("Thinking").click()
    shown.get_by_text("What is asked?", exact=True).wait_for()
    plan = shown.get_by_role("list", name="Plan").get_by_role("listitem")
    assert [plan.nth(n).inner_text().split(" ", 1)[1] for n in range(plan.count())] == ["Read it", "Light the lamp"]
    shown.get_by_role("button", name="Edit story.md").click()
    shown.get_by_text("+bright").wait_for()
    assert "1.2k tokens in, 300 out, $0.25 · scripted 1.5 · context 25% full" in shown.inner_text()
    assert hosted.read("story.md") == "The house was dark.\n"
    assert hosted.violations() == []
    hosted.card.get_by_role("button", name="Accept all").click()
    hosted.expect(lambda: hosted.read("story.md") == "The house was bright.\n")


@pytest.mark.covers("RD-host-app", "RD-host-options")
def test_its_options_and_commands_are_offered_once_it_has_told_of_them(hosted: Desk):
    hosted.begin(agentModel="agent:toy")
    ask(hosted, {"options": True})
    hosted.sidebar.get_by_text("mode careful, model small").wait_for()
    hosted.button("Mode of toy: Careful").click()
    hosted.page.get_by_role("menuitemradio", name="Bold").click()
    hosted.button("Model of toy: Small").click()
    hosted.page.get_by_role("menuitemradio", name="Large").click()
    ask(hosted, {"options": True})
    hosted.sidebar.get_by_text("mode bold, model large").wait_for()
    hosted.button(re.compile("^Commands of toy")).click()
    hosted.page.get_by_role("menuitemradio", name="/tidy").click()
    hosted.expect(lambda: hosted.composer.input_value() == "/tidy ")


@pytest.mark.covers("RD-host-app", "RD-host-permission")
def test_permission_for_the_job_is_not_asked_for_again_in_it_and_a_refusal_lets_it_go_on(hosted: Desk):
    hosted.begin(agentModel="agent:toy")
    run = {"ask": "Run it", "kind": "execute"}
    ask(hosted, run, run, run, {"say": "End."})
    hosted.dialog().get_by_role("button", name="Refuse").click()
    hosted.dialog().get_by_role("radio", name="For the rest of this job").check()
    hosted.dialog().get_by_role("button", name="Allow").click()
    hosted.sidebar.get_by_text("allowed. End.", exact=True).wait_for()
    hosted.expect(lambda: hosted.last_job()["answer"] == "refused. allowed. allowed. End.")


@pytest.mark.covers("RD-host-app", "RD-host-forms")
def test_a_form_is_answered_in_the_chat_and_a_signed_out_program_says_how_to_sign_in(hosted: Desk):
    hosted.begin(agentModel="agent:toy")
    tone = {"type": "string", "enum": ["dry", "warm"], "title": "Which tone?"}
    ask(hosted, {"form": {"type": "object", "properties": {"tone": tone}, "required": ["tone"]}})
    question = hosted.sidebar.get_by_role("form", name="Question from the agent")
    question.get_by_role("textbox").fill("warm")
    question.get_by_role("button", name="Answer").click()
    hosted.sidebar.get_by_text('heard {"tone": "warm"}').wait_for()
    hosted.begin(agentModel="agent:stranger")
    ask(hosted, {"say": "never"})
    hosted.sidebar.get_by_text("stranger is not signed in").first.wait_for()
    assert "Log in: Run `scripted login`" in hosted.sidebar.inner_text()


@pytest.mark.covers("RD-host-app", "RD-host-cancel")
def test_cancel_ends_the_program_and_says_that_its_work_waits(hosted: Desk):
    hosted.write("story.md", "The house was dark.\n")
    hosted.begin(agentModel="agent:toy")
    ask(hosted, {"shell": "sed -i s/dark/bright/ story.md; sleep 300"})
    hosted.working.get_by_role("button", name="Cancel").wait_for()
    hosted.expect(lambda: "Now: `sed" in hosted.working.inner_text())
    hosted.working.get_by_role("button", name="Cancel").click()
    hosted.sidebar.get_by_text("I stopped toy, as you asked.").first.wait_for()
    assert "redraft views take" in hosted.sidebar.inner_text()
    assert hosted.read("story.md") == "The house was dark.\n"
