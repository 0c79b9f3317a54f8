"""The examples of midlight's appendix at their full size, and the limits of a job, through a server as it is set up.

Every model makes one call in each step, which takes the most steps. What must be there at the end is kept beside it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import Server, serving, settled

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.slow
TOPICS = {"work": 6, "personal": 5, "research": 4}
LOOSE = {f"{topic}-{number}.md": topic for topic, count in TOPICS.items() for number in range(count)}
MEETINGS = [f"Meeting Notes - {number:02}, 2023.md" for number in range(1, 13)]
WORDS = [f"word{number:02}" for number in range(1, 26)]
Call = dict[str, Any]


def call(tool: str, **arguments: Any) -> Call:
    return {"tool": tool, "arguments": arguments}


def deletion(path: str) -> Call:
    return call("delete_document", path=path)


def one_by_one(calls: Sequence[Call]) -> list[dict[str, Any]]:
    return [*({"text": "", "calls": [each]} for each in calls), {"text": "Done."}]


MODELS: dict[str, list[dict[str, Any]]] = {
    "organises": one_by_one(
        [
            call("list_documents", folder="/"),
            *(call("read_document", path=path) for path in LOOSE),
            *(call("create_folder", path=topic) for topic in TOPICS),
            *(call("move_document", from_path=path, to_path=f"{topic}/{path}") for path, topic in LOOSE.items()),
        ]
    ),
    "corrects": one_by_one(
        [
            call("create_folder", path="journal"),
            *(
                call("move_document", from_path=f"personal/personal-{number}.md", to_path=f"journal/{number}.md")
                for number in range(4)
            ),
        ]
    ),
    "deletes": [{"text": "", "calls": list(map(deletion, MEETINGS))}, {"text": "Done."}],
    "deletes_one_by_one": one_by_one(list(map(deletion, MEETINGS))),
    "deletes_in_a_batch": one_by_one(
        [call("batch", calls=[{"tool": "delete_document", "arguments": {"path": path}} for path in MEETINGS])]
    ),
    "edits": one_by_one([call("edit_text", path="words.md", old_text=word, new_text=word.upper()) for word in WORDS]),
    "adds": one_by_one(
        [
            call("read_document", path="Project Roadmap.md"),
            call(
                "edit_document",
                path="Project Roadmap.md",
                operation="append",
                content="## Next Steps\n\n### Q1 Action Items\n- [ ] Finalize feature spec",
            ),
        ]
    ),
    "moves": one_by_one([call("move_document", from_path=path, to_path=f"in/{path}") for path in list(LOOSE)[:7]]),
}


def configure(folder: Path, more: str = "") -> None:
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True)
    settings = more
    for name, steps in MODELS.items():
        script = folder.parent / f"{name}.jsonl"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
        settings += f'[models.{name}]\nkind = "scripted"\nfile = "{script}"\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    for path in (*LOOSE, *MEETINGS):
        (place / path).write_text(f"# {path}\n", encoding="utf-8")
    (place / "words.md").write_text("\n\n".join(WORDS) + "\n", encoding="utf-8")
    (place / "Project Roadmap.md").write_text("# Roadmap\n\n## Timeline\n\nSoon.\n", encoding="utf-8")
    return place


@pytest.fixture
def server(folder: Path) -> Generator[Server]:
    configure(folder)
    with serving(folder) as found:
        yield found


def asked(server: Server, model: str, mode: str = "apply", profile: str = "all") -> dict[str, Any]:
    session = server.post("/api/agent/sessions", {})["session_id"]
    body = {"session_id": session, "instruction": "Please.", "mode": mode, "model": model}
    return settled(server, server.post("/api/agent/run", {**body, "tool_config": {"profile": profile}})["job_id"])


def agree(server: Server, job: dict[str, Any], allow: bool = True) -> dict[str, Any]:
    question: str = job["question"]["question_id"]
    server.post(f"/api/agent/jobs/{job['id']}/confirm", {"question_id": question, "allow": allow})
    return settled(server, job["id"], question)


def listing(folder: Path) -> dict[str, str]:
    """Every document on the disk with its text."""
    files = (path for path in folder.rglob("*.md") if ".redraft" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


@pytest.mark.covers("RD-job-limits", "ML-sample-organise", "ML-sample-organise-correct")
def test_fifteen_notes_are_organised_into_three_folders_after_one_question(server: Server, folder: Path):
    before = listing(folder)
    job = asked(server, "organises", profile="workspace")
    assert job["status"] == "waiting_for_user", job
    assert job["question"]["text"].startswith("The agent wants to change 15 files"), "a move counts once"
    assert job["question"]["paths"] == sorted(f"{topic}/{path}" for path, topic in LOOSE.items())
    assert listing(folder) == before
    job = agree(server, job)
    assert (job["status"], job["error"]) == ("completed", None)
    assert listing(folder) == {
        f"{LOOSE[path]}/{path}" if path in LOOSE else path: text for path, text in before.items()
    }
    assert {path.name for path in folder.iterdir() if path.is_dir()} - {".redraft"} == set(TOPICS)
    organised = listing(folder)
    again = asked(server, "corrects", profile="workspace")
    assert (again["status"], again["error"]) == ("completed", None)
    assert sorted(path for path in listing(folder) if path.startswith("journal/")) == [
        f"journal/{n}.md" for n in range(4)
    ]
    assert sorted(path for path in listing(folder) if path.startswith("personal/")) == ["personal/personal-4.md"]
    server.post("/api/turns/undo", {"turn": again["turn"]})
    assert (listing(folder), (folder / "journal").exists()) == (organised, False), "the second turn by itself"
    server.post("/api/turns/undo", {"turn": job["turn"]})
    assert listing(folder) == before
    assert not any((folder / topic).exists() for topic in TOPICS)


@pytest.mark.covers("RD-job-limits")
def test_a_section_is_added_to_the_roadmap(server: Server, folder: Path):
    job = asked(server, "adds", profile="workspace")
    assert (job["status"], job["error"]) == ("completed", None)
    assert "## Next Steps\n\n### Q1 Action Items\n" in listing(folder)["Project Roadmap.md"]


@pytest.mark.covers("RD-job-limits", "RD-job-limits-before-asking")
@pytest.mark.parametrize("model", ["deletes", "deletes_one_by_one", "deletes_in_a_batch"])
def test_who_agrees_to_twelve_deletions_gets_twelve(server: Server, folder: Path, model: str):
    before = listing(folder)
    job = asked(server, model)
    questions = 0
    agreed: list[str] = []
    while job["status"] == "waiting_for_user":
        agreed += job["question"]["paths"]
        questions += 1
        job = agree(server, job)
    assert (job["status"], job["error"]) == ("completed", None)
    assert agreed == MEETINGS
    assert questions == (12 if model == "deletes_one_by_one" else 1)
    assert listing(folder) == {path: text for path, text in before.items() if path not in MEETINGS}


@pytest.mark.covers("RD-decided-modes", "ML-mode-supervised")
def test_where_the_person_decides_a_deletion_waits_in_the_review_and_nobody_is_asked(server: Server, folder: Path):
    before = listing(folder)
    job = asked(server, "deletes", mode="propose")
    assert (job["status"], job["question"], listing(folder)) == ("awaiting_review", None, before)
    waiting = server.get("/api/review")["documents"]
    assert [(each["kind"], each["path"]) for each in waiting] == [("deleted", path) for path in MEETINGS]
    server.post("/api/review/accept", {"turn": job["turn"]})
    assert listing(folder) == {path: text for path, text in before.items() if path not in MEETINGS}


@pytest.mark.covers("ML-loop-refused")
def test_a_refused_confirmation_ends_the_run_and_says_who_ended_it(server: Server, folder: Path):
    before = listing(folder)
    job = agree(server, asked(server, "deletes"), allow=False)
    assert (job["status"], job["error"]["message"]) == ("cancelled", "The person cancelled the action.")
    assert (listing(folder), server.get("/api/turns")["turns"]) == (before, [])


@pytest.mark.covers("RD-job-limits-before-asking")
@pytest.mark.parametrize("limit", ["[agent]\ndestructive_calls = 10\n", "[limits]\nactions = 10\n"])
def test_a_step_that_goes_too_far_is_refused_before_anybody_is_asked(folder: Path, limit: str):
    configure(folder, limit)
    before = listing(folder)
    with serving(folder) as server:
        job = asked(server, "deletes")
        assert (job["status"], job["question"]) == ("completed", None)
        events = server.get(f"/api/agent/jobs/{job['id']}/events")["events"]
        assert [event for event in events if event["type"].startswith("confirmation")] == []
    assert listing(folder) == before


@pytest.mark.covers("ML-limit-actions", "RD-job-limits")
def test_twenty_actions_are_reached_with_one_call_a_step_and_no_more(server: Server, folder: Path):
    job = asked(server, "edits")
    assert job["status"] == "awaiting_review", job
    assert "this job has used up the actions of one turn" in job["answer"]
    content = server.get("/api/documents", path="words.md")["content"]
    assert content.split() == [word.upper() for word in WORDS[:20]] + WORDS[20:]


def test_seven_moves_are_seven_files(server: Server, folder: Path):
    before = listing(folder)
    job = asked(server, "moves")
    assert (job["status"], job["question"]) == ("completed", None), "ten files may be changed without a question"
    assert len(listing(folder)) == len(before)
