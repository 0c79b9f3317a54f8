"""Starting a program that can read beneath one folder and reach nothing else on the disk: Landlock holds it to that.

Our own reading follows no link at any level (see `files.root`); another program's does, where somebody swaps one in at
the right moment. Confined, it meets a refusal instead, because the kernel judges what a path leads to and not its name.
A thread that confines itself stays so for good, and its children with it; so one is made for each start and ends with
it. Where the kernel cannot do this, nothing is started.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The same numbers on every machine that Linux runs on (the kernel's landlock.h and prctl.h).
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PATH_BENEATH = 444, 445, 446, 1
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
# All that the first version of Landlock can forbid: to execute, to write, read and list, to remove and make.
_EVERYTHING = (1 << 13) - 1


def start(program: str, arguments: Sequence[str], folder: int) -> subprocess.Popen[bytes] | None:
    """Start a program in the folder that `folder` is open on, with no environment and nothing to read from.

    Gives the process, whose output is a pipe; None where it cannot be confined, or cannot be started.
    """
    started: list[subprocess.Popen[bytes]] = []

    def confine_and_start() -> None:
        with suppress(OSError), open(os.devnull, "r+b", buffering=0) as nothing, open(program, "rb") as executable:
            _confine((folder, _READ_FILE | _READ_FOLDER), (executable.fileno(), _READ_FILE | _EXECUTE))
            process = subprocess.Popen(  # noqa: S603 - the caller's own program, and no shell
                [program, *arguments],
                cwd=f"/proc/self/fd/{folder}",
                env={},
                stdin=nothing,
                stdout=subprocess.PIPE,
                stderr=nothing,
            )
            started.append(process)

    thread = threading.Thread(target=confine_and_start, name="redraft-confined")
    thread.start()
    thread.join()
    return started[0] if started else None


def _confine(*allowed: tuple[int, int]) -> None:
    """Forbid this thread all of the disk but what lies beneath these descriptors; OSError where that cannot be."""
    if not sys.platform.startswith("linux"):
        raise OSError
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)

    def done(result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), "cannot be confined")
        return result

    handled = struct.pack("=Q", _EVERYTHING)
    rules = done(library.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0))
    try:
        for fd, rights in allowed:
            done(library.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, fd), 0))
        done(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        done(library.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
