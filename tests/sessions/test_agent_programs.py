"""What agents are started with, what they write, and how they end: through `agent-doc run` with fake programs."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from redraft.formats.frontmatter import entries, fields
from tests.sessions.conftest import PATIENCE, until
from tests.sessions.test_run import DOC, claude

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc
    from tests.sessions.test_run import Claude

__all__ = ["claude"]  # the fixture

SAID = {"type": "result", "subtype": "success", "is_error": False, "result": "A letter.", "session_id": "s-7"}
CLAUDE_EVENTS = [
    {"type": "system", "subtype": "init", "session_id": "s-7"},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "A let"}]}, "session_id": "s-7"},
    SAID,
]
CODEX_EVENTS: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "s-7"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "0", "type": "agent_message", "text": "I look at it."}},
    {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls", "exit_code": 0}},
    {"type": "item.completed", "item": {"id": "2", "type": "agent_message", "text": "A letter."}},
    {"type": "turn.completed", "usage": {"input_tokens": 1}},
]


def lines(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.mark.covers("AD-output-forms")
@pytest.mark.parametrize(
    ("agent", "says"),
    [
        ("claude", json.dumps(SAID)),
        ("claude", json.dumps(CLAUDE_EVENTS)),
        ("claude", lines(CLAUDE_EVENTS)),
        ("codex", lines(CODEX_EVENTS)),
        ("codex", "Reading the prompt...\n" + lines(CODEX_EVENTS)),
    ],
)
def test_an_answer_is_read_from_an_object_an_array_a_stream_and_codexs_events(
    agent_doc: AgentDoc, claude: Claude, agent: str, says: str
):
    agent_doc.write("plan.md", DOC)
    claude.script(says)
    agent_doc.ok("run", "plan.md", "--agent", agent)
    assert agent_doc.read("plan.md").endswith("## Assistant\n\nA letter.\n\n## User\n\n")
    assert fields(agent_doc.read("plan.md"))["resume"] == "s-7"
    assert claude.calls[0]["program"] == agent


@pytest.mark.covers("AD-output-forms", "AD-empty-answer")
@pytest.mark.parametrize(
    ("agent", "says", "why"),
    [
        ("claude", json.dumps({**SAID, "result": " \n"}), "answered with nothing"),
        ("scribe", "\n", "answered with nothing"),
        ("codex", lines([*CODEX_EVENTS[:2], CODEX_EVENTS[-1]]), "answered with nothing"),
        ("claude", lines(CLAUDE_EVENTS[:2]), "stopped before its answer was complete"),
        ("codex", lines(CODEX_EVENTS[:-1]), "stopped before its answer was complete"),
        ("codex", lines([*CODEX_EVENTS[:2], {"type": "turn.failed", "error": {"message": "quota"}}]), "error: quota"),
        ("claude", json.dumps({**SAID, "subtype": "error_max_turns", "result": None}), "reported an error"),
    ],
)
def test_an_empty_a_torn_and_a_failed_answer_keep_the_question(
    agent_doc: AgentDoc, claude: Claude, tmp_path: Path, agent: str, says: str, why: str
):
    configure(tmp_path, '[agents.scribe]\ncommand = "scribe"\n')
    agent_doc.write("plan.md", DOC)
    claude.script(says)
    failed = agent_doc.run("run", "plan.md", "--agent", agent)
    assert (failed.status, why in failed.err) == (1, True), failed
    assert (agent_doc.read("plan.md"), agent_doc.snapshot("plan.md"), agent_doc.answers()) == (DOC, None, [])
    claude.script(json.dumps(SAID))
    agent_doc.ok("run", "plan.md")
    assert "A letter." in agent_doc.read("plan.md"), "the question is still asked"


@pytest.mark.covers("AD-resume-map")
@pytest.mark.parametrize(
    "head",
    [
        "---\nagent: claude\nresume:\n  claude: c-1 # mine\n  gemini: g-1\nkept: [a, b]\n---\n",
        "---\nresume: {claude: c-1, gemini: g-1}\nkept: [a, b]\n---\n",
        "---\n{agent: claude, resume: {claude: c-1, gemini: g-1}, kept: [a, b]}\n---\n",
    ],
)
def test_each_agent_continues_its_own_conversation_where_there_is_one_for_each(
    agent_doc: AgentDoc, claude: Claude, head: str
):
    agent_doc.write("plan.md", head + "\n## User\n\nHello?\n")
    claude.says("One.", session="c-2")
    agent_doc.ok("run", "plan.md")
    assert "--resume=c-1" in claude.calls[0]["words"]
    assert agent_doc.read("plan.md").startswith(head.replace("c-1", "c-2")), "and no other byte of it has changed"
    agent_doc.write("plan.md", agent_doc.read("plan.md") + "And?\n")
    claude.script(lines([{**CODEX_EVENTS[0], "thread_id": "x-1"}, *CODEX_EVENTS[1:]]))
    agent_doc.ok("run", "plan.md", "--agent", "codex")
    assert "resume" not in claude.calls[1]["words"], "codex has none yet"
    assert entries(agent_doc.read("plan.md"), "resume") == {"claude": "c-2", "gemini": "g-1", "codex": "x-1"}
    agent_doc.write("plan.md", agent_doc.read("plan.md") + "And?\n")
    agent_doc.ok("run", "plan.md", "--agent", "codex", "--model", "gpt-5")
    assert claude.calls[2]["words"][-4:] == ["--model=gpt-5", "resume", "x-1", "-"]
    agent_doc.ok("reset", "plan.md")
    assert "resume" not in fields(agent_doc.read("plan.md"))


@pytest.mark.covers("AD-comp-patch-attribute")
def test_patch_in_a_marker_says_how_a_component_is_filled_and_wins_over_mode(agent_doc: AgentDoc):
    marked = "<!-- agent:log patch=append mode=replace -->\nold\n<!-- /agent:log -->\n"
    agent_doc.write("plan.md", marked)
    agent_doc.ok("patch", "plan.md", "log", "new")
    assert agent_doc.read("plan.md") == marked.replace("old\n", "old\nnew\n")
    agent_doc.ok("write", "plan.md", stdin="<!-- patch:log -->\nlast\n<!-- /patch:log -->\n")
    assert agent_doc.read("plan.md") == marked.replace("old\n", "old\nnew\nlast\n")


@pytest.mark.covers("AD-model-every-agent")
def test_an_agent_that_takes_no_model_says_so(agent_doc: AgentDoc, claude: Claude, tmp_path: Path):
    configure(tmp_path, '[agents.scribe]\ncommand = "scribe"\n')
    agent_doc.write("plan.md", DOC.replace("---\n\n", "model: opus\nclaude_model: sonnet\n---\n\n"))
    claude.script("Plain words.")
    refused = agent_doc.run("run", "plan.md", "--agent", "scribe", "--model", "opus")
    assert (refused.status, "scribe takes no model" in refused.err, claude.calls) == (2, True, [])
    told = agent_doc.run("run", "plan.md", "--agent", "scribe")
    assert (told.status, "scribe takes no model, so 'opus'" in told.err) == (0, True)
    assert claude.calls[0]["words"] == []
    agent_doc.write("plan.md", agent_doc.read("plan.md") + "And?\n")
    claude.says("Yes.")
    agent_doc.ok("run", "plan.md", "--agent", "claude")
    assert "--model=sonnet" in claude.calls[1]["words"], "its own wins over the one for all"


# Says that it has begun, with something that it started, and ends only when it is ended.
SLOW = """\
#!{python} -IS
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
open({signs!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(3600)
"""


@pytest.mark.slow
@pytest.mark.covers("AD-run-ended")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ending_a_run_ends_its_agent_and_all_that_it_started(
    agent_doc: AgentDoc, tmp_path: Path, number: signal.Signals
):
    signs = tmp_path / "signs"
    program = tmp_path / "slow"
    program.write_text(SLOW.format(python=sys.executable, signs=str(signs)), encoding="utf-8")
    program.chmod(0o755)
    configure(tmp_path, f"[agents.slow]\ncommand = {json.dumps(str(program))}\n")
    agent_doc.patching.setenv("REDRAFT_MODEL_CALLS", "programs")
    agent_doc.write("plan.md", DOC)
    running = agent_doc.process("run", "plan.md", "--agent", "slow")
    until(lambda: signs.exists() and signs.read_text(encoding="utf-8"), "the agent has begun")
    begun = [int(word) for word in signs.read_text(encoding="utf-8").split()]
    running.send_signal(number)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + number
    until(lambda: not any(map(lives, begun)), "they are gone")
    assert agent_doc.read("plan.md") == DOC


def lives(pid: int) -> bool:
    """Whether a process still runs; one that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def configure(home: Path, settings: str) -> None:
    path = home / "config" / "agent-doc" / "config.toml"
    os.makedirs(path.parent, exist_ok=True)
    path.write_text(settings, encoding="utf-8")
