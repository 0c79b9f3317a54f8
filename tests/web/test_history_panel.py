"""The history and the trash: turns listed, seen, taken back whole or in part, and what was deleted brought back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.web.agent_desk import Desk, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Locator, Route

pytestmark = pytest.mark.slow
PAGE = 40


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("history"), {}) as found:
        yield found


def lines(*changed: int) -> str:
    return "".join(f"Line {n}{' is new' if n in changed else ''}.\n" for n in range(1, 31))


def rewrite(desk: Desk, path: str, *changed: int, title: str = "") -> None:
    """A turn of an agent's, written at once."""
    for number in changed:
        old = f"Line {number}.\n"
        assert old in desk.read(path)
    calls = [
        {
            "tool": "edit_text",
            "arguments": {"path": path, "old_text": f"Line {n}.\n", "new_text": f"Line {n} is new.\n"},
        }
        for n in changed
    ]
    desk.server.tool("batch", mode="apply", calls=calls, title=title or f"Renew {path}")


def turns(desk: Desk) -> Locator:
    return desk.page.get_by_role("list", name="Turns").get_by_role("button")


@pytest.mark.covers("TK-history-panel", "TK-history-diff", "ML-diff-lines")
def test_a_turn_is_found_seen_compared_and_undone(desk: Desk):
    desk.write("undo.md", lines())
    rewrite(desk, "undo.md", 3, 20)
    desk.begin(side="history")
    desk.page.get_by_text("Now", exact=True).wait_for()
    first = turns(desk).first
    assert re.search(r"Renew undo\.md\s+applied\s*just now · agent · undo\.md", first.inner_text())
    assert desk.violations() == []
    first.click()
    dialog = desk.dialog()
    dialog.get_by_text("+2").first.wait_for()
    changes = dialog.get_by_role("region", name="undo.md").first  # below it stands what undoing the turn would do
    assert [mark.inner_text().strip() for mark in changes.locator("ins").all()] == ["is new"] * 2
    kinds: list[str] = changes.locator("[data-kind]").evaluate_all("lines => lines.map(line => line.dataset.kind)")
    assert (set(kinds), kinds.count("added"), kinds.count("removed")) == ({"same", "added", "removed"}, 2, 2)
    dialog.get_by_role("tab", name="Compare with now").click()
    panes = [dialog.get_by_role("region", name=name) for name in ("Now", "Before this turn", "After this turn")]
    panes[2].get_by_text("Line 3 is new.").wait_for()
    assert "Line 3 is new." in panes[0].inner_text()
    assert "Line 3 is new." not in panes[1].inner_text()
    assert desk.violations() == []
    dialog.get_by_role("button", name="Undo this turn").click()
    dialog.wait_for(state="hidden")
    assert desk.read("undo.md") == lines()
    turns(desk).first.get_by_text("Undo: Renew undo.md").wait_for()
    desk.button("Redo the last undone turn").click()
    desk.page.get_by_text("Turn redone.").first.wait_for()
    assert desk.read("undo.md") == lines(3, 20)


@pytest.mark.covers("ML-diff-line-numbers", "ML-diff-stats", "ML-diff-groups")
def test_a_diff_numbers_its_lines_counts_them_and_groups_those_that_changed_together(desk: Desk):
    desk.write("numbers.md", lines())
    edits = {"Line 3.\nLine 4.\n": "One.\nTwo.\nThree.\n", "Line 20.\n": "Line 20 is new.\n"}
    arguments = [{"path": "numbers.md", "old_text": old, "new_text": new} for old, new in edits.items()]
    calls = [{"tool": "edit_text", "arguments": each} for each in arguments]
    desk.server.tool("batch", mode="apply", calls=calls, title="Number it")
    desk.begin(side="history")
    turns(desk).filter(has_text="Number it").first.click()
    document = desk.dialog().get_by_role("region", name="numbers.md")
    document.get_by_text("27 unchanged").wait_for()
    assert re.search(r"\+4 −3", " ".join(document.inner_text().split()))
    groups = document.locator("[data-changed=true]").evaluate_all(
        "groups => groups.map(group => [...group.children].map(line => [...line.children].slice(0, 3)"
        ".map(each => each.textContent.trim()).join(' ')))"
    )
    assert groups == [["3  −", "4  −", " 3 +", " 4 +", " 5 +"], ["20  −", " 21 +"]]
    same = document.locator("[data-kind=same]").last.inner_text().split()
    assert same[:2] == ["23", "24"]


