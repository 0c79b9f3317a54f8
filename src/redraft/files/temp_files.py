"""Files beside the targets: temporary files that a crash left behind, found and removed; names of conflict copies.

A leftover may be the only copy of what somebody wrote (see `atomic_write`), so recovery comes first: it checks every
token of the journal's open turns, and passes the tokens that it has not settled in `keep`.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.errors import RedraftError, Refused
from redraft.files.os_errors import explain_os_errors
from redraft.files.paths import MAX_NAME_BYTES, TEMP_PREFIX, DocPath, join_path
from redraft.files.tree import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from redraft.files.root import Root


def sweep(
    root: Root, *, folders: Iterable[str] | None = None, keep: Collection[str] = (), older_than: float = 0.0
) -> list[DocPath]:
    """Remove temporary files that a crash left behind, in these folders ("" is the root) or in the whole tree.

    Not those whose token is in `keep`, nor those changed within the last `older_than` seconds. If the disk fails, the
    rest is swept and then the first error raised, so that the caller knows to try again.
    """
    if folders is None:
        folders = ["", *(entry.path for entry in walk(root, skip_hidden=False) if entry.kind == "folder")]
    removed: list[DocPath] = []
    failed: RedraftError | None = None
    for folder in folders:
        try:
            fd = root.open_folder(folder)
            try:
                with explain_os_errors("sweep", folder):
                    removed += (join_path(folder, name) for name in _sweep_folder(fd, keep, older_than))
            finally:
                os.close(fd)
        except Refused:  # a folder that is gone, or has become a link, has nothing to sweep
            continue
        except RedraftError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return removed


def _sweep_folder(fd: int, keep: Collection[str], older_than: float) -> list[str]:
    removed: list[str] = []
    with os.scandir(fd) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(TEMP_PREFIX)]
    for name in names:
        if name.removeprefix(TEMP_PREFIX) in keep:
            continue
        with suppress(FileNotFoundError):
            age = time.time() - os.stat(name, dir_fd=fd, follow_symlinks=False).st_mtime
            if age >= older_than:
                os.unlink(name, dir_fd=fd)
                removed.append(name)
    return removed


def conflict_copy_name(name: str, token: str, number: int) -> str:
    """The name of a conflict copy of a file, the first or another of its token."""
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        stem, dot, suffix = name, "", ""
    mark = f".conflict-{token}" + (f"-{number}" if number > 1 else "")
    tail = f"{mark}{dot}{suffix}".encode()[-MAX_NAME_BYTES:]
    head = stem.encode()[: MAX_NAME_BYTES - len(tail)]
    return head.decode(errors="ignore") + tail.decode(errors="ignore")


_SECTOR = 512


def is_unfinished(content: bytes, new: bytes) -> bool:
    """Whether this may be the rest of an unflushed `new`: its beginning, with zeros for what is missing."""
    if len(content) > len(new):
        return False
    return new.startswith(content) or all(
        new.startswith(sector, at) or not any(sector)
        for at in range(0, len(content), _SECTOR)
        for sector in (content[at : at + _SECTOR],)
    )
