"""The protocol on two streams: one message a line.

The main thread reads, so that a call can be called off while it runs; one other thread runs the calls, in their order.
The end of the input is the end of the session: what was asked before it is still answered. A signal to end lets the
running call come to its end and drops what waits behind it. Nothing but protocol is written to the output.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from redraft.mcp_server.connection import McpConnection
from redraft.mcp_server.protocol import INVALID_REQUEST, MAX_MESSAGE, ProtocolError, decode, encode, load_orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future
    from typing import BinaryIO

    from redraft.mcp_server.call import Emit
    from redraft.mcp_server.connection import Endpoint
    from redraft.mcp_server.protocol import Message

LOG = logging.getLogger(__name__)

READ_SIZE = 1 << 16


class RunnableRequest(Protocol):
    """A request, to be run."""

    @property
    def method(self) -> Any: ...

    def run(self) -> None: ...


class Peer(Protocol):
    """Whoever deals with what a client says; `Connection` says what each of these is for."""

    def receive(self, message: Any) -> RunnableRequest | None: ...

    def hang_up(self) -> None: ...

    def close(self) -> None: ...


class StdioServer:
    """One client on two streams. `connect` is given a way to speak to it."""

    def __init__(self, connect: Callable[[Emit], Peer], source: BinaryIO, sink: BinaryIO) -> None:
        self.heard = True  # whether the client still takes what we write
        self._source = source.fileno()
        self._sink = sink
        self._writing = threading.Lock()
        self._read_ahead = bytearray()
        self._told_to_end = False
        self._connection = connect(self.emit)

    def serve(self) -> None:
        """Answer until the input ends, or a signal says so."""
        worker = ThreadPoolExecutor(1, "redraft-mcp")
        try:
            with self._signals() as woken:
                self._read(worker, woken)
        finally:
            if self._told_to_end or not self.heard:
                self._connection.close()
            # At the end of the input nobody can answer a question any more, but calls that wait are still done.
            self._connection.hang_up()
            worker.shutdown(wait=True, cancel_futures=self._told_to_end or not self.heard)
            self._connection.close()

    def _read(self, worker: ThreadPoolExecutor, woken: int) -> None:
        while self.heard and (line := self._line(woken)):
            if not line.strip():
                continue
            try:
                call = self._connection.receive(_decode_line(line))
            except ProtocolError as fault:
                self.emit(fault.as_error(None))
                continue
            if call is None:
                continue
            if call.method == "ping":
                call.run()  # a sign of life, however long the queue
                continue
            worker.submit(call.run).add_done_callback(_report)
            if call.method in ("tools/list", "server/discover"):
                worker.submit(load_orjson)

    def _line(self, woken: int) -> bytes:
        """The next line; of one that is too long only the beginning, the rest is let go. Empty at the end."""
        ready = select.poll()
        for descriptor in (self._source, woken):
            ready.register(descriptor, select.POLLIN)
        searched = 0
        while (end := self._read_ahead.find(b"\n", searched) + 1) == 0:
            # The rest of a line that is too long counts for as much as its beginning did.
            del self._read_ahead[MAX_MESSAGE + 1 :]
            searched = len(self._read_ahead)
            # A signal that comes just before a read does not interrupt it; the byte that it leaves in the pipe does.
            ready.poll()
            if self._told_to_end:
                return b""
            more = os.read(self._source, READ_SIZE)
            if not more:
                end = len(self._read_ahead)
                break
            self._read_ahead += more
        line = bytes(self._read_ahead[:end])
        del self._read_ahead[:end]
        return b"" if self._told_to_end else line

    def emit(self, message: Message) -> None:
        line = encode(message) + b"\n"
        with self._writing:
            if not self.heard:
                return
            try:
                self._sink.write(line)
                self._sink.flush()
            except (BrokenPipeError, ValueError):  # closed by the client, or by whoever ended us
                self.heard = False

    @contextmanager
    def _signals(self) -> Generator[int]:
        """A signal ends the reading; returns the descriptor that can be read from once one has come."""
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        before = signal.signal(signal.SIGTERM, self._on_signal)
        before_wake = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        try:
            yield woken
        finally:
            signal.set_wakeup_fd(before_wake)
            signal.signal(signal.SIGTERM, before)
            os.close(woken)
            os.close(wake)

    def _on_signal(self, *_: object) -> None:
        self._told_to_end = True


def _decode_line(line: bytes) -> object:
    if len(line) > MAX_MESSAGE:
        raise ProtocolError(INVALID_REQUEST, f"A message may have at most {MAX_MESSAGE} bytes.")
    return decode(line)


def _report(done: Future[None]) -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        LOG.error("a call failed", exc_info=error)


def serve_stdio(endpoint: Endpoint, source: BinaryIO, sink: BinaryIO) -> bool:
    """Serve one client on two streams; gives whether it still listened at the end."""
    return serve_streams(lambda emit: McpConnection(endpoint, emit), source, sink)


def serve_streams(connect: Callable[[Emit], Peer], source: BinaryIO, sink: BinaryIO) -> bool:
    """The same, with whoever `connect` makes for the client."""
    pipes = StdioServer(connect, source, sink)
    pipes.serve()
    return pipes.heard
