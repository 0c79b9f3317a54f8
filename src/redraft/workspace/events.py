"""Notify listeners of what happened. A listener that fails stops neither the others nor the operation itself."""

from __future__ import annotations

import contextlib
import logging
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. It is on disk or in the history before listeners hear of it."""

    type: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])


class _Held(threading.local):
    """The events that one thread delivers once it releases the folder."""

    def __init__(self) -> None:
        self.events: list[Event] | None = None


class Events:
    """The listeners of one workspace."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []
        self._held = _Held()

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Add a listener; returns a function that removes it."""
        self._listeners.append(listener)

        def end() -> None:
            with contextlib.suppress(ValueError):  # ended before
                self._listeners.remove(listener)

        return end

    def tell(self, event: str, /, **data: Any) -> None:
        if self._held.events is None:
            self._deliver(Event(event, data))
        else:
            self._held.events.append(Event(event, data))

    @contextlib.contextmanager
    def hold(self) -> Generator[None]:
        """Deliver the events of this block when it ends, so that a slow listener, or one that acts itself, delays
        nobody."""
        if self._held.events is not None:
            yield
            return
        held = self._held.events = list[Event]()
        try:
            yield
        finally:
            self._held.events = None
            for event in held:
                self._deliver(event)

    def _deliver(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # a stranger's callback must not undo what is already done
                LOG.exception("a listener failed on %s", event.type)
