"""The command line. This module imports next to nothing, so that `redraft --version` answers at once."""

from __future__ import annotations

import sys

VERSION_OPTION = "--version"


def main(arguments: list[str] | None = None) -> int:
    """Run one command and give its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
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
