"""A folder's server from start to stop: a socket, the application, and a shutdown that loses nothing.

On the first signal no new request is accepted, streams are ended so that clients reconnect to the next server, running
requests are awaited, and the agent's jobs are left to be resumed. Nothing is saved that the person has not saved: their
typing is already in the history and stays there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import time
from dataclasses import dataclass
from importlib import import_module
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Any

from redraft.agent.store.events import iso
from redraft.errors import Refused
from redraft.mcp_server.transports.http_server import bind_socket, catch_signals
from redraft.server.auth.callers import OWNER, Keys, Users
from redraft.server.auth.gate import ENTER, loopback_origins, public_origin
from redraft.server.discovery import RunningServer, announce, claim_folder
from redraft.server.folder_state import FolderState
from redraft.server.live.connection import MAX_FRAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import uvicorn

    from redraft.server.app import GatedApp
    from redraft.server.replies import Application, Message, Receive, Scope, Send
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


def _import_fastapi() -> None:
    """Import FastAPI without building its models of a whole OpenAPI description, which a server hardly ever needs: they
    are built when they are first used. Our own models are built as usual, because FastAPI silences warnings then."""
    from pydantic import BaseModel, ConfigDict

    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        import_module("fastapi")
    finally:
        BaseModel.model_config = ConfigDict()


def serve(workspace: Workspace, place: ListenAddress, ready: Callable[[RunningServer, str], None]) -> None:
    """Serve a folder until a signal; `Busy` if it is already being served. `ready` gets the address and the sign-in
    path."""
    _import_fastapi()
    from redraft.server.app import build_application

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
        handler = open_log(state)
        try:
            announce(state, running)
            served.agent.resume()
            with _server(RequestLog(gate), front, served) as server:
                ready(running, f"{ENTER}?key={keys.visit(OWNER)}")
                server.run(sockets=[listener])
        finally:
            close_log(handler)


def _local_host(host: str) -> str:
    """The address at which this machine reaches the server."""
    return LOOPBACK if host in ("0.0.0.0", "::", "localhost") else host  # noqa: S104 - what somebody asked to listen at


def _server(app: RequestLog, front: GatedApp, served: FolderState) -> AbstractContextManager[uvicorn.Server]:
    import uvicorn

    from redraft.mcp_server.transports.http_server import make_timed_protocol

    config = uvicorn.Config(
        app,
        http=make_timed_protocol(served.workspace.settings.server),
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


# What the server writes down about itself: one JSON object a line, for machines and for `grep`.
#
# Of a request: when, which, by whom, its status and how long it took. Never what comes after the `?` of an address, no
# header and no body: there the tokens and the texts are. The file lies with the folder's state, and begins anew when it
# is large.

LOG = logging.getLogger("redraft.server")
LOG_FILE = "server.log"
MAX_LOG_BYTES, KEPT_LOGS = 5_000_000, 2
LOG_FIELDS = ("request", "method", "path", "status", "ms", "caller")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "ts": iso(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        entry |= {name: getattr(record, name) for name in LOG_FIELDS if hasattr(record, name)}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry)


class PrivateLogFile(RotatingFileHandler):
    """A log that only its owner can read."""

    def _open(self) -> Any:
        fd = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        return os.fdopen(fd, "a", encoding="utf-8")

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the library's name
        """By what is written already: the library would write out every record a second time to know."""
        return self.stream is not None and self.stream.tell() >= self.maxBytes


def open_log(state: str) -> logging.Handler:
    """Write to the folder's log from now on; returns the handler, to be closed in the end."""
    handler = PrivateLogFile(
        os.path.join(state, LOG_FILE), maxBytes=MAX_LOG_BYTES, backupCount=KEPT_LOGS, encoding="utf-8"
    )
    handler.setFormatter(JsonLines())
    for name, level in (("redraft", logging.INFO), ("uvicorn", logging.CRITICAL)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)
        logger.propagate = False
    return handler


def close_log(handler: logging.Handler) -> None:
    for name in ("redraft", "uvicorn"):
        logger = logging.getLogger(name)
        logger.removeHandler(handler)
        logger.propagate = True
    handler.close()


class RequestLog:
    """An application whose requests are written down."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting_status)
        finally:
            state = scope.get("state", {})
            caller = state.get("caller")
            entry = {
                "request": state.get("request", ""),
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "ms": round((time.perf_counter() - began) * 1000, 2),
                "caller": None if caller is None else caller.name,
            }
            LOG.info("request", extra=entry)
