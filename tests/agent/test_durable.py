"""Work that is shared by processes through a database: on SQLite, and on a real PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.processes import kill, noted, process, result_of, until
from agent.sharing import items

PROGRAM = Path(__file__).parent / "sharing.py"

pytestmark = pytest.mark.slow


def asked(url: str, log: Path, count: int) -> list[dict[str, Any]]:
    with process(PROGRAM, "ask", url, log, str(count)) as asking:
        return result_of(asking)


def wanted(count: int) -> list[dict[str, Any]]:
    return [{"number": item["number"], "words": 5, "letters": sorted(set(item["text"]))} for item in items(count)]


def test_on_sqlite_every_piece_is_done_once_and_not_again_when_asked_again(tmp_path: Path):
    url, log = f"sqlite:///{tmp_path}/pieces.db", tmp_path / "log"
    assert asked(url, log, 30) == wanted(30)
    assert sorted(number for _, number in noted(log)) == list(range(30))
    assert asked(url, log, 30) == wanted(30)
    assert len(noted(log)) == 30


def test_on_sqlite_a_run_whose_program_was_killed_goes_on_where_it_was(tmp_path: Path):
    url, log = f"sqlite:///{tmp_path}/pieces.db", tmp_path / "log"
    with process(PROGRAM, "ask", url, log, "60") as asking:
        until(lambda: len(noted(log)) >= 20)
        kill(asking)
    assert asked(url, log, 60) == wanted(60)
    assert len(noted(log)) <= 60 + 8, "more was done again than was under way"


def test_two_workers_on_postgres_share_the_work_and_one_that_dies_is_stood_in_for(postgres: str, tmp_path: Path):
    log = tmp_path / "log"
    count = 200
    with (
        process(PROGRAM, "work", postgres, log) as doomed,
        process(PROGRAM, "ask", postgres, log, str(count)) as asking,
    ):
        until(lambda: sum(each == doomed.pid for each, _ in noted(log)) >= 20)
        kill(doomed)
        assert result_of(asking) == wanted(count)
        shares = {each: [number for by, number in noted(log) if by == each] for each, _ in noted(log)}
    assert set(shares) == {doomed.pid, asking.pid}
    assert {number for _, number in noted(log)} == set(range(count))
    assert len(noted(log)) - count <= 8, "only what the dead worker had under way is done again"
    assert asked(postgres, log, count) == wanted(count)
