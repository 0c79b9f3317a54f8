"""Durable turns against the bare system calls, and checkpoints against `git commit`."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from benchmarks.measure import Result, side_by_side
from benchmarks.texts import prose
from redraft.history.turns import Author
from redraft.text.edits import Edit
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGENT = Author("agent", "bench")


def results(folder: Path) -> Iterator[Result]:
    for size, rounds in ((10_000, 200), (1_000_000, 40), (10_000_000, 12)):
        yield from _applies(folder / f"applies-{size}", size, rounds)
    yield _checkpoint(folder / "checkpoint")


def _applies(folder: Path, size: int, rounds: int) -> Iterator[Result]:
    folder.mkdir()
    text = prose(size)
    names = [f"{number}.md" for number in range(5)]
    for name in names:
        (folder / name).write_text(text, encoding="utf-8")
    data = text.encode()
    with Workspace.open(folder, state_home=str(folder) + "-state") as workspace:
        _edit(workspace, names)
        shown = f"{size // 1000} KB" if size < 1_000_000 else f"{size // 1_000_000} MB"
        ours, bare = side_by_side(
            lambda: _edit(workspace, names[:1]), lambda: bare_write(folder / "bare.md", data), rounds
        )
        yield Result(f"a durable apply of one file, {shown}", ours, "write, fsync, rename, fsync", bare, 3.0)
        if size < 10_000_000:
            ours, bare = side_by_side(
                lambda: _edit(workspace, names),
                lambda: [bare_write(folder / f"bare{number}.md", data) for number in range(5)],
                rounds // 2,
            )
            yield Result(f"a durable apply of five files, {shown}", ours, "the same five times", bare, 2.0)


def _edit(workspace: Workspace, names: list[str]) -> None:
    with workspace.turn(AGENT, "edit", mode="apply") as turn:
        for name in names:
            document = turn.read(name)
            turn.edit(name, [Edit(len(document.text) // 2, "", "word ")], document.version)


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
        engine = workspace.engine
        with workspace.turn(AGENT, "first", mode="apply") as turn:
            document = turn.read("large.md")
            turn.edit("large.md", [Edit(0, "", "word ")], document.version)
        before = workspace.read("large.md").text
        kept = [engine.store.put_text(before)]
        numbers = iter(range(1000))

        def checkpoint() -> None:
            at = 1_000_000 + 1000 * next(numbers)
            edited = before.replace(at, at, "word ")
            with engine.database.transaction():
                engine.store.put_text(edited, like=kept[0])

        def commit() -> None:
            with (folder / "large.md").open("a", encoding="utf-8") as file:
                file.write("word\n")
            subprocess.run([*git, "commit", "-qam", "next"], check=True)

        ours, theirs = side_by_side(checkpoint, commit, rounds=7)
    return Result("a checkpoint of a small edit at 10 MB", ours, "git commit", theirs, 0.05)
