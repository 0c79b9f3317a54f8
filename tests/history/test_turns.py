"""The table of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.history.database import Database
from redraft.history.turns import State, open_turns_query

if TYPE_CHECKING:
    from pathlib import Path


def test_finding_the_open_turns_does_not_read_the_whole_history(tmp_path: Path) -> None:
    database = Database(str(tmp_path))
    plan = [str(row[3]) for row in database.rows(f"EXPLAIN QUERY PLAN {open_turns_query(State.APPLYING)}")]
    database.close()
    assert any("open_turns" in step for step in plan)
