"""Writes on a disk that fails at every call in turn, and in a process that is killed at any instant."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from redraft.errors import RedraftError
from redraft.files import swap_file, syscalls
from redraft.files.atomic_write import AtomicWrite, write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root
from redraft.files.swap_file import sweep
from tests.conftest import TORTURE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

NOTE = parse_path("note.md")
ERRNOS = [errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EPERM]
OLD, NEW = b"the old content", b"new content, which is longer"
CHANGES = {"replace": (OLD, NEW), "replace and hold": (OLD, NEW), "create": (None, NEW), "delete": (OLD, None)}


# Every function through which this room reaches the disk.
BROKEN: list[tuple[Any, str]] = [
    *((os, name) for name in ("open", "close", "read", "write", "fsync", "fstat", "stat", "lseek", "access", "unlink")),
    *((os, name) for name in ("rename", "link", "mkdir", "rmdir", "fchmod", "listxattr")),
    *((syscalls, name) for name in ("renameat2", "openat2_beneath", "take_read_lease", "drop_lease")),
]


class Fault:
    """Raises `errno` at the call numbered `at`, or from it on; counts the calls, so that a test knows when to stop."""

    def __init__(self, at: int, errno: int, *, persistent: bool) -> None:
        self.at, self.errno, self.persistent = at, errno, persistent
        self.calls = 0
        self._thread = threading.get_ident()

    def strikes(self) -> bool:
        if threading.get_ident() != self._thread:
            return False
        self.calls += 1
        return self.calls > self.at if self.persistent else self.calls == self.at + 1

    def broken(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self.strikes():
                return real(*args, **kwargs)
            if name == "close":  # a failing close has closed nevertheless
                real(*args, **kwargs)
            raise OSError(self.errno, os.strerror(self.errno))

        return call

    @contextmanager
    def active(self) -> Generator[None]:
        reals = [(owner, name, getattr(owner, name)) for owner, name in BROKEN]
        for owner, name, real in reals:
            setattr(owner, name, self.broken(name, real))
        try:
            yield
        finally:
            for owner, name, real in reals:
                setattr(owner, name, real)


def picture(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def change(root: Root, old: bytes | None, new: bytes | None, *, hold: bool) -> None:
    with AtomicWrite(root, NOTE, "t") as put:
        if new is None:
            put.displace(old or b"")
        else:
            put.prepare(new)
            if hold and old is not None:
                put.hold(old)
            put.place() if old is None else put.exchange(old, new)
        put.sync()
        put.discard()


def check_one_fault(folder: Path, kind: str, fault: Fault, *, old_is_kept: bool) -> None:
    """One change with one fault: it succeeds, or can be taken back, and no content is lost on the way."""
    old, new = CHANGES[kind]
    for name in os.listdir(folder):
        (folder / name).unlink()
    if old is not None:
        (folder / "note.md").write_bytes(old)
    descriptors = len(os.listdir("/proc/self/fd"))
    with Root.open(folder) as root:
        succeeded = True
        try:
            with fault.active():
                change(root, old, new, hold=kind == "replace and hold")
        except RedraftError:
            succeeded = False
        found = picture(folder)
        assert all(content == old or (new or b"").startswith(content) for content in found.values())
        if succeeded:
            assert found.get("note.md") == new
        else:
            assert found.get("note.md") in {old, new}
            assert old is None or old in found.values() or not old_is_kept
        with AtomicWrite(root, NOTE, "t") as put:
            if succeeded:
                put.discard()
                assert picture(folder) == ({} if new is None else {"note.md": new})
            else:
                assert put.retract(old=old, new=new)
                assert picture(folder) == ({} if old is None else {"note.md": old})
    deadline = time.monotonic() + 60
    while len(os.listdir("/proc/self/fd")) > descriptors and time.monotonic() < deadline:
        time.sleep(0.0005)  # that of a large file is closed a moment later
    assert len(os.listdir("/proc/self/fd")) == descriptors


@pytest.mark.parametrize("fallback", [False, True], ids=["exchange", "plain rename"])
@pytest.mark.parametrize("persistent", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("kind", CHANGES)
def test_every_errno_at_every_call_gives_old_or_new_and_never_a_false_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, persistent: bool, fallback: bool
) -> None:
    if kind == "replace and hold":
        monkeypatch.setattr(swap_file, "LARGE", 1)
    if fallback:

        def renameat2(dir_fd: int, old: str, new: str, flags: int) -> None:
            raise syscalls.Unsupported

        monkeypatch.setattr(syscalls, "renameat2", renameat2)
    for code in ERRNOS:
        at = 0
        while True:
            fault = Fault(at, code, persistent=persistent)
            # A plain rename destroys the old content; there, whoever keeps a journal has it.
            check_one_fault(tmp_path, kind, fault, old_is_kept=not fallback)
            if fault.calls <= at:
                break
            at += 1
        assert at > 5


def test_a_full_disk_is_told_in_words_with_its_cause(tmp_path: Path) -> None:
    fault = Fault(2, errno.ENOSPC, persistent=False)
    with (
        Root.open(tmp_path) as root,
        AtomicWrite(root, NOTE, "t") as put,
        pytest.raises(RedraftError, match="the disk is full") as caught,
        fault.active(),
    ):
        put.prepare(b"x")
    assert caught.value.code == "io_error"
    assert caught.value.details["errno"] == "ENOSPC"
    assert isinstance(caught.value.__cause__, OSError)
    assert picture(tmp_path) == {}


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    real = os.write

    def write(fd: int, data: memoryview) -> int:
        return real(fd, data[:most])

    content = os.urandom(10_000)
    monkeypatch.setattr(os, "write", write)
    with Root.open(tmp_path) as root:
        write_file(root, NOTE, content, expected=None)
    assert picture(tmp_path) == {"note.md": content}


KILLED = """
import sys
from redraft.files.atomic_write import write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root

contents = [b"a" * 50_000, b"b" * 70_000]
with Root.open(sys.argv[1]) as root:
    print("ready", flush=True)
    while True:
        write_file(root, parse_path("note.md"), contents[1], expected=contents[0])
        contents.reverse()
"""


@pytest.mark.slow
def test_a_killed_writer_leaves_one_whole_content_and_at_most_a_leftover(tmp_path: Path) -> None:
    random.seed(7)
    contents = [b"a" * 50_000, b"b" * 70_000]
    for _ in range(1000 if TORTURE else 12):
        (tmp_path / "note.md").write_bytes(contents[0])
        with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(random.random() * 0.03)
            child.send_signal(signal.SIGKILL)
        assert (tmp_path / "note.md").read_bytes() in contents
        assert len(os.listdir(tmp_path)) <= 2
        with Root.open(tmp_path) as root:
            sweep(root)
        assert os.listdir(tmp_path) == ["note.md"]
