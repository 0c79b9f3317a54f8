"""The protocol on two descriptors: one JSON-RPC message a line.

A line that is no message is answered with an error, and the next one is read. What was asked before the input ends is
still answered; only a prompt is not waited for. Threads read and write, so that a slow editor holds up nobody, and the
descriptors may be pipes, sockets or files.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import threading
from typing import TYPE_CHECKING, Any, cast

from acp.agent.connection import AgentSideConnection

from redraft.acp_server.acp_agent import AcpAgent

if TYPE_CHECKING:
    from acp.interfaces import Client

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
READ_SIZE = 1 << 16
PROMPT = "session/prompt"
MAX_MESSAGE = 64 * 1024 * 1024
ID, ID_WITHIN = re.compile(rb'"id"\s*:\s*(\d{1,15}\b|"[\w-]{0,100}")'), 500


class StdioChannel:
    """One editor. Created on the event loop that uses it. It has the methods that the SDK asks of a transport."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._writing = asyncio.Lock()
        self._asked: set[str] = set()
        self._answered = asyncio.Event()
        threading.Thread(target=self._read, name="redraft-acp-stdin", daemon=True).start()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None once the input has ended."""
        while (line := await self._lines.get()) is not None:
            if not line.strip():
                continue
            if len(line) > MAX_MESSAGE:
                problem = f"A message may have at most {MAX_MESSAGE} bytes."
                await self._refuse(INVALID_REQUEST, problem, _id_at_start(line))
                continue
            try:
                message: object = json.loads(line)
            except (ValueError, RecursionError):
                await self._refuse(PARSE_ERROR, "Parse error")
                continue
            if isinstance(message, dict):
                found = cast("dict[str, Any]", message)
                if "id" in found and found.get("method") not in (None, PROMPT):
                    self._asked.add(json.dumps(found["id"]))
                return found
            await self._refuse(INVALID_REQUEST, "A message must be a JSON object.")
        while self._asked:
            self._answered.clear()
            await self._answered.wait()
        return None

    async def _refuse(self, code: int, message: str, request: Any = None) -> None:
        await self.send({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message; an editor that is gone gets nothing more, and the input counts as ended."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._writing:
            try:
                await asyncio.to_thread(_write, self._sink, line)
            except OSError:
                self.end()
        if "method" not in message:
            self._asked.discard(json.dumps(message["id"]))
            self._answered.set()

    def end(self) -> None:
        """Stop reading: `receive` returns None. May be called from any thread, and more than once."""
        self._put(None)

    async def close(self) -> None:
        self.end()

    def _put(self, line: bytes | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def _read(self) -> None:
        """Pass the lines on. `os.read`, because a thread that waits in a buffered read disturbs the program's end."""
        begun = bytearray()
        while more := self._read_some():
            *lines, rest = more.split(b"\n")
            for line in lines:
                self._put(bytes(begun + line))
                begun.clear()
            begun += rest
            del begun[MAX_MESSAGE + 1 :]  # the rest of a line that is too long counts for as much as its beginning did
        self._put(bytes(begun))
        self._put(None)

    def _read_some(self) -> bytes:
        try:
            return os.read(self._source, READ_SIZE)
        except OSError:
            return b""


def _id_at_start(line: bytes) -> Any:
    """The id of a request that is too long to be read; None if it does not come first, as it usually does."""
    found = ID.search(line[:ID_WITHIN])
    return None if found is None else json.loads(found[1])


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


async def serve(source: int, sink: int, *, folder: str | None, mode: str | None, model: str) -> None:
    """Answer the editor at these descriptors until its input ends, or a signal says so."""
    channel = StdioChannel(source, sink)
    agents: list[AcpAgent] = []

    def make(client: Client) -> Any:
        agents.append(AcpAgent(client, folder, mode, model))
        return agents[0]

    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, channel.end)
    connection = AgentSideConnection(make, channel, listening=False, use_unstable_protocol=True)
    try:
        await connection.listen()
    finally:
        with contextlib.suppress(ConnectionError):
            await connection.close()
        await asyncio.to_thread(agents[0].close)
