"""The gate: every request and every websocket passes through here, and is refused unless every check passes.

A foreign web page can make this machine's browser send requests here, and with DNS rebinding even read the answers; it
cannot choose the `Host`, `Origin` and `Sec-Fetch-Site` that the browser sends. So, in this order: the host must be one
of ours; the origin, if given, must be that host's; `Sec-Fetch-Site` must not name another site; the caller must have a
valid token in `Authorization` or a valid cookie; and a write with a cookie, which a browser sends automatically, must
have an origin. No CORS header is ever sent. The only way in without a token is `/enter`, which returns only a cookie,
and only for the right key; and `/api/health` is open to anybody.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from redraft.errors import RedraftError, Refused
from redraft.mcp_server.transports.http_headers import Headers
from redraft.server.auth.callers import ANYBODY, COOKIE_SECONDS, OWNER_NAME
from redraft.server.replies import HTML, add_security_headers, policy_of, refuse, reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.server.auth.callers import Caller, Keys
    from redraft.server.replies import Application, Receive, Scope, Send

# Rate limiting: a token bucket that fills at a steady rate, and loses one token per request.
#
# It is for runaway programs and for guessing at tokens: a person and their agents together stay far below it. For
# callers without a token only failures count, so that nobody can be locked out by others.


MAX_BUCKETS = 1024


@dataclass(slots=True)
class TokenBucket:
    """The tokens that one caller has left."""

    left: float
    at: float


class RateLimit:
    """A number of requests per second in the long run, and `burst` at once."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def allows(self, name: str) -> bool:
        """Count a request; whether it is within the limit."""
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(self._burst, now)
            while len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.left < 1:
            return False
        bucket.left -= 1
        return True


ENTER = "/enter"
HEALTH = "/api/health"
SAFE = ("GET", "HEAD")
OWN_SITES = ("", "same-origin", "none")
REQUESTS_A_SECOND, REQUESTS_AT_ONCE = 1000.0, 3000.0
FAILURES_A_SECOND, FAILURES_AT_ONCE = 0.5, 30.0
MAX_FORM = 4096
HOME_NAMES = ("127.0.0.1", "localhost", "::1")
HOME_ADDRESSES = ("127.0.0.1", "::1")
# A proxy adds one of these headers.
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def loopback_origins(port: int) -> dict[str, str]:
    """The loopback host names, each with the origin of its pages."""
    return {host: f"http://{host}" for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}")}


def public_origin(url: str) -> tuple[str, str]:
    """The host and the origin of the address at which others reach the server."""
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None
    except ValueError:
        wrong = True
        parts = urlsplit("")
    if wrong or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise Refused(f"{url!a} is not an address such as https://redraft.example.org.", field="public")
    host = parts.netloc.lower()
    return host, f"{parts.scheme}://{host}"


