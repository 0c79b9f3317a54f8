"""What passes between a job and its model: answers of the person, broken streams, and the end of its time."""

from __future__ import annotations

import http.client
import json
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.listening import CALLS, configure, play, prompts, spoken, told_by_tools
from tests.cli.running import COMMAND, Program
from tests.providers.endpoint import Endpoint
from tests.server.serving import Server, serving, settled
from tests.speaking.forking import start_program
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
STORY = "# The Lamp\n\nIt was dark.\n"
EDIT = ("edit_text", {"path": "story.md", "old_text": "dark", "new_text": "black"})


@pytest.fixture
def model() -> Generator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "story.md").write_text(STORY, encoding="utf-8")
    return place


def begin(server: Server, mode: str = "propose", **more: Any) -> str:
    session = server.post("/api/agent/sessions", {})["session_id"]
    body = {"session_id": session, "instruction": "Please.", "mode": mode, **more}
    return server.post("/api/agent/run", body)["job_id"]


@pytest.mark.covers("RD-job-answer")
def test_an_answer_reaches_the_model_as_the_persons_own(folder: Path, model: Endpoint):
    configure(folder, model)
    with serving(folder, **CALLS) as server:
        play(
            model,
            spoken("", ("clarify_user", {"question": "Which one?"}), ("read_document", {"path": "story.md"})),
            spoken("Done."),
        )
        job = settled(server, begin(server))
        asked: str = job["question"]["question_id"]
        answer = {"question_id": asked, "answer": "Delete nothing; the second."}
        server.post(f"/api/agent/jobs/{job['id']}/clarify", answer)
        settled(server, job["id"], asked)
        answered, read = told_by_tools(model)
        assert answered["answer"] == "Delete nothing; the second."
        assert "data" not in answered["_note"]
        assert "the person's own answer" in answered["_note"]
        assert "data from documents" in read["_note"]
        [system] = [message["content"] for message in prompts(model)[0] if message["role"] == "system"]
        assert "their answers to your questions" in system


@pytest.mark.covers("ML-loop-tokens", "ML-loop-request", "ML-loop-results-back")
def test_a_step_may_be_as_long_as_the_settings_say(folder: Path, model: Endpoint):
    lengths, told = list[int](), list[Any]()
    for settings in ("", "[agent]\noutput_tokens = 700\n"):
        configure(folder, model, settings)
        with serving(folder, **CALLS) as server:
            play(model, spoken("", EDIT), spoken("Done."))
            settled(server, begin(server))
            lengths += [asked.body["max_tokens"] for asked in model.asked]
            told += told_by_tools(model)
    assert lengths == [4000, 4000, 700, 700]
    first, second = (asked.body for asked in model.asked)
    assert {body["model"] for body in (first, second)} == {"scripted"}
    offered = {tool["function"]["name"] for tool in first["tools"]}
    assert {"list_documents", "read_document", "edit_text", "delete_document", "clarify_user"} <= offered
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["messages"][1]["content"].endswith("Please.")
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    [made] = second["messages"][2]["tool_calls"]
    assert (made["function"]["name"], json.loads(made["function"]["arguments"])) == EDIT
    assert second["messages"][3]["tool_call_id"] == made["id"]
    done, failed = told
    assert done["path"] == "story.md"
    assert json.loads(failed["error"])["error"] == "anchor_not_found", "the first run has proposed it already"


@pytest.mark.covers("TK-turn-stream-end", "TK-timing-text-first", "TK-turn-begins")
def test_a_turn_ends_with_the_stream_and_not_with_its_first_words(folder: Path, model: Endpoint):
    """The model says what it will do and is silent for a while: nothing is done until all of it has arrived."""
    configure(folder, model)
    with serving(folder, **CALLS) as server:
        slow = spoken("I will change it now.", EDIT)
        slow.hold = threading.Event()
        play(model, slow, spoken("Done."))
        job = begin(server, "apply")
        stream = deltas(server, job)
        assert next(stream)["data"]["text"], "its words are shown while it speaks"
        found = server.get(f"/api/agent/jobs/{job}")
        assert (found["status"], server.get("/api/turns")["turns"]) == ("running", [])
        events = server.get(f"/api/agent/jobs/{job}/events")["events"]
        assert not any(event["type"].startswith("tool.") for event in events)
        assert (folder / "story.md").read_text(encoding="utf-8") == STORY
        slow.hold.set()
        assert settled(server, job)["status"] == "completed"
        stream.close()
        assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("dark", "black")
        assert len(server.get("/api/turns")["turns"]) == 1


