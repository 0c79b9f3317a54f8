"""Every view, light and dark, before the eyes of axe-core: nothing serious stands in anybody's way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.conftest import Room

pytestmark = pytest.mark.slow
AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
STORY = "# The Lamp\n\nThe lighthouse had been *dark* for eleven years.\n\n- one\n- two\n"
VIEWS: dict[str, list[str]] = {
    "files": [],
    "search": ["Control+Shift+f"],
    "outline": ["Control+Shift+o"],
    "history": ["Control+Shift+h"],
    "palette": ["Control+p"],
    "settings": ["Control+,"],
    "new": ["Alt+n"],
}


def serious(page: Page) -> list[str]:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci in web/")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_barrier(room: Room, theme: str):
    room.write(f"{theme}.md", STORY)
    room.propose(f"{theme}.md", "eleven", "twelve")
    window = room.window(f"{theme}.md", side="files", agentOpen=True, theme=theme)
    window.bars.first.wait_for()
    found: dict[str, list[str]] = {}
    for view, keys in VIEWS.items():
        for key in keys:
            window.page.keyboard.press(key)
        window.page.wait_for_timeout(300)
        found[view] = serious(window.page)
        window.page.keyboard.press("Escape")
    assert {view: said for view, said in found.items() if said} == {}
