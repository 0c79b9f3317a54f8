"""Questions in tmux panes: found in what a pane shows, without its colours, and answered by its keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from redraft.sessions.project import Shelf
from redraft.sessions.questions import find_question
from redraft.sessions.registry import Entry, load, save

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from sessions.conftest import AgentDoc

ASKED = """\
● Bash(rm -rf build)

╭──────────────────────────────────────╮
│ Bash command                         │
│                                      │
│ \x1b[1mDo you want to proceed?\x1b[0m              │
│ \x1b[36m❯ 1. Yes\x1b[0m                             │
│   2. Yes, and don't ask again for rm │
│   3. No, and tell Claude why (esc)   │
╰──────────────────────────────────────╯
"""


@pytest.mark.covers("AD-prompt-detect", "AD-prompt-json")
def test_a_question_is_found_without_its_frame_and_colours():
    found = find_question(ASKED)
    assert found is not None
    assert found.as_json() == {
        "active": True,
        "question": "Do you want to proceed?",
        "options": [
            {"index": 1, "label": "Yes"},
            {"index": 2, "label": "Yes, and don't ask again for rm"},
            {"index": 3, "label": "No, and tell Claude why (esc)"},
        ],
        "selected": 1,
    }


@pytest.mark.parametrize(
    "shown",
    ["", "Nothing here.\n", "Steps:\n1. One\n2. Two\n", "❯ 2. Two\n", "❯ hello\n", "1.2 is a number\n❯ \n"],
)
def test_lists_and_other_text_are_no_questions(shown: str):
    assert find_question(shown) is None


def test_the_last_question_counts_and_a_list_after_it_does_not_hide_it():
    shown = "First?\n❯ 1. a\n  2. b\n────\nSecond?\n  1. c\n❯ 2. d ä😀\n────\nNotes:\n1. x\n"
    found = find_question(shown)
    assert found is not None
    assert (found.text, found.options, found.marked) == ("Second?", ("c", "d ä😀"), 1)


@pytest.fixture
def pane(agent_doc: AgentDoc, tmp_path: Path) -> Generator[str]:
    """A pane of a tmux of its own, in which a script asks until it is answered."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    agent_doc.patching.setenv("TMUX_TMPDIR", str(tmp_path))
    agent_doc.patching.setenv("LC_ALL", "C.UTF-8")
    (tmp_path / "asked").write_text(ASKED, encoding="utf-8")
    script = f"cat {tmp_path / 'asked'}; stty raw -echo; head -c 4 > {tmp_path / 'keys'}; sleep 60"
    made = ["tmux", "-f", os.devnull, "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "100", "-y", "30", script]
    yield subprocess.run(made, check=True, capture_output=True, encoding="utf-8").stdout.strip()
    subprocess.run(["tmux", "kill-server"], check=False)


@pytest.mark.slow
@pytest.mark.covers("AD-prompt-detect", "AD-prompt-answer", "AD-prompt-all", "AD-u11")
def test_a_real_pane_is_read_and_answered(agent_doc: AgentDoc, pane: str, tmp_path: Path):
    agent_doc.write("a.md", "---\nagent_doc_session: d-1\n---\n")
    agent_doc.write("b.md", "---\nsession: d-2\n---\n")
    entry = {"pane": pane, "pid": 1, "cwd": str(agent_doc.folder), "started": "2026-01-01T00:00:00Z", "file": "a.md"}
    dead = {**entry, "pane": "%999", "file": "b.md", "window": "1"}
    agent_doc.write(".agent-doc/sessions.json", json.dumps({"d-1": entry, "d-2": dead, "odd": 3}))
    deadline = time.monotonic() + 10
    while not (found := agent_doc.json("prompt", "a.md"))["active"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found["question"] == "Do you want to proceed?"
    [one] = agent_doc.json("prompt", "--all")
    assert (one["session_id"], one["file"], one["pane"], one["active"]) == ("d-1", "a.md", pane, True)
    assert agent_doc.run("prompt", "b.md").status == 4, "its pane is gone"
    assert agent_doc.run("prompt", "a.md", "--answer", "9").status == 2
    agent_doc.json("prompt", "a.md", "--answer", "2")
    while (tmp_path / "keys").stat().st_size < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (tmp_path / "keys").read_bytes() in (b"\x1b[B\r", b"\x1bOB\r"), "down once, and Enter"


def test_the_registry_keeps_what_it_does_not_understand(agent_doc: AgentDoc):
    agent_doc.write(".agent-doc/sessions.json", json.dumps({"new": {"pane": 4, "more": [1]}, "d-1": {"pane": "%1"}}))
    with Shelf.open(str(agent_doc.folder)) as shelf:
        assert load(shelf) == {"d-1": Entry("%1")}
        shared = Entry("%2", 7, "/p", "2026-01-01T00:00:00Z", "ä.md", "1")
        save(shelf, {"d-1": None, "d-2": shared, "d-3": replace(shared, window="")})
        assert load(shelf) == {"d-2": shared, "d-3": replace(shared, window="")}
    stored = json.loads(agent_doc.read(".agent-doc/sessions.json"))
    assert stored["new"] == {"pane": 4, "more": [1]}
    assert "window" not in stored["d-3"]


def test_a_damaged_registry_is_told_and_not_overwritten(agent_doc: AgentDoc):
    agent_doc.write("a.md", "---\nagent_doc_session: d-1\n---\n")
    agent_doc.write(".agent-doc/sessions.json", "{")
    assert agent_doc.run("prompt", "a.md").status == 5
    agent_doc.write(".agent-doc/sessions.json", "{}")
    assert agent_doc.run("prompt", "a.md").status == 4
