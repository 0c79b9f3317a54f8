"""`make bench`: run everything, or the parts that are named, and say how many bars were missed."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import (
    of_acp,
    of_agent,
    of_agent_doc,
    of_behaviour,
    of_disk,
    of_live,
    of_long,
    of_mcp,
    of_outline,
    of_review,
    of_search,
    of_server,
    of_soak,
    of_start,
    of_text,
    of_typing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.measure import Line

GROUPS: dict[str, Callable[[Path], Iterator[Line]]] = {
    "text": of_text.results,
    "disk": of_disk.results,
    "start": of_start.results,
    "search": of_search.results,
    "outline": of_outline.results,
    "agent-doc": of_agent_doc.results,
    "long": of_long.results,
    "mcp": of_mcp.results,
    "agent": of_agent.results,
    "acp": of_acp.results,
    "server": of_server.results,
    "review": of_review.results,
    "live": of_live.results,
    "soak": of_soak.results,
    "typing": of_typing.results,
    "behaviour": of_behaviour.results,
}
IN_MEMORY = {"tmpfs", "ramfs"}


def run(names: list[str]) -> Iterator[Line]:
    for name in names:
        with tempfile.TemporaryDirectory(prefix="redraft-bench-", dir=on_disk()) as folder:
            yield from GROUPS[name](Path(folder).resolve())


def on_disk() -> Path:
    """The folder for temporary files, or another where that one is in memory: a flush has to cost what it costs."""
    usual = Path(tempfile.gettempdir()).resolve()
    if file_system(usual) not in IN_MEMORY:
        return usual
    home = Path.home() / ".cache"
    home.mkdir(exist_ok=True)
    return home


def file_system(path: Path) -> str:
    """The kind of file system that a folder lies on; empty where the system does not tell."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    places = {fields[1]: fields[2] for fields in (line.split() for line in mounts)}
    return next((places[str(folder)] for folder in (path, *path.parents) if str(folder) in places), "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(GROUPS))
    parser.add_argument("--minutes", type=float, default=1.0, help="how long the soak takes")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(GROUPS):
        print(f"There is no part {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}.", file=sys.stderr)
        return 2
    GROUPS["soak"] = partial(of_soak.results, minutes=given.minutes)
    chosen = [name for name in GROUPS if name in given.parts] or list(GROUPS)
    git = subprocess.run(["git", "--version"], capture_output=True, encoding="utf-8", check=True).stdout.strip()
    print(f"Python {sys.version.split()[0]}, {git}. Median of each, ours and the peer taken in turns.\n")
    missed = 0
    for result in run(chosen):
        print(result.line(), flush=True)
        missed += not result.good
    print(f"\n{missed} of the bars missed." if missed else "\nAll bars met.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
