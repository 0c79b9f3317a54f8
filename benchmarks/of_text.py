"""The room `text` against git and against hashing the whole."""

from __future__ import annotations

import hashlib
import random
import statistics
import subprocess
import tracemalloc
from typing import TYPE_CHECKING

from benchmarks.measure import Result, once, side_by_side
from benchmarks.texts import moved, prose, scattered
from redraft.text.diff.hunks import diff
from redraft.text.merge.three_way import merge
from redraft.text.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEGABYTE = 1_000_000


def results(folder: Path) -> Iterator[Result]:
    for size in (1, 10):
        old = prose(size * MEGABYTE)
        yield _diff(folder, f"diff, {size} MB, 100 scattered edits", old, scattered(old), 0.25)
        yield _diff(folder, f"diff, {size} MB, paragraphs moved", old, moved(old), 1.0)
        yield _diff(folder, f"diff, {size} MB, all rewritten", old, prose(size * MEGABYTE, seed=9), 1.0)
        yield _merge(folder, f"merge, {size} MB, 100 edits on each side", old)
    yield from _edits()
    yield _token()
    yield _memory()


def _diff(folder: Path, name: str, old: str, new: str, bar: float) -> Result:
    one, two = folder / "old.md", folder / "new.md"
    one.write_text(old, encoding="utf-8")
    two.write_text(new, encoding="utf-8")
    command = ["git", "diff", "--no-index", "--no-color", str(one), str(two)]
    ours, git = side_by_side(
        lambda: diff(old, new), lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False), rounds=7
    )
    return Result(name, ours, "git diff --no-index", git, bar)


def _merge(folder: Path, name: str, base: str) -> Result:
    ours_text, theirs_text = scattered(base, seed=4), scattered(base, seed=5)
    paths = [folder / name for name in ("ours.md", "base.md", "theirs.md")]
    for path, text in zip(paths, (ours_text, base, theirs_text), strict=True):
        path.write_text(text, encoding="utf-8")
    command = ["git", "merge-file", "-p", *map(str, paths)]
    ours, git = side_by_side(
        lambda: merge(base, ours_text, theirs_text).text,
        lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False),
        rounds=7,
    )
    return Result(name, ours, "git merge-file", git, 1.0)


def _edits() -> Iterator[Result]:
    times: dict[int, float] = {}
    for size in (1, 10):
        text = Text(prose(size * MEGABYTE))
        chance = random.Random(6)
        places = [chance.randrange(len(text)) for _ in range(300)]
        for at in places[:20]:
            text.replace(at, at, "x")
        times[size] = statistics.median(_fastest(text, at) for at in places)
        yield Result(f"an edit in an open document of {size} MB", times[size], "50 microseconds", 50e-6, 1.0)
    yield Result("an edit at 10 MB", times[10], "an edit at 1 MB", times[1], 3.0)


def _fastest(text: Text, at: int) -> float:
    return min(once(lambda: text.replace(at, at, "word ")) for _ in range(3))


def _token() -> Result:
    content = prose(10 * MEGABYTE)
    data = content.encode()
    text = Text(content)
    assert text.digest
    edited = iter([text.replace(at, at, "x") for at in range(0, 9_000_000, 600_000)])
    ours, whole = side_by_side(lambda: next(edited).digest, lambda: hashlib.sha256(data).digest(), rounds=15)
    return Result("a version token after an edit at 10 MB", ours, "sha256 of the whole", whole, 0.1)


def _memory() -> Result:
    content = prose(10 * MEGABYTE)
    tracemalloc.start()
    text = Text(content)
    edited = text.replace(5_000_000, 5_000_000, "x")
    hunks = diff(content, str(edited))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert hunks
    return Result("memory to open, edit and diff 10 MB", peak / 1e6, "the document", len(content) / 1e6, 8.0, "MB")
