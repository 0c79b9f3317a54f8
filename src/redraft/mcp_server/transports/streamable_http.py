"""The protocol over HTTP, as an ASGI application that another server can mount: "streamable HTTP", of both eras.

A POST brings one message. A request is answered in JSON if its answer is all there is to say, else by a stream of
events that ends with the answer. By handshake a client has a session, named in a header, whose GET is a stream of what
belongs to no request, and whose calls run in their order; a call whose client hangs up goes on and asks nothing more.
By envelope every POST stands for itself, and a client that hangs up has called its request off. Who may call at all is
not decided here: see `gate`.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from redraft.mcp_server.connection import McpConnection
from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_REQUEST,
    MAX_MESSAGE,
    NO_METHOD,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    ProtocolError,
    as_object,
    decode,
    encode,
    envelope_of,
    load_orjson,
)
from redraft.mcp_server.transports.http_headers import Headers, check_envelope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, MutableMapping

    from redraft.mcp_server.call import McpCall
    from redraft.mcp_server.connection import Endpoint
    from redraft.mcp_server.protocol import Message

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# What one HTTP stream has to say, put in by any thread and taken out by the event loop.


# Nobody has read for a long time when so much has gathered; what is dropped is told again by the next change.
KEPT = 1000


class Channel:
    """A queue with an end. Made in the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Message] = deque(maxlen=KEPT)
        self._over = False
        self._news = asyncio.Event()

    def put(self, message: Message) -> None:
        """From any thread."""
        self._waiting.append(message)
        self._wake()

    def end(self) -> None:
        """Nothing more will be said."""
        self._over = True
        self._wake()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    @property
    def ended(self) -> bool:
        return self._over and not self._waiting

    async def get(self, seconds: float, gone: asyncio.Future[None]) -> Message | None:
        """The next message; None after so many seconds without one, at the end, or once `gone` is done."""
        if not self._waiting and not self._over:
            self._news.clear()
            if not self._waiting and not self._over:
                news = asyncio.ensure_future(self._news.wait())
                await asyncio.wait({news, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
        return self._waiting.popleft() if self._waiting else None


# One HTTP request's body, and what is sent back for it: a message in JSON, nothing, or a stream of events.


JSON, EVENTS = "application/json", "text/event-stream"


class HttpRejection(Exception):
    """A request that HTTP itself turns away."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class HttpReply:
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


async def read_body(headers: Headers, receive: Receive) -> bytes:
    """The whole of what was sent, never more than a message may have."""
    declared = headers.one("content-length")
    if declared.isdigit() and int(declared) > MAX_MESSAGE:
        raise HttpRejection(413, f"A message may have at most {MAX_MESSAGE} bytes.")
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise HttpRejection(400, "The message was incomplete.")
        parts.append(event.get("body", b""))
        size += len(parts[-1])
        if size > MAX_MESSAGE:
            raise HttpRejection(413, f"A message may have at most {MAX_MESSAGE} bytes.")
        more = event.get("more_body", False)
    return b"".join(parts)


# The sessions of clients that shook hands over HTTP: named by a word nobody can guess, ended by the client, by being
# forgotten for newer ones, or with the server.


MAX_SESSIONS = 256


class McpSession:
    """One client: its connection, and the stream on which it is told what belongs to no request."""

    def __init__(self, endpoint: Endpoint, user: str) -> None:
        self.name = secrets.token_urlsafe(24)
        self.in_order = asyncio.Lock()
        self.connection = McpConnection(endpoint, self._say, user)
        self._stream: Channel | None = None
        self._unsaid: OrderedDict[str, Message] = OrderedDict()

    def _say(self, message: Message) -> None:
        """On the stream; kept for the next one while there is none."""
        if self._stream is not None:
            self._stream.put(message)
        elif len(self._unsaid) < KEPT:
            self._unsaid[repr(message)] = message

    @contextmanager
    def open_stream(self) -> Generator[Channel]:
        """The stream, from now on. An older one ends: its client is gone, though nobody may have noticed."""
        channel = Channel()
        older, self._stream = self._stream, channel
        if older is not None:
            older.end()
        while self._unsaid:
            channel.put(self._unsaid.popitem(last=False)[1])
        try:
            yield channel
        finally:
            if self._stream is channel:
                self._stream = None

    def close(self) -> None:
        self.connection.close()
        if self._stream is not None:
            self._stream.end()


class McpSessions:
    """Those that are open; the one that was silent for longest ends when there are too many."""

    def __init__(self, endpoint: Endpoint, user: str) -> None:
        self._endpoint = endpoint
        self._user = user
        self._open: OrderedDict[str, McpSession] = OrderedDict()

    def begin(self) -> McpSession:
        session = McpSession(self._endpoint, self._user)
        self._open[session.name] = session
        while len(self._open) > MAX_SESSIONS:
            self._open.popitem(last=False)[1].close()
        return session

    def find(self, name: str) -> McpSession | None:
        session = self._open.get(name)
        if session is not None:
            self._open.move_to_end(name)
        return session

    def end(self, session: McpSession) -> None:
        self._open.pop(session.name, None)
        session.close()

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"
# A proxy lets go of a connection on which nothing is said for a minute or so.
PING_SECONDS = 15.0
# Each call that waits for a person holds a thread; the others wait for one of these.
THREADS = 64
STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    BAD_PARAMETERS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    NO_METHOD: 404,
}


class McpApp:
    """The application. Close it when the server ends: its streams end then, and nobody waits for an answer.

    `user` is whose clients call, where a server has several users: each has an application, and sessions, of their own.
    """

    def __init__(self, endpoint: Endpoint, user: str = "") -> None:
        self._endpoint = endpoint
        self._user = user
        self._sessions = McpSessions(endpoint, user)
        self._streams: set[Channel] = set()  # that no answer ends
        self._threads = ThreadPoolExecutor(THREADS, "redraft-mcp")
        load_orjson()

    def close(self) -> None:
        self._sessions.close()
        for stream in self._streams:
            stream.end()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError("This application supports only HTTP.")
        reply = HttpReply(send)
        try:
            await self._serve(str(scope["method"]), Headers(scope["headers"]), receive, reply)
        except HttpRejection as no:
            await reply.json(ProtocolError(INVALID_REQUEST, str(no)).as_error(None), no.status, **no.headers)

    async def _serve(self, method: str, headers: Headers, receive: Receive, reply: HttpReply) -> None:
        if method == "POST":
            await self._post(headers, receive, reply)
        elif method == "GET":
            await self._listen(self._session(headers), headers, receive, reply)
        elif method == "DELETE":
            self._sessions.end(self._session(headers))
            await reply.empty(204)
        else:
            raise HttpRejection(405, "Send a POST, a GET or a DELETE.", allow="GET, POST, DELETE")

    async def _post(self, headers: Headers, receive: Receive, reply: HttpReply) -> None:
        if headers.one("content-type").partition(";")[0].strip().lower() != JSON:
            raise HttpRejection(415, f"Send {JSON}.")
        if not headers.accepts(JSON):
            raise HttpRejection(406, f"Accept {JSON} and {EVENTS}.")
        try:
            message = decode(await read_body(headers, receive))
            if headers.one(VERSION_HEADER) in ENVELOPE_VERSIONS or envelope_of(message) is not None:
                await self._by_envelope(message, headers, receive, reply)
            else:
                await self._by_handshake(message, headers, receive, reply)
        except ProtocolError as fault:
            await reply.json(fault.as_error(None), STATUS.get(fault.code, 400))

    # Each request for itself

    async def _by_envelope(self, message: Any, headers: Headers, receive: Receive, reply: HttpReply) -> None:
        channel = Channel()
        connection = McpConnection(self._endpoint, channel.put, self._user)
        call = connection.receive(message)
        if call is None:
            await reply.empty(202)
            return
        fault = check_envelope(message, headers)
        if fault is not None:
            await reply.json(fault.as_error(call.number), STATUS[fault.code])
            return
        try:
            await self._answer(call, channel, headers, receive, reply, hangs_up=True)
        finally:
            connection.cancel(call.number)
            connection.close()

    # In a session

    def _session(self, headers: Headers) -> McpSession:
        named = headers.one(SESSION_HEADER)
        if not named:
            raise HttpRejection(400, f"Name the session in {SESSION_HEADER}.")
        session = self._sessions.find(named)
        if session is None:
            raise HttpRejection(404, "This session has ended; start a new one.")
        spoken = headers.one(VERSION_HEADER)
        if spoken and spoken not in HANDSHAKE_VERSIONS:
            raise HttpRejection(400, f"{VERSION_HEADER} must be one of {', '.join(HANDSHAKE_VERSIONS)}.")
        return session

    async def _by_handshake(self, message: Any, headers: Headers, receive: Receive, reply: HttpReply) -> None:
        begins = as_object(message).get("method") == "initialize"
        session = self._sessions.begin() if begins else self._session(headers)
        channel = Channel()
        call = session.connection.receive(message, channel.put)
        if call is None:
            await reply.empty(202)
            return
        if begins:
            reply.extra[SESSION_HEADER] = session.name
        async with contextlib.AsyncExitStack() as stack:
            if call.method != "ping":
                await stack.enter_async_context(session.in_order)
            await self._answer(call, channel, headers, receive, reply, hangs_up=False)

    async def _listen(self, session: McpSession, headers: Headers, receive: Receive, reply: HttpReply) -> None:
        """The session's own stream: what belongs to no request."""
        if not headers.accepts(EVENTS):
            raise HttpRejection(406, f"Accept {EVENTS}.")
        with session.open_stream() as channel:
            gone = asyncio.ensure_future(_wait_for_disconnect(receive))
            try:
                await reply.begin_events()
                await self._pump(channel, reply, gone)
                await reply.end_events()
            finally:
                gone.cancel()

    # Answering

    async def _answer(
        self, call: McpCall, channel: Channel, headers: Headers, receive: Receive, reply: HttpReply, *, hangs_up: bool
    ) -> None:
        """Run a call and send what it says. `hangs_up` says that a client that goes away has called it off."""
        running = asyncio.get_running_loop().run_in_executor(self._threads, call.run)
        if call.method == "subscriptions/listen":
            self._streams.add(channel)
        else:
            running.add_done_callback(lambda _: channel.end())
        gone = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            first = await channel.get(PING_SECONDS, gone)
            if channel.ended and first is None:
                await reply.empty(202)  # called off: there is nothing to say
            elif first is not None and "method" not in first:
                await reply.json(first, _status_of(first, by_envelope=hangs_up))
            elif not headers.accepts(EVENTS):
                await self._answer_without_stream(call, channel, reply, gone)
            else:
                await reply.begin_events()
                if first is not None:
                    await reply.event(first)
                await self._pump(channel, reply, gone)
                await reply.end_events()
            if gone.done():
                # A session's other calls wait for this one, which must not wait for somebody who is not there.
                call.connection.leave(call)
                if hangs_up:
                    call.connection.cancel(call.number)
            await running
        finally:
            self._streams.discard(channel)
            gone.cancel()

    async def _answer_without_stream(
        self, call: McpCall, channel: Channel, reply: HttpReply, gone: asyncio.Future[None]
    ) -> None:
        """For a client that takes no stream: what is said on the way goes nowhere, and nobody can be asked."""
        call.connection.decline()
        while not channel.ended and not gone.done():
            said = await channel.get(PING_SECONDS, gone)
            if said is not None and "method" not in said:
                await reply.json(said, 200)
                return
            call.connection.decline()
        await reply.empty(202)

    async def _pump(self, channel: Channel, reply: HttpReply, gone: asyncio.Future[None]) -> None:
        """Send what comes until an answer, the end, or the client's going away."""
        while not channel.ended and not gone.done():
            said = await channel.get(PING_SECONDS, gone)
            if said is not None:
                await reply.event(said)
                if "method" not in said:
                    return
            elif not channel.ended and not gone.done():
                await reply.ping()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _status_of(answer: Message, *, by_envelope: bool) -> int:
    """By handshake an error of the protocol is an answer like any other; by envelope it has a status of its own."""
    return STATUS.get(as_object(answer.get("error")).get("code", 0), 200) if by_envelope else 200


def asgi_app(endpoint: Endpoint, user: str = "") -> McpApp:
    """The endpoint as an application to mount; whoever mounts it decides who may call, and closes it."""
    return McpApp(endpoint, user)
