"""What the fault tests share: a place to work in, a running driver, and what has to be there for the harsher ones."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
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
CLONE_FS = 0x200
CLONE_NEWNS = 0x20000


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


@pytest.fixture(scope="module")
def mounts() -> Iterator[None]:
    """Mounts of this thread's own. A sandbox that another test starts meanwhile copies all mounts that it sees, and
    would keep a disk alive that was cut off and unmounted here."""
    if os.geteuid():
        pytest.skip("mounting needs root")
    library = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/mnt", "rb") as before:
        if library.unshare(CLONE_NEWNS) != 0:
            pytest.skip(f"mount namespaces are not available here: {os.strerror(ctypes.get_errno())}")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        yield
        # A thread begun meanwhile, such as the one that guards the deadline, shares the root with this one, which then
        # may not go elsewhere.
        assert library.unshare(CLONE_FS) == 0, os.strerror(ctypes.get_errno())
        assert library.setns(before.fileno(), CLONE_NEWNS) == 0, os.strerror(ctypes.get_errno())
