"""The agent over HTTP, as the agent-sidebar plan says: sessions, jobs, events by cursor and as a stream, questions,
review. The model plays a script."""

from __future__ import annotations

import http.client
import json
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import PATIENCE, Client, Server, begun, ended
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
EDIT = {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}}
SECOND = {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "twice", "new_text": "thrice"}}
QUESTION = {"tool": "clarify_user", "arguments": {"question": "Which year?"}}


def serving(
    folder: Path, *steps: dict[str, Any], options: tuple[str, ...] = (), variables: dict[str, str] | None = None
) -> Server:
    """A server with a model of the name `play`, which plays these steps in every job."""
    script = folder.parent / "script.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True, exist_ok=True)
    settings = f'[models.play]\nkind = "scripted"\nfile = "{script}"\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")
    return begun(folder, *options, **(variables or {}))


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


MEETING = "notes/meeting.md"
POINTS = "".join(f"Point {number} of the meeting.\n" for number in range(1, 61))
ACCEPTED = POINTS.replace("Point 14 ", "Item 14 ").replace("Point 50 ", "Item 50 ")
SELECTED = {
    "id": "ctx_1",
    "kind": "selection",
    "file_path": MEETING,
    "start_line": 10,
    "end_line": 40,
    "content": "Point 10",
}


def serving_a_meeting(folder: Path) -> Server:
    """A server whose model proposes three hunks in the notes of a meeting, and one in the story. The paths, lines and
    numbers are those of the plan's own examples."""
    (folder / "notes").mkdir()
    (folder / MEETING).write_text(POINTS, encoding="utf-8")
    calls = [_rename(MEETING, number) for number in (14, 30, 50)]
    return serving(folder, {"text": "I will.", "calls": [*calls, EDIT]}, {"text": "Done."})


def run_on_meeting(server: Server) -> dict[str, Any]:
    """The job, once it awaits its review."""
    rows = {"context_rows": [SELECTED], "tool_config": {"max_tool_calls": 12}}
    return until(server, run(server, "Refactor these notes into sections", **rows), "awaiting_review")


def apply_two(server: Server, job: dict[str, Any]) -> dict[str, Any]:
    """Accept the first and the third hunk of the notes."""
    first, _, third = job["diff_bundle"]["files"][0]["hunks"]
    chosen = [first["hunk_id"], third["hunk_id"]]
    applying = {"session_id": job["session_id"], "job_id": job["job_id"], "accepted_hunk_ids": chosen}
    return server.post("/api/agent/apply", applying)


@pytest.mark.covers("SB-api-create-session", "SB-api-create-session-shape", "SB-api-get-session", "SB-api-run",
                    "SB-api-run-request", "SB-api-run-row", "SB-api-run-shape", "SB-api-get-job",
                    "SB-session-pending-review")  # fmt: skip
def test_a_session_says_which_job_awaits_its_review(folder: Path):
    server = serving_a_meeting(folder)
    made = server.post("/api/agent/sessions")
    assert (set(made), made["status"]) == ({"session_id", "status", "created_at"}, "active")
    assert _seconds_ago(made["created_at"]) < PATIENCE
    begun_job = server.post(
        "/api/agent/run",
        {
            "session_id": made["session_id"],
            "instruction": "Refactor these notes into sections",
            "context_rows": [SELECTED],
            "tool_config": {"max_tool_calls": 12},
            "model": "play",
        },
    )
    assert (set(begun_job), begun_job["status"]) == ({"job_id", "status"}, "queued")
    job = until(server, begun_job["job_id"], "awaiting_review")
    session = server.get(f"/api/agent/sessions/{made['session_id']}")
    assert (session["id"], session["status"], session["created_at"]) == (
        made["session_id"],
        "active",
        made["created_at"],
    )
    assert (session["pending_review"], session["last_job_id"]) == (job["job_id"], job["job_id"])
    assert session["context_rows"] == [{**SELECTED, "pinned": True}]
    assert (job["id"], job["session_id"], job["finished_at"]) == (begun_job["job_id"], made["session_id"], None)
    ended(server)