class Gate:
    """The application behind the gate. `origins` maps each host that is ours to the origin of its pages."""

    def __init__(
        self, app: Application, keys: Keys, origins: dict[str, str], *, page: bytes, secure: bool = False
    ) -> None:
        self._app = app
        self._keys = keys
        self._origins = origins
        self._page = page  # for a browser that is not signed in
        self._page_headers = _page_headers(page)
        self._secure = secure
        self._requests = RateLimit(REQUESTS_A_SECOND, REQUESTS_AT_ONCE)
        self._failures = RateLimit(FAILURES_A_SECOND, FAILURES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "lifespan":
            await self._app(scope, receive, send)
            return
        if kind not in ("http", "websocket"):
            raise RuntimeError(f"{kind} is not supported here")
        headers = Headers(scope["headers"])
        error = self._stranger(headers)
        if kind == "websocket":
            await self._websocket(scope, receive, send, headers, error)
            return
        number = secrets.token_hex(8)
        sending = add_security_headers(send, [(b"x-request-id", number.encode())])
        if error is not None:
            await refuse(sending, error)
        elif scope["path"] == ENTER:
            await self._enter(scope, receive, sending, headers)
        else:
            await self._request(scope, receive, sending, headers, number)

    def _stranger(self, headers: Headers) -> RedraftError | None:
        """Why a request must be refused, whoever sent it."""
        host = headers.one("host").lower()
        if host not in self._origins:
            return Refused("This server does not serve that host name.", code="not_allowed", field="host")
        origins = headers.all("origin")
        if origins and [origin.lower() for origin in origins] != [self._origins[host]]:
            return Refused(
                "This server does not accept requests from other origins.", code="not_allowed", field="origin"
            )
        if headers.all("sec-fetch-site") and headers.one("sec-fetch-site") not in OWN_SITES[1:]:
            return Refused(
                "This server does not accept requests from other sites.", code="not_allowed", field="sec-fetch-site"
            )
        return None

    def _caller(self, headers: Headers) -> Caller | None:
        scheme, _, token = headers.one("authorization").partition(" ")
        if headers.all("authorization"):
            return self._keys.by_token(token.strip()) if scheme.lower() == "bearer" else None
        value = _cookie(headers, self._keys.cookie)
        return None if value is None else self._keys.by_cookie(value)

    def _judge(self, scope: Scope, headers: Headers, *, safe: bool) -> Caller | RedraftError:
        """The caller, or the reason for refusing them."""
        try:
            caller = self._caller(headers)
        except RedraftError as error:  # the list of users cannot be read: refuse everybody
            return error
        if caller is None:
            if not self._failures.allows(_address(scope)):
                return Refused("Too many requests without a token.", code="limit_exceeded", retry_after=2)
            return Refused("This request has no valid token.", code="unauthenticated")
        if caller.by_cookie and not safe and not headers.all("origin"):
            return Refused("A request with a cookie must have an Origin header.", code="not_allowed", field="origin")
        if not self._requests.allows(caller.name):
            return Refused("Too many requests in a short time.", code="limit_exceeded", retry_after=2)
        return replace(caller, at_home=_is_at_home(caller, scope, headers))

    def _passer_by(self, scope: Scope, headers: Headers) -> Caller | None:
        """An anonymous caller of the health check, who learns nothing else. An invalid token counts as none: the check
        needs no token, so a stale one is no reason to report the server as unhealthy."""
        if scope["path"] != HEALTH or scope["method"] not in SAFE or self._is_known(headers):
            return None
        return ANYBODY if self._requests.allows(_address(scope)) else None

    def _is_known(self, headers: Headers) -> bool:
        try:
            return self._caller(headers) is not None
        except RedraftError:
            return False

    async def _request(self, scope: Scope, receive: Receive, send: Send, headers: Headers, number: str) -> None:
        judged = self._passer_by(scope, headers) or self._judge(scope, headers, safe=scope["method"] in SAFE)
        if isinstance(judged, RedraftError):
            if judged.code == "unauthenticated" and scope["method"] == "GET" and "text/html" in headers.one("accept"):
                await reply(send, 401, self._page, HTML, self._page_headers)
                return
            more = {"unauthenticated": [(b"www-authenticate", b"Bearer")], "limit_exceeded": [(b"retry-after", b"2")]}
            await refuse(send, judged, headers=more.get(judged.code, ()))
            return
        scope["state"] = {**scope.get("state", {}), "caller": judged, "request": number}
        await self._app(scope, receive, send)

    async def _websocket(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, error: RedraftError | None
    ) -> None:
        # A websocket reads and writes, and no browser asks anybody before it opens one: it is never safe.
        judged = error or self._judge(scope, headers, safe=False)
        if isinstance(judged, RedraftError):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        scope["state"] = {**scope.get("state", {}), "caller": judged}
        await self._app(scope, receive, send)

    # Coming in

    async def _enter(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        try:
            caller = await self._redeem_proof(scope, receive, headers)
        except RedraftError as error:
            await refuse(send, error)
            return
        if caller is None:
            error = Refused("This link has been used, has expired, or was never valid.", code="unauthenticated")
            if not self._failures.allows(_address(scope)):
                error = Refused("Too many wrong keys.", code="limit_exceeded", retry_after=2)
            await (
                reply(send, 401, self._page, HTML, self._page_headers)
                if error.code == "unauthenticated" and "text/html" in headers.one("accept")
                else refuse(send, error)
            )
            return
        parts = [f"{self._keys.cookie}={self._keys.cookie_for(caller)}", "Path=/", "HttpOnly", "SameSite=Strict"]
        parts += ["Secure", f"Max-Age={COOKIE_SECONDS}"] if self._secure else []
        await reply(send, 303, b"", HTML, [(b"location", b"/"), (b"set-cookie", "; ".join(parts).encode())])

    async def _redeem_proof(self, scope: Scope, receive: Receive, headers: Headers) -> Caller | None:
        """The caller with a key in the URL, or a token in the sign-in form."""
        if scope["method"] == "GET":
            keys = parse_qs(scope["query_string"].decode("latin-1")).get("key", [])
            return self._keys.redeem(keys[0]) if len(keys) == 1 else None
        if scope["method"] != "POST" or not headers.all("origin"):
            return None
        body = await _small_body(receive)
        tokens = parse_qs(body.decode("latin-1")).get("token", [])
        return self._keys.by_token(tokens[0].strip()) if len(tokens) == 1 else None


def _is_at_home(caller: Caller, scope: Scope, headers: Headers) -> bool:
    """Whether this is the folder's owner at this machine: their browser, directly, at a local host name."""
    if not caller.by_cookie or caller.name != OWNER_NAME or any(headers.all(name) for name in FORWARDED):
        return False
    host = urlsplit(f"//{headers.one('host')}").hostname or ""
    return host in HOME_NAMES and _address(scope) in HOME_ADDRESSES


def _page_headers(page: bytes) -> list[tuple[bytes, bytes]]:
    """Those of the one page that anybody may see."""
    # Under `no-referrer` a browser tells no origin with a form, and the form on this page has to tell it.
    referrer = (b"referrer-policy", b"same-origin")
    return [(b"www-authenticate", b"Bearer"), referrer, (b"content-security-policy", policy_of(page).encode())]


def _cookie(headers: Headers, name: str) -> str | None:
    # By hand: other servers on this machine share our cookies, and one that cannot be parsed must not hide ours.
    pairs = (part.partition("=") for header in headers.all("cookie") for part in header.split(";"))
    return next((value.strip() for told, _, value in pairs if told.strip() == name), None)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"


async def _small_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body") or sum(map(len, parts)) > MAX_FORM:
            return b"".join(parts)[:MAX_FORM]
