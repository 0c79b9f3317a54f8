"""The tools that a job is offered: by profile, over HTTP and on the command line, and that each of them works there."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.agent.listening import CALLS, configure, play, spoken, told_by_tools
from tests.cli.running import Program
from tests.providers.endpoint import Endpoint
from tests.providers.wires import WIRES
from tests.server.serving import Server, serving, settled

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

pytestmark = pytest.mark.slow
LOG = "".join(f"Line {number} of the log.\n" for number in range(1, 21))
WORKSPACE = {
    "create_document",
    "edit_document",
    "read_document",
    "delete_document",
    "move_document",
    "list_documents",
    "search_documents",
    "create_folder",
}


@pytest.fixture(scope="module")
def model() -> Generator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, model: Endpoint) -> Generator[Server]:
    folder = tmp_path_factory.mktemp("profiles") / "notes"
    folder.mkdir()
    tables = "".join(
        f'[models.{wire.kind}]\nkind = "{wire.kind}"\nmodel = "{wire.model}"\n'
        f'base_url = "{model.url}{wire.path}"\nkey_env = "KEY"\n'
        for wire in WIRES
    )
    configure(folder, model, f'[agent]\nprofile = "project"\n{tables}', side="remote")
    with serving(folder, KEY="of-nobody", **CALLS) as found:
        yield found


@pytest.fixture
def server(standing: Server) -> Server:
    assert standing.folder is not None
    standing.post("/api/review/reject", {"all": True})
    (standing.folder / "log.md").write_text(LOG, encoding="utf-8")
    return standing


def asked(server: Server, mode: str = "propose", **config: Any) -> dict[str, Any]:
    session = server.post("/api/agent/sessions", {})["session_id"]
    body = {"session_id": session, "instruction": "Please.", "mode": mode, "tool_config": config}
    return settled(server, server.post("/api/agent/run", body)["job_id"])


def offered(model: Endpoint) -> set[str]:
    return {tool["function"]["name"] for tool in model.asked[0].body["tools"]}


@pytest.mark.covers("RD-job-profile")
def test_a_job_has_the_tools_of_its_profile(server: Server, model: Endpoint):
    play(model, spoken("Nothing to do."))
    asked(server)
    assert offered(model) == {"search_project", "read_file", "list_files", "propose_edits", "clarify_user"}
    play(model, spoken("Nothing to do."))
    asked(server, profile="workspace")
    assert offered(model) == WORKSPACE
    assert server.folder is not None
    program = Program(server.folder, dict(CALLS))  # without the key of models that it does not need
    play(model, spoken("Nothing to do."))
    program.ok("ask", "Please.", "--profile", "workspace")
    assert offered(model) == WORKSPACE
    play(model, spoken("Nothing to do."))
    program.ok("ask", "Please.")
    assert "propose_edits" in offered(model)
    session = server.post("/api/agent/sessions", {})["session_id"]
    wrong = {"session_id": session, "instruction": "Please.", "tool_config": {"profile": "none"}}
    assert server.refused("POST", "/api/agent/run", wrong, 422)["details"]["field"] == "tool_config.profile"


@pytest.mark.covers("SB-tools-same-everywhere")
def test_every_provider_is_offered_the_same_tools_and_told_the_same_by_them(server: Server, model: Endpoint):
    first: list[tuple[str, dict[str, Any]]] = [
        ("search_project", {"query": "Line 7 of", "glob": "**/*", "limit": 20}),
        ("list_files", {"prefix": "", "glob": "**/*"}),
        ("read_file", {"file_path": "log.md", "start_line": 2, "end_line": 3}),
    ]
    question: list[tuple[str, dict[str, Any]]] = [("clarify_user", {"question": "Terse or detailed?"})]
    told: dict[str, Any] = {}
    for wire in WIRES:
        play(
            model, *(wire.streamed(text, calls, False) for text, calls in (("", first), ("", question), ("Done.", [])))
        )
        session = server.post("/api/agent/sessions", {})["session_id"]
        body = {"session_id": session, "instruction": "Please.", "model": wire.kind}
        job = settled(server, server.post("/api/agent/run", body)["job_id"])
        assert job["question"], (wire.kind, job["error"], job["answer"], job["status"])
        assert job["question"]["text"] == "Terse or detailed?"
        server.post(f"/api/agent/jobs/{job['id']}/clarify", {"question_id": "q_1", "answer": "Terse"})
        assert settled(server, job["id"], "q_1")["status"] == "completed"
        names = sorted(_names_of_tools(model.asked[0].body["tools"]))
        events = server.get(f"/api/agent/jobs/{job['id']}/events")["events"]
        results = [event["data"] for event in events if event["type"] == "tool.call.completed"]
        told[wire.kind] = names, [(each["tool"], json.loads(each["result"])) for each in results]
    names, results = told[WIRES[0].kind]
    assert names == ["clarify_user", "list_files", "propose_edits", "read_file", "search_project"]
    assert results[2][1]["content"] == "Line 2 of the log.\nLine 3 of the log.\n"
    assert {kind: each == (names, results) for kind, each in told.items()} == {wire.kind: True for wire in WIRES}


def _names_of_tools(value: Any) -> Iterator[str]:
    """The names of tools, wherever a provider's format has them: beside their descriptions."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if "description" in found and isinstance(found.get("name"), str):
            yield found["name"]
        else:
            yield from (name for each in found.values() for name in _names_of_tools(each))
    elif isinstance(value, list):
        yield from (name for each in cast("list[Any]", value) for name in _names_of_tools(each))


