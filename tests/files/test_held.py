"""A large file is compared early and held until it is displaced: what others do meanwhile is noticed all the same."""

from __future__ import annotations

import mmap
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy, Forbidden, Refused, Stale
from redraft.files import swap_file, syscalls
from redraft.files.atomic_write import AtomicWrite
from redraft.files.paths import parse_path
from redraft.files.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTE = parse_path("note.md")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Root]:
    """A folder in which every file counts as large, with one that holds "old"."""
    monkeypatch.setattr(swap_file, "LARGE", 1)
    (tmp_path / "note.md").write_bytes(b"old")
    with Root.open(tmp_path) as opened:
        yield opened


def picture(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def lets_write(note: Path) -> bool:
    """Whether the file can be opened for writing without waiting."""
    try:
        os.close(os.open(note, os.O_WRONLY | os.O_NONBLOCK))
    except BlockingIOError:
        return False
    return True


def during_the_swap(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do this when the names are about to be exchanged for the first time."""
    real = syscalls.renameat2

    def renameat2(dir_fd: int, old: str, new: str, flags: int) -> None:
        monkeypatch.setattr(syscalls, "renameat2", real)
        act()
        real(dir_fd, old, new, flags)

    monkeypatch.setattr(syscalls, "renameat2", renameat2)


def replace(root: Root, *, hold: bytes = b"old") -> str | None:
    """Replace the file as a turn does; the path of a conflict copy, if there is one."""
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.hold(hold)
        put.exchange(b"old", b"new", looked=True)
        return put.discard()


def test_a_held_file_is_replaced_without_being_read_again(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swap_file, "verify_stamp", None)
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.hold(b"old")
        put.exchange(b"old", b"new", looked=True)
        assert lets_write(tmp_path / ".redraft-tmp-t")
        assert put.discard() is None
    assert picture(tmp_path) == {"note.md": b"new"}


def test_a_file_is_let_go_with_the_write_that_held_it(root: Root, tmp_path: Path) -> None:
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.hold(b"old")
        assert not lets_write(tmp_path / "note.md"), "who wants to write waits"
        put.discard()
    assert lets_write(tmp_path / "note.md")
    assert picture(tmp_path) == {"note.md": b"old"}


def test_what_is_not_as_expected_is_not_held(root: Root, tmp_path: Path) -> None:
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.hold(b"odd")
        assert lets_write(tmp_path / "note.md")
        with pytest.raises(Stale):
            put.exchange(b"odd", b"new")
    assert picture(tmp_path) == {"note.md": b"old"}


@pytest.mark.parametrize("way", ["renamed over", "moved away and made anew"])
def test_another_file_in_its_place_is_stale_and_stays(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    note, other = tmp_path / "note.md", tmp_path / "other.md"

    def act() -> None:
        if way == "renamed over":
            other.write_bytes(b"odd")
            other.rename(note)
        else:
            note.rename(other)
            note.write_bytes(b"odd")

    during_the_swap(monkeypatch, act)
    with pytest.raises(Stale):
        replace(root)
    assert picture(tmp_path)["note.md"] == b"odd"


def test_a_file_deleted_while_it_is_held_stays_deleted(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_the_swap(monkeypatch, (tmp_path / "note.md").unlink)
    with pytest.raises(Refused):
        replace(root)
    assert picture(tmp_path) == {}


def test_a_second_name_that_it_gets_while_it_is_held_makes_it_refused(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_the_swap(monkeypatch, lambda: os.link(tmp_path / "note.md", tmp_path / "link.md"))
    with pytest.raises(Forbidden):
        replace(root)
    assert picture(tmp_path) == {"note.md": b"old", "link.md": b"old"}


def test_who_waited_to_write_is_waited_for_in_turn(root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note, ready, locks = tmp_path / "note.md", threading.Event(), Path("/proc/locks")
    inode = f":{note.stat().st_ino} "

    def write() -> None:
        with open(note, "r+b") as file:  # waits until it is let go
            ready.set()
            time.sleep(0.03)
            file.write(b"odd")

    writer = threading.Thread(target=write)

    def act() -> None:
        writer.start()
        while not any("BREAKING" in line and inode in line for line in locks.read_text(encoding="utf-8").splitlines()):
            time.sleep(0.001)

    during_the_swap(monkeypatch, act)
    with pytest.raises((Stale, Busy)):
        replace(root)
    assert ready.is_set()
    writer.join()
    assert picture(tmp_path) == {"note.md": b"odd"}


def test_a_file_that_is_mapped_for_writing_is_not_held(root: Root, tmp_path: Path) -> None:
    with open(tmp_path / "note.md", "r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    with pytest.raises(Busy):
        replace(root)
    mapped[:] = b"odd"
    mapped.close()
    assert picture(tmp_path) == {"note.md": b"odd"}


def test_large_contents_arrive_whole_and_leave_no_descriptor(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swap_file, "WRITE_PIECE", 7)
    open_before = len(os.listdir("/proc/self/fd"))
    old = b"old"
    for number in range(20):
        new = f"content number {number}".encode() * 3
        with AtomicWrite(root, NOTE, "t") as put:
            put.prepare(new)
            put.hold(old)
            put.exchange(old, new)
            assert put.discard() is None
        assert picture(tmp_path) == {"note.md": new}
        old = new
    deadline = time.monotonic() + 60
    while len(os.listdir("/proc/self/fd")) > open_before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_what_was_written_to_right_after_it_got_its_name_does_not_stand_as_ours(root: Root, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.exchange(b"old", b"new")
        assert put.find_placed_file() is not None
        was = note.stat()
        note.write_bytes(b"odd")
        os.utime(note, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert put.find_placed_file() is None
        put.discard()


def test_what_was_written_to_right_before_it_got_its_name_does_not_stand_as_ours(root: Root, tmp_path: Path) -> None:
    with AtomicWrite(root, NOTE, "t") as put:
        put.prepare(b"new")
        put.flush()
        (tmp_path / ".redraft-tmp-t").write_bytes(b"odd")
        put.exchange(b"old", b"new")
        assert put.find_placed_file() is None
        put.discard()
