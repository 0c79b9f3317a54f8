"""Streams events to any number of listeners, as `text/event-stream`.

An event is serialised once, and all listeners get the same bytes; events within a few milliseconds are sent together,
because a job reports several things at once and a thousand listeners are a thousand writes. No listener gets an event
twice or out of order, and none is left out: a listener starts after its cursor (`Last-Event-ID`, when a browser
reconnects) with what the log has. Jobs may run in other processes, which do not notify us: so the log is also polled
every two seconds. A listener that does not read is disconnected, and can resume where it was.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Protocol

from redraft.agent.store.events import TRANSIENT
from redraft.errors import Busy
from redraft.server.replies import encode_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redraft.server.replies import Receive, Send

POLL_SECONDS = 2.0
GATHER_SECONDS = 0.01
# A proxy lets go of a connection on which nothing is said for a minute or so.
PING_SECONDS = 15.0
MAX_LISTENERS = 4096
MAX_BEHIND = 16 * 1024 * 1024
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
PING = b": still here\n\n"


class StreamEvent(Protocol):
    """What is told: a job's event, or a change. `job_id` names the stream that it belongs to."""

    @property
    def job_id(self) -> str: ...
    @property
    def cursor(self) -> int: ...
    @property
    def type(self) -> str: ...
    def as_dict(self) -> dict[str, Any]: ...


class StreamLog(Protocol):
    """Where events are kept, in order, each with a cursor that only grows within its stream."""

    def after(self, stream: str, cursor: int, /) -> Sequence[StreamEvent]: ...
    def subscribe(self, listener: Callable[[Any], None], /) -> Callable[[], None]: ...


def format_event(event: StreamEvent) -> bytes:
    """An event on the wire. A piece of what a model is saying has no id: who comes back is not told it again."""
    number = b"" if event.type in TRANSIENT else b"id: %d\n" % event.cursor
    return number + b"event: " + event.type.encode() + b"\ndata: " + encode_json(event.as_dict()) + b"\n\n"


class EventBatch:
    """Events that go out together, written out once."""

    def __init__(self, events: Sequence[StreamEvent]) -> None:
        self.parts = [(event, format_event(event)) for event in events]
        self.whole = b"".join(data for _, data in self.parts)
        cursors = [event.cursor for event in events if event.type not in TRANSIENT]
        self.first, self.last = (cursors[0], cursors[-1]) if cursors else (0, 0)
        self.gapless = len(cursors) == self.last - self.first + 1 or not cursors

    def follows(self, cursor: int) -> bool:
        """Whether these directly follow the cursor, without gaps or repetition."""
        return not self.last or self.first == cursor + 1


class StreamListener:
    """One connection, with what is still to be sent. Used on the event loop."""

    def __init__(self, cursor: int) -> None:
        self.cursor = cursor
        self.ended = False
        self._waiting: list[bytes] = []
        self._size = 0
        self._knock: asyncio.Future[None] | None = None

    def put(self, burst: EventBatch) -> None:
        if not burst.parts:
            return
        if burst.follows(self.cursor):
            self.cursor = burst.last or self.cursor
            self._add(burst.whole)
            return
        for event, data in burst.parts:
            if event.type in TRANSIENT or event.cursor > self.cursor:
                self.cursor = max(self.cursor, event.cursor)
                self._add(data)

    def ping(self) -> None:
        if not self._waiting:
            self._add(PING)

    def _add(self, data: bytes) -> None:
        if self.ended:
            return
        self._waiting.append(data)
        self._size += len(data)
        if self._size > MAX_BEHIND:
            self._waiting.clear()  # it reconnects, and resumes after the last event it got
            self.end()
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self._knock is not None and not self._knock.done():
            self._knock.set_result(None)

    async def next(self) -> bytes | None:
        """Everything there is; None at the end."""
        while not self._waiting and not self.ended:
            self._knock = asyncio.get_running_loop().create_future()
            await self._knock
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        return data or None


