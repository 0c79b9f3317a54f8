"""The extension in a real VS Code server: a review while somebody types, several windows, and agent-doc's answers."""

from __future__ import annotations

import subprocess
import sys
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.speaking.lines import environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.editors.code_server import EditorWindow
    from tests.editors.conftest import Stage

pytestmark = pytest.mark.slow

NUMBERS = [f"{number:02d}" for number in range(20)]
LONG = "".join(f"Paragraph {number}: the lamp was dark 😀.\r\n\r\n" for number in NUMBERS) + "The end.\r\n"


def decide(window: EditorWindow, act: str) -> None:
    """Go to the next change, and decide it, with the keyboard."""
    window.page.keyboard.press("Alt+]")
    window.page.keyboard.press({"accept": "Control+Alt+Enter", "reject": "Control+Alt+Backspace"}[act])


@pytest.mark.covers("RD-vscode-review", "RD-vscode-typing", "RD-vscode-bytes")
def test_twenty_changes_are_reviewed_while_the_person_types_and_give_the_bytes_that_the_app_gives(stage: Stage):
    name, twin = "long.md", "twin.md"
    for path in (name, twin):
        stage.write(path, LONG)
        stage.propose(path, *((f"{number}: the lamp was dark", f"{number}: the lamp was lit") for number in NUMBERS))
    window = stage.window(name)
    window.lens("Accept").first.wait_for()
    assert stage.disk(name) == LONG, "nothing is accepted yet"
    words = ""
    for at in range(len(NUMBERS)):
        window.page.keyboard.press("Control+End")
        window.page.keyboard.type(f"typed {at} 😀 ")
        words += f"typed {at} 😀 "
        window.page.keyboard.press("Control+Home")
        decide(window, "accept" if at % 2 else "reject")
        left = len(NUMBERS) - at - 1
        window.expect(lambda left=left: len(stage.hunks(name)) == left, lambda: stage.hunks(name))
        # The next key is for the next change: the window has heard that this one is decided.
        window.expect(lambda left=left: waiting(window) == left, lambda: window.lines)
    window.page.keyboard.press("Control+s")
    window.expect(lambda: stage.disk(name).endswith(words), lambda: stage.disk(name))

    for at, number in enumerate(NUMBERS):
        [hunk] = [each for each in stage.hunks(twin) if f"{number}: " in line_of(stage, twin, each)]
        act = "accept" if at % 2 else "reject"
        stage.server.post(f"/api/review/{act}", {"hunks": {twin: [hunk["hunk_id"]]}})
    assert stage.disk(name) == stage.disk(twin) + words
    assert stage.disk(name).count("\n") == stage.disk(name).count("\r\n")


def waiting(window: EditorWindow) -> int:
    """How many changes the window's buttons say to be waiting in its document."""
    titles = window.page.locator(".codelens-decoration a").all_inner_texts()
    told = [int(title.rpartition(" ")[2].rstrip(")")) for title in titles if title.startswith("Next (")]
    return told[0] if told else sum("Accept" in title for title in titles)


def line_of(stage: Stage, path: str, hunk: dict[str, int]) -> str:
    return stage.working(path).splitlines()[hunk["working_start_line"] - 1]


