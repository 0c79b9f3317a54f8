"""The rooms of a folder: opened when somebody comes, told when the workspace changes, kept when nobody is there.

Rooms live on the event loop. What a room does with the workspace is done aside by a thread that holds the guard, one
exchange of a room at a time. A room that nobody is in is let go of after a while; its epoch stays.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from redraft.errors import Busy, RedraftError
from redraft.server.live.editors import Editors
from redraft.server.live.presence import AgentPresence
from redraft.server.live.room_store import DISK, EPOCH_SECONDS, RoomStore
from redraft.server.live.wire import AGAIN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractContextManager

    from redraft.server.live.room import Room
    from redraft.server.live.room_sync import ExchangeResult, RoomSync
    from redraft.server.live.wire import RoomClient
    from redraft.workspace.events import Event
    from redraft.workspace.workspace import Workspace

    Work = Callable[[Callable[[Workspace], Any]], Awaitable[Any]]

T = TypeVar("T")
LOG = logging.getLogger(__name__)
MAX_ROOMS = 256
MAX_CLIENTS = 128
EMPTY_SECONDS = 30.0
# A room whose folder is locked by somebody else for longer than this holds nobody up: its typing comes later.
PATIENCE_SECONDS = 10.0
# Many programs empty a file before they write it: who looks too soon sees everything taken out.
SETTLE_SECONDS = 0.1


class _Own(threading.local):
    """Whether this very thread is typing for a room."""

    typing = False


class Rooms:
    """Used on the event loop, but for what the workspace tells. `locked`: whether a job has the documents to itself."""

    def __init__(self, workspace: Workspace, work: Work, locked: Callable[[], bool] = lambda: False) -> None:
        self._workspace = workspace
        self._work = work
        self._locked = locked
        self._kept = RoomStore(workspace.database)
        self._kept.forget_old_rooms(time.time() - EPOCH_SECONDS)
        self._rooms: dict[str, Room] = {}
        self._keepers: dict[str, RoomSync] = {}
        self._opening: dict[str, asyncio.Task[Room]] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._own = _Own()
        self._agents = AgentPresence(self._rooms.get)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._unsubscribe = workspace.subscribe(self._hear)

    # Coming and going

    async def room(self, path: str) -> Room:
        """The room of a document, opened where it is not; the path is the canonical one."""
        self._loop = asyncio.get_running_loop()
        found = self._rooms.get(path)
        if found is not None and not found.closed:
            return found
        if path not in self._opening:
            if self._closed or len(self._rooms) + len(self._opening) >= MAX_ROOMS:
                raise Busy("Too many documents are open here; try again in a moment.")
            self._opening[path] = self._loop.create_task(self._open(path))
        return await asyncio.shield(self._opening[path])

    def editors(self, guard: AbstractContextManager[Any], *, most: int) -> Editors:
        """The rich editors in all rooms, for tools; so many calls may wait for one at a time."""
        return Editors(self._rooms.get, lambda: self._loop, guard, most=most)

    async def _open(self, path: str) -> Room:
        # Not before somebody types: the replicas' library takes a tenth of the time in which a server starts.
        from redraft.server.live.room import Room
        from redraft.server.live.room_sync import RoomSync

        try:
            before = self._rooms.get(path)
            if before is not None:
                await self._let_go(before)
            await self._follow(path)
            keeper = RoomSync(self._kept, path)
            opened = await self._work(lambda workspace: keeper.open(workspace, time.time()))

            async def exchange(batch: Sequence[tuple[str, bytes]], origin: str) -> ExchangeResult:
                return await self._work(lambda workspace: self._exchange(keeper, workspace, batch, origin))

            room = Room(path, opened, exchange, self._locked)
            self._rooms[path], self._keepers[path] = room, keeper
            self._let_go_later(room)
            self._agents.show_in_room(path)
            room.wake(DISK)  # whatever happened while it was being opened
            return room
        finally:
            del self._opening[path]

    async def _follow(self, path: str) -> None:
        """Let a room whose document was moved here hear of it first: its epoch goes on under the new name."""
        tabs = await self._work(lambda workspace: {tab.tab_id for tab in workspace.tabs() if tab.path == path})
        for old in [old for old, keeper in self._keepers.items() if keeper.has_moved_to(path, tabs)]:
            if (room := self._rooms.get(old)) is not None and not room.closed:
                room.wake(DISK)
                await room.rest()

    def _exchange(
        self, keeper: RoomSync, workspace: Workspace, batch: Sequence[tuple[str, bytes]], origin: str
    ) -> ExchangeResult:
        self._own.typing = True
        try:
            return keeper.exchange(workspace, batch, origin)
        finally:
            self._own.typing = False

    def enter(self, room: Room, client: RoomClient) -> None:
        if len(room.clients) >= MAX_CLIENTS:
            raise Busy("Too many people have this document open.")
        if (timer := self._leaving.pop(room.path, None)) is not None:
            timer.cancel()
        room.enter(client)

    def leave(self, room: Room, client: RoomClient) -> None:
        room.leave(client)
        self._let_go_later(room)

    def _let_go_later(self, room: Room) -> None:
        if not room.clients and not self._closed and self._loop is not None:
            if (timer := self._leaving.pop(room.path, None)) is not None:
                timer.cancel()
            self._leaving[room.path] = self._loop.call_later(EMPTY_SECONDS, self._let_go_now, room)

    def _let_go_now(self, room: Room) -> None:
        self._leaving.pop(room.path, None)
        if not room.clients and self._loop is not None and self._rooms.get(room.path) is room:
            self._tasks.add(task := self._loop.create_task(self._let_go(room)))
            task.add_done_callback(self._tasks.discard)

    async def _let_go(self, room: Room) -> None:
        await room.rest()
        if room.clients and not room.closed:
            return  # somebody came meanwhile
        room.close(AGAIN, "This document was closed; reconnect.")
        keeper = self._keepers.pop(room.path, None)
        self._rooms.pop(room.path, None)
        if keeper is not None:
            await self._work(lambda _: self._fold(keeper, room.path))

    def _fold(self, keeper: RoomSync, path: str) -> None:
        keeper.fold()
        self._kept.use(path, time.time())

    # The workspace

    @property
    def waiting(self) -> bool:
        """Whether anything was typed of which the workspace has not heard yet."""
        return any(room.waiting for room in self._rooms.values())

    async def flush(self) -> None:
        """Wait until the workspace has heard of all that was typed before; not for ever."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                for room in tuple(self._rooms.values()):
                    if room.waiting:
                        await room.flush()

    def settle(self) -> None:
        """The same for another thread than the loop's, and not once the server stops."""
        loop = self._loop
        if loop is None or self._closed or not self._rooms:
            return
        heard = threading.Event()
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._settle, heard)
            heard.wait(PATIENCE_SECONDS)

    def _settle(self, heard: threading.Event) -> None:
        if not self.waiting:
            heard.set()
            return
        self._tasks.add(task := asyncio.get_running_loop().create_task(self.flush()))
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: heard.set())

    def _hear(self, event: Event) -> None:
        """Called in whichever thread changes something."""
        path = event.data.get("path")
        if self._own.typing or path not in self._rooms or self._loop is None:
            return
        origin = "typing" if event.type == "document.typed" else self._origin(event.data.get("turn"))
        self.wake_soon(str(path), origin)

    def _origin(self, turn: int | None) -> str:
        if turn is None:
            return DISK
        record = self._workspace.show(turn)
        return "agent" if record.author.is_agent else "review"

    def wake_soon(self, path: str | None, origin: str) -> None:
        """Something happened elsewhere to a document, or (None) to any of them. From any thread."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._wake, path, origin)

    def _wake(self, path: str | None, origin: str) -> None:
        for each in tuple(self._rooms) if path is None else (path,):
            room = self._rooms.get(each)
            if room is not None and origin == DISK and self._loop is not None:
                self._loop.call_later(SETTLE_SECONDS, room.wake, origin)
            elif room is not None:
                room.wake(origin)

    def show_agent(self, job_id: str, path: str) -> None:
        """The agent works on a document in this job, or (without a path) no longer. From any thread."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._agents.show, job_id, path)

    # Ending

    def end(self) -> None:
        """The server is about to stop: nobody new comes in."""
        self._closed = True

    def close(self) -> None:
        """Keep what is left. The loop has ended, and whoever types holds the guard alone."""
        self._unsubscribe()
        now = time.time()
        for path, room in self._rooms.items():
            room.close(AGAIN, "The server is stopping; reconnect.")
            try:
                room.flush_now(lambda batch, path=path: self._keepers[path].exchange(self._workspace, batch))
                self._keepers[path].fold()
                self._kept.use(path, now)
            except (RedraftError, ValueError) as error:  # what one cannot keep is no loss of the others
                LOG.error("the room of %s could not be closed: %s", path, error)
