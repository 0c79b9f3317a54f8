"""List a folder: every file and folder in it, in a fixed order, without following links.

Each folder is opened below the root, read to its end and closed again before the next one, so the depth of a tree
costs neither descriptors nor the call stack. Names that cannot be a path of ours (not UTF-8, with control characters)
are left out and reported to `skipped`. A tree that changes meanwhile is listed as it was found.
"""

from __future__ import annotations

import os
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.errors import RedraftError
from redraft.files.paths import DocPath, is_internal, is_internal_name, join_path, length_fault, name_fault, start_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from redraft.files.root import Root

Kind = Literal["file", "folder", "link", "other"]
_by_name = attrgetter("name")


class TreeEntry(NamedTuple):
    """One entry of the tree; a link is listed, never followed."""

    path: DocPath
    size: int
    mtime_ns: int
    kind: Kind


def walk(
    root: Root,
    *,
    prefix: str = "",
    skip_hidden: bool = True,
    limit: int | None = None,
    skipped: Callable[[str, str], None] | None = None,
) -> Iterator[TreeEntry]:
    """Every entry below `prefix` ("" is the root), a folder before its content, sorted by name within each.

    Internal files never appear; names that begin with a dot only without `skip_hidden`. `limit` ends the listing after
    that many entries. `skipped` is called with the path and the reason of what cannot be listed.
    """
    left = -1 if limit is None else limit
    if left == 0 or is_internal(prefix):
        return
    stack = [iter(_list_folder(root, prefix, skip_hidden, skipped))]
    while stack:
        for entry in stack[-1]:
            yield entry
            left -= 1
            if left == 0:
                return
            if entry.kind == "folder":
                stack.append(iter(_list_folder(root, entry.path, skip_hidden, skipped)))
                break
        else:
            stack.pop()


def _list_folder(
    root: Root, folder: str, skip_hidden: bool, skipped: Callable[[str, str], None] | None
) -> list[TreeEntry]:
    try:
        fd = root.open_folder(folder)
    except RedraftError as error:
        if skipped is not None:
            skipped(folder, error.message)
        return []
    try:
        with os.scandir(fd) as found:
            names = sorted(found, key=_by_name)
        entries: list[TreeEntry] = []
        for item in names:
            name = item.name
            if (skip_hidden and name[0] == ".") or is_internal_name(name):
                continue
            path = join_path(folder, name)
            fault = name_fault(name) or start_fault(path) or length_fault(path)
            if fault is None:
                entry = _entry(item, path)
                if entry is not None:
                    entries.append(entry)
            elif skipped is not None:
                skipped(path, fault)
        return entries
    finally:
        os.close(fd)


def _entry(item: os.DirEntry[str], path: DocPath) -> TreeEntry | None:
    try:
        found = item.stat(follow_symlinks=False)
    except OSError:
        return None
    if item.is_file(follow_symlinks=False):
        kind: Kind = "file"
    elif item.is_dir(follow_symlinks=False):
        kind = "folder"
    else:
        kind = "link" if item.is_symlink() else "other"
    return TreeEntry(path, found.st_size, found.st_mtime_ns, kind)
