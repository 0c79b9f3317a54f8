"""Which folders may hold temporary files of a stopped process, so that sweeping need not search the whole tree.

A list in the state folder, one line of JSON for each: a folder is noted, durably, before the first temporary file is
made in it, and the list is dropped when its folders have been swept. It is read anew for every turn, because any
process that opens the workspace sweeps. All calls are made under the journal's lock.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.files.faults import told
from redraft.files.leftovers import sweep

if TYPE_CHECKING:
    from redraft.files.paths import DocPath
    from redraft.files.root import Root

NAME = "written-folders"
ALWAYS = {"", ".redraft"}  # the folder's own id is written before there is a list


def note_folders(state: str, folders: set[str]) -> None:
    """Put these folders on the list, durably; nothing is written where they all stand on it."""
    with told("note", NAME):
        if _stands(state, folders):
            return
        missing = folders - (_noted(state) or set())
        if missing:
            # Each line begins with a line break as well, in case a crash cut the one before it short.
            lines = "".join(f"\n{json.dumps(folder)}\n" for folder in sorted(missing))
            with open(os.path.join(state, NAME), "a", encoding="utf-8") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        _last_seen[state] = (_print(state), folders | (_noted(state) or set()))


# What the list of each state folder held when last read: looking at its size and time is cheaper than reading it.
_last_seen: dict[str, tuple[tuple[int, int, int], set[str]]] = {}


def _stands(state: str, folders: set[str]) -> bool:
    seen = _last_seen.get(state)
    return not folders or (seen is not None and folders <= seen[1] and seen[0] == _print(state))


def _print(state: str) -> tuple[int, int, int]:
    try:
        found = os.stat(os.path.join(state, NAME))
    except FileNotFoundError:
        return (0, 0, 0)
    return found.st_ino, found.st_size, found.st_mtime_ns


def sweep_noted(root: Root, state: str) -> list[DocPath]:
    """Remove what stopped processes left in the noted folders, or anywhere if the list cannot be read."""
    swept: list[DocPath] = []
    with suppress(OSError, RedraftError):  # a disk that refuses now is swept at the next opening
        noted = _noted(state)
        swept = sweep(root, folders=None if noted is None else sorted(noted | ALWAYS))
        if noted is None or noted:
            os.unlink(os.path.join(state, NAME))
    return swept


def _noted(state: str) -> set[str] | None:
    """The folders on the list; None where there is one and it is damaged or empty."""
    try:
        with open(os.path.join(state, NAME), encoding="utf-8") as file:
            found = [json.loads(line) for line in file if line.strip()]
    except FileNotFoundError:
        return set()
    except ValueError:
        return None
    return {folder for folder in found if isinstance(folder, str)} or None
