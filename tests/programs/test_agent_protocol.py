"""What a person sees of an agent program's work, over HTTP: its events, its questions, its sessions and its tools."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import redraft
from tests.promises.doors import Folder
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Generator

AGENT = Path(__file__).with_name("scripted_agent.py")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_agents_run_here")]


@pytest.fixture(scope="module")
def _agents_run_here() -> None:
    if any(place.startswith("/tmp/") for place in (sys.executable, __file__, redraft.__file__)):
        pytest.skip("programs below /tmp are not found in a private view")


@dataclass(slots=True)
class Host:
    """A served folder with the scripted agent set up, and one chat."""

    folder: Folder
    home: Path
    chat: str = ""

    def new_chat(self) -> None:
        self.chat = self.folder.server.post("/api/agent/sessions", {"title": ""})["session_id"]

    def start(self, *steps: dict[str, Any], agent: str = "toy", **more: Any) -> str:
        body = {"session_id": self.chat, "instruction": json.dumps([*steps]), "agent": agent, **more}
        return self.folder.server.post("/api/agent/run", body)["job_id"]

    def job(self, job_id: str) -> Any:
        return self.folder.server.get(f"/api/agent/jobs/{job_id}")

    def wait(self, job_id: str, *states: str) -> Any:
        """Until the job is in one of these states."""
        end = time.monotonic() + PATIENCE
        while (job := self.job(job_id))["status"] not in states:
            assert time.monotonic() < end, job
            time.sleep(0.05)
        return job

    def end(self, job_id: str) -> Any:
        return self.wait(job_id, "completed", "awaiting_review", "failed", "cancelled")

    def run(self, *steps: dict[str, Any], **more: Any) -> Any:
        return self.end(self.start(*steps, **more))

    def events(self, job_id: str, kind: str) -> list[Any]:
        found = self.folder.server.get(f"/api/agent/jobs/{job_id}/events")["events"]
        return [event["data"] for event in found if event["type"] == kind]

    def reply(self, job_id: str, *, allow: bool, **more: Any) -> None:
        question = self.wait(job_id, "waiting_for_user")["question"]
        body = {"question_id": question["question_id"], "allow": allow, **more}
        self.folder.server.post(f"/api/agent/jobs/{job_id}/confirm", body)
        self.wait_for_answer(job_id, question)

    def wait_for_answer(self, job_id: str, question: Any) -> None:
        """Until the job has taken the answer: so long it is still its question."""
        end = time.monotonic() + PATIENCE
        while self.job(job_id)["question"] == question:
            assert time.monotonic() < end, question
            time.sleep(0.05)


@pytest.fixture(scope="module")
def served_host(tmp_path_factory: pytest.TempPathFactory) -> Generator[Host]:
    place = tmp_path_factory.mktemp("host")
    home = place / "agent home"
    home.mkdir()
    commands = {"toy": [], "deaf": ["no-load"], "stranger": ["signed-out"]}
    entries = "".join(
        f"[agents.{name}]\ncommand = {json.dumps(['env', f'AGENT_HOME={home}', sys.executable, str(AGENT), *words])}\n"
        f"writable = [{json.dumps(str(home))}]\n"
        for name, words in commands.items()
    )
    folder = Folder.serve(place, mode="propose", settings=entries)
    try:
        yield Host(folder, home)
    finally:
        folder.stop()


@pytest.fixture
def host(served_host: Host) -> Host:
    """A new chat, and the documents as they were."""
    served_host.folder.server.post("/api/review/reject", {"all": True})
    served_host.folder.put("story.md", "# The Lamp\n\nThe house was dark.\n")
    served_host.folder.put("dull.md", "Dull.\n")
    for name in ("new.md", "signs"):
        path = served_host.folder.path / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    served_host.new_chat()
    return served_host


@pytest.mark.covers("RD-host-events")
def test_words_thoughts_plan_calls_with_diffs_usage_and_commands_are_events_in_their_order(host: Host):
    job = host.start(
        {"think": "What is asked?"},
        {"say": "I look. "},
        {"plan": [["Read", "completed"], ["Write", "in_progress"]]},
        {"edit": ["story.md", "dark", "bright"]},
        {"usage": [900, 200_000, 0.25]},
        {"say": "Done."},
    )
    host.reply(job, allow=True)
    done = host.end(job)
    assert (done["status"], done["answer"]) == ("awaiting_review", "I look. Done.")
    assert host.events(job, "agent.thought") == [{"text": "What is asked?"}]
    assert [each["text"] for each in host.events(job, "assistant.message")] == ["I look.", "Done."]
    [plan] = host.events(job, "plan.updated")
    assert plan["entries"][1] == {"content": "Write", "status": "in_progress"}
    [call] = host.events(job, "tool.call.requested")
    assert (call["tool"], call["kind"], call["paths"]) == ("Edit story.md", "edit", ["story.md"])
    [end] = host.events(job, "tool.call.completed")
    assert end["ok"]
    assert end["diffs"][0]["path"] == "story.md"
    assert "-dark\n" in end["diffs"][0]["patch"]
    assert "+bright\n" in end["diffs"][0]["patch"]
    assert host.events(job, "agent.usage") == [{"used": 900, "size": 200_000, "cost": "0.250000", "currency": "USD"}]
    assert host.events(job, "step.completed")[0]["usage"] == {"input_tokens": 1200, "output_tokens": 300}
    assert host.events(job, "agent.commands")[0]["commands"][0]["name"] == "tidy"
    assert [hunk["working"] for hunk in host.folder.hunks("story.md")] == ["bright"]


@pytest.mark.covers("RD-host-permission")
def test_permission_is_given_once_for_the_job_or_by_a_rule_for_good_and_a_rule_can_refuse(host: Host):
    ask = {"ask": "Run it", "kind": "execute"}
    job = host.start(ask, ask, {**ask, "kind": "fetch"})
    host.reply(job, allow=False)
    host.reply(job, allow=True, for_job=True)  # asked again after a refusal
    host.reply(job, allow=True)  # another kind
    assert host.end(job)["answer"] == "refused. allowed. allowed. "
    job = host.start(ask, ask, ask)
    host.reply(job, allow=True, for_job=True)
    assert host.end(job)["answer"] == "allowed. allowed. allowed. "
    job = host.start(ask)  # another job asks again
    rule = {"tool": host.wait(job, "waiting_for_user")["question"]["tool"], "path": "*", "verdict": "allow"}
    host.reply(job, allow=True, remember=rule)
    assert host.end(job)["answer"] == "allowed. "
    assert host.run(ask)["answer"] == "allowed. "
    host.folder.server.request("POST", "/api/agent/rules", {**rule, "verdict": "deny"})
    refused = host.run(ask)["answer"]
    host.folder.server.request("DELETE", "/api/agent/rules", query={"tool": rule["tool"], "path": "*"})
    assert refused == "refused. "


@pytest.mark.covers("RD-host-options")
def test_its_modes_and_models_can_be_chosen_once_they_are_known(host: Host):
    assert host.run({"options": True})["answer"] == "mode careful, model small"
    [toy] = [each for each in host.folder.server.get("/api/providers")["agents"] if each["name"] == "toy"]
    assert [(each["id"], each["current"]) for each in toy["options"]] == [("mode", "careful"), ("model", "small")]
    assert [each["value"] for each in toy["options"][1]["values"]] == ["small", "large"]
    chosen = {"mode": "bold", "model": "large", "unknown": "x"}
    assert host.run({"options": True}, agent_options=chosen)["answer"] == "mode bold, model large"


@pytest.mark.covers("RD-host-forms")
def test_what_it_wants_to_be_told_is_a_question_for_each_field(host: Host):
    fields = {"size": {"type": "integer", "title": "How many?"}, "tone": {"type": "string", "enum": ["dry", "warm"]}}
    form = {"type": "object", "properties": fields, "required": ["tone"]}
    job = host.start({"form": form, "message": "Before I begin."})
    for words in ("7", "Warm"):
        question = host.wait(job, "waiting_for_user")["question"]
        body = {"question_id": question["question_id"], "answer": words}
        host.folder.server.post(f"/api/agent/jobs/{job}/clarify", body)
        host.wait_for_answer(job, question)
    assert host.end(job)["answer"] == 'heard {"size": 7, "tone": "warm"}'


@pytest.mark.covers("RD-host-tools")
def test_what_it_does_with_our_tools_its_own_and_a_shell_is_one_turn(host: Host):
    job = host.run(
        {"shell": "sed -i s/Lamp/Lantern/ story.md; rm dull.md"},
        {"tool": "edit_text", "args": {"path": "story.md", "old_text": "was dark", "new_text": "stood dark"}},
        {"shell": "echo made > new.md"},
    )
    assert job["status"] == "awaiting_review", job
    assert "'isError': True" not in job["answer"], job["answer"]
    assert "waits in the view" not in job["answer"], job["answer"]
    assert host.folder.bytes_of("story.md") == b"# The Lamp\n\nThe house was dark.\n"
    [turn] = [turn for turn in host.folder.turns() if turn["turn"] == job["turn"]]
    assert (turn["author"]["name"], sorted(turn["paths"])) == ("toy", ["dull.md", "new.md", "story.md"])
    host.folder.server.post("/api/review/accept", {"all": True})
    assert host.folder.bytes_of("story.md") == b"# The Lantern\n\nThe house stood dark.\n"


@pytest.mark.covers("RD-host-sessions")
def test_the_next_request_of_a_chat_goes_on_with_its_session_where_it_can(host: Host):
    host.run({"say": "one"})
    second = host.run({"say": "two"})
    assert second["answer"] == "two"  # what it repeats on loading is not said again
    asked = (host.home / "s1").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in asked[-2:]] == [[{"say": "one"}], [{"say": "two"}]]


@pytest.mark.covers("RD-host-restart")
@pytest.mark.parametrize("name", ["toy", "deaf"])
def test_a_job_goes_on_after_the_server_was_killed_where_its_program_can(host: Host, name: str):
    go = host.home / f"go {name}"
    (host.home / "s1").unlink(missing_ok=True)
    job = host.start(
        {"shell": "sed -i s/dark/bright/ story.md"}, {"wait": str(go)}, {"shell": "echo > new.md"}, agent=name
    )
    end = time.monotonic() + PATIENCE
    while not host.events(job, "tool.call.completed"):
        assert time.monotonic() < end
        time.sleep(0.05)
    host.folder.kill()
    host.folder.start()
    done = host.end(job)
    assert done["status"] == "awaiting_review", done
    assert "bright" in host.folder.text("story.md")[0]
    if name == "toy":
        assert done["answer"].startswith("I go on. ")
        assert host.folder.text("new.md")[0] == "\n"
        assert host.events(job, "agent.ready")[-1]["resumed"]
    else:
        assert "Unfinished: deaf was interrupted when Redraft stopped, and cannot go on by itself." in done["answer"]


@pytest.mark.covers("RD-host-sign-in")
def test_a_program_that_is_not_signed_in_says_how_to(host: Host):
    job = host.run({"say": "hello"}, agent="stranger")
    assert (job["status"], job["error"]["error"]) == ("failed", "agent_signed_out")
    assert "Log in: Run `scripted login`" in job["error"]["message"]


@pytest.mark.covers("RD-host-cancel")
def test_cancel_ends_the_command_that_the_program_lets_run_on(host: Host):
    sign = host.home / "ran on"
    started = host.home / "started"
    os.mkfifo(started)
    job = host.start({"shell": f"echo x > '{started}'; sleep 60; touch '{sign}'"})
    assert started.read_bytes() == b"x\n"
    host.folder.server.post(f"/api/agent/jobs/{job}/cancel", {})
    assert host.end(job)["status"] == "cancelled"
    started.unlink()
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, encoding="utf-8", check=True).stdout
    assert [line for line in running.splitlines() if str(sign) in line] == []
    assert not sign.exists()
