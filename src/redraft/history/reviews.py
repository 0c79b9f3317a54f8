"""Stored reviews, typing and tabs, so that a crash loses nothing that was on the screen; and what the disk was last
seen to contain.

A review is stored as an image: snapshots of its characters and of the text that the person sees, the boundaries of its
runs, and the content of the disk. What the person types after that is appended as it comes, unflushed, and merged into
the image with the next durable write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.files.file_image import FileStamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.history.database import Database, SnapshotId


# What a file contained when it was last seen, so that a change by another program is noticed, however late.
#
# For a file that turns wrote, that is what the last of them left. For others (open in a tab, once under review, or with
# turns whose images were pruned) there is a row. A row also has the stamp at which the content was seen, so that an
# untouched file need not be read again. Writing calls are made inside the caller's transaction.


LAST_STEP = """
    SELECT file_steps.after, turns.pruned FROM file_steps JOIN turns ON turns.id = file_steps.turn
    WHERE file_steps.path = ? AND turns.state IN ('applied', 'undone')
    ORDER BY file_steps.turn DESC, file_steps.seq DESC LIMIT 1"""
RECENT_PATHS = """
    SELECT path FROM (SELECT path, turn FROM file_steps UNION ALL SELECT path, turn FROM review_steps)
    GROUP BY path ORDER BY max(turn) DESC LIMIT ?"""


# The stamp belongs to the file with exactly that content.
KEEP_SEEN = """
    INSERT INTO seen VALUES (?, ?, NULL) ON CONFLICT(path) DO UPDATE
    SET snapshot = excluded.snapshot, stamp = CASE WHEN snapshot IS excluded.snapshot THEN stamp END"""


class KnownContent(NamedTuple):
    """A file's content: None means that there was no file."""

    snapshot: SnapshotId | None


class LastSeenTable:
    """The table of what was seen, after the history's own turns, which take precedence."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def find_known_content(self, path: str) -> KnownContent | None:
        """The file's last known content; None if nothing is known."""
        step = self._db.row(LAST_STEP, (path,))
        if step is not None and not step[1]:
            return KnownContent(step[0])
        row = self._db.row("SELECT snapshot FROM seen WHERE path = ?", (path,))
        return None if row is None else KnownContent(row[0])

    def put(self, path: str, snapshot: SnapshotId | None, stamp: FileStamp | None) -> None:
        """Remember the file's content; a stamp that equals the file's only if it proves the content."""
        noted = None if stamp is None else json.dumps(stamp)
        self._db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", (path, snapshot, noted))

    def stamp(self, path: str, snapshot: SnapshotId | None) -> FileStamp | None:
        """The stamp at which the file was seen with exactly that content, if one is stored."""
        row = self._db.row("SELECT snapshot, stamp FROM seen WHERE path = ?", (path,))
        if row is None or row[0] != snapshot or row[1] is None:
            return None
        return FileStamp(*json.loads(row[1]))

    def paths(self) -> list[str]:
        """Every file whose content is known."""
        return [row[0] for row in self._db.rows("SELECT path FROM seen UNION SELECT path FROM file_steps")]

    def recent_paths(self, limit: int) -> list[str]:
        """The documents that turns wrote or reviewed, those of the latest turns first."""
        return [row[0] for row in self._db.rows(RECENT_PATHS, (limit,))]


def keep_last_contents(database: Database, turns: list[int]) -> None:
    """Before these turns lose their images: remember the content that the last of a file's turns left."""
    for number in turns:
        for path, after in database.rows("SELECT path, after FROM file_steps WHERE turn = ?", (number,)):
            if database.row(LAST_STEP.replace("file_steps.after", "file_steps.turn", 1), (path,)) == (number, 0):
                database.execute(KEEP_SEEN, (path, after))


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

    def tab_of(self, path: str) -> str | None:
        """The tab of the document that has this path in the working view; None if it is not open."""
        for number, lies_at in self.tabs():
            if (self.working_path(lies_at) or lies_at) == path:
                return f"tab_{number}"
        return None

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
