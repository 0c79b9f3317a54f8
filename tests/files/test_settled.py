"""Content that is compared while others may write: leases, patience, and kernels that lack the calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy
from redraft.files import syscalls
from redraft.files.swap_file import PATIENCE, verify_stamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "note").write_bytes(b"text")
    return tmp_path / "note"


@pytest.fixture
def reader(note: Path) -> Iterator[int]:
    fd = os.open(note, os.O_RDONLY)
    yield fd
    os.close(fd)


def test_content_that_nobody_writes_is_settled_at_once(reader: int) -> None:
    assert verify_stamp(reader, b"text", "note")
    assert verify_stamp(reader, b"text", "note"), "also a second time"
    assert not verify_stamp(reader, b"tex", "note")
    assert not verify_stamp(reader, b"TEXT", "note")


def test_other_content_is_told_at_once_although_a_writer_is_there(reader: int, note: Path) -> None:
    with open(note, "ab"):
        begin = time.monotonic()
        assert not verify_stamp(reader, b"other", "note")
        assert time.monotonic() - begin < PATIENCE


def test_a_writer_that_stays_is_busy(reader: int, note: Path) -> None:
    with open(note, "ab"), pytest.raises(Busy):
        verify_stamp(reader, b"text", "note")


def test_whoever_opens_the_file_for_writing_meanwhile_waits_is_noticed_and_ends_nobody(reader: int, note: Path) -> None:
    assert syscalls.take_read_lease(reader)
    opened = threading.Event()

    def write() -> None:
        with open(note, "ab"):  # the system signals the holder of the lease, by default with a deadly signal
            opened.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert not opened.wait(0.1)
    assert not syscalls.drop_lease(reader)
    assert opened.wait(60)
    writer.join()
    assert syscalls.take_read_lease(reader)
    assert syscalls.drop_lease(reader)


WRITES = """
import os, sys
from redraft.errors import RedraftError
from redraft.files.atomic_write import AtomicWrite
from redraft.files.atomic_write import write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root

path = parse_path("a/b/note.md")
with Root.open(sys.argv[1]) as root:
    write_file(root, path, b"one", expected=None)
    write_file(root, path, b"two", expected=b"one")
    for expected in (b"one", None):
        try:
            write_file(root, path, b"three", expected=expected)
            raise SystemExit("accepted")
        except RedraftError:
            pass
    assert root.read(path).data == b"two"
    with AtomicWrite(root, path, "t") as put:
        put.displace(b"two")
        assert put.retract(old=b"two", new=None)
        put.displace(b"two")
        put.discard()
    assert os.listdir(sys.argv[1] + "/a/b") == []
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("fault", ["openat2:error=ENOSYS", "openat2:error=EPERM", "renameat2:error=EINVAL"])
def test_writes_do_their_work_where_the_kernel_lacks_a_call(tmp_path: Path, fault: str) -> None:
    name, _, _ = fault.partition(":")
    tracer = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e", f"inject={fault}"]
    done = subprocess.run([*tracer, sys.executable, "-c", WRITES, str(tmp_path)], capture_output=True, timeout=60)
    if b"ptrace" in done.stderr.lower():
        pytest.skip("this machine does not let strace in")
    assert (done.returncode, done.stderr) == (0, b"")
