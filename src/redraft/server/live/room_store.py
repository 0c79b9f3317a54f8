"""A room as it is kept, so that a restart of the server loses nothing and doubles nothing.

What is kept is the replica's state, not the text: the updates of an epoch in their order, and up to which of them the
workspace has followed (`synced`). They lie in the history, beside the typing, since a batch, the typing that it became
and this mark are kept together or not at all: typing that is there without its mark would be done once more when the
room is opened again. What lies behind the mark could not be typed when it came in, and is typed then. As with typing, a
crash of the program costs nothing that was kept, a power cut at most the last moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.history.database import Database

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS live_rooms (path TEXT PRIMARY KEY, epoch TEXT NOT NULL, synced INTEGER NOT NULL,
    used REAL NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS live_updates (seq INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL,
    author TEXT NOT NULL, data BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS live_updates_by_path ON live_updates(path)",
)
SERVER = ""  # as the author of what the server itself writes
DISK = "disk"  # as the origin of what comes from the workspace, not from a client
# As long as nobody was there for this time, nobody comes back with something to tell; who does is asked to begin anew.
EPOCH_SECONDS = 7 * 24 * 3600.0


class StoredRoom(NamedTuple):
    """A room: `used` is when a client was last connected."""

    epoch: str
    synced: int
    used: float


class RoomStore:
    """The rooms of one folder. Used by whoever holds the guard of the workspace."""

    def __init__(self, database: Database) -> None:
        self._db = database
        with database.transaction(durable=False):
            for statement in SCHEMA:
                database.execute(statement)

    def room(self, path: str) -> StoredRoom | None:
        row = self._db.row("SELECT epoch, synced, used FROM live_rooms WHERE path = ?", (path,))
        return None if row is None else StoredRoom(*row)

    def updates(self, path: str) -> list[tuple[int, bytes]]:
        rows = self._db.rows("SELECT seq, data FROM live_updates WHERE path = ? ORDER BY seq", (path,))
        return [(seq, data) for seq, data in rows]

    def begin(self, path: str, epoch: str, state: bytes, now: float) -> None:
        """A new epoch, which begins with this state."""
        with self._db.transaction(durable=False):
            self._db.execute("DELETE FROM live_updates WHERE path = ?", (path,))
            self._db.execute("INSERT OR REPLACE INTO live_rooms VALUES (?, ?, 0, ?)", (path, epoch, now))
            self.follow(path, [(SERVER, state)], now)

    def add(self, path: str, updates: Iterable[tuple[str, bytes]]) -> None:
        """Keep what came in, with its authors."""
        with self._db.transaction(durable=False):
            for author, data in updates:
                self._db.execute("INSERT INTO live_updates (path, author, data) VALUES (?, ?, ?)", (path, author, data))

    def follow(self, path: str, updates: Iterable[tuple[str, bytes]], now: float) -> None:
        """Keep updates, and that the workspace has followed all there are."""
        with self._db.transaction(durable=False):
            self.add(path, updates)
            self._db.execute(
                "UPDATE live_rooms SET used = ?, synced = (SELECT max(seq) FROM live_updates WHERE path = ?2)"
                " WHERE path = ?2",
                (now, path),
            )

    def fold(self, path: str, state: bytes) -> None:
        """Put one state in the place of all updates that the workspace has followed."""
        with self._db.transaction(durable=False):
            room = self.room(path)
            if room is not None:
                self._db.execute("DELETE FROM live_updates WHERE path = ? AND seq <= ?", (path, room.synced))
                self._db.execute(
                    "INSERT INTO live_updates (seq, path, author, data) VALUES (?, ?, ?, ?)",
                    (room.synced, path, SERVER, state),
                )

    def move(self, path: str, to: str) -> None:
        """The document stands elsewhere now, and its room with it, unless it has one there."""
        with self._db.transaction(durable=False):
            if self.room(to) is None:
                self._db.execute("UPDATE live_updates SET path = ? WHERE path = ?", (to, path))
                self._db.execute("UPDATE live_rooms SET path = ? WHERE path = ?", (to, path))

    def use(self, path: str, now: float) -> None:
        """A client is connected, or was until now."""
        with self._db.transaction(durable=False):
            self._db.execute("UPDATE live_rooms SET used = ? WHERE path = ?", (now, path))

    def forget_old_rooms(self, since: float) -> None:
        """Let go of rooms that nobody used for so long, and of which nothing is left to be typed."""
        with self._db.transaction(durable=False):
            self._db.execute(
                "DELETE FROM live_updates WHERE path IN (SELECT path FROM live_rooms WHERE used < ?) AND path NOT IN"
                " (SELECT path FROM live_updates JOIN live_rooms USING (path) WHERE seq > synced)",
                (since,),
            )
            self._db.execute("DELETE FROM live_rooms WHERE path NOT IN (SELECT path FROM live_updates)")
