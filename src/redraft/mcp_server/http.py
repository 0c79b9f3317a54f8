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
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from redraft.mcp_server.channel import Channel
from redraft.mcp_server.connection import Connection
from redraft.mcp_server.headers import Headers, check_envelope
from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_REQUEST,
    NO_METHOD,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Fault,
    as_object,
    envelope_of,
)
from redraft.mcp_server.replies import EVENTS, JSON, Rejected, Reply, whole_body
from redraft.mcp_server.sessions import Session, Sessions
from redraft.mcp_server.wire import decode, hasten

if TYPE_CHECKING:
    from redraft.mcp_server.call import Call
    from redraft.mcp_server.endpoint import Endpoint
    from redraft.mcp_server.protocol import Message
    from redraft.mcp_server.replies import Receive, Scope, Send

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


class App:
    """The application. Close it when the server ends: its streams end then, and nobody waits for an answer.

    `user` is whose clients call, where a server has several users: each has an application, and sessions, of their own.
    """

    def __init__(self, endpoint: Endpoint, user: str = "") -> None:
        self._endpoint = endpoint
        self._user = user
        self._sessions = Sessions(endpoint, user)
        self._streams: set[Channel] = set()  # that no answer ends
        self._threads = ThreadPoolExecutor(THREADS, "redraft-mcp")
        hasten()

    def close(self) -> None:
        self._sessions.close()
        for stream in self._streams:
            stream.end()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError("This application speaks HTTP alone.")
        reply = Reply(send)
        try:
            await self._serve(str(scope["method"]), Headers(scope["headers"]), receive, reply)
        except Rejected as no:
            await reply.json(Fault(INVALID_REQUEST, str(no)).as_error(None), no.status, **no.headers)

    async def _serve(self, method: str, headers: Headers, receive: Receive, reply: Reply) -> None:
        if method == "POST":
            await self._post(headers, receive, reply)
        elif method == "GET":
            await self._listen(self._session(headers), headers, receive, reply)
        elif method == "DELETE":
            self._sessions.end(self._session(headers))
            await reply.empty(204)
        else:
            raise Rejected(405, "Send a POST, a GET or a DELETE.", allow="GET, POST, DELETE")

    async def _post(self, headers: Headers, receive: Receive, reply: Reply) -> None:
        if headers.one("content-type").partition(";")[0].strip().lower() != JSON:
            raise Rejected(415, f"Send {JSON}.")
        if not headers.accepts(JSON):
            raise Rejected(406, f"Accept {JSON} and {EVENTS}.")
        try:
            message = decode(await whole_body(headers, receive))
            if headers.one(VERSION_HEADER) in ENVELOPE_VERSIONS or envelope_of(message) is not None:
                await self._by_envelope(message, headers, receive, reply)
            else:
                await self._by_handshake(message, headers, receive, reply)
        except Fault as fault:
            await reply.json(fault.as_error(None), STATUS.get(fault.code, 400))

    # Each request for itself

    async def _by_envelope(self, message: Any, headers: Headers, receive: Receive, reply: Reply) -> None:
        channel = Channel()
        connection = Connection(self._endpoint, channel.put, self._user)
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

    def _session(self, headers: Headers) -> Session:
        named = headers.one(SESSION_HEADER)
        if not named:
            raise Rejected(400, f"Name the session in {SESSION_HEADER}.")
        session = self._sessions.find(named)
        if session is None:
            raise Rejected(404, "This session has ended; begin a new one.")
        spoken = headers.one(VERSION_HEADER)
        if spoken and spoken not in HANDSHAKE_VERSIONS:
            raise Rejected(400, f"{VERSION_HEADER} names none of {', '.join(HANDSHAKE_VERSIONS)}.")
        return session

    async def _by_handshake(self, message: Any, headers: Headers, receive: Receive, reply: Reply) -> None:
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

    async def _listen(self, session: Session, headers: Headers, receive: Receive, reply: Reply) -> None:
        """The session's own stream: what belongs to no request."""
        if not headers.accepts(EVENTS):
            raise Rejected(406, f"Accept {EVENTS}.")
        with session.listening() as channel:
            gone = asyncio.ensure_future(_hung_up(receive))
            try:
                await reply.begin_events()
                await self._pump(channel, reply, gone)
                await reply.end_events()
            finally:
                gone.cancel()

    # Answering

    async def _answer(
        self, call: Call, channel: Channel, headers: Headers, receive: Receive, reply: Reply, *, hangs_up: bool
    ) -> None:
        """Run a call and send what it says. `hangs_up` says that a client that goes away has called it off."""
        running = asyncio.get_running_loop().run_in_executor(self._threads, call.run)
        if call.method == "subscriptions/listen":
            self._streams.add(channel)
        else:
            running.add_done_callback(lambda _: channel.end())
        gone = asyncio.ensure_future(_hung_up(receive))
        try:
            first = await channel.get(PING_SECONDS, gone)
            if channel.ended and first is None:
                await reply.empty(202)  # called off: there is nothing to say
            elif first is not None and "method" not in first:
                await reply.json(first, _status_of(first, by_envelope=hangs_up))
            elif not headers.accepts(EVENTS):
                await self._only_answer(call, channel, reply, gone)
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

    async def _only_answer(self, call: Call, channel: Channel, reply: Reply, gone: asyncio.Future[None]) -> None:
        """For a client that takes no stream: what is said on the way goes nowhere, and nobody can be asked."""
        call.connection.decline()
        while not channel.ended and not gone.done():
            said = await channel.get(PING_SECONDS, gone)
            if said is not None and "method" not in said:
                await reply.json(said, 200)
                return
            call.connection.decline()
        await reply.empty(202)

    async def _pump(self, channel: Channel, reply: Reply, gone: asyncio.Future[None]) -> None:
        """Send what comes until an answer, the end, or the client's going away."""
        while not channel.ended and not gone.done():
            said = await channel.get(PING_SECONDS, gone)
            if said is not None:
                await reply.event(said)
                if "method" not in said:
                    return
            elif not channel.ended and not gone.done():
                await reply.ping()


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _status_of(answer: Message, *, by_envelope: bool) -> int:
    """By handshake an error of the protocol is an answer like any other; by envelope it has a status of its own."""
    return STATUS.get(as_object(answer.get("error")).get("code", 0), 200) if by_envelope else 200


def asgi_app(endpoint: Endpoint, user: str = "") -> App:
    """The endpoint as an application to mount; whoever mounts it decides who may call, and closes it."""
    return App(endpoint, user)
