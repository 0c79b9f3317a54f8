"""One server a folder: it is found, joined, survives being killed, and ends without saving or losing anything."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from redraft.server.discovery import claim_folder, find_server, is_running
from tests.server.serving import PATIENCE, Client, Server, begun, command, ended
from tests.speaking.lines import environment
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def opened_again(folder: Path, *options: str) -> dict[str, str]:
    done = subprocess.run(
        command(folder, *options, verb="open"),
        capture_output=True,
        encoding="utf-8",
        env=environment(folder),
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_second_open_joins_the_first(server: Server, folder: Path):
    joined = opened_again(folder)
    assert (joined["pid"], joined["port"]) == (server.told["pid"], server.port)
    path = joined["enter"].removeprefix(server.url)
    assert Client(server.port).request("GET", path).status == 303
    assert Client(server.port).request("GET", path).status == 401


def test_a_server_is_found_by_a_file_of_its_owners_that_goes_with_it(folder: Path):
    server = begun(folder)
    state = server.state
    found = find_server(str(state))
    assert found is not None
    assert (found.pid, found.port, found.secret) == (server.told["pid"], server.port, server.token)
    assert found.ask("GET", "/api/health") == {"status": "ok", "turns": 0}
    assert (state / "server.json").stat().st_mode & 0o777 == 0o600
    assert ended(server, signal.SIGTERM) == ""
    assert not (state / "server.json").exists()
    assert find_server(str(state)) is None


def test_a_server_that_was_killed_leaves_a_file_that_means_nothing(folder: Path):
    server = begun(folder)
    state = server.state
    assert server.process is not None
    server.process.kill()
    server.process.communicate()
    assert (state / "server.json").exists()
    assert find_server(str(state)) is None
    again = begun(folder)
    assert again.token != server.token
    assert again.get("/api/health")["status"] == "ok"
    assert ended(again) == ""


def test_a_process_number_that_is_used_again_is_not_taken_for_the_server(tmp_path: Path):
    (tmp_path / "server.json").write_text(
        json.dumps({"pid": os.getpid(), "host": "127.0.0.1", "port": 1, "secret": "x", "started": 0}), encoding="utf-8"
    )
    assert find_server(str(tmp_path)) is None
    with claim_folder(str(tmp_path)):
        assert is_running(str(tmp_path))
    assert not is_running(str(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ending_saves_nothing_and_loses_nothing(folder: Path, number: int):
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    server.post(f"/api/tabs/{tab}/type", {"content": "Unsaved.\n" + STORY})
    server.tool("create_document", title="proposed.md", content="Later.\n")
    ended(server, number)
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert not (folder / "proposed.md").exists()
    server = begun(folder)
    assert server.get("/api/documents", path="story.md")["content"] == "Unsaved.\n" + STORY
    assert server.get("/api/workspace")["pending"] == ["proposed.md"]
    assert server.get("/api/tabs")["tabs"][0]["is_dirty"] is True
    ended(server)


def test_who_ends_a_server_is_told_what_is_not_saved(folder: Path):
    words = [word for word in command(folder, verb="open") if word != "--json"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, encoding="utf-8", env=environment(folder))
    assert process.stderr is not None
    said = [process.stderr.readline() for _ in range(2)]
    assert "until Ctrl+C" in said[0]
    address, _, path = said[1].strip().removeprefix("http://").partition("/")
    client = Client(int(address.rpartition(":")[2]))
    cookie = client.request("GET", f"/{path}").headers["set-cookie"].partition(";")[0]
    client.sent = {"Cookie": cookie, "Origin": f"http://{address}"}
    tab = client.post("/api/tabs", {"path": "story.md"})["tab_id"]
    client.post(f"/api/tabs/{tab}/type", {"content": "Unsaved.\n"})
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert "1 document with unsaved typing, which is kept:\n  story.md\n" in err


def test_a_port_that_is_taken_is_told(folder: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = command(folder, "--port", str(taken.getsockname()[1]))
        done = subprocess.run(words, capture_output=True, encoding="utf-8", env=environment(folder), check=False)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "invalid_argument"


def test_mcp_is_served_to_whoever_shows_the_token(server: Server):
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    accepted = {"Accept": "application/json, text/event-stream"}
    answer = server.request("POST", "/mcp", hello, accepted)
    assert answer.status == 200
    assert answer.json["result"]["serverInfo"]["name"] == "redraft"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_what_is_nowhere_is_told_in_the_shape_of_failures(server: Server):
    assert server.refused("GET", "/api/nothing", None, 404)["error"] == "not_found"
    assert server.refused("PATCH", "/api/documents", {}, 405)["error"] == "invalid_argument"


@pytest.mark.parametrize("words", [["--version"], ["status", "--help"], ["mcp", "--help"], ["open", "--help"]])
def test_no_other_command_pays_for_the_server(words: list[str]):
    script = (
        "import sys; from redraft.cli import main; main(sys.argv[1:]);"
        "sys.stderr.write(' '.join(sorted(set(sys.modules) & {'fastapi', 'uvicorn', 'starlette', 'pydantic'})))"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, encoding="utf-8", check=True)
    assert done.stderr == ""
