"""The text of documents, read window by window as far as the budget goes; what was not read is marked as such."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.agent.offline.documents import some
from redraft.agent.offline.intents import Outcome, Steps, Told, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.agent.offline.intents import Call, Desk

# Below what the loop tells of one result, whatever has to be escaped in it.
WINDOW_TOKENS = 5000


@dataclass(slots=True)
class Reading:
    """What was read of a document. Lines are counted from 0; `whole` is False where some of it was not read."""

    path: str
    version: str = ""
    format: str = ""
    pieces: list[str] = field(default_factory=list[str])
    next_line: int = 0
    total: int = 0
    whole: bool = False
    failed: str = ""
    tokens: int = WINDOW_TOKENS
    unread_tokens: int = 0

    @property
    def windows(self) -> int:
        """About how many more windows it takes to read the rest."""
        return 0 if not self.more else max(1, -(-self.unread_tokens // self.tokens))

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def more(self) -> bool:
        return not self.whole and not self.failed

    def take(self, outcome: Outcome) -> None:
        """Add a window. One that the loop had to shorten is asked for again, half as large."""
        if not outcome.ok:
            self.failed = outcome.message
            return
        data = outcome.data
        if outcome.cut or not isinstance(data.get("lines"), dict):
            self.tokens //= 2
            self.failed = "" if self.tokens > 100 else "Its lines are too long for me."
            return
        if self.version and data["version"] != self.version:
            self.failed = "It was changed while I read it; ask again."
            return
        self.version, self.format, self.total = data["version"], data["file_type"], data["lines"]["total"]
        self.pieces.append(data["content"])
        self.unread_tokens = (self.unread_tokens or data["tokens"]["total_estimate"]) - data["tokens"]["returned"]
        self.next_line = data["lines"]["end"] + 1
        if data.get("line_truncated"):
            self.failed = "It has a line that is too long for me."
        self.whole = not data["has_more"] and not self.failed


def read_all(paths: Sequence[str], desk: Desk, *, keep: int = 0) -> Steps[list[Reading]]:
    """Read documents, side by side, as far as the budget allows when `keep` calls are to be left. Those that come last
    may not have been read at all; their `total` is 0 and `whole` is False."""
    readings = [Reading(path) for path in paths]
    while (yield from read_on(readings, desk, keep=keep)):
        pass
    return readings


def read_on(readings: Sequence[Reading], desk: Desk, *, keep: int = 0) -> Steps[bool]:
    """Read the next window of each document that has more, in one step; whether there was anything to read."""
    room = desk.left - keep if desk.steps > (2 if keep else 1) else 0
    due = [reading for reading in readings if reading.more][: max(0, room)]
    if not due:
        return False
    wanted: list[Call] = [
        call("read_document", path=each.path, start_line=each.next_line, max_tokens=each.tokens) for each in due
    ]
    for reading, outcome in zip(due, (yield wanted), strict=True):
        reading.take(outcome)
    return True


def read_one(path: str, desk: Desk, *, keep: int = 0) -> Steps[Reading]:
    """One document; ends the script where nothing of it can be read."""
    [reading] = yield from read_all([path], desk, keep=keep)
    if not reading.pieces:
        raise Told(f"I cannot read {path}: {reading.failed or 'the budget of this job is spent.'}")
    return reading


def left_out(readings: Sequence[Reading]) -> str:
    """What was not read, to be said with every figure; empty where all was."""
    parts = [reading for reading in readings if not reading.whole]
    said: list[str] = []
    for reading in parts:
        if not reading.pieces:
            said.append(f"{reading.path} ({reading.failed or 'not read'})")
        else:
            said.append(f"{reading.path} from line {reading.next_line + 1} on")
    return f"\n\nNot counted in this: {some(said)}." if said else ""
