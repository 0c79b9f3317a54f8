"""The SQLite database of one folder: its tables, and what is recovered if its file is damaged.

It is outside the folder, in the state directory. A file that cannot be read is set aside, never deleted; whatever
can still be read is copied to a new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
import time
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from redraft.errors import Damaged
from redraft.files.sqlite import SqliteFile
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.errors import RedraftError
    from redraft.text.text import Block, Text


# A damaged database file: detect it before SQLite makes it worse, and copy what can be read.
#
# Nothing here decides what happens to the file, and nothing is ever deleted from it: see `Database`.


def is_truncated(path: str) -> bool:
    """Whether the file is shorter than its header says, so that all of it has to be checked.

    A crash during a checkpoint leaves it like that, legitimately, with the rest in the log. But if there is a log and
    no database, SQLite would create a new one and delete the log: that is damage, and must not be opened.
    """
    header, size = b"", 0
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        header = file.read(100)
        size = os.fstat(file.fileno()).st_size
    if not header:
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path + "-wal").st_size:
                raise sqlite3.DatabaseError("the database is gone but its log remains")
        return False
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return len(header) < 100 or size < (65536 if page == 1 else page) * pages


def salvage(damaged: str, into: sqlite3.Connection, tables: Iterable[str]) -> dict[str, int]:
    """Copy every row that can still be read; returns their number by table."""
    counts = dict.fromkeys(tables, 0)
    try:
        old = sqlite3.connect(f"file:{damaged}?mode=ro", uri=True)
    except sqlite3.Error:
        return counts
    with contextlib.closing(old):
        for table in counts:
            counts[table] = _salvage_table(old, into, table)
    for table in ("file_steps", "review_steps"):  # those of lost turns would conflict with new ones
        into.execute(f"DELETE FROM {table} WHERE turn NOT IN (SELECT id FROM turns)")  # noqa: S608
    return counts


def _salvage_table(old: sqlite3.Connection, into: sqlite3.Connection, table: str) -> int:
    copied = 0
    into.execute("BEGIN IMMEDIATE")
    with contextlib.suppress(sqlite3.DatabaseError):
        cursor = old.execute(f"SELECT * FROM {table}")  # noqa: S608 - the names are our own
        for row in cursor:
            marks = ",".join("?" * len(row))
            into.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)  # noqa: S608
            copied += 1
    into.execute("COMMIT")
    return copied


SCHEMA_VERSION = 1
TOLD_SECONDS = 24 * 3600  # for this long everybody who opens the history is told that it had to be restored

# Every page that a turn touches is written and flushed: tables whose key is their content have no separate index, and
# only states that are searched for are indexed.
TABLES: dict[str, str] = {
    "blocks": "digest BLOB PRIMARY KEY, data BLOB NOT NULL)",
    "snapshots": "id BLOB PRIMARY KEY, size INTEGER NOT NULL, manifest BLOB NOT NULL) WITHOUT ROWID",
    "turns": """id INTEGER PRIMARY KEY, token TEXT NOT NULL, author_kind TEXT NOT NULL,
        author_name TEXT NOT NULL, kind TEXT NOT NULL, mode TEXT NOT NULL, title TEXT NOT NULL, state TEXT NOT NULL,
        created REAL NOT NULL, source INTEGER, pruned INTEGER NOT NULL DEFAULT 0)""",
    "file_steps": """turn INTEGER NOT NULL, seq INTEGER NOT NULL, path TEXT NOT NULL, before BLOB, after BLOB,
        mode INTEGER, moved_from TEXT, edits TEXT, PRIMARY KEY (turn, seq)) WITHOUT ROWID""",
    "review_steps": """turn INTEGER NOT NULL, seq INTEGER NOT NULL, path TEXT NOT NULL, before TEXT, after TEXT,
        PRIMARY KEY (turn, seq))""",
    "reviews": "path TEXT PRIMARY KEY, base_path TEXT, image TEXT NOT NULL)",
    "typing": "seq INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, change TEXT NOT NULL)",
    "tabs": "id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, opened REAL NOT NULL)",
    "audit": """seq INTEGER PRIMARY KEY, at REAL NOT NULL, author TEXT NOT NULL, tool TEXT NOT NULL,
        arguments TEXT NOT NULL, result TEXT NOT NULL, turn INTEGER, hash BLOB NOT NULL)""",
    "meta": "key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "seen": "path TEXT PRIMARY KEY, snapshot BLOB, stamp TEXT) WITHOUT ROWID",
    "anchors": "path TEXT PRIMARY KEY, version TEXT NOT NULL, places TEXT NOT NULL) WITHOUT ROWID",
}
INDEXES = (
    "CREATE INDEX IF NOT EXISTS file_steps_by_path ON file_steps(path)",
    "CREATE INDEX IF NOT EXISTS moves ON file_steps(turn) WHERE moved_from IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS proposed_turns ON turns(id) WHERE state = 'proposed'",
    "CREATE INDEX IF NOT EXISTS reviews_by_base ON reviews(base_path)",
    "CREATE INDEX IF NOT EXISTS typing_by_path ON typing(path)",
)


# The histories that this process has open, or is opening. Such a file must not be opened and closed besides SQLite: the
# kernel would end SQLite's locks on it, which belong to the process, and another process that closes the history would
# believe it is the last one and delete the log, with everything written to it from then on. So nobody starts to open it
# while somebody checks the file, and only a process that has it not open checks it.
_in_use: Counter[str] = Counter()
_counting = threading.Lock()


class Database(SqliteFile):
    """One connection, used by one thread at a time."""

    what = "the history"

    def __init__(self, state: str) -> None:
        self._suspect = os.path.join(state, "suspect")
        self._newest = os.path.join(state, "newest-turn")
        self._newest_fd = -1
        self._closed = False
        expected = os.path.exists(os.path.join(state, "workspace.json"))
        path = os.path.join(state, "history.db")
        self._name = os.path.realpath(path)
        self._count(+1)
        try:
            super().__init__(path)
        except BaseException:
            self._count(-1)
            raise
        if expected and self._created and not self.losses:
            self.losses.append(
                "The history of this folder was missing or empty; a new one was started. Documents were not "
                "changed. Pending proposals and unsaved typing are not in it; an app that is still open may "
                "have them."
            )
        self._look_for_lost_turns()
        self._tell_of_put_back()

    def _put_back(self) -> bool:
        """Also leave a note, for the person who looks with another program or after a restart."""
        copied = super()._put_back()
        if copied:
            self._run("INSERT OR REPLACE INTO meta VALUES ('put_back', ?)", (f"{time.time():.0f} {self.losses[-1]}",))
        return copied

    def _tell_of_put_back(self) -> None:
        row = self.row("SELECT value FROM meta WHERE key = 'put_back'")
        if row is not None:
            at, _, notice = row[0].partition(" ")
            if at.isdigit() and time.time() - int(at) < TOLD_SECONDS:
                self.losses.append(notice)

    def _count(self, by: int) -> None:
        with _counting:
            _in_use[self._name] += by
            if not _in_use[self._name]:
                del _in_use[self._name]

    def _connect(self) -> sqlite3.Connection:
        with explain_os_errors("open", self.what), _counting:
            alone = _in_use[self._name] == 1
            self._unsure = (alone and is_truncated(self.path)) or os.path.exists(self._suspect)
        return super()._connect()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        self._created = "meta" not in there
        if TABLES.keys() - there:  # a new file, or one of an earlier version
            self._build(connection)
        elif not any(row[1] == "edits" for row in connection.execute("PRAGMA table_info(file_steps)")):
            with contextlib.suppress(sqlite3.OperationalError):  # another process did it at the same moment
                connection.execute("ALTER TABLE file_steps ADD COLUMN edits TEXT")
        if self._unsure:
            self._check(connection)
        connection.execute("SELECT max(id) FROM turns").fetchone()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Check the whole file; if the suspicion is not confirmed, it was a temporary disk error."""
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("database disk image is malformed")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._suspect)

    def _build(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}")
        for statement in INDEXES:
            connection.execute(statement)
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))
        connection.execute("COMMIT")

    def _begin_anew(self, moved_to: str, why: str) -> sqlite3.Connection:
        """Recover what can still be read."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._suspect)
        connection = self._connect()
        saved = salvage(moved_to, connection, TABLES)
        self.losses.append(
            f"The history could not be read ({why}) and was set aside as {os.path.basename(moved_to)}. "
            f"Recovered: {saved['turns']} turns, {saved['reviews']} reviews, {saved['blocks']} stored blocks."
        )
        return connection

    def note_newest(self, turn: int) -> None:
        """Record, beside the database, which turn is its newest: otherwise nobody would notice a lost log.

        Not flushed: after a power cut an older number may be there, which only means that less is noticed.
        """
        with contextlib.suppress(OSError):
            if self._newest_fd < 0:
                self._newest_fd = os.open(self._newest, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.pwrite(self._newest_fd, b"%020d\n" % turn, 0)  # not truncated first: some file systems then flush

    def _newest_turn(self) -> int:
        return (self.row("SELECT max(id) FROM turns") or (None,))[0] or 0

    def _look_for_lost_turns(self) -> None:
        try:
            with open(self._newest, encoding="utf-8") as file:
                noted = int(file.read(20))
        except (OSError, ValueError):
            return
        if noted <= self._newest_turn():
            return
        with self.transaction(durable=False):  # another process may note a turn a moment before it commits it
            found = self._newest_turn()
        if noted > found:
            self.note_newest(found)
            if not self.losses:
                lost = f"turn {noted} is" if noted == found + 1 else f"turns {found + 1} to {noted} are"
                self.losses.append(f"The end of the history is gone: {lost} missing. Documents were not changed.")

    def close(self) -> None:
        with self.lock:
            super().close()
            if not self._closed:
                self._closed = True
                self._count(-1)
            if self._newest_fd >= 0:
                fd, self._newest_fd = self._newest_fd, -1
                with contextlib.suppress(OSError):
                    os.close(fd)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; returns the id of an inserted row."""
        with self.lock:
            done = self._run(statement, values).lastrowid or 0
            self.hold_in_place()
            return done

    def many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with self.lock:
            for row in rows:
                self._run(statement, row)
            self.hold_in_place()

    def _explain(self, error: sqlite3.DatabaseError) -> RedraftError:
        """Our error for SQLite's; one that indicates damage is noted, so that the next opening checks the file."""
        if not isinstance(error, sqlite3.OperationalError):
            with contextlib.suppress(OSError), open(self._suspect, "w", encoding="utf-8") as mark:
                mark.write(str(error))
        return super()._explain(error)


