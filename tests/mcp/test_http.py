"""The protocol over HTTP: who is let in, sessions, streams, and a client that hangs up."""

from __future__ import annotations

import json
import socket
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.mcp_server.transports.http_headers import decode_header
from tests.cli.running import Program
from tests.speaking.lines import PATIENCE, answer_of, envelope
from tests.speaking.posts import Server, events, request, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STORY = "# Story\n\nThe hero John walked in.\n"
PING = request(1, "ping")
READ_LOG = request(0, "tools/call", name="read_document", arguments={"path": "log.md"})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("http") / "notes"
    place.mkdir()
    return place


@pytest.fixture(scope="module")
def running(place: Path) -> Iterator[Server]:
    with serving(place, "--profile", "all") as server:
        yield server


@pytest.fixture
def server(running: Server, place: Path) -> Server:
    """One server for all of these tests, with the story as it was."""
    (place / "story.md").write_text(STORY, encoding="utf-8")
    return running


def wait_for(said: object) -> None:
    """Give what is true in the end some time to become so."""
    end = time.monotonic() + PATIENCE
    while callable(said) and not said():
        assert time.monotonic() < end
        time.sleep(0.01)


# The gate


def test_whoever_has_no_token_is_not_let_in(server: Server) -> None:
    for shown in ("", "Bearer", "Bearer wrong", f"Basic {server.token}", f"Bearer {server.token}x", server.token):
        answer = server.post(PING, Authorization=shown)
        assert (answer.status, answer.headers["www-authenticate"], answer.body) == (401, "Bearer", b"")


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "PUT", "HEAD"])
def test_no_method_goes_around_the_gate(server: Server, method: str) -> None:
    answer = server.exchange(method, None, server.headers(Authorization=""))
    assert answer.status == 401
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"]
)
def test_a_name_that_was_bound_anew_is_not_let_in(server: Server, host: str) -> None:
    assert server.post(PING, Host=host.format(port=server.port)).status == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_a_page_of_somebody_elses_is_not_let_in(server: Server, origin: str) -> None:
    assert server.post(PING, Origin=origin.format(port=server.port)).status == 403


def test_our_own_names_are_let_in(server: Server) -> None:
    name = server.session()
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        assert server.post(PING, Host=host, Origin=f"http://{host}", MCP_Session_Id=name).json["result"] == {}


def test_the_token_is_never_taken_from_the_address(server: Server) -> None:
    bare = server.headers(Authorization="")
    for path in (f"/mcp?token={server.token}", f"/mcp?access_token={server.token}", f"/{server.token}/mcp"):
        assert server.exchange("POST", json.dumps(PING).encode(), bare, path).status == 401
    assert server.exchange("POST", json.dumps(PING).encode(), server.headers(), "/other").status == 404


def test_a_web_socket_is_not_let_in(server: Server) -> None:
    answer = server.exchange("GET", None, {"Connection": "Upgrade", "Upgrade": "websocket"})
    assert answer.status in (401, 403, 421)


def test_only_this_machine_is_listened_to(server: Server) -> None:
    addresses = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), server.port, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        with socket.socket() as outside:
            outside.settimeout(1)
            assert outside.connect_ex((str(address), server.port)) != 0


# The messages


def test_what_is_no_message_is_turned_away(server: Server) -> None:
    name = server.session()
    headers = server.headers(MCP_Session_Id=name)
    bodies = [
        (b"not json", -32700),
        (b"", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b"[%s]" % json.dumps(PING).encode(), -32600),
    ]
    for body, code in bodies:
        answer = server.exchange("POST", body, headers)
        assert (answer.status, answer.json["error"]["code"]) == (400, code)
    assert server.post(PING, Content_Type="text/plain").status == 415
    assert server.post(PING, Accept="text/html").status == 406
    assert server.post(PING, MCP_Session_Id=name, MCP_Protocol_Version="1999-01-01").status == 400
    assert server.exchange("PUT", b"", headers).status == 405
    assert server.post(PING, MCP_Session_Id=name).json["result"] == {}


