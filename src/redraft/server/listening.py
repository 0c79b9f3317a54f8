"""A folder's server from its beginning to its end: a socket, the application, and a stop that loses nothing.

On the first signal no new request is taken, streams are ended so that clients come back to whoever is next, requests
that run are waited for, and the agent's jobs are left as they stand, to be taken up again. Nothing is saved that the
person has not saved: what they typed is in the history already, and there it stays.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.server import logs
from redraft.server.app import application
from redraft.server.callers import Users
from redraft.server.gate import ENTER, loopback_origins, public_origin
from redraft.server.keys import Keys
from redraft.server.running import Running, announce, only_one
from redraft.server.served import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    from redraft.server.app import Front
    from redraft.workspace.workspace import Workspace

LOOPBACK = "127.0.0.1"
LOOPBACKS = (LOOPBACK, "localhost", "::1")
ENDING_SECONDS = 5
MAX_REQUESTS = 10_000
KEEP_ALIVE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen. `public` is the address at which others reach the server, and needs users."""

    host: str = LOOPBACK
    port: int = 0
    public: str | None = None

    @property
    def for_team(self) -> bool:
        return self.host not in LOOPBACKS or self.public is not None


def check_team(place: Place, users: Users) -> None:
    """A server that others reach has users, and says under which address."""
    if not place.for_team:
        return
    if place.public is None:
        raise Refused(
            "Others would reach this server: say at which address with --public https://NAME. It speaks plain HTTP, so "
            "put a server with TLS in front of it; docs/server.md shows how.",
            field="public",
        )
    public_origin(place.public)
    if not users.all():
        raise Refused("Others would reach this server: first let them in with `redraft users add NAME`.", field="host")


def serve(workspace: Workspace, place: Place, ready: Callable[[Running, str], None]) -> None:
    """Serve a folder until a signal says to end; `Busy` where it is served already. `ready` is told where, and the path
    that lets a browser in."""
    state = workspace.engine.state
    users = Users(state)
    check_team(place, users)
    with only_one(state), contextlib.closing(bound(place)) as listener, Served(workspace) as served:
        port: int = listener.getsockname()[1]
        origins, origin = loopback_origins(port), ""
        if place.public is not None:
            host, origin = public_origin(place.public)
            origins[host] = origin
        secure = origin.startswith("https:")
        running = Running(os.getpid(), _reached(place.host), port, secrets.token_urlsafe(32), time.time(), origin)
        cookie = "__Host-redraft" if secure else f"redraft-{port}"
        keys = Keys(state, users, running.secret, cookie=cookie)
        gate, front = application(served, keys, origins, team=place.for_team, secure=secure)
        handler = logs.begin(state)
        try:
            announce(state, running)
            served.agent.resume()
            ready(running, f"{ENTER}?key={keys.visit()}")
            _run(logs.Logged(gate), front, served, listener)
        finally:
            logs.end(handler)


def _reached(host: str) -> str:
    """How this machine itself reaches the server."""
    return LOOPBACK if host in ("0.0.0.0", "::", "localhost") else host  # noqa: S104 - what somebody asked to listen at


def _run(app: logs.Logged, front: Front, served: Served, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_REQUESTS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=ENDING_SECONDS,
    )

    class Server(uvicorn.Server):
        """Ends its streams first: a server waits for them to end."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            front.mcp.close()
            served.streams.end()
            super().handle_exit(sig, frame)

    with _signals():
        Server(config).run(sockets=[listener])


def bound(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # Named as TCP, or the event loop leaves the pause in that a second small packet waits for.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((place.host, place.port))
        found.listen(2048)
    except (OSError, OverflowError) as error:
        found.close()
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise Refused(f"{place.host}:{place.port} cannot be used: {reason}.", field="port") from error
    return found


@contextlib.contextmanager
def _signals() -> Generator[None]:
    """The server handles signals and then sends them once more: that we have ended is all that they were to say."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, _nothing_more) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing_more(_number: int, _frame: FrameType | None) -> None:
    pass
