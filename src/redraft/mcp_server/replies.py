"""One HTTP request's body, and what is sent back for it: a message in JSON, nothing, or a stream of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.mcp_server.wire import MAX_MESSAGE, encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from redraft.mcp_server.headers import Headers
    from redraft.mcp_server.protocol import Message

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

JSON, EVENTS = "application/json", "text/event-stream"


class Rejected(Exception):
    """A request that HTTP itself turns away."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class Reply:
    """What is sent back for one HTTP request."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.extra: dict[str, str] = {}

    async def json(self, message: Message, status: int, **headers: str) -> None:
        body = encode(message)
        await self._start(status, {"content-type": JSON, "content-length": str(len(body)), **headers})
        await self._send({"type": "http.response.body", "body": body})

    async def empty(self, status: int) -> None:
        await self._start(status, {"content-length": "0"} if status != 204 else {})
        await self._send({"type": "http.response.body", "body": b""})

    async def begin_events(self) -> None:
        await self._start(200, {"content-type": EVENTS, "cache-control": "no-store", "x-accel-buffering": "no"})

    async def event(self, message: Message) -> None:
        await self._more(b"event: message\ndata: " + encode(message) + b"\n\n")

    async def ping(self) -> None:
        await self._more(b": still here\n\n")

    async def end_events(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    async def _more(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _start(self, status: int, headers: dict[str, str]) -> None:
        told = [(name.encode(), value.encode()) for name, value in {**headers, **self.extra}.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": told})


async def whole_body(headers: Headers, receive: Receive) -> bytes:
    """The whole of what was sent, never more than a message may have."""
    declared = headers.one("content-length")
    if declared.isdigit() and int(declared) > MAX_MESSAGE:
        raise Rejected(413, f"A message may have {MAX_MESSAGE} bytes.")
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise Rejected(400, "The message did not come to its end.")
        parts.append(event.get("body", b""))
        size += len(parts[-1])
        if size > MAX_MESSAGE:
            raise Rejected(413, f"A message may have {MAX_MESSAGE} bytes.")
        more = event.get("more_body", False)
    return b"".join(parts)
