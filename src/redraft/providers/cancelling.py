"""Stopping a step from anywhere.

A job runs in one thread and the person's "stop" arrives in another, so a plain task cancellation is not enough. A
`Cancel` is set once, from any thread, and never unset; `run` ends what it guards with a `ProviderError` of the kind
`cancelled`, at once when it is set while waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, TypeVar

from redraft.providers.failures import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

T = TypeVar("T")


class Cancel:
    """A wish to stop, shared by whoever may utter it and whoever must heed it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        """Stop everything that this guards, now and later."""
        with self._lock:
            self._set = True
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    def check(self) -> None:
        """Raise where the wish has been uttered."""
        if self._set:
            raise ProviderError("The step was cancelled.", kind="cancelled")

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work`, or end it when this is set; where it is set already, `work` never starts."""
        if self._set:
            work.close()
        self.check()
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def stop() -> None:
            # The loop may have ended between our being called and now; then there is nothing left to stop.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

        self._listen(stop)
        try:
            return await task
        except asyncio.CancelledError:
            self.check()
            raise
        finally:
            self._forget(stop)

    def _listen(self, listener: Callable[[], None]) -> None:
        with self._lock:
            if not self._set:
                self._listeners.append(listener)
                return
        listener()

    def _forget(self, listener: Callable[[], None]) -> None:
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)
