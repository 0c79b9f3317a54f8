"""Measuring two things side by side, so that a busy machine slows both alike."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class Line(Protocol):
    """Whatever a part of the benchmark has to show."""

    @property
    def good(self) -> bool: ...

    def line(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Note:
    """A line of words or figures; one that no bar is set for is always good."""

    text: str
    good: bool = True

    def line(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table. `bar` is the highest ratio (or, without a peer, the longest time) that is good enough."""

    name: str
    ours: float
    peer_name: str
    peer: float
    bar: float
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    @property
    def good(self) -> bool:
        return self.ratio <= self.bar

    def line(self) -> str:
        mark = "ok  " if self.good else "SLOW"
        return (
            f"{mark} {self.name:<48} {self._shown(self.ours):>9}  {self.peer_name:<28} {self._shown(self.peer):>9}"
            f"  {self.ratio:6.2f}  (at most {self.bar:g})"
        )

    def _shown(self, amount: float) -> str:
        return shown(amount) if self.unit == "s" else f"{amount:.1f} {self.unit}"


def shown(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def percentile(times: list[float], share: float) -> float:
    """The least time that `share` of all did not exceed."""
    return sorted(times)[max(0, math.ceil(share * len(times)) - 1)]


def side_by_side(ours: Callable[[], object], peer: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The median time of each, taken in turns."""
    mine: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        mine.append(once(ours))
        theirs.append(once(peer))
    return statistics.median(mine), statistics.median(theirs)


def once(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def processor_time(
    words: list[str], folder: Path, environ: Mapping[str, str] | None = None, given: bytes = b""
) -> float:
    """The processor time that a program takes for one call, its threads and the children that it waits for included."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as said:
        stdin.write(given)
        stdin.seek(0)
        program = subprocess.Popen(words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=said, cwd=folder, env=environ)
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        if program.returncode:
            said.seek(0)
            raise subprocess.CalledProcessError(program.returncode, words, stderr=said.read())
    return usage.ru_utime + usage.ru_stime
