"""The sample conversations of the midlight plan, each from the person's words to what is on the disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.slow

LOOSE = ("meeting-notes-dec", "project-roadmap", "journal-dec-14", "journal-dec-15", "sources", "questions", "budget")
FOLDERS = {"work": LOOSE[:2] + LOOSE[6:], "personal": LOOSE[2:4], "research": LOOSE[4:6]}
MEETINGS = [f"Meeting Notes - {month:02} 2023.md" for month in range(1, 13)]
STEPS = "\n## Next Steps\n\n### Q1 Action Items\n- [ ] Finalize feature spec\n- [ ] Complete design review\n"
MODELS = {
    "organise": [
        {"text": "Let me first see what is there.", "calls": [call("list_documents")]},
        {
            "text": "I've identified these categories.",
            "calls": [
                *[
                    call("move_document", path=f"{n}.md", destination=f"{f}/{n}.md")
                    for f, ns in FOLDERS.items()
                    for n in ns
                ],
            ],
        },
        {"text": "I organized **7 documents** into 3 folders."},
    ],
    "journal": [
        {
            "calls": [
                *[call("move_document", path=f"personal/{n}.md", destination=f"journal/{n}.md") for n in LOOSE[2:4]],
            ]
        },
        {"text": "Done! I moved the 2 journal entries to a new /journal folder."},
    ],
    "section": [
        {"text": "I look.", "calls": [call("read_document", path="Project Roadmap.md")]},
        {"calls": [call("edit_text", path="Project Roadmap.md", old_text="Soon.\n", new_text=f"Soon.\n{STEPS}")]},
        {"text": "Done! I added a “Next Steps” section."},
    ],
    "delete": [
        {
            "text": "I found 12 meeting notes from 2023.",
            "calls": [call("delete_document", path=name) for name in MEETINGS],
        },
        {"text": "Done! Deleted 12 meeting notes from 2023."},
    ],
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Generator[Desk]:
    with opened(tmp_path_factory.mktemp("samples"), MODELS) as found:
        yield found


@pytest.mark.covers(
    "ML-sample-organise-ui",
    "ML-banner-five",
    "ML-banner-buttons",
    "ML-ui-summary",
    "ML-ui-summary-buttons",
    "ML-ui-chat-card",
    "ML-ui-chat-follow-up",
)
def test_loose_notes_are_organised_and_the_talk_goes_on(desk: Desk):
    for name in LOOSE:
        desk.write(f"{name}.md", f"# {name}\n")
    desk.begin(agentModel="organise", agentMode="apply")
    desk.ask("I have a bunch of loose notes in my root folder. Can you organize them into folders by topic?")
    desk.card.get_by_text("AI completed 7 actions").wait_for()
    told = desk.card.inner_text()
    assert "Into 3 folders: work, personal, research" in told
    assert "Moved meeting-notes-dec.md → work/meeting-notes-dec.md" in told
    assert "… and 2 more" in told
    desk.card.get_by_role("button", name="and 2 more").click()
    assert "Moved questions.md → research/questions.md" in desk.card.inner_text()
    assert desk.read("personal/journal-dec-14.md") == "# journal-dec-14\n"

    desk.page.get_by_role("button", name=re.compile("^Model: ")).click()
    desk.page.get_by_role("menuitemradio", name="journal").click()
    desk.ask('Actually, move the journal entries to a "journal" folder instead')
    desk.card.get_by_text("AI completed 2 actions").wait_for()
    assert desk.read("journal/journal-dec-14.md") == "# journal-dec-14\n"
    desk.card.get_by_role("button", name="Undo").click()
    desk.card.get_by_text("undone").wait_for()
    assert desk.read("personal/journal-dec-14.md") == "# journal-dec-14\n"


@pytest.mark.covers("ML-sample-section-ui", "ML-banner-buttons", "TK-timing-text-first", "TK-review-diff-shown")
def test_a_section_is_added_and_its_lines_are_shown_before_they_are_written(desk: Desk):
    desk.write("Project Roadmap.md", "# Roadmap\n\n## Timeline\n\nSoon.\n")
    desk.begin(agentModel="section", agentMode="propose")
    desk.ask('Add a "Next Steps" section to my project roadmap with action items for Q1')
    desk.card.get_by_text("to review").wait_for()
    for text in ("Done! I added", "AI completed 1 action"):
        desk.sidebar.get_by_text(text).wait_for()
    said = desk.sidebar.inner_text()  # at one instant: the log may be drawn anew when the job has ended
    assert said.index("Done! I added") < said.index("AI completed 1 action")
    assert "Next Steps" not in desk.read("Project Roadmap.md")
    desk.card.get_by_role("button", name="Diff").click()
    dialog = desk.dialog()
    dialog.get_by_text("## Next Steps").wait_for()
    assert "+6" in dialog.inner_text()
    assert dialog.locator("[data-kind=added]").count() == 6
    green = dialog.locator("[data-kind=added]").first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert green == "rgb(226, 243, 229)"
    dialog.get_by_role("button", name="Close").click()
    desk.card.get_by_role("button", name="Accept all").click()
    desk.card.get_by_text("accepted").wait_for()
    assert desk.read("Project Roadmap.md").endswith(STEPS)
    desk.card.get_by_role("button", name="Save as macro").click()
    dialog.get_by_label("Name of the macro").fill("next steps")
    dialog.get_by_label("Name of the macro").press("Enter")
    desk.page.get_by_text("next steps is among the macros now.").first.wait_for()
    assert [each["name"] for each in desk.server.get("/api/agent/macros")["macros"] if each["saved"]] == ["next steps"]


@pytest.mark.covers(
    "ML-sample-delete-ui",
    "ML-ui-confirm-count",
    "ML-ui-confirm-all",
    "ML-confirm-lists",
    "ML-confirm-buttons",
    "ML-store-confirmation",
    "ML-chat-panels",
)
def test_deleting_asks_with_every_file_and_a_no_deletes_none(desk: Desk):
    for name in MEETINGS:
        desk.write(name, "Minutes.\n")
    desk.begin(agentModel="delete", agentMode="apply")
    desk.ask("Delete all the meeting notes from 2023, I don't need them anymore")
    dialog = desk.dialog()
    dialog.get_by_text("Delete 12 documents?").wait_for()
    listed = dialog.get_by_role("list", name="Affected documents").get_by_role("listitem")
    assert listed.all_inner_texts() == MEETINGS[:5]
    dialog.get_by_role("button", name="Show all 12").click()
    assert listed.all_inner_texts() == MEETINGS
    assert desk.violations() == []
    dialog.get_by_role("button", name="Cancel the job").click()
    desk.sidebar.get_by_text("Stopped. Nothing was changed.").wait_for()
    assert all((desk.folder / name).exists() for name in MEETINGS)

    desk.button("Ask again").click()
    dialog.get_by_text("Delete 12 documents?").wait_for()
    dialog.press("Escape")  # put aside, not answered
    assert desk.last_job()["status"] == "waiting_for_user"
    desk.button("Decide…").click()
    dialog.get_by_role("checkbox", name="Always allow this in this folder").check()
    dialog.get_by_role("button", name="Delete all 12").click()
    desk.sidebar.get_by_text("Done! Deleted 12 meeting notes from 2023.").wait_for()
    assert not any((desk.folder / name).exists() for name in MEETINGS)
    assert "AI completed 12 actions" in desk.card.inner_text()
    assert '"verdict": "allow"' in (desk.server.state / "agent-rules.json").read_text(encoding="utf-8")
