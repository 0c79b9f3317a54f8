"""Request bodies: they must be JSON of limited size, and may have an `Idempotency-Key`.

Sits between the gate and the routes. A request that is repeated with its key does not reach a route again.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError, Refused
from redraft.files.sqlite import LogIndex, explain_sqlite_error, open_database
from redraft.mcp_server.transports.http_headers import Headers
from redraft.server.replies import JSON, refuse, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redraft.server.replies import Application, Message, Receive, Scope, Send

    Aside = Callable[..., Awaitable[Any]]

# Stored answers by `Idempotency-Key`, which survive a restart.
#
# A key is stored durably before its request runs, and its answer afterwards. So a repeated request never runs twice: it
# gets the first answer or, if the program died in between and the outcome is unknown, a refusal that says so. A key
# belongs to one caller and one request; another request under it is refused.


FILE = "server.db"
KEPT_SECONDS = 24 * 3600.0
KEPT_ROWS = 10_000
SCHEMA = """CREATE TABLE IF NOT EXISTS answers (caller TEXT NOT NULL, key TEXT NOT NULL, request BLOB NOT NULL,
    at REAL NOT NULL, status INTEGER, kind TEXT, body BLOB, PRIMARY KEY (caller, key)) WITHOUT ROWID;"""


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """An answer as it was given."""

    status: int
    kind: str
    body: bytes


class IdempotencyStore:
    """The table of keys and answers. Used by any thread."""

    def __init__(self, state: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()
        path = os.path.join(state, FILE)
        self._connection = self._connect(path)
        self._log_index = LogIndex(path)
        self._log_index.note()

    @staticmethod
    def _connect(path: str) -> sqlite3.Connection:
        try:
            return open_database(path, lambda connection: connection.executescript(SCHEMA), synchronous="FULL")
        except sqlite3.DatabaseError as error:
            raise explain_sqlite_error(error) from error

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def begin(self, caller: str, key: str, request: bytes) -> KeptResponse | None:
        """Record that a request is about to run; returns the answer if it already ran."""
        with self._lock:
            rows = self._rows(
                "SELECT request, status, kind, body FROM answers WHERE caller = ? AND key = ?", caller, key
            )
            if not rows:
                self._forget_old()
                self._run("INSERT INTO answers (caller, key, request, at) VALUES (?, ?, ?, ?)",
                          caller, key, request, self._clock())  # fmt: skip
                self._under_way.add((caller, key))
                return None
            first, status, kind, body = rows[0]
            if first != request:
                raise Refused("This Idempotency-Key was used for another request.", field="Idempotency-Key")
            if status is not None:
                return KeptResponse(status, kind, body)
            raise self._unknown(caller, key)

    def _unknown(self, caller: str, key: str) -> Refused:
        if (caller, key) in self._under_way:
            return Refused("The first request with this Idempotency-Key is still in progress.", code="conflict")
        return Refused(
            "The program was stopped during the first request with this Idempotency-Key: check the turns to "
            "see whether it was done, and use another key to do it again.",
            code="conflict",
        )

    def end(self, caller: str, key: str, kept: KeptResponse) -> None:
        """Keep the answer."""
        with self._lock:
            self._under_way.discard((caller, key))
            self._run("UPDATE answers SET status = ?, kind = ?, body = ? WHERE caller = ? AND key = ?",
                      kept.status, kept.kind, kept.body, caller, key)  # fmt: skip

    def forget(self, caller: str, key: str) -> None:
        """Nothing was done: the same key can be used again."""
        with self._lock:
            self._under_way.discard((caller, key))
            self._run("DELETE FROM answers WHERE caller = ? AND key = ?", caller, key)

    def give_up(self, caller: str, key: str) -> None:
        """It ended without an answer: the outcome is unknown."""
        with self._lock:
            self._under_way.discard((caller, key))

    def _forget_old(self) -> None:
        self._run("DELETE FROM answers WHERE at < ?", self._clock() - KEPT_SECONDS)
        rows = self._rows("SELECT at FROM answers ORDER BY at DESC LIMIT 1 OFFSET ?", KEPT_ROWS)
        if rows:
            self._run("DELETE FROM answers WHERE at <= ?", rows[0][0])

    def _run(self, statement: str, *values: object) -> None:
        self._log_index.fill_up()
        try:
            self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise explain_sqlite_error(error) from error

    def _rows(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        self._log_index.fill_up()
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise explain_sqlite_error(error) from error


MAX_BODY = 16 * 1024 * 1024
KEY_HEADER = "idempotency-key"
KEY_FORM = re.compile(r"[!-~]{1,200}\Z")
REPLAYED = (b"idempotent-replayed", b"true")


class RequestBodies:
    """`aside` runs what would make others wait in another thread."""

    def __init__(self, app: Application, answers: IdempotencyStore, aside: Aside) -> None:
        self._app = app
        self._answers = answers
        self._aside = aside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope["headers"])
        try:
            body = await _read_body(headers, receive)
            if body and headers.one("content-type").partition(";")[0].strip().lower() != JSON:
                await refuse(send, Refused(f"Send {JSON}.", field="content-type"), 415)
                return
            key = _key(headers)
        except RedraftError as error:
            await refuse(send, error)
            return
        again = _replay_body(body, receive)
        if key is None:
            await self._app(scope, again, send)
        else:
            await self._once(scope, again, send, key, body)

    async def _once(self, scope: Scope, receive: Receive, send: Send, key: str, body: bytes) -> None:
        """Run a request unless it already ran."""
        caller: str = scope["state"]["caller"].name
        request = sha256(b"\0".join((scope["method"].encode(), scope["path"].encode(errors="replace"),
                                     scope["query_string"], body))).digest()  # fmt: skip
        try:
            kept = await self._aside(self._answers.begin, caller, key, request)
        except RedraftError as error:
            await refuse(send, error)
            return
        if kept is not None:
            await reply(send, kept.status, kept.body, kept.kind, [REPLAYED])
            return
        heard = _HeldResponse(send)
        try:
            await self._app(scope, receive, heard)
        finally:
            await self._keep(caller, key, heard.answer)
            await heard.pass_on()

    async def _keep(self, caller: str, key: str, answer: KeptResponse | None) -> None:
        if answer is None or answer.status == 500:
            self._answers.give_up(caller, key)
        elif answer.status > 500:
            await self._aside(self._answers.forget, caller, key)
        else:
            await self._aside(self._answers.end, caller, key, answer)


class _HeldResponse:
    """Holds an answer back until it is stored, so that a client that has seen it can get it again."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._messages: list[Message] = []
        self.answer: KeptResponse | None = None

    async def __call__(self, message: Message) -> None:
        self._messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            start = self._messages[0]
            kind = Headers(start["headers"]).one("content-type")
            self.answer = KeptResponse(
                start["status"], kind, b"".join(each.get("body", b"") for each in self._messages[1:])
            )

    async def pass_on(self) -> None:
        for message in self._messages:
            await self._send(message)


def _key(headers: Headers) -> str | None:
    given = headers.all(KEY_HEADER)
    if not given:
        return None
    if len(given) > 1 or not KEY_FORM.match(given[0]):
        raise Refused("An Idempotency-Key must have 1 to 200 visible ASCII characters.", field="Idempotency-Key")
    return given[0]


async def _read_body(headers: Headers, receive: Receive) -> bytes:
    declared = headers.one("content-length")
    too_large = Refused(f"A request may have at most {MAX_BODY} bytes.", code="too_large", limit=MAX_BODY)
    if declared.isdigit() and int(declared[:20]) > MAX_BODY:
        raise too_large
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("The request was incomplete.", field="body")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise too_large
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """The request once more for whoever comes next, and then whatever follows it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_replayed
