"""Another program writes the same file at the same time, in every way that programs do: nothing of it is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy, Stale
from redraft.files import swap_file
from redraft.files.atomic_write import AtomicWrite, new_token, write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root
from tests.conftest import TORTURE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOTE = parse_path("note.md")

# Waits, by spinning, for the instant it is told, and then saves the file as one kind of editor does.
EDITOR = """
import os, sys, time
note = sys.argv[1]
for line in sys.stdin:
    way, at, text = line.split()
    data = text.encode()
    was = os.stat(note)
    if way == "rename":
        with open(note + ".swap", "wb") as file:
            file.write(data)
    while time.monotonic() < float(at):
        pass
    if way == "rename":
        os.rename(note + ".swap", note)
    else:
        with open(note, "wb", buffering=0) as file:
            half = len(data) // 2
            file.write(data[:half])
            file.write(data[half:])
        if way == "keep-time":
            os.utime(note, ns=(was.st_atime_ns, was.st_mtime_ns))
    print("saved", flush=True)
"""


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", EDITOR, str(tmp_path / "note.md")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        yield child
        assert child.stdin is not None
        child.stdin.close()


def save_outside(editor: subprocess.Popen[str], way: str, at: float, text: str) -> None:
    assert editor.stdin is not None
    editor.stdin.write(f"{way} {at} {text}\n")
    editor.stdin.flush()


def saved(editor: subprocess.Popen[str]) -> None:
    assert editor.stdout is not None
    assert editor.stdout.readline() == "saved\n"


@pytest.mark.slow
@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("way", ["in-place", "rename", "keep-time"])
def test_no_write_of_another_program_is_lost(
    editor: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, size: str
) -> None:
    note = tmp_path / "note.md"
    if size == "large":
        monkeypatch.setattr(swap_file, "LARGE", 1)
    overlaps = 0
    with Root.open(tmp_path) as root:
        for number in range(2000 if TORTURE else 150):
            base, theirs = f"{number}-base".encode(), f"{number}-them"
            note.write_bytes(base)
            now = time.monotonic()
            save_outside(editor, way, now + 0.002, theirs)
            while time.monotonic() < now + 0.0014 + random.random() * 0.001:
                pass
            try:
                write_file(root, NOTE, base + b"+ours", expected=base)
            except (Stale, Busy):
                overlaps += 1
            saved(editor)
            kept = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
            assert theirs.encode() in kept.values()
            for name in kept:
                if name != "note.md":
                    (tmp_path / name).unlink()
    assert overlaps > 0


# Appends lines by reading the whole and writing the whole, over and over until it is accepted.
APPENDER = """
import sys
from contextlib import nullcontext
from redraft.errors import RedraftError
from redraft.files.atomic_write import write_file
from redraft.files.locks import folder_lock
from redraft.files.paths import parse_path
from redraft.files.root import Root

folder, name, count, state = sys.argv[1:]
note = parse_path("note.md")
with Root.open(folder) as root:
    for number in range(int(count)):
        while True:
            data = root.read(note).data
            try:
                with folder_lock(state) if state else nullcontext():
                    write_file(root, note, data + f"{name}{number}\\n".encode(), expected=data)
                break
            except RedraftError:
                pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("locked", [True, False])
def test_several_of_us_appending_at_once_lose_no_line(tmp_path: Path, locked: bool) -> None:
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    (folder / "note.md").write_bytes(b"")
    count = 500 if TORTURE else 60
    command = [sys.executable, "-c", APPENDER, str(folder)]
    processes = [
        subprocess.Popen([*command, name, str(count), str(state) if locked else ""]) for name in ("a", "b", "c")
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    files = {name: (folder / name).read_text(encoding="utf-8").split() for name in os.listdir(folder)}
    expected = sorted(f"{name}{number}" for name in "abc" for number in range(count))
    if locked:
        assert {name: sorted(lines) for name, lines in files.items()} == {"note.md": expected}
    else:
        # Without the lock, what one of us has not yet compared can be seen by another; it is then kept as a copy.
        assert sorted({line for lines in files.values() for line in lines}) == expected


def test_retracting_while_another_program_saves_keeps_its_save(editor: subprocess.Popen[str], tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    with Root.open(tmp_path) as root:
        for number in range(500 if TORTURE else 40):
            note.write_bytes(b"old")
            with AtomicWrite(root, NOTE, new_token()) as put:
                put.prepare(b"new")
                put.exchange(b"old", b"new")
                now = time.monotonic()
                save_outside(editor, "in-place", now + 0.0005, f"{number}-them")
                while time.monotonic() < now + 0.0004 + random.random() * 0.0003:
                    pass
                with suppress(Busy):
                    put.retract(old=b"old", new=b"new")
                saved(editor)
            assert note.read_bytes() == f"{number}-them".encode()
