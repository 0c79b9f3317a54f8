"""A room on the event loop: a replica that applies what its clients type, and passes it on to them all and then to the
workspace.

What comes in within a few milliseconds goes out together, and becomes one batch for the workspace; the room does not
wait for the workspace to tell the clients, since who has typed something holds it, too, until it is kept. What the
workspace answers, its own edits and what is to be known about the document, goes out like anybody's typing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pycrdt import Doc, merge_updates

from redraft.errors import Busy, RedraftError
from redraft.server.live import wire
from redraft.server.live.admission import read_update
from redraft.server.live.editors import OpenEditors
from redraft.server.live.presence import Presence
from redraft.server.live.room_store import DISK
from redraft.server.live.room_sync import MAX_STATE, ExchangeDelayed, catch_panics
from redraft.server.live.wire import AGAIN, FAILED, NOT_THERE, OTHER_EPOCH, READ_ONLY, Garbled, LiveRefusal
from redraft.server.replies import status_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redraft.server.live.room_sync import ExchangeResult, OpenedRoom
    from redraft.server.live.wire import RoomClient

    Exchange = Callable[[Sequence[tuple[str, bytes]], str], Awaitable[ExchangeResult]]

# How far the workspace has followed a room, and who waits for it to come further. Used on the event loop.


class AckTracker:
    """Updates are counted as they come in, and again when the workspace has heard of them, in the same order."""

    def __init__(self) -> None:
        self._came = self._heard = 0
        self._waiters: list[tuple[int, asyncio.Future[bool]]] = []

    @property
    def waiting(self) -> bool:
        """Whether the workspace has still to hear of something."""
        return self._heard < self._came

    def add(self, count: int) -> None:
        self._came += count

    def acknowledge(self, count: int, *, kept: bool = True) -> None:
        """The workspace has heard of the next ones: they are kept, or something went wrong."""
        self._heard += count
        while self._waiters and self._waiters[0][0] <= self._heard:
            _, waiter = self._waiters.pop(0)
            if not waiter.done():
                waiter.set_result(kept)

    def wait_for_all(self) -> asyncio.Future[bool]:
        """Done when the workspace has heard of all that has come in by now, not of what comes later; whether the last
        of it is kept."""
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.waiting:
            self._waiters.append((self._came, waiter))
        else:
            waiter.set_result(True)
        return waiter


# Paused typing: while a job locks the documents, nothing that a client types is accepted.
#
# Such a client gets no acknowledgement, so its page keeps the typing; it still receives all changes. Once the lock is
# released it is asked to reconnect, and then sends everything it has.


LOOK_SECONDS = 0.25


class PausedClients:
    """The clients of one room whose typing waits. Used on the event loop."""

    def __init__(self, locked: Callable[[], bool], again: Callable[[RoomClient], None]) -> None:
        self._locked = locked
        self._again = again
        self._clients: set[RoomClient] = set()
        self._looking: asyncio.TimerHandle | None = None

    def __contains__(self, client: RoomClient) -> bool:
        return client in self._clients

    def refuses(self, client: RoomClient, *, writes: bool) -> bool:
        """Whether what a client sends has to wait. What follows builds upon it, and waits too."""
        if client not in self._clients:
            if not writes or not self._locked():
                return False
            self._clients.add(client)
            self._look_later()
        return True

    def leave(self, client: RoomClient) -> None:
        self._clients.discard(client)

    def close(self) -> None:
        self._clients.clear()
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _look_later(self) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = None
        if self._clients and self._locked():
            self._look_later()
            return
        clients, self._clients = self._clients, set()
        for client in clients:
            self._again(client)


LOG = logging.getLogger(__name__)
# Few people are told at once; where there are many, more goes out together: 50 are told every 30 ms.
TICK_SECONDS, TICK_FOR_EACH = 0.01, 0.0004
PRESENCE_SECONDS = 0.05
RETRY_SECONDS = 0.25


class Room:
    """One document, and whoever is typing into it."""

    def __init__(
        self, path: str, opened: OpenedRoom, exchange: Exchange, locked: Callable[[], bool] = lambda: False
    ) -> None:
        self.path = path
        self.epoch = opened.epoch
        self.version = opened.version
        self.length = opened.length
        self.clients: set[RoomClient] = set()
        self.presence = Presence()
        self.editors = OpenEditors()
        self.paused_clients = PausedClients(
            locked, lambda client: client.close(AGAIN, "You can type again; reconnect.")
        )
        self.closed = False
        self._ledger = opened.ledger
        self._exchange = exchange
        self._doc: Doc[Any] = Doc()
        self._doc.apply_update(opened.state)
        self._size = len(opened.state)
        self._out: list[bytes] = []
        self._untold: list[tuple[str, bytes]] = []
        self._acks = AckTracker()
        self._woken = ""
        self._ticking: asyncio.TimerHandle | None = None
        self._telling: asyncio.TimerHandle | None = None
        self._exchanging: asyncio.Task[None] | None = None

    # Clients

    def enter(self, client: RoomClient) -> None:
        self.clients.add(client)
        client.send(wire.step1(self._doc.get_state()))
        if (everybody := self.presence.everybody()) is not None:
            client.send(wire.awareness(everybody))

    def leave(self, client: RoomClient) -> None:
        self.clients.discard(client)
        self.presence.leave(client)
        self.editors.leave(client)
        self.paused_clients.leave(client)
        self._present()

    def receive(self, client: RoomClient, data: bytes) -> None:
        """One frame; `LiveRefusal` where the connection is to end, `Garbled` where no client of ours would send it."""
        kind, step, carried = wire.read_frame(data)
        if kind == wire.ASK_AWARENESS:
            client.send(wire.awareness(self.presence.everybody() or b"\0"))
        elif kind == wire.AWARENESS:
            self.presence.take(client, client.name, carried)
            self._present()
        elif kind == wire.EDITOR:
            self.editors.take(client, carried)
        elif step == wire.STEP1:
            self._answer(client, carried)
        else:
            self._take(client, carried, first=step == wire.STEP2)

    def _answer(self, client: RoomClient, state: bytes) -> None:
        """Who is in the room takes it for the news that their typing has arrived, and keeps it no longer."""
        if client in self.paused_clients:
            return
        try:
            answer = wire.step2(self._doc.get_update(state))
        except ValueError as error:
            raise Garbled("its state cannot be read") from error
        if client.synced and self.waiting:
            self._acks.wait_for_all().add_done_callback(lambda kept: client.send(answer) if kept.result() else None)
        else:
            client.send(answer)

    def _take(self, client: RoomClient, data: bytes, *, first: bool) -> None:
        update = self._ledger.judge(data)
        # Who comes tells all deletions that they know of, old ones too, so those are no sign of typing.
        writes = self._ledger.adds(update) or (update.deletes and not first)
        if not client.may_write:
            if writes:
                raise LiveRefusal(READ_ONLY, "A viewer can read but not type.")
            return
        if self.paused_clients.refuses(client, writes=writes):
            return
        if self._ledger.is_early(update):
            if client.synced or first:
                raise Garbled("it depends on an update that is missing")
            return  # it comes again, with what it builds on
        client.synced = client.synced or first
        if update.is_empty:
            return
        for made in self._apply_update(data):
            self._untold.append((client.name, made))
            self._acks.add(1)
        self._ledger.note(update)
        self._tick_soon()

    def _apply_update(self, data: bytes) -> list[bytes]:
        """Take an update into the replica; returns what of it was new, which goes to everybody."""
        heard: list[bytes] = []
        listening = self._doc.observe(lambda event: heard.append(event.update))
        try:
            with catch_panics(self.path):
                self._doc.apply_update(data)
        except ValueError as error:
            raise Garbled("it cannot be read") from error
        finally:
            self._doc.unobserve(listening)  # or neither it nor this room would ever be let go of
        new = [made for made in heard if made != wire.NOTHING]
        self._out += new
        self._size += sum(map(len, new))
        return new

    # Telling

    def _tick_soon(self) -> None:
        if self._ticking is None and not self.closed:
            pause = TICK_SECONDS + TICK_FOR_EACH * len(self.clients)
            self._ticking = asyncio.get_running_loop().call_later(pause, self._tick)

    def _tick(self) -> None:
        self._ticking = None
        if self._out:
            out, self._out = self._out, []
            self._broadcast(wire.update_message(merge_updates(*out) if len(out) > 1 else out[0]))
        if self._untold:
            self._begin_exchange()

    def _present(self) -> None:
        if self._telling is None and not self.closed:
            self._telling = asyncio.get_running_loop().call_later(PRESENCE_SECONDS, self._tell_presence)

    def _tell_presence(self) -> None:
        self._telling = None
        if (news := self.presence.news()) is not None:
            self._broadcast(wire.awareness(news))

    def show(self, number: int, state: dict[str, Any] | None) -> None:
        """Show somebody without a connection as present, or no longer."""
        self.presence.show(number, state)
        self._present()

    def _broadcast(self, data: bytes) -> None:
        for client in tuple(self.clients):
            client.send(data)

    def close(self, code: int, reason: str) -> None:
        """End every connection; nothing is taken in any more."""
        self.closed = True
        self.paused_clients.close()
        for timer in (self._ticking, self._telling):
            if timer is not None:
                timer.cancel()
        for client in tuple(self.clients):
            client.close(code, reason)

    # The workspace

    @property
    def waiting(self) -> bool:
        """Whether the workspace has still to hear of something."""
        return self._acks.waiting

    def wake(self, origin: str) -> None:
        """Something happened to the document elsewhere."""
        if not self.closed:
            self._woken = origin
            self._begin_exchange()

    async def flush(self) -> None:
        """Wait until the workspace has heard of all that came in before, or has refused it; not of what comes later."""
        if self.waiting:
            self._begin_exchange()
            await self._acks.wait_for_all()

    async def catch_up(self) -> None:
        """Wait until everybody was sent what the workspace had become by now."""
        if self._exchanging is not None:
            await asyncio.wait([self._exchanging])
        if self._ticking is not None and not self.closed:
            self._ticking.cancel()
            self._tick()

    async def rest(self) -> None:
        """Wait until nothing is under way any more; for a room that nobody is in."""
        await self.flush()
        if self._exchanging is not None:
            await asyncio.wait([self._exchanging])

    def flush_now(self, exchange: Callable[[Sequence[tuple[str, bytes]]], object]) -> None:
        """The loop has ended: hand what is left to the workspace here and now."""
        if self._untold:
            batch, self._untold = self._untold, []
            exchange(batch)

    def _begin_exchange(self) -> asyncio.Task[None]:
        if self._exchanging is None:
            self._exchanging = asyncio.get_running_loop().create_task(self._keep_exchanging())
            self._exchanging.add_done_callback(self._on_exchange_done)
        return self._exchanging

    async def _keep_exchanging(self) -> None:
        delayed = 0
        try:
            while self._untold or self._woken:
                batch, self._untold = self._untold, []
                origin, self._woken = self._woken, ""
                try:
                    self._settle(await self._exchange(batch, origin))
                except (Busy, asyncio.CancelledError) as error:
                    if isinstance(error, ExchangeDelayed):
                        delayed, origin = delayed + len(batch), origin or DISK
                    else:
                        self._untold = batch + self._untold
                    self._woken = self._woken or origin
                    if not isinstance(error, Busy):
                        raise
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                except BaseException:
                    self._acks.acknowledge(
                        delayed + len(batch), kept=False
                    )  # or kept, and typed when it is opened again
                    raise
                self._acks.acknowledge(delayed + len(batch))
                delayed = 0
        except RedraftError as error:
            # What the server cannot keep just now waits in the browser, which comes again.
            self.close(FAILED if status_of(error) >= 500 else NOT_THERE, error.message)

    def _on_exchange_done(self, task: asyncio.Task[None]) -> None:
        self._exchanging = None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            LOG.error("the room of %s failed", self.path, exc_info=error)
            self.close(FAILED, "Something went wrong; reconnect.")
        elif (self._untold or self._woken) and not task.cancelled():
            self._begin_exchange()  # it came in just as the last one ended

    def _settle(self, done: ExchangeResult) -> None:
        self.version, self.length = done.version, done.length
        for update in done.made:
            self._ledger.note(read_update(update, trusted=True))
            self._apply_update(update)
        if done.made:
            self._tick_soon()
        if self._size > MAX_STATE:
            self.close(OTHER_EPOCH, "This document has a new epoch; request it again.")
