"""An analysis of 200 chunks shared by processes: one of them dies, every chunk is done, and nothing else comes out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.long import sharing
from agent.long.model import Model
from agent.processes import kill, noted, process, result_of, until
from redraft.agent.database import AgentDatabase
from redraft.agent.long.answers import Answers
from redraft.agent.long.crew import Means
from redraft.agent.long.documents import LongDocuments

PROGRAM = Path(sharing.__file__)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process finds by itself."""
    database = AgentDatabase(str(tmp_path_factory.mktemp("alone")))
    means = Means(Model(sharing.people), Answers(database, lambda: 0.0))
    found = sharing.found_by(LongDocuments(means, chunk_tokens=400))
    database.close()
    assert (found["chunks"], len(found["details"]["characters"])) == (sharing.CHUNKS, 5)
    return found


@dataclass(frozen=True, slots=True)
class Shared:
    """What two processes found, and which of them asked about which chapter, one having died."""

    found: dict[str, Any]
    both: set[int]
    asked: list[tuple[int, int]]

    @property
    def again(self) -> int:
        return len(self.asked) - sharing.CHUNKS


def shared_with_one_that_dies(url: str, place: Path) -> Shared:
    log = place / "log"
    with process(PROGRAM, "work", url, log, place) as doomed, process(PROGRAM, "ask", url, log, place) as asking:
        until(lambda: sum(each == doomed.pid for each, _ in noted(log)) >= 20)
        kill(doomed)
        return Shared(result_of(asking), {doomed.pid, asking.pid}, noted(log))


@pytest.mark.parametrize("database", ["postgres", "sqlite"])
def test_two_processes_share_an_analysis_and_one_that_dies_is_stood_in_for(
    database: str, request: pytest.FixtureRequest, tmp_path: Path, alone: dict[str, Any]
):
    url = request.getfixturevalue("postgres") if database == "postgres" else f"sqlite:///{tmp_path}/pieces.db"
    shared = shared_with_one_that_dies(url, tmp_path)
    assert shared.found == alone
    assert {each for each, _ in shared.asked} == shared.both
    assert {number for _, number in shared.asked} == set(range(sharing.CHUNKS))
    assert shared.again <= sharing.CONCURRENCY, "only what the dead one had under way is asked again"


def test_whoever_asks_may_die_too_and_goes_on_where_it_was(tmp_path: Path, alone: dict[str, Any]):
    url, log = f"sqlite:///{tmp_path}/pieces.db", tmp_path / "log"
    with process(PROGRAM, "ask", url, log, tmp_path) as asking:
        until(lambda: len(noted(log)) >= 80)
        kill(asking)
    with process(PROGRAM, "ask", url, log, tmp_path) as again:
        assert result_of(again) == alone
    assert len(noted(log)) - sharing.CHUNKS <= sharing.CONCURRENCY
