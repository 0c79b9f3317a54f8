"""People who type into a live document: real websockets, real replicas, as a browser would have them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, TypeVar

from pycrdt import Doc, Map, Text, UndoManager
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from redraft.server.live import wire
from redraft.workspace.workspace import Workspace
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from pathlib import Path

    from tests.server.serving import Client, Server

T = TypeVar("T")
ME = "me"


class Person:
    """One replica of one document. `client` is who they are to the server."""

    def __init__(self, client: Client, path: str = "story.md") -> None:
        self.client = client
        self.path = path
        self.epoch = ""
        self.closed: tuple[int, str] | None = None
        self.others: dict[int, Any] = {}
        self.heard: list[bytes] = []
        self.begin_anew()
        self._socket: ClientConnection | None = None
        self._reading: asyncio.Task[None] | None = None
        self._synced = asyncio.Event()
        self._answered = asyncio.Event()

    def begin_anew(self) -> None:
        """A new replica, which knows nothing."""
        self.doc: Doc[Any] = Doc()
        self.text: Text = self.doc.get("text", type=Text)
        self.about: Map[Any] = self.doc.get("about", type=Map)
        self.undoing = UndoManager(scopes=[self.text], capture_timeout_millis=0)
        self.undoing.include_origin(ME)
        self._mine = False
        self.doc.observe(self._changed)

    def __str__(self) -> str:
        return str(self.text)

    @property
    def told(self) -> dict[str, Any]:
        return self.about.to_py() or {}

    # The connection

    async def join(self, *, epoch: str | None = None) -> Person:
        """Connect and wait until both have told each other everything."""
        if not self.epoch:
            answer = await asyncio.to_thread(self.client.get, "/api/live", path=self.path)
            self.epoch = answer["epoch"]
        await self.dial(epoch)
        await asyncio.wait_for(self._synced.wait(), PATIENCE)
        return self

    async def dial(self, epoch: str | None = None) -> None:
        self._synced.clear()
        self.closed = None
        url = f"ws://127.0.0.1:{self.client.port}/api/live/{self.path}?epoch={epoch or self.epoch}"
        cookie = {name: value for name, value in self.client.sent.items() if name != "Host"}
        sent = {"Authorization": f"Bearer {self.client.token}"} if self.client.token else cookie
        # The library tells the host that it dials; behind a proxy it is another.
        host = self.client.sent.get("Host", f"127.0.0.1:{self.client.port}")
        self._socket = await connect(
            url.replace(f"127.0.0.1:{self.client.port}", host),
            additional_headers=sent,
            max_size=None,
            compression=None,
            host="127.0.0.1",
            port=self.client.port,
        )
        self._reading = asyncio.create_task(self._read(self._socket))
        await self.send(wire.step1(self.doc.get_state()))

    async def leave(self) -> None:
        """Go offline; what is typed meanwhile waits here."""
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()
        if self._reading is not None:
            await self._reading

    async def send(self, data: bytes | str) -> None:
        socket = self._socket
        if socket is not None:  # else it goes with all the rest, when they are back
            with contextlib.suppress(ConnectionClosed):
                await socket.send(data)

    async def ended(self) -> tuple[int, str]:
        """Wait until the server has closed the connection; why it did."""
        assert self._reading is not None
        await asyncio.wait_for(asyncio.shield(self._reading), PATIENCE)
        assert self.closed is not None
        return self.closed

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for data in socket:
                assert isinstance(data, bytes)
                await self._take(data)
        except ConnectionClosed:
            pass
        self.closed = (socket.close_code or 0, socket.close_reason or "")
        self._synced.set()

    async def _take(self, data: bytes) -> None:
        kind, step, carried = wire.read_frame(data)
        if kind == wire.AWARENESS:
            self._meet(carried)
            self._answered.set()
        elif step == wire.STEP1:
            await self.send(wire.step2(self.doc.get_update(carried)))
        else:
            self.heard.append(carried)
            self.doc.apply_update(carried)
            if step == wire.STEP2:
                self._synced.set()

    def _meet(self, carried: bytes) -> None:
        reader = wire.Reader(carried)
        for _ in range(reader.number()):
            client, _, state = reader.number(), reader.number(), json.loads(reader.blob())
            if state is None:
                self.others.pop(client, None)
            else:
                self.others[client] = state

    # Typing

    def _changed(self, event: Any) -> None:
        if self._mine and self._socket is not None:
            task = asyncio.get_running_loop().create_task(self.send(wire.update_message(event.update)))
            self._sending = task

    @contextlib.contextmanager
    def _typing(self) -> Generator[None]:
        self._mine = True
        try:
            yield
        finally:
            self._mine = False

    def type(self, at: int, new: str = "", old: int = 0) -> None:
        """At a code point, take so many out and put a text in."""
        now = str(self.text)
        start, end = len(now[:at].encode()), len(now[: at + old].encode())
        with self._typing(), self.doc.transaction(origin=ME):
            if end > start:
                del self.text[start:end]
            if new:
                self.text.insert(start, new)

    def undo(self) -> bool:
        with self._typing():
            return self.undoing.undo()

    async def sent(self) -> None:
        """Wait until the server has kept all that was typed before."""
        await asyncio.sleep(0)
        self._synced.clear()
        await self.send(wire.step1(self.doc.get_state()))
        await asyncio.wait_for(self._synced.wait(), PATIENCE)

    async def received(self) -> None:
        """Wait until all that was typed before is in the room; the workspace may not have heard of it."""
        await asyncio.sleep(0)
        self._answered.clear()
        await self.send(bytes((wire.ASK_AWARENESS,)))
        await asyncio.wait_for(self._answered.wait(), PATIENCE)


async def until(true: Callable[[], bool], what: Callable[[], Any] = lambda: "it never came true") -> None:
    """Wait for something that must come."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, what()
        await asyncio.sleep(0.005)


async def expect_same(*people: Person, on: str | None = None) -> str:
    """Wait until all say the same, and the workspace, too; gives what they say."""

    def document() -> dict[str, Any]:
        return people[0].client.get("/api/documents", path=people[0].path, limit=1_048_576)

    for person in people:
        await person.sent()
    end = time.monotonic() + PATIENCE
    while True:
        found = await asyncio.to_thread(document)
        texts = {found["content"], *(str(person) for person in people)}
        versions = {found["version"], *(person.told.get("version") for person in people)}
        if len(texts) == 1 == len(versions) and (on is None or texts == {on}):
            return texts.pop()
        assert time.monotonic() < end, (texts, versions, on)
        await asyncio.sleep(0.01)


# What else happens to a document


def edit(server: Client, path: str, old: str, new: str, mode: str = "propose") -> Any:
    """An agent edits a document."""
    return server.tool("edit_text", mode=mode, path=path, old_text=old, new_text=new)


def place(server: Server, path: str) -> Path:
    assert server.folder is not None
    return server.folder / path


def on_disk(server: Server, path: str) -> str:
    return place(server, path).read_bytes().decode()


def tab_of(server: Server, path: str) -> Any:
    [tab] = [tab for tab in server.get("/api/tabs")["tabs"] if tab["path"] == path]
    return tab


def elsewhere(server: Server) -> Workspace:
    """The same folder in another process: this one."""
    assert server.folder is not None
    return Workspace.open(server.folder, state_home=str(server.folder.parent / "state"))


def story(told: Coroutine[Any, Any, T]) -> T:
    """Run a story to its end."""
    return asyncio.run(told)
