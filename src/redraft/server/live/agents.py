"""The agent as somebody who is there: while a job works on a document, everybody in its room sees it.

A job's edits come into the text together, when its turn is carried out: until then it is at no place in it.

Used on the event loop. What is shown is renewed now and then, for clients take whoever is silent for 30 s as gone.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.server.live.room import Room

NAME = "Agent"
RENEW_SECONDS = 12.0


@dataclass(slots=True)
class _Working:
    """A job, the number it goes by in rooms, and its document."""

    number: int
    path: str


class Agents:
    """The jobs that work on documents."""

    def __init__(self, room: Callable[[str], Room | None]) -> None:
        self._room = room
        self._jobs: dict[str, _Working] = {}
        self._renewing: asyncio.TimerHandle | None = None

    def show(self, job_id: str, path: str) -> None:
        """A job works on this document; without a path, on none any more."""
        before = self._jobs.pop(job_id, None)
        if before is not None and before.path != path:
            self._put(before, None)
        if path:
            number = secrets.randbits(32) if before is None else before.number
            self._jobs[job_id] = _Working(number, path)
            self._show(job_id)
            self._renew_later()

    def entered(self, path: str) -> None:
        """The document's room was opened."""
        for job_id, working in self._jobs.items():
            if working.path == path:
                self._show(job_id)

    def _show(self, job_id: str) -> None:
        self._put(self._jobs[job_id], {"user": {"name": NAME, "kind": "agent"}, "job_id": job_id})

    def _put(self, working: _Working, state: dict[str, Any] | None) -> None:
        room = self._room(working.path)
        if room is not None:
            room.show(working.number, state)

    def _renew_later(self) -> None:
        if self._renewing is None:
            self._renewing = asyncio.get_running_loop().call_later(RENEW_SECONDS, self._renew)

    def _renew(self) -> None:
        self._renewing = None
        for job_id in self._jobs:
            self._show(job_id)
        if self._jobs:
            self._renew_later()
