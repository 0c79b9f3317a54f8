"""`redraft mcp --http`: the application behind its gate, on a socket that only this machine reaches."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import signal
import socket
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, Self

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from redraft.errors import Refused
from redraft.mcp_server.transports.http_headers import Headers
from redraft.mcp_server.transports.streamable_http import asgi_app

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from redraft.mcp_server.connection import Endpoint
    from redraft.mcp_server.transports.streamable_http import Receive, Scope, Send

    Application = Callable[[Scope, Receive, Send], Awaitable[None]]
    import asyncio
    from collections.abc import Callable, Generator
    from types import FrameType

    import uvicorn

    from redraft.config import ServerLimits

# HTTP as uvicorn speaks it, with an end to waiting: a request that does not come whole within a while is let go.
#
# Without that, a client that sends half a request and no more holds its connection for good, and a few thousand of
# them keep everybody else out. Streams and websockets are not meant: their requests have come whole.


def make_timed_protocol(limits: ServerLimits) -> type[TimedProtocol]:
    """The protocol with these times; uvicorn makes one object of it for each connection."""

    class Timed(TimedProtocol):
        head_seconds, body_seconds = limits.head_seconds, limits.body_seconds

    return Timed


class TimedProtocol(H11Protocol):
    """One connection. The head of a request has its time from the moment that the connection or its first byte is
    there, the body from the end of the head. A body of which nothing more comes for as long as a head may take is let
    go sooner."""

    head_seconds: int
    body_seconds: int
    _deadline: asyncio.TimerHandle | None = None
    _silence: asyncio.TimerHandle | None = None
    _phase: str | None = None
    _is_websocket = False

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
        self._is_websocket = True  # to h11 the body of its request is still to come, for ever
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)

    def _look(self) -> None:
        """What of the request is still to come. Between two requests nothing is: that has a time of its own."""
        state = self.conn.their_state
        if self._is_websocket:
            self._wait_for(None)
        elif state is h11.SEND_BODY:
            self._wait_for("body", self.body_seconds)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait_for("head", self.head_seconds)
        else:
            self._wait_for(None)

    def _wait_for(self, phase: str | None, seconds: float = 0.0) -> None:
        if self._silence is not None:
            self._silence.cancel()
        self._silence = self.loop.call_later(self.head_seconds, self._let_go) if phase == "body" else None
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


# A socket that listens, and a server on it that a signal ends: what every server of ours has to do.


WAITING = 2048


def bind_socket(host: str, port: int) -> socket.socket:
    """A socket that listens already: whoever comes before the server is up waits, and is not turned away."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or the event loop leaves the pause in that a second small packet waits for.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(WAITING)
    except (OSError, OverflowError) as error:
        found.close()
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise Refused(f"Port {port} cannot be used at {host}: {reason}.", field="port") from error
    return found


@contextlib.contextmanager
def catch_signals(config: uvicorn.Config, end_streams: Callable[[], object]) -> Generator[uvicorn.Server]:
    """A server that a signal ends from here on, also before it runs: whoever was told of it may end it at once.

    Streams are ended first, since a server waits for them to end.
    """
    import uvicorn

    class Server(uvicorn.Server):
        """Ends the streams at the first signal. Those that came are raised once more after its end, to no effect."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not self.should_exit:
                end_streams()
            super().handle_exit(sig, frame)

    server = Server(config)
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield server
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# Who may call: whoever shows the token, from a program on this machine that means to call us.
#
# A page in a browser can make any machine's browser send requests to this one, and by rebinding a name even read the
# answers; it cannot choose the Host and Origin that the browser sends. So a request for another host, or from any
# page that is not ours, is turned away before anything else is looked at. No header tells a browser that others may
# read along.


def loopback_hosts(port: int) -> frozenset[str]:
    """What the Host of a request to this machine can be."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"})


class McpGate:
    """An application that is only reached through the gate; `path` is the only one there is.

    Without a `token` it is for somebody else to ask who calls.
    """

    def __init__(self, app: Application, *, token: str | None, hosts: frozenset[str], path: str) -> None:
        self._app = app
        self._digest = None if token is None else _digest(token)
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            status = self._judge(scope)
            await (self._app(scope, receive, send) if status == 200 else _reject(status, send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _judge(self, scope: Scope) -> int:
        """200 to let a request in, else the status with which it is turned away."""
        headers = Headers(scope["headers"])
        if headers.one("host").lower() not in self._hosts:
            return 421
        origins = headers.all("origin")
        if origins and (len(origins) > 1 or origins[0].lower() not in self._origins):
            return 403
        if self._digest is not None and not self._is_token(headers.one("authorization"), self._digest):
            return 401
        return 200 if scope["path"] == self._path else 404

    @staticmethod
    def _is_token(shown: str, digest: bytes) -> bool:
        scheme, _, token = shown.partition(" ")
        # Digests are of one length, so that the time of comparing tells nothing about the token.
        return scheme.lower() == "bearer" and hmac.compare_digest(_digest(token.strip()), digest)


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


async def _reject(status: int, send: Send) -> None:
    headers = [(b"content-length", b"0")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _lifespan(receive: Receive, send: Send) -> None:
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


ADDRESS = "127.0.0.1"
PATH = "/mcp"
ENDING_SECONDS = 3


class McpHttpServer:
    """A socket that is bound from the making on, so that its address can be told before it is served."""

    def __init__(self, endpoint: Endpoint, token: str, *, port: int = 0) -> None:
        self._token = token
        self._endpoint = endpoint
        self._socket = bind_socket(ADDRESS, port)
        self.port: int = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}{PATH}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def serve(self, ready: Callable[[], None]) -> None:
        """Serve until a signal says to end; `ready` is called once one would be heeded."""
        import uvicorn

        from redraft.mcp_server.transports.http_server import make_timed_protocol

        app = asgi_app(self._endpoint)
        gate = McpGate(app, token=self._token, hosts=loopback_hosts(self.port), path=PATH)
        config = uvicorn.Config(
            gate,
            http=make_timed_protocol(self._endpoint.workspace.settings.server),
            ws="none",
            log_level="error",  # a request that is turned away is the client's to hear of
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=ENDING_SECONDS,
        )
        with catch_signals(config, app.close) as server:
            ready()
            server.run(sockets=[self._socket])


# The word that a client shows to be let in: made at random, and kept where only its owner can read it.


SHORTEST = 16
LONGEST = 4096


def new_token() -> str:
    return secrets.token_urlsafe(32)


def check_token(token: str, where: str) -> str:
    """A token that somebody chose; refused where it can be guessed, or cannot be sent in a header."""
    if len(token) < SHORTEST:
        raise Refused(f"The token in {where} has fewer than {SHORTEST} characters.", field="token")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Refused(f"The token in {where} may contain only visible ASCII characters.", field="token")
    return token


def load_token(path: str) -> str:
    """The token in a file of the person's own; where there is no such file, it is made with a new token, and so is the
    folder for it."""
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _read_token(path)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.", path=path) from error
    token = new_token()
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _read_token(path: str) -> str:
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(LONGEST)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.", path=path) from error
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(f"{path} is readable by other users: run `chmod 600` on it and change the token.", path=path)
    try:
        return check_token(data.decode("ascii").strip(), path)
    except UnicodeDecodeError as error:
        raise Refused(f"{path} has no token in it.", path=path) from error
