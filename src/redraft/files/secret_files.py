"""Secrets found by what lies on the disk, where no name says that a secret is asked for.

A file that is gone may have been given a secret's name by another program, alone or with the folder that it was in. And
what looks like a document may be one more name (a hard link) of a secret. Both are told by the file itself, wherever in
the folder it lies, in hidden places too. A hard link to a secret outside the folder cannot be known.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import RedraftError
from redraft.files.paths import DocPath, is_internal_name, join_path
from redraft.files.secret_detection import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A new name changes the times of its file, which is noticed at once. Only a folder with another name of it in it that
# becomes a secret's place changes none; that is noticed after so long.
LINKS_SECONDS = 10.0
# The kernel's clock for files lags behind the one that is asked, by a few milliseconds.
CLOCK_TICK_NS = 20_000_000


class ListedFile(NamedTuple):
    """A regular file of the folder."""

    path: DocPath
    status: os.stat_result


def walk_files(open_folder: Callable[[str], int]) -> Iterator[ListedFile]:
    """Every regular file, hidden ones too, but for version control's and ours. No link is followed."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        files, inner = list_files(open_folder, folder)
        yield from files
        waiting += inner


def list_files(open_folder: Callable[[str], int], folder: str) -> tuple[list[ListedFile], list[str]]:
    """The regular files in one folder, and the folders in it; nothing where it cannot be read."""
    files: list[ListedFile] = []
    inner: list[str] = []
    try:
        fd = open_folder(folder)
    except RedraftError:
        return files, inner
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not is_internal_name(entry.name):
                        inner.append(join_path(folder, entry.name))
                elif entry.is_file(follow_symlinks=False):
                    files.append(ListedFile(join_path(folder, entry.name), entry.stat(follow_symlinks=False)))
    except OSError:
        pass  # it changes while it is listed: what was found so far counts
    finally:
        os.close(fd)
    return files, inner


class SecretLinks:
    """Which files with several names have a secret's name among them. Safe to ask from any thread."""

    def __init__(self, open_folder: Callable[[str], int]) -> None:
        self._open_folder = open_folder
        self._lock = threading.Lock()
        self._secrets: set[tuple[int, int]] = set()
        self._looked_ns = 0
        self._until = 0.0

    def has_secret_name(self, status: os.stat_result) -> bool:
        """Whether one of the file's names in the folder is a secret's. Costs nothing where it has one name only."""
        if status.st_nlink < 2:
            return False
        with self._lock:
            if time.monotonic() > self._until or status.st_ctime_ns >= self._looked_ns:
                self._look()
            return (status.st_dev, status.st_ino) in self._secrets

    def _look(self) -> None:
        began = time.time_ns()
        names: dict[tuple[int, int], list[DocPath]] = {}
        for path, status in walk_files(self._open_folder):
            if status.st_nlink > 1:
                names.setdefault((status.st_dev, status.st_ino), []).append(path)
        # Judging a name takes longer than finding it. Most files with several names have the others elsewhere.
        self._secrets = {
            file for file, paths in names.items() if len(paths) > 1 and any(is_secret_name(path) for path in paths)
        }
        self._looked_ns, self._until = began - CLOCK_TICK_NS, time.monotonic() + LINKS_SECONDS
