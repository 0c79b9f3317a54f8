"""The folders that a turn made for its documents, so that taking it back takes them away again while they are empty.

A note beside the history, not a part of it: where one is lost, a folder stays, and nothing else happens.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from redraft.files.paths import DocPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.history.database import Database


def note_made(database: Database, turn: int, folders: Sequence[str]) -> None:
    """Remember the folders, outermost first."""
    if folders:
        with database.transaction(durable=False):
            database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_key(turn), json.dumps(folders)))


def made_by(database: Database, turn: int) -> list[DocPath]:
    row = database.row("SELECT value FROM meta WHERE key = ?", (_key(turn),))
    return [DocPath(folder) for folder in json.loads(row[0])] if row else []


def _key(turn: int) -> str:
    return f"made by {turn}"