@pytest.mark.covers("SB-api-get-job-bundle", "SB-bundle-fields", "SB-bundle-hunk", "SB-bundle-patch",
                    "SB-review-bundle", "SB-scope-never-auto", "TK-timing-staged", "ML-mode-supervised")  # fmt: skip
def test_what_a_job_proposes_is_shown_hunk_by_hunk_and_not_written(folder: Path):
    server = serving_a_meeting(folder)
    job = run_on_meeting(server)
    bundle = job["diff_bundle"]
    assert (set(bundle), bundle["job_id"]) == ({"job_id", "files"}, job["job_id"])
    assert [(file["file_path"], file["base_file_hash"]) for file in bundle["files"]] == [
        (MEETING, sha256_of(POINTS)),
        ("story.md", sha256_of(STORY)),
    ]
    hunks = bundle["files"][0]["hunks"]
    assert [hunk["accepted"] for hunk in hunks] == [None] * 3
    names = [edit["edit_id"] for edit in job["proposed_edits"] if edit["file_path"] == MEETING]
    assert [hunk["edit_ids"] for hunk in hunks] == [[name] for name in names]
    assert [hunk["patch"][hunk["patch"].index("@@") :] for hunk in hunks] == [
        _patch(POINTS, number) for number in (14, 30, 50)
    ]
    assert (folder / MEETING).read_text(encoding="utf-8") == POINTS
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    ended(server)


@pytest.mark.covers("SB-api-apply", "SB-api-apply-request", "SB-api-apply-shape", "SB-api-apply-file",
                    "SB-dec-per-hunk", "SB-review-only-accepted")  # fmt: skip
def test_only_the_accepted_hunks_of_a_job_are_written(folder: Path):
    server = serving_a_meeting(folder)
    job = run_on_meeting(server)
    assert apply_two(server, job) == {
        "status": "completed",
        "applied_files": [
            {"file_path": MEETING, "applied_hunks": 2, "rejected_hunks": 1},
            {"file_path": "story.md", "applied_hunks": 0, "rejected_hunks": 1},
        ],
    }
    assert (folder / MEETING).read_text(encoding="utf-8") == ACCEPTED
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert server.get("/api/documents", path=MEETING)["content"] == ACCEPTED
    over = server.get(f"/api/agent/jobs/{job['job_id']}")
    assert (over["status"], over["diff_bundle"]) == ("completed", None)
    assert ended(server) == ""


@pytest.mark.covers("SB-cp-origin", "SB-cp-every-run", "SB-cp-fields", "SB-cp-file-fields", "SB-cp-before-run",
                    "SB-cp-reopen", "SB-cp-diff3", "SB-rb-selected", "SB-rb-scoped-keeps", "SB-rb-hard")  # fmt: skip
def test_a_jobs_checkpoint_is_opened_again_later_and_rolled_back_in_part_or_whole(folder: Path):
    server = serving_a_meeting(folder)
    job = run_on_meeting(server)
    apply_two(server, job)
    ended(server)
    server = begun(folder)
    hunks = [hunk["hunk_id"] for hunk in job["diff_bundle"]["files"][0]["hunks"]]
    _check_checkpoint(server, job, MEETING, POINTS, hunks)
    later = ACCEPTED + "Typed by a person, later.\n"
    tab = server.post("/api/tabs", {"path": MEETING})["tab_id"]
    server.post(f"/api/tabs/{tab}/type", {"content": later})
    server.post(f"/api/tabs/{tab}/save")
    scoped = {"mode": "scoped_selected", "hunk_ids": [hunks[0]]}
    rolled = server.post(f"/api/agent/checkpoints/{job['turn']}/rollback", scoped)
    assert (rolled["status"], rolled["conflicts"], rolled["turn"]["paths"]) == ("completed", [], [MEETING])
    assert (folder / MEETING).read_text(encoding="utf-8") == later.replace("Item 14 ", "Point 14 ")
    server.post(f"/api/agent/checkpoints/{job['turn']}/rollback", {"mode": "hard_all", "hunk_ids": []})
    assert (folder / MEETING).read_text(encoding="utf-8") == POINTS, "with what the person typed later"
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    ended(server)


