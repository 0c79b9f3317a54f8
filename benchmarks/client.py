"""The least client that speaks MCP over the standard streams: the same code, and so the same cost, for every server.

The clock runs from the first byte written to the last byte of the answer read. Building the question and parsing the
answer lie outside it, so that a server is not charged for what this client does.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PROTOCOL = "2025-06-18"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool said, and how long the client waited for it."""

    text: str
    failed: bool
    seconds: float


class Client:
    """One server process and the two pipes to it."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=1 << 20,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._sink, self._source = self.process.stdin, self.process.stdout
        self._number = 0

    def start(self) -> None:
        """Shake hands; a server that does not is closed."""
        who = {"name": "redraft-benchmark", "version": "1"}
        try:
            self.ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": who})
            self._write({"method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise

    def ask(self, method: str, parameters: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """The result, and the seconds until it was here."""
        self._number += 1
        question = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        line = json.dumps(question, ensure_ascii=False).encode() + b"\n"
        start = time.perf_counter()
        self._sink.write(line)
        self._sink.flush()
        while True:
            received = self._source.readline()
            seconds = time.perf_counter() - start
            if not received:
                raise ConnectionError(f"The server ended during {method}, with status {self.process.wait(10)}.")
            message: dict[str, Any] = json.loads(received)
            if "method" in message:
                self._refuse(message)
            elif message["id"] == self._number:
                if "error" in message:
                    raise ConnectionError(f"{method}: {message['error']}")
                return message["result"], seconds

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result, seconds = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result["content"])
        return Answer(text, bool(result.get("isError")), seconds)

    def close(self) -> None:
        self._sink.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._source.close()

    def _refuse(self, message: dict[str, Any]) -> None:
        """This client can be asked nothing; a notification needs no answer."""
        if "id" in message:
            self._write({"id": message["id"], "error": {"code": -32601, "message": "This client does nothing."}})

    def _write(self, message: dict[str, Any]) -> None:
        self._sink.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._sink.flush()
