"""What the person keeps for the agent, over HTTP: macros, and the rules that it was told to remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.agent.memory.permissions import PermissionRule, PermissionRules
from redraft.workspace.turns.modes import Verdict
from tests.server.serving import ended
from tests.server.test_jobs import EDIT, run, serving, until
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
BACK = {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "{{old}}", "new_text": "{{new}} {{date}}"}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """One server for all of them; its model edits `story.md` once."""
    folder = tmp_path_factory.mktemp("macros") / "notes"
    folder.mkdir()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    (folder / "old.md").write_text("Old.\n", encoding="utf-8")
    found = serving(folder, {"text": "", "calls": [EDIT]}, {"text": "Done."})
    yield found
    assert ended(found) == ""


def names(server: Server) -> list[str]:
    return [macro["name"] for macro in server.get("/api/agent/macros")["macros"]]


def test_what_a_job_did_is_saved_as_a_macro(server: Server):
    job = until(server, run(server), "awaiting_review")
    made = server.post("/api/agent/macros/again", {"job_id": job["id"]}, method="PUT")
    assert made["calls"] == [EDIT]
    server.post("/api/agent/apply", {"session_id": job["session_id"], "job_id": job["id"], "accepted_hunk_ids": []})


@pytest.mark.covers("ML-adv-macros")
def test_a_macro_is_saved_listed_run_and_forgotten(server: Server):
    assert server.folder is not None
    quick = names(server)
    made = server.post("/api/agent/macros/age%20it", {"calls": [BACK]}, method="PUT")
    assert made == {"name": "age it", "saved": True, "values": ["old", "new"], "calls": [BACK]}
    assert names(server) == [*quick, "age it"]
    values = {"values": {"old": "eleven", "new": "twelve"}}
    ran = server.post("/api/agent/macros/age%20it/run", values, mode="apply")
    assert (ran["state"], ran["results"], ran["paths"]) == ("applied", ["ok"], ["story.md"])
    assert "twelve 20" in (server.folder / "story.md").read_text(encoding="utf-8")
    assert server.refused("POST", "/api/agent/macros/age%20it/run", values, 409)["error"] == "anchor_not_found"
    assert [each["name"] for each in server.post("/api/agent/macros/age%20it", method="DELETE")["macros"]] == quick
    assert server.refused("DELETE", f"/api/agent/macros/{quick[0]}", None, 404)["error"] == "not_found"
    assert server.refused("POST", "/api/agent/macros/age%20it/run", {}, 404)["error"] == "not_found"


def test_a_macro_that_could_never_run_is_not_saved(server: Server):
    for calls, code in (
        ([{"tool": "no_such_tool"}], 404),
        ([{"tool": "undo_turn"}], 422),
        ([], 429),
    ):
        server.refused("PUT", "/api/agent/macros/m", {"calls": calls}, code)
    server.refused("PUT", "/api/agent/macros/m", {}, 422)
    server.refused("PUT", "/api/agent/macros/m", {"job_id": "job_none"}, 404)
    assert "m" not in names(server)


def test_a_macro_that_deletes_asks_with_every_path(server: Server):
    delete = {"tool": "delete_document", "arguments": {"path": "old.md"}}
    server.post("/api/agent/macros/clear", {"calls": [delete]}, method="PUT")
    refused = server.refused("POST", "/api/agent/macros/clear/run", {}, 403, mode="apply")
    assert (refused["error"], refused["details"]["paths"]) == ("confirmation_required", ["old.md"])
    assert server.post("/api/agent/macros/clear/run", {}, mode="apply", agree="true")["state"] == "applied"


def test_a_remembered_rule_is_listed_and_forgotten(server: Server):
    rules = PermissionRules(str(server.state))
    rules.remember(PermissionRule("destroy", "drafts/*", Verdict.ALLOW))
    rules.remember(PermissionRule("move", "*", Verdict.ASK))
    kept = {"tool": "destroy", "path": "drafts/*", "verdict": "allow"}
    assert server.get("/api/agent/rules")["rules"] == [{"tool": "move", "path": "*", "verdict": "ask"}, kept]
    assert server.post("/api/agent/rules", method="DELETE", tool="move", path="*") == {"rules": [kept]}
    assert server.refused("DELETE", "/api/agent/rules", None, 404, tool="move", path="*")["error"] == "not_found"
    assert rules.all() == [PermissionRule("destroy", "drafts/*", Verdict.ALLOW)]