@pytest.mark.covers("RD-vscode-windows", "RD-vscode-undo")
def test_two_windows_and_the_app_show_one_text_and_undo_means_the_same_in_each(stage: Stage):
    text = "The pier.\n\nThe old lamp was dark.\n\nThe sea was calm.\n\nThe end.\n"
    stage.write("pier.md", text)
    stage.propose("pier.md", ("The old lamp was dark.", "The lamp was broken."), ("was calm", "was rough"))
    one, other = stage.window("pier.md"), stage.window("pier.md")
    app = stage.app("pier.md")
    for window in (one, other):
        window.lens("Accept").first.wait_for()
        window.page.locator(".editor-instance .view-line").first.click()

    def show(*lines: str) -> None:
        """Wait until everybody shows the document with these lines in it."""
        wanted = list(lines)
        for window in (one, other):
            window.expect(lambda window=window: [line for line in window.lines if line] == wanted, lambda: one.lines)
        one.expect(lambda: [line for line in stage.working("pier.md").split("\n") if line] == wanted)
        for line in lines:
            app.get_by_role("textbox", name="Text of pier.md").get_by_text(line.split()[-1]).first.wait_for()

    show("The pier.", "The lamp was broken.", "The sea was rough.", "The end.")
    one.page.keyboard.press("Control+Home")
    one.page.keyboard.insert_text("One 😀. ")
    other.page.keyboard.press("Control+End")
    other.page.keyboard.insert_text("Other.")
    show("One 😀. The pier.", "The lamp was broken.", "The sea was rough.", "The end.", "Other.")

    one.page.keyboard.press("Control+Home")
    one.lens("Reject").last.click()
    show("One 😀. The pier.", "The lamp was broken.", "The sea was calm.", "The end.", "Other.")
    app.get_by_role("textbox", name="Text of pier.md").click()
    app.keyboard.press("Control+Home")
    app.keyboard.type("App ")
    show("App One 😀. The pier.", "The lamp was broken.", "The sea was calm.", "The end.", "Other.")

    # Each takes back what was done in it: a decision, and then what was typed before it.
    one.page.locator(".editor-instance .view-line").first.click()
    one.page.keyboard.press("Control+z")
    show("App One 😀. The pier.", "The lamp was broken.", "The sea was rough.", "The end.", "Other.")
    one.page.keyboard.press("Control+z")
    show("App The pier.", "The lamp was broken.", "The sea was rough.", "The end.", "Other.")
    one.page.keyboard.press("Control+Shift+z")
    one.page.keyboard.press("Control+y")
    show("App One 😀. The pier.", "The lamp was broken.", "The sea was calm.", "The end.", "Other.")
    assert stage.disk("pier.md") == text


def start_writing(plan: Path) -> Thread:
    """Write an answer as an agent does: again as long as it is told that the document is busy."""
    words = [sys.executable, "-m", "redraft.cli.agent_doc", "write", str(plan)]
    answer = "<!-- patch:log -->\nTwo 😀.\n<!-- /patch:log -->"

    def write() -> None:
        busy = 75
        while busy == 75:
            busy = subprocess.run(
                words, input=answer, capture_output=True, encoding="utf-8", check=False, env=environment(plan.parent)
            ).returncode
        assert busy == 0

    thread = Thread(target=write)
    thread.start()
    return thread


@pytest.mark.covers("RD-vscode-agent-doc")
def test_an_answer_of_agent_doc_gets_into_the_text_that_is_typed_into(stage: Stage, tmp_path: Path):
    folder = tmp_path / "plain"
    (folder / ".agent-doc").mkdir(parents=True)
    plan = folder / "plan.md"
    plan.write_text("# Plan\n\n<!-- agent:log mode=append -->\nOne.\n<!-- /agent:log -->\n\nNotes:\n", encoding="utf-8")
    window = stage.window("plan.md", folder)
    window.expect((folder / ".agent-doc" / "patches").is_dir)
    window.page.keyboard.press("Control+End")
    window.page.keyboard.type("Typed, and not saved. ")
    writing = start_writing(plan)
    window.page.keyboard.type("Typed meanwhile.")
    wanted = "# Plan\n\n<!-- agent:log mode=append -->\nOne.\nTwo 😀.\n<!-- /agent:log -->\n\nNotes:\n"
    window.expect(lambda: "Two 😀." in "\n".join(window.lines), lambda: window.lines)
    writing.join()
    window.page.keyboard.press("Control+s")
    window.expect(
        lambda: plan.read_text(encoding="utf-8") == f"{wanted}Typed, and not saved. Typed meanwhile.",
        lambda: window.lines,
    )
    assert list((folder / ".agent-doc" / "patches").iterdir()) == []
