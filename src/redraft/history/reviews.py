"""Stored reviews, typing and tabs, so that a crash loses nothing that was on the screen.

A review is stored as an image: snapshots of its characters and of the text that the person sees, the boundaries of its
runs, and the content of the disk. What the person types after that is appended as it comes, unflushed, and merged into
the image with the next durable write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from redraft.history.last_seen import KEEP_SEEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.history.database import Database


@dataclass(frozen=True, slots=True)
class ReviewImage:
    """A document's review as the database stores it. Snapshots are in hexadecimal."""

    path: str | None
    base_path: str | None
    saved: str | None
    working: str
    cuts: list[list[Any]]
    bom: bool
    mode: int | None
    turn: str = ""
    text: str | None = None  # every character of the review; None in images from before runs existed
    base: str | None = None
    proposed: str | None = None

    def to_json(self) -> str:
        # Not with `asdict`, which copies every boundary: for 2,000 hunks that takes longer than the rest of a decision.
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("base", "proposed")}
        return json.dumps(values, ensure_ascii=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> ReviewImage:
        return ReviewImage(**json.loads(text))

    @property
    def snapshots(self) -> set[bytes]:
        names = (self.saved, self.text, self.working, self.base, self.proposed)
        return {bytes.fromhex(name) for name in names if name is not None}


class Reviews:
    """The tables of reviews, typing and tabs. Writing calls are made inside the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def get(self, path: str) -> str | None:
        row = self._db.row("SELECT image FROM reviews WHERE path = ?", (path,))
        return row[0] if row else None

    def knows(self, path: str) -> bool:
        """Whether there is a review at this path or of the file there."""
        query = "SELECT 1 FROM reviews WHERE path = ?1 OR base_path = ?1 LIMIT 1"
        return self._db.row(query, (path,)) is not None

    def set(self, path: str, image: str | None) -> None:
        """Replace a review's image; it includes the typing so far. The file's last content stays known if it is
        removed."""
        if image is None:
            self._keep_last_seen_content(self.get(path))
            self._db.execute("DELETE FROM reviews WHERE path = ?", (path,))
        else:
            base_path = ReviewImage.from_json(image).base_path
            self._db.execute("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?)", (path, base_path, image))
        self._db.execute("DELETE FROM typing WHERE path = ?", (path,))

    def _keep_last_seen_content(self, image: str | None) -> None:
        old = None if image is None else ReviewImage.from_json(image)
        if old is not None and old.base_path is not None and old.saved is not None:
            values = (old.base_path, bytes.fromhex(old.saved))
            self._db.execute(KEEP_SEEN, values)

    def all(self) -> list[tuple[str, str]]:
        return [(path, image) for path, image in self._db.rows("SELECT path, image FROM reviews ORDER BY path")]

    def working_path(self, base_path: str) -> str | None:
        """The path in the working view of the document at this path on disk, if a draft has one."""
        row = self._db.row("SELECT path FROM reviews WHERE base_path = ?", (base_path,))
        return row[0] if row else None

    def paths(self) -> list[str]:
        return [row[0] for row in self._db.rows("SELECT path FROM reviews ORDER BY path")]

    def add_typing(self, path: str, change: str) -> int:
        return self._db.execute("INSERT INTO typing (path, change) VALUES (?, ?)", (path, change))

    def read_typing(self, path: str, after: int = 0) -> list[tuple[int, str]]:
        """What was typed since the image, after the number `after`."""
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
        """Let tabs follow their documents from old to new paths; two may swap theirs. A tab whose document is already
        open in another one is removed."""
        tabs = self.tabs()
        taken = {path for _, path in tabs if path not in moves}
        for number, path in tabs:
            place = moves.get(path)
            if place is None:
                continue
            if place in taken:
                self.close_tab(number)
            else:
                self._db.execute("UPDATE tabs SET path = ? WHERE id = ?", (place, number))
                taken.add(place)

    def close_tab(self, number: int) -> None:
        self._db.execute("DELETE FROM tabs WHERE id = ?", (number,))
