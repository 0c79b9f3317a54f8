"""Reviews, typing and tabs as they are kept, so that a crash costs nothing that was on the screen.

A review is written as an image: the three texts by snapshot, the cuts between its parts, and what the disk held. What
the person types after that is appended as it comes, unflushed, and folded into the image with the next durable write.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.history.database import Database


@dataclass(frozen=True, slots=True)
class Image:
    """A document's review in words that the database can keep. Snapshots are written in hexadecimal."""

    path: str | None
    base_path: str | None
    saved: str | None
    base: str
    proposed: str
    working: str
    cuts: list[list[Any]]
    bom: bool
    mode: int | None
    turn: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Image:
        return Image(**json.loads(text))

    @property
    def snapshots(self) -> set[bytes]:
        names = (self.saved, self.base, self.proposed, self.working)
        return {bytes.fromhex(name) for name in names if name is not None}


class Reviews:
    """The tables of reviews, typing and tabs. Writing calls are made inside the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, path: str) -> str | None:
        row = self._db.row("SELECT image FROM reviews WHERE path = ?", (path,))
        return row[0] if row else None

    def knows(self, path: str) -> bool:
        """Whether any review stands at this path or is of the file that lies there."""
        query = "SELECT 1 FROM reviews WHERE path = ?1 OR base_path = ?1 LIMIT 1"
        return self._db.row(query, (path,)) is not None

    def set(self, path: str, image: str | None) -> None:
        """Replace a review's image; typing up to here is part of it."""
        if image is None:
            self._db.execute("DELETE FROM reviews WHERE path = ?", (path,))
        else:
            base_path = Image.from_json(image).base_path
            self._db.execute("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?)", (path, base_path, image))
        self._db.execute("DELETE FROM typing WHERE path = ?", (path,))

    def all(self) -> list[tuple[str, str]]:
        return [(path, image) for path, image in self._db.rows("SELECT path, image FROM reviews ORDER BY path")]

    def standing_for(self, base_path: str) -> str | None:
        """Where the document that lies at this place on disk stands in the working view, if a draft says."""
        row = self._db.row("SELECT path FROM reviews WHERE base_path = ?", (base_path,))
        return row[0] if row else None

    def paths(self) -> list[str]:
        return [row[0] for row in self._db.rows("SELECT path FROM reviews ORDER BY path")]

    def add_typing(self, path: str, change: str) -> int:
        return self._db.execute("INSERT INTO typing (path, change) VALUES (?, ?)", (path, change))

    def typing(self, path: str, after: int = 0) -> list[tuple[int, str]]:
        """What was typed since the image, beyond the number `after`."""
        rows = self._db.rows("SELECT seq, change FROM typing WHERE path = ? AND seq > ? ORDER BY seq", (path, after))
        return [(seq, change) for seq, change in rows]

    def has_typing(self, path: str, seq: int) -> bool:
        """Whether what was typed under this number (0: nothing) still comes after the image."""
        return seq == 0 or self._db.row("SELECT 1 FROM typing WHERE seq = ? AND path = ?", (seq, path)) is not None

    def open_tab(self, path: str, at: float) -> int:
        return self._db.execute("INSERT INTO tabs (path, opened) VALUES (?, ?)", (path, at))

    def tabs(self) -> list[tuple[int, str]]:
        return [(number, path) for number, path in self._db.rows("SELECT id, path FROM tabs ORDER BY id")]

    def move_tabs(self, moves: Mapping[str, str]) -> None:
        """Let tabs follow their documents from old to new places; two may trade theirs."""
        for number, path in self.tabs():
            if path in moves:
                self._db.execute("UPDATE tabs SET path = ? WHERE id = ?", (moves[path], number))

    def close_tab(self, number: int) -> None:
        self._db.execute("DELETE FROM tabs WHERE id = ?", (number,))