@pytest.mark.parametrize("rejected", [False, True])
def test_undo_this_turn_takes_back_all_that_was_accepted_of_it_one_by_one(desk: Desk, rejected: bool):
    path = f"pieces-{rejected}.md".lower()
    text = "The letter came for Ines.\n\nIn the evening Ines went up.\n\nNobody saw Ines again.\n"
    desk.write(path, text)
    calls = [
        {"tool": "edit_text", "arguments": {"path": path, "old_text": old, "new_text": old.replace("Ines", "Marta")}}
        for old in ("for Ines", "evening Ines", "saw Ines")
    ]
    desk.server.tool("batch", mode="propose", calls=calls, title=f"Rename in {path}")
    hunks = desk.server.get("/api/review", path=path)["documents"][0]["hunks"]
    for hunk, act in zip(hunks, ["accept", "accept", "reject" if rejected else "accept"], strict=True):
        desk.server.post(f"/api/review/{act}", {"hunks": {path: [hunk["hunk_id"]]}})
    desk.server.post("/api/tabs", {"path": path})
    desk.begin(side="history", active=path, order=[path])
    row = turns(desk).filter(has_text=re.compile(rf"^Rename in {path}"))
    row.get_by_text("partly accepted" if rejected else "accepted", exact=True).wait_for()
    assert desk.read(path).count("Marta") == (2 if rejected else 3)
    row.click()
    desk.dialog().get_by_role("button", name="Undo this turn").click()
    desk.dialog().wait_for(state="hidden")
    desk.page.get_by_text("Turn undone.").first.wait_for()
    row.get_by_text("undone").wait_for()
    assert desk.read(path) == text
    assert desk.server.get("/api/documents", path=path)["content"] == text
    assert desk.server.get("/api/review", path=path)["documents"] == []
    assert desk.page.locator("[data-hunk]").count() == 0


def test_ticked_hunks_alone_are_taken_back_and_newer_work_stays(desk: Desk):
    desk.write("scoped.md", lines())
    rewrite(desk, "scoped.md", 3, 12, 25)
    rewrite(desk, "scoped.md", 8)
    desk.begin(side="history")
    turns(desk).filter(has_text="Renew scoped.md").nth(1).click()
    desk.page.get_by_role("checkbox", name="Hunk 2 of scoped.md").check()
    desk.button("Undo 1 hunk").click()
    desk.dialog().wait_for(state="hidden")
    assert desk.read("scoped.md") == lines(3, 8, 25)


@pytest.mark.covers("RD-history-ticks")
def test_each_hunk_of_a_line_has_a_tick_of_its_own_named_by_its_words(desk: Desk):
    text = "One six two nine three ten four.\nNext line.\nLast line.\n"
    desk.write("ticks.md", text)
    edits = {"six": "seven", "nine": "ninety", "ten": "", "Next": "Another", "Last": "Final"}
    calls = [
        {"tool": "edit_text", "arguments": {"path": "ticks.md", "old_text": old, "new_text": new}}
        for old, new in edits.items()
    ]
    desk.server.tool("batch", mode="apply", calls=calls, title="Renew ticks.md")
    desk.begin(side="history")
    turns(desk).filter(has_text="Renew ticks.md").first.click()
    ticks = desk.dialog().get_by_role("checkbox", name="Hunk")
    ticks.nth(4).wait_for()
    names = ticks.evaluate_all("ticks => ticks.map(tick => tick.ariaLabel)")
    words = ['"six" → "seven"', '"nine" → "ninety"', 'delete "ten"', '"Next" → "Another"', '"Last" → "Final"']
    assert names == [f"Hunk {at} of ticks.md: {each}" for at, each in enumerate(words, start=1)]
    assert desk.violations() == []
    ticks.nth(1).check()
    ticks.nth(3).check()
    desk.button("Undo 2 hunks").click()
    desk.dialog().wait_for(state="hidden")
    assert desk.read("ticks.md") == "One seven two nine three  four.\nNext line.\nFinal line.\n"


def test_a_hunk_that_was_changed_since_stays_and_is_named(desk: Desk):
    desk.write("clash.md", lines())
    rewrite(desk, "clash.md", 5, 20)
    arguments = {"path": "clash.md", "old_text": "Line 5 is new.", "new_text": "Line 5 is newer still."}
    desk.server.tool("edit_text", mode="apply", **arguments)
    desk.begin(side="history")
    turns(desk).filter(has_text="Renew clash.md").first.click()
    desk.page.get_by_role("checkbox", name="All of clash.md").check()
    desk.button("Undo 2 hunks").click()
    desk.dialog().get_by_text("Not undone: it has been changed since.").wait_for()
    assert desk.read("clash.md") == lines(5).replace("5 is new.", "5 is newer still.")


