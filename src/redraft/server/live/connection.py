"""One connection to a room: incoming frames are read one at a time, outgoing ones are queued for a limited time.

The close code says why a client is disconnected: 4400 for an invalid frame, 4403 for a viewer who types, 4404 if the
document does not exist, 4409 for another epoch, 4429 if too many are connected, 4451 for a secret that the caller may
not see, 1012 if the server is stopping, 1013 if the client does not read what it is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING

from starlette.websockets import WebSocketDisconnect

from redraft.errors import Busy, RedraftError
from redraft.server.folder_state import RequestContext
from redraft.server.live.wire import (
    FAILED,
    NOT_THERE,
    OTHER_EPOCH,
    SECRET,
    TOO_MANY,
    UNACCEPTABLE,
    Garbled,
    LiveRefusal,
)
from redraft.server.replies import status_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.websockets import WebSocket

    from redraft.server.auth.callers import Caller
    from redraft.server.folder_state import FolderState
    from redraft.server.live.room import Room

LOG = logging.getLogger(__name__)
MAX_FRAME = 8 * 1024 * 1024
MAX_BEHIND = 32 * 1024 * 1024
TOO_SLOW = 1013
NO_TEXT = 1003
REMOVED = 1008
LOOK_SECONDS = 1.0
MAX_REASON = 120  # bytes; a websocket carries three more


class LiveConnection:
    """A client of a room. `known` says who a caller is by now."""

    def __init__(self, socket: WebSocket, caller: Caller, known: Callable[[Caller], Caller | None]) -> None:
        self.name = caller.name
        self.may_write = caller.may("editor")
        self.synced = False
        self._caller = caller
        self._known = known
        self._looked = time.monotonic()
        self._socket = socket
        self._waiting: list[bytes] = []
        self._size = 0
        self._knock = asyncio.Event()
        self._end: tuple[int, str] | None = None

    def send(self, data: bytes) -> None:
        if self._end is not None:
            return
        self._waiting.append(data)
        self._size += len(data)
        if self._size > MAX_BEHIND:
            self._waiting.clear()
            self.close(TOO_SLOW, "This client does not read what it is sent.")
        self._knock.set()

    def close(self, code: int, reason: str) -> None:
        if self._end is None:
            self._end = (code, reason)
            self._knock.set()

    async def write(self) -> None:
        """Send what waits, until the connection is to end."""
        while True:
            await self._knock.wait()
            self._knock.clear()
            while self._waiting:
                waiting, self._waiting, self._size = self._waiting, [], 0
                for data in waiting:
                    self._look()
                    await self._socket.send_bytes(data)
            if self._end is not None:
                return

    async def send_close(self) -> None:
        """Say why it ends, where there is something to say."""
        if self._end is not None:
            await self.end(*self._end)

    async def end(self, code: int, reason: str) -> None:
        """Close it, unless that was done before or the client is gone."""
        carried = reason.encode()[:MAX_REASON].decode(errors="ignore")
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.close(code, carried)

    def _look(self) -> None:
        """Check that the caller is still a user: a removed user is disconnected within a moment."""
        now = time.monotonic()
        if now - self._looked > LOOK_SECONDS:
            self._looked = now
            caller = self._known(self._caller)
            if caller is None:
                raise LiveRefusal(REMOVED, "Your access was revoked.")
            self.may_write = caller.may("editor")

    async def read(self, room: Room) -> None:
        """Take in frames until the client goes, or sends one that it should not."""
        while self._end is None and not room.closed:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes")
            if data is None:
                raise LiveRefusal(NO_TEXT, "This socket takes binary messages only.")
            self._look()
            try:
                room.receive(self, data)
            except Garbled as error:
                raise LiveRefusal(UNACCEPTABLE, f"The update was refused: {error}.") from error


async def serve_live(socket: WebSocket) -> None:
    """The websocket `/api/live/{path}?epoch=E`."""
    served: FolderState = socket.app.state.served
    caller: Caller = socket.scope["state"]["caller"]
    await socket.accept()
    connection = LiveConnection(socket, caller, socket.app.state.keys.now)
    try:
        shown = RequestContext(served, caller).confirmed
        path = await served.with_workspace(lambda workspace: workspace.read(_path(socket), confirmed=shown).path)
        room = await served.live.room(path)
        if socket.query_params.get("epoch") != room.epoch:
            raise LiveRefusal(OTHER_EPOCH, "This document has a new epoch; request it.")
        served.live.enter(room, connection)
    except LiveRefusal as error:
        await connection.end(error.code, error.reason)
        return
    except Busy as error:
        await connection.end(TOO_MANY, error.message)
        return
    except RedraftError as error:
        code = SECRET if error.code == "secret" else FAILED if status_of(error) >= 500 else NOT_THERE
        await connection.end(code, error.message)
        return
    try:
        await _serve(connection, room)
    finally:
        served.live.leave(room, connection)


def _path(socket: WebSocket) -> str:
    return str(socket.path_params["path"])


async def _serve(connection: LiveConnection, room: Room) -> None:
    """Read and write until either ends."""
    writing = asyncio.ensure_future(connection.write())
    reading = asyncio.ensure_future(connection.read(room))
    try:
        done, _ = await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
        for error in filter(None, (task.exception() for task in done)):
            if isinstance(error, LiveRefusal):
                connection.close(error.code, error.reason)
            elif not isinstance(error, WebSocketDisconnect):
                LOG.error("a live connection failed", exc_info=error)
                said = error.message if isinstance(error, RedraftError) else "Something went wrong; reconnect."
                room.close(FAILED, said)  # to be taken up again from what is kept
        await connection.send_close()
    finally:
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)