@pytest.mark.covers("SB-state-undo-reject")
@pytest.mark.parametrize("way", ["apply", "review"])
def test_a_job_can_be_applied_again_once_its_reject_was_undone(folder: Path, way: str):
    server = serving(folder, {"text": "", "calls": [EDIT]}, {"text": "Done."})
    job = until(server, run(server), "awaiting_review")
    body = {"session_id": job["session_id"], "job_id": job["id"]}
    if way == "apply":
        server.post("/api/agent/apply", {**body, "accepted_hunk_ids": []})
    else:
        server.post("/api/review/reject", {"all": True})
    assert server.get(f"/api/agent/jobs/{job['id']}")["diff_bundle"] is None
    server.refused("POST", "/api/agent/apply", {**body, "accepted_hunk_ids": []})
    server.post("/api/turns/undo", {})
    [file] = server.get(f"/api/agent/jobs/{job['id']}")["diff_bundle"]["files"]
    assert [file] == job["diff_bundle"]["files"]
    server.post("/api/agent/apply", {**body, "accepted_hunk_ids": [hunk["hunk_id"] for hunk in file["hunks"]]})
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("eleven", "twelve")
    assert ended(server) == ""


@pytest.mark.covers("SB-review-only-accepted", "SB-dec-per-hunk")
def test_equal_hunks_of_two_documents_are_decided_apart(folder: Path):
    """A character is renamed in a story and in the notes about it: one word for the same word in both."""
    old = {"story.md": "The character John walked in.\n", "character_notes.md": "John: tall, and late.\n"}
    renames = [
        {"tool": "edit_text", "arguments": {"path": path, "old_text": "John", "new_text": "James"}} for path in old
    ]
    server = serving(folder, {"text": "", "calls": renames}, {"text": "Done."})
    for kept in old:
        for path, text in old.items():
            (folder / path).write_text(text, encoding="utf-8")
        job = until(server, run(server), "awaiting_review")
        ids = {file["file_path"]: [hunk["hunk_id"] for hunk in file["hunks"]] for file in job["diff_bundle"]["files"]}
        [accepted], [other] = (ids[path] for path in sorted(old, key=lambda path: path != kept))
        assert accepted != other
        body = {"session_id": job["session_id"], "job_id": job["id"], "accepted_hunk_ids": [accepted]}
        if kept == "story.md":
            unclear = {**body, "accepted_hunk_ids": [accepted.partition(":")[0]]}
            told = server.refused("POST", "/api/agent/apply", unclear, 404)
            assert (told["error"], accepted in told["message"], other in told["message"]) == (
                "hunk_not_found",
                True,
                True,
            )
        applied = server.post("/api/agent/apply", body)["applied_files"]
        assert {file["file_path"]: (file["applied_hunks"], file["rejected_hunks"]) for file in applied} == {
            path: (1, 0) if path == kept else (0, 1) for path in old
        }
        for path, text in old.items():
            wanted = text.replace("John", "James") if path == kept else text
            assert (folder / path).read_text(encoding="utf-8") == wanted
    assert ended(server) == ""


