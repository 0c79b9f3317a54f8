"""An unchanged stamp proves unchanged content only where the kernel and the clock make it so."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from redraft.files import file_image
from redraft.files.file_image import SETTLED_NS, FileStamp, is_fine, is_local, proves_content, stamp_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_700_000_000_123_456_789


def stamp(age_ns: int, *, size: int = 10, dev: int = 7, round_time: bool = False) -> FileStamp:
    changed = NOW - age_ns
    changed -= changed % 1_000_000_000 if round_time else 0
    return FileStamp(dev, 1, size, changed, changed)


def pretend(monkeypatch: pytest.MonkeyPatch, kind: str, release: tuple[int, int]) -> None:
    def file_system(device: int) -> str:
        return kind

    monkeypatch.setattr(file_image, "file_system", file_system)
    monkeypatch.setattr(file_image, "_kernel", lambda: release)


@pytest.fixture(params=["ext4", "ext3", "nfs", ""])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file system that every device is said to be."""
    pretend(monkeypatch, request.param, (6, 18))
    return request.param


def test_a_file_left_alone_is_trusted_on_a_local_disk_only(kind: str):
    assert proves_content(stamp(SETTLED_NS * 2), NOW) == (kind in {"ext4", "ext3"})


def test_a_young_file_that_others_may_be_writing_is_not_trusted(kind: str):
    assert not proves_content(stamp(SETTLED_NS // 2), NOW)


def test_a_young_file_of_our_own_is_trusted_where_times_are_fine(kind: str):
    assert proves_content(stamp(0), NOW, sole_writer=True) == (kind == "ext4")


def test_an_older_kernel_has_no_fine_times(monkeypatch: pytest.MonkeyPatch):
    for release, fine in (((6, 12), False), ((6, 13), True), ((7, 0), True), ((0, 0), False)):
        pretend(monkeypatch, "ext4", release)
        assert is_fine(7) == fine


def test_a_disk_that_counts_in_seconds_needs_longer(kind: str):
    assert not proves_content(stamp(SETTLED_NS * 2, round_time=True), NOW)
    assert proves_content(stamp(4_000_000_000, round_time=True), NOW) == (kind in {"ext4", "ext3"})
    assert not proves_content(stamp(0, round_time=True), NOW, sole_writer=True), "ext4 with small inodes does, too"


def test_a_large_file_needs_longer(kind: str):
    assert not proves_content(stamp(SETTLED_NS * 2, size=1_000_000_000), NOW)


def test_a_file_from_the_future_is_not_trusted(kind: str):
    assert not proves_content(stamp(-SETTLED_NS), NOW)


def test_a_disk_that_nobody_knows_is_not_local():
    assert not is_local(os.makedev(4000, 77777))


def test_where_times_are_fine_no_two_contents_have_one_stamp(tmp_path: Path):
    """The law by which a young stamp is trusted, held against this machine's own kernel."""
    path = tmp_path / "often.md"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        if not is_fine(os.fstat(fd).st_dev):
            pytest.skip("times are coarse here")
        seen: set[FileStamp] = set()
        for number in range(2000):
            os.pwrite(fd, b"%08d" % number, 0)
            seen.add(stamp_of(os.fstat(fd)))
        assert len(seen) == 2000
    finally:
        os.close(fd)


def test_the_clock_of_the_stamps_is_the_one_they_are_compared_with(tmp_path: Path):
    path = tmp_path / "now.md"
    before = time.time_ns()
    path.write_bytes(b"now")
    changed = path.stat().st_ctime_ns
    assert before - SETTLED_NS < changed <= time.time_ns()
