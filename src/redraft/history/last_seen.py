"""What a file contained when it was last seen, so that a change by another program is noticed, however late.

For a file that turns wrote, that is what the last of them left. For others (open in a tab, once under review, or with
turns whose images were pruned) there is a row. A row also has the stamp at which the content was seen, so that an
untouched file need not be read again. Writing calls are made inside the caller's transaction.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from redraft.files.file_image import FileStamp

if TYPE_CHECKING:
    from redraft.history.database import Database
    from redraft.history.store import SnapshotId

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
