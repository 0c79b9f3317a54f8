"""An analysis of 200 chunks shared by processes: one of them dies, every chunk is done, and nothing else comes out."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent.long import sharing
from agent.long.model import Model
from redraft.agent.database import AgentDatabase
from redraft.agent.long.answers import Answers
from redraft.agent.long.crew import Means
from redraft.agent.long.documents import LongDocuments

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

PROGRAM = Path(sharing.__file__)
TESTS = PROGRAM.parents[2]
PATIENCE = 240.0

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def process(role: str, url: str, place: Path) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, str(PROGRAM), role, url, str(place / "log"), str(place)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment) as made:
        try:
            assert made.stdout is not None
            assert made.stdout.readline() == "ready\n"
            yield made
        finally:
            made.kill()


def result_of(asking: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = asking.communicate(timeout=PATIENCE)
    assert asking.returncode == 0
    return json.loads(out)


def asked(place: Path) -> list[tuple[int, int]]:
    """Which process asked about which chapter."""
    log = place / "log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [(int(process), int(number)) for process, number in (line.split() for line in lines)]


def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process finds by itself."""
    database = AgentDatabase(str(tmp_path_factory.mktemp("alone")))
    means = Means(Model(sharing.people), Answers(database, lambda: 0.0))
    found = sharing.found_by(LongDocuments(means, chunk_tokens=400))
    database.close()
    assert (found["chunks"], len(found["details"]["characters"])) == (sharing.CHUNKS, 5)
    return found


def shared_with_one_that_dies(url: str, place: Path, alone: dict[str, Any]) -> None:
    with process("work", url, place) as doomed, process("ask", url, place) as asking:
        until(lambda: sum(each == doomed.pid for each, _ in asked(place)) >= 20)
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
        assert result_of(asking) == alone
        assert {each for each, _ in asked(place)} == {doomed.pid, asking.pid}
    done = [number for _, number in asked(place)]
    assert set(done) == set(range(sharing.CHUNKS))
    assert len(done) - sharing.CHUNKS <= sharing.CONCURRENCY, "only what the dead one had under way is asked again"


def test_two_processes_share_an_analysis_on_postgres_and_one_that_dies_is_stood_in_for(
    postgres: str, tmp_path: Path, alone: dict[str, Any]
):
    shared_with_one_that_dies(postgres, tmp_path, alone)


def test_two_processes_share_an_analysis_on_sqlite_and_one_that_dies_is_stood_in_for(
    tmp_path: Path, alone: dict[str, Any]
):
    shared_with_one_that_dies(f"sqlite:///{tmp_path}/pieces.db", tmp_path, alone)


def test_whoever_asks_may_die_too_and_goes_on_where_it_was(tmp_path: Path, alone: dict[str, Any]):
    url = f"sqlite:///{tmp_path}/pieces.db"
    with process("ask", url, tmp_path) as asking:
        until(lambda: len(asked(tmp_path)) >= 80)
        asking.send_signal(signal.SIGKILL)
        asking.wait()
    with process("ask", url, tmp_path) as again:
        assert result_of(again) == alone
    assert len(asked(tmp_path)) - sharing.CHUNKS <= sharing.CONCURRENCY
