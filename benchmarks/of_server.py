"""Tool calls over HTTP beside FastAPI's bare echo, and a thousand who listen to one job.

Ours passes the gate, waits for the workspace in another thread, and writes a line into the log; the bar is twice the
echo and the time that the tool itself takes in the same moment. The listeners are told a job's events by a real server;
counted is how long after an event happened the last of them had it.
"""

from __future__ import annotations

import asyncio
import bisect
import http.client
import itertools
import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Note, Result, once, percentile, shown
from benchmarks.texts import prose
from redraft.config import Settings
from redraft.history.turns import Author
from redraft.tools.context import ToolContext
from redraft.tools.registry import load_registry
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from benchmarks.measure import Line

ROUNDS, WARM_UP = 150, 10
LISTENERS = 1000
TOLD_WITHIN = 0.150
OVER = (b"event: job.completed\n", b"event: job.failed\n")
NAME = "document.md"
STEPS = 6
PAUSE_MS = 1500


def results(folder: Path) -> Iterator[Line]:
    with echoing() as echo, serving(folder) as server:
        yield from _calls(folder, echo, server)
        yield from _listeners(server)


class Caller:
    """One connection that is kept open."""

    def __init__(self, port: int, token: str = "") -> None:
        self.port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.told: Any = None

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> http.client.HTTPMessage:
        """The headers of the answer; `told` is what it says."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request(method, path, None if body is None else json.dumps(body), self.headers | given)
        response = self._connection.getresponse()
        data = response.read()
        assert response.status < 300, data
        self.told = json.loads(data) if data else None
        return response.headers

    def post(self, path: str, body: Any = None) -> Any:
        self.request("POST", path, body or {})
        return self.told

    def get(self, path: str) -> Any:
        self.request("GET", path)
        return self.told

    def close(self) -> None:
        self._connection.close()


@contextmanager
def echoing() -> Generator[Caller]:
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.echo_http"], stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        time.sleep(1.0)
        yield Caller(port)
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def serving(folder: Path) -> Generator[Caller]:
    """A server on a document of 10 KB, with a model that plays a script."""
    notes = folder / "notes"
    notes.mkdir()
    (notes / NAME).write_text(prose(10_000), encoding="utf-8")
    config = folder / "config" / "redraft"
    config.mkdir(parents=True)
    script = folder / "script.jsonl"
    question: dict[str, Any] = {"text": "Hm.", "calls": [{"tool": "clarify_user", "arguments": {"question": "Which?"}}]}
    reading: dict[str, Any] = {
        "text": "I read.",
        "delay_ms": PAUSE_MS,
        "calls": [{"tool": "list_documents", "arguments": {}}],
    }
    steps = [question, *[reading] * STEPS, {"text": "Done."}]
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    settings = f'[models.play]\nkind = "scripted"\nfile = "{script}"\n[agent]\niterations = 40\ntool_calls = 40\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")
    home = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    command = [sys.executable, "-m", "redraft", "serve", str(notes), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, **home})
    assert process.stdout is not None
    try:
        while process.stdout.readline() not in ("}\n", ""):
            pass
        [found] = (folder / "state" / "redraft").glob("*/server.json")
        told = json.loads(found.read_text(encoding="utf-8"))
        yield Caller(told["port"], told["secret"])
    finally:
        process.terminate()
        process.communicate()


def _calls(folder: Path, echo: Caller, server: Caller) -> Iterator[Line]:
    own = folder / "own"
    own.mkdir()
    (own / NAME).write_text(prose(10_000), encoding="utf-8")
    with Workspace.open(own, state_home=str(folder / "own-state"), settings=Settings(mode="apply")) as workspace:
        context = ToolContext(workspace, Author("agent", "agent"))
        window = {"path": NAME, "start_line": 10, "end_line": 60}
        counts = {"http": 0, "itself": 0}

        def edit(who: str) -> dict[str, Any]:
            counts[who] += 1
            place = {"path": NAME, "operation": "append", "content": f"Line {counts[who]}."}
            return {"tool": "edit_document", "arguments": place}

        def edited(who: str, call: Callable[[str, dict[str, Any]], object]) -> float:
            made = edit(who)
            return once(lambda: call(made["tool"], made["arguments"]))

        def by_http(name: str, arguments: dict[str, Any]) -> object:
            return server.post(f"/api/tools/{name}?mode=apply", arguments)

        def itself(name: str, arguments: dict[str, Any]) -> object:
            return load_registry().call(name, arguments, context)

        yield from _compared(
            "a window of 50 lines",
            lambda: once(lambda: by_http("read_document", window)),
            lambda: once(lambda: itself("read_document", window)),
            lambda: once(lambda: echo.post("/echo", window)),
        )
        yield from _compared(
            "an edit",
            lambda: edited("http", by_http),
            lambda: edited("itself", itself),
            lambda: once(lambda: echo.post("/echo", window)),
        )


def _compared(
    what: str, ours: Callable[[], float], itself: Callable[[], float], echo: Callable[[], float]
) -> Iterator[Line]:
    times: dict[str, list[float]] = {"ours": [], "itself": [], "echo": []}
    for number in range(-WARM_UP, ROUNDS):
        for name, act in (("echo", echo), ("itself", itself), ("ours", ours)):
            seconds = act()
            if number >= 0:
                times[name].append(seconds)
    medians = {name: percentile(taken, 0.5) for name, taken in times.items()}
    best = {name: percentile(taken, 0) for name, taken in times.items()}
    yield Note(
        f"     {what}: echo {shown(medians['echo'])}, the tool itself {shown(medians['itself'])}; best of each: "
        f"ours {shown(best['ours'])}, echo {shown(best['echo'])}, itself {shown(best['itself'])}"
    )
    allowed = 2 * medians["echo"] + medians["itself"]
    yield Result(f"HTTP: {what}, 10 KB", medians["ours"], "2 echoes + the tool itself", allowed, 1.0)


def _listeners(server: Caller) -> Iterator[Line]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    try:
        session = server.post("/api/agent/sessions")["session_id"]
        body = {"session_id": session, "instruction": "Please.", "model": "play"}
        job = server.post("/api/agent/run", body)["job_id"]
        while (shape := server.get(f"/api/agent/jobs/{job}"))["status"] != "waiting_for_user":
            time.sleep(0.05)
        answer = {"question_id": shape["question"]["question_id"], "answer": "This one."}
        heard = asyncio.run(_heard(server, job, answer))
        events = server.get(f"/api/agent/jobs/{job}/events")["events"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert events[-1]["type"] == "job.completed", events[-1]
    told = [[cursor for cursor, _ in each] for each in heard]
    whole = [event["cursor"] for event in events if event["cursor"] <= told[0][-1]]
    good = all(each == whole for each in told)
    yield Note(
        f"     {LISTENERS} listeners, {len(whole)} events each: {'none' if good else 'SOME'} lost or reordered", good
    )
    asked = next(event["cursor"] for event in events if event["type"] == "clarification.received")
    late = [max(dict(each)[cursor] for each in heard) for cursor in whole if cursor > asked]
    yield Note(f"     the last of them was told after {shown(percentile(late, 0.5))} (p50), {shown(max(late))} at most")
    yield Result("SSE: the last of 1,000 is told, p95", percentile(late, 0.95), "150 ms", TOLD_WITHIN, 1.0)


class Ear(asyncio.Protocol):
    """One listener. It only notes when what came: what listeners do must not slow down what they are told."""

    def __init__(self) -> None:
        self.chunks: list[tuple[float, bytes]] = []
        self.ready = asyncio.Event()
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.chunks.append((time.time(), data))
        if not self.ready.is_set() and b"event: clarification.requested\n" in data:
            self.ready.set()
        if any(end in data for end in OVER):
            self.over.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()

    def told(self) -> list[tuple[int, float]]:
        """Cursors, and how long after the event it came."""
        ends = list(itertools.accumulate(len(data) for _, data in self.chunks))
        found: list[tuple[int, float]] = []
        for line in re.finditer(rb"^data: (.*)\n", b"".join(data for _, data in self.chunks), re.MULTILINE):
            event = json.loads(line[1])
            if event["type"] != "assistant.delta":
                came = self.chunks[bisect.bisect_left(ends, line.end())][0]
                found.append((event["cursor"], came - datetime.fromisoformat(event["ts"]).timestamp()))
        return found


async def _heard(server: Caller, job: str, answer: dict[str, Any]) -> list[list[tuple[int, float]]]:
    """What each listener heard, from the answer on that the job waits for."""
    head = (
        f"GET /api/agent/jobs/{job}/events/stream HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: {server.headers['Authorization']}\r\n\r\n"
    ).encode()
    loop = asyncio.get_running_loop()
    ears: list[Ear] = []
    for number in range(LISTENERS):
        transport, ear = await loop.create_connection(Ear, "127.0.0.1", server.port)
        transport.write(head)
        ears.append(ear)
        if number % 50 == 49:
            await ear.ready.wait()
    await asyncio.gather(*(ear.ready.wait() for ear in ears))
    await asyncio.to_thread(server.post, f"/api/agent/jobs/{job}/clarify", answer)
    await asyncio.gather(*(ear.over.wait() for ear in ears))
    return [ear.told() for ear in ears]
