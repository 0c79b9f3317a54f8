"""What lies in a folder, byte for byte."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def contents(folder: Path, without: tuple[str, ...] = (".redraft",)) -> dict[str, tuple[bytes, int]]:
    """Every file but those in the folders `without`, which are ours, with its permissions."""
    found: dict[str, tuple[bytes, int]] = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in without]
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = (file.read(), os.stat(path).st_mode & 0o777)
    return found