def _check_checkpoint(server: Server, job: dict[str, Any], path: str, old: str, hunks: list[str]) -> None:
    """A job's checkpoint and proposal, as they are opened again later: what each file was, and how to go back to it."""
    checkpoint = server.get(f"/api/agent/checkpoints/{job['turn']}")
    assert (checkpoint["checkpoint_id"], checkpoint["job_id"]) == (job["turn"], job["job_id"])
    assert (checkpoint["session_id"], _seconds_ago(checkpoint["created_at"]) < PATIENCE) == (job["session_id"], True)
    file, other = checkpoint["affected_files"]
    assert (file["file_path"], other["file_path"]) == (path, "story.md")
    assert (file["base_snapshot_hash"], other["base_snapshot_hash"]) == (sha256_of(old), sha256_of(STORY))
    assert [hunk["hunk_id"] for hunk in file["hunks"]] == hunks
    numbers = (14, 30, 50)
    proposed = old
    for number in numbers:
        proposed = proposed.replace(f"Point {number} ", f"Item {number} ")
    assert [hunk["reverse_patch"] for hunk in file["hunks"]] == [
        _patch(proposed, number, "Item", "Point") for number in numbers
    ]
    compared = server.get(f"/api/agent/checkpoints/{job['turn']}/diff3", file_path=path)
    assert (compared["checkpoint_base"], compared["agent_proposed"]) == (old, proposed)
    assert compared["current_file"] == proposed.replace("Item 30 ", "Point 30 ")


def _rename(path: str, number: int) -> dict[str, Any]:
    arguments = {"path": path, "old_text": f"Point {number} ", "new_text": f"Item {number} "}
    return {"tool": "edit_text", "arguments": arguments}


def _patch(text: str, number: int, old: str = "Point", new: str = "Item") -> str:
    """The unified diff of a line whose first word changes, with three lines of context around it."""
    lines = text.splitlines(keepends=True)
    before, line, after = lines[number - 4 : number - 1], lines[number - 1], lines[number : number + 3]
    told = [" " + each for each in before] + ["-" + line, "+" + line.replace(old, new)] + [" " + each for each in after]
    return f"@@ -{number - 3},7 +{number - 3},7 @@\n" + "".join(told)


def sha256_of(text: str) -> str:
    return "sha256:" + sha256(text.encode()).hexdigest()


def _seconds_ago(moment: str) -> float:
    """How long ago a moment was, in the one form in which moments are told."""
    assert moment.endswith("Z")
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


@pytest.mark.covers("SB-api-events", "SB-api-events-shape", "SB-api-event-fields", "SB-event-cursor", "SB-limit-poll")
@pytest.mark.covers("SB-job-cursor")
def test_events_are_read_by_cursor(folder: Path):
    server = serving(folder, {"text": "I will.", "calls": [EDIT]}, {"text": "Done."})
    job = run(server)
    until(server, job, "awaiting_review")
    page = server.get(f"/api/agent/jobs/{job}/events")
    assert set(page) == {"job_id", "status", "next_cursor", "events"}
    assert all(set(event) == {"cursor", "type", "ts", "data"} for event in page["events"])
    cursors = [event["cursor"] for event in page["events"]]
    assert cursors == list(range(1, len(cursors) + 1))
    assert page["next_cursor"] == cursors[-1] == server.get(f"/api/agent/jobs/{job}")["cursor"]
    assert page["status"] == "awaiting_review"
    rest = server.get(f"/api/agent/jobs/{job}/events", cursor=3)
    assert rest["events"] == page["events"][3:]
    assert server.get(f"/api/agent/jobs/{job}/events", cursor=page["next_cursor"])["events"] == []
    assert server.get("/api/settings")["poll_interval_ms"] == 2000
    ended(server)


@pytest.mark.covers("SB-job-events", "SB-dec-stream-traced")
def test_a_stream_of_events_begins_after_the_last_one_heard_and_goes_on_after_the_job(folder: Path):
    server = serving(folder, {"text": "I will.", "calls": [EDIT]}, {"text": "Done."})
    job = run(server)
    until(server, job, "awaiting_review")
    cursors = [event["cursor"] for event in server.get(f"/api/agent/jobs/{job}/events")["events"]]
    stream = events(server, job, {"Last-Event-ID": "2"})
    heard = [next(stream) for _ in cursors[2:]]
    assert [event["cursor"] for event in heard] == cursors[2:]
    bundle = server.get(f"/api/agent/jobs/{job}")["diff_bundle"]["files"]
    session = server.get(f"/api/agent/jobs/{job}")["session_id"]
    ids = [hunk["hunk_id"] for file in bundle for hunk in file["hunks"]]
    server.post("/api/agent/apply", {"session_id": session, "job_id": job, "accepted_hunk_ids": ids})
    turn = server.get(f"/api/agent/jobs/{job}")["turn"]
    heard += listen_until(stream, "apply.completed")
    assert "job.completed" in [event["type"] for event in heard], "it goes on after the job has ended"
    server.post(f"/api/agent/checkpoints/{turn}/rollback", {"mode": "hard_all"})
    heard += listen_until(stream, "checkpoint.rollback.completed")
    everything = server.get(f"/api/agent/jobs/{job}/events")["events"]
    assert heard == everything[2:]
    over = next(event["cursor"] for event in everything if event["type"] == "job.completed")
    again = events(server, job, {"Last-Event-ID": str(over)})
    assert [next(again) for _ in everything[over:]] == everything[over:]
    stream.close()
    again.close()
    ended(server)


