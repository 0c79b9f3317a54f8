"""Hard links to secrets, for programs that read a file anywhere, without an open workspace.

The disk tells which folder to search for the other names: the widest one around the file that is a project of the
person's, or in which the program was started.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from redraft.files.paths import parse_path
from redraft.files.root import Root
from redraft.files.secret_detection import secret_error

# What is in a project's top folder. A second working tree of a repository has a file named `.git`.
_MARKS = (".git", ".redraft", ".agent-doc")


def check_not_secret_link(file: str) -> None:
    """Refuse a file that is another name of a secret in its project. Costs nothing if it has only one name."""
    real = os.path.realpath(file)
    try:
        found = os.lstat(real)
    except (OSError, ValueError):
        return  # whoever reads it gets the error
    if not stat.S_ISREG(found.st_mode) or found.st_nlink < 2:
        return
    folder = _project_around(os.path.dirname(real))
    with Root.open(folder) as root:
        if root.is_secret_link(parse_path(os.path.relpath(real, folder))):
            raise secret_error(os.path.basename(real))


def _project_around(folder: str) -> str:
    """The widest folder around this one, itself included, with a project file of the person's own, or which is the
    current one. What somebody else has put above, in a shared folder, makes nothing a project."""
    here, widest = os.path.realpath(os.curdir), folder
    while (above := os.path.dirname(folder)) != folder:
        if folder == here or any(_is_own(os.path.join(folder, mark)) for mark in _MARKS):
            widest = folder
        folder = above
    return widest


def _is_own(path: str) -> bool:
    with suppress(OSError):
        return os.lstat(path).st_uid == os.geteuid()
    return False
