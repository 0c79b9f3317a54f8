"""The guard of a served folder: one at a time at its workspace, which has heard of all that was typed before.

Whoever reads, agents above all, must see what stands on the person's screen: what has come into a room becomes typing
before the guard is given away. Those who bring that typing hold the lock `at_once`, and would wait for themselves here.
Never waited for on the event loop, which does the bringing.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Guard(AbstractContextManager[None]):
    """A lock; `settle` waits until the workspace has heard of all typing, and may give up."""

    def __init__(self) -> None:
        self.at_once = threading.Lock()
        self.settle: Callable[[], None] | None = None

    def __enter__(self) -> None:
        if self.settle is not None:
            self.settle()
        self.at_once.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.at_once.release()