def listen_until(stream: Generator[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """What comes, up to an event of this kind."""
    heard = [next(stream)]
    while heard[-1]["type"] != kind:
        heard.append(next(stream))
    return heard


def events(server: Server, job: str, headers: dict[str, str] | None = None) -> Generator[dict[str, Any]]:
    """The events of a job as they come, by `text/event-stream`."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    sent = {"Authorization": f"Bearer {server.token}", **(headers or {})}
    connection.request("GET", f"/api/agent/jobs/{job}/events/stream", headers=sent)
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    number = ""
    try:
        while line := response.readline():
            if line.startswith(b"id: "):
                number = line[4:].decode().strip()
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                if event["type"] != "assistant.delta":
                    assert str(event["cursor"]) == number
                    yield event
    finally:
        response.close()
        connection.close()


@pytest.mark.covers("SB-event-rollback-started", "SB-event-rollback-completed", "SB-event-rollback-failed")
@pytest.mark.covers("SB-rb-selected", "SB-rb-scoped-conflict")
def test_a_rollback_of_a_job_tells_its_beginning_and_how_it_ended(folder: Path):
    server = serving(folder, {"text": "I will.", "calls": [EDIT, SECOND]}, {"text": "Done."})
    job = run(server, mode="apply")
    number = until(server, job, "completed")["turn"]
    path = f"/api/agent/checkpoints/{number}"
    [years, letter] = [hunk["hunk_id"] for file in server.get(path)["affected_files"] for hunk in file["hunks"]]
    text = (folder / "story.md").read_text(encoding="utf-8")
    (folder / "story.md").write_text(text.replace("twelve", "thirteen"), encoding="utf-8")
    for hunk, ending in ((letter, "completed"), (years, "failed")):
        before = server.get(f"/api/agent/jobs/{job}/events")["next_cursor"]
        rolled = server.post(f"{path}/rollback", {"mode": "scoped_selected", "hunk_ids": [hunk]})
        assert [(each["path"], each["hunk_id"]) for each in rolled["conflicts"]] == (
            [("story.md", hunk)] if ending == "failed" else []
        )
        told = [each for each in events_after(server, job, before) if each["type"].startswith("checkpoint.rollback.")]
        assert [each["type"].rpartition(".")[2] for each in told] == ["started", ending]
        assert {each["data"]["checkpoint_id"] for each in told} == {number}
        assert told[0]["data"]["mode"] == "scoped_selected"
        if ending == "failed":
            assert told[-1]["data"]["hunk_ids"] == [hunk]
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("eleven", "thirteen")
    ended(server)


def events_after(client: Client, job: str, cursor: int) -> list[dict[str, Any]]:
    return client.get(f"/api/agent/jobs/{job}/events", cursor=cursor)["events"]


@pytest.mark.covers("SB-api-clarify", "SB-scope-non-blocking")
@pytest.mark.covers(
    "SB-tool-clarify-waits",
    "SB-tool-clarify-resumes",
    "SB-dec-mid-run-question",
    "SB-event-clarification-requested",
    "SB-event-clarification-received",
)
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
    told = [(each["type"], each["data"]) for each in server.get(f"/api/agent/jobs/{job}/events")["events"]]
    question = {"question_id": answer["question_id"], "question": "Which year?", "kind": "clarification"}
    assert [each for each in told if each[0].startswith("clarification.")] == [
        ("clarification.requested", question),
        ("clarification.received", answer),
    ]
    [result] = [data["result"] for kind, data in told if kind == "tool.call.completed"]
    assert json.loads(result)["answer"] == "1912"
    ended(server)


@pytest.mark.covers("ML-loop-cancel")
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


@pytest.mark.covers("ML-loop-confirm", "ML-risk-ask-destructive", "ML-risk-destroy")
def test_an_act_that_asks_first_waits_for_consent(folder: Path):
    delete = {"tool": "delete_document", "arguments": {"path": "story.md"}}
    server = serving(folder, {"text": "Away.", "calls": [delete]}, {"text": "Gone."})
    job = run(server, mode="apply")
    question = until(server, job, "waiting_for_user")["question"]
    assert (question["kind"], question["paths"]) == ("confirmation", ["story.md"])
    assert (folder / "story.md").exists()
    always = {"tool": "delete_document", "path": "*", "verdict": "allow"}
    answer = {"question_id": question["question_id"], "allow": True, "remember": always}
    server.post(f"/api/agent/jobs/{job}/confirm", answer)
    until(server, job, "completed")
    assert not (folder / "story.md").exists()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    again = run(server, mode="apply")
    until(server, again, "completed")
    assert not (folder / "story.md").exists()
    types = {event["type"] for event in server.get(f"/api/agent/jobs/{again}/events")["events"]}
    assert "confirmation.requested" not in types, "it was told not to ask again"
    ended(server)


@pytest.mark.covers("SB-safe-base-hash", "SB-safe-rerun", "SB-dec-conflict-rerun", "SB-conflict-backend")
@pytest.mark.covers("SB-conflict-hash", "SB-safe-conflict")
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


@pytest.mark.covers("SB-safe-base-hash", "SB-safe-rerun", "SB-dec-conflict-rerun", "SB-conflict-backend")
@pytest.mark.parametrize("by", ["hunks", "turn", "all"])
def test_a_decision_in_the_review_that_comes_too_late_runs_the_job_again_too(folder: Path, by: str):
    server = serving(folder, {"text": "I will.", "calls": [EDIT]}, {"text": "Done."})
    job = until(server, run(server), "awaiting_review")
    [file] = job["diff_bundle"]["files"]
    theirs = STORY + "Somebody else.\n"
    (folder / "story.md").write_text(theirs, encoding="utf-8")
    choices = {"hunks": {"story.md": [file["hunks"][0]["hunk_id"]]}, "turn": job["turn"], "all": True}
    choice = {by: choices[by], "base_file_hashes": {"story.md": file["base_file_hash"]}}
    waits = server.refused("POST", "/api/review/accept", {**choice, "rerun": False})
    assert (waits["error"], "rerun_job_id" in waits["details"]) == ("conflict", False)
    assert server.get(f"/api/agent/jobs/{job['job_id']}")["status"] == "awaiting_review"
    told = server.refused("POST", "/api/review/accept", choice)
    assert (told["error"], told["details"]["rerun_required"]) == ("conflict", True)
    assert (folder / "story.md").read_text(encoding="utf-8") == theirs
    assert server.get(f"/api/agent/jobs/{job['job_id']}")["status"] == "failed"
    again = until(server, told["details"]["rerun_job_id"], "awaiting_review")
    assert again["rerun_of"] == job["job_id"]
    [file] = again["diff_bundle"]["files"]
    server.post("/api/review/accept", {"turn": again["turn"], "base_file_hashes": {"story.md": file["base_file_hash"]}})
    assert (folder / "story.md").read_text(encoding="utf-8") == theirs.replace("eleven", "twelve")
    assert server.get(f"/api/agent/jobs/{again['job_id']}")["status"] == "completed"
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
