"""What one room does with the workspace, in a thread that holds the guard: opening, exchanging, keeping.

A batch is kept together with the typing that it becomes, so that a program that is killed at any moment knows, when it
starts again, what is still to be typed. A mirror that failed is not used again: the next exchange takes up what is
kept, with all that could not be typed then.
"""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Busy, Damaged, RedraftError, Stale
from redraft.server.live.admission import RoomClock
from redraft.server.live.byte_offsets import InvalidOffset, byte_length
from redraft.server.live.mirror import Mirror, read_for_room, reopen_mirror, whole_text
from redraft.server.live.room_store import DISK, EPOCH_SECONDS, SERVER
from redraft.text.edits import Change
from redraft.text.merge.three_way import merge

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from redraft.server.live.room_store import RoomStore
    from redraft.workspace.workspace import Workspace

LOG = logging.getLogger(__name__)
# A replica remembers all that ever was in its text. Beyond this it begins anew, and its clients with it.
MAX_STATE = 64 * 1024 * 1024
FOLD_AFTER = 1000
# A program may write the file again and again, each time between our look at it and our typing.
ATTEMPTS = 8


class ExchangeDelayed(Busy):
    """The workspace could not be written just now. What came in is kept, and is typed by the next exchange."""


class ExchangeResult(NamedTuple):
    """What an exchange gave: the server's own updates, for everybody, and where the document stands."""

    made: list[bytes]
    version: str
    length: int


class OpenedRoom(NamedTuple):
    """A room as its replica on the event loop begins."""

    epoch: str
    state: bytes
    ledger: RoomClock
    version: str
    length: int


class RoomSync:
    """The way between one room and the workspace. Used by one thread at a time."""

    def __init__(self, kept: RoomStore, path: str) -> None:
        self._kept = kept
        self._path = path
        self._mirror: Mirror | None = None
        self._since_fold = 0
        self._tab = ""

    def has_moved_to(self, path: str, tabs: Collection[str]) -> bool:
        """Whether its document is there now: its tab is one of these, which show what is at the path."""
        return path != self._path and self._tab in tabs

    def open(self, workspace: Workspace, now: float) -> OpenedRoom:
        """Take up the room where it was kept, or begin an epoch."""
        read_for_room(workspace, self._path)
        self._tab = next((tab.tab_id for tab in workspace.tabs() if tab.path == self._path), "")
        kept = self._kept.room(self._path)
        try:
            done = None if kept is None else self.exchange(workspace, (), DISK)
        except (Damaged, InvalidOffset, ValueError) as error:
            LOG.error("the live state of %s is unusable: %s", self._path, error)
            self._rescue(workspace)
            done = None
        mirror = self._mirror
        if mirror is None or done is None or kept is None or self._is_worn(mirror, now - kept.used):
            mirror, done = self._begin_epoch(workspace, now)
        self._kept.use(self._path, now)
        state = mirror.state()
        return OpenedRoom(mirror.epoch, state, RoomClock(state), done.version, done.length)

    @staticmethod
    def _is_worn(mirror: Mirror, unused: float) -> bool:
        """Whether it is time for a new epoch: nobody was there for long, or too much is remembered."""
        return unused > EPOCH_SECONDS or len(mirror.state()) > MAX_STATE // 2 + byte_length(mirror.known)

    def _begin_epoch(self, workspace: Workspace, now: float) -> tuple[Mirror, ExchangeResult]:
        """A new epoch, from the text as it is."""
        mirror = Mirror.begin(read_for_room(workspace, self._path))
        made = mirror.tell(workspace)
        self._kept.begin(self._path, mirror.epoch, mirror.state(), now)
        self._mirror = mirror
        self._since_fold = 0
        return mirror, ExchangeResult(made, mirror.version, len(mirror.known))

    def exchange(self, workspace: Workspace, batch: Sequence[tuple[str, bytes]], origin: str = "") -> ExchangeResult:
        """Bring the room and the workspace together. `origin` says what has happened to the document elsewhere; without
        one, most likely nothing has, and typing goes straight to the workspace. `Busy` where not even that could be
        kept."""
        try:
            for _ in range(ATTEMPTS):
                with contextlib.suppress(Stale):
                    return self._together(workspace, batch, origin)
                origin = DISK
            return self._together(workspace, batch, origin)
        except (Busy, Stale) as error:
            self._kept.add(self._path, batch)
            raise ExchangeDelayed(f"{self._path} is being written; try again in a moment.") from error
        except Exception as error:
            self._kept.add(self._path, batch)
            if isinstance(error, RedraftError) and error.code == "not_found":
                self._follow(workspace)
            raise

    def _together(self, workspace: Workspace, batch: Sequence[tuple[str, bytes]], origin: str) -> ExchangeResult:
        mirror, self._mirror = self._mirror, None  # until all has gone well
        updates = [data for _, data in batch]
        if mirror is None:
            mirror, left = self._reopen_mirror()
            updates = left + updates
            origin = origin or DISK
        made = mirror.pull(workspace, origin) if origin else []

        def keep() -> None:
            made.extend(mirror.tell(workspace))
            if made or updates:
                self._kept.follow(self._path, [*batch, *((SERVER, data) for data in made)], time.time())

        if updates:
            mirror.push(workspace, updates, keep)
        else:
            keep()
        self._mirror = mirror
        self._since_fold += len(batch) + len(made)
        if self._since_fold > FOLD_AFTER:
            with contextlib.suppress(Busy):  # the next time will do: all is kept
                self.fold()
        return ExchangeResult(made, mirror.version, len(mirror.known))

    def _reopen_mirror(self) -> tuple[Mirror, list[bytes]]:
        found = reopen_mirror(self._kept, self._path)
        if found is None:
            raise Damaged(f"The live state of {self._path} is gone.")
        return found

    def _follow(self, workspace: Workspace) -> None:
        """The document is not here any more. Where its tab has gone, the room is taken up again, with its epoch."""
        there = next((tab.path for tab in workspace.tabs() if tab.tab_id == self._tab), self._path)
        if there != self._path:
            self._kept.move(self._path, there)

    def fold(self) -> None:
        """Keep the state as one piece: nobody is there just now."""
        if self._mirror is not None and self._since_fold:
            self._kept.fold(self._path, self._mirror.state())
            self._since_fold = 0

    def _rescue(self, workspace: Workspace) -> None:
        """Type what can still be read of a state that cannot be used."""
        kept = self._kept.room(self._path)
        updates = self._kept.updates(self._path)
        before = whole_text([data for seq, data in updates if kept is not None and seq <= kept.synced])
        after = whole_text([data for _, data in updates])
        document = read_for_room(workspace, self._path)
        now = str(document.text)
        change = Change.between(now, merge(before, after, now).text)
        try:
            workspace.type(self._path, change, version=document.version)
        except RedraftError as error:
            LOG.error("could not store what was typed into %s: %s", self._path, error.message)
