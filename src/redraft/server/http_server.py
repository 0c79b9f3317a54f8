"""A folder's server from start to stop: a socket, the application, and a shutdown that loses nothing.

On the first signal no new request is accepted, streams are ended so that clients reconnect to the next server, running
requests are awaited, and the agent's jobs are left to be resumed. Nothing is saved that the person has not saved: their
typing is already in the history and stays there.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.mcp_server.transports.listen_socket import bind_socket, catch_signals
from redraft.server import request_log
from redraft.server.app import build_application
from redraft.server.auth.callers import OWNER, Users
from redraft.server.auth.gate import ENTER, loopback_origins, public_origin
from redraft.server.auth.keys import Keys
from redraft.server.discovery import RunningServer, announce, claim_folder
from redraft.server.folder_state import FolderState
from redraft.server.live.connection import MAX_FRAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import uvicorn

    from redraft.server.app import GatedApp
    from redraft.workspace.workspace import Workspace

LOOPBACK = "127.0.0.1"
LOOPBACKS = (LOOPBACK, "localhost", "::1")
ENDING_SECONDS = 5
MAX_REQUESTS = 10_000
KEEP_ALIVE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen. `public` is the address at which others reach the server, and needs users."""

    host: str = LOOPBACK
    port: int = 0
    public: str | None = None

    @property
    def for_team(self) -> bool:
        return self.host not in LOOPBACKS or self.public is not None


def check_team(place: ListenAddress, users: Users) -> None:
    """A server that others can reach must have users and a public address."""
    if not place.for_team:
        return
    if place.public is None:
        raise Refused(
            "Other machines could reach this server: give its address with --public https://NAME. It speaks "
            "plain HTTP, so put a TLS proxy in front of it; see docs/server.md.",
            field="public",
        )
    public_origin(place.public)
    if not users.all():
        raise Refused(
            "Other machines could reach this server: first add users with `redraft users add NAME`.", field="host"
        )


def serve(workspace: Workspace, place: ListenAddress, ready: Callable[[RunningServer, str], None]) -> None:
    """Serve a folder until a signal; `Busy` if it is already being served. `ready` gets the address and the sign-in
    path."""
    state = workspace.state
    users = Users(state)
    check_team(place, users)
    with (
        claim_folder(state),
        contextlib.closing(bind_socket(place.host, place.port)) as listener,
        FolderState(workspace) as served,
    ):
        port: int = listener.getsockname()[1]
        origins, origin = loopback_origins(port), ""
        if place.public is not None:
            host, origin = public_origin(place.public)
            origins[host] = origin
        secure = origin.startswith("https:")
        running = RunningServer(
            os.getpid(), _local_host(place.host), port, secrets.token_urlsafe(32), time.time(), origin
        )
        cookie = "__Host-redraft" if secure else f"redraft-{port}"
        keys = Keys(state, users, running.secret, cookie=cookie)
        gate, front = build_application(served, keys, origins, team=place.for_team, secure=secure)
        handler = request_log.open_log(state)
        try:
            announce(state, running)
            served.agent.resume()
            with _server(request_log.RequestLog(gate), front, served) as server:
                ready(running, f"{ENTER}?key={keys.visit(OWNER)}")
                server.run(sockets=[listener])
        finally:
            request_log.close_log(handler)


def _local_host(host: str) -> str:
    """The address at which this machine reaches the server."""
    return LOOPBACK if host in ("0.0.0.0", "::", "localhost") else host  # noqa: S104 - what somebody asked to listen at


def _server(
    app: request_log.RequestLog, front: GatedApp, served: FolderState
) -> AbstractContextManager[uvicorn.Server]:
    import uvicorn

    from redraft.mcp_server.transports.request_timeout import timed_protocol

    config = uvicorn.Config(
        app,
        http=timed_protocol(served.workspace.settings.server),
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME,
        ws_per_message_deflate=False,  # it costs more time than it saves, a few letters at a time
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MAX_REQUESTS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=ENDING_SECONDS,
    )

    def end_streams() -> None:
        front.mcp.close()
        served.streams.end()
        served.change_streams.end()
        served.live.end()

    return catch_signals(config, end_streams)
