"""Jobs of the agent as a person starts them: by `redraft ask`, and over HTTP, with models that play a script."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.desk import call, edit, says
from tests.cli.running import Program
from tests.providers.endpoint import Endpoint, answer
from tests.server.serving import ended
from tests.server.serving import serving as serving_folder
from tests.server.test_jobs import run, serving, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
WORDS = ("Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord")
POEM = "".join(f"{word} stands alone in its own paragraph.\n\n" for word in WORDS)
RENAME = says("", edit("poem.md", "Amber", "Agate"))
READ = says("", call("read_document", path="poem.md"))
WRONG = says("", call("edit_text", path="poem.md", nonsense=True))
MISSES = says("", edit("poem.md", "nowhere", "x"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path)


def make_folder(place: Path) -> Path:
    found = place / "notes"
    found.mkdir()
    (found / "poem.md").write_text(POEM, encoding="utf-8")
    (found / "gone.md").write_text("To be deleted.\n", encoding="utf-8")
    return found


def asking(folder: Path, settings: str = "", **models: list[dict[str, Any]]) -> Program:
    """The program, with models that play these steps; `play` answers unless the settings route otherwise."""
    program = Program(folder)
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True, exist_ok=True)
    told = settings
    for name, steps in models.items():
        script = folder.parent / f"{name}.jsonl"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
        told += f'\n[models.{name}]\nkind = "scripted"\nfile = "{script}"\n'
    (config / "settings.toml").write_text(told, encoding="utf-8")
    return program


def _settings(program: Program) -> str:
    return (program.home / "config" / "redraft" / "settings.toml").read_text(encoding="utf-8")


def asked(program: Program, *options: str, status: int = 0) -> dict[str, Any]:
    """The job of one question, as the program tells it, with its events."""
    named = [] if "routing" in _settings(program) else ["--model", "play"]
    done = program.run("ask", "Please.", "--json", *named, *options)
    assert done.status == status, done
    shown = program.json("jobs")["jobs"][0]
    return program.json("jobs", shown["id"])


def types(job: dict[str, Any]) -> list[str]:
    return [event["type"] for event in job["events"]]


def told(job: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event["data"] for event in job["events"] if event["type"] == kind]


def look_and_rename(folder: Path) -> dict[str, Any]:
    """A job that searches, lists, reads and edits."""
    paid = {"usage": {"input_tokens": 90, "output_tokens": 10}, "price_usd": "0.01"}
    search = says("I look.", call("search_project", query="Cedar"), call("list_files"))
    read = says("", call("read_file", file_path="poem.md"))
    program = asking(folder, play=[{**search, **paid}, read, RENAME, says("Done.")])
    return asked(program, "--profile", "all")


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A job that searched, listed, read and edited, with all that it told."""
    return look_and_rename(make_folder(tmp_path_factory.mktemp("looked")))


@pytest.mark.covers("SB-event-job-started", "SB-event-traced", "SB-scope-multi-step", "TK-turn-begins")
def test_everything_that_happens_in_a_job_is_told_in_order(looked: dict[str, Any]):
    step = ["step.started", "step.completed"]
    tool = ["tool.call.requested", "tool.call.completed"]
    assert [each for each in types(looked) if each not in ("provider.chosen", "assistant.message")] == [
        *("job.queued", "job.started"),
        *(*step, *tool, *tool),
        *(*step, *tool),
        *(*step, *tool),
        *step,
        *("edits.proposed", "checkpoint.created", "diff.generated"),
    ]


@pytest.mark.covers("SB-event-tool-requested", "SB-event-tool-completed", "SB-scope-tools-for-context")
def test_every_call_of_a_tool_is_told_with_what_it_gave(looked: dict[str, Any]):
    requested, completed = told(looked, "tool.call.requested"), told(looked, "tool.call.completed")
    names = ["search_project", "list_files", "read_file", "edit_text"]
    assert [each["tool"] for each in requested] == [each["tool"] for each in completed] == names
    assert [each["tool_call_id"] for each in requested] == [each["tool_call_id"] for each in completed]
    assert [json.loads(each["arguments"]) for each in requested[:3]] == [
        {"query": "Cedar"},
        {},
        {"file_path": "poem.md"},
    ]
    assert all(each["ok"] for each in completed)
    assert (completed[0]["result_count"], completed[1]["file_count"]) == (1, 2)
    assert completed[2]["summary"] == "read_file poem.md"


