"""`agent-doc run` with an agent over ACP: its answer in the document, its other changes as a turn to review."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import PATIENCE, Program
from tests.programs.conftest import STORY
from tests.sessions.conftest import PROGRAM, until

if TYPE_CHECKING:
    from tests.cli.running import Result

AGENT = Path(__file__).with_name("answering_agent.py")
EXCHANGE = "<!-- agent:exchange mode=append -->\nIs it dark?\n<!-- /agent:exchange -->\n"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A document whose agent is set up as for `redraft ask`."""

    redraft: Program
    sign: Path

    @property
    def folder(self) -> Path:
        return self.redraft.folder

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=self.folder,
            env=self.redraft.environment,
        )

    def run(self, *words: str) -> tuple[int, str]:
        with self.start(*words) as running:
            out, err = running.communicate(timeout=PATIENCE)
        return running.returncode, out + err

    def accept(self) -> Result:
        return self.redraft.run("accept", "--all")


@pytest.fixture
def conversation(overlaid: Program, tmp_path: Path) -> Conversation:
    sign = tmp_path / "signs" / "begun"
    sign.parent.mkdir()
    command = json.dumps([sys.executable, str(AGENT), str(sign)])
    for name, text in (
        ("redraft/settings.toml", f"[agents.toy]\ncommand = {command}\nwritable = [{json.dumps(str(sign.parent))}]\n"),
        ("agent-doc/config.toml", '[agents.own]\nprotocol = "acp"\n'),
    ):
        path = tmp_path / "config" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    overlaid.write("plan.md", f"---\nagent: toy\n---\n\n{EXCHANGE}")
    return Conversation(overlaid, sign)


@pytest.mark.covers("AD-backend-hosted")
def test_its_answer_is_in_the_document_and_its_other_changes_wait_for_review(conversation: Conversation):
    status, told = conversation.run("run", "plan.md", "--no-git")
    assert status == 0, told
    assert "is turn 1; it waits for your decision" in told
    assert "Is it dark?\nIt is bright.\n" in conversation.read("plan.md")
    assert conversation.read("story.md") == STORY
    assert not (conversation.folder / "new.md").exists()
    conversation.accept()
    assert "bright" in conversation.read("story.md")
    assert conversation.read("new.md") == "new\n"
    assert "toy" in conversation.run("log", "plan.md")[1], "the answer is the agent's turn"
    assert "Nothing changed" in conversation.run("run", "plan.md", "--no-git")[1]


@pytest.mark.covers("AD-backend-hosted")
def test_the_mode_propose_lets_the_answer_wait_too_and_apply_lets_nothing_wait(conversation: Conversation):
    status, told = conversation.run("run", "plan.md", "--no-git", "--mode", "propose")
    assert (status, "the answer waits for your decision" in told) == (0, True), told
    assert "bright" not in conversation.read("plan.md") + conversation.read("story.md")
    conversation.accept()
    assert "It is bright." in conversation.read("plan.md")
    assert "bright" in conversation.read("story.md")
    conversation.redraft.write("other.md", f"---\nagent: toy\n---\n\n{EXCHANGE}")
    conversation.redraft.write("story.md", STORY)
    status, told = conversation.run("run", "other.md", "--no-git", "--mode", "apply")
    assert (status, "waits" in told) == (0, False), told
    assert "It is bright." in conversation.read("other.md")
    assert "bright" in conversation.read("story.md")


@pytest.mark.covers("AD-backend-hosted", "AD-empty-answer", "AD-model-every-agent")
def test_an_empty_answer_an_unknown_agent_and_a_model_are_refused(conversation: Conversation):
    conversation.redraft.write("quiet.md", f"---\nagent: toy\n---\n\n{EXCHANGE}Say nothing.\n")
    before = conversation.read("quiet.md")
    status, told = conversation.run("run", "quiet.md", "--no-git")
    assert (status, "toy answered with nothing" in told) == (1, True), told
    assert conversation.read("quiet.md") == before
    status, told = conversation.run("run", "plan.md", "--no-git", "--model", "opus")
    assert (status, "toy takes no model" in told) == (2, True), told
    status, told = conversation.run("run", "plan.md", "--no-git", "--agent", "own")
    assert (status, "There is no agent 'own' here" in told) == (4, True), told


@pytest.mark.covers("AD-backend-hosted", "AD-run-ended")
def test_a_signal_ends_the_agent_and_its_work_waits_in_its_view(conversation: Conversation):
    conversation.redraft.write("slow.md", f"---\nagent: toy\n---\n\n{EXCHANGE}Wait.\n")
    before = conversation.read("slow.md")
    with conversation.start("run", "slow.md", "--no-git") as running:
        until(conversation.sign.exists, "the agent has begun")
        os.kill(running.pid, signal.SIGTERM)
        _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + signal.SIGTERM, err
    listed = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, encoding="utf-8").stdout
    assert str(conversation.sign) not in listed
    assert (conversation.read("slow.md"), conversation.read("story.md")) == (before, STORY)
    assert "toy" in conversation.redraft.run("views", "list").out
