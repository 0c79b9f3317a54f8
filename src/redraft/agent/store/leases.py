"""The lease of a job that wants the documents for itself: while any is held, the person reads and does not type.

It is a lock of the kernel's that the job's process holds in the state folder, shared by all such jobs: so it is seen by
every process, and ends with the job or with its process, however that ends. Nothing has to be cleaned up.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from redraft.errors import Busy, Refused
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = "agent-lease"
# Many times as long as anybody looks.
LOOK_SECONDS = 0.002
SENTENCE = "The assistant has locked this document until its job ends; cancel the job to type."


class Leases:
    """The leases of one folder. Used by any thread."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._own: dict[str, ExitStack] = {}
        self._lock = threading.Lock()

    def begin(self, job_id: str) -> None:
        """Hold the documents for a job of this process."""
        with self._lock, ExitStack() as taken:
            taken.enter_context(folder_lock(self._state, FILE, exclusive=False))
            self._own[job_id] = taken.pop_all()

    def end(self, job_id: str) -> bool:
        """Let go; whether the job held anything."""
        with self._lock:
            held = self._own.pop(job_id, None)
            if held is not None:
                held.close()
        return held is not None

    @property
    def held(self) -> bool:
        """Whether any job holds the documents, in whatever process. It is asked for each key: two calls of the kernel.

        Whoever looks holds the lock for that moment, alone, so the threads of a process look one after the other; a
        second process that looks in the same instant is waited for.
        """
        with self._lock:
            if self._own:
                return True
            try:
                with folder_lock(self._state, FILE, timeout=LOOK_SECONDS):
                    return False
            except Busy:
                return True

    def check(self) -> None:
        """Refuse what a person wants to write while a job holds the documents."""
        if self.held:
            raise Refused(SENTENCE, code="locked")


def is_lease_wanted(tool_config: Mapping[str, Any], default: bool) -> bool:
    """Whether a job is to hold the documents: as its request says, else as the settings do."""
    wanted = tool_config.get("lock", default)
    if not isinstance(wanted, bool):
        raise Refused("`lock` must be true or false.", field="tool_config.lock")
    return wanted
