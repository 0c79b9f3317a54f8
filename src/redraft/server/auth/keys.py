"""How callers authenticate: a token in a header, a cookie, and a one-time key.

The server's own secret is the owner's token; programs on this machine find it in a file that only the owner can read. A
browser signs in with a URL that has a short-lived one-time key, and gets a cookie. The cookie contains no secret: it is
a name and a time, signed over the hash of the user's token with a key that is stored in the state. So it survives a
restart, and ends when the user is removed or their token changes.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from redraft.files.atomic_write import write_private
from redraft.server.auth.callers import OWNER, OWNER_NAME, Caller, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.server.auth.callers import Users

KEY_FILE = "server-key"
COOKIE_SECONDS = 30 * 24 * 3600
VISIT_SECONDS = 600
MAX_VISITS = 32


class Keys:
    """The keys and tokens of one server."""

    def __init__(
        self, state: str, users: Users, secret: str, *, cookie: str, clock: Callable[[], float] = time.time
    ) -> None:
        self.cookie = cookie
        self._users = users
        self._secret = digest_of(secret)
        self._signing = load_signing_key(state)
        self._visits: dict[str, tuple[float, str]] = {}
        self._clock = clock

    def by_token(self, token: str) -> Caller | None:
        # Digests are of one length, so that the time of comparing tells nothing about the token.
        if hmac.compare_digest(digest_of(token), self._secret):
            return OWNER
        user = self._users.by_token(token)
        return None if user is None else Caller(user.name, user.role)

    # One visit

    def visit(self, caller: Caller) -> str:
        """A one-time key that signs a browser in as this caller."""
        now = self._clock()
        kept = {digest: visit for digest, visit in self._visits.items() if visit[0] > now}
        self._visits = dict(list(kept.items())[-MAX_VISITS + 1 :])
        key = secrets.token_urlsafe(32)
        # Their cookie stands for them: it ends when they are removed or their token changes, and the key with it.
        self._visits[digest_of(key)] = now + VISIT_SECONDS, self.cookie_for(caller)
        return key

    def redeem(self, key: str) -> Caller | None:
        until, cookie = self._visits.pop(digest_of(key), (0.0, ""))
        return self.by_cookie(cookie) if until > self._clock() else None

    # Cookies

    def cookie_for(self, caller: Caller) -> str:
        until = int(self._clock()) + COOKIE_SECONDS
        name = base64.urlsafe_b64encode(caller.name.encode()).decode().rstrip("=")
        return f"{name}.{until}.{self._signature(caller.name, until)}"

    def by_cookie(self, value: str) -> Caller | None:
        packed, _, rest = value.partition(".")
        told, _, signature = rest.partition(".")
        try:
            name = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
        except (binascii.Error, ValueError):
            return None
        if not (told.isascii() and told.isdigit() and len(told) < 16):
            return None
        known = self._find_caller(name)
        right = hmac.compare_digest(self._signature(name, int(told)).encode(), signature.encode(errors="replace"))
        return known if right and int(told) > self._clock() else None

    def now(self, caller: Caller) -> Caller | None:
        """The current state of a caller whose connection has been open for a while; None if they were removed."""
        known = self._find_caller(caller.name)
        return None if known is None else replace(known, by_cookie=caller.by_cookie, at_home=caller.at_home)

    def _find_caller(self, name: str) -> Caller | None:
        if name == OWNER_NAME:
            return replace(OWNER, by_cookie=True)
        user = self._users.all().get(name)
        return None if user is None else Caller(user.name, user.role, by_cookie=True)

    def _signature(self, name: str, until: int) -> str:
        user = self._users.all().get(name)
        digest = "" if user is None else user.digest
        signed = f"{self.cookie}\0{name}\0{until}\0{digest}".encode(errors="surrogatepass")
        return hmac.new(self._signing, signed, "sha256").hexdigest()


def load_signing_key(state: str) -> bytes:
    """The key that signs cookies; created if there is none, or none that is usable."""
    path = os.path.join(state, KEY_FILE)
    try:
        with open(path, encoding="ascii") as file:
            key = bytes.fromhex(file.read(128).strip())
        if len(key) == 32:
            return key
    except (OSError, ValueError):
        pass
    key = secrets.token_bytes(32)
    write_private(path, key.hex())
    return key
