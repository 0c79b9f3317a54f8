"""How far the workspace has followed a room, and who waits for it to come further. Used on the event loop."""

from __future__ import annotations

import asyncio


class Followed:
    """Updates are counted as they come in, and again when the workspace has heard of them, in the same order."""

    def __init__(self) -> None:
        self._came = self._heard = 0
        self._waiters: list[tuple[int, asyncio.Future[bool]]] = []

    @property
    def waiting(self) -> bool:
        """Whether the workspace has still to hear of something."""
        return self._heard < self._came

    def came(self, count: int) -> None:
        self._came += count

    def heard(self, count: int, *, kept: bool = True) -> None:
        """The workspace has heard of the next ones: they are kept, or something went wrong."""
        self._heard += count
        while self._waiters and self._waiters[0][0] <= self._heard:
            _, waiter = self._waiters.pop(0)
            if not waiter.done():
                waiter.set_result(kept)

    def all(self) -> asyncio.Future[bool]:
        """Done when the workspace has heard of all that has come in by now, not of what comes later; whether the last
        of it is kept."""
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.waiting:
            self._waiters.append((self._came, waiter))
        else:
            waiter.set_result(True)
        return waiter
