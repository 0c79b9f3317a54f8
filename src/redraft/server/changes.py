"""What changed in the folder, in order, for whoever shows it: enough to know what to fetch again, and no more.

The newest few thousand are kept in memory. Their numbers only grow, through restarts too, since they begin with the
time; so a client that comes back with a number from before is known to have missed something, and is told `all`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from redraft.workspace.events import Events

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["all", "document", "review", "turn", "tabs", "tree", "job", "notice"]
KEPT = 4096
CHANGES = "changes"  # the one stream of them


@dataclass(frozen=True, slots=True)
class Changed:
    """One entry. What is None is not told; a kind without a path means any."""

    cursor: int
    type: Kind
    path: str | None = None
    version: str | None = None
    turn: int | None = None
    job: str | None = None

    @property
    def job_id(self) -> str:
        """Which stream it belongs to."""
        return CHANGES

    def as_dict(self) -> dict[str, Any]:
        told = {"path": self.path, "version": self.version, "turn": self.turn, "job_id": self.job}
        given = {key: value for key, value in told.items() if value is not None}
        return {"seq": self.cursor, "kind": self.type, **given}


class Changes:
    """The log. Used by any thread."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Changed] = deque(maxlen=kept)
        self._newest = self._forgotten = int(time.time() * 1000)
        self._told = Events()

    def tell(
        self,
        kind: Kind,
        *,
        path: str | None = None,
        version: str | None = None,
        turn: int | None = None,
        job: str | None = None,
    ) -> None:
        with self._lock:
            self._newest += 1
            change = Changed(self._newest, kind, path, version, turn, job)
            if len(self._kept) == self._kept.maxlen:
                self._forgotten = self._kept[0].cursor
            self._kept.append(change)
        self._told.tell(kind, change=change)

    def after(self, _stream: str, cursor: int) -> list[Changed]:
        """What came behind a number; `all` first where something in between is forgotten."""
        with self._lock:
            found = [change for change in self._kept if change.cursor > cursor]
            return found if cursor >= self._forgotten else [Changed(self._forgotten, "all"), *found]

    def begin(self, last: int | None) -> int:
        """Where a client goes on that has this number, or none."""
        with self._lock:
            if last is None:
                return self._newest
            return last if last <= self._newest else self._forgotten - 1

    def subscribe(self, listener: Callable[[Changed], None]) -> Callable[[], None]:
        return self._told.subscribe(lambda event: listener(event.data["change"]))
