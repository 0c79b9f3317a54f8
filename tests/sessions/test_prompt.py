"""Questions in tmux panes: found in what a pane shows, without its colours, and answered by its keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from redraft.sessions.project import AgentDocFiles
from redraft.sessions.tmux.panes import find_question
from redraft.sessions.tmux.registry import PaneEntry, load, save
from tests.sessions.conftest import until

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc

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
FOUND: dict[str, Any] = {
    "active": True,
    "question": "Do you want to proceed?",
    "options": [
        {"index": 1, "label": "Yes"},
        {"index": 2, "label": "Yes, and don't ask again for rm"},
        {"index": 3, "label": "No, and tell Claude why (esc)"},
    ],
    "selected": 1,
}


@pytest.mark.covers("AD-prompt-detect")
def test_a_question_is_found_without_its_frame_and_colours():
    found = find_question(ASKED)
    assert found is not None
    assert found.as_json() == FOUND


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
def panes(agent_doc: AgentDoc, tmp_path: Path) -> Generator[list[str]]:
    """Panes of a tmux of its own: in the first two a script asks until it is answered, the third asks nothing."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    agent_doc.patching.setenv("TMUX_TMPDIR", str(tmp_path))
    agent_doc.patching.setenv("LC_ALL", "C.UTF-8")
    script = "cat {0}/{1}; stty raw -echo; head -c {2} > {0}/keys-{1}; sleep 60"
    (tmp_path / "first").write_text(ASKED, encoding="utf-8")
    (tmp_path / "third").write_text(ASKED.replace("❯ 1", "  1").replace("  3", "❯ 3"), encoding="utf-8")
    begin = ["tmux", "-f", os.devnull, "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "100", "-y", "30"]
    more = ["tmux", "new-window", "-d", "-P", "-F", "#{pane_id}"]
    yield [
        subprocess.run([*words, does], check=True, capture_output=True, encoding="utf-8").stdout.strip()
        for words, does in (
            (begin, script.format(tmp_path, "first", 4)),
            (more, script.format(tmp_path, "third", 7)),
            (more, "sleep 60"),
        )
    ]
    subprocess.run(["tmux", "kill-server"], check=False)


@pytest.mark.slow
@pytest.mark.covers("AD-prompt-detect", "AD-prompt-json", "AD-prompt-answer", "AD-prompt-all", "AD-u11")
def test_real_panes_are_read_and_answered(agent_doc: AgentDoc, panes: list[str], tmp_path: Path):
    names = ("a.md", "b.md", "c.md", "gone.md")
    entries = dict[str, object]()
    for name, pane in zip(names, [*panes, "%999"], strict=True):
        agent_doc.write(name, f"---\nagent_doc_session: of-{name}\n---\n")
        entries[f"of-{name}"] = {"pane": pane, "pid": 1, "cwd": str(agent_doc.folder), "started": "", "file": name}
    agent_doc.write(".agent-doc/sessions.json", json.dumps({**entries, "odd": 3}))
    until(lambda: all(agent_doc.json("prompt", name)["active"] for name in ("a.md", "b.md")), "both ask")
    nothing: dict[str, Any] = {"active": False, "question": None, "options": []}
    wanted = [FOUND, {**FOUND, "selected": 3}, nothing]
    assert [agent_doc.json("prompt", name) for name in names[:3]] == wanted
    assert agent_doc.json("prompt", "--all") == [
        {"session_id": f"of-{name}", "file": name, "pane": pane, **asked}
        for name, pane, asked in zip(names, panes, wanted, strict=False)
    ]
    assert agent_doc.run("prompt", "gone.md").status == 4, "its pane is gone"
    assert agent_doc.run("prompt", "a.md", "--answer", "9").status == 2
    assert agent_doc.run("prompt", "c.md", "--answer", "1").status == 1, "it asks nothing"
    agent_doc.json("prompt", "a.md", "--answer", "2")
    agent_doc.json("prompt", "b.md", "--answer", "1")
    keys = {name: tmp_path / f"keys-{name}" for name in ("first", "third")}
    until(lambda: [keys[name].stat().st_size for name in keys] == [4, 7], "the keys are there")
    typed = {name: path.read_bytes().replace(b"\x1bO", b"\x1b[") for name, path in keys.items()}
    assert typed == {"first": b"\x1b[B\r", "third": b"\x1b[A\x1b[A\r"}, "to the option, and Enter"


def test_the_registry_keeps_what_it_does_not_understand(agent_doc: AgentDoc):
    agent_doc.write(".agent-doc/sessions.json", json.dumps({"new": {"pane": 4, "more": [1]}, "d-1": {"pane": "%1"}}))
    with AgentDocFiles.open(str(agent_doc.folder)) as shelf:
        assert load(shelf) == {"d-1": PaneEntry("%1")}
        shared = PaneEntry("%2", 7, "/p", "2026-01-01T00:00:00Z", "ä.md", "1")
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
