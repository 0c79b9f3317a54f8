"""A client that speaks the protocol line by line with a real process of the program."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.speaking.forking import start_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Message = dict[str, Any]

PATIENCE = 120.0  # far more than it ever takes: only a machine under heavy load comes near
ENVELOPE_VERSION = "2026-07-28"
_KEY = "io.modelcontextprotocol/"


# Every program that a test has started, for `end_programs` to see to.
STARTED: list[subprocess.Popen[Any]] = []


def end_programs(started: list[subprocess.Popen[Any]]) -> None:
    """End what still runs of these, as a test that failed leaves it: its warnings would break another test."""
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                with contextlib.suppress(OSError):
                    stream.close()


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the tester's own: the state lies beside the folder."""
    return {
        "HOME": str(folder.parent),
        "LC_ALL": "C.UTF-8",
        "PATH": os.environ.get("PATH", ""),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        "XDG_STATE_HOME": str(folder.parent / "state"),
        "XDG_CONFIG_HOME": str(folder.parent / "config"),
    }


def program(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "redraft", "mcp", str(folder), *options]


def envelope(name: str = "tester", **capabilities: Any) -> Message:
    """What a request of the newer era says about its sender."""
    return {
        f"{_KEY}protocolVersion": ENVELOPE_VERSION,
        f"{_KEY}clientInfo": {"name": name, "version": "1"},
        f"{_KEY}clientCapabilities": capabilities,
    }


@dataclass(slots=True)
class Lines:
    """One connection. What the server says on its own is kept in `heard`; its questions are answered by `answer`."""

    process: subprocess.Popen[bytes]
    answer: Callable[[Message], Message | None] = lambda _: {"action": "decline"}
    heard: list[Message] = field(default_factory=list[Any])
    meta: Message | None = None
    _number: int = 0
    _read: bytes = b""

    @staticmethod
    def to(folder: Path, *options: str) -> Lines:
        process = start_program(
            program(folder, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(folder),
        )
        STARTED.append(process)
        return Lines(process)

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds: float = PATIENCE) -> Message | None:
        """The next message, or None after so many seconds without one."""
        assert self.process.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._read:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def must_receive(self) -> Message:
        message = self.receive()
        assert message is not None, "nothing came"
        return message

    def request(self, method: str, **parameters: Any) -> int:
        """Send a request and do not wait."""
        self._number += 1
        meta = {**(self.meta or {}), **parameters.pop("_meta", {})}
        given = {**parameters, "_meta": meta} if meta else parameters
        self.send({"id": self._number, "method": method, "params": given})
        return self._number

    def response(self, number: int) -> Message:
        """The answer to a request; what else comes before it is dealt with."""
        while True:
            message = self.must_receive()
            if "method" not in message and message["id"] == number:
                return message
            self.deal_with(message)

    def deal_with(self, message: Message) -> None:
        self.heard.append(message)
        if "method" in message and "id" in message:
            result = self.answer(message["params"])
            if result is not None:
                self.send({"id": message["id"], "result": result})

    def ask(self, method: str, **parameters: Any) -> Message:
        return self.response(self.request(method, **parameters))

    def start(self, name: str = "tester", protocol: str = "2025-06-18", **capabilities: Any) -> Message:
        """Shake hands."""
        information = {"name": name, "version": "1"}
        answer = self.ask("initialize", protocolVersion=protocol, capabilities=capabilities, clientInfo=information)
        self.send({"method": "notifications/initialized"})
        return answer["result"]

    def call(self, tool: str, /, **arguments: Any) -> Message:
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def told(self, method: str, seconds: float = PATIENCE) -> Message | None:
        """The next notification of this kind, heard already or still to come; None if there is none in time."""
        end = time.monotonic() + seconds
        while True:
            for at, message in enumerate(self.heard):
                if message.get("method") == method:
                    return self.heard.pop(at)
            message = self.receive(max(0.0, end - time.monotonic()))
            if message is None:
                return None
            self.deal_with(message)

    def close(self) -> str:
        """End the input; the program ends with it, content. What it said beside the protocol."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> str:
        """Wait for the program's end, which must be a clean one."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        assert self.process.wait(PATIENCE) == 0
        told = self.process.stderr.read().decode()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return told


def answer_of(result: Message) -> Message:
    """What a tool answered, in whichever form it came."""
    return result["structuredContent"] if "structuredContent" in result else json.loads(result["content"][0]["text"])
