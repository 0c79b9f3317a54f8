"""Live documents: fifty people who type into one, and a batch of keystrokes on its way through versions and reviews.

The people are connections of one process to a real server. Each types four letters a second into 200 KB, and tells with
every letter where its cursor is, as an editor does; each letter is another one, so that it is found in whatever the
server sends. Counted is how long after it was sent each of the others had it.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pycrdt import Doc, Text
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.measure import Note, Result, percentile, shown
from benchmarks.of_server import Caller, serving
from benchmarks.texts import prose
from redraft.history.turns import Author
from redraft.server.live import wire
from redraft.server.live.room_store import RoomStore
from redraft.server.live.room_sync import RoomSync
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.measure import Line

PEOPLE = 50
LETTERS_A_SECOND = 4.0
SECONDS = 10.0
TOLD_WITHIN = 0.150
BATCH_WITHIN = 0.016
BATCHES, WARM_UP = 200, 20
HUNKS = 50
NAME = "live.md"
FIRST = 0xE000  # letters that no text here has, one for each keystroke
LETTER = re.compile(rb"[\xee\xef][\x80-\xbf]{2}")


def results(folder: Path) -> Iterator[Line]:
    yield from _batches(folder)
    with serving(folder) as server:
        (folder / "notes" / NAME).write_text(prose(200_000), encoding="utf-8")
        yield from _people(server)


def _people(server: Caller) -> Iterator[Line]:
    epoch = server.get(f"/api/live?path={NAME}")["epoch"]
    late, missing = asyncio.run(_typing(server, epoch))
    yield Note(
        f"     {PEOPLE} people, {len(late) // PEOPLE} letters: {missing or 'none'} lost; each was at the others' after "
        f"{shown(percentile(late, 0.5))} (p50), {shown(max(late))} at most",
        not missing,
    )
    yield Result("live: a letter is at the others', p95", percentile(late, 0.95), "150 ms", TOLD_WITHIN, 1.0)


class Typist:
    """One person. They note when which letter came, and nothing more, so that what they do slows nobody down."""

    def __init__(self, number: int, socket: ClientConnection, state: bytes) -> None:
        self.number = number
        self.chance = random.Random(number)
        self.came: dict[int, float] = {}
        self._socket = socket
        self._doc: Doc[Any] = Doc()
        self._text: Text = self._doc.get("text", type=Text)
        self._doc.apply_update(state)
        self._made: list[bytes] = []
        self._doc.observe(lambda event: self._made.append(event.update))
        self._at = self.chance.randrange(len(self._text))

    async def read(self) -> None:
        async for data in self._socket:
            now = time.perf_counter()
            assert isinstance(data, bytes)
            if data[0] == wire.SYNC:
                for letter in LETTER.findall(data):
                    self.came.setdefault(ord(letter.decode()), now)

    async def type(self, sent: dict[int, float]) -> None:
        await asyncio.sleep(self.chance.random() / LETTERS_A_SECOND)
        end = time.perf_counter() + SECONDS
        clock = 0
        while time.perf_counter() < end:
            clock += 1
            letter = FIRST + len(sent)
            self._made.clear()
            self._text.insert(self._at, chr(letter))
            self._at += 3
            sent[letter] = time.perf_counter()
            await self._socket.send(wire.update_message(self._made[0]))
            cursor = json.dumps({"user": {"color": "#369"}, "cursor": {"anchor": self._at, "head": self._at}})
            state = wire.number(self.number + 1) + wire.number(clock) + wire.blob(cursor.encode())
            await self._socket.send(wire.awareness(b"\1" + state))
            await asyncio.sleep(1 / LETTERS_A_SECOND)


async def _typing(server: Caller, epoch: str) -> tuple[list[float], int]:
    """How late each letter was at each of the others', and how many never came."""
    url = f"ws://127.0.0.1:{server.port}/api/live/{quote(NAME)}?epoch={epoch}"
    typists: list[Typist] = []
    for number in range(PEOPLE):
        headers = {"Authorization": server.headers["Authorization"]}
        socket = await connect(url, additional_headers=headers, compression=None, max_size=None)
        await socket.send(wire.step1(b"\0"))
        state = b""
        while not state:
            data = await socket.recv()
            assert isinstance(data, bytes)
            state = wire.read_frame(data).data if data[:2] == bytes((wire.SYNC, wire.STEP2)) else b""
        typists.append(Typist(number, socket, state))
    reading = [asyncio.create_task(typist.read()) for typist in typists]
    sent: dict[int, float] = {}
    await asyncio.gather(*(typist.type(sent) for typist in typists))
    await asyncio.sleep(2.0)
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    late = [typist.came[letter] - at for letter, at in sent.items() for typist in typists if letter in typist.came]
    return late, len(sent) * PEOPLE - len(late)


def _batches(folder: Path) -> Iterator[Line]:
    """A letter at a time through the mirror, the workspace and what is told about the document, without a network."""
    own = folder / "own"
    own.mkdir()
    (own / NAME).write_text(prose(1_000_000), encoding="utf-8")
    with Workspace.open(own, state_home=str(folder / "own-state")) as workspace:
        keeper = RoomSync(RoomStore(workspace.database), NAME)
        keeper.open(workspace, time.time())
        times = _typed(workspace, keeper)
        yield Note(f"     a batch of typing, 1 MB: {shown(percentile(times, 0.5))} (p50)")
        yield Result(
            "live: a batch through the workspace, 1 MB, p95", percentile(times, 0.95), "16 ms", BATCH_WITHIN, 1.0
        )
        _propose(workspace)
        keeper.exchange(workspace, (), "agent")
        times = _typed(workspace, keeper)
        yield Result(f"live: the same, {HUNKS} hunks pending", percentile(times, 0.95), "16 ms", BATCH_WITHIN, 1.0)


def _typed(workspace: Workspace, keeper: RoomSync) -> list[float]:
    doc: Doc[Any] = Doc()
    text: Text = doc.get("text", type=Text)
    doc.apply_update(keeper.open(workspace, time.time()).state)
    made: list[bytes] = []
    doc.observe(lambda event: made.append(event.update))
    at = len(text) // 2
    times: list[float] = []
    for _ in range(WARM_UP + BATCHES):
        made.clear()
        text.insert(at, "x")
        at += 1
        began = time.perf_counter()
        keeper.exchange(workspace, [("you", update) for update in made])
        times.append(time.perf_counter() - began)
    return times[WARM_UP:]


def _propose(workspace: Workspace) -> None:
    document = workspace.read(NAME)
    lines = str(document.text).split("\n")
    long = [number for number, line in enumerate(lines) if len(line) > 20]
    for number in long[:: max(1, len(long) // HUNKS)][:HUNKS]:
        lines[number] += " By an agent."
    turn = workspace.turn(Author("agent", "agent"), "Fifty lines", mode="propose")
    turn.write(NAME, "\n".join(lines), document.version)
    turn.commit()
