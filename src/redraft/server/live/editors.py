"""The rich editors that are open in browsers, and how a tool call reaches exactly one of them.

A browser says in a document's room that it shows it in a rich editor, and when the person was last in that one. A call
that is about the document asks the one used last, and it alone: it hands in what was typed into it and says so, and
later it is told what was done and says that it shows it. The change itself is made by the server, as the caller's turn:
coming from the browser it would be the person's typing. So a browser that is slow, or was given up, has nothing that it
could still do, and what it says carries no text at all: only the number that it was asked under.

`OpenEditors` are those of one room and live on the event loop; `Editors` is for the threads that run tools.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from redraft.errors import Busy, Refused
from redraft.files.locks import release
from redraft.server.live import wire
from redraft.server.live.wire import Garbled

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractContextManager

    from redraft.server.live.room import Room
    from redraft.server.live.wire import RoomClient
    from redraft.tools.edits.rich_editor import EditorUpdate

T = TypeVar("T")
READY_SECONDS = 5.0
SHOWN_SECONDS = 2.0
# Beyond the time for an answer: for the typing that came with it to reach the workspace.
SETTLING_SECONDS = 10.0
MAX_MESSAGE = 512
MAX_ASKED = 16
READY, BUSY, SHOWN = "ready", "busy", "shown"


@dataclass(slots=True)
class _EditorQuestion:
    """A question to one connection; the answer is what it said, or None where it went away."""

    client: RoomClient
    answer: asyncio.Future[str | None]


class OpenEditors:
    """The rich editors of one document. Every question has a number of its own, and one answer at most."""

    def __init__(self) -> None:
        self._used: dict[RoomClient, float] = {}
        self._asked: dict[str, _EditorQuestion] = {}

    def __bool__(self) -> bool:
        return bool(self._used)

    # What browsers say

    def take(self, client: RoomClient, data: bytes) -> None:
        """One message; `Garbled` where it cannot be read. What comes too late, or from another, is passed over."""
        said = _parse_message(data)
        kind: Any = said.get("type")
        if kind == "shows":
            self._used[client] = time.monotonic() - _seconds(said.get("ago"))
        elif kind == "hides":
            self.leave(client)
        elif kind in (READY, BUSY, SHOWN):
            asked = self._asked.get(str(said.get("id")))
            if asked is not None and asked.client is client and not asked.answer.done():
                asked.answer.set_result(kind)
        else:
            raise Garbled("unknown message from an editor")

    def leave(self, client: RoomClient) -> None:
        """It shows the document no longer; whoever waits for it need not."""
        self._used.pop(client, None)
        for asked in self._asked.values():
            if asked.client is client and not asked.answer.done():
                asked.answer.set_result(None)

    # Asking them

    async def ready(self, path: str) -> RoomClient | None:
        """The editor that was used last, once it has handed in what was typed into it; None where none is open (any
        more): of those that close meanwhile nothing is expected."""
        until = time.monotonic() + READY_SECONDS
        while (client := self._latest_client()) is not None:
            said = await self.ask(client, {"type": "ask"}, until - time.monotonic())
            if said == READY:
                return client
            if said == BUSY:
                message = f"The rich editor that shows {path} could not send what was typed. Nothing was changed."
                raise Refused(message, code="editor_unavailable", path=path)
        return None

    async def ask(self, client: RoomClient, message: dict[str, Any], seconds: float) -> str | None:
        """Ask one, and wait for its answer: None where it went away, `TimeoutError` where it is silent."""
        if len(self._asked) >= MAX_ASKED:
            raise Busy("Too many calls are waiting for this document's editor; try again in a moment.")
        number = secrets.token_hex(8)
        asked = self._asked[number] = _EditorQuestion(client, asyncio.get_running_loop().create_future())
        client.send(wire.editor(json.dumps({**message, "id": number}).encode()))
        try:
            return await asyncio.wait_for(asked.answer, max(seconds, 0.0))
        finally:
            del self._asked[number]

    def _latest_client(self) -> RoomClient | None:
        """Who may only read is never asked: nothing of theirs waits to be handed in."""
        writing = [client for client in self._used if client.may_write]
        return max(writing, key=self._used.__getitem__, default=None)


def _parse_message(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_MESSAGE:
        raise Garbled("the editor's message is too long")
    try:
        said: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Garbled("the editor's message cannot be read") from error
    if not isinstance(said, dict):
        raise Garbled("the editor's message cannot be read")
    return cast("dict[str, Any]", said)


def _seconds(ago: Any) -> float:
    """So long ago by the browser's own clock, of which only differences are believed."""
    if isinstance(ago, bool) or not isinstance(ago, int) or ago < 0:
        raise Garbled("the editor's message has no valid time")
    return min(ago, wire.MAX_NUMBER) / 1000


