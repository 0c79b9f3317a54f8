"""Callers (a name and a role), and the file with a team's users.

A token is shown once, when it is created; only its hash is stored. It is random and long, so a plain hash is enough.
The file is in the folder's state, which no document and no agent can reach, and is read again whenever it has changed:
a removed user is locked out with the next request.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from redraft.errors import Damaged, Refused
from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock
from redraft.history.turns import Author, AuthorKind
from redraft.workspace.authors import PERSON, agent_author

if TYPE_CHECKING:
    from collections.abc import Mapping

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
            raise Refused(f"An agent's name cannot hold {FOR!r}: the server adds who it works for.", field="author")
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
