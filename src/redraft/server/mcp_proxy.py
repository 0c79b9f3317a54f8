"""A client on the standard streams whose calls go through the folder's running server.

So it sees what the person is typing and what waits for a decision, and the workspace's own mode holds. Messages are
passed on as they are. Where the server ends in the middle of a session, the request under way is answered by a failure
that says that nobody knows whether it was carried out; it is not repeated, so that nothing is done twice. Everything
after it is done here, without the server, in no wider mode.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from redraft.errors import RedraftError
from redraft.mcp_server.connection import McpConnection
from redraft.mcp_server.protocol import (
    INTERNAL,
    VERSION_KEY,
    ProtocolError,
    as_message,
    as_object,
    decode,
    encode,
    envelope_of,
    number_of,
    tool_error,
)
from redraft.mcp_server.transports.http_headers import NAMED_BY
from redraft.server.discovery import is_still

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from redraft.mcp_server.call import Emit, Number
    from redraft.mcp_server.connection import Endpoint
    from redraft.mcp_server.protocol import Message
    from redraft.mcp_server.transports.stdio import RunnableRequest
    from redraft.server.discovery import RunningServer

# One client's messages to the MCP of a running server, over HTTP by the standard library alone.
#
# Every message has a connection of its own: so a server that is not there is known before anything was sent to it.
# That it is still the one that was found is asked of the kernel, by the server's lock, before each message: our
# secret and the person's texts are sent to nobody who merely listens at its port.


PATH = "/mcp"
# A server that has nothing to say yet says so every 15 seconds.
SILENT_SECONDS = 120.0


class ServerLost(Exception):
    """The server is gone, or does not know us any more. `reached` says that the message may have been carried out."""

    def __init__(self, *, reached: bool) -> None:
        super().__init__("the server of this folder has ended")
        self.reached = reached


class RemoteSession:
    """A session with a server. `wish` narrows what the client is offered, as `app` says."""

    def __init__(self, state: str, running: RunningServer, wish: Mapping[str, str]) -> None:
        self._state = state
        self._running = running
        self._path = PATH + ("?" + urlencode(wish) if wish else "")
        self._session = self._version = ""
        self._called_off: set[Number] = set()
        self._under_way: dict[Number, http.client.HTTPConnection] = {}
        self._stream: http.client.HTTPConnection | None = None

    def ask(self, message: Message, take: Emit) -> None:
        """Send a request, and hand on what is said to it, the answer last."""
        number: Number = message["id"]
        answered = False
        connection = self._connect()
        self._under_way[number] = connection
        try:
            with self._send_request(connection, "POST", message) as response:
                for said in _messages(response, number):
                    self._begin(message, response, said)
                    answered = answered or "method" not in said
                    take(said)
            if not answered and number not in self._called_off:
                raise ServerLost(reached=True)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if number not in self._called_off:
                raise ServerLost(reached=True) from error
        finally:
            self._called_off.discard(number)
            del self._under_way[number]
            connection.close()

    def _begin(self, message: Message, response: http.client.HTTPResponse, said: Message) -> None:
        if message["method"] == "initialize" and "result" in said:
            self._session = response.getheader("mcp-session-id", "")
            self._version = str(said["result"].get("protocolVersion", ""))

    def tell(self, message: Message) -> None:
        """Send what has no answer. What cannot be sent belongs to something that is lost as well, and says so."""
        self._send("POST", message)

    def _send(self, method: str, message: Message | None = None) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException, ServerLost):
            connection = self._connect()
            with contextlib.closing(connection), self._send_request(connection, method, message) as response:
                response.read()

    def call_off(self, number: Number) -> bool:
        """Expect no answer to a request that is under way. One of the envelope's era is hung up on, which calls it off;
        gives whether that was all that there is to do."""
        connection = self._under_way.get(number)
        if connection is None:
            return False
        self._called_off.add(number)
        if self._session:
            return False
        _shut(connection)
        return True

    def listen(self, take: Emit) -> threading.Thread | None:
        """Hand on, from another thread, what belongs to no request; None where there is no session, or no server."""
        try:
            if not self._session:
                return None
            self._stream = self._connect()
        except ServerLost:  # the next request finds out
            return None
        thread = threading.Thread(target=self._read_stream, args=(self._stream, take), daemon=True)
        thread.start()
        return thread

    def _read_stream(self, connection: http.client.HTTPConnection, take: Emit) -> None:
        # A stream that breaks says nothing: the next request finds out why.
        with (
            contextlib.suppress(OSError, http.client.HTTPException, ValueError, ServerLost),
            contextlib.closing(connection),
            self._send_request(connection, "GET") as response,
        ):
            for said in _messages(response, None):
                take(said)

    def end(self) -> None:
        """Leave the session."""
        if self._stream is not None:
            _shut(self._stream)
        if self._session:
            self._send("DELETE")
            self._session = ""

    def _connect(self) -> http.client.HTTPConnection:
        """A connection to the server that we found; `ServerLost` before anything was sent."""
        connection = http.client.HTTPConnection(self._running.host, self._running.port, timeout=SILENT_SECONDS)
        try:
            if is_still(self._state, self._running):
                connection.connect()
                return connection
        except OSError:
            pass
        raise ServerLost(reached=False)

    def _send_request(
        self, connection: http.client.HTTPConnection, method: str, message: Message | None = None
    ) -> http.client.HTTPResponse:
        headers = {
            **self._running.headers,
            "Accept": "application/json, text/event-stream",
            **self._routing_headers(message),
        }
        connection.request(method, self._path, None if message is None else encode(message), headers)
        return connection.getresponse()

    def _routing_headers(self, message: Message | None) -> dict[str, str]:
        """What the headers repeat of a message, or of the session that it belongs to."""
        envelope = envelope_of(message)
        if message is None or envelope is None:
            told = {"Mcp-Session-Id": self._session, "Mcp-Protocol-Version": self._version}
            return {name: value for name, value in told.items() if value}
        method = str(message.get("method"))
        named = as_object(message.get("params")).get(NAMED_BY.get(method, ""))
        told = {"Mcp-Protocol-Version": str(envelope.get(VERSION_KEY)), "Mcp-Method": method}
        return told | ({"Mcp-Name": _header(named)} if isinstance(named, str) else {})


def _header(text: str) -> str:
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="


def _shut(connection: http.client.HTTPConnection) -> None:
    """End a connection that another thread reads from: closing it alone would not wake that one."""
    if (found := connection.sock) is not None:
        with contextlib.suppress(OSError):
            found.shutdown(socket.SHUT_RDWR)


def _messages(response: http.client.HTTPResponse, number: Number | None) -> Iterator[Message]:
    """What a response says: one message, or a stream of them."""
    if response.getheader("content-type", "").startswith("text/event-stream"):
        for line in response:
            if line.startswith(b"data: "):
                yield _decode_message(line[6:])
        return
    if response.status == 202:  # there is nothing to say
        return
    told = _decode_message(response.read())
    if response.status < 400:
        yield told
    elif response.status == 401 or (response.status == 404 and told.get("id") is None):
        raise ServerLost(reached=False)  # another server, or one that has forgotten our session
    elif isinstance(told.get("error"), dict):
        yield {**told, "id": number}
    else:
        yield ProtocolError(INTERNAL, str(told.get("message", "The server refused the request."))).as_error(number)


def _decode_message(data: bytes) -> Message:
    try:
        found: Any = decode(data)
    except ProtocolError as error:
        raise ValueError(str(error)) from error
    return {name: value for name, value in as_object(found).items() if name != "jsonrpc"}


# What a new connection has to be told, so that it is to the client what the old one was.
REMEMBERED = ("initialize", "resources/subscribe", "resources/unsubscribe")
MAX_REMEMBERED = 1000
GONE = (
    "The server of this folder stopped before it answered. It is unknown whether the call was done. Further "
    "calls run without the server."
)


class ForwardedRequest:
    """A request on its way to the server, and its answer on the way back."""

    def __init__(self, joined: McpProxy, message: Message) -> None:
        self._joined = joined
        self.message = message
        self.method: Any = message["method"]
        self.number: Number = message["id"]
        self.called_off = False

    def run(self) -> None:
        self._joined.run(self)


class McpProxy:
    """To be spoken to as a `Connection` is. `alone` opens the folder, for the time after the server."""

    def __init__(self, emit: Emit, remote: RemoteSession, alone: Callable[[], Endpoint]) -> None:
        self._emit = emit
        self._remote = remote
        self._open_alone = alone
        self._local: McpConnection | None = None
        self._switching = threading.Lock()
        self._waiting: dict[Number, ForwardedRequest] = {}
        self._remembered: list[Message] = []
        self._questions: set[Number] = set()
        self._threads: list[threading.Thread] = []
        self._hung_up = False

    def receive(self, message: Any) -> RunnableRequest | None:
        """Take a message; returns the request that is to be run, if it is one."""
        if self._local is not None:
            return self._local.receive(message)
        found = as_message(message)
        if "method" in found and "id" in found:
            number = number_of(found)
            call = self._waiting[number] = ForwardedRequest(self, found)
            return call
        if found.get("method") == "notifications/cancelled" and self._call_off(found):
            return None
        if "method" not in found:
            self._questions.discard(found.get("id", ""))
        self._remote.tell(found)
        return None

    def hang_up(self) -> None:
        """Nothing more comes from the client: no question will be answered any more."""
        self._hung_up = True
        if self._local is not None:
            self._local.hang_up()
            return
        for number in tuple(self._questions):
            self._decline(number)

    def close(self) -> None:
        self.hang_up()
        if self._local is not None:
            self._local.close()
        self._remote.end()
        for thread in self._threads:
            thread.join()

    # With the server

    def run(self, call: ForwardedRequest) -> None:
        """Have a request answered, by the server or without it."""
        if call.called_off:
            return
        if self._local is not None:
            _run_locally(self._local, call.message)
        elif call.method == "subscriptions/listen":  # answered when it is cancelled, and others go on meanwhile
            self._ask_in_thread(call)
        else:
            self._ask(call)

    def _ask_in_thread(self, call: ForwardedRequest) -> None:
        thread = threading.Thread(target=self._ask, args=(call,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _ask(self, call: ForwardedRequest) -> None:
        try:
            self._remote.ask(call.message, self._take)
            self._remember(call.message)
        except ServerLost as lost:
            self._go_on_alone(call, lost)
        finally:
            if self._waiting.get(call.number) is call:
                del self._waiting[call.number]

    def _remember(self, message: Message) -> None:
        if message["method"] in REMEMBERED and len(self._remembered) < MAX_REMEMBERED:
            self._remembered.append(message)
        if message["method"] == "initialize":
            stream = self._remote.listen(self._take)
            self._threads += [] if stream is None else [stream]

    def _take(self, said: Message) -> None:
        """Pass on what the server says. A question to a client that has hung up is answered here."""
        if "method" in said and "id" in said:
            self._questions.add(said["id"])
            if self._hung_up:
                self._decline(said["id"])
                return
        self._emit(said)

    def _decline(self, number: Number) -> None:
        self._questions.discard(number)
        self._remote.tell({"id": number, "result": {"action": "cancel"}})

    def _call_off(self, message: Message) -> bool:
        """Whether a request could be called off without the server's being told."""
        number: Any = as_object(message.get("params")).get("requestId")
        call = self._waiting.get(number) if isinstance(number, str | int) else None
        if call is None:
            return False
        call.called_off = True
        return self._remote.call_off(call.number)

    # Without it

    def _go_on_alone(self, call: ForwardedRequest, lost: ServerLost) -> None:
        try:
            local = self._switch()
        except RedraftError as error:  # the next request tries again
            self._emit(ProtocolError(INTERNAL, error.message).as_error(call.number))
            return
        if not lost.reached:
            _run_locally(local, call.message)
        elif call.method == "tools/call":
            failure = RedraftError(GONE, code="outcome_unknown")
            self._emit({"id": call.number, "result": tool_error(failure.as_dict())})
        else:
            self._emit(ProtocolError(INTERNAL, GONE).as_error(call.number))

    def _switch(self) -> McpConnection:
        with self._switching:
            if self._local is None:
                local = McpConnection(self._open_alone(), self._emit)
                for message in self._remembered:
                    _run_locally(local, message, lambda _: None)  # the client has heard the answer from the server
                if self._hung_up:
                    local.hang_up()
                self._local = local
            return self._local


def _run_locally(connection: McpConnection, message: Message, emit: Emit | None = None) -> None:
    call = connection.receive(message, emit)
    if call is not None:
        call.run()
