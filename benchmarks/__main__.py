"""`make bench`: run everything, print the table, and say how many bars were missed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import of_disk, of_search, of_start, of_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.measure import Result

GROUPS = {
    "text": of_text.results,
    "disk": of_disk.results,
    "start": of_start.results,
    "search": of_search.results,
}


def run(names: list[str]) -> Iterator[Result]:
    for name in names:
        with tempfile.TemporaryDirectory(prefix="redraft-bench-") as folder:
            yield from GROUPS[name](Path(folder))


def main() -> int:
    chosen = [name for name in GROUPS if name in sys.argv[1:]] or list(GROUPS)
    git = subprocess.run(["git", "--version"], capture_output=True, encoding="utf-8", check=True).stdout.strip()
    print(f"Python {sys.version.split()[0]}, {git}. Median of each, ours and the peer taken in turns.\n")
    missed = 0
    for result in run(chosen):
        print(result.line(), flush=True)
        missed += not result.good
    print(f"\n{missed} of the bars missed." if missed else "\nAll bars met.")
    return 1 if missed else 0


sys.exit(main())
