"""A connection to a document's room: a replica in step with the server's. See "Live documents" in docs/server.md."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pycrdt import Doc, Text, TransactionEvent
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from redraft.lsp_server.mirror import TEXT
from redraft.server.live import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.lsp_server.folder_client import FolderClient

AGAIN_SECONDS = 0.3
DELIVERY_SECONDS = 5.0
# After these the same replica cannot go on.
OVER = (wire.UNACCEPTABLE, wire.READ_ONLY, wire.NOT_THERE, wire.OTHER_EPOCH, wire.SECRET)


class RemoteRoom:
    """`changed` is called after anything came from the server, `ended` once the connection is over for good."""

    def __init__(self, client: FolderClient, path: str, changed: Callable[[], None], ended: Callable[[], None]) -> None:
        self.path = path
        self.doc: Doc[Any] = Doc()
        self.doc.get(TEXT, type=Text)
        self._client = client
        self._changed = changed
        self._ended = ended
        self._epoch = ""
        self._socket: ClientConnection | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._coming = False
        self._closed = False
        self._sending: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None
        self._watching = self.doc.observe(self._typed)

    async def join(self) -> None:
        """Connect, and wait until the document's text is here."""
        self._epoch = (await self._client.get("/api/live", path=self.path))["epoch"]
        joined = asyncio.get_running_loop().create_future()
        self._waiting.append(joined)
        self._reading = asyncio.create_task(self._stay())
        await joined

    async def wait_for_delivery(self) -> bool:
        """Wait until the server has stored everything typed so far; returns whether it has."""
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(answered)
        await self._ask()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(answered, DELIVERY_SECONDS)
            return True
        return False

    async def close(self) -> None:
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading

    async def _stay(self) -> None:
        """Connected, and connected again whenever that is lost."""
        while not self._closed:
            code = await self._connection()
            if code in OVER:
                self._ended()
                return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _connection(self) -> int:
        running = await self._client.running()
        address = f"ws://{running.host}:{running.port}/api/live/{quote(self.path)}?epoch={self._epoch}"
        try:
            socket = await connect(
                address,
                additional_headers={"Authorization": running.headers["Authorization"]},
                max_size=None,
                compression=None,
                proxy=None,
            )
        except (OSError, InvalidStatus):
            return 0
        self._socket = socket
        async with socket:
            await self._ask()
            try:
                async for data in socket:
                    if isinstance(data, bytes):
                        await self._take(data)
            except ConnectionClosed:
                pass
            finally:
                self._socket = None
        return socket.close_code or 0

    async def _take(self, data: bytes) -> None:
        frame = wire.read_frame(data)
        if frame.kind != wire.SYNC:
            return
        if frame.step == wire.STEP1:
            await self._send(wire.step2(self.doc.get_update(frame.data)))
            return
        self._coming = True
        try:
            self.doc.apply_update(frame.data)
        finally:
            self._coming = False
        if frame.step == wire.STEP2 and self._waiting:
            answered = self._waiting.pop(0)
            if not answered.done():
                answered.set_result(None)
        self._changed()

    def _typed(self, event: TransactionEvent) -> None:
        if self._coming or event.update == wire.NOTHING:
            return
        task = asyncio.get_running_loop().create_task(self._send(wire.update_message(event.update)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _ask(self) -> None:
        await self._send(wire.step1(self.doc.get_state()))

    async def _send(self, data: bytes) -> None:
        if self._socket is not None:  # else it goes with all the rest, once the connection is back
            with contextlib.suppress(ConnectionClosed):
                await self._socket.send(data)