def test_a_body_that_is_too_large_is_turned_away_unread(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as raw:
        lines = [f"{name}: {value}" for name, value in server.headers().items()]
        size = 1 << 40
        head = "\r\n".join([f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {size}", *lines])
        raw.sendall(head.encode() + b"\r\n\r\n")
        assert b" 413 " in raw.recv(100)


def test_a_session_is_named_and_ends_when_the_client_says_so(server: Server) -> None:
    assert server.post(PING).status == 400
    assert server.post(PING, MCP_Session_Id="nobody").status == 404
    name = server.session()
    assert server.post(PING, MCP_Session_Id=name).json["result"] == {}
    assert server.exchange("DELETE", None, server.headers(MCP_Session_Id=name)).status == 204
    assert server.post(PING, MCP_Session_Id=name).status == 404


def test_sessions_are_callers_of_their_own(server: Server, place: Path) -> None:
    one, two = server.session(), server.session()
    read = request(1, "tools/call", name="read_document", arguments={"path": "story.md"})
    version = answer_of(server.post(read, MCP_Session_Id=one).json["result"])["version"]
    assert answer_of(server.post(read, MCP_Session_Id=two).json["result"])["version"] == version
    edit = {"path": "story.md", "version": version, "start_line": 2, "end_line": 2, "content": "New."}
    write = request(2, "tools/call", name="replace_lines", arguments=edit)
    assert server.post(write, MCP_Session_Id=one).json["result"]["isError"] is False
    stale = server.post(write, MCP_Session_Id=two).json["result"]
    assert answer_of(stale)["error"] == "version_mismatch"
    assert (place / "story.md").read_text(encoding="utf-8") == "# Story\n\nNew.\n"


@pytest.mark.slow
def test_many_clients_at_once_lose_no_update(server: Server, place: Path) -> None:
    """Each puts its own line at the end, again and again, from what it has read."""
    (place / "log.md").write_text("start\n", encoding="utf-8")
    clients, rounds = 8, 10

    def write(client: int) -> None:
        name = server.session()
        for number in range(rounds):
            arguments = {"path": "log.md", "operation": "append", "content": f"{client}-{number}"}
            message = request(number, "tools/call", name="edit_document", arguments=arguments)
            for _ in range(1000):
                result = server.post(message, MCP_Session_Id=name).json["result"]
                if not result["isError"]:
                    break
                assert answer_of(result)["error"] == "version_mismatch"
                server.post(READ_LOG, MCP_Session_Id=name)

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(write, range(clients)))
    lines = (place / "log.md").read_text(encoding="utf-8").split()
    assert sorted(lines[1:]) == sorted(f"{client}-{number}" for client in range(clients) for number in range(rounds))


# Streams


def test_an_answer_that_is_all_there_is_comes_as_json_and_progress_as_a_stream(server: Server) -> None:
    name = server.session()
    plain_call = request(1, "tools/call", name="read_document", arguments={"path": "story.md"})
    answer = server.post(plain_call, MCP_Session_Id=name)
    assert answer.headers["content-type"] == "application/json"
    calls = [{"tool": "read_document", "arguments": {"path": "story.md"}} for _ in range(5)]
    batch = request(2, "tools/call", name="batch", arguments={"calls": calls}, _meta={"progressToken": 5})
    answer = server.post(batch, MCP_Session_Id=name)
    assert answer.headers["content-type"] == "text/event-stream"
    *before, last = answer.events
    assert [event["method"] for event in before] == ["notifications/progress"] * len(before)
    assert before
    assert last["id"] == 2
    answer = server.post(batch, MCP_Session_Id=name, Accept="application/json")
    assert answer.json["id"] == 2, "a client that takes no stream gets the answer alone"


def test_the_person_is_asked_on_the_stream_of_the_call(server: Server, place: Path) -> None:
    name = server.session(elicitation={})
    delete = request(7, "tools/call", name="delete_document", arguments={"path": "story.md"})
    headers = server.headers(MCP_Session_Id=name)
    with server.sent("POST", json.dumps(delete).encode(), headers) as response:
        stream = events(response)
        question = next(stream)
        assert question["method"] == "elicitation/create"
        other = request(8, "tools/call", name="read_document", arguments={"path": "story.md"})
        assert answer_of(server.post(other, MCP_Session_Id=server.session()).json["result"])["content"] == STORY
        yes = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"agree": True}}}
        assert server.post(yes, MCP_Session_Id=name).status == 202
        assert next(stream)["result"]["isError"] is False
    assert not (place / "story.md").exists()


