"""Edits and reads over MCP: ours, two servers that others use, and the SDK's bare echo, in turns on the same disk.

Ours writes durably and keeps the turn before it answers; the peers write and answer. Every server has a copy of the
document in a folder of its own. After each edit the file is flushed outside the clock, so that a server which flushes
does not pay for what another has left in the cache.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.measure import Note, Result, once, percentile, shown
from benchmarks.of_disk import bare_write
from benchmarks.peers import Change, echo, reachable
from benchmarks.texts import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.client import Answer, Client
    from benchmarks.measure import Line
    from benchmarks.peers import Kind, Server

SIZES = {"10 KB": (10_000, 150), "1 MB": (1_000_000, 40), "10 MB": (10_000_000, 15)}
# How many times the faster peer's time an edit may take.
EDIT_BARS = {"10 KB": 1.5, "1 MB": 1 / 3, "10 MB": 1 / 8}
WARM_UP = 3
WINDOW = 50
OVER_ECHO = 0.0015
STARTS = 7
NAME = "document.md"

Acts = dict[str, "Callable[[], float]"]
Times = dict[str, list[float]]


def results(folder: Path) -> Iterator[Line]:
    kinds, missing = reachable()
    for name, reason in missing.items():
        yield Note(f"     {name} is left out: {reason}")
    yield from _starts(folder, kinds)
    for size, (length, rounds) in SIZES.items():
        yield from _at(folder, size, length, rounds, kinds)


def _starts(folder: Path, kinds: list[Kind]) -> Iterator[Line]:
    """Until the tools are listed."""

    def started(start: Callable[[], Client]) -> float:
        clients: list[Client] = []
        seconds = once(lambda: (clients.append(start()), clients[0].ask("tools/list", {})))
        clients[0].close()
        return seconds

    def server(kind: Kind) -> Callable[[], float]:
        home = folder / f"start-{kind.name}"
        home.mkdir()
        return lambda: started(lambda: kind(home).client)

    acts: Acts = {kind.name: server(kind) for kind in kinds}
    times = in_turns({**acts, "SDK echo": lambda: started(lambda: echo(folder))}, STARTS, warm_up=1)
    yield from _percentiles("until the tools are listed", times)
    ours, base = percentile(times["redraft"], 0.5), percentile(times["SDK echo"], 0.5)
    yield Result("MCP: until the tools are listed", ours, "SDK echo", base, 1.5)


@dataclass
class Desk:
    """A server with its copy of the document, and the marked line in the middle that every edit changes."""

    server: Server
    text: str
    middle: int = 0
    _count: int = field(default=0)

    def __post_init__(self) -> None:
        lines = self.text.split("\n")
        self.middle = len(lines) // 2
        lines[self.middle] = self._marked()
        self.path = self.server.folder / NAME
        self.path.write_text("\n".join(lines), encoding="utf-8")
        self.server.read(NAME)

    def edit(self) -> float:
        return self._edit(self.server.edit)

    def edit_lines(self) -> float:
        return self._edit(self.server.edit_lines)

    def window(self) -> float:
        return self._read(self.server.window(NAME, self.middle - WINDOW // 2, WINDOW))

    def whole(self) -> float:
        return self._read(self.server.read(NAME))

    def after_a_change(self) -> float:
        """A window of a document that something else has changed since it was last read."""
        data = self.path.read_bytes()
        self.path.write_bytes(data + b"One more line.\n")
        flush(self.path)
        return self.window()

    def check(self) -> None:
        """What is measured has really been done."""
        assert self._marked() in self.path.read_text(encoding="utf-8").split("\n")

    def _marked(self) -> str:
        return f"The marked line has been changed {self._count:06} times."

    def _edit(self, act: Callable[[str, Change], Answer]) -> float:
        old = self._marked()
        self._count += 1
        answer = act(NAME, Change(self.middle, old, self._marked()))
        assert not answer.failed, answer.text[:500]
        flush(self.path)
        return answer.seconds

    def _read(self, answer: Answer) -> float:
        assert not answer.failed, answer.text[:500]
        return answer.seconds


def _at(folder: Path, size: str, length: int, rounds: int, kinds: list[Kind]) -> Iterator[Line]:
    text = prose(length)
    desks: dict[str, Desk] = {}
    base: Client | None = None
    try:
        for kind in kinds:
            home = folder / f"{kind.name}-{length}"
            home.mkdir()
            desks[kind.name] = Desk(kind(home), text)
        base = echo(folder)
        yield from _edits(size, rounds, desks)
        yield from _reads(size, rounds, desks, base)
        for desk in desks.values():
            desk.check()
    finally:
        for client in (*(desk.server.client for desk in desks.values()), *([base] if base else [])):
            client.close()


def _edits(size: str, rounds: int, desks: dict[str, Desk]) -> Iterator[Line]:
    ours = desks["redraft"]
    acts: Acts = {name: desk.edit for name, desk in desks.items()}
    data = ours.path.read_bytes()
    acts["redraft, by line number"] = ours.edit_lines
    acts["the disk alone: write, fsync, rename, fsync"] = lambda: once(
        lambda: bare_write(ours.path.parents[1] / "bare.md", data)
    )
    times = in_turns(acts, rounds)
    yield from _percentiles(f"an edit at {size}", times)
    peers = [name for name in desks if name != "redraft"]
    if not peers:
        return
    medians = {name: percentile(times[name], 0.5) for name in times}
    fastest = min(peers, key=medians.__getitem__)
    for name, what in (("redraft", "edit_text"), ("redraft, by line number", "replace_lines")):
        yield Result(f"MCP: {what}, {size}", medians[name], fastest, medians[fastest], EDIT_BARS[size])


def _reads(size: str, rounds: int, desks: dict[str, Desk], base: Client) -> Iterator[Line]:
    acts: Acts = {"SDK echo": lambda: base.call("echo", {"text": "Hello."}).seconds}
    for name, desk in desks.items():
        acts[name if desk.server.windows else f"{name}, the first {WINDOW} lines"] = desk.window
        if not desk.server.windows:
            acts[f"{name}, the whole file"] = desk.whole
    times = in_turns(acts, rounds)
    yield from _percentiles(f"a window of {WINDOW} lines at {size}", times)
    ours, echoed = percentile(times["redraft"], 0.5), percentile(times["SDK echo"], 0.5)
    yield Result(f"MCP: a window of {WINDOW} lines, {size}", ours, "SDK echo + 1.5 ms", echoed + OVER_ECHO, 1.0)
    changed: Acts = {name: desk.after_a_change for name, desk in desks.items() if desk.server.windows}
    times = in_turns(changed, max(5, rounds // 5))
    yield from _percentiles(f"the same after another program's change, {size}", times)


def in_turns(acts: Acts, rounds: int, warm_up: int = WARM_UP) -> Times:
    """The times of each, one call of each a round, in another order each time: nobody always follows the same."""
    times: Times = {name: [] for name in acts}
    chance = random.Random(1)
    for number in range(-warm_up, rounds):
        for name in chance.sample(list(acts), len(acts)):
            seconds = acts[name]()
            if number >= 0:
                times[name].append(seconds)
    return times


def flush(path: Path) -> None:
    """What was written to a file and its folder is on the disk."""
    for name in (path, path.parent):
        fd = os.open(name, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


def _percentiles(what: str, times: Times) -> Iterator[Note]:
    """The best is shown too: on a busy machine it says more than the rest about what a call costs."""
    yield Note(f"\n     {what:<50} {'p50':>9}  {'p95':>9}  {'best':>9}")
    for name, taken in times.items():
        figures = "  ".join(f"{shown(percentile(taken, share)):>9}" for share in (0.5, 0.95, 0))
        yield Note(f"       {name:<48} {figures}")
