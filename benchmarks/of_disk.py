"""Durable turns against the bare system calls, and checkpoints against `git commit`."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from typing import TYPE_CHECKING

from benchmarks.measure import Note, Result, once, side_by_side
from benchmarks.texts import prose
from redraft.history.database import Store
from redraft.history.turns import Author
from redraft.text.edits import Edit
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.measure import Line
    from redraft.workspace.turns.turn import Turn

AGENT = Author("agent", "bench")


def results(folder: Path) -> Iterator[Line]:
    for size, rounds in ((10_000, 200), (1_000_000, 40), (10_000_000, 12)):
        yield from _applies(folder / f"applies-{size}", size, rounds)
    yield _checkpoint(folder / "checkpoint")


def _applies(folder: Path, size: int, rounds: int) -> Iterator[Line]:
    folder.mkdir()
    text = prose(size)
    names = [f"{number}.md" for number in range(5)]
    for name in names:
        (folder / name).write_text(text, encoding="utf-8")
    shown = f"{size // 1000} KB" if size < 1_000_000 else f"{size // 1_000_000} MB"
    with Workspace.open(folder, state_home=str(folder) + "-state") as workspace:
        _staged(workspace, names).commit()
        yield from _measured(workspace, folder, names[:1], text.encode(), rounds, (f"one file, {shown}", 3.0))
        if size < 10_000_000:
            yield from _measured(workspace, folder, names, text.encode(), rounds // 2, (f"five files, {shown}", 2.0))


def _measured(
    workspace: Workspace, folder: Path, names: list[str], data: bytes, rounds: int, shown: tuple[str, float]
) -> Iterator[Line]:
    """From a staged turn to files that are changed for good; and, without a bar, the turn's whole life."""
    whole, ours, bare = list[float](), list[float](), list[float]()
    for _ in range(rounds):
        start = time.perf_counter()
        turn = _staged(workspace, names)
        ours.append(once(turn.commit))
        whole.append(time.perf_counter() - start)
        bare.append(once(lambda: [bare_write(folder / f"bare-{name}", data) for name in names]))
    mine, theirs, life = (statistics.median(times) for times in (ours, bare, whole))
    what, bar = shown
    peer = "write, fsync, rename, fsync" if len(names) == 1 else "the same five times"
    yield Result(f"a durable apply of {what}", mine, peer, theirs, bar)
    yield Note(f"     with reading and editing first: {life * 1e3:.2f} ms, {life / theirs:.2f} times the peer")


def _staged(workspace: Workspace, names: list[str]) -> Turn:
    turn = workspace.turn(AGENT, "edit", mode="apply")
    for name in names:
        document = turn.read(name)
        turn.edit(name, [Edit(len(document.text) // 2, "", "word ")], document.version)
    return turn


def bare_write(path: Path, data: bytes) -> None:
    """What any durable replacement has to do."""
    temporary = f"{path}.tmp"
    fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    os.rename(temporary, path)
    fd = os.open(path.parent, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def _checkpoint(folder: Path) -> Result:
    """A small edit of a 10 MB document, kept: in our history, and by git."""
    folder.mkdir()
    text = prose(10_000_000)
    (folder / "large.md").write_text(text, encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "large.md"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    with Workspace.open(folder, state_home=str(folder) + "-state") as workspace:
        store = Store(workspace.database)
        with workspace.turn(AGENT, "first", mode="apply") as turn:
            document = turn.read("large.md")
            turn.edit("large.md", [Edit(0, "", "word ")], document.version)
        before = workspace.read("large.md").text
        store.put_text(before)
        numbers = iter(range(1000))

        def checkpoint() -> None:
            at = 1_000_000 + 1000 * next(numbers)
            edited = before.replace(at, at, "word ")
            with workspace.database.transaction():
                store.put_text(edited, like=before)

        def commit() -> None:
            with (folder / "large.md").open("a", encoding="utf-8") as file:
                file.write("word\n")
            subprocess.run([*git, "commit", "-qam", "next"], check=True)

        ours, theirs = side_by_side(checkpoint, commit, rounds=7)
    return Result("a checkpoint of a small edit at 10 MB", ours, "git commit", theirs, 0.05)