class EventStreams:
    """All the listeners of one server. Used on the event loop, but for what the log tells."""

    def __init__(self, log: StreamLog, aside: Callable[..., Awaitable[Any]]) -> None:
        self._log = log
        self._aside = aside
        self._listeners: dict[str, set[StreamListener]] = {}
        self._polls: dict[str, asyncio.Task[None]] = {}
        self._pinging: asyncio.Task[None] | None = None
        self._gathered: dict[str, list[StreamEvent]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._unsubscribe = log.subscribe(self._hear)

    def close(self) -> None:
        self._unsubscribe()

    def end(self) -> None:
        """End every stream: the server is stopping."""
        self._closed = True
        for listener in self._all():
            listener.end()

    def _all(self) -> list[StreamListener]:
        return [each for listeners in self._listeners.values() for each in listeners]

    def _hear(self, event: StreamEvent) -> None:
        """Called in whichever thread has something to tell."""
        loop = self._loop
        if loop is not None and event.job_id in self._listeners:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._gather, event)

    def _gather(self, event: StreamEvent) -> None:
        if event.job_id not in self._gathered and self._loop is not None:
            self._loop.call_later(GATHER_SECONDS, self._deliver, event.job_id)
        self._gathered.setdefault(event.job_id, []).append(event)

    def _deliver(self, job_id: str) -> None:
        burst = EventBatch(self._gathered.pop(job_id, []))
        listeners = self._listeners.get(job_id, set())
        oldest = min((each.cursor for each in listeners), default=burst.last)
        if burst.last and (oldest + 1 < burst.first or not burst.gapless):
            burst = EventBatch(
                self._log.after(job_id, oldest)
            )  # something is missing in between: the log has it in order
        for listener in listeners:
            listener.put(burst)

    async def _poll(self, job_id: str) -> None:
        """Look at the log for what other processes wrote, as long as anybody listens."""
        while listeners := self._listeners.get(job_id):
            await asyncio.sleep(POLL_SECONDS)
            oldest = min((each.cursor for each in listeners), default=0)
            with contextlib.suppress(Busy):
                found = await self._aside(self._log.after, job_id, oldest)
                burst = EventBatch(found)
                for listener in self._listeners.get(job_id, ()):
                    listener.put(burst)

    async def _ping(self) -> None:
        while self._listeners:
            await asyncio.sleep(PING_SECONDS)
            for listener in self._all():
                listener.ping()

    async def serve(self, job_id: str, cursor: int, receive: Receive, send: Send) -> None:
        """Send the events after a cursor until the client disconnects or the server stops: a job's changes can be
        applied or rolled back long after it has ended, and that is reported, too."""
        if self._closed or len(self._all()) >= MAX_LISTENERS:
            raise Busy("Too many event streams are open; poll the events by cursor instead.")
        listener = self._enter(job_id, cursor)
        gone = asyncio.ensure_future(_wait_for_hangup(receive))
        gone.add_done_callback(lambda _: listener.end())
        try:
            listener.put(EventBatch(await self._aside(self._log.after, job_id, cursor)))
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            while data := await listener.next():
                await send({"type": "http.response.body", "body": data, "more_body": True})
            await asyncio.sleep(0)  # all are told before the first is taken leave of
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            self._leave(job_id, listener)

    def _enter(self, job_id: str, cursor: int) -> StreamListener:
        self._loop = asyncio.get_running_loop()
        listener = StreamListener(cursor)
        self._listeners.setdefault(job_id, set()).add(listener)
        if job_id not in self._polls:
            self._polls[job_id] = asyncio.create_task(self._poll(job_id))
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.create_task(self._ping())
        return listener

    def _leave(self, job_id: str, listener: StreamListener) -> None:
        listeners = self._listeners.get(job_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(job_id, None)
            poll = self._polls.pop(job_id, None)
            if poll is not None:
                poll.cancel()


async def _wait_for_hangup(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