@pytest.mark.covers("SB-provider-usage")
def test_every_step_is_told_with_its_model_its_cost_and_what_was_said(looked: dict[str, Any]):
    first = told(looked, "step.completed")[0]
    assert (first["usage"]["input_tokens"], first["usage"]["output_tokens"], first["price_usd"]) == (90, 10, "0.01")
    assert (first["model"], first["provider"], first["latency_ms"] >= 0) == ("scripted", "scripted", True)
    assert [each["text"] for each in told(looked, "assistant.message")] == ["I look.", "Done."]


@pytest.mark.covers("SB-event-edits-proposed", "SB-event-diff-generated", "SB-event-checkpoint-created")
def test_the_edits_of_a_job_are_told_with_their_checkpoint_and_their_diff(looked: dict[str, Any]):
    modified = {"path": "poem.md", "action": "modified"}
    assert told(looked, "edits.proposed") == [{"files": 1, "changes": [modified], "folders": []}]
    checkpoint = {"checkpoint_id": 1, "session_id": looked["session_id"], "job_id": looked["id"]}
    assert told(looked, "checkpoint.created") == [{**checkpoint, "affected_files": ["poem.md"]}]
    assert told(looked, "diff.generated") == [{"files": 1, "hunks": 1}]


@pytest.mark.covers("SB-job-results", "SB-bundle-patch", "ML-loop-done")
def test_a_job_that_is_done_keeps_its_answer_and_what_it_proposes(folder: Path):
    job = look_and_rename(folder)
    line = POEM.splitlines(keepends=True)[0]
    [edited] = job["proposed_edits"]
    assert (edited["start_line"], edited["end_line"], edited["new_text"]) == (1, 1, line.replace("Amber", "Agate"))
    [file] = job["diff_bundle"]["files"]
    [hunk] = file["hunks"]
    assert "\n@@ -1,4 +1,4 @@\n-Amber stands" in hunk["patch"]
    assert (job["status"], job["answer"]) == ("awaiting_review", "Done.")
    assert (folder / "poem.md").read_text(encoding="utf-8") == POEM


@pytest.mark.covers("SB-event-apply-started", "SB-event-apply-completed", "ML-goal-many", "ML-goal-manage",
                    "ML-loop-record", "TK-turn-many-calls", "TK-checkpoint-every-turn")  # fmt: skip
