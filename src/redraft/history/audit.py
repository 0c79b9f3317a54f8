"""The audit log: one line per act, each carrying the hash of the line before it.

A line holds who, which tool, a hash of the arguments (never the arguments: they may hold private text), the outcome
and the turn. Changing, removing, inserting or reordering a line breaks the chain at that line; cutting the end off is
found by the head that is kept apart.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.errors import Damaged

if TYPE_CHECKING:
    from redraft.history.database import Database
    from redraft.history.turns import Author

GENESIS = bytes(32)
BROKEN = b"\xff" * 32


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found."""

    entries: int
    broken_at: int | None = None
    reason: str = ""

    @property
    def intact(self) -> bool:
        return self.broken_at is None


class Audit:
    """The chain. Calls are made inside the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, at: float, author: Author, tool: str, arguments: Any, result: str, turn: int | None = None) -> None:
        seq, last = self._end()
        line = (seq + 1, at, f"{author.kind}:{author.name}", tool, hash_of(arguments), result, turn)
        link = chain(last, line)
        self._db.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*line, link))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('audit_head', ?)", (f"{seq + 1} {link.hex()}",))

    def entries(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The newest lines, oldest of them first."""
        names = ("seq", "at", "author", "tool", "arguments", "result", "turn")
        rows = self._db.rows(
            "SELECT seq, at, author, tool, arguments, result, turn FROM audit ORDER BY seq DESC LIMIT ?", (limit,)
        )
        return [dict(zip(names, row, strict=True)) for row in reversed(rows)]

    def verify(self) -> Verdict:
        """Walk the whole chain."""
        rows, unreadable = self._lines()
        last = GENESIS
        for expected, row in enumerate(rows, start=1):
            line, link = row[:7], row[7]
            if line[0] != expected:
                return Verdict(len(rows), expected, f"line {expected} is missing")
            if not hangs_on(last, line, link):
                return Verdict(len(rows), expected, f"line {expected} was changed")
            last = link
        if unreadable:
            return Verdict(len(rows), len(rows) + 1, f"line {len(rows) + 1} cannot be read")
        if self._ends()[1] != (len(rows), last):
            return Verdict(len(rows), len(rows) + 1, "the end of the log was cut off or replaced")
        return Verdict(len(rows))

    def _lines(self) -> tuple[list[tuple[Any, ...]], bool]:
        """The lines in order, up to the first that is not even text, and whether there is such a one."""
        query = "SELECT seq, at, author, tool, arguments, result, turn, hash FROM audit"
        try:
            return self._db.rows(f"{query} ORDER BY seq"), False
        except Damaged:
            found: list[tuple[Any, ...]] = []
            for (seq,) in self._db.rows("SELECT seq FROM audit ORDER BY seq"):
                try:
                    found += self._db.rows(f"{query} WHERE seq = ?", (seq,))
                except Damaged:
                    break
            return found, True

    def _ends(self) -> tuple[int, tuple[int, bytes] | None]:
        """The last line's number, and what is kept apart about the log's end: None where that was tampered with."""
        # As bytes, so that a value that is no text can be told from a disk that fails: only the first is tampering.
        row = self._db.row(
            "SELECT (SELECT max(seq) FROM audit), (SELECT CAST(value AS BLOB) FROM meta WHERE key = 'audit_head')"
        )
        last, head = row or (None, None)
        try:
            seq, _, link = (f"0 {GENESIS.hex()}" if head is None else head.decode()).partition(" ")
            return last or 0, (int(seq), bytes.fromhex(link))
        except ValueError:
            return last or 0, None

    def _end(self) -> tuple[int, bytes]:
        """Where the next line comes, and what it hangs on. After a tampering the chain stays broken at that place."""
        last, head = self._ends()
        return head if head is not None and head[0] >= last else (last, BROKEN)


def hangs_on(last: bytes, line: tuple[Any, ...], link: Any) -> bool:
    try:
        return chain(last, line) == link
    except TypeError:  # bytes where there was text
        return False


def hash_of(arguments: Any) -> str:
    plain = json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


def chain(last: bytes, line: tuple[Any, ...]) -> bytes:
    plain = json.dumps(line, ensure_ascii=True)
    return hashlib.sha256(last + plain.encode()).digest()
