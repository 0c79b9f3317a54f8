"""The agent over HTTP, as the agent-sidebar plan says: sessions, jobs, events by cursor and as a stream, questions,
review. The model plays a script."""

from __future__ import annotations

import http.client
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from server.serving import PATIENCE, Client, Server, begun, ended
from tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
EDIT = {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}}
SECOND = {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "twice", "new_text": "thrice"}}
QUESTION = {"tool": "clarify_user", "arguments": {"question": "Which year?"}}


def serving(folder: Path, *steps: dict[str, Any], options: tuple[str, ...] = ()) -> Server:
    """A server with a model of the name `play`, which plays these steps in every job."""
    script = folder.parent / "script.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True, exist_ok=True)
    settings = f'[models.play]\nkind = "scripted"\nfile = "{script}"\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")
    return begun(folder, *options)


def run(client: Client, instruction: str = "Please.", **more: Any) -> str:
    session = client.post("/api/agent/sessions")["session_id"]
    body = {"session_id": session, "instruction": instruction, "model": "play", **more}
    return client.post("/api/agent/run", body)["job_id"]


def until(client: Client, job: str, *statuses: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while (found := client.get(f"/api/agent/jobs/{job}"))["status"] not in statuses:
        assert time.monotonic() < end, found
        assert found["status"] not in ("failed", "cancelled"), found
        time.sleep(0.05)
    return found


@pytest.mark.covers(
    "SB-api-create-session",
    "SB-api-create-session-shape",
    "SB-api-get-session",
    "SB-api-run",
    "SB-api-run-request",
    "SB-api-run-row",
    "SB-api-run-shape",
    "SB-api-get-job",
    "SB-api-get-job-bundle",
    "SB-api-apply",
    "SB-api-apply-request",
    "SB-api-apply-shape",
    "SB-api-apply-file",
    "SB-bundle-fields",
    "SB-bundle-hunk",
)
def test_a_job_from_its_session_to_its_applied_hunks(folder: Path):
    server = serving(folder, {"text": "I will.", "calls": [EDIT, SECOND]}, {"text": "Done."})
    made = server.post("/api/agent/sessions")
    assert (set(made), made["status"]) == ({"session_id", "status", "created_at"}, "active")
    assert made["created_at"].endswith("Z")
    row = {
        "id": "ctx_1",
        "kind": "selection",
        "file_path": "story.md",
        "start_line": 1,
        "end_line": 3,
        "content": "The lighthouse",
    }
    begun_job = server.post(
        "/api/agent/run",
        {
            "session_id": made["session_id"],
            "instruction": "Make it longer ago.",
            "context_rows": [row],
            "tool_config": {"max_tool_calls": 12},
            "model": "play",
        },
    )
    assert (set(begun_job), begun_job["status"]) == ({"job_id", "status"}, "queued")
    job = until(server, begun_job["job_id"], "awaiting_review")
    session = server.get(f"/api/agent/sessions/{made['session_id']}")
    assert (session["pending_review"], session["last_job_id"]) == (job["job_id"], job["job_id"])
    assert [each["id"] for each in session["context_rows"]] == ["ctx_1"]
    [file] = job["diff_bundle"]["files"]
    assert (job["diff_bundle"]["job_id"], file["file_path"]) == (job["job_id"], "story.md")
    assert file["base_file_hash"].startswith("sha256:")
    assert all({"hunk_id", "patch", "accepted", "edit_ids"} <= set(hunk) for hunk in file["hunks"])
    chosen = [hunk["hunk_id"] for hunk in file["hunks"] if "twelve" in hunk["patch"]]
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    applying = {"session_id": made["session_id"], "job_id": job["job_id"], "accepted_hunk_ids": chosen}
    applied = server.post("/api/agent/apply", applying)
    assert applied == {
        "status": "completed",
        "applied_files": [{"file_path": "story.md", "applied_hunks": 1, "rejected_hunks": 1}],
    }
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("eleven", "twelve")
    assert server.get(f"/api/agent/jobs/{job['job_id']}")["status"] == "completed"
    checkpoint = server.get(f"/api/agent/checkpoints/{job['turn']}")
    assert (checkpoint["job_id"], checkpoint["session_id"]) == (job["job_id"], made["session_id"])
    ended(server)


@pytest.mark.covers("SB-api-events", "SB-api-events-shape", "SB-api-event-fields", "SB-event-cursor", "SB-limit-poll")
def test_events_are_read_by_cursor_and_as_a_stream(folder: Path):
    server = serving(folder, {"text": "I will.", "calls": [EDIT]}, {"text": "Done."})
    job = run(server)
    until(server, job, "awaiting_review")
    page = server.get(f"/api/agent/jobs/{job}/events")
    assert set(page) == {"job_id", "status", "next_cursor", "events"}
    assert all(set(event) == {"cursor", "type", "ts", "data"} for event in page["events"])
    cursors = [event["cursor"] for event in page["events"]]
    assert cursors == list(range(1, len(cursors) + 1))
    assert page["next_cursor"] == cursors[-1]
    rest = server.get(f"/api/agent/jobs/{job}/events", cursor=3)
    assert rest["events"] == page["events"][3:]
    assert server.get(f"/api/agent/jobs/{job}/events", cursor=page["next_cursor"])["events"] == []
    assert server.get("/api/settings")["poll_interval_ms"] == 2000
    stream = events(server, job, {"Last-Event-ID": "2"})
    heard = [next(stream) for _ in cursors[2:]]
    assert [event["cursor"] for event in heard] == cursors[2:]
    bundle = server.get(f"/api/agent/jobs/{job}")["diff_bundle"]["files"]
    session = server.get(f"/api/agent/jobs/{job}")["session_id"]
    ids = [hunk["hunk_id"] for file in bundle for hunk in file["hunks"]]
    server.post("/api/agent/apply", {"session_id": session, "job_id": job, "accepted_hunk_ids": ids})
    later = list(stream)  # it ends with the job
    everything = server.get(f"/api/agent/jobs/{job}/events")["events"]
    over = next(at for at, event in enumerate(everything) if event["type"] == "job.completed")
    assert [*heard, *later] == everything[2 : over + 1]
    done = server.request("GET", f"/api/agent/jobs/{job}/events/stream", query={"cursor": everything[-1]["cursor"]})
    assert done.status == 204
    ended(server)


def events(server: Server, job: str, headers: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """The events of a job as they come, by `text/event-stream`."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    sent = {"Authorization": f"Bearer {server.token}", **(headers or {})}
    connection.request("GET", f"/api/agent/jobs/{job}/events/stream", headers=sent)
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    number = ""
    while line := response.readline():
        if line.startswith(b"id: "):
            number = line[4:].decode().strip()
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            if event["type"] != "assistant.delta":
                assert str(event["cursor"]) == number
                yield event
    connection.close()


@pytest.mark.covers("SB-api-clarify", "SB-scope-non-blocking")
def test_a_question_is_answered_while_the_person_goes_on(folder: Path):
    server = serving(folder, {"text": "Hm.", "calls": [QUESTION]}, {"text": "Thank you."})
    job = run(server)
    waiting = until(server, job, "waiting_for_user")
    assert waiting["question"]["text"] == "Which year?"
    server.post("/api/documents", {"path": "meanwhile.md", "content": "The person writes on.\n"})
    assert server.refused("POST", f"/api/agent/jobs/{job}/clarify", {"question_id": "q_9", "answer": "x"}, 404)
    answer = {"question_id": waiting["question"]["question_id"], "answer": "1912"}
    server.post(f"/api/agent/jobs/{job}/clarify", answer)
    assert until(server, job, "completed")["answer"] == "Thank you."
    types = [event["type"] for event in server.get(f"/api/agent/jobs/{job}/events")["events"]]
    assert types.index("clarification.requested") < types.index("clarification.received")
    ended(server)


def test_a_job_is_stopped(folder: Path):
    server = serving(folder, {"text": "Hm.", "calls": [QUESTION]}, {"text": "Thank you."})
    job = run(server)
    until(server, job, "waiting_for_user")
    server.post(f"/api/agent/jobs/{job}/cancel")
    end = time.monotonic() + PATIENCE
    while server.get(f"/api/agent/jobs/{job}")["status"] != "cancelled":
        assert time.monotonic() < end
    ended(server)


def test_a_job_that_waits_survives_the_server(folder: Path):
    server = serving(folder, {"text": "Hm.", "calls": [QUESTION]}, {"text": "Thank you."})
    job = run(server)
    question = until(server, job, "waiting_for_user")["question"]
    ended(server)
    server = begun(folder)
    assert server.get(f"/api/agent/jobs/{job}")["question"] == question
    stream = events(server, job)
    assert next(stream)["type"] == "job.queued"
    ended(server)  # who listens does not keep it from ending
    assert all(event["cursor"] > 1 for event in stream)


def test_an_act_that_asks_first_waits_for_consent(folder: Path):
    delete = {"tool": "delete_document", "arguments": {"path": "story.md"}}
    server = serving(folder, {"text": "Away.", "calls": [delete]}, {"text": "Gone."})
    job = run(server, mode="apply")
    question = until(server, job, "waiting_for_user")["question"]
    assert (question["kind"], question["paths"]) == ("confirmation", ["story.md"])
    assert (folder / "story.md").exists()
    server.post(f"/api/agent/jobs/{job}/confirm", {"question_id": question["question_id"], "allow": True})
    until(server, job, "completed")
    assert not (folder / "story.md").exists()
    ended(server)


def test_a_file_that_was_changed_since_it_was_shown_is_a_conflict(folder: Path):
    server = serving(folder, {"text": "I will.", "calls": [EDIT]}, {"text": "Done."})
    job = until(server, run(server), "awaiting_review")
    ids = [hunk["hunk_id"] for file in job["diff_bundle"]["files"] for hunk in file["hunks"]]
    (folder / "story.md").write_text(STORY + "Somebody else.\n", encoding="utf-8")
    applying = {"session_id": job["session_id"], "job_id": job["job_id"], "accepted_hunk_ids": ids}
    told = server.refused("POST", "/api/agent/apply", applying)
    assert (told["error"], told["details"]["rerun_required"]) == ("conflict", True)
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY + "Somebody else.\n"
    assert server.get(f"/api/agent/jobs/{told['details']['rerun_job_id']}")["rerun_of"] == job["job_id"]
    ended(server)


def test_rows_are_pinned_ordered_and_removed(server: Server):
    session = server.post("/api/agent/sessions", {"title": "Edits"})["session_id"]
    where = f"/api/agent/sessions/{session}/context"
    for name in ("a", "b"):
        server.post(where, {"id": name, "content": name})
    ordered = server.post(where, {"order": ["b", "a"]}, method="PUT")
    assert [row["id"] for row in ordered["context_rows"]] == ["b", "a"]
    left = server.post(f"{where}/a", method="DELETE")
    assert [row["id"] for row in left["context_rows"]] == ["b"]
    assert server.get("/api/agent/sessions")["sessions"][0]["title"] == "Edits"
    server.post(f"/api/agent/sessions/{session}/archive", {"archived": True})
    assert server.refused("POST", where, {"content": "x"})["error"] == "conflict"


def test_what_is_no_job_or_session_is_told(server: Server):
    for path in ("/api/agent/jobs/none", "/api/agent/jobs/none/events", "/api/agent/jobs/none/events/stream"):
        assert server.refused("GET", path, None, 404)["error"] == "not_found"
    body = {"session_id": "none", "instruction": "Please."}
    assert server.refused("POST", "/api/agent/run", body, 404)["error"] == "not_found"
    assert (
        server.refused("POST", "/api/agent/run", {**body, "tool_config": {"x": 1}}, 422)["error"] == "invalid_argument"
    )
