"""`redraft mcp --http`: the application behind its gate, on a socket that only this machine reaches."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from redraft.errors import Refused
from redraft.mcp_server.transports.http_headers import Headers
from redraft.mcp_server.transports.listen_socket import bind_socket, catch_signals
from redraft.mcp_server.transports.streamable_http import asgi_app

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from redraft.mcp_server.endpoint import Endpoint
    from redraft.mcp_server.transports.streamable_http import Receive, Scope, Send

    Application = Callable[[Scope, Receive, Send], Awaitable[None]]

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

        from redraft.mcp_server.transports.request_timeout import timed_protocol

        app = asgi_app(self._endpoint)
        gate = McpGate(app, token=self._token, hosts=loopback_hosts(self.port), path=PATH)
        config = uvicorn.Config(
            gate,
            http=timed_protocol(self._endpoint.workspace.settings.server),
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
