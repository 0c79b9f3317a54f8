"""Retention: old turns stay listed in the history but lose their images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.history.reviews import ReviewImage, keep_last_contents

if TYPE_CHECKING:
    from redraft.config import Settings
    from redraft.history.database import Database, Store
    from redraft.history.turns import Turns

SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class GcResult:
    """What a collection removed."""

    turns: int
    snapshots: int
    blocks: int


def collect(database: Database, store: Store, turns: Turns, settings: Settings, now: float) -> GcResult:
    """Drop the images of turns past the retention period, and every snapshot that nothing refers to any more.

    A pending proposal is never dropped, however old. The caller holds the lock.
    """
    oldest = now - settings.retention_days * SECONDS_A_DAY
    newest = turns.newest()
    with database.transaction():
        old = database.rows(
            "SELECT id FROM turns WHERE pruned = 0 AND state NOT IN ('proposed', 'applying')"
            " AND (created < ? OR id <= ?)",
            (oldest, newest - settings.retention_turns),
        )
        keep_last_contents(database, [number for (number,) in old])
        for (number,) in old:
            database.execute("UPDATE turns SET pruned = 1 WHERE id = ?", (number,))
            database.execute("UPDATE file_steps SET before = NULL, after = NULL WHERE turn = ?", (number,))
            database.execute("UPDATE review_steps SET before = NULL, after = NULL WHERE turn = ?", (number,))
        snapshots, blocks = store.drop_all_but(find_wanted_snapshots(database))
    if blocks:
        give_space_back(database)
    return GcResult(len(old), snapshots, blocks)


def give_space_back(database: Database) -> None:
    """Shrink the file. Auto-vacuum would write one more page with every turn."""
    database.execute("VACUUM")
    database.row("PRAGMA wal_checkpoint(TRUNCATE)")  # while others read, it shrinks later


def find_wanted_snapshots(database: Database) -> set[bytes]:
    wanted: set[bytes] = set()
    for before, after in database.rows("SELECT before, after FROM file_steps"):
        wanted.update(snapshot for snapshot in (before, after) if snapshot is not None)
    wanted.update(row[0] for row in database.rows("SELECT snapshot FROM seen WHERE snapshot IS NOT NULL"))
    images = [row[0] for row in database.rows("SELECT image FROM reviews")]
    for before, after in database.rows("SELECT before, after FROM review_steps"):
        images += [image for image in (before, after) if image is not None]
    for image in images:
        wanted |= ReviewImage.from_json(image).snapshots
    return wanted
