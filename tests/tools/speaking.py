"""A client of a real `redraft mcp` process: sends one message a line, as agent programs do."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self

from tests.speaking.forking import start_program
from tests.speaking.lines import PATIENCE, environment

if TYPE_CHECKING:
    from pathlib import Path


class McpAgent:
    """Calls tools by MCP over the standard streams. As a context manager it ends the process in the end."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        home = str(folder.parent / "home")
        self._process = start_program(
            [sys.executable, "-W", "error", "-m", "redraft", "mcp", str(folder), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment(folder), "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home},
        )
        self._number = 0
        client = {"name": "workflow", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        status = self._process.wait(PATIENCE)
        self._process.stdout.close()
        assert status == 0

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                return answer["result"]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The answer of a call that must succeed."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is False, result["content"]
        return result["structuredContent"]

    def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """What a model reads about a call that must fail."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is True
        return json.loads(result["content"][0]["text"])

    def text(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()