# Snapshots: a file's content, stored once per block.
#
# A snapshot is a list of blocks, each compressed and stored under the SHA-256 of its bytes. Texts are cut where `Text`
# cuts them, so a small edit of a large document stores one block and a list; other files are cut at a fixed size. A
# snapshot is verified when it is read: a damaged block is an error, never wrong text.


DIGEST_BYTES = 32
RAW_BLOCK_BYTES = 65536
# Blocks are small and often written: level 1 costs a third of the default and loses a tenth of the saving.
LEVEL = 1
# A block is about 4 kB: initialising the default window and tables, 256 kB, costs more than the compression.
WINDOW_BITS, MEMORY = 13, 6
BOM = b"\xef\xbb\xbf"

SnapshotId = bytes


class Store:
    """Snapshots by the hash of their content. Calls are made inside the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put_text(self, text: Text, *, bom: bool = False, like: Text | None = None) -> SnapshotId:
        """Store a text. `like` was stored just before: only the blocks that differ from it are looked up."""
        manifest = digest_of(BOM) + text.manifest if bom else text.manifest
        snapshot = digest_of(manifest)
        if self._has(snapshot):
            return snapshot
        # What is new in an edited text is nearly always new altogether: not worth a query.
        blocks = self._missing(text) if like is None else text.new_blocks(like)
        rows = {block.digest: block.data for block in blocks}
        if bom:
            rows[digest_of(BOM)] = BOM
        self._insert(snapshot, manifest, rows, len(text))
        return snapshot

    def put_bytes(self, data: bytes) -> SnapshotId:
        """Store any file's content."""
        pieces = [data[at : at + RAW_BLOCK_BYTES] for at in range(0, len(data), RAW_BLOCK_BYTES)]
        digests = [digest_of(piece) for piece in pieces]
        manifest = b"".join(digests)
        snapshot = digest_of(manifest)
        if not self._has(snapshot):
            self._insert(snapshot, manifest, dict(zip(digests, pieces, strict=True)), len(data))
        return snapshot

    def get(self, snapshot: SnapshotId) -> bytes:
        """The content, byte for byte, or `Damaged`."""
        row = self._db.row("SELECT manifest FROM snapshots WHERE id = ?", (snapshot,))
        if row is None:
            raise Damaged(f"Snapshot {snapshot.hex()[:12]} is missing from the history.", snapshot=snapshot.hex())
        digests = split_manifest(row[0])
        blocks = self._blocks(set(digests))
        if digest_of(b"".join(digests)) != snapshot or len(blocks) < len(set(digests)):
            raise Damaged(f"Snapshot {snapshot.hex()[:12]} is incomplete.", snapshot=snapshot.hex())
        return b"".join(blocks[digest] for digest in digests)

    def manifest(self, snapshot: SnapshotId) -> list[bytes]:
        row = self._db.row("SELECT manifest FROM snapshots WHERE id = ?", (snapshot,))
        return split_manifest(row[0]) if row else []

    def drop_all_but(self, wanted: set[SnapshotId]) -> tuple[int, int]:
        """Delete every other snapshot and the blocks that only they used; returns how many of each."""
        known = {row[0] for row in self._db.rows("SELECT id FROM snapshots")}
        dropped = known - wanted
        self._db.many("DELETE FROM snapshots WHERE id = ?", [(snapshot,) for snapshot in dropped])
        used = {digest for snapshot in known & wanted for digest in self.manifest(snapshot)}
        blocks = {row[0] for row in self._db.rows("SELECT digest FROM blocks")} - used
        self._db.many("DELETE FROM blocks WHERE digest = ?", [(digest,) for digest in blocks])
        return len(dropped), len(blocks)

    def _has(self, snapshot: SnapshotId) -> bool:
        return self._db.row("SELECT 1 FROM snapshots WHERE id = ?", (snapshot,)) is not None

    def _missing(self, text: Text) -> list[Block]:
        present: set[bytes] = set()
        for some in batches(set(split_manifest(text.manifest)), 500):
            marks = ",".join("?" * len(some))
            query = f"SELECT digest FROM blocks WHERE digest IN ({marks})"  # noqa: S608 - only question marks
            present.update(row[0] for row in self._db.rows(query, some))
        return [block for block in text.blocks if block.digest not in present]

    def _insert(self, snapshot: SnapshotId, manifest: bytes, blocks: dict[bytes, bytes], size: int) -> None:
        rows = [(digest, pack(data)) for digest, data in blocks.items()]
        self._db.many("INSERT OR IGNORE INTO blocks VALUES (?, ?)", rows)
        self._db.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?)", (snapshot, size, manifest))

    def _blocks(self, digests: set[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for some in batches(digests, 500):
            marks = ",".join("?" * len(some))
            query = f"SELECT digest, data FROM blocks WHERE digest IN ({marks})"  # noqa: S608 - only question marks
            for digest, packed in self._db.rows(query, some):
                found[digest] = unpack(digest, packed)
        return found


def snapshot_of(data: bytes, text: Text | None, *, bom: bool) -> SnapshotId:
    """The id under which a content would be stored, as a text if it is one."""
    if text is not None:
        return digest_of(digest_of(BOM) + text.manifest) if bom else text.digest
    return digest_of(
        b"".join(digest_of(data[at : at + RAW_BLOCK_BYTES]) for at in range(0, len(data), RAW_BLOCK_BYTES))
    )


def pack(data: bytes) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, WINDOW_BITS, MEMORY)
    return packer.compress(data) + packer.flush()


def unpack(digest: bytes, packed: bytes) -> bytes:
    try:
        data = zlib.decompress(packed)
    except zlib.error as error:
        raise Damaged(f"Stored block {digest.hex()[:12]} cannot be unpacked.", block=digest.hex()) from error
    if digest_of(data) != digest:
        raise Damaged(f"Stored block {digest.hex()[:12]} does not match what was stored.", block=digest.hex())
    return data


def digest_of(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def split_manifest(manifest: bytes) -> list[bytes]:
    return [manifest[at : at + DIGEST_BYTES] for at in range(0, len(manifest), DIGEST_BYTES)]


def batches(items: Iterable[bytes], size: int) -> list[list[bytes]]:
    ordered = list(items)
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]
