"""Callers (a name and a role), the file with a team's users, and how a caller authenticates.

A token is shown once, when it is created; only its hash is stored. It is random and long, so a plain hash is enough.
The file is in the folder's state, which no document and no agent can reach, and is read again whenever it has changed:
a removed user is locked out with the next request.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from redraft.errors import Damaged, Refused
from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock
from redraft.history.turns import PERSON, Author, AuthorKind, agent_author

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


Role = Literal["viewer", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
FILE = "users.json"
NAME_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}\Z")
OWNER_NAME = PERSON.name
# The names of non-users in turns and the audit log.
RESERVED_NAMES = frozenset({OWNER_NAME, *get_args(AuthorKind)})
FOR = " for "


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller. `by_cookie` means that a browser sent a cookie, `at_home` that it is the folder's owner
    in a browser on the server's own machine."""

    name: str
    role: Role
    by_cookie: bool = False
    at_home: bool = False

    @property
    def author(self) -> Author:
        return Author("person", self.name)

    def agent(self, name: str) -> Author:
        """An agent that works for them, named after both, as MCP clients are. The owner's agents have only their own
        name, which therefore cannot have that form."""
        author = agent_author(name)
        if FOR in name:
            raise Refused(f"An agent's name cannot contain {FOR!r}: the server adds who it works for.", field="author")
        return author if self.name == OWNER_NAME else agent_author(f"{name}{FOR}{self.name}")

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


OWNER = Caller(OWNER_NAME, "admin")
ANYBODY = Caller("", "viewer")  # an anonymous caller, allowed only at one route


@dataclass(frozen=True, slots=True)
class User:
    """One person of a team. `digest` is the hash of their token."""

    name: str
    role: Role
    digest: str
    added: float

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "role": self.role, "added": self.added}


class Users:
    """The people who may use one folder's server."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._path = os.path.join(state, FILE)
        self._stamp: tuple[int, int, int] | None = None
        self._users: dict[str, User] = {}

    def all(self) -> Mapping[str, User]:
        """Everybody, by name."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            self._stamp, self._users = None, {}
            return {}
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if stamp != self._stamp:
            self._users = self._read()
            self._stamp = stamp
        return self._users

    def by_token(self, token: str) -> User | None:
        digest = digest_of(token)
        return next((user for user in self.all().values() if secrets.compare_digest(user.digest, digest)), None)

    def add(self, name: str, role: Role) -> str:
        """Add a user and return their token, which cannot be shown again. Names must differ by more than letter case:
        readers would take them for one person."""
        if not NAME_FORM.match(name):
            raise Refused(f"{name!a} is not a valid name: use letters, digits, and . _ @ - inside.", field="name")
        if name.lower() in RESERVED_NAMES:
            raise Refused(f"{name} cannot be a user's name: the name is reserved.", field="name")
        token = secrets.token_urlsafe(32)
        with folder_lock(self._state, "users"):
            users = dict(self._read())
            if (known := next((each for each in users if each.lower() == name.lower()), None)) is not None:
                raise Refused(f"{known} is already a user.", code="already_exists", name=known)
            users[name] = User(name, role, digest_of(token), time.time())
            self._write(users)
        return token

    def remove(self, name: str) -> None:
        with folder_lock(self._state, "users"):
            users = dict(self._read())
            if users.pop(name, None) is None:
                raise Refused(f"There is no user {name!a}.", code="not_found", name=name)
            self._write(users)

    def _read(self) -> dict[str, User]:
        try:
            with open(self._path, encoding="utf-8") as file:
                found: Any = json.load(file)
            entries = [cast("dict[str, Any]", entry) for entry in found]
            users = [
                User(str(each["name"]), each["role"], str(each["digest"]), float(each["added"])) for each in entries
            ]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise Damaged(f"The list of users cannot be read: {error}.") from error
        if any(user.role not in ROLES for user in users):
            raise Damaged("The list of users has an unknown role.")
        return {user.name: user for user in users}

    def _write(self, users: Mapping[str, User]) -> None:
        entries = [{**user.as_json(), "digest": user.digest} for user in users.values()]
        write_private(self._path, json.dumps(entries, indent=2))


def digest_of(token: str) -> str:
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


# How callers authenticate: a token in a header, a cookie, and a one-time key.
#
# The server's own secret is the owner's token; programs on this machine find it in a file that only the owner can read.
# A browser signs in with a URL that has a short-lived one-time key, and gets a cookie. The cookie contains no secret:
# it is a name and a time, signed over the hash of the user's token with a key that is stored in the state. So it
# survives a restart, and ends when the user is removed or their token changes.


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
