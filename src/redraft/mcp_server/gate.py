"""Who may call: whoever shows the token, from a program on this machine that means to call us.

A page in a browser can make any machine's browser send requests to this one, and by rebinding a name even read the
answers; it cannot choose the Host and Origin that the browser sends. So a request for another host, or from any page
that is not ours, is turned away before anything else is looked at. No header tells a browser that others may read
along.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING

from redraft.mcp_server.headers import Headers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redraft.mcp_server.replies import Receive, Scope, Send

    Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def loopback_hosts(port: int) -> frozenset[str]:
    """What the Host of a request to this machine can be."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"})


class Gate:
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
            status = self._judged(scope)
            await (self._app(scope, receive, send) if status == 200 else _turned_away(status, send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _judged(self, scope: Scope) -> int:
        """200 to let a request in, else the status with which it is turned away."""
        headers = Headers(scope["headers"])
        if headers.one("host").lower() not in self._hosts:
            return 421
        origins = headers.all("origin")
        if origins and (len(origins) > 1 or origins[0].lower() not in self._origins):
            return 403
        if self._digest is not None and not self._known(headers.one("authorization"), self._digest):
            return 401
        return 200 if scope["path"] == self._path else 404

    @staticmethod
    def _known(shown: str, digest: bytes) -> bool:
        scheme, _, token = shown.partition(" ")
        # Digests are of one length, so that the time of comparing tells nothing about the token.
        return scheme.lower() == "bearer" and hmac.compare_digest(_digest(token.strip()), digest)


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


async def _turned_away(status: int, send: Send) -> None:
    headers = [(b"content-length", b"0")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _lifespan(receive: Receive, send: Send) -> None:
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})
