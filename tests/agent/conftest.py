"""The fixtures of every story about the agent."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent.desk import Desk
from agent.processes import until
from workspace.folder import POEM, Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from redraft.config import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    made = Folder(tmp_path)
    made.put("poem.md", POEM)
    made.put("other.md", "One line.\nAnother line.\n")
    yield made
    made.close()


@pytest.fixture
def desk(folder: Folder) -> Generator[Callable[..., Desk]]:
    """A maker of desks on the one folder; each is a program that starts."""
    made: list[Desk] = []

    def make(*steps: dict[str, Any], settings: Settings | None = None, **more: Any) -> Desk:
        desk = Desk.at(folder, steps, settings, **more)
        made.append(desk)
        return desk

    yield make
    for each in made:
        each.close()


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
