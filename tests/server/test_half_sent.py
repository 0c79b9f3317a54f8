"""Connections that send half a request and no more are let go, and keep nobody else out."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.server.live.people import Person
from tests.server.serving import serving
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
HEAD_SECONDS = 20.0


def dial(server: Server, data: bytes) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=HEAD_SECONDS + PATIENCE)
    found.sendall(data)
    return found


def received(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection, or resets it for what was sent after that."""
    parts: list[bytes] = []
    with connection, contextlib.suppress(ConnectionResetError):
        while data := connection.recv(65536):
            parts.append(data)
    return b"".join(parts)


@pytest.mark.covers("RD-server-half-sent")
def test_a_half_sent_request_is_closed_after_a_while_but_no_stream_and_no_connection_that_is_kept(server: Server):
    head = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    stream = dial(server, f"GET /api/changes/stream HTTP/1.1\r\n{head}".encode())
    kept = dial(server, f"GET /api/version HTTP/1.1\r\n{head}".encode())
    with stream, kept:
        for connection in (stream, kept):
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        check_half_sent_requests_are_closed(server)  # which takes as long as a half-sent request may
        kept.sendall(f"GET /api/version HTTP/1.1\r\n{head}".encode())
        while not (told := kept.recv(65536)).startswith(b"HTTP/1.1 200 "):
            assert told, "it was ended"
        server.post("/api/documents", {"path": "new.md", "content": "New.\n"})
        heard = b""
        while b"new.md" not in heard:
            more = stream.recv(65536)
            assert more, "it was ended"
            heard += more


def check_half_sent_requests_are_closed(server: Server) -> None:
    """Whether nothing is sent, half of a request, or one byte of it after the other."""
    began = time.monotonic()
    half = f"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Slow: ".encode()
    silent, cut = dial(server, b""), dial(server, half)
    trickling = dial(server, half)
    ended = threading.Event()

    def trickle() -> None:
        while not ended.wait(0.5):
            try:
                trickling.sendall(b"x")
            except OSError:
                return

    thread = threading.Thread(target=trickle)
    thread.start()
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(received, (silent, cut, trickling)))
    ended.set()
    thread.join()
    assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers[:2]), answers
    # A byte that trickles in after the end resets the connection, and may take the answer with it.
    assert answers[2].startswith(b"HTTP/1.1 408 ") or answers[2] == b"", answers
    assert time.monotonic() - began < HEAD_SECONDS + PATIENCE
    assert server.get("/api/workspace")["name"] == "notes"


@pytest.mark.covers("RD-server-half-sent")
def test_a_body_that_does_not_come_is_waited_for_as_long_as_the_settings_say(folder: Path):
    settings = folder.parent / "config" / "redraft" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[server]\nbody_seconds = 3\n", encoding="utf-8")
    with serving(folder) as server:
        head = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
        post = f"POST /api/documents HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 60\r\n\r\n"
        began = time.monotonic()
        cut = dial(server, f'{post}{{"path": "half.md", '.encode())
        trickling = dial(server, post.encode())
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(received, (cut, trickling))
            with contextlib.suppress(OSError):  # the end of the connection
                for _ in range(40):
                    trickling.sendall(b" ")
                    time.sleep(0.25)  # ten seconds in all: far longer than a body may take
                pytest.fail("a body may trickle for ten seconds")
            first, second = answers
        assert 3 <= time.monotonic() - began < 3 + PATIENCE
        assert first.startswith(b"HTTP/1.1 408 ")
        assert second.startswith(b"HTTP/1.1 408 ") or second == b""
        assert not (folder / "half.md").exists()
        assert server.post("/api/documents", {"path": "whole.md", "content": "Whole.\n"})["path"] == "whole.md"


@pytest.mark.covers("RD-server-half-sent")
def test_a_head_that_does_not_come_and_a_body_that_falls_silent_have_the_time_that_the_environment_says(folder: Path):
    with serving(folder, REDRAFT_SERVER_HEAD_SECONDS="2") as server:
        host = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
        post = f"POST /api/documents HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 42\r\n\r\n"
        began = time.monotonic()
        silent = dial(server, f'{post}{{"path": "half.md", '.encode())
        cut = dial(server, b"GET /api/health HTTP/1.1\r\nX-Slow: ")
        with dial(server, post.encode()) as slow:
            for byte in b'{"path": "slow.md", "content": "Whole.\\n"}':
                slow.sendall(bytes([byte]))
                time.sleep(0.1)  # four seconds in all: no part of it is late
            assert b"HTTP/1.1 20" in slow.recv(65536)
        assert received(cut).startswith(b"HTTP/1.1 408 ")
        assert received(silent).startswith(b"HTTP/1.1 408 ")
        assert 2 <= time.monotonic() - began < HEAD_SECONDS
        assert (folder / "slow.md").read_text(encoding="utf-8") == "Whole.\n"


@pytest.mark.covers("RD-server-rooms")
def test_rooms_that_come_and_go_fail_nobody_who_joins(server: Server, folder: Path):
    for number in range(120):
        (folder / f"page-{number}.md").write_text(f"Page {number}.\n", encoding="utf-8")

    def join(number: int) -> int:
        return server.request("GET", "/api/live", query={"path": f"page-{number}.md"}).status

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(join, range(120))) == {200}


@pytest.mark.covers("RD-server-half-sent")
def test_a_live_document_stays_connected_for_longer_than_a_request_may_take(folder: Path):
    with serving(folder, REDRAFT_SERVER_HEAD_SECONDS="1") as server:
        host = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
        half = f"POST /api/documents HTTP/1.1\r\n{host}Content-Length: 42\r\n\r\n{{".encode()

        async def pause() -> None:
            person = await Person(server).join()
            for _ in range(2):
                assert (await asyncio.to_thread(received, dial(server, half))).startswith(b"HTTP/1.1 408 ")
            assert person.closed is None
            person.type(0, "Still here. ")
            await person.sent()
            await person.leave()

        asyncio.run(pause())
        assert server.get("/api/documents", path="story.md")["content"].startswith("Still here. ")
