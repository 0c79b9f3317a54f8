"""What a refusal suggests fits what was refused; and whether the server is well, anybody may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import Client

if TYPE_CHECKING:
    from tests.server.serving import Server

pytestmark = pytest.mark.slow

MISSING: list[tuple[str, str, Any, str]] = [
    ("GET", "/api/agent/jobs/none", None, "jobs"),
    ("GET", "/api/agent/jobs/none/events", None, "jobs"),
    ("GET", "/api/agent/jobs/none/events/stream", None, "jobs"),
    ("POST", "/api/agent/jobs/none/cancel", None, "jobs"),
    ("GET", "/api/agent/sessions/none", None, "sessions"),
    ("POST", "/api/agent/run", {"session_id": "none", "instruction": "Please."}, "sessions"),
    ("DELETE", "/api/agent/rules?tool=none&path=none", None, "rules"),
    ("DELETE", "/api/agent/macros/none", None, "macros"),
    ("GET", "/api/nothing", None, "Check"),
    ("GET", "/api/tabs/tab_99", None, "tabs"),
    ("GET", "/api/turns/99", None, "turns"),
    ("POST", "/api/tools/none", {}, "tools"),
    ("POST", "/api/trash/restore", {"path": "none.md"}, "trash"),
    ("POST", "/api/tools/get_changes_since", {"path": "story.md", "version": "0" * 16}, "Read the document"),
    ("POST", "/api/review/accept", {"hunks": {"story.md": ["h_none"]}}, "review"),
    ("POST", "/api/agent/checkpoints/99/rollback", {"mode": "hard_all"}, "turns"),
    ("GET", "/api/documents?path=none.md", None, "documents"),
    ("POST", "/api/tools/batch", {"calls": [{"tool": "read_document", "arguments": {"path": "none.md"}}]}, "documents"),
]


@pytest.mark.covers("RD-errors-advice")
def test_what_is_missing_is_what_the_suggestion_speaks_of(server: Server):
    for method, path, body, word in MISSING:
        refused = server.refused(method, path, body, 404)
        assert word in refused["suggestion"], (path, refused)
        assert ("documents" in refused["suggestion"]) == (word == "documents"), (path, refused)


@pytest.mark.covers("RD-server-health")
def test_whether_the_server_is_well_is_told_without_a_token_and_nothing_else(server: Server):
    anybody = Client(server.port)
    assert anybody.get("/api/health") == {"status": "ok"}
    assert server.get("/api/health") == {"status": "ok", "turns": 0}
    for path in ("/api/version", "/api/workspace", "/api/health/", "/api/HEALTH"):
        assert anybody.request("GET", path).status == 401, path
    assert anybody.request("POST", "/api/health").status == 401
    name = server.cookie().partition("=")[0]
    for proof in ({"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}, {"Cookie": f"{name}=wrong"}):
        for _ in range(40):  # more than an address may fail elsewhere
            answer = anybody.request("GET", "/api/health", headers=proof)
            assert (answer.status, answer.body) == (200, b'{"status":"ok"}'), proof
        assert anybody.request("GET", "/api/version", headers=proof).status in (401, 429)
    assert anybody.request("GET", "/api/health", headers={"Host": "evil.example.org"}).status == 403
    for _ in range(40):
        assert anybody.get("/api/health") == {"status": "ok"}
    assert anybody.request("GET", "/api/workspace").status == 401, "asking is no failure that counts"
