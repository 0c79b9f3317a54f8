"""Snapshots: a file's content, stored once per block.

A snapshot is a list of blocks, each compressed and stored under the SHA-256 of its bytes. Texts are cut where `Text`
cuts them, so a small edit of a large document stores one block and a list; other files are cut at a fixed size. A
snapshot is verified when it is read: a damaged block is an error, never wrong text.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING

from redraft.errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redraft.history.database import Database
    from redraft.text.text import Block, Text

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
