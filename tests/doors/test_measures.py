"""What is measured, and what a model is told: by the program, and by a model that writes down every word it gets."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.desk import call, edit, says
from tests.cli.running import Program
from tests.server.serving import begun, ended
from tests.server.test_jobs import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
POEM = "Amber stands alone.\n\nBirch stands alone.\n\nCedar stands alone.\n"
# A model that keeps every prompt, and plays its steps in order.
MODEL = """
import json, pathlib, sys
place = pathlib.Path(sys.argv[1])
number = len(list(place.glob("*.txt")))
(place / f"{number}.txt").write_text(sys.stdin.read(), encoding="utf-8")
steps = json.loads((place / "steps.json").read_text(encoding="utf-8"))
print(json.dumps(steps[min(number, len(steps) - 1)]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path)


def make_folder(place: Path) -> Path:
    found = place / "notes"
    found.mkdir()
    (found / "poem.md").write_text(POEM, encoding="utf-8")
    return found


def settings(folder: Path, text: str) -> None:
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.toml").write_text(text, encoding="utf-8")


def scripted(folder: Path, *steps: dict[str, Any]) -> Program:
    script = folder.parent / "play.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    settings(folder, f'[models.play]\nkind = "scripted"\nfile = "{script}"\n')
    return Program(folder)


@pytest.mark.covers(
    "ML-metric-success", "ML-metric-accept", "ML-metric-actions", "ML-metric-time", "ML-metric-undo", "TK-telemetry"
)
def test_how_the_agents_work_has_gone_can_be_looked_up(folder: Path):
    program = scripted(
        folder,
        says("", edit("poem.md", "Amber", "Agate"), edit("poem.md", "nowhere", "x"), edit("poem.md", "Cedar", "Coral")),
        says("Done."),
    )
    began = time.monotonic()
    program.run("ask", "Please.", "--model", "play")
    took = time.monotonic() - began
    first = program.json("diff")["documents"][0]["hunks"][0]["hunk_id"]
    program.ok("accept", first)
    program.ok("reject", "--all")
    began = time.monotonic()
    program.run("ask", "Please.", "--model", "play", "--mode", "apply")
    took = max(took, time.monotonic() - began)
    program.ok("undo")
    figures = program.json("figures")
    assert (figures["jobs"], figures["conversations"], figures["actions"]) == (2, 2, 6)
    assert figures["actions_per_conversation"] == 3
    # Of the first three calls one missed; of the second three, one more: what was accepted stood there already.
    assert figures["succeeded"] == 3 / 6
    assert (figures["accepted"], figures["undone"]) == (1 / 2, 1 / 2)
    assert took > figures["p95_seconds"] >= figures["p50_seconds"] > 0
    [tool] = figures["tools"]
    assert (tool["tool"], tool["calls"], tool["failed"]) == ("edit_text", 6, 3)
    assert (tool["tokens"] > 0, tool["seconds"] > 0) == (True, True)


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a model was told: three times in a job in which it reads, asks and ends, and once for the next request."""
    folder = make_folder(tmp_path_factory.mktemp("told"))
    place = folder.parent / "model"
    place.mkdir()
    calls = [call("read_document", path="poem.md"), call("read_document", path="gone.md")]
    asks = {"say": "", "calls": [call("clarify_user", question="In which year?")]}
    steps: list[dict[str, Any]] = [{"say": "I look.", "calls": calls}, asks, {"say": "Done.", "calls": []}]
    (place / "steps.json").write_text(json.dumps(steps), encoding="utf-8")
    (place / "model.py").write_text(MODEL, encoding="utf-8")
    command = json.dumps([sys.executable, str(place / "model.py"), str(place)])
    settings(folder, f'[models.play]\nkind = "command"\ncommand = {command}\n')
    server = begun(folder, REDRAFT_MODEL_CALLS="programs")
    session = server.post("/api/agent/sessions")["session_id"]
    row = {"id": "ctx_1", "kind": "selection", "file_path": "poem.md", "start_line": 1, "end_line": 1}
    row |= {"content": "Amber as it was"}
    body = {"session_id": session, "instruction": "Look at it", "model": "play", "context_rows": [row]}
    job = until(server, server.post("/api/agent/run", body)["job_id"], "waiting_for_user")["job_id"]
    server.post(f"/api/agent/jobs/{job}/clarify", {"question_id": "q_1", "answer": "In 1912, I think."})
    until(server, job, "completed")
    later = {"session_id": session, "instruction": "And now?", "model": "play"}
    until(server, server.post("/api/agent/run", later)["job_id"], "completed")
    ended(server)
    return [(place / f"{number}.txt").read_text(encoding="utf-8") for number in range(4)]


@pytest.mark.covers("ML-loop-guidelines", "SB-hunk-focused")
def test_a_model_is_told_how_to_work_and_which_tools_it_has(prompts: list[str]):
    for words in (
        "Read before you change: list, search and read",
        "Make small, focused edits",
        "Take large tasks step by step",
        "Before you delete anything, be sure that the person wants it",
        "When you are done, say in a few sentences what you did",
    ):
        assert words in prompts[0]
    assert all(
        f'"{tool}"' in prompts[0] or tool in prompts[0] for tool in ("read_document", "edit_text", "clarify_user")
    )


@pytest.mark.covers("SB-scope-rows-kept", "SB-api-run-row", "ML-loop-context")
def test_a_model_is_told_the_pinned_context_with_every_request(prompts: list[str]):
    for request in (prompts[0], prompts[3]):
        assert 'path="poem.md" lines="1-1"' in request
        assert "Amber as it was" in request


@pytest.mark.covers("ML-loop-results-back")
def test_a_model_is_told_the_result_of_every_call(prompts: list[str]):
    first, second, third, _ = prompts
    assert "Birch stands alone" not in first
    assert "Birch stands alone" in second
    assert "not_found" in second
    assert "In 1912, I think." in third


@pytest.mark.covers("ML-loop-request", "SB-session-keeps", "SB-session-chat")
def test_a_model_is_told_what_was_said_before_in_order(prompts: list[str]):
    assert "Look at it" in prompts[0]
    said = ("Look at it", "In which year?", "In 1912, I think.", "Done.", "And now?")
    places = [prompts[3].rindex(words) for words in said]
    assert places == sorted(places)


@pytest.mark.covers("ML-limit-actions", "RD-turn-limits")
def test_a_turn_of_an_agents_has_at_most_twenty_actions(folder: Path):
    calls = [
        {"tool": "create_document", "arguments": {"path": f"n{number}.md", "content": "x\n"}} for number in range(21)
    ]
    program = Program(folder)
    done = program.run("tool", "batch", json.dumps({"calls": calls}), "--mode", "apply", "--yes", "--json")
    assert done.json["error"] == "limit_exceeded", done
    assert not (folder / "n0.md").exists()
    program.ok("tool", "batch", json.dumps({"calls": calls[:20]}), "--mode", "apply", "--yes")
    assert len(list(folder.glob("n*.md"))) == 20


@pytest.mark.covers("RD-turn-limits")
def test_a_turn_of_an_agents_has_as_many_files_and_bytes_as_the_settings_say(folder: Path):
    settings(folder, "[limits]\nfiles = 2\nbytes = 100\n")
    program = Program(folder)

    def made(*contents: str) -> tuple[int, Any]:
        calls = [
            {"tool": "create_document", "arguments": {"path": f"m{number}.md", "content": content}}
            for number, content in enumerate(contents)
        ]
        done = program.run("tool", "batch", json.dumps({"calls": calls}), "--mode", "apply", "--yes", "--json")
        return done.status, done.json

    for contents, limit in ((("a", "b", "c"), 2), (("x" * 101,), 100), (("é" * 30, "é" * 30), 100)):
        status, told = made(*contents)
        assert (status, told["error"], told["details"]["limit"]) == (1, "limit_exceeded", limit), told
        assert not (folder / "m0.md").exists()
    assert made("é" * 25, "é" * 25)[0] == 0
    assert len(list(folder.glob("m*.md"))) == 2


@pytest.mark.covers("SB-safe-expected-hash", "SB-safe-conflict", "SB-conflict-hash")
def test_an_edit_whose_lines_are_not_what_was_hashed_is_a_conflict(folder: Path):
    program = Program(folder)
    wrong = {
        "file_path": "poem.md",
        "start_line": 1,
        "end_line": 1,
        "operation": "replace",
        "new_text": "x",
        "expected_hash": "sha256:" + "0" * 64,
    }
    done = program.run("tool", "propose_edits", json.dumps({"edits": [wrong]}), "--json")
    assert (done.status != 0, done.json["error"]) == (True, "conflict"), done
    assert program.json("diff")["documents"] == []
    assert program.read("poem.md") == POEM


@pytest.mark.covers("RD-history-retention", "RD-cli-gc")
def test_gc_lets_go_of_old_turns_and_never_of_what_is_pending(folder: Path):
    settings(folder, "retention_turns = 1\n")
    program = Program(folder)
    waiting = json.dumps({"path": "poem.md", "old_text": "Amber", "new_text": "Agate"})
    program.ok("tool", "edit_text", waiting, "--mode", "propose")
    for number in range(4):
        made = json.dumps({"path": f"n{number}.md", "content": "x\n"})
        program.ok("tool", "create_document", made, "--mode", "apply")
    assert program.json("gc")["turns"] > 0
    turns = {turn["turn"]: turn for turn in program.json("turns")["turns"]}
    assert len(turns) == 5, "every turn keeps its line in the history"
    assert (turns[1]["pruned"], turns[2]["pruned"], turns[5]["pruned"]) == (False, True, False)
    program.ok("accept", "--all")
    assert "Agate" in program.read("poem.md")