def test_what_is_written_at_once_is_one_turn_over_several_documents(folder: Path):
    """The agent creates, edits, moves, renames and, once the person has agreed, deletes."""
    for name in ("to-move.md", "to-rename.md"):
        (folder / name).write_text(f"# {name}\n", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.glob("*.md")}
    steps = [
        RENAME,
        says("", call("create_document", path="new.md", content="New.\n")),
        says("", call("move_document", from_path="to-move.md", to_path="archive/to-move.md")),
        says("", call("move_document", from_path="to-rename.md", to_path="renamed.md")),
        says("", call("delete_document", path="gone.md")),
        says("Done."),
    ]
    program = asking(folder, play=steps)
    waiting = asked(program, "--mode", "apply", status=1)
    assert (waiting["status"], waiting["question"]["paths"]) == ("waiting_for_user", ["gone.md"])
    assert {path.name: path.read_bytes() for path in folder.glob("*.md")} == before
    assert program.json("jobs", waiting["id"], "--yes")["status"] == "completed"
    job = program.json("jobs", waiting["id"])
    assert [each for each in types(job) if each.startswith("apply.")] == ["apply.started", "apply.completed"]
    [turn] = program.json("turns")["turns"]
    assert set(turn["paths"]) == {*before, "new.md", "archive/to-move.md", "renamed.md"}
    assert [(each["tool"], each["ok"]) for each in told(job, "tool.call.completed")] == [
        ("edit_text", True),
        ("create_document", True),
        ("move_document", True),
        ("move_document", True),
        ("delete_document", True),
    ]
    after = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}
    assert after == {
        "poem.md": POEM.replace("Amber", "Agate").encode(),
        "new.md": b"New.\n",
        "archive/to-move.md": before["to-move.md"],
        "renamed.md": before["to-rename.md"],
    }
    program.ok("undo", str(turn["turn"]))
    assert {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")} == before


@pytest.mark.covers("SB-api-run-request")
def test_a_request_may_name_its_own_limit_of_tool_calls(folder: Path):
    server = serving(folder, *[READ] * 9, says("Enough."))
    job = until(server, run(server, tool_config={"max_tool_calls": 3}), "completed")
    happened = [event["type"] for event in server.get(f"/api/agent/jobs/{job['job_id']}/events")["events"]]
    assert happened.count("tool.call.completed") == 3
    session = server.post("/api/agent/sessions")["session_id"]
    for wrong in ({"instruction": ""}, {"context_rows": [{"line": 1}]}, {"tool_config": {"max_tool_calls": 0}}):
        body = {"session_id": session, "instruction": "Please.", **wrong}
        assert server.refused("POST", "/api/agent/run", body, 422)["error"] == "invalid_argument"
    ended(server)


@pytest.mark.covers("SB-dec-tool-limit", "ML-err-agent")
def test_at_the_limit_of_tool_calls_the_agent_stops_and_sums_up(folder: Path):
    steps = [RENAME, *[READ] * 5, says("I renamed Amber; more is left.")]
    job = asked(asking(folder, "[agent]\ntool_calls = 5\n", play=steps))
    assert told(job, "budget.exhausted") == [{"what": "tool_calls"}]
    assert types(job).count("tool.call.completed") == 5
    assert "I renamed Amber; more is left." in job["answer"]
    assert "this job has used up its tool calls" in job["answer"]


@pytest.mark.parametrize(
    ("setting", "steps", "what", "words"),
    [
        pytest.param(
            "iterations = 3",
            [RENAME, *[READ] * 9],
            "iterations",
            "this job has used up its steps",
            marks=pytest.mark.covers("ML-err-agent"),
        ),
        pytest.param(
            "seconds = 1",
            [{**READ, "delay_ms": 1100}, READ, READ],
            "seconds",
            "I stopped here: this job has used up its time",
            marks=pytest.mark.covers("ML-limit-timeout"),
        ),
    ],
)
def test_steps_and_time_end_a_job(folder: Path, setting: str, steps: list[dict[str, Any]], what: str, words: str):
    job = asked(asking(folder, f"[agent]\n{setting}\n", play=steps))
    assert told(job, "budget.exhausted") == [{"what": what}]
    assert types(job).count("step.completed") <= 3
    assert words in job["answer"]
    done = "- modified poem.md\nMy changes wait for your decision." if RENAME in steps else "Nothing was changed."
    assert job["answer"].endswith(done)
    assert job["status"] == ("awaiting_review" if RENAME in steps else "completed")


@pytest.mark.covers(
    "SB-retry-schema", "SB-guard-validate", "SB-job-error", "SB-event-job-failed", "ML-loop-always-ends"
)
@pytest.mark.covers("TK-turn-staged", "TK-turn-failed")
def test_malformed_calls_are_told_back_five_times_and_then_the_job_fails_whole(folder: Path):
    steps = [RENAME, says("", call("create_document", path="new.md", content="New.\n")), *[WRONG] * 9]
    program = asking(folder, "[agent]\ntool_calls = 50\niterations = 20\n", play=steps)
    job = asked(program, "--mode", "apply", status=1)
    assert (job["status"], job["error"]["error"]) == ("failed", "model_output_invalid")
    assert types(job).count("step.completed") == 8
    assert [each["ok"] for each in told(job, "tool.call.completed")] == [True, True, *[False] * 6]
    [failed] = told(job, "job.failed")
    assert failed == {"error": "model_output_invalid", "reason": job["error"]["message"]}
    assert "6 times in a row" in failed["reason"]
    assert (folder / "poem.md").read_text(encoding="utf-8") == POEM
    assert not (folder / "new.md").exists()
    assert (program.json("turns")["turns"], program.json("diff")["documents"]) == ([], [])


# Routes

ROUTED = '[routing]\nagent_mode = "hybrid_auto"\nlocal = "small"\nremote = "big"\n'
DONE = [RENAME, says("Done.")]


@pytest.mark.parametrize(
    ("settings", "small", "trigger"),
    [
        pytest.param("[agent]\ntool_calls = 3\n", [READ] * 9, "tool_budget_spent", id="budget"),
        pytest.param("", [WRONG] * 9, "schema_invalid", id="schema"),
        pytest.param("", [MISSES] * 9, "validation_failed", id="validation"),
        pytest.param("", [{"error": "context_overflow"}], "context_overflow", id="context"),
    ],
)
@pytest.mark.covers(
    "SB-route-mode",
    "SB-route-local-first",
    "SB-route-budget",
    "SB-route-context",
    "SB-route-schema",
    "SB-route-validation",
    "SB-guard-trace-choice",
)
def test_the_local_model_is_first_and_gives_way(folder: Path, settings: str, small: list[dict[str, Any]], trigger: str):
    program = asking(folder, settings + ROUTED, small=small, big=DONE)
    job = asked(program)
    chosen = told(job, "provider.chosen")
    assert [each["side"] for each in chosen] == ["local", "remote"]
    assert (chosen[0]["trigger"], chosen[1]["trigger"], job["status"]) == (None, trigger, "awaiting_review")
    assert all(each["reason"] for each in chosen)


@pytest.mark.covers("SB-guard-no-fallback", "SB-route-max-local", "SB-route-on-schema-fail")
@pytest.mark.parametrize(
    ("setting", "sides"),
    [
        ("fallback = false", ["local"]),
        ("hybrid_remote_on_schema_fail = false", ["local"]),
        ("hybrid_max_local_attempts = 1", ["local", "remote"]),
    ],
)
def test_what_makes_the_local_model_give_way_can_be_set(folder: Path, setting: str, sides: list[str]):
    program = asking(folder, ROUTED + setting + "\n", small=[WRONG] * 9, big=DONE)
    done = program.run("ask", "Please.", "--json")
    job = program.json("jobs", program.json("jobs")["jobs"][0]["id"])
    assert [each["side"] for each in told(job, "provider.chosen")] == sides, done
    if sides == ["local", "remote"]:
        assert len(told(job, "step.completed")) == 3, "one try of the small model, and both steps of the big one"


@pytest.mark.covers("SB-route-on-overflow", "SB-route-on-timeout", "SB-guard-no-fallback")
@pytest.mark.parametrize(
    ("setting", "small", "trigger"),
    [
        ("", [{"error": "context_overflow"}], "context_overflow"),
        ("hybrid_remote_on_context_overflow = false", [{"error": "context_overflow"}], None),
        ("hybrid_remote_on_timeout_ms = 50", [{**RENAME, "delay_ms": 60_000}], "timeout"),
        ("fallback = false", [{"error": "context_overflow"}], None),
        ("fallback = false\nhybrid_remote_on_timeout_ms = 50", [{**RENAME, "delay_ms": 200}, says("Done.")], None),
        ("hybrid_remote_on_timeout_ms = 30000", [{**RENAME, "delay_ms": 100}, says("Done.")], None),
    ],
)
def test_a_full_context_and_a_slow_step_count_as_the_settings_say(
    folder: Path, setting: str, small: list[dict[str, Any]], trigger: str | None
):
    program = asking(folder, f"{ROUTED}{setting}\n", small=small, big=DONE)
    program.run("ask", "Please.", "--json")
    job = program.json("jobs", program.json("jobs")["jobs"][0]["id"])
    chosen = [(each["side"], each["trigger"]) for each in told(job, "provider.chosen")]
    assert chosen == [("local", None), *([("remote", trigger)] if trigger else [])]


@pytest.mark.covers("SB-route-context", "SB-route-on-overflow")
def test_a_full_context_is_known_by_the_words_of_a_server_on_this_machine(folder: Path):
    said = {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}
    with Endpoint() as endpoint:
        endpoint.answers = [answer(said, 500)]
        small = f'[models.small]\nkind = "compatible"\nmodel = "small"\nbase_url = "{endpoint.url}/v1"\n'
        settings = f"{ROUTED}hybrid_remote_on_context_overflow = false\n{small}"
        program = replace(asking(folder, settings, big=DONE), variables={"REDRAFT_MODEL_CALLS": "loopback"})
        job = asked(program, status=1)
    assert [each["side"] for each in told(job, "provider.chosen")] == ["local"], "nothing is sent elsewhere"
    assert (job["status"], job["error"]["error"]) == ("failed", "model_context_full")


@pytest.mark.covers("SB-route-mode")
@pytest.mark.parametrize(("mode", "words"), [("local", "Small."), ("remote", "Big.")])
def test_one_route_is_taken_where_it_is_named(folder: Path, mode: str, words: str):
    routed = ROUTED.replace("hybrid_auto", mode)
    program = asking(folder, routed, small=[says("Small.")], big=[says("Big.")])
    assert asked(program)["answer"] == words


# Over HTTP


@pytest.mark.covers("SB-clarify-one", "SB-clarify-skip", "SB-clarify-no-timeout")
def test_questions_are_asked_one_at_a_time_and_may_be_skipped(folder: Path):
    questions = says("", call("clarify_user", question="First?"), call("clarify_user", question="Second?"))
    server = serving(folder, questions, says("Done."))
    server.post("/api/settings", {"agent": {"seconds": 1}}, method="PUT")
    job = run(server)
    first = until(server, job, "waiting_for_user")["question"]
    since = time.monotonic()
    assert first["text"] == "First?"
    while time.monotonic() < since + 1.5:  # longer than the job may work
        assert server.get(f"/api/agent/jobs/{job}")["status"] == "waiting_for_user"
    early = {"question_id": "q_2", "answer": "too early"}
    server.refused("POST", f"/api/agent/jobs/{job}/clarify", early, 404)
    server.post(f"/api/agent/jobs/{job}/clarify", {"question_id": first["question_id"]})
    while (question := until(server, job, "waiting_for_user")["question"])["text"] == "First?":
        pass
    assert question["text"] == "Second?"
    server.post(f"/api/agent/jobs/{job}/clarify", {"question_id": question["question_id"], "answer": "two"})
    assert until(server, job, "completed")["answer"] == "Done."
    events = server.get(f"/api/agent/jobs/{job}/events")["events"]
    answers = [event["data"]["answer"] for event in events if event["type"] == "clarification.received"]
    assert answers == ["no_user_answer", "two"]
    ended(server)


@pytest.mark.covers(
    "SB-session-chat",
    "SB-session-keeps",
    "SB-session-fields",
    "SB-session-status",
    "SB-job-fields",
    "SB-job-status",
    "SB-scope-rows-kept",
    "SB-event-review-updated",
    "SB-event-apply-started",
    "SB-event-apply-completed",
)
def test_a_session_keeps_what_was_said_done_and_decided(folder: Path):
    looks = says("I look.", call("search_documents", query="stands alone"), delay_ms=300)
    server = serving(folder, looks, says("", *RENAME["calls"], edit("poem.md", "Cedar", "Coral")), says("Done."))
    session = server.post("/api/agent/sessions")["session_id"]
    row = {"id": "ctx_1", "kind": "selection", "file_path": "poem.md", "start_line": 1, "end_line": 1}
    body = {"session_id": session, "instruction": "Rename Amber", "model": "play", "context_rows": [row]}
    begun = server.post("/api/agent/run", body)["job_id"]
    running = until(server, begun, "running")
    assert (running["finished_at"], running["proposed_edits"], running["diff_bundle"]) == (None, [], None)
    job = until(server, begun, "awaiting_review")
    assert (job["id"], job["session_id"], job["finished_at"]) == (begun, session, None)
    assert job["started_at"] >= job["created_at"]
    kept = server.get(f"/api/agent/sessions/{session}")
    assert (kept["id"], kept["status"], kept["last_job_id"]) == (session, "active", begun)
    assert (kept["pending_review"], kept["updated_at"] > kept["created_at"]) == (begun, True)
    assert [(entry["role"], entry["text"], entry["data"].get("ok")) for entry in kept["chat"]] == [
        ("user", "Rename Amber", None),
        ("tool", "search_documents stands alone", True),
        ("tool", "edit_text poem.md", True),
        ("tool", "edit_text poem.md", True),
        ("assistant", "Done.", None),
    ]
    assert [edit["file_path"] for edit in job["proposed_edits"]] == ["poem.md"] * 2
    assert kept["context_rows"] == [{**row, "content": "", "pinned": True}]
    first = job["diff_bundle"]["files"][0]["hunks"][0]["hunk_id"]
    server.post("/api/agent/apply", {"session_id": session, "job_id": job["job_id"], "accepted_hunk_ids": [first]})
    over = server.get(f"/api/agent/jobs/{job['job_id']}")
    assert (over["status"], over["finished_at"] >= over["started_at"]) == ("completed", True)
    happened = server.get(f"/api/agent/jobs/{job['job_id']}/events", cursor=job["cursor"])["events"]
    decided = {"file_path": "poem.md", "applied_hunks": 1, "rejected_hunks": 1}
    assert [(event["type"], event["data"]) for event in happened] == [
        ("apply.started", {"accepted": 1}),
        ("review.updated", {"paths": ["poem.md"], "left": 1}),
        ("review.updated", {"paths": ["poem.md"], "left": 0}),
        ("job.completed", {"turn": job["turn"]}),
        ("apply.completed", {"status": "completed", "applied_files": [decided]}),
    ]
    assert server.get(f"/api/agent/sessions/{session}")["pending_review"] is None
    server.post(f"/api/agent/sessions/{session}/archive", {"archived": True})
    assert server.get(f"/api/agent/sessions/{session}")["status"] == "archived"
    ended(server)


@pytest.mark.covers("RD-decided-durable")
def test_a_job_that_waits_and_a_review_outlive_a_server_that_is_killed(folder: Path):
    server = serving(folder, says("", call("clarify_user", question="Which?")), RENAME, says("Done."))
    tab = server.post("/api/tabs", {"path": "gone.md"})["tab_id"]
    server.post(f"/api/tabs/{tab}/type", {"content": "Typed, not saved.\n"})
    server.tool("edit_text", path="poem.md", old_text="Cedar", new_text="Coral")
    job = run(server)
    question = until(server, job, "waiting_for_user")["question"]
    session = server.get(f"/api/agent/jobs/{job}")["session_id"]
    kept = [f"/api/agent/jobs/{job}/events", f"/api/agent/sessions/{session}"]
    before = [server.get(path) for path in kept]
    assert {"job.started", "clarification.requested"} <= {event["type"] for event in before[0]["events"]}
    assert server.process is not None
    server.process.kill()
    server.process.communicate()
    server = serving(folder, RENAME, says("Done."))
    assert server.get("/api/documents", path="gone.md")["content"] == "Typed, not saved.\n"
    assert server.get(f"/api/tabs/{tab}")["path"] == "gone.md"
    assert "Coral" in server.get("/api/documents", path="poem.md")["content"]
    assert len(server.get("/api/review/document", path="poem.md")["hunks"]) == 1
    found = server.get(f"/api/agent/jobs/{job}")
    assert (found["status"], found["question"]) == ("waiting_for_user", question)
    events, chat = (server.get(path) for path in kept)
    assert events["events"][: len(before[0]["events"])] == before[0]["events"]
    assert (chat["chat"], len(chat["chat"]) > 0) == (before[1]["chat"], True)
    ended(server)


@pytest.mark.covers("ML-stress-batches")
def test_large_batches_and_long_loops_at_the_same_time_lose_nothing(folder: Path):
    """Six conversations about one document at once: each of three changes twenty words in one batch, as many as a turn
    may, and each of the others one word in a step of its own, nineteen times, between steps of reading."""
    agents = 6
    words = {number: [f"word{number}x{at:02}" for at in range(20 if number % 2 else 19)] for number in range(agents)}
    text = "".join(f"{word} stands alone.\n\n" for at in range(20) for each in words.values() for word in each[at:][:1])
    (folder / "many.md").write_text(text, encoding="utf-8")
    models = {
        f"agent{number}": [says("", call("batch", calls=[edit("many.md", word, word.upper()) for word in mine]))]
        if number % 2
        else [step for word in mine for step in (READ, says("", edit("many.md", word, word.upper())))]
        for number, mine in words.items()
    }
    asking(folder, "", **{name: [*steps, says("Done.")] for name, steps in models.items()})
    with serving_folder(folder) as server:
        jobs = [run(server, model=name, mode="merge", tool_config={"profile": "all"}) for name in models]
        assert {until(server, job, "completed", "awaiting_review")["status"] for job in jobs} == {"completed"}
        assert (folder / "many.md").read_text(encoding="utf-8") == text.replace("word", "WORD").replace("x", "X")
        assert len(server.get("/api/turns")["turns"]) == agents
