"""Deciding about a whole document over HTTP, 2,000 hunks in 1 MB, beside `git apply` of the same patch.

Git writes the file and no more; ours also keeps both states in the history, flushes them, and notes what was refused.
"""

from __future__ import annotations

import itertools
import subprocess
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Result, side_by_side
from benchmarks.of_server import serving
from benchmarks.texts import prose, scattered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.measure import Line
    from benchmarks.of_server import Caller

HUNKS = 2000
ROUNDS = 5
NAME = "chapter.md"
# A flush for every hunk, which is what it once took to note what was refused, was a hundred times git's time.
BARS = {"accept": 6.0, "reject": 6.0}


def results(folder: Path) -> Iterator[Line]:
    old = prose(1_000_000)
    new = scattered(old, HUNKS)
    with serving(folder) as server:
        (folder / "notes" / NAME).write_text(old, encoding="utf-8")
        for act, bar in BARS.items():
            peer = _git(folder / f"git-{act}", old, new)
            times = [_decide(server, act, new, peer) for _ in range(ROUNDS)]
            mine, theirs = (sorted(each)[ROUNDS // 2] for each in zip(*times, strict=True))
            yield Result(f"{act} {HUNKS} hunks of 1 MB", mine, "`git apply` of the patch", theirs, bar)


def _decide(server: Caller, act: str, new: str, peer: Callable[[], object]) -> tuple[float, float]:
    """The time of one decision and of the peer; the document is then what it was."""
    read: dict[str, Any] = server.post("/api/tools/read_document?mode=propose", {"path": NAME})
    written = {"path": NAME, "content": new, "version": read["version"]}
    server.post("/api/tools/write_document?mode=propose", written)
    choice = {"hunks": {NAME: None}}
    took = side_by_side(lambda: server.post(f"/api/review/{act}", choice), peer, 1)
    assert server.told["decided"][NAME] > 0.95 * HUNKS, server.told["decided"]  # neighbours are one hunk
    if act == "accept":
        server.post("/api/turns/undo")
        server.post("/api/review/reject", choice)
    return took


def _git(folder: Path, old: str, new: str) -> Callable[[], object]:
    """Apply the patch that leads from one text to the other, and the next time take it back."""
    folder.mkdir()
    for name, text in ((NAME, old), ("new.md", new)):
        (folder / name).write_text(text, encoding="utf-8")
    compare = ["git", "diff", "--no-index", "--no-color", NAME, "new.md"]
    found = subprocess.run(compare, cwd=folder, capture_output=True, check=False).stdout
    (folder / "patch").write_bytes(found.replace(b"b/new.md", b"b/" + NAME.encode()))
    ways = itertools.cycle(((), ("-R",)))
    return lambda: subprocess.run(["git", "apply", *next(ways), "patch"], cwd=folder, check=True)
