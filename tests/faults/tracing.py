"""Faults at chosen system calls of a running process, by attaching `strace` to it.

The child is attached to while it waits, so the counts begin with its act and not with the interpreter's start. `strace`
counts each system call by itself: a point is a name and a number, "the third `fsync`".
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

# What changes names, contents or the order in which they reach the disk. Those that a system does not have are marked.
CHANGING = (
    *("openat", "openat2", "?open", "?creat", "write", "pwrite64", "?pwritev", "ftruncate", "fallocate"),
    *("fsync", "fdatasync", "?rename", "?renameat", "renameat2", "?link", "linkat", "?unlink", "unlinkat"),
    *("?mkdir", "mkdirat", "?rmdir", "?chmod", "fchmod", "fchmodat", "fchown"),
)
# What only looks, but can fail as well.
LOOKING = (
    "read",
    "pread64",
    "fstat",
    "?stat",
    "?lstat",
    "newfstatat",
    "getdents64",
    "flock",
    "lseek",
    "?access",
    "faccessat2",
)


class Point(NamedTuple):
    """The `number`-th call of this name."""

    call: str
    number: int


@contextmanager
def tracing(pid: int, calls: tuple[str, ...], *, inject: str = "", log: str = "/dev/null") -> Generator[None]:
    """Attach to a process that waits; detach at the end, so that what was injected no longer happens."""
    command = ["strace", "-o", log, "-e", f"trace={','.join(calls)}", "-e", "signal=none"]
    command += ["-e", f"inject={inject}"] if inject else []
    with subprocess.Popen([*command, "-p", str(pid)], stderr=subprocess.PIPE) as tracer:
        try:
            _wait_for_attachment(pid, tracer)
            yield
        finally:
            tracer.terminate()


def _wait_for_attachment(pid: int, tracer: subprocess.Popen[bytes]) -> None:
    """Wait until `strace` says that it is attached.

    `TracerPid` is set a little earlier, before the process is interrupted: calls made in between are not counted.
    """
    assert tracer.stderr is not None
    said = tracer.stderr.readline().decode()
    assert said == f"strace: Process {pid} attached\n", said


def points_in(log: Path) -> list[Point]:
    """Every call in a log, each as the point at which it would be broken."""
    counts: Counter[str] = Counter()
    points: list[Point] = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if found := re.match(r"(\w+)\(", line):
            counts[found[1]] += 1
            points.append(Point(found[1], counts[found[1]]))
    return points
