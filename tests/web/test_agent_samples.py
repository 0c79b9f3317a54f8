"""The sample conversations of the midlight plan, each from the person's words to what is on the disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.agent_desk import Desk, call, opened

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

# How far down each of some words begins, all at one instant: the log may be drawn anew when the job has ended.
TOPS = """(within, texts) => texts.map(text => [...within.querySelectorAll("*")]
  .filter(each => each.textContent.includes(text)).at(-1).getBoundingClientRect().top)"""
SAID = ["Done! I added", "AI completed 1 action"]
JOURNAL = [f"journal-dec-{day}" for day in range(14, 18)]
FOLDERS = {
    "work": ["meeting-notes-dec", "project-roadmap", "budget", "hiring", "retrospective", "contacts"],
    "personal": [*JOURNAL, "recipes"],
    "research": ["sources", "questions", "interviews", "glossary"],
}
LOOSE = {name: folder for folder, names in FOLDERS.items() for name in names}
MOVES = [f"Moved {name}.md → {folder}/{name}.md" for name, folder in LOOSE.items()]
MEETINGS = [f"Meeting Notes - {month:02} 2023.md" for month in range(1, 13)]
ROADMAP = "# Roadmap\n\n## Timeline\n\nSoon.\n"
TASKS = ["Finalize feature spec", "Complete design review", "Begin implementation", "Set up testing framework"]
STEPS = "## Next Steps\n\n### Q1 Action Items\n" + "".join(f"- [ ] {task}\n" for task in TASKS)
# The workspace's tools, and every limit as it is for somebody who has set none.
SETTINGS = '[agent]\nprofile = "workspace"\n'


def moved(name: str, old: str, new: str) -> dict[str, Any]:
    return call("move_document", from_path=f"{old}{name}.md", to_path=f"{new}/{name}.md")


MODELS = {
    "organise": [
        {"text": "Let me first see what is there.", "calls": [call("list_documents")]},
        {
            "text": "I've identified these categories.",
            "calls": [
                *(call("create_folder", path=folder) for folder in FOLDERS),
                *(moved(name, "", folder) for name, folder in LOOSE.items()),
            ],
        },
        {"text": "I organized **15 documents** into 3 folders."},
    ],
    "journal": [
        {
            "calls": [
                call("create_folder", path="journal"),
                *(moved(name, "personal/", "journal") for name in JOURNAL),
            ]
        },
        {"text": "Done! I moved the 4 journal entries to a new /journal folder."},
    ],
    "section": [
        {"text": "I look.", "calls": [call("read_document", path="Project Roadmap.md")]},
        {"calls": [call("edit_document", path="Project Roadmap.md", operation="append", content=STEPS)]},
        {"text": "Done! I added a “Next Steps” section."},
    ],
    "several": [
        {
            "calls": [
                call("create_document", name="Meeting Notes - Dec 15", content="# Meeting Notes\n"),
                call("edit_document", path="Plan.md", operation="append", content="## Later\n"),
                call("move_document", from_path="old-notes.md", to_path="archive/old-notes.md"),
                call("delete_document", path="gone.md"),
            ]
        },
        {"text": "All of it is done."},
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
def desk(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Desk]:
    with opened(chromium, tmp_path_factory.mktemp("samples"), MODELS, SETTINGS) as found:
        yield found


def lines(desk: Desk) -> list[str]:
    """What the card lists."""
    return desk.card.get_by_role("listitem").all_inner_texts()


def buttons(desk: Desk) -> list[str]:
    return (
        desk.card.get_by_role("button")
        .filter(has_not_text=re.compile("→|more$|^(Created|Edited|Proposed)"))
        .all_inner_texts()
    )


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
    desk.dialog().get_by_text("Change 15 documents?").wait_for()
    assert not (desk.folder / "work").exists()
    desk.dialog().get_by_role("button", name="Change all 15").click()
    desk.card.get_by_text("AI completed 18 actions").wait_for()
    assert lines(desk) == ["Created 3 folders: work, personal, research", *MOVES[:5]]
    desk.card.get_by_role("button", name="… and 10 more").click()
    assert lines(desk)[1:] == MOVES
    desk.card.get_by_text("applied").wait_for()
    assert buttons(desk) == ["View", "Diff", "Save as macro", "Undo"]
    for name, folder in LOOSE.items():
        assert desk.read(f"{folder}/{name}.md") == f"# {name}\n"

    desk.page.get_by_role("button", name=re.compile("^Model: ")).click()
    desk.page.get_by_role("menuitemradio", name="journal").click()
    desk.ask('Actually, move the journal entries to a "journal" folder instead')
    desk.card.get_by_text("AI completed 5 actions").wait_for()
    desk.card.get_by_text("applied").wait_for()
    assert lines(desk) == [
        "Created 1 folder: journal",
        *(f"Moved personal/{name}.md → journal/{name}.md" for name in JOURNAL),
    ]
    assert [desk.read(f"journal/{name}.md") for name in JOURNAL] == [f"# {name}\n" for name in JOURNAL]
    desk.card.get_by_role("button", name="Undo").click()
    desk.card.get_by_text("undone").wait_for()
    assert [desk.read(f"personal/{name}.md") for name in JOURNAL] == [f"# {name}\n" for name in JOURNAL]
    assert not (desk.folder / "journal").exists()


@pytest.mark.covers("ML-banner-kinds", "ML-banner-open", "ML-ui-summary", "ML-ui-summary-buttons")
def test_a_turn_over_several_files_is_summed_up_by_what_became_of_each(desk: Desk):
    for name in ("Plan.md", "old-notes.md", "gone.md"):
        desk.write(name, f"# {name}\n")
    desk.begin(agentModel="several", agentMode="propose")
    desk.ask("Create the minutes, add to the plan, and tidy up.")
    desk.card.get_by_text("AI completed 4 actions").wait_for()
    assert lines(desk) == [
        "In 1 folder: archive",
        "Created Meeting Notes - Dec 15.md",
        "Edited Plan.md",
        "Moved old-notes.md → archive/old-notes.md",
        "Proposed to delete gone.md",
    ]
    assert buttons(desk) == ["View", "Diff", "Save as macro", "Reject all", "Accept all"]
    desk.card.get_by_role("button", name="Edited Plan.md").click()
    desk.page.get_by_label("Changes in this document").get_by_text("AI changed 1 place here (+2 lines)").wait_for()
    desk.card.get_by_role("button", name="Accept all").click()
    desk.card.get_by_text("accepted").wait_for()
    assert desk.read("Plan.md") == "# Plan.md\n\n## Later\n"
    assert desk.read("Meeting Notes - Dec 15.md") == "# Meeting Notes\n"
    assert desk.read("archive/old-notes.md") == "# old-notes.md\n"
    assert not any((desk.folder / name).exists() for name in ("old-notes.md", "gone.md"))


@pytest.mark.covers("ML-sample-section-ui", "ML-banner-buttons", "TK-timing-text-first", "TK-review-diff-shown")
@pytest.mark.covers("ML-sample-section", "ML-ui-chat-card", "ML-ui-changed-badge", "ML-ui-diff-footer")
def test_a_section_is_added_and_its_lines_are_shown_before_they_are_written(desk: Desk):
    desk.write("Project Roadmap.md", ROADMAP)
    desk.server.post("/api/tabs", {"path": "Project Roadmap.md"})
    front = {"active": "Project Roadmap.md", "order": ["Project Roadmap.md"]}
    desk.begin(agentModel="section", agentMode="propose", **front)
    desk.ask('Add a "Next Steps" section to my project roadmap with action items for Q1')
    desk.card.get_by_text("1 change to review").wait_for()
    for text in SAID:
        desk.sidebar.get_by_text(text).wait_for()
    words, card = desk.sidebar.evaluate(TOPS, SAID)
    assert words < card
    assert desk.read("Project Roadmap.md") == ROADMAP

    banner = desk.page.get_by_label("Changes in this document")
    banner.get_by_text("AI changed 1 place here (+8 lines)").wait_for()
    added = desk.page.locator("ins")
    desk.expect(lambda: added.all_inner_texts() == [line for line in STEPS.split("\n") if line])
    assert desk.page.locator("del").count() == 0

    desk.card.get_by_role("button", name="Diff").click()
    dialog = desk.dialog()
    dialog.get_by_text("## Next Steps").wait_for()
    assert "+8 −0" in " ".join(dialog.inner_text().split())
    assert dialog.locator("[data-kind=added]").count() == 8
    assert dialog.locator("[data-kind=removed]").count() == 0
    green = dialog.locator("[data-kind=added]").first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert green == "rgb(226, 243, 229)"
    dialog.get_by_role("button", name="Close").click()

    banner.get_by_role("button", name="Accept all").click()
    desk.card.get_by_text("accepted").wait_for()
    assert desk.read("Project Roadmap.md") == f"{ROADMAP}\n{STEPS}"
    desk.card.get_by_role("button", name="Undo").click()
    desk.card.get_by_text("to review").wait_for()
    assert desk.read("Project Roadmap.md") == ROADMAP
    banner.get_by_role("button", name="Reject all").click()
    desk.card.get_by_text("rejected").wait_for()
    banner.wait_for(state="detached")
    assert desk.read("Project Roadmap.md") == ROADMAP
    desk.card.get_by_role("button", name="Save as macro").click()
    dialog.get_by_label("Macro name").fill("next steps")
    dialog.get_by_label("Macro name").press("Enter")
    desk.page.get_by_text("Saved next steps as a macro.").first.wait_for()
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
@pytest.mark.covers("ML-sample-delete", "ML-loop-refused")
def test_deleting_asks_with_every_file_and_a_no_deletes_none(desk: Desk):
    for name in MEETINGS:
        desk.write(name, "Minutes.\n")
    desk.begin(agentModel="delete", agentMode="apply")
    desk.ask("Delete all the meeting notes from 2023, I don't need them anymore")
    dialog = desk.dialog()
    dialog.get_by_text("Delete 12 documents?").wait_for()
    listed = dialog.get_by_role("list", name="Affected documents").get_by_role("listitem")
    assert listed.all_inner_texts() == MEETINGS[:5]
    dialog.get_by_role("button", name="Show all 12 (7 more)", exact=True).click()
    assert listed.all_inner_texts() == MEETINGS
    assert desk.violations() == []
    dialog.get_by_role("button", name="Cancel job").click()
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
    desk.card.get_by_text("AI completed 12 actions").wait_for()
    desk.card.get_by_text("applied").wait_for()
    assert not any((desk.folder / name).exists() for name in MEETINGS)
    assert '"verdict": "allow"' in (desk.server.state / "agent-rules.json").read_text(encoding="utf-8")
