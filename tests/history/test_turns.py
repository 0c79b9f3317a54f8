"""The table of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.history.database import Database
from redraft.history.turns import PROPOSED_QUERY, UNDER_WAY_QUERY

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("query", "how"), [(PROPOSED_QUERY, "proposed_turns"), (UNDER_WAY_QUERY, "PRIMARY KEY")])
def test_finding_the_open_turns_does_not_read_the_whole_history(tmp_path: Path, query: str, how: str) -> None:
    database = Database(str(tmp_path))
    plan = [str(row[3]) for row in database.rows(f"EXPLAIN QUERY PLAN {query}")]
    database.close()
    assert any(how in step for step in plan)
    assert not any(step == "SCAN turns" for step in plan)