@pytest.mark.covers("TK-turn-stream-end", "TK-timing-staged")
def test_nothing_can_be_decided_before_the_model_has_ended(folder: Path, model: Endpoint):
    """All calls are made and the model explains itself."""
    configure(folder, model)
    with serving(folder, **CALLS) as server:
        slow = spoken("I made it brighter than it was.", number=1)
        slow.hold = threading.Event()
        brighter = ("edit_text", {"path": "story.md", "old_text": "dark", "new_text": "bright"})
        play(model, spoken("", brighter), slow)
        job = begin(server)
        stream = deltas(server, job)
        assert next(stream)["data"]["text"]
        events = server.get(f"/api/agent/jobs/{job}/events")["events"]
        assert [event["data"]["ok"] for event in events if event["type"] == "tool.call.completed"] == [True]
        assert (server.get("/api/review")["documents"], len(server.get("/api/turns")["turns"])) == ([], 0)
        slow.hold.set()
        found = settled(server, job)
        stream.close()
        assert (found["status"], found["answer"]) == ("awaiting_review", "I made it brighter than it was.")
        [document] = server.get("/api/review")["documents"]
        assert [hunk["working"] for hunk in document["hunks"]] == ["bright"]
        assert (folder / "story.md").read_text(encoding="utf-8") == STORY


def deltas(server: Server, job: str) -> Generator[dict[str, Any]]:
    """The words of a job's model as they come."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request(
        "GET", f"/api/agent/jobs/{job}/events/stream", headers={"Authorization": f"Bearer {server.token}"}
    )
    response = connection.getresponse()
    try:
        while line := response.readline():
            if line.startswith(b"data: ") and (event := json.loads(line[6:]))["type"] == "assistant.delta":
                yield event
    finally:
        response.close()
        connection.close()


@pytest.mark.covers("RD-model-end-mark", "ML-loop-always-ends")
@pytest.mark.parametrize("calls", [(), (EDIT,)])
def test_a_stream_without_its_end_mark_is_a_failure_and_nothing_of_it_is_done(
    folder: Path, model: Endpoint, calls: tuple[Any, ...]
):
    configure(folder, model)
    with serving(folder, **CALLS) as server:
        play(model, spoken("I have changed", *calls, finish=None))
        job = settled(server, begin(server, "apply"))
        assert (job["status"], job["error"]["error"]) == ("failed", "model_unreachable")
        assert (folder / "story.md").read_text(encoding="utf-8") == STORY


@pytest.mark.covers("RD-job-time", "ML-limit-timeout", "ML-loop-always-ends")
def test_the_time_of_a_job_ends_it_in_the_middle_of_a_step(folder: Path, model: Endpoint):
    configure(folder, model, "[agent]\nseconds = 12\n")
    with serving(folder, **CALLS) as server:
        play(model, spoken("Hello."))
        settled(server, begin(server))  # loads the model's library, which may take longer than a job has
        late = spoken("Too late.")
        late.seconds = PATIENCE
        model.asked.clear()
        play(model, spoken("", EDIT), late)
        began = time.monotonic()
        job = settled(server, begin(server))
        assert time.monotonic() - began < PATIENCE / 2
        assert (job["status"], len(model.asked)) == ("awaiting_review", 2)
        assert "this job has used up its time" in job["answer"]
        events = server.get(f"/api/agent/jobs/{job['id']}/events")["events"]
        assert [event["data"] for event in events if event["type"] == "budget.exhausted"] == [{"what": "seconds"}]


@pytest.mark.covers("RD-job-rerun")
@pytest.mark.parametrize("resumed", [False, True])
def test_a_program_stays_until_the_job_that_it_ran_again_is_over(folder: Path, model: Endpoint, resumed: bool):
    """Another program changes the very words while the job works, so that its turn does not fit and it is run again."""
    configure(folder, model)
    program = Program(folder, dict(CALLS))
    late, again = spoken("Done."), spoken("", ("edit_text", {**EDIT[1], "old_text": "dim"}))
    late.release = threading.Event()
    again.seconds = 2
    play(model, spoken("", EDIT), *([late] if resumed else []), late, again, spoken("Done again."))
    process = running(program, "ask", "Please.", "--mode", "apply")
    until(lambda: len(model.asked) == 2)
    if resumed:
        process.kill()
        process.communicate()
        process = running(program, "jobs", "--resume")
        until(lambda: len(model.asked) == 3)
    (folder / "story.md").write_text(STORY.replace("dark", "dim"), encoding="utf-8")
    late.release.set()
    assert process.wait(PATIENCE) == 0
    process.communicate()
    jobs = program.json("jobs")["jobs"]
    assert [(job["status"], job["interrupted"]) for job in jobs] == [("completed", False), ("failed", False)]
    assert jobs[0]["rerun_of"] == jobs[1]["id"]
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("dark", "black")


def running(program: Program, *arguments: str) -> subprocess.Popen[bytes]:
    return start_program(
        [*COMMAND, *arguments],
        cwd=program.folder,
        env=program.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)
