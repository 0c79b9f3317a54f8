"""The command line. This module imports next to nothing, so that `redraft --version` answers at once."""

from __future__ import annotations

import atexit
import gc
import sys

VERSION_OPTION = "--version"


def tune_garbage_collection() -> None:
    """Look for garbage as often as a program needs that imports much and lives on, and never while it ends.

    By default Python looks every 700 objects and once more at the end: a third of the time in which a server starts and
    stops. The system takes the memory back anyway.
    """
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and give its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    tune_garbage_collection()
    try:
        if given == [VERSION_OPTION]:
            from redraft import __version__

            print(f"redraft {__version__}")
            return 0
        from redraft.cli.program import run

        return run(given)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
