"""A server for a team: nobody without a user's token, each in their role, and everybody by their name."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import RedraftError
from redraft.server.auth.callers import COOKIE_SECONDS, OWNER, Keys, Users
from redraft.server.auth.gate import RateLimit
from redraft.server.discovery import find_server
from tests.server import test_jobs as jobs
from tests.server.serving import Answer, Client, Server, begun, command, ended
from tests.speaking.forking import run_program
from tests.speaking.lines import PATIENCE, environment

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = "https://redraft.example.org"
TEAM = ("--host", "0.0.0.0", "--public", PUBLIC)


def redraft(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-W", "error", "-m", "redraft", *words, "--json", "--folder", str(folder)]
    return run_program(line, env=environment(folder), timeout=PATIENCE)


def admitted(folder: Path, name: str, role: str) -> str:
    return json.loads(redraft(folder, "users", "add", name, "--role", role).stdout)["token"]


def client(server: Server, token: str) -> Client:
    return Client(server.port, token, {"Host": "redraft.example.org"})


@pytest.mark.slow
def test_a_server_for_others_has_users_and_a_public_address(folder: Path):
    for options in (TEAM[:2], TEAM):
        done = subprocess.run(
            command(folder, *options), capture_output=True, encoding="utf-8", env=environment(folder), check=False
        )
        assert done.returncode == 2
        assert ("TLS" if options == TEAM[:2] else "redraft users add") in json.loads(done.stdout)["message"]


@pytest.mark.slow
def test_roles_names_and_removal(folder: Path):
    anna, bob, vera = (admitted(folder, *each) for each in (("anna", "editor"), ("bob", "admin"), ("vera", "viewer")))
    server = begun(folder, *TEAM)
    editor, admin, viewer = (client(server, token) for token in (anna, bob, vera))
    _check_viewer(viewer)
    editor.post("/api/documents", {"path": "anna.md", "content": "By Anna.\n"})
    admin.tool("edit_text", path="anna.md", old_text="Anna", new_text="all")
    editor.post("/api/review/accept", {"all": True})
    names = [turn["author"]["name"] for turn in viewer.get("/api/turns")["turns"]]
    assert names == ["anna", "agent for bob", "anna"]
    assert "person:anna" in {line["author"] for line in viewer.get("/api/audit")["entries"]}
    assert editor.refused("POST", "/api/visit", None, 403)["error"] == "not_allowed"
    assert editor.refused("PUT", "/api/settings", {"mode": "apply"}, 403)["error"] == "not_allowed"
    assert admin.post("/api/visit")["path"].startswith("/enter?key=")
    joined = json.loads(subprocess.run(command(folder, verb="open"), capture_output=True, encoding="utf-8",
                                       env=environment(folder), check=True).stdout)  # fmt: skip
    assert joined["enter"].startswith(f"{PUBLIC}/enter?key=")
    _check_page(server, anna)
    redraft(folder, "users", "remove", "anna")
    assert editor.refused("GET", "/api/turns", None, 401)["error"] == "unauthenticated"
    assert anna not in (server.state / "users.json").read_text(encoding="utf-8")
    ended(server)


def speak(anyone: Client, where: str, number: int, method: str, /, session: str = "", **parameters: Any) -> Answer:
    accepted = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    return anyone.request("POST", where, message, accepted)


@pytest.mark.slow
def test_what_agents_do_for_a_person_and_what_a_person_decides_about_a_job_carries_their_name(folder: Path):
    anna, bob = admitted(folder, "anna", "editor"), admitted(folder, "bob", "editor")
    edit = {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}
    server = jobs.serving(
        folder, {"calls": [{"tool": "edit_text", "arguments": edit}]}, {"text": "Done."}, options=TEAM
    )
    one, other = client(server, anna), client(server, bob)
    hello: dict[str, Any] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "scribe", "version": "1"},
    }
    session = speak(one, "/mcp", 1, "initialize", **hello).headers["mcp-session-id"]
    change = {"path": "story.md", "old_text": "twice", "new_text": "thrice"}
    assert speak(one, "/mcp", 2, "tools/call", session, name="edit_text", arguments=change).status == 200
    assert speak(other, "/mcp", 3, "tools/list", session).status == 404, "a session is its user's alone"
    assert speak(one, "/mcp?mode=all", 4, "initialize", **hello).status == 422
    assert speak(one, "/mcp?modes=read", 5, "initialize", **hello).status == 422
    job = jobs.until(one, jobs.run(one), "awaiting_review")
    [file] = job["diff_bundle"]["files"]
    taken = {"session_id": job["session_id"], "job_id": job["job_id"]}
    other.post("/api/agent/apply", {**taken, "accepted_hunk_ids": [hunk["hunk_id"] for hunk in file["hunks"]]})
    turns = [(turn["kind"], turn["author"]["name"]) for turn in one.get("/api/turns")["turns"]]
    assert turns[0] == ("accept", "bob")
    assert turns[-1] == ("propose", "scribe for anna")
    assert {"agent:scribe for anna", "person:bob"} <= {line["author"] for line in one.get("/api/audit")["entries"]}
    ended(server)


def _check_viewer(viewer: Client) -> None:
    """A viewer reads, by the routes and by the tools that read; every route that writes is closed to them."""
    from tests.server.test_locked_down import ROUTES

    assert viewer.get("/api/workspace")["caller"] == {"name": "vera", "role": "viewer", "at_home": False}
    assert viewer.tool("read_document", path="story.md")["path"] == "story.md"
    # Tools that read, the two that only compute (markdown as a rich document, and back), and what they look at.
    open_to_all = {"/api/tools", "/api/tools/1", "/api/rich/parse", "/api/rich/serialise", "/api/tabs/front"}
    for method, path in ROUTES:
        if method not in ("GET", "HEAD") and path not in open_to_all:
            assert viewer.request(method, path, {}).status == 403, (method, path)
    told = viewer.refused("POST", "/api/tools/edit_text", {"path": "story.md"}, 403)
    assert told["error"] == "not_allowed"
    calls: dict[str, Any] = {"calls": [{"id": "1", "name": "create_document", "arguments": {"title": "x.md"}}]}
    assert viewer.refused("POST", "/api/tools", calls, 403)["error"] == "not_allowed"


def _check_page(server: Server, token: str) -> None:
    """A browser comes in by the form of the page that it is shown, from that page alone."""
    stranger = Client(server.port, sent={"Host": "redraft.example.org", "Accept": "text/html"})
    shown = stranger.request("GET", "/")
    assert (shown.status, b'action="/enter"' in shown.body) == (401, True)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert stranger.request("POST", "/enter", f"token={token}".encode(), form).status == 401
    foreign = {**form, "Origin": "https://evil.example"}
    assert stranger.request("POST", "/enter", f"token={token}".encode(), foreign).status == 403
    own = {**form, "Origin": PUBLIC}
    assert stranger.request("POST", "/enter", b"token=wrong", own).status == 401
    entered = stranger.request("POST", "/enter", f"token={token}".encode(), own)
    assert entered.status == 303
    parts = {part.strip() for part in entered.headers["set-cookie"].split(";")}
    assert {"Secure", "HttpOnly", "SameSite=Strict"} <= parts
    [cookie] = [part for part in parts if part.startswith("__Host-redraft=")]
    inside = Client(server.port, sent={"Host": "redraft.example.org", "Cookie": cookie})
    assert inside.get("/api/workspace")["caller"]["name"] == "anna"


def test_a_cookie_ends_with_its_time_and_its_user(tmp_path: Path):
    now = [1000.0]
    users = Users(str(tmp_path))
    token = users.add("anna", "editor")
    keys = Keys(str(tmp_path), users, "secret", cookie="c", clock=lambda: now[0])
    anna = keys.by_token(token)
    assert anna is not None
    cookie = keys.cookie_for(anna)
    known = keys.by_cookie(cookie)
    assert known is not None
    assert (known.name, known.role, known.by_cookie) == ("anna", "editor", True)
    again = Keys(str(tmp_path), Users(str(tmp_path)), "another", cookie="c", clock=lambda: now[0])
    assert again.by_cookie(cookie) == known
    assert Keys(str(tmp_path), users, "secret", cookie="other").by_cookie(cookie) is None
    now[0] += COOKIE_SECONDS + 1
    assert keys.by_cookie(cookie) is None
    now[0] = 1000.0
    users.remove("anna")
    users.add("anna", "admin")
    assert keys.by_cookie(cookie) is None
    assert keys.by_token(token) is None


@pytest.mark.parametrize("cookie", ["", "..", "a.b.c", "eW91.99999999999.", "\u00fc.1.2", "eW91.1.2.3", "=.9.x"])
def test_nonsense_is_no_cookie(tmp_path: Path, cookie: str):
    assert Keys(str(tmp_path), Users(str(tmp_path)), "secret", cookie="c").by_cookie(cookie) is None


def test_a_key_for_one_visit_is_soon_too_old(tmp_path: Path):
    now = [1000.0]
    keys = Keys(str(tmp_path), Users(str(tmp_path)), "secret", cookie="c", clock=lambda: now[0])
    key, later = keys.visit(OWNER), keys.visit(OWNER)
    assert keys.redeem(key) is not None
    assert keys.redeem(key) is None
    now[0] += 601
    assert keys.redeem(later) is None


@pytest.mark.slow
def test_nobody_is_added_under_a_name_that_history_uses_or_that_reads_like_anothers(folder: Path):
    admitted(folder, "boss", "editor")
    refused = {"You": "invalid_argument", "agent": "invalid_argument", "OUTSIDE": "invalid_argument",
               "person": "invalid_argument", "BOSS": "already_exists", "boss": "already_exists"}  # fmt: skip
    for name, code in refused.items():
        assert json.loads(redraft(folder, "users", "add", name).stdout)["error"] == code, name
    assert [user["name"] for user in json.loads(redraft(folder, "users", "list").stdout)["users"]] == ["boss"]


@pytest.mark.parametrize("name", ["", "you", "a b", "\u00fcber", ".x", "x" * 65, "a/b", "a\n"])
def test_a_name_that_could_mislead_is_refused(tmp_path: Path, name: str):
    with pytest.raises(RedraftError):
        Users(str(tmp_path)).add(name, "viewer")


def test_a_list_of_users_that_cannot_be_read_lets_nobody_in(tmp_path: Path):
    users = Users(str(tmp_path))
    token = users.add("anna", "editor")
    for damaged in ("", "[", '[{"name": "anna"}]', '[{"name":"a","role":"god","digest":"x","added":1}]'):
        (tmp_path / "users.json").write_text(damaged, encoding="utf-8")
        with pytest.raises(RedraftError):
            Users(str(tmp_path)).by_token(token)


def test_a_pace_allows_a_burst_and_then_so_many_a_second():
    now = [0.0]
    pace = RateLimit(10, 5, lambda: now[0])
    assert [pace.allows("a") for _ in range(6)] == [True] * 5 + [False]
    assert pace.allows("b")
    now[0] += 0.25
    assert [pace.allows("a") for _ in range(3)] == [True, True, False]
    now[0] += 100
    assert sum(pace.allows("a") for _ in range(10)) == 5


@pytest.mark.slow
def test_a_server_may_listen_at_the_other_loopback_address(folder: Path):
    if not socket.has_ipv6:
        pytest.skip("this machine speaks no IPv6")
    server = begun(folder, "--host", "::1")
    found = find_server(str(server.state))
    assert found is not None
    assert found.url == f"http://[::1]:{server.port}"
    assert found.ask("GET", "/api/health")["status"] == "ok"
    ended(server)
