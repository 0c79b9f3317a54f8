"""What one HTTP stream has to say, put in by any thread and taken out by the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redraft.mcp_server.protocol import Message

# Nobody has read for a long time when so much has gathered; what is dropped is told again by the next change.
KEPT = 1000


class Channel:
    """A queue with an end. Made in the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Message] = deque(maxlen=KEPT)
        self._over = False
        self._news = asyncio.Event()

    def put(self, message: Message) -> None:
        """From any thread."""
        self._waiting.append(message)
        self._wake()

    def end(self) -> None:
        """Nothing more will be said."""
        self._over = True
        self._wake()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    @property
    def ended(self) -> bool:
        return self._over and not self._waiting

    async def get(self, seconds: float, gone: asyncio.Future[None]) -> Message | None:
        """The next message; None after so many seconds without one, at the end, or once `gone` is done."""
        if not self._waiting and not self._over:
            self._news.clear()
            if not self._waiting and not self._over:
                news = asyncio.ensure_future(self._news.wait())
                await asyncio.wait({news, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
        return self._waiting.popleft() if self._waiting else None
