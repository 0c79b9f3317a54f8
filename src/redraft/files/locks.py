"""Short locks between processes and threads, with `flock` on a file in the state folder; and releasing a guard.

It is a kernel lock, held by an open descriptor: it ends with its process, however that ends, and there is nothing
to clean up. So the file is never removed, and its existence means nothing. Each acquisition opens its own
descriptor, so threads of one process exclude one another too; a thread that takes it twice waits for itself.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from redraft.errors import Busy, RedraftError, Refused
from redraft.files.file_image import flags_of
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

_LOCK_FLAGS = flags_of("O_RDWR", "O_CREAT", "O_CLOEXEC", "O_NOFOLLOW")
_LONGEST_PAUSE = 0.05


@contextmanager
def folder_lock(
    state: str | os.PathLike[str] | int, name: str = "lock", *, exclusive: bool = True, timeout: float = 5.0
) -> Generator[None]:
    """Hold the lock `name` of the state folder, given as a path or open descriptor; raises `Busy` after `timeout`
    seconds.

    If not `exclusive`, any number of others may hold it in the same way.
    """
    fd = _open(state, name)
    try:
        _acquire(fd, name, exclusive, timeout)
        yield
    finally:
        os.close(fd)  # ends the lock, unless a child process inherited the descriptor: hence O_CLOEXEC


@contextmanager
def release(guard: AbstractContextManager[Any]) -> Generator[None]:
    """Let others work while waiting for something. The caller holds the guard, and holds it again afterwards."""
    guard.__exit__(None, None, None)
    try:
        yield
    finally:
        guard.__enter__()


def _open(state: str | os.PathLike[str] | int, name: str) -> int:
    try:
        return _open_lock_file(state, name)
    except Refused as error:
        if error.code != "not_found":
            raise
        message = "Redraft's state folder is gone and cannot be created."
        raise RedraftError(message, code="io_error") from error


def _open_lock_file(state: str | os.PathLike[str] | int, name: str) -> int:
    with explain_os_errors("lock", name):
        if isinstance(state, int):
            return os.open(name, _LOCK_FLAGS, 0o600, dir_fd=state)
        try:
            return os.open(os.path.join(state, name), _LOCK_FLAGS, 0o600)
        except FileNotFoundError:  # the folder was deleted, perhaps while we run
            os.makedirs(state, mode=0o700, exist_ok=True)
            return os.open(os.path.join(state, name), _LOCK_FLAGS, 0o600)


def _acquire(fd: int, name: str, exclusive: bool, timeout: float) -> None:
    import fcntl

    how = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
    deadline = time.monotonic() + timeout
    pause = 0.0005
    while True:
        with explain_os_errors("lock", name):
            try:
                fcntl.flock(fd, how)
                return
            except OSError as error:
                if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                    raise
        left = deadline - time.monotonic()
        if left <= 0:
            raise Busy(f"Another process has locked this folder for {timeout:g} seconds.", timeout=timeout)
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)
