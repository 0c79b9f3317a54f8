"""The lease of a job that wants the documents for itself: while any is held, the person can read but not type.

It is a kernel lock in the state folder, shared by all such jobs: every process sees it, and it ends with the job or its
process, however that ends. Nothing has to be cleaned up.
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
# Many times as long as a check takes.
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
        """Release the lease; returns whether the job held one."""
        with self._lock:
            lock = self._own.pop(job_id, None)
            if lock is not None:
                lock.close()
        return lock is not None

    @property
    def held(self) -> bool:
        """Whether any job of any process holds a lease. This runs on every keystroke: two system calls.

        The check takes the lock exclusively for a moment, so the threads of a process check one after the other, and
        wait for a second process that checks at the same instant.
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
        """Refuse a person's write while a job holds a lease."""
        if self.held:
            raise Refused(SENTENCE, code="locked")


def is_lease_wanted(tool_config: Mapping[str, Any], default: bool) -> bool:
    """Whether a job should get a lease: as its request says, else as the settings do."""
    wanted = tool_config.get("lock", default)
    if not isinstance(wanted, bool):
        raise Refused("`lock` must be true or false.", field="tool_config.lock")
    return wanted