@pytest.mark.covers("SB-rb-hard-confirm", "TK-history-panel", "TK-history-diff", "TK-history-restore-new")
def test_a_hard_rollback_asks_first_and_names_the_documents(desk: Desk):
    titles = ["Initial draft", "Expanded intro", "Fixed dialogue", "Added chapter 3", "Renamed John to James"]
    desk.write("hard.md", lines())
    for number, title in enumerate(titles, start=1):
        rewrite(desk, "hard.md", number, title=title)
    desk.server.post("/api/tabs", {"path": "hard.md"})
    desk.begin(side="history", active="hard.md", order=["hard.md"])
    desk.page.get_by_role("checkbox", name="Only hard.md").check()
    desk.expect(lambda: [row.split("\n")[0] for row in turns(desk).all_inner_texts()] == titles[::-1])
    now = desk.page.get_by_text("Now", exact=True).bounding_box()
    newest = turns(desk).first.bounding_box()
    assert now is not None
    assert newest is not None
    assert now["y"] < newest["y"]
    turns(desk).filter(has_text="Fixed dialogue").click()
    desk.dialog().get_by_role("tab", name="Compare with now").click()
    desk.dialog().get_by_role("region", name="Before this turn").get_by_text("Line 3.").wait_for()
    shown = [desk.dialog().get_by_role("region", name=name).inner_text() for name in ("Now", "Before this turn")]
    assert [[f"Line {number} is new." in text for number in range(1, 6)] for text in shown] == [
        [True] * 5,
        [True, True, False, False, False],
    ]
    desk.button("Restore earlier state…").click()
    asking = desk.page.get_by_role("alertdialog")
    assert "hard.md goes back" in asking.inner_text()
    asking.get_by_role("button", name="Cancel").click()
    assert desk.read("hard.md") == lines(*range(1, 6))
    desk.button("Restore earlier state…").click()
    asking.get_by_role("button", name="Restore 1 document").click()
    desk.dialog().wait_for(state="hidden")
    assert desk.read("hard.md") == lines(1, 2)
    turns(desk).first.get_by_text("Restore the state before turn").wait_for()
    assert [row.split("\n")[0] for row in turns(desk).all_inner_texts()][1:] == titles[::-1]


def test_the_history_goes_on_by_pages_and_can_be_of_one_document(desk: Desk):
    for number in range(PAGE + 5):
        desk.server.post("/api/documents", {"path": f"many/{number}.md", "content": "x\n"})
    desk.server.post("/api/tabs", {"path": "many/3.md"})
    desk.begin(side="history", active="many/3.md", order=["many/3.md"])
    turns(desk).first.wait_for()
    assert turns(desk).count() == PAGE
    desk.button("Show older turns").click()
    turns(desk).nth(PAGE).wait_for()
    desk.page.get_by_role("checkbox", name="Only many/3.md").check()
    desk.expect(lambda: ["many/3.md" in row for row in turns(desk).all_inner_texts()] == [True])


def test_older_turns_come_though_a_turn_is_made_while_they_are_on_their_way(desk: Desk):
    for number in range(PAGE + 5):
        desk.server.post("/api/documents", {"path": f"older/{number}.md", "content": "x\n"})
    desk.begin(side="history")
    turns(desk).first.wait_for()
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        route.continue_() if held else held.append(route)

    desk.page.route("**/api/turns?*before=*", hold_first)
    desk.button("Show older turns").click()
    desk.expect(lambda: len(held) == 1)
    desk.asked.clear()
    desk.server.post("/api/documents", {"path": "newer.md", "content": "x\n"})
    desk.expect(lambda: any(url.endswith("/api/workspace") for url in desk.asked))  # the page has heard of it
    held[0].continue_()
    turns(desk).nth(PAGE).wait_for()
    turns(desk).first.get_by_text("newer.md").first.wait_for()
    desk.page.unroute("**/api/turns?*before=*")


def test_what_was_deleted_is_brought_back_and_under_another_name_where_its_own_is_taken(desk: Desk):
    for name in ("gone.md", "taken.md"):
        desk.server.post("/api/documents", {"path": name, "content": f"{name}\n"})
        desk.server.post("/api/documents", method="DELETE", path=name)
    desk.server.post("/api/documents", {"path": "taken.md", "content": "another\n"})
    desk.begin(side="trash")
    listed = desk.page.get_by_role("list", name="Deleted documents")
    desk.button("Restore gone.md").click()
    listed.get_by_text("gone.md").wait_for(state="hidden")
    assert desk.read("gone.md") == "gone.md\n"
    desk.button("Restore taken.md").click()
    field = desk.page.get_by_role("textbox", name="Name")
    assert field.input_value() == "taken (restored).md"
    assert desk.violations() == []
    field.fill("elsewhere/taken.md")
    desk.dialog().get_by_role("button", name="Restore").click()
    desk.page.get_by_text("elsewhere/taken.md restored.").first.wait_for()
    assert (desk.read("taken.md"), desk.read("elsewhere/taken.md")) == ("another\n", "taken.md\n")
    desk.page.get_by_text("The trash is empty.").wait_for()


def test_who_wrote_which_line_is_told_by_turn(desk: Desk):
    desk.write("blame.md", lines())
    rewrite(desk, "blame.md", 5)
    desk.server.post("/api/tabs", {"path": "blame.md"})
    desk.begin(side="history", active="blame.md", order=["blame.md"])
    desk.button("Who wrote each line").click()
    passages = desk.dialog().get_by_role("region")
    passages.nth(2).wait_for()
    told = passages.all_inner_texts()
    assert len(told) == 3
    assert "Renew blame.md" in told[1]
    assert "Line 5 is new." in told[1]
    assert "Line 4." in told[0]
    passages.nth(1).get_by_role("button").click()
    desk.dialog().get_by_role("tab", name="Changes").wait_for()
