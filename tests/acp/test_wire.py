"""The wire itself: what is no message, what is malformed, what else is written, and how the program ends."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import COMMAND, PATIENCE

if TYPE_CHECKING:
    from tests.cli.running import Program

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def answers(redraft: Program, *lines: object) -> dict[Any, Any]:
    """What comes back, by the request's id; every line of the output has to be a message."""
    sent = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    done = redraft.bytes("acp", stdin=sent)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in found)
    return {message.get("id"): message for message in found if "method" not in message}


def code_of(message: dict[str, Any]) -> int:
    return message["error"]["code"]


@pytest.mark.covers("RD-acp-errors")
def test_malformed_requests_are_answered_as_the_protocol_says(redraft: Program):
    found = answers(
        redraft,
        INITIALIZE,
        request(1, "session/new"),
        request(2, "session/new", cwd=7, mcpServers=[]),
        request(3, "session/nonsense"),
        request(4, "session/prompt", sessionId="sess_1", prompt="no list"),
        request(5, "authenticate", methodId="nonsense"),
        request(6, "authenticate", methodId="settings"),
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "sess_1"}},
        {"jsonrpc": "2.0", "method": "session/nonsense", "params": {}},
    )
    assert [code_of(found[number]) for number in range(1, 6)] == [-32602, -32602, -32601, -32602, -32602]
    assert found[6]["result"] == {}


@pytest.mark.parametrize(
    ("line", "code"), [(b"{nonsense", -32700), (b"[1, 2]", -32600), (b"7", -32600), (b"[" * 100_000, -32700)]
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_read(redraft: Program, line: bytes, code: int):
    found = answers(redraft, line, b"", INITIALIZE)
    assert (code_of(found[None]), found[0]["result"]["protocolVersion"]) == (code, 1)


def started(redraft: Program) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "acp"],
        cwd=redraft.folder,
        env=redraft.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.covers("RD-acp-stdout")
def test_the_program_ends_with_its_input_whatever_it_is_doing(redraft: Program):
    script = redraft.home / "play.jsonl"
    script.write_text(json.dumps({"text": "Never.", "delay_ms": 60_000}), encoding="utf-8")
    redraft.settings(f'[models.play]\nkind = "scripted"\nfile = "{script}"\n[routing]\nagent_mode = "local"\n')
    with started(redraft) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None

        def ask(message: dict[str, Any]) -> Any:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.write(json.dumps(message).encode() + b"\n")
            program.stdin.flush()
            return json.loads(program.stdout.readline())

        ask(INITIALIZE)
        session = ask(request(1, "session/new", cwd=str(redraft.folder), mcpServers=[]))["result"]["sessionId"]
        program.stdout.readline()  # the commands
        blocks = [{"type": "text", "text": "Wait"}]
        program.stdin.write(json.dumps(request(2, "session/prompt", sessionId=session, prompt=blocks)).encode() + b"\n")
        program.stdin.close()
        assert program.wait(PATIENCE) == 0
        assert program.stderr.read() == b""


def test_a_signal_ends_it_in_order(redraft: Program):
    with started(redraft) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        program.stdin.flush()
        program.stdout.readline()
        program.send_signal(signal.SIGTERM)
        assert program.wait(PATIENCE) == 0
        assert program.stderr.read() == b""


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(redraft: Program):
    told = redraft.run("acp", "nowhere")
    assert (told.status, told.out) == (4, "")
    assert "nowhere" in told.err
