"""The word that a client shows to be let in: made at random, and kept where only its owner can read it."""

from __future__ import annotations

import os
import secrets
import stat

from redraft.errors import Refused

SHORTEST = 16
LONGEST = 4096


def new_token() -> str:
    return secrets.token_urlsafe(32)


def checked(token: str, where: str) -> str:
    """A token that somebody chose; refused where it can be guessed, or cannot be sent in a header."""
    if len(token) < SHORTEST:
        raise Refused(f"The token in {where} has fewer than {SHORTEST} characters.", field="token")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise Refused(f"The token in {where} holds other than visible ASCII characters.", field="token")
    return token


def token_from(path: str) -> str:
    """The token in a file of the person's own; where there is no such file, it is made with a new token."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _read(path)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.", path=path) from error
    token = new_token()
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(LONGEST)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.", path=path) from error
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(f"{path} can be read by others: `chmod 600` it, and change the token.", path=path)
    try:
        return checked(data.decode("ascii").strip(), path)
    except UnicodeDecodeError as error:
        raise Refused(f"{path} holds no token.", path=path) from error
