"""Locks between threads and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy, RedraftError
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLDER = """
import sys, time
from redraft.files.locks import folder_lock
with folder_lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        yield child
        child.kill()


def test_threads_exclude_one_another(tmp_path: Path) -> None:
    inside, most, total = [0], [0], [0]

    def work() -> None:
        for _ in range(20):
            with folder_lock(tmp_path):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                seen = total[0]
                time.sleep(0)
                total[0] = seen + 1
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most[0], total[0]) == (1, 120)


def test_another_process_gets_busy_after_its_patience(tmp_path: Path, holder: subprocess.Popen[bytes]) -> None:
    begin = time.monotonic()
    with pytest.raises(Busy) as caught, folder_lock(tmp_path, timeout=0.2):
        pytest.fail("two processes held one lock")
    assert 0.2 <= time.monotonic() - begin < 5, "its own patience, not the usual one"
    assert caught.value.code == "busy"


@pytest.mark.slow
def test_a_stopped_holder_gives_others_busy_within_five_seconds(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    holder.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    with pytest.raises(Busy), folder_lock(tmp_path):
        pytest.fail("two processes held one lock")
    assert time.monotonic() - begin < 30, "the holder sleeps for a minute"


def test_a_killed_holder_leaves_the_lock_free(tmp_path: Path, holder: subprocess.Popen[bytes]) -> None:
    holder.kill()
    holder.wait()
    with folder_lock(tmp_path, timeout=1):
        assert os.listdir(tmp_path) == ["lock"]


@pytest.mark.covers("ML-err-retry")
def test_a_lock_that_becomes_free_is_taken_within_a_moment(tmp_path: Path) -> None:
    taken = threading.Event()

    def hold() -> None:
        with folder_lock(tmp_path):
            taken.set()
            time.sleep(0.15)

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(60)
    begin = time.monotonic()
    with folder_lock(tmp_path):
        assert time.monotonic() - begin < 4
    thread.join()


def test_shared_holders_stand_together_and_keep_an_exclusive_one_out(tmp_path: Path) -> None:
    with (
        folder_lock(tmp_path, exclusive=False),
        folder_lock(tmp_path, exclusive=False, timeout=0),
        pytest.raises(Busy),
        folder_lock(tmp_path, timeout=0),
    ):
        pytest.fail("exclusive beside shared")
    with folder_lock(tmp_path, timeout=0):
        pass


def test_the_lock_ends_with_its_block_also_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), folder_lock(tmp_path):
        raise ZeroDivisionError
    with folder_lock(tmp_path, timeout=0):
        pass


def test_locks_of_different_names_are_different_and_a_descriptor_serves_as_well(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with (
            folder_lock(tmp_path, "one"),
            folder_lock(fd, "two", timeout=0),
            pytest.raises(Busy),
            folder_lock(fd, "one", timeout=0),
        ):
            pytest.fail("the same lock by another way")
    finally:
        os.close(fd)


def test_a_state_folder_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "no"):
        assert (tmp_path / "no" / "lock").exists()


def test_a_state_folder_that_cannot_be_made_is_told_as_ours(tmp_path: Path) -> None:
    (tmp_path / "no").write_text("a file\n", encoding="utf-8")
    with pytest.raises(RedraftError) as refused, folder_lock(tmp_path / "no"):
        pytest.fail("locked nothing")
    assert refused.value.code == "io_error"
