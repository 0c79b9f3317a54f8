"""One client's messages to the MCP of a running server, over HTTP by the standard library alone.

Every message has a connection of its own: so a server that is not there is known before anything was sent to it. That
it is still the one that was found is asked of the kernel, by the server's lock, before each message: our secret and the
person's texts are sent to nobody who merely listens at its port.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from redraft.mcp_server.headers import NAMED_BY
from redraft.mcp_server.protocol import INTERNAL, VERSION_KEY, Fault, as_object, envelope_of
from redraft.mcp_server.wire import decode, encode
from redraft.server.running import is_still

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redraft.mcp_server.call import Emit, Number
    from redraft.mcp_server.protocol import Message
    from redraft.server.running import Running

PATH = "/mcp"
# A server that has nothing to say yet says so every 15 seconds.
SILENT_SECONDS = 120.0


class Lost(Exception):
    """The server is gone, or does not know us any more. `reached` says that the message may have been carried out."""

    def __init__(self, *, reached: bool) -> None:
        super().__init__("the server of this folder has ended")
        self.reached = reached


class Remote:
    """A session with a server. `wish` narrows what the client is offered, as `mcp_mount` says."""

    def __init__(self, state: str, running: Running, wish: Mapping[str, str]) -> None:
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
        connection = self._connected()
        self._under_way[number] = connection
        try:
            with self._sent(connection, "POST", message) as response:
                for said in _messages(response, number):
                    self._begin(message, response, said)
                    answered = answered or "method" not in said
                    take(said)
            if not answered and number not in self._called_off:
                raise Lost(reached=True)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if number not in self._called_off:
                raise Lost(reached=True) from error
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
        with contextlib.suppress(OSError, http.client.HTTPException, Lost):
            connection = self._connected()
            with contextlib.closing(connection), self._sent(connection, method, message) as response:
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
            self._stream = self._connected()
        except Lost:  # the next request finds out
            return None
        thread = threading.Thread(target=self._heard, args=(self._stream, take), daemon=True)
        thread.start()
        return thread

    def _heard(self, connection: http.client.HTTPConnection, take: Emit) -> None:
        # A stream that breaks says nothing: the next request finds out why.
        with (
            contextlib.suppress(OSError, http.client.HTTPException, ValueError, Lost),
            contextlib.closing(connection),
            self._sent(connection, "GET") as response,
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

    def _connected(self) -> http.client.HTTPConnection:
        """A connection to the server that we found; `Lost` before anything was sent."""
        connection = http.client.HTTPConnection(self._running.host, self._running.port, timeout=SILENT_SECONDS)
        try:
            if is_still(self._state, self._running):
                connection.connect()
                return connection
        except OSError:
            pass
        raise Lost(reached=False)

    def _sent(
        self, connection: http.client.HTTPConnection, method: str, message: Message | None = None
    ) -> http.client.HTTPResponse:
        headers = {**self._running.headers, "Accept": "application/json, text/event-stream", **self._routing(message)}
        connection.request(method, self._path, None if message is None else encode(message), headers)
        return connection.getresponse()

    def _routing(self, message: Message | None) -> dict[str, str]:
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
                yield _decoded(line[6:])
        return
    if response.status == 202:  # there is nothing to say
        return
    told = _decoded(response.read())
    if response.status < 400:
        yield told
    elif response.status == 401 or (response.status == 404 and told.get("id") is None):
        raise Lost(reached=False)  # another server, or one that has forgotten our session
    elif isinstance(told.get("error"), dict):
        yield {**told, "id": number}
    else:
        yield Fault(INTERNAL, str(told.get("message", "The server refused."))).as_error(number)


def _decoded(data: bytes) -> Message:
    try:
        found: Any = decode(data)
    except Fault as error:
        raise ValueError(str(error)) from error
    return {name: value for name, value in as_object(found).items() if name != "jsonrpc"}
