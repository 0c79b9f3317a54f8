"""Clients that do not keep to the protocol: each is told so or let go, the next message works, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.mcp_server.protocol import ProtocolError, as_text, decode, encode, load_orjson
from tests.speaking.lines import PATIENCE, Lines, answer_of

if TYPE_CHECKING:
    from pathlib import Path

STORY = "# Story\n\nThe hero John walked in.\n"
FRAMES: list[tuple[bytes, int]] = [
    (b"not json", -32700),
    (b'{"id": 1, "method": "ping"', -32700),
    (b"\xff\xfe\x00", -32700),
    (b'{"id": 1, "method": "\xff"}', -32700),
    (b"[" * 100_000, -32700),
    (b"NaN and more", -32700),
    (b"[1]", -32600),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    (b'"ping"', -32600),
    (b"null", -32600),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    (b'{"id": null, "method": "ping"}', -32600),
    (b'{"id": {}, "method": "ping"}', -32600),
    (b'{"id": 1.5, "method": "ping"}', -32600),
    (b'{"id": true, "method": "ping"}', -32600),
    (b'{"id": 7, "method": "surprise"}', -32601),
    (b'{"id": 7, "method": ["ping"]}', -32601),
    (b'{"id": 7, "method": "tools/list", "params": [1]}', -32602),
    (b'{"id": 7, "method": "tools/call", "params": {}}', -32602),
    (b'{"id": 7, "method": "tools/call", "params": {"name": "read_document", "arguments": []}}', -32602),
    (b'{"id": 7, "method": "tools/call", "params": {"name": "read_document", "arguments": "x"}}', -32602),
]
SILENT: list[bytes] = [
    b"",
    b"   ",
    b'{"method": "notifications/surprise"}',
    b'{"method": "notifications/initialized"}',
    b'{"method": "notifications/cancelled"}',
    b'{"method": "notifications/cancelled", "params": 7}',
    b'{"id": "ask-1", "result": {"action": "accept"}}',
    b'{"id": 99, "error": {}}',
    b"{}",
]


@pytest.mark.slow
def test_a_bad_message_is_answered_and_the_next_one_works(client: Lines) -> None:
    for line, code in FRAMES:
        client.send(line)
        assert client.must_receive()["error"]["code"] == code, line[:80]
        assert client.ask("ping")["result"] == {}, line[:80]


@pytest.mark.slow
def test_what_needs_no_answer_gets_none_even_before_the_handshake(client: Lines) -> None:
    for line in SILENT:
        client.send(line)
        assert client.ask("ping")["result"] == {}, line
    assert client.heard == []


def test_half_of_a_surrogate_pair_gets_an_answer_in_words(client: Lines, folder: Path) -> None:
    client.start()
    for _ in range(2):  # with the encoder of the start, and with the fast one that follows it
        client.send(
            b'{"id": 50, "method": "tools/call", "params": {"name": "create_document",'
            b' "arguments": {"title": "a.md", "content": "\\ud83d"}}}'
        )
        answer = client.response(50)
        assert answer["result"]["isError"] is True
        client.ask("tools/list")
    assert not (folder / "a.md").exists()


@pytest.mark.slow
def test_a_line_that_is_too_long_is_let_go_to_its_end(client: Lines, folder: Path) -> None:
    piece = b"x" * (1 << 20)
    stdin = client.process.stdin
    assert stdin is not None
    for _ in range(129):
        stdin.write(piece)
    stdin.write(b"\n")
    stdin.flush()
    assert client.must_receive()["error"]["code"] == -32600
    assert client.ask("ping")["result"] == {}


@pytest.mark.slow
def test_a_thousand_calls_at_once_are_answered_each_and_in_their_order(client: Lines, folder: Path) -> None:
    client.start()
    count = 1000
    calls = [
        {
            "id": f"r{number}",
            "method": "tools/call",
            "params": {"name": "read_document", "arguments": {"path": "story.md"}},
        }
        if number % 10
        else {
            "id": f"r{number}",
            "method": "tools/call",
            "params": {"name": "create_document", "arguments": {"title": f"n{number}.md", "content": "x\n"}},
        }
        for number in range(count)
    ]
    writer = threading.Thread(target=lambda: [client.send(call) for call in calls])
    writer.start()
    answers = [client.must_receive() for _ in range(count)]
    writer.join()
    assert [answer["id"] for answer in answers] == [call["id"] for call in calls]
    assert all(answer["result"]["isError"] is False for answer in answers)
    assert len(list(folder.glob("n*.md"))) == count // 10


def test_what_was_asked_before_the_end_of_the_input_is_still_answered(folder: Path) -> None:
    client = Lines.to(folder)
    numbers = [
        client.request("tools/call", name="create_document", arguments={"title": f"n{number}.md"})
        for number in range(20)
    ]
    assert client.process.stdin is not None
    client.process.stdin.close()
    for number in numbers:
        assert client.response(number)["result"]["isError"] is False
    assert client.ended() == ""
    assert len(list(folder.glob("n*.md"))) == 20


def test_a_last_line_without_an_end_is_a_message_too(folder: Path) -> None:
    client = Lines.to(folder)
    assert client.process.stdin is not None
    client.process.stdin.write(b'{"id": 1, "method": "ping"}')
    client.process.stdin.close()
    assert client.must_receive()["result"] == {}
    assert client.ended() == ""


@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_the_program_cleanly(folder: Path, busy: bool) -> None:
    client = Lines.to(folder)
    client.start(elicitation={})
    client.answer = lambda _: None
    if busy:  # the running call waits for a person, another one waits for it
        client.request("tools/call", name="delete_document", arguments={"path": "story.md"})
        assert client.told("elicitation/create") is not None
        client.request("tools/call", name="create_document", arguments={"title": "late.md"})
    client.process.send_signal(signal.SIGTERM)
    assert client.ended() == ""
    assert sorted(path.name for path in folder.glob("*.md")) == ["story.md"]


@pytest.mark.slow
def test_a_signal_amid_a_thousand_calls_leaves_only_whole_turns(folder: Path) -> None:
    client = Lines.to(folder)
    client.start()
    for number in range(300):
        client.request("tools/call", name="create_document", arguments={"title": f"n{number}.md", "content": "whole\n"})
    client.must_receive()
    client.process.send_signal(signal.SIGTERM)
    assert client.ended() == ""
    made = list(folder.glob("n*.md"))
    assert made
    assert all(path.read_text(encoding="utf-8") == "whole\n" for path in made)


def test_a_client_that_stops_listening_is_let_go(folder: Path) -> None:
    client = Lines.to(folder)
    client.start()
    assert client.process.stdout is not None
    assert client.process.stdin is not None
    client.process.stdout.close()
    end = time.monotonic() + PATIENCE
    with contextlib.suppress(BrokenPipeError):
        while client.process.poll() is None and time.monotonic() < end:
            client.send({"id": 1, "method": "tools/list"})
            time.sleep(0.01)
    assert client.process.wait(PATIENCE) == 0
    assert client.process.stderr is not None
    assert client.process.stderr.read() == b""
    client.process.stderr.close()
    with contextlib.suppress(BrokenPipeError):
        client.process.stdin.close()


def test_the_program_says_nothing_but_protocol(folder: Path) -> None:
    (folder / ".redraft").mkdir()
    (folder / ".redraft" / "settings.toml").write_text("broken [", encoding="utf-8")
    client = Lines.to(folder)
    client.start()
    refused = client.call("edit_text", path="story.md", old_text="John", new_text="James")
    assert answer_of(refused)["error"] == "mode_refuses"
    assert "settings.toml" in client.close()


# The wire itself

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(st.characters()), VALUES, max_size=4))
def test_a_message_is_one_line_and_comes_back_as_it_was(message: dict[str, Any]) -> None:
    load_orjson()
    line = encode(message)
    assert b"\n" not in line
    assert json.loads(line) == {"jsonrpc": "2.0", **message}
    assert json.loads(as_text(message)) == message


@given(st.binary(max_size=60))
def test_bytes_are_what_the_standard_library_says_or_a_fault(data: bytes) -> None:
    load_orjson()
    try:
        expected: Any = json.loads(data)
    except (ValueError, RecursionError):
        with pytest.raises(ProtocolError):
            decode(data)
    else:
        found = decode(data)
        assert found == expected or found != found  # a NaN equals nothing
