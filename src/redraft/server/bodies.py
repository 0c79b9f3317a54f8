"""What comes with a request: it has to be JSON, of a bearable size, and may carry an `Idempotency-Key`.

Stands between the gate and the routes. A request that is repeated under its key does not reach a route again.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from redraft.errors import RedraftError, Refused
from redraft.mcp_server.headers import Headers
from redraft.server.repeating import Kept
from redraft.server.replies import JSON, refuse, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from redraft.server.repeating import Answers
    from redraft.server.replies import Application, Message, Receive, Scope, Send

    Aside = Callable[..., Awaitable[Any]]

MAX_BODY = 16 * 1024 * 1024
KEY_HEADER = "idempotency-key"
KEY_FORM = re.compile(r"[!-~]{1,200}\Z")
REPLAYED = (b"idempotent-replayed", b"true")


class Bodies:
    """`aside` runs what would make others wait in another thread."""

    def __init__(self, app: Application, answers: Answers, aside: Aside) -> None:
        self._app = app
        self._answers = answers
        self._aside = aside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope["headers"])
        try:
            body = await _whole(headers, receive)
            if body and headers.one("content-type").partition(";")[0].strip().lower() != JSON:
                await refuse(send, Refused(f"Send {JSON}.", field="content-type"), 415)
                return
            key = _key(headers)
        except RedraftError as error:
            await refuse(send, error)
            return
        again = _again(body, receive)
        if key is None:
            await self._app(scope, again, send)
        else:
            await self._once(scope, again, send, key, body)

    async def _once(self, scope: Scope, receive: Receive, send: Send, key: str, body: bytes) -> None:
        """Carry a request out unless it was before."""
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
        heard = _Heard(send)
        try:
            await self._app(scope, receive, heard)
        finally:
            await self._keep(caller, key, heard.answer)
            await heard.pass_on()

    async def _keep(self, caller: str, key: str, answer: Kept | None) -> None:
        if answer is None or answer.status == 500:
            self._answers.give_up(caller, key)
        elif answer.status > 500:
            await self._aside(self._answers.forget, caller, key)
        else:
            await self._aside(self._answers.end, caller, key, answer)


class _Heard:
    """Holds an answer back until it is kept: who has seen it can rely on seeing it again."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._messages: list[Message] = []
        self.answer: Kept | None = None

    async def __call__(self, message: Message) -> None:
        self._messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            start = self._messages[0]
            kind = Headers(start["headers"]).one("content-type")
            self.answer = Kept(start["status"], kind, b"".join(each.get("body", b"") for each in self._messages[1:]))

    async def pass_on(self) -> None:
        for message in self._messages:
            await self._send(message)


def _key(headers: Headers) -> str | None:
    given = headers.all(KEY_HEADER)
    if not given:
        return None
    if len(given) > 1 or not KEY_FORM.match(given[0]):
        raise Refused("An Idempotency-Key has 1 to 200 visible ASCII characters.", field="Idempotency-Key")
    return given[0]


async def _whole(headers: Headers, receive: Receive) -> bytes:
    declared = headers.one("content-length")
    too_large = Refused(f"A request may have {MAX_BODY} bytes.", code="too_large", limit=MAX_BODY)
    if declared.isdigit() and int(declared[:20]) > MAX_BODY:
        raise too_large
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("The request did not come to its end.", field="body")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise too_large
        more = message.get("more_body", False)
    return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    """The request once more for whoever comes next, and then whatever follows it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving
