"""The protocol on two streams: one message a line.

The main thread reads, so that a call can be called off while it runs; one other thread runs the calls, in their order.
The end of the input is the end of the session: what was asked before it is still answered. A signal to end lets the
running call come to its end and drops what waits behind it. Nothing but protocol is written to the output.
"""

from __future__ import annotations

import logging
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from redraft.mcp_server.connection import Connection
from redraft.mcp_server.protocol import INVALID_REQUEST, Fault
from redraft.mcp_server.wire import MAX_MESSAGE, decode, encode, hasten

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future
    from typing import BinaryIO

    from redraft.mcp_server.call import Emit
    from redraft.mcp_server.endpoint import Endpoint
    from redraft.mcp_server.protocol import Message

LOG = logging.getLogger(__name__)


class _Ended(BaseException):
    """A signal came while the input was being waited for."""


class Asked(Protocol):
    """A request, to be run."""

    @property
    def method(self) -> Any: ...

    def run(self) -> None: ...


class Spoken(Protocol):
    """Whoever deals with what a client says; `Connection` says what each of these is for."""

    def receive(self, message: Any) -> Asked | None: ...

    def hang_up(self) -> None: ...

    def close(self) -> None: ...


class Pipes:
    """One client on two streams. `connect` is given a way to speak to it."""

    def __init__(self, connect: Callable[[Emit], Spoken], source: BinaryIO, sink: BinaryIO) -> None:
        self.heard = True  # whether the client still takes what we write
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._reading = False
        self._told_to_end = False
        self._connection = connect(self.emit)

    def serve(self) -> None:
        """Answer until the input ends, or a signal says so."""
        worker = ThreadPoolExecutor(1, "redraft-mcp")
        try:
            with self._signals():
                self._read(worker)
        except _Ended:
            self._told_to_end = True
        finally:
            if self._told_to_end or not self.heard:
                self._connection.close()
            # At the end of the input nobody can answer a question any more, but calls that wait are still done.
            self._connection.hang_up()
            worker.shutdown(wait=True, cancel_futures=self._told_to_end or not self.heard)
            self._connection.close()

    def _read(self, worker: ThreadPoolExecutor) -> None:
        while self.heard and (line := self._line()):
            if not line.strip():
                continue
            try:
                call = self._connection.receive(_decoded(line))
            except Fault as fault:
                self.emit(fault.as_error(None))
                continue
            if call is None:
                continue
            if call.method == "ping":
                call.run()  # a sign of life, however long the queue
                continue
            worker.submit(call.run).add_done_callback(_report)
            if call.method in ("tools/list", "server/discover"):
                worker.submit(hasten)

    def _line(self) -> bytes:
        """The next line; of one that is too long only the beginning, the rest is let go."""
        self._reading = True
        if self._told_to_end:
            return b""
        line = self._source.readline(MAX_MESSAGE + 1)
        rest = line
        while len(line) > MAX_MESSAGE and rest and not rest.endswith(b"\n"):
            rest = self._source.readline(MAX_MESSAGE)
        self._reading = False
        return line

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
    def _signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGTERM, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def _on_signal(self, *_: object) -> None:
        self._told_to_end = True
        if self._reading:  # else the message in hand is dealt with first
            raise _Ended


def _decoded(line: bytes) -> object:
    if len(line) > MAX_MESSAGE:
        raise Fault(INVALID_REQUEST, f"A message may have {MAX_MESSAGE} bytes.")
    return decode(line)


def _report(done: Future[None]) -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        LOG.error("a call failed", exc_info=error)


def serve_stdio(endpoint: Endpoint, source: BinaryIO, sink: BinaryIO) -> bool:
    """Serve one client on two streams; gives whether it still listened at the end."""
    return speak(lambda emit: Connection(endpoint, emit), source, sink)


def speak(connect: Callable[[Emit], Spoken], source: BinaryIO, sink: BinaryIO) -> bool:
    """The same, with whoever `connect` makes for the client."""
    pipes = Pipes(connect, source, sink)
    pipes.serve()
    return pipes.heard
