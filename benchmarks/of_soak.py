"""A server that is used all the time: what it holds in memory, and how many descriptors, must not grow with the hours.

People come to documents, type, take out what they typed and go; listeners come and hang up; agents call tools over HTTP
and MCP; jobs run; tabs are opened and closed. What the server holds is read from the kernel every second. `python -m
benchmarks soak --minutes 10` is the whole of it, a minute a glance. What comes before the warm-up is over is not
counted: modules, threads and caches fill up then.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pycrdt import Doc, Text
from websockets.asyncio.client import connect

from benchmarks.measure import Note
from benchmarks.of_server import Caller, serving
from benchmarks.texts import prose
from redraft.server.live import wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from benchmarks.measure import Line

DOCUMENTS = 24
TYPISTS, LISTENERS, CALLERS = 6, 6, 2
WARM_UP = 0.4  # of the time, and no more than three minutes
MAX_WARM_UP = 180.0
# A leak of 1 kB for each of the hundreds of acts a second would be many times this.
MAX_SLOPE = 1.0  # MB a minute, over ten minutes
MAX_GROWTH = 8.0  # MB, however short it is
MAX_DESCRIPTORS = 4
KEYSTROKE_SECONDS = 0.05
SENTENCE = "Typed here. "


class Held(NamedTuple):
    """What the server holds at a moment."""

    at: float
    megabytes: float
    descriptors: int


@dataclass(slots=True)
class Soak:
    """The server, and how often what was done."""

    server: Caller
    pid: int
    end: float
    acts: dict[str, int]

    def caller(self) -> Caller:
        return Caller(self.server.port, self.server.headers["Authorization"].removeprefix("Bearer "))

    def count(self, act: str) -> None:
        self.acts[act] = self.acts.get(act, 0) + 1

    @property
    def over(self) -> bool:
        return time.monotonic() > self.end

    def held(self) -> Held:
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            [kilobytes] = [int(line.split()[1]) for line in status if line.startswith("VmRSS:")]
        return Held(time.monotonic(), kilobytes / 1024, len(os.listdir(f"/proc/{self.pid}/fd")))


def results(folder: Path, minutes: float = 1.0) -> Iterator[Line]:
    with serving(folder) as server:
        for number in range(DOCUMENTS):
            (folder / "notes" / f"soak-{number}.md").write_text("# Soak\n" + prose(10_000, number), encoding="utf-8")
        [found] = (folder / "state" / "redraft").glob("*/server.json")
        pid: int = json.loads(found.read_text(encoding="utf-8"))["pid"]
        soak = Soak(server, pid, time.monotonic() + minutes * 60, {})
        server.get("/api/documents?path=soak-0.md")
        first = soak.held()
        samples = asyncio.run(_used(soak))
        time.sleep(3.0)  # the last of the connections are let go of
        yield from _judged(soak, first, samples, soak.held())


def _judged(soak: Soak, first: Held, samples: list[Held], last: Held) -> Iterator[Line]:
    warm_at = samples[0].at + min(MAX_WARM_UP, WARM_UP * (samples[-1].at - samples[0].at))
    warm = [sample for sample in samples if sample.at >= warm_at]
    minutes = (warm[-1].at - warm[0].at) / 60
    slope, _ = statistics.linear_regression([held.at / 60 for held in warm], [held.megabytes for held in warm])
    yield Note(f"     in {(samples[-1].at - samples[0].at) / 60:.1f} minutes: " + _told(soak.acts))
    for name, held in (("at the start", first), ("warm", warm[0]), ("at the end", warm[-1]), ("all gone", last)):
        yield Note(f"     {name}: {held.megabytes:.1f} MB, {held.descriptors} descriptors")
    grown = slope * minutes
    flat = slope <= MAX_SLOPE or grown <= MAX_GROWTH
    yield Note(f"{_mark(flat)} soak: memory {slope:+.2f} MB a minute, {grown:+.1f} MB since it was warm", flat)
    fell = last.descriptors <= first.descriptors + MAX_DESCRIPTORS
    yield Note(f"{_mark(fell)} soak: {last.descriptors - first.descriptors:+d} descriptors once all are gone", fell)


def _mark(good: bool) -> str:
    return "ok  " if good else "LEAK"


def _told(acts: dict[str, int]) -> str:
    return ", ".join(f"{count} {act}" for act, count in sorted(acts.items()))


async def _used(soak: Soak) -> list[Held]:
    """Use the server until it is over; what it held each second."""
    people: list[Awaitable[None]] = [_repeated(soak, lambda n=n: _type(soak, n)) for n in range(TYPISTS)]
    people += [_repeated(soak, lambda n=n: _listen(soak, n)) for n in range(LISTENERS)]
    people += [asyncio.to_thread(_call, soak, n) for n in range(CALLERS)]
    people += [asyncio.to_thread(_run_jobs, soak), asyncio.to_thread(_open_tabs, soak)]
    using = asyncio.gather(*people)
    samples: list[Held] = []
    while not using.done():
        samples.append(soak.held())
        await asyncio.wait([using], timeout=1.0)
    await using
    return samples


async def _repeated(soak: Soak, act: Callable[[], Awaitable[None]]) -> None:
    while not soak.over:
        await act()


async def _type(soak: Soak, number: int) -> None:
    """Come into a document, type a sentence, take it out again, and go."""
    chance = random.Random(f"{number} {soak.acts.get('visits', 0)}")
    path = f"soak-{chance.randrange(DOCUMENTS)}.md"
    caller = await asyncio.to_thread(soak.caller)
    epoch = (await asyncio.to_thread(caller.get, f"/api/live?path={path}"))["epoch"]
    caller.close()
    url = f"ws://127.0.0.1:{soak.server.port}/api/live/{path}?epoch={epoch}"
    headers = {"Authorization": soak.server.headers["Authorization"]}
    doc: Doc[Any] = Doc()
    text: Text = doc.get("text", type=Text)
    made: list[bytes] = []
    async with connect(url, additional_headers=headers, compression=None, max_size=None) as socket:
        await socket.send(wire.step1(doc.get_state()))
        while not len(text):
            await _take(doc, await socket.recv())
        doc.observe(lambda event: made.append(event.update))
        at = len(text) // 2
        for place, letter in [*enumerate(SENTENCE, at), *((at, "") for _ in SENTENCE)]:
            made.clear()
            if letter:
                text.insert(place, letter)
            else:
                del text[place : place + 1]
            await socket.send(wire.update_message(made[0]))
            await asyncio.sleep(KEYSTROKE_SECONDS)
            with contextlib.suppress(TimeoutError):
                await _take(doc, await asyncio.wait_for(socket.recv(), 0.001))
            soak.count("keystrokes")
    soak.count("visits")


async def _take(doc: Doc[Any], data: bytes | str) -> None:
    assert isinstance(data, bytes)
    frame = wire.read_frame(data)
    if frame.kind == wire.SYNC and frame.step != wire.STEP1:
        doc.apply_update(frame.data)


async def _listen(soak: Soak, number: int) -> None:
    """Listen to what changes, and hang up without a word."""
    reader, writer = await asyncio.open_connection("127.0.0.1", soak.server.port)
    head = f"Host: 127.0.0.1:{soak.server.port}\r\nAuthorization: {soak.server.headers['Authorization']}\r\n\r\n"
    writer.write(f"GET /api/changes/stream HTTP/1.1\r\n{head}".encode())
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(reader.readuntil(b"never"), 0.5 + number / 4)
    writer.close()
    await writer.wait_closed()
    soak.count("listeners")


def _call(soak: Soak, number: int) -> None:
    """Read, put something in and take it out again, over HTTP; read over MCP."""
    caller = soak.caller()
    chance = random.Random(number)
    while not soak.over:
        path = f"soak-{chance.randrange(number, DOCUMENTS, CALLERS)}.md"  # nobody else's, so that nothing is refused
        caller.post("/api/tools/read_document", {"path": path})
        texts = ["# Soak\n", f"# Soak\nBy agent {number}.\n"]
        for old, new in (texts, reversed(texts)):
            caller.post("/api/tools/edit_text?mode=apply", {"path": path, "old_text": old, "new_text": new})
        _speak(caller, path)
        soak.count("calls")
        time.sleep(0.1)


def _speak(caller: Caller, path: str) -> None:
    """A session of MCP, with a handshake and an end."""
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
    accepts = {"accept": "application/json, text/event-stream"}
    opened = caller.request("POST", "/mcp", _message("initialize", who), **accepts)
    session = {"mcp_session_id": opened["mcp-session-id"], **accepts}
    call = {"name": "read_document", "arguments": {"path": path}}
    caller.request("POST", "/mcp", _message("tools/call", call), **session)
    caller.request("DELETE", "/mcp", **session)


def _message(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}


def _run_jobs(soak: Soak) -> None:
    caller = soak.caller()
    while not soak.over:
        session = caller.post("/api/agent/sessions")["session_id"]
        body = {"session_id": session, "instruction": "Please.", "model": "play"}
        job = caller.post("/api/agent/run", body)["job_id"]
        while (shape := caller.get(f"/api/agent/jobs/{job}"))["status"] not in ("completed", "failed"):
            if shape["status"] == "waiting_for_user":
                answer = {"question_id": shape["question"]["question_id"], "answer": "This one."}
                caller.post(f"/api/agent/jobs/{job}/clarify", answer)
            time.sleep(0.2)
        soak.count("jobs")


def _open_tabs(soak: Soak) -> None:
    caller = soak.caller()
    for number in itertools.cycle(range(DOCUMENTS)):
        if soak.over:
            return
        tab = caller.post("/api/tabs", {"path": f"soak-{number}.md"})["tab_id"]
        caller.request("DELETE", f"/api/tabs/{tab}?discard=true")
        soak.count("tabs")
        time.sleep(0.05)
