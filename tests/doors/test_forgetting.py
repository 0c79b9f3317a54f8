"""What is forgotten of jobs that are over, with the numbers of the agent-sidebar plan and nothing set."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.desk import call, edit, says
from tests.doors.test_jobs import asking
from tests.server.serving import Server, serving, settled

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
HOUR = 3600
MODELS: dict[str, list[dict[str, Any]]] = {
    "talks": [says("Done.")],
    "fails": [{"error": "unauthorized"}],
    "proposes": [says("", edit("a.md", "One", "Uno")), says("Done.")],
    "asks": [says("", call("clarify_user", question="Which?")), says("Done.")],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "notes"
    found.mkdir()
    (found / "a.md").write_text("One two.\n", encoding="utf-8")
    return found


def ran(server: Server, model: str, session: str) -> str:
    body = {"session_id": session, "instruction": "Please.", "model": model}
    return settled(server, server.post("/api/agent/run", body)["job_id"])["job_id"]


def new_session(server: Server) -> str:
    return server.post("/api/agent/sessions", {})["session_id"]


def known(server: Server) -> set[str]:
    return {job["job_id"] for job in server.get("/api/agent/jobs", limit=100)["jobs"]}


def let_hours_pass(server: Server, hours: float) -> None:
    """As if everything so far had been so many hours earlier."""
    with closing(sqlite3.connect(server.state / "agent.db", timeout=30)) as database, database:
        for name, text in database.execute("SELECT id, data FROM jobs").fetchall():
            data = json.loads(text)
            times = {key: value - hours * HOUR for key, value in data.items() if key.endswith("_at") and value}
            database.execute("UPDATE jobs SET data = ? WHERE id = ?", (json.dumps({**data, **times}), name))
        database.execute("UPDATE jobs SET created = created - ?", (hours * HOUR,))


@pytest.mark.covers("SB-life-jobs", "SB-life-purge", "SB-life-keep")
def test_forty_jobs_of_a_conversation_are_kept_and_what_waits_is_never_forgotten(folder: Path):
    asking(folder, "", **MODELS)
    with serving(folder) as server:
        session = new_session(server)
        waits = [ran(server, "proposes", session), ran(server, "asks", new_session(server))]
        elsewhere = ran(server, "talks", new_session(server))
        over = [ran(server, "fails" if at % 9 == 0 else "talks", session) for at in range(41)]
        assert known(server) == {elsewhere, *waits, *over[2:]}, "forty of the conversation, and none that waits is gone"


@pytest.mark.covers("SB-life-ttl", "SB-life-when", "SB-life-purge", "SB-life-keep", "SB-clarify-no-timeout")
def test_what_is_over_is_forgotten_after_72_hours_at_the_start_and_when_a_job_is_made(folder: Path):
    asking(folder, "", **MODELS)
    with serving(folder) as server:
        session = new_session(server)
        old = [ran(server, model, session) for model in ("talks", "fails")]
        waits = [ran(server, "proposes", session), ran(server, "asks", new_session(server))]
        let_hours_pass(server, 71.9)
        newer = [ran(server, "talks", session)]
        assert known(server) == {*old, *waits, *newer}
        let_hours_pass(server, 0.2)
        assert known(server) == {*old, *waits, *newer}
        newest = ran(server, "talks", session)
        assert known(server) == {*waits, *newer, newest}, "when a job is made"
        let_hours_pass(server, 72.1)
    with serving(folder) as server:
        assert known(server) == set(waits), "at the start"
        assert [server.get(f"/api/agent/jobs/{job}")["status"] for job in waits] == [
            "awaiting_review",
            "waiting_for_user",
        ]
        answer = {
            "question_id": server.get(f"/api/agent/jobs/{waits[1]}")["question"]["question_id"],
            "answer": "Both.",
        }
        server.post(f"/api/agent/jobs/{waits[1]}/clarify", answer)
        over = settled(server, waits[1], answer["question_id"])
        assert (over["status"], over["answer"]) == ("completed", "Done."), "answered after six days"


@pytest.mark.covers("SB-life-events")
def test_the_newest_3000_events_of_a_job_are_kept(folder: Path):
    reads = [says("", *[call("read_document", path="a.md")] * 60) for _ in range(30)]
    asking(folder, "[agent]\ntool_calls = 9999\n", reads=[*reads, says("Done.")], talks=MODELS["talks"])
    with serving(folder) as server:
        session = new_session(server)
        job = ran(server, "reads", session)
        ran(server, "talks", session)
        numbers, cursor, last = list[int](), 0, ""
        while page := server.get(f"/api/agent/jobs/{job}/events", cursor=cursor)["events"]:
            numbers += [event["cursor"] for event in page]
            cursor = numbers[-1]
            last = page[-1]["type"]
        assert (len(numbers), last) == (3000, "job.completed")
        assert numbers == list(range(numbers[0], numbers[0] + 3000))
        assert numbers[0] > 1
