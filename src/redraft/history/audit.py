"""The audit log: one line per call, each with the hash of the line before it.

A line has the caller, the tool, the arguments, the result and the turn. Arguments are shortened to what a person wants
to read: names, paths and numbers, the beginning of long texts, and nothing that looks like a credential. Changing,
removing, inserting or reordering a line breaks the chain at that line; truncation is detected by the head, which is
stored separately.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from redraft.errors import Damaged
from redraft.files.secret_detection import MASKED, is_secret_field, mask_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.history.database import Database
    from redraft.history.turns import Author

GENESIS = bytes(32)
BROKEN = b"\xff" * 32
MAX_TEXT, MAX_ITEMS, MAX_LINE = 120, 20, 4000
LOOKED_AT = 10_000
# Where something was done comes first.
PLACES = ("path", "file_path", "paths", "from_path", "to_path", "tab_id")
# What else is left of a line whose texts are masked.
KEPT = (*PLACES, "tool", "tool_call_id", "operation", "edit_id", "action")
PLACE_IN_JSON = re.compile(r'"(?:path|file_path|from_path|to_path)":\s*"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class AuditCheck:
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
        line = (seq + 1, at, f"{author.kind}:{author.name}", tool, format_arguments(arguments), result, turn)
        link = chain_hash(last, line)
        self._db.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*line, link))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('audit_head', ?)", (f"{seq + 1} {link.hex()}",))

    def entries(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The newest lines, oldest of them first."""
        names = ("seq", "at", "author", "tool", "arguments", "result", "turn")
        rows = self._db.rows(
            "SELECT seq, at, author, tool, arguments, result, turn FROM audit ORDER BY seq DESC LIMIT ?", (limit,)
        )
        return [dict(zip(names, row, strict=True)) for row in reversed(rows)]

    def verify(self) -> AuditCheck:
        """Verify the whole chain."""
        rows, unreadable = self._lines()
        last = GENESIS
        for expected, row in enumerate(rows, start=1):
            line, link = row[:7], row[7]
            if line[0] != expected:
                return AuditCheck(len(rows), expected, f"line {expected} is missing")
            if not is_linked(last, line, link):
                return AuditCheck(len(rows), expected, f"line {expected} was changed")
            last = link
        if unreadable:
            return AuditCheck(len(rows), len(rows) + 1, f"line {len(rows) + 1} cannot be read")
        if self._ends()[1] != (len(rows), last):
            return AuditCheck(len(rows), len(rows) + 1, "the end of the log was cut off or replaced")
        return AuditCheck(len(rows))

    def _lines(self) -> tuple[list[tuple[Any, ...]], bool]:
        """The lines in order, up to the first that is not even text, and whether there is one."""
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
        """The last line's number, and the separately stored head of the log; None if that was tampered with."""
        # As bytes, to distinguish a value that is not text from a disk error: only the first is tampering.
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
        """Where the next line goes, and the hash that it continues. After tampering the chain stays broken there."""
        last, head = self._ends()
        return head if head is not None and head[0] >= last else (last, BROKEN)


def is_linked(last: bytes, line: tuple[Any, ...], link: Any) -> bool:
    try:
        return chain_hash(last, line) == link
    except TypeError:  # bytes where there was text
        return False


def format_arguments(arguments: Any) -> str:
    """Arguments as the log stores them: JSON, short and without secrets."""
    line = json.dumps(_shorten(arguments), ensure_ascii=False, default=str)
    line = line.encode(errors="replace").decode()  # a model may write half of a surrogate pair
    return line if len(line) <= MAX_LINE else json.dumps(f"{line[:MAX_LINE]}…", ensure_ascii=False)


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        # Mask before truncating: half a credential would not be recognised as one.
        plain: str = mask_credentials(value[:LOOKED_AT])
        return plain if len(value) <= MAX_TEXT else f"{plain[:MAX_TEXT]}… ({len(value)} characters)"
    if isinstance(value, dict):
        table = sorted(cast("dict[str, Any]", value).items(), key=lambda pair: pair[0] not in PLACES)
        return {name: MASKED if is_secret_field(name, inner) else _shorten(inner) for name, inner in table}
    if isinstance(value, list | tuple):
        entries = cast("Sequence[Any]", value)
        more = [f"… ({len(entries)} in all)"] if len(entries) > MAX_ITEMS else []
        return [*map(_shorten, entries[:MAX_ITEMS]), *more]
    return value


def paths_in(arguments: Any) -> list[str]:
    """The paths that arguments name, at any depth, also within a text that is itself JSON, even if truncated."""
    if isinstance(arguments, str):
        return [_unescape(place) for place in PLACE_IN_JSON.findall(arguments)]
    if isinstance(arguments, dict):
        table = cast("dict[str, Any]", arguments)
        named = [each for name in PLACES if name in table for each in _texts(table[name])]
        return [*named, *(place for inner in table.values() for place in paths_in(inner))]
    return [place for each in arguments for place in paths_in(each)] if _is_list(arguments) else []


def _texts(value: Any) -> list[str]:
    values = value if _is_list(value) else [value]
    return [each for each in values if isinstance(each, str)]


def _unescape(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def mask_all_but_paths(arguments: Any) -> Any:
    """Arguments with every text masked except for paths and the kind of call."""
    if isinstance(arguments, dict):
        table = cast("dict[str, Any]", arguments)
        return {name: inner if name in KEPT else mask_all_but_paths(inner) for name, inner in table.items()}
    if _is_list(arguments):
        return [mask_all_but_paths(each) for each in arguments]
    if isinstance(arguments, str):
        return json.dumps(MASKED) if arguments[:1] in ("{", "[", '"') else MASKED
    return arguments


def chain_hash(last: bytes, line: tuple[Any, ...]) -> bytes:
    plain = json.dumps(line, ensure_ascii=True)
    return hashlib.sha256(last + plain.encode()).digest()
