"""Typing that waits in its browser: while a job holds the documents, nothing that a client types is taken in.

Such a client is not told that its typing has arrived, so its page keeps it; it sees all that happens meanwhile. Once
the documents are free it is asked to come again, and then sends everything that it has.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.server.live.client import Client

LOOK_SECONDS = 0.25


class Holding:
    """The clients of one room whose typing waits. Used on the event loop."""

    def __init__(self, locked: Callable[[], bool], again: Callable[[Client], None]) -> None:
        self._locked = locked
        self._again = again
        self._clients: set[Client] = set()
        self._looking: asyncio.TimerHandle | None = None

    def __contains__(self, client: Client) -> bool:
        return client in self._clients

    def refuses(self, client: Client, *, writes: bool) -> bool:
        """Whether what a client sends has to wait. What follows builds upon it, and waits too."""
        if client not in self._clients:
            if not writes or not self._locked():
                return False
            self._clients.add(client)
            self._look_later()
        return True

    def leave(self, client: Client) -> None:
        self._clients.discard(client)

    def close(self) -> None:
        self._clients.clear()
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _look_later(self) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = None
        if self._clients and self._locked():
            self._look_later()
            return
        clients, self._clients = self._clients, set()
        for client in clients:
            self._again(client)
