"""`redraft ask --agent`: another agent program's work in a private view becomes one turn of its name."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import PATIENCE
from tests.programs.conftest import STORY

if TYPE_CHECKING:
    from tests.cli.running import Program

AGENT = Path(__file__).with_name("acp_agent.py")


@pytest.fixture
def hosting(overlaid: Program, tmp_path: Path) -> Program:
    settings = tmp_path / "config" / "redraft" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[agents.toy]\ncommand = {json.dumps([sys.executable, str(AGENT)])}\n", encoding="utf-8")
    overlaid.variables["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    return overlaid


def ask(program: Program, *words: str) -> Any:
    result = program.run("ask", "--json", "--agent", "toy", *words)
    assert result.out, result
    return json.loads(result.out)


def test_what_the_agent_does_in_a_shell_waits_as_one_turn_of_its_name(hosting: Program) -> None:
    job = ask(hosting, "sed -i s/dark/bright/ story.md; rm drafts/dull.md; echo new > new.md")
    assert job["status"] == "awaiting_review", job
    assert job["answer"] == "Done."
    assert (hosting.folder / "story.md").read_text(encoding="utf-8") == STORY
    hosting.run("accept", "--all")
    assert "bright" in (hosting.folder / "story.md").read_text(encoding="utf-8")
    assert not (hosting.folder / "drafts/dull.md").exists()


def test_in_mode_read_the_agents_writes_go_nowhere(hosting: Program) -> None:
    job = ask(hosting, "--mode", "read", "echo gone > story.md")
    assert job["status"] == "completed", job
    assert (hosting.folder / "story.md").read_text(encoding="utf-8") == STORY


def test_an_agent_that_dies_still_yields_what_it_did(hosting: Program) -> None:
    job = ask(hosting, "sed -i s/dark/bright/ story.md; kill -9 $PPID")
    assert job["status"] == "awaiting_review", job
    assert "Unfinished" in job["answer"]


def test_a_folder_cannot_name_an_agent(hosting: Program) -> None:
    hosting.write(".redraft/settings.toml", '[agents.evil]\ncommand = ["sh"]\n')
    result = hosting.run("ask", "--agent", "evil", "hello")
    assert "There is no agent 'evil'" in result.err


def test_what_it_does_in_mode_apply_is_on_the_disk_as_one_turn_that_can_be_undone(hosting: Program) -> None:
    job = ask(hosting, "--mode", "apply", "sed -i s/dark/bright/ story.md; echo new > new.md")
    assert job["status"] == "completed", job
    assert (hosting.folder / "new.md").read_text(encoding="utf-8") == "new\n"
    hosting.run("undo")
    assert (hosting.folder / "story.md").read_text(encoding="utf-8") == STORY
    assert not (hosting.folder / "new.md").exists()


def test_a_program_that_cannot_be_started_says_why(hosting: Program, tmp_path: Path) -> None:
    settings = tmp_path / "config" / "redraft" / "settings.toml"
    settings.write_text('[agents.toy]\ncommand = ["no-such-program"]\n', encoding="utf-8")
    job = ask(hosting, "hello")
    assert job["status"] == "failed"
    assert job["error"]["error"] == "agent_failed"
    assert "No such file" in job["error"]["message"]


def heard(pipe: int) -> bytes:
    """What comes through the pipe next; nothing once all that held it open have ended."""
    assert select.select([pipe], [], [], PATIENCE)[0], "silence"
    return os.read(pipe, 100)


def test_stopping_it_ends_all_that_it_started_and_its_work_waits_in_the_view(hosting: Program, tmp_path: Path) -> None:
    """Every process that it starts holds a pipe open, also one in a session of its own: the pipe's end tells."""
    pipe = tmp_path / "signs" / "pipe"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    settings = tmp_path / "config" / "redraft" / "settings.toml"
    with settings.open("a", encoding="utf-8") as file:
        file.write(f"writable = [{json.dumps(str(pipe.parent))}]\n")
    words = f"exec 9>{pipe}; sed -i s/dark/bright/ story.md; setsid sleep 3600 & echo started >&9; sleep 3600"
    command = [*hosting.command, "ask", "--json", "--agent", "toy", words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, encoding="utf-8", cwd=hosting.folder, env=hosting.environment
    ) as asking:
        # Opened without waiting for a writer: an agent that never starts must fail the test, not hold it up for good.
        signs = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert heard(signs) == b"started\n"
            asking.send_signal(signal.SIGINT)
            assert heard(signs) == b"", "something that it started goes on"
            job = json.loads(asking.communicate(timeout=PATIENCE)[0])
        finally:
            os.close(signs)
            asking.kill()
    assert job["status"] == "cancelled", job
    assert "redraft views take" in job["error"]["message"]
    assert (hosting.folder / "story.md").read_text(encoding="utf-8") == STORY
    hosting.run("views", "take", job["error"]["details"]["view"])
    assert "bright" in hosting.run("diff").out
