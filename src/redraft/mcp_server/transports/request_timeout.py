"""HTTP as uvicorn speaks it, with an end to waiting: a request that does not come whole within a while is let go.

Without that, a client that sends half a request and no more holds its connection for good, and a few thousand of them
keep everybody else out. Streams and websockets are not meant: their requests have come whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from redraft.config import ServerLimits


def timed_protocol(limits: ServerLimits) -> type[TimedProtocol]:
    """The protocol with these times; uvicorn makes one object of it for each connection."""

    class Timed(TimedProtocol):
        head_seconds, body_seconds = limits.head_seconds, limits.body_seconds

    return Timed


class TimedProtocol(H11Protocol):
    """One connection. The head of a request has its time from the moment that the connection or its first byte is
    there, the body from the end of the head."""

    head_seconds: int
    body_seconds: int
    _deadline: asyncio.TimerHandle | None = None
    _phase: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for("head", self.head_seconds)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._wait_for(None)
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)

    def _look(self) -> None:
        """What of the request is still to come. Between two requests nothing is: that has a time of its own."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._wait_for("body", self.body_seconds)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait_for("head", self.head_seconds)
        else:
            self._wait_for(None)

    def _wait_for(self, phase: str | None, seconds: float = 0.0) -> None:
        if phase == self._phase:
            return  # more of the same: the clock goes on
        self._phase = phase
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if phase is None else self.loop.call_later(seconds, self._let_go)

    def _let_go(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # else an answer is under way, or was given
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        self.transport.close()
