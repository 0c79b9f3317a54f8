"""`redraft ask`, `chat`, `jobs`, `models` and `usage`, as a person and a program use them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from redraft.agent.memory.permissions import PermissionRule, PermissionRules
from redraft.workspace.turns.modes import Verdict
from tests.agent.desk import call, edit, says
from tests.cli.running import COMMAND, PATIENCE, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STORY = "# The Lamp\n\nThe lighthouse was dark.\n\nShe read the letter.\n\nThen she looked for the keys.\n"
PAID: dict[str, Any] = {"usage": {"input_tokens": 900, "output_tokens": 20}, "price_usd": "0.003"}
EDITS = (edit("story.md", "was dark", "stood dark"), edit("story.md", "the keys", "her keys"))

pytestmark = pytest.mark.slow


@pytest.fixture
def redraft(tmp_path: Path) -> Program:
    program = Program(tmp_path / "notes")
    program.write("story.md", STORY)
    return program


def scripted(program: Program, *steps: dict[str, Any]) -> None:
    """Let this be what the model `play` says."""
    script = program.home / "play.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    program.settings(f'[models.play]\nkind = "scripted"\nfile = "{script}"\n[routing]\nagent_mode = "local"\n')


def talked(program: Program, arguments: list[str], answers: Mapping[str, str | Callable[[], str]]) -> tuple[int, str]:
    """Run the program on a terminal, and type each answer once its words are seen."""
    main, terminal = pty.openpty()
    environment = {"TERM": "xterm", **program.environment}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=program.folder,
        env=environment,
    ) as process:
        os.close(terminal)
        seen, end, waiting = "", time.monotonic() + PATIENCE, dict(answers)
        while time.monotonic() < end:
            if select.select([main], [], [], 0.1)[0]:
                try:
                    seen += os.read(main, 65536).decode(errors="replace")
                except OSError:  # Linux says EIO when the last writer is gone
                    break
            for words in [words for words in waiting if words in seen]:
                time.sleep(0.2)  # as a person does, who reads first
                answer = waiting.pop(words)
                os.write(main, (answer if isinstance(answer, str) else answer()).encode())
        process.kill()
    os.close(main)
    return process.returncode, seen


def test_where_nobody_watches_the_answer_is_printed_and_the_review_waits(redraft: Program):
    scripted(redraft, says("", *EDITS, **PAID), says("I did it."))
    done = redraft.run("ask", "Change it", "--doc", "story.md")
    assert (done.status, done.out) == (0, "I did it.\n")
    assert "Turn 1 waits for your decision" in done.err
    assert redraft.read("story.md") == STORY
    redraft.ok("accept", "--all")
    assert redraft.read("story.md") == STORY.replace("was dark", "stood dark").replace("the keys", "her keys")
    [job] = redraft.json("jobs")["jobs"]
    assert job["status"] == "completed"


def test_as_json_the_job_is_told_with_its_bundle_and_its_cost(redraft: Program):
    scripted(redraft, says("", EDITS[0], **PAID), says("I did it."))
    told = redraft.json("ask", "Change it", "--model", "play")
    assert (told["status"], told["answer"], told["turn"]) == ("awaiting_review", "I did it.", 1)
    assert told["diff_bundle"]["files"][0]["file_path"] == "story.md"
    assert (told["usage"]["price_usd"], told["usage"]["input_tokens"]) == ("0.003", 900)


@pytest.mark.covers("ML-mode-autonomous", "ML-optimistic-at-once")
def test_in_apply_mode_it_is_written(redraft: Program):
    scripted(redraft, says("", EDITS[0]), says("I did it."))
    out = redraft.ok("ask", "Change it", "--mode", "apply")
    assert "redraft undo 1" in out
    assert "stood dark" in redraft.read("story.md")


def test_the_mode_of_the_moment_cannot_be_wider_than_the_folder_allows(redraft: Program):
    scripted(redraft, says("", EDITS[0]), says("I did it."))
    redraft.settings('mode = "propose"\n', of_folder=True)
    redraft.run("ask", "Change it", "--mode", "apply")
    assert redraft.read("story.md") == STORY


def test_on_a_terminal_hunks_are_judged_by_key(redraft: Program):
    scripted(redraft, says("I look.", *EDITS), says("I did it."))
    status, seen = talked(redraft, ["ask", "Change it"], {"1/2": "a", "2/2": "r"})
    assert status == 0
    assert all(words in seen for words in ("I look.", "edit_text story.md", "Accepted 1, rejected 1"))
    assert redraft.read("story.md") == STORY.replace("was dark", "stood dark")
    # Two decisions are two turns, and each is undone by the command that was shown for it.
    commands = dict(re.findall(r"Undo what you (\w+): \S*?redraft (undo \d+)", seen))
    assert sorted(commands) == ["accepted", "rejected"], seen
    redraft.ok(*commands["rejected"].split())
    redraft.ok(*commands["accepted"].split())
    assert redraft.read("story.md") == STORY
    [document] = redraft.json("diff")["documents"]
    assert len(document["hunks"]) == 2


@pytest.mark.covers("RD-cli-settle-told")
def test_on_a_terminal_a_hunk_in_conflict_is_not_accepted_and_the_commands_that_settle_it_are_told(redraft: Program):
    scripted(redraft, says("I look.", *EDITS), says("I did it."))

    def accept_what_somebody_changes() -> str:
        redraft.write("story.md", STORY.replace("was dark", "lay dark"))
        return "a"

    status, seen = talked(redraft, ["ask", "Change it"], {"1/2": accept_what_somebody_changes, "2/2": "a"})
    assert (status, "Accepted 1, rejected 0" in seen) == (0, True), seen
    assert redraft.read("story.md") == STORY.replace("was dark", "lay dark").replace("the keys", "her keys")
    [document] = redraft.json("diff")["documents"]
    [hunk] = document["hunks"]
    assert all(f"redraft settle {hunk['hunk_id']} --{side}" in seen for side in ("mine", "theirs", "both")), seen


def test_on_a_terminal_a_question_is_answered_and_a_deletion_agreed_to(redraft: Program):
    scripted(
        redraft,
        says("", call("clarify_user", question="Really?")),
        says("", call("delete_document", path="story.md")),
        says("Gone."),
    )
    status, seen = talked(redraft, ["ask", "Delete it", "--mode", "apply"], {"Really?": "Yes\n", "[y/N": "y\n"})
    assert (status, "The agent wants to move story.md to the trash." in seen) == (0, True), seen
    assert not (redraft.folder / "story.md").exists()


def test_a_malformed_question_fails_before_anybody_is_asked(redraft: Program):
    colours = {"question": "Which colour?", "options": ["red", "blue"]}
    scripted(redraft, says("", call("clarify_user", **colours)), says("", call("clarify_user", prompt="Which?")))
    asked = redraft.run("ask", "Paint it", "--json").json
    assert (asked["status"], asked["question"]["text"]) == ("waiting_for_user", "Which?"), asked
    [failed] = [event for event in _events(redraft)[0] if event["type"] == "tool.call.completed"]
    assert "`options`" in str(failed)


def test_a_question_that_nobody_hears_waits_for_another_command(redraft: Program):
    scripted(redraft, says("", call("delete_document", path="story.md")), says("Gone."))
    asked = redraft.run("ask", "Delete it", "--mode", "apply")
    assert (asked.status, (redraft.folder / "story.md").exists()) == (1, True)
    assert "story.md" in asked.err
    assert ("--yes (or --no)" in asked.err, "--answer" in asked.err) == (True, False), asked.err
    [job] = redraft.json("jobs")["jobs"]
    assert job["question"]["paths"] == ["story.md"]
    told = redraft.json("jobs", job["id"], "--yes")
    assert (told["status"], told["answer"]) == ("completed", "Gone."), told
    assert not (redraft.folder / "story.md").exists()


def test_the_script_that_the_documentation_shows_plays_to_its_end(redraft: Program):
    page = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    example = page.partition("## A script instead of a model")[2].partition("```json\n")[2].partition("```")[0]
    redraft.write("harbour.md", "The harbour is empty.\n")
    steps = [json.loads(line) for line in example.splitlines()]
    scripted(redraft, *steps)
    asked = redraft.run("ask", "Paint the harbour")
    assert (asked.status, steps[1]["calls"][0]["arguments"]["question"] in asked.err) == (1, True), asked
    [job] = redraft.json("jobs")["jobs"]
    assert ("--answer ..." in asked.err, "--yes" in asked.err) == (True, False), asked.err
    told = redraft.json("jobs", job["id"], "--answer", "blue")
    assert (told["status"], told["answer"]) == ("awaiting_review", steps[-1]["text"]), told


def test_ctrl_c_stops_a_job_and_leaves_nothing(redraft: Program):
    scripted(redraft, says("", EDITS[0]), says("Never.", delay_ms=60_000))
    with subprocess.Popen(
        [*COMMAND, "ask", "Change it", "--mode", "apply"],
        cwd=redraft.folder,
        env=redraft.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as program:
        end = time.monotonic() + 60
        while not any("tool.call.completed" in str(job) for job in _events(redraft)) and time.monotonic() < end:
            time.sleep(0.1)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=60)
    assert (program.returncode, redraft.read("story.md")) == (130, STORY), errors
    [job] = redraft.json("jobs")["jobs"]
    assert job["status"] == "cancelled"


def _events(redraft: Program) -> list[Any]:
    return [redraft.json("jobs", job["id"])["events"] for job in redraft.json("jobs")["jobs"]]


@pytest.mark.covers("ML-adv-memory-preferences")
def test_a_chat_is_one_session(redraft: Program):
    scripted(redraft, says("Hello."), says("Still here."))
    done = redraft.run("chat", stdin="Hi\n/remember Use British spelling.\nAnd now?\n")
    assert done.status == 0, done.err
    assert "Hello." in done.out
    assert "I will remember that." in done.out
    jobs = redraft.json("jobs")["jobs"]
    assert len({job["session_id"] for job in jobs}) == 1
    assert len(jobs) == 3
    [notes] = (redraft.home / "state" / "redraft" / "memory").glob("preferences*.md")
    assert "British spelling" in notes.read_text(encoding="utf-8")


@pytest.mark.covers("ML-open-quota")
def test_models_are_listed_and_so_is_what_they_cost(redraft: Program):
    scripted(redraft, says("", EDITS[0], **PAID), says("Done."))
    redraft.run("ask", "Change it", "--doc", "story.md")
    told = redraft.json("models")
    assert told["models"] == [{"name": "play", "kind": "scripted", "model": ""}]
    assert told["default"] == {"provider": "scripted", "model": "scripted"}
    shown = redraft.ok("models")
    assert "without --model, play answers." in shown
    assert re.search(r"play .*default", shown)
    for by, name in (("model", "scripted:scripted"), ("document", "story.md")):
        [spent] = redraft.json("usage", "--by", by)["usage"]
        assert (spent["name"], spent["steps"], spent["price_usd"]) == (name, 2, "0.003")
        assert (spent["input_tokens"], spent["output_tokens"]) == (900, 20)
    assert "$0.0030" in redraft.ok("usage")


@pytest.mark.covers("ML-open-offline")
def test_without_a_model_the_offline_assistant_answers_and_says_what_it_is(redraft: Program):
    assert "rules" in redraft.ok("ask", "help")
    assert redraft.json("models")["default"] == {"provider": "offline", "model": "rules"}
    assert "known are: offline." in redraft.run("ask", "help", "--model", "nope").err
    assert redraft.run("ask", "help", "--model", "offline").status == 0
    without_network = ["unshare", "--user", "--map-root-user", "--net"]
    cut_off = subprocess.run([*without_network, "true"], capture_output=True, check=False).returncode == 0
    asked = [*COMMAND, "ask", "replace dark with bright in story.md", "--mode", "apply"]
    done = subprocess.run(
        [*(without_network if cut_off else ()), *asked],
        cwd=redraft.folder,
        env=redraft.environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done
    assert redraft.read("story.md") == STORY.replace("dark", "bright")


def test_what_a_job_did_can_be_saved_and_run_again(redraft: Program):
    scripted(redraft, says("", call("create_document", path="{{date}}/{{title}}.md", content="x\n")), says("Done."))
    job = redraft.json("ask", "Make it")
    redraft.ok("reject", "--all")
    redraft.ok("jobs", job["id"], "--save", "page")
    redraft.ok("ask", "--macro", "page", "--value", "title=One", "--mode", "apply")
    assert len(list(redraft.folder.glob("20*/One.md"))) == 1
    [saved] = redraft.json("macros", "page")["macros"]
    assert (saved["saved"], saved["values"]) == (True, ["title"])
    assert "redraft ask --macro page --value title=..." in redraft.ok("macros")
    left = redraft.json("macros", "page", "--forget")["macros"]
    assert [macro["name"] for macro in left if macro["saved"]] == []


def test_a_macro_that_there_is_not_is_told_with_the_command_that_lists_them(redraft: Program):
    for arguments in (["ask", "--macro", "dayly-note"], ["macros", "dayly-note", "--forget"]):
        missing = redraft.run(*arguments)
        assert (missing.status, "`redraft macros`" in missing.err) == (4, True), missing


def test_what_was_remembered_is_listed_and_forgotten(redraft: Program):
    with redraft.open() as workspace:
        PermissionRules(workspace.state).remember(PermissionRule("destroy", "drafts/*", Verdict.ALLOW))
    assert "allow destroy" in redraft.ok("rules")
    assert redraft.json("rules", "destroy", "drafts/*", "--forget")["rules"] == []
    assert redraft.run("rules", "destroy", "drafts/*", "--forget").status == 4
    assert redraft.run("rules", "--forget").status == 2


@pytest.mark.covers("ML-adv-quick-actions")
def test_a_daily_note_is_at_hand(redraft: Program):
    redraft.ok("ask", "--macro", "daily-note", "--mode", "apply")
    [note] = (redraft.folder / "journal").glob("*.md")
    assert "## Today" in note.read_text(encoding="utf-8")