@pytest.mark.covers(
    "SB-edit-fields", "SB-edit-hash-rationale", "SB-bundle-hunk", "SB-provider-stop-reason", "RD-job-proposed-edits"
)
def test_structured_edits_arrive_with_their_names_and_reasons_and_every_stop_reason_occurs(
    server: Server, model: Endpoint
):
    first = {"edit_id": "date", "file_path": "log.md", "operation": "replace", "start_line": 3, "end_line": 4}
    second = {"edit_id": "note", "file_path": "log.md", "operation": "insert", "start_line": 9}
    third = {"edit_id": "old", "file_path": "log.md", "operation": "delete"}
    third["anchor"] = "Line 14 of the log.\nLine 15 of the log.\n"
    play(
        model,
        spoken("", ("search_project", {"query": "Line 3"}), ("list_files", {})),
        spoken("", ("read_file", {"file_path": "log.md"}), number=1),
        spoken("", ("clarify_user", {"question": "Which lines?"}), number=2),
        spoken(
            "",
            (
                "propose_edits",
                {
                    "edits": [
                        {**first, "new_text": "New 3.\nAnd one more.\nNew 4.\n", "rationale": "The date was wrong."},
                        {**second, "new_text": "A note.\n", "rationale": "It was missing."},
                    ]
                },
            ),
            number=3,
        ),
        spoken(
            "", ("propose_edits", {"edits": [{**third, "new_text": "", "rationale": "Nobody reads it."}]}), number=4
        ),
        spoken("Half a sen", finish="length"),
        spoken("Done."),
    )
    job = asked(server)
    server.post(
        f"/api/agent/jobs/{job['id']}/clarify",
        {"question_id": job["question"]["question_id"], "answer": "All of them."},
    )
    job = settled(server, job["id"], job["question"]["question_id"])
    assert job["status"] == "awaiting_review", job
    assert [each.get("rationale") for each in job["proposed_edits"]] == [
        "The date was wrong.",
        "It was missing.",
        "Nobody reads it.",
    ]
    targets = ("Line 3 of the log.\nLine 4 of the log.\n", "", third["anchor"])
    hashes = ["sha256:" + sha256(target.encode()).hexdigest() for target in targets]
    assert [each["expected_hash"] for each in job["proposed_edits"]] == hashes
    news = ["New 3.\nAnd one more.\nNew 4.\n", "A note.\n", ""]
    assert [each["new_text"] for each in job["proposed_edits"]] == news
    assert [each["operation"] for each in job["proposed_edits"]] == ["replace", "insert", "delete"]
    # By the lines of the text before the job: the third was proposed when two lines more stood before it.
    assert [(each["edit_id"], each["start_line"], each["end_line"]) for each in job["proposed_edits"]] == [
        ("date", 3, 4),
        ("note", 9, 8),
        ("old", 14, 15),
    ]
    hunks = [hunk for file in job["diff_bundle"]["files"] for hunk in file["hunks"]]
    names = dict.fromkeys(tuple(hunk["edit_ids"]) for hunk in hunks)  # an edit may have changed several runs of words
    assert list(names) == [("date",), ("note",), ("old",)]
    events = server.get(f"/api/agent/jobs/{job['id']}/events")["events"]
    reasons = [event["data"]["stop_reason"] for event in events if event["type"] == "step.completed"]
    assert reasons == [
        "needs_tools",
        "needs_tools",
        "needs_clarification",
        "proposed_edits",
        "proposed_edits",
        "error",
        "done",
    ]


@pytest.mark.covers("RD-job-batch")
def test_a_batch_in_a_job_is_part_of_its_turn_and_happens_whole_or_not_at_all(server: Server, model: Endpoint):
    def edit(old: str, new: str) -> dict[str, Any]:
        return {"tool": "edit_text", "arguments": {"path": "log.md", "old_text": old, "new_text": new}}

    play(
        model,
        spoken("", ("batch", {"calls": [edit("Line 1 of", "Line A of"), edit("nowhere", "x")]})),
        spoken("", ("batch", {"calls": [edit("Line 2 of", "Line B of")], "dry_run": True}), number=1),
        spoken("", ("batch", {"calls": [edit("Line 3 of", "Line C of"), edit("Line 4 of", "Line D of")]}), number=2),
        spoken("", ("edit_document", {"path": "log.md", "operation": "append", "content": "End."}), number=3),
        spoken("Done."),
    )
    job = asked(server, "apply", profile="all")
    failed, tried, staged, appended = told_by_tools(model)
    assert "anchor_not_found" in str(failed)
    assert (tried["state"], staged["state"], appended["state"]) == ("dry_run", "staged", "staged")
    assert job["status"] == "completed", job
    assert server.folder is not None
    after = (server.folder / "log.md").read_text(encoding="utf-8")
    assert after == LOG.replace("Line 3 of", "Line C of").replace("Line 4 of", "Line D of") + "\nEnd.\n"
    turns = server.get("/api/turns", limit=2)["turns"]
    assert turns[0]["turn"] == job["turn"], "one turn, whatever the job called"
    server.post("/api/turns/undo", {"turn": job["turn"]})
    assert (server.folder / "log.md").read_text(encoding="utf-8") == LOG


def test_a_folder_is_made_in_a_job_that_writes_at_once_without_a_question(server: Server, model: Endpoint):
    play(model, spoken("", ("create_folder", {"path": "work/2026"})), spoken("Made."))
    job = asked(server, "apply", profile="workspace")
    assert (job["status"], told_by_tools(model)[0]["created"]) == ("completed", True)
    assert server.folder is not None
    assert (server.folder / "work/2026").is_dir()
