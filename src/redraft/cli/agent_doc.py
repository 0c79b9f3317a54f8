"""The command `agent-doc`. This module imports almost nothing, so that `--version` and `outline` answer at once."""

from __future__ import annotations

import os
import sys

from redraft.cli import tune_garbage_collection

VERSION_OPTION = "--version"
_DOUBTFUL = (b"\0", b"KEY", b"-Key-", b"Cookie File")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    tune_garbage_collection()
    try:
        if given == [VERSION_OPTION]:
            from redraft import __version__

            print(f"agent-doc {__version__}")
            return 0
        if given[:1] == ["outline"] and (shown := _outline(given[1:])) is not None:
            sys.stdout.buffer.write(shown)
            sys.stdout.buffer.flush()
            if arguments is None:
                os._exit(0)  # nothing is open; taking the interpreter apart would take a fifth of the whole time
            return 0
        from redraft.cli.doc.program import run

        return run(given)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        from redraft.cli.program import CLOSED_PIPE
        from redraft.cli.screen import Screen

        Screen.standard(json=False).abandon()
        return CLOSED_PIPE


def _outline(words: list[str]) -> bytes | None:
    """Print the outline for a simple call without loading the command framework, which takes longer than the outline
    itself. None if there is an error, another argument, or a terminal to write to."""
    names = [word for word in words if word != "--json"]
    if len(names) != 1 or names[0].startswith("-") or sys.stdout.isatty():
        return None
    try:
        with open(names[0], "rb") as file:
            if os.fstat(file.fileno()).st_nlink > 1:
                return None
            data = file.read()
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    from redraft.cli.doc.outline_table import format_outline

    return format_outline(text, as_json=len(words) > 1).encode() if _is_plainly_prose(names[0], data) else None


def _is_plainly_prose(name: str, data: bytes) -> bool:
    """Whether a file is clearly not a secret, without loading the secret rules, which takes too long. In case of doubt
    (a leading dot, an underscore, a word common in key names) the answer is no and the rules decide."""
    place, suffix = os.path.splitext(os.path.realpath(name).lower())
    if suffix != ".md" or not place.isascii() or "." in place or "keyrings" in place:
        return False
    own = os.path.basename(place)
    return "_" not in own and "--" not in own and not any(word in data for word in _DOUBTFUL)


if __name__ == "__main__":
    sys.exit(main())