def test_a_client_that_takes_no_stream_cannot_be_asked_and_gets_words(server: Server, place: Path) -> None:
    name = server.session(elicitation={})
    delete = request(7, "tools/call", name="delete_document", arguments={"path": "story.md"})
    answer = server.post(delete, MCP_Session_Id=name, Accept="application/json")
    assert answer_of(answer.json["result"])["error"] == "confirmation_required"
    assert (place / "story.md").exists()


def test_a_session_is_told_of_changes_on_its_own_stream(server: Server, place: Path) -> None:
    name = server.session()
    subscribe = request(1, "resources/subscribe", uri="redraft://documents/story.md")
    assert server.post(subscribe, MCP_Session_Id=name).json["result"] == {}
    (place / "story.md").write_text("before anybody listens\n", encoding="utf-8")
    with server.sent("GET", None, server.headers(MCP_Session_Id=name)) as response:
        stream = events(response)
        assert next(stream)["params"] == {"uri": "redraft://documents/story.md"}
        (place / "story.md").write_text("while somebody listens\n", encoding="utf-8")
        assert next(stream)["method"] == "notifications/resources/updated"
        with server.sent("GET", None, server.headers(MCP_Session_Id=name)) as newer:
            assert list(stream) == [], "a newer stream takes the place of the older"
            (place / "story.md").write_text("and again\n", encoding="utf-8")
            assert next(events(newer))["method"] == "notifications/resources/updated"


@pytest.mark.parametrize("count", [1, 2])
def test_a_client_that_hangs_up_on_a_question_keeps_its_session(server: Server, place: Path, count: int) -> None:
    name = server.session(elicitation={})
    calls = [{"tool": "delete_document", "arguments": {"path": "story.md"}}] * count
    delete = request(7, "tools/call", name="batch", arguments={"calls": calls})
    with server.sent("POST", json.dumps(delete).encode(), server.headers(MCP_Session_Id=name)) as response:
        assert next(events(response))["method"] == "elicitation/create"
    read = request(8, "tools/call", name="read_document", arguments={"path": "story.md"})
    assert answer_of(server.post(read, MCP_Session_Id=name).json["result"])["content"] == STORY
    assert (place / "story.md").exists()


def test_a_call_is_called_off_by_another_post(server: Server, place: Path) -> None:
    name = server.session(elicitation={})
    delete = request(7, "tools/call", name="delete_document", arguments={"path": "story.md"})
    with server.sent("POST", json.dumps(delete).encode(), server.headers(MCP_Session_Id=name)) as response:
        stream = events(response)
        next(stream)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        assert server.post(cancel, MCP_Session_Id=name).status == 202
        assert [event.get("method") for event in stream] == ["notifications/cancelled"]
    assert server.post(PING, MCP_Session_Id=name).json["result"] == {}
    assert (place / "story.md").exists()


# The newer era


def test_a_request_that_speaks_for_itself_needs_no_session(server: Server) -> None:
    answer = server.enveloped("tools/call", envelope(), name="read_document", arguments={"path": "story.md"})
    assert (answer.status, answer_of(answer.json["result"])["content"]) == (200, STORY)
    assert "mcp-session-id" not in answer.headers


def test_an_error_of_the_newer_era_has_a_status(server: Server) -> None:
    assert server.enveloped("surprise", envelope()).status == 404
    other = {**envelope(), "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    answer = server.post(
        request(1, "tools/list", _meta=other), MCP_Protocol_Version="2099-01-01", MCP_Method="tools/list"
    )
    assert (answer.status, answer.json["error"]["code"]) == (400, -32022)
    answer = server.post(request(1, "tools/list", _meta=envelope()), MCP_Method="tools/list")
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
    answer = server.post(
        request(1, "tools/list", _meta=envelope()), MCP_Protocol_Version="2026-07-28", MCP_Method="ping"
    )
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


