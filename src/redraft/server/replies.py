"""What is sent back: JSON, a failure in the one shape that every surface has, or a page; as plain ASGI messages.

Used before any route is reached, so it needs no library. Every answer of the server gets `GUARDS`: a page of ours loads
nothing from elsewhere, is shown in nobody's frame, and tells nobody where it was.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from redraft.errors import CODES, RedraftError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Application = Callable[[Scope, Receive, Send], Awaitable[None]]
    RawHeaders = Iterable[tuple[bytes, bytes]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
GUARDS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
JSON = "application/json"
HTML = "text/html; charset=utf-8"
STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)


def policy_of(page: bytes) -> str:
    """That of a page without the app, which loads nothing; its own style is known by its hash."""
    styles = [b64encode(sha256(style).digest()).decode() for style in STYLE.findall(page)]
    allowed = " ".join(f"'sha256-{digest}'" for digest in styles) or "'none'"
    return f"default-src 'none'; style-src {allowed}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


def encode_json(value: Any) -> bytes:
    """A JSON value; half of a surrogate pair, which a client may have sent, is written as an escape."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def status_of(error: RedraftError) -> int:
    return CODES[error.code].http


def failure(error: RedraftError) -> bytes:
    return encode_json(error.as_dict())


async def reply(send: Send, status: int, body: bytes, kind: str = JSON, headers: RawHeaders = ()) -> None:
    """A whole answer."""
    told = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, error: RedraftError, status: int | None = None, headers: RawHeaders = ()) -> None:
    await reply(send, status or status_of(error), failure(error), headers=headers)


def add_security_headers(send: Send, extra: RawHeaders = ()) -> Send:
    """`send`, with the headers that every answer has; what an answer says of its own keeping stands."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
            said = {name.lower() for name, _ in headers}
            headers += [(name, value) for name, value in (*GUARDS, *extra) if name not in said]
            message = {**message, "headers": headers}
        await send(message)

    return send_guarded
