"""What the sidebar shows as the server reports it: subagents at work, conflicts and runs, and consent before edits."""

from __future__ import annotations

import itertools
import json
import re
import time
from typing import TYPE_CHECKING

import pytest

from tests.web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Request, Route

pytestmark = pytest.mark.slow

PARTS = 3
NOVEL = "".join(
    f"# Chapter {n}\n\n" + f"The road of chapter {n} went on, and nobody spoke a word.\n\n" * 190 for n in range(PARTS)
)
TALE = "# Tale\n\nIt was dark for eleven years.\n"
ASK = "Ask before editing"
# Every number of subagents that was shown, and every result of theirs: a look now and then could miss one.
WATCH = """() => {
  window.shown = [];
  const look = () => {
    for (const [found] of document.body.textContent.matchAll(/\\d subagents? working|A part, number \\d/g))
      if (window.shown.at(-1) !== found) window.shown.push(found);
  };
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def spoken(text: str, delay_ms: int = 0) -> dict[str, object]:
    return {"text": json.dumps({"summary": text}), "delay_ms": delay_ms}


def edits(path: str) -> list[dict[str, object]]:
    edit = call("edit_text", path=path, old_text="eleven", new_text="twelve")
    return [{"text": "I edit.", "calls": [edit]}, {"text": "Edited."}]


MODELS = {
    "crew": [
        {"text": "I read it.", "calls": [call("analyze_document", path="novel.md", task="summary")]},
        *(spoken(f"A part, number {n}.", 700 * (n + 1)) for n in range(PARTS)),
        spoken("All of it."),
        {"text": "I have read it."},
    ],
    "tells": edits("told.md"),
    "asks": edits("asked.md"),
    "slow": [{"text": "All is well.", "delay_ms": 4500}],
    "quick": [{"text": "All is well.", "delay_ms": 1500}],
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("reports"), MODELS) as found:
        yield found


@pytest.mark.covers("TK-sub-counter", "TK-sub-counter-moves", "TK-sub-partial-hidden")
def test_subagents_are_counted_as_they_begin_and_end_and_their_parts_are_not_shown(desk: Desk):
    desk.write("novel.md", NOVEL)
    desk.begin(agentModel="crew")
    desk.page.evaluate(WATCH)
    desk.ask("Sum up novel.md")
    desk.working.get_by_text("subagents working").wait_for()
    desk.sidebar.get_by_text("I have read it.").wait_for()
    shown: list[str] = desk.page.evaluate("window.shown")
    assert shown[:3] == ["3 subagents working", "2 subagents working", "1 subagent working"]
    assert [each for each in shown if each.startswith("A part")] == []
    assert desk.sidebar.get_by_text(re.compile("subagents? working")).count() == 0


@pytest.mark.covers("SB-ui-conflict", "SB-conflict-frontend")
def test_a_conflict_and_the_run_that_the_server_repeats_are_shown(desk: Desk):
    desk.write("told.md", TALE)
    desk.begin(agentModel="tells")
    desk.ask("Make it longer ago.")
    accept = desk.card.get_by_role("button", name="Accept all")
    accept.wait_for()
    desk.write("told.md", TALE + "Somebody else.\n")
    desk.asked.clear()
    accept.click()
    first, second = (desk.page.get_by_role("article", name=f"Request {n}") for n in (1, 2))
    first.get_by_text("Conflict: told.md has changed since it was shown. Nothing was written.").wait_for()
    second.get_by_text("Running again on the documents as they are now.").wait_for()
    assert desk.read("told.md") == TALE + "Somebody else.\n"
    assert [url for url in desk.asked if url.endswith("/api/agent/run")] == []  # the server has begun it, not the page
    second.get_by_role("button", name="Accept all").click()
    desk.card.get_by_text("accepted").wait_for()
    assert desk.read("told.md") == TALE.replace("eleven", "twelve") + "Somebody else.\n"
    desk.wrong[:] = [each for each in desk.wrong if "409" not in each]  # the browser tells of the refusal too


@pytest.mark.covers("SB-ui-confirm-edits")
def test_the_agent_can_be_told_to_ask_before_it_edits(desk: Desk):
    desk.write("asked.md", TALE)
    desk.begin(agentModel="asks", agentMode="apply")
    desk.button(re.compile("^Mode: ")).click()
    box = desk.page.get_by_role("menuitemcheckbox", name=ASK)
    box.click()
    desk.page.get_by_role("menuitemcheckbox", name=ASK, checked=True).wait_for()
    assert desk.server.get("/api/agent/rules")["rules"] == [{"tool": "modify", "path": "*", "verdict": "ask"}]
    desk.page.keyboard.press("Escape")
    desk.ask("Make it longer ago.")
    desk.dialog().get_by_text("asked.md").wait_for()
    assert desk.read("asked.md") == TALE
    desk.dialog().get_by_role("button", name="Change").click()
    desk.card.get_by_text("applied").wait_for()
    assert "twelve" in desk.read("asked.md")
    desk.button(re.compile("^Mode: ")).click()
    box.click()
    desk.page.get_by_role("menuitemcheckbox", name=ASK, checked=False).wait_for()
    assert desk.server.get("/api/agent/rules")["rules"] == []
    allowed = {"tool": "modify", "path": "*", "verdict": "allow"}
    assert desk.server.refused("POST", "/api/agent/rules", allowed, 422)["error"] == "invalid_argument"


@pytest.mark.covers("SB-dec-poll-2s", "SB-event-cursor", "SB-limit-poll", "SB-limit-configurable")
@pytest.mark.parametrize(("model", "setting", "apart"), [("slow", None, 2.0), ("quick", 400, 0.4)])
def test_where_the_page_cannot_listen_it_asks_every_two_seconds_or_as_often_as_is_set(
    desk: Desk, model: str, setting: int | None, apart: float
):
    times: list[float] = []
    assert desk.server.get("/api/settings")["poll_interval_ms"] == 2000
    if setting:
        desk.server.post("/api/settings", {"poll_interval_ms": setting}, method="PUT")

    def away(route: Route) -> None:
        route.fulfill(status=503)

    def asked(request: Request) -> None:
        if re.search(r"/jobs/[^/]+/events\?", request.url):
            times.append(time.monotonic())

    desk.begin(agentModel=model)
    desk.page.route("**/events/stream*", away)
    desk.page.on("request", asked)
    desk.ask("Is all well?")
    desk.sidebar.get_by_text("All is well.").wait_for()
    desk.page.unroute("**/events/stream*")
    desk.page.remove_listener("request", asked)
    desk.wrong[:] = [each for each in desk.wrong if "503" not in each]  # which the browser tells by itself
    gaps = [after - before for before, after in itertools.pairwise(times)]
    asked_by_the_clock = [gap for gap in gaps if gap > 0.75 * apart]  # between them, the folder's news may make it look
    assert len(asked_by_the_clock) >= 2, gaps
    assert all(0.95 * apart < gap < apart + 1 for gap in asked_by_the_clock[:2]), gaps
    desk.server.post("/api/settings", {"poll_interval_ms": 2000}, method="PUT")
