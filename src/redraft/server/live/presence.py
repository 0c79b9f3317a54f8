"""Who is in a room: names and cursors, the agent included. Relayed, never stored.

Each connection owns the client numbers that it used first, and only a few of them; the name is the caller's, set here,
so that nobody can impersonate another person or the agent. A y-websocket client repeats the states of others: those are
ignored. Changes are sent together, as the latest state of each.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from redraft.server.live.wire import Garbled, Reader, blob, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.server.live.room import Room

MAX_STATE = 4096
MAX_NUMBERS = 4
GONE = "null"


@dataclass(slots=True)
class _Seen:
    clock: int
    state: str
    owner: object


class Presence:
    """The states in one room, by the number that a client gave itself."""

    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        self._changed: dict[int, _Seen] = {}

    @property
    def waiting(self) -> bool:
        return bool(self._changed)

    def take(self, owner: object, name: str, data: bytes) -> None:
        """Take in what a connection tells of itself; `Garbled` where it cannot be read, or is too much."""
        reader = Reader(data)
        for _ in range(reader.number()):
            client, clock, state = reader.number(), reader.number(), reader.blob()
            seen = self._seen.get(client)
            if seen is None:
                if state != GONE.encode() and self._count(owner) < MAX_NUMBERS:
                    self._put(client, _Seen(clock, _sign_state(state, name), owner))
            elif seen.owner is owner and (clock > seen.clock or (clock == seen.clock and state == GONE.encode())):
                self._put(client, _Seen(clock, _sign_state(state, name), owner))
        reader.end()

    def show(self, client: int, state: dict[str, Any] | None) -> None:
        """Put somebody into the room who has no connection, or take them out."""
        seen = self._seen.get(client)
        if seen is not None or state is not None:
            clock = 1 if seen is None else seen.clock + 1
            self._put(client, _Seen(clock, GONE if state is None else json.dumps(state), self))

    def leave(self, owner: object) -> None:
        """A connection has ended, and with it whoever it spoke for."""
        for client, seen in tuple(self._seen.items()):
            if seen.owner is owner:
                self._put(client, _Seen(seen.clock, GONE, owner))

    def everybody(self) -> bytes | None:
        return _encode_states(self._seen) if self._seen else None

    def news(self) -> bytes | None:
        """What changed since the last time."""
        changed, self._changed = self._changed, {}
        return _encode_states(changed) if changed else None

    def _count(self, owner: object) -> int:
        return sum(seen.owner is owner for seen in self._seen.values())

    def _put(self, client: int, seen: _Seen) -> None:
        self._changed[client] = seen
        if seen.state == GONE:
            self._seen.pop(client, None)
        else:
            self._seen[client] = seen


def _encode_states(states: dict[int, _Seen]) -> bytes:
    parts = [number(len(states))]
    parts += [number(client) + number(seen.clock) + blob(seen.state.encode()) for client, seen in states.items()]
    return b"".join(parts)


def _sign_state(data: bytes, name: str) -> str:
    """The state under the name that the server knows its sender by."""
    if len(data) > MAX_STATE:
        raise Garbled("its presence message is too long")
    try:
        state: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Garbled("its presence message cannot be read") from error
    if state is None:
        return GONE
    if not isinstance(state, dict):
        raise Garbled("its presence message cannot be read")
    found = cast("dict[str, Any]", state)
    user: Any = found.get("user")
    return json.dumps({**found, "user": {**(user if isinstance(user, dict) else {}), "name": name, "kind": "person"}})


# The agent as somebody who is there: while a job works on a document, everybody in its room sees it.
#
# A job's edits come into the text together, when its turn is carried out: until then it is at no place in it.
#
# Used on the event loop. What is shown is renewed now and then, for clients take whoever is silent for 30 s as gone.


AGENT_NAME = "Agent"
RENEW_SECONDS = 12.0


@dataclass(slots=True)
class _WorkingJob:
    """A job, the number it goes by in rooms, and its document."""

    number: int
    path: str


class AgentPresence:
    """The jobs that work on documents."""

    def __init__(self, room: Callable[[str], Room | None]) -> None:
        self._room = room
        self._jobs: dict[str, _WorkingJob] = {}
        self._renewing: asyncio.TimerHandle | None = None

    def show(self, job_id: str, path: str) -> None:
        """A job works on this document; without a path, on none any more."""
        before = self._jobs.pop(job_id, None)
        if before is not None and before.path != path:
            self._put(before, None)
        if path:
            number = secrets.randbits(32) if before is None else before.number
            self._jobs[job_id] = _WorkingJob(number, path)
            self._show(job_id)
            self._renew_later()

    def show_in_room(self, path: str) -> None:
        """The document's room was opened."""
        for job_id, working in self._jobs.items():
            if working.path == path:
                self._show(job_id)

    def _show(self, job_id: str) -> None:
        self._put(self._jobs[job_id], {"user": {"name": AGENT_NAME, "kind": "agent"}, "job_id": job_id})

    def _put(self, working: _WorkingJob, state: dict[str, Any] | None) -> None:
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