def test_a_client_of_the_newer_era_that_hangs_up_is_told_no_more(server: Server, place: Path) -> None:
    listen = request(
        3,
        "subscriptions/listen",
        notifications={"resourceSubscriptions": ["redraft://documents/story.md"]},
        _meta=envelope(),
    )
    headers = server.headers(MCP_Protocol_Version="2026-07-28", MCP_Method="subscriptions/listen")
    with server.sent("POST", json.dumps(listen).encode(), headers) as response:
        stream = events(response)
        assert next(stream)["method"] == "notifications/subscriptions/acknowledged"
        (place / "story.md").write_text("changed\n", encoding="utf-8")
        assert next(stream)["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 3}
    (place / "story.md").write_text("changed again\n", encoding="utf-8")
    assert server.enveloped("tools/list", envelope()).status == 200


# The token, and the end


def test_a_token_file_is_made_for_its_owner_alone_and_used_again(folder: Path) -> None:
    kept = folder.parent / "made" / "for-it" / "token"
    with serving(folder, "--token-file", str(kept)) as server:
        token = kept.read_text(encoding="utf-8").strip()
        assert [stat.S_IMODE(each.stat().st_mode) for each in (kept, kept.parent)] == [0o600, 0o700]
        assert token not in "".join(server.said)
        server.token = token
        server.session()
    with serving(folder, "--token-file", str(kept), "--port", str(server.port)) as again:
        again.token = token
        again.session()
        assert again.port == server.port


def test_the_environment_can_name_the_token(folder: Path) -> None:
    token = "a-token-that-is-long-enough"
    with serving(folder, REDRAFT_MCP_TOKEN=token) as server:
        assert token not in "".join(server.said)
        server.token = token
        server.session()


@pytest.mark.parametrize(
    ("mode", "content"), [(0o644, "a-token-that-is-long-enough"), (0o600, "short"), (0o600, "with a blank in it ...")]
)
def test_a_token_that_others_know_or_can_guess_is_refused(folder: Path, mode: int, content: str) -> None:
    kept = folder.parent / "token"
    kept.write_text(content, encoding="utf-8")
    kept.chmod(mode)
    result = Program(folder).run("mcp", ".", "--http", "--token-file", str(kept))
    assert (result.status, content in result.err) == (2, False)


def test_a_port_that_cannot_be_had_is_refused(folder: Path, server: Server) -> None:
    for port in (str(server.port), "70000", "-1"):
        result = Program(folder).run("mcp", ".", "--http", f"--port={port}")
        assert result.status == 2
        assert f"Port {port} cannot be used" in result.err
    assert Program(folder).run("mcp", ".", "--port", "1").status == 2


def test_open_streams_and_questions_do_not_keep_the_server_from_ending(folder: Path) -> None:
    with serving(folder) as server:
        name = server.session(elicitation={})
        ended: list[Any] = []
        opened = threading.Barrier(3)

        def listen(method: str, body: bytes | None) -> None:
            with server.sent(method, body, server.headers(MCP_Session_Id=name)) as response:
                opened.wait(PATIENCE)
                ended.append([response.status, response.read()])

        delete = request(7, "tools/call", name="delete_document", arguments={"path": "story.md"})
        threads = [
            threading.Thread(target=listen, args=("GET", None)),
            threading.Thread(target=listen, args=("POST", json.dumps(delete).encode())),
        ]
        for thread in threads:
            thread.start()
        opened.wait(PATIENCE)
        assert server.post(PING, MCP_Session_Id=name).status == 200
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE
    for thread in threads:
        thread.join(PATIENCE)
    assert [status for status, _ in ended] == [200, 200]
    assert (folder / "story.md").exists()


@given(st.text(max_size=20))
def test_a_header_value_is_plain_or_in_base64(value: str) -> None:
    import base64

    assert decode_header(f"=?base64?{base64.b64encode(value.encode()).decode()}?=") == value
    assert decode_header("=?base64?%?=") is None
