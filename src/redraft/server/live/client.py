"""One connection, as a room sees it, and the codes with which it is ended: by them the browser knows what to do."""

from __future__ import annotations

from typing import Protocol

UNACCEPTABLE, READ_ONLY, NOT_THERE, OTHER_EPOCH, TOO_MANY = 4400, 4403, 4404, 4409, 4429
FAILED, AGAIN = 1011, 1012


class Client(Protocol):
    """One connection, as a room sees it."""

    name: str
    may_write: bool
    synced: bool

    def send(self, data: bytes) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


class Refusal(Exception):
    """Why a connection is ended."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
