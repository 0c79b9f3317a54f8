"""A database file that is damaged: finding it out before SQLite makes it worse, and carrying over what can be read.

Nothing here decides what becomes of the file, and nothing is ever deleted from it: see `database`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def lost_its_tail(path: str) -> bool:
    """Whether the file is shorter than its header says, so that all of it has to be checked.

    A crash in the midst of a checkpoint leaves it so, rightly, with the rest in the log. But where there is a log and
    no database, SQLite would take it for a new one and delete the log: that is damage, and must not be opened.
    """
    header, size = b"", 0
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        header = file.read(100)
        size = os.fstat(file.fileno()).st_size
    if not header:
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path + "-wal").st_size:
                raise sqlite3.DatabaseError("the database is gone, its log is there")
        return False
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return len(header) < 100 or size < (65536 if page == 1 else page) * pages


def salvage(damaged: str, into: sqlite3.Connection, tables: Iterable[str]) -> dict[str, int]:
    """Copy every row that can still be read; count them by table."""
    counts = dict.fromkeys(tables, 0)
    try:
        old = sqlite3.connect(f"file:{damaged}?mode=ro", uri=True)
    except sqlite3.Error:
        return counts
    with contextlib.closing(old):
        for table in counts:
            counts[table] = _salvage_table(old, into, table)
    for table in ("file_steps", "review_steps"):  # those of lost turns would stand in the way of new ones
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
