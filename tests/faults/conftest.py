"""What the fault tests share: a place to work in, a running driver, and what has to be there for the harsher ones."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.stage import Driver, new_scene

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.scenes import Scene

MEMORY = "/dev/shm"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one: flushing the disk takes time, and means nothing to a kill."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


@pytest.fixture
def scene(place: Path) -> Scene:
    return new_scene(place)


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with closing(Driver()) as running:
        yield running


@pytest.fixture
def strace() -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if os.geteuid() and scope.exists() and scope.read_text(encoding="ascii").strip() != "0":
        pytest.skip("tracing another process needs root here")


@pytest.fixture
def mounts() -> None:
    if os.geteuid():
        pytest.skip("mounting needs root")
