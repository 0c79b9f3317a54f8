"""A review of thousands of hunks: all of it can be reached, and only what is in sight is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE

if TYPE_CHECKING:
    from tests.web.conftest import Room

pytestmark = pytest.mark.slow


def test_of_many_hunks_only_those_in_sight_are_drawn_and_the_last_can_be_decided(room: Room):
    count = 2000 if TORTURE else 500
    lines = [f"Paragraph {number} of the old text, which goes on for a while.\n\n" for number in range(2 * count)]
    changes = [line if at % 2 else line.replace("old", "very new") for at, line in enumerate(lines)]
    room.write("hunks.md", "".join(lines))
    version = room.server.get("/api/documents", path="hunks.md")["version"]
    arguments = {"path": "hunks.md", "content": "".join(changes), "version": version}
    room.server.post("/api/tools/write_document", arguments, mode="propose", author="Agent")
    window = room.window("hunks.md")
    window.page.get_by_text(f"AI changed {count:,} places here").wait_for()
    window.bars.first.wait_for()
    assert window.bars.count() < 60
    window.text.click()
    window.page.keyboard.press("Control+End")
    window.expect(lambda: f"Paragraph {2 * count - 1} " in window.lines[-3])
    # The last is in sight. The first that is drawn lies above, and scrolling there would draw all of them anew.
    window.press("Accept", -1)
    window.page.get_by_text(f"AI changed {count - 1:,} places here").wait_for()


@pytest.mark.covers("SB-size-manual-split")
def test_a_hunk_too_large_to_judge_is_split_where_the_cursor_is(room: Room):
    code = "".join(f"value_{number} = {number}\n" for number in range(120))
    room.write("code.md", "# Code\n\nBelow.\n")
    version = room.server.get("/api/documents", path="code.md")["version"]
    arguments = {"path": "code.md", "content": f"# Code\n\nBelow.\n\n```python\n{code}```\n", "version": version}
    room.server.post("/api/tools/write_document", arguments, mode="propose", author="Agent")
    window = room.window("code.md")
    window.page.get_by_text("value_2 = 2", exact=True).click()
    before = hunks(room)
    window.press("Split")
    window.page.get_by_text(f"AI changed {len(before) + 1} places here").wait_for()
    after = hunks(room)
    assert "".join(after) == "".join(before)
    assert [text for text in after if text.startswith("value_2 = 2\n")]


def hunks(room: Room) -> list[str]:
    return [hunk["working"] for hunk in room.server.get("/api/review/document", path="code.md")["hunks"]]
