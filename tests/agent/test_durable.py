"""Work that is shared by processes through a database: on SQLite, and on a real PostgreSQL."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent.sharing import items

if TYPE_CHECKING:
    from collections.abc import Generator

PROGRAM = Path(__file__).parent / "sharing.py"
PATIENCE = 240.0

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def process(role: str, url: str, log: Path, *more: str) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, str(PROGRAM), role, url, str(log), *more]
    environment = {**os.environ, "PYTHONPATH": str(PROGRAM.parent.parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment) as made:
        try:
            assert made.stdout is not None
            assert made.stdout.readline() == "ready\n"
            yield made
        finally:
            made.kill()


def asked(url: str, log: Path, count: int) -> list[dict[str, Any]]:
    with process("ask", url, log, str(count)) as asking:
        return result_of(asking)


def result_of(asking: subprocess.Popen[str]) -> list[dict[str, Any]]:
    out, _ = asking.communicate(timeout=PATIENCE)
    assert asking.returncode == 0
    return json.loads(out)


def begun(log: Path) -> list[tuple[int, int]]:
    """Which process began which piece."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [(int(process), int(number)) for process, number in (line.split() for line in lines)]


def wanted(count: int) -> list[dict[str, Any]]:
    return [{"number": item["number"], "words": 5, "letters": sorted(set(item["text"]))} for item in items(count)]


def until(so: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_on_sqlite_every_piece_is_done_once_and_not_again_when_asked_again(tmp_path: Path):
    url, log = f"sqlite:///{tmp_path}/pieces.db", tmp_path / "log"
    assert asked(url, log, 30) == wanted(30)
    assert sorted(number for _, number in begun(log)) == list(range(30))
    assert asked(url, log, 30) == wanted(30)
    assert len(begun(log)) == 30


def test_on_sqlite_a_run_whose_program_was_killed_goes_on_where_it_was(tmp_path: Path):
    url, log = f"sqlite:///{tmp_path}/pieces.db", tmp_path / "log"
    with process("ask", url, log, "60") as asking:
        until(lambda: len(begun(log)) >= 20)
        asking.send_signal(signal.SIGKILL)
        asking.wait()
    assert asked(url, log, 60) == wanted(60)
    assert len(begun(log)) <= 60 + 8, "more was done again than was under way"


@pytest.fixture(scope="module")
def postgres() -> Generator[str]:
    """A PostgreSQL of our own, on a free port of the loopback address, thrown away at the end."""
    programs = [shutil.which(name) for name in ("initdb", "postgres")]
    if None in programs:
        pytest.skip("PostgreSQL (initdb, postgres) is not installed")
    initdb, server = (str(program) for program in programs)
    place = Path(tempfile.mkdtemp(prefix="redraft-pg-"))
    user: dict[str, Any] = {}
    if os.getuid() == 0:  # the server refuses to run as root
        shutil.chown(place, "nobody")
        user = {"user": "nobody", "env": {**os.environ, "HOME": str(place)}}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = place / "data"
    subprocess.run(
        [initdb, "-D", str(data), "-U", "redraft", "--auth=trust", "--no-sync"], check=True, capture_output=True, **user
    )
    options = ["-c", "fsync=off", "-c", f"unix_socket_directories={place}", "-c", "listen_addresses=127.0.0.1"]
    with subprocess.Popen(
        [server, "-D", str(data), "-p", str(port), *options], stderr=subprocess.DEVNULL, **user
    ) as running:
        try:
            until(lambda: _answers(port))
            yield f"postgresql://redraft@127.0.0.1:{port}/postgres"
        finally:
            running.send_signal(signal.SIGINT)
            running.wait()
            shutil.rmtree(place)


def _answers(port: int) -> bool:
    import psycopg

    try:
        with psycopg.connect(f"postgresql://redraft@127.0.0.1:{port}/postgres", connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False


def test_two_workers_on_postgres_share_the_work_and_one_that_dies_is_stood_in_for(postgres: str, tmp_path: Path):
    log = tmp_path / "log"
    count = 200
    with process("work", postgres, log) as doomed, process("ask", postgres, log, str(count)) as asking:
        until(lambda: sum(each == doomed.pid for each, _ in begun(log)) >= 20)
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
        assert result_of(asking) == wanted(count)
        shares = {each: [number for by, number in begun(log) if by == each] for each, _ in begun(log)}
    assert set(shares) == {doomed.pid, asking.pid}
    assert {number for _, number in begun(log)} == set(range(count))
    assert len(begun(log)) - count <= 8, "only what the dead worker had under way is done again"
    assert asked(postgres, log, count) == wanted(count)
