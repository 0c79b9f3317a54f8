"""What the server writes down about itself: one JSON object a line, for machines and for `grep`.

Of a request: when, which, by whom, its status and how long it took. Never what comes after the `?` of an address, no
header and no body: there the tokens and the texts are. The file lies with the folder's state, and begins anew when it
is large.
"""

from __future__ import annotations

import json
import logging
import os
import time
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Any

from redraft.agent.store.events import iso

if TYPE_CHECKING:
    from redraft.server.replies import Application, Message, Receive, Scope, Send

LOG = logging.getLogger("redraft.server")
FILE = "server.log"
MAX_BYTES, KEPT = 5_000_000, 2
FIELDS = ("request", "method", "path", "status", "ms", "caller")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "ts": iso(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        told |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told)


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
    handler = PrivateLogFile(os.path.join(state, FILE), maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
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

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            state = scope.get("state", {})
            caller = state.get("caller")
            told = {
                "request": state.get("request", ""),
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "ms": round((time.perf_counter() - began) * 1000, 2),
                "caller": None if caller is None else caller.name,
            }
            LOG.info("request", extra=told)
