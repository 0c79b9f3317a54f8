"""`lock = true`: switched on in the settings, shown over the document, and gone with the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.agent.store.leases import SENTENCE
from tests.web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
TALE = "# The Lamp\n\nIt had been dark for eleven years.\n"
QUESTION = {"text": "Hm.", "calls": [call("clarify_user", question="Which year do you mean?")]}


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("lock"), {"asks": [QUESTION, {"text": "Thank you."}]}) as found:
        found.write("tale.md", TALE)
        found.server.post("/api/tabs", {"path": "tale.md"})
        yield found


@pytest.mark.covers("TK-lock-view", "RD-decided-lock", "RD-agent-line")
@pytest.mark.parametrize("view", ["source", "rich"])
def test_while_a_job_holds_the_documents_the_app_says_so_and_lets_nobody_type(desk: Desk, view: str):
    desk.begin(agentModel="asks", active="tale.md", order=["tale.md"], views={"tale.md": view})
    text = desk.page.get_by_role("textbox", name="Text of tale.md")
    text.wait_for()
    desk.page.keyboard.press("Control+,")
    lock = desk.page.get_by_label("Lock typing while the agent in the sidebar works")
    lock.check()
    desk.dialog().get_by_role("combobox", name="Review").select_option("turn")
    desk.page.wait_for_function("fetch('/api/settings').then(r => r.json()).then(s => s.lock && s.review === 'turn')")
    assert desk.violations() == []
    desk.page.get_by_role("button", name="Close", exact=True).click()

    desk.ask("What happened then?")
    desk.page.get_by_text(SENTENCE).wait_for()
    line = desk.page.get_by_role("region", name="Agent status")
    line.get_by_text("Waiting for you").wait_for()
    assert line.get_by_role("button").all_inner_texts() == ["Cancel"]
    text.click()
    desk.page.keyboard.press("Control+End")
    desk.page.keyboard.type("Typed in vain.")
    assert "vain" not in text.inner_text()

    desk.page.get_by_role("textbox", name="Which year do you mean?").fill("1912")
    desk.button("Answer").click()
    desk.page.get_by_text(SENTENCE).wait_for(state="hidden")
    text.click()
    desk.page.keyboard.press("Control+End")
    desk.page.keyboard.type("Typed at last.")
    desk.page.wait_for_function(
        "fetch('/api/documents?path=tale.md').then(r => r.json()).then(d => d.content.includes('Typed at last.'))"
    )
    assert "vain" not in desk.server.get("/api/documents", path="tale.md")["content"]