class Editors:
    """The open editors of a folder, for tools: a `LiveEditors`. Used by threads that hold the guard."""

    def __init__(
        self,
        room: Callable[[str], Room | None],
        loop: Callable[[], asyncio.AbstractEventLoop | None],
        guard: AbstractContextManager[Any],
        *,
        most: int,
    ) -> None:
        self._room = room
        self._loop = loop
        self._guard = guard
        # So many threads at most wait for browsers at a time: others have to be left for what browsers ask meanwhile.
        self._places = threading.BoundedSemaphore(most)

    def ready(self, path: str) -> EditorHandle | None:
        room, loop = self._room(path), self._loop()
        if room is None or loop is None or not room.editors:
            return None
        if not self._places.acquire(blocking=False):
            raise Busy("Too many calls are waiting for editors; try again in a moment.")
        try:
            with release(self._guard):  # the room has work to do meanwhile
                client = _run_on_loop(_collect_typing(room), loop, READY_SECONDS)
        except (TimeoutError, RuntimeError) as error:
            message = f"The rich editor that shows {path} did not answer within {READY_SECONDS:g} s."
            raise Refused(f"{message} Nothing was changed.", code="editor_unavailable", path=path) from error
        finally:
            self._places.release()
        return None if client is None else EditorHandle(self._guard, room, client, loop)


def _run_on_loop(asking: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, seconds: float) -> T:
    """What comes of it on the event loop. The limit is the last resort: it has one of its own."""
    try:
        return asyncio.run_coroutine_threadsafe(asking, loop).result(seconds + SETTLING_SECONDS)
    except RuntimeError:  # the loop has ended
        asking.close()
        raise


async def _collect_typing(room: Room) -> RoomClient | None:
    client = await room.editors.ready(room.path)
    await room.flush()
    return client


async def _notify_editor(room: Room, client: RoomClient, message: dict[str, Any]) -> None:
    """What is sent keeps its order: the browser has the new text by the time it hears of it."""
    async with asyncio.timeout(SHOWN_SECONDS):
        await room.catch_up()
        await room.editors.ask(client, message, SHOWN_SECONDS)


class EditorHandle:
    """The one editor that a call was brought to: an `OpenEditor`."""

    def __init__(
        self, guard: AbstractContextManager[Any], room: Room, client: RoomClient, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._guard = guard
        self._room = room
        self._client = client
        self._loop = loop

    def show(self, after: EditorUpdate) -> None:
        message = {
            "type": "done",
            "length": _units(after.text),
            "cursor": _units(after.text[: after.cursor]),
            "turn": after.turn,
        }
        asking = _notify_editor(self._room, self._client, message)
        # It is done: a browser that does not show it in time, or is gone, changes nothing about that.
        with contextlib.suppress(TimeoutError, RuntimeError, Busy), release(self._guard):
            _run_on_loop(asking, self._loop, SHOWN_SECONDS)


def _units(text: str) -> int:
    """How long a text is for a browser, which counts UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
