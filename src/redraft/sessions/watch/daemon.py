"""The one watch of a project: who it is, whether it lives, and how it is asked to end.

It holds a lock in the folder's state for as long as it lives, which the kernel takes away however it ends, and keeps
its process number beside it. `.agent-doc/watch.pid` says the same to editors. That file may have come with the folder,
so it is written and never believed: nobody is to be tricked into ending a process that is none of ours.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from redraft.errors import Busy
from redraft.files.atomic_write import write_private
from redraft.files.locks import folder_lock

if TYPE_CHECKING:
    from collections.abc import Generator

    from redraft.sessions.project import AgentDocFiles

PID = "watch.pid"
START_SECONDS, END_SECONDS = 20.0, 10.0
_PAUSE = 0.02
_ASKED_SECONDS = 0.5


def _name(root: str, ending: str) -> str:
    """A workspace may hold several projects, and each has its own watch."""
    return f"agent-doc-watch-{sha256(os.fsencode(root)).hexdigest()[:16]}.{ending}"


def log_file(state: str, root: str) -> str:
    return os.path.join(state, _name(root, "log"))


@contextmanager
def watch_lock(state: str, root: str, shelf: AgentDocFiles) -> Generator[None]:
    """Be the project's watch; `Busy` where there is one."""
    with ExitStack() as stack:
        try:
            # Not at once: somebody may just be asking whether there is a watch, and holds the lock for that.
            stack.enter_context(folder_lock(state, _name(root, "lock"), timeout=_ASKED_SECONDS))
        except Busy as error:
            raise Busy("The documents of this project are already being watched.") from error
        _forget(state, root, shelf)  # one that was killed has left its number, which may be another's by now
        try:
            yield
        finally:
            _forget(state, root, shelf)


def _forget(state: str, root: str, shelf: AgentDocFiles) -> None:
    with suppress(OSError):
        os.unlink(os.path.join(state, _name(root, "pid")))
    shelf.remove(PID)


def announce(state: str, root: str, shelf: AgentDocFiles) -> None:
    """Say that the watch is there, and who it is."""
    shelf.write(PID, f"{os.getpid()}\n".encode())  # first: whoever finds the other looks for this one
    write_private(os.path.join(state, _name(root, "pid")), str(os.getpid()))


def running_pid(state: str, root: str) -> int | None:
    """The process number of the project's watch, None where none runs; one that is just starting is waited for."""
    deadline = time.monotonic() + START_SECONDS
    while _is_locked(state, root):
        pid = _pid(state, root)
        if pid is not None:
            return pid
        if time.monotonic() > deadline:
            raise Busy("The watch of this project is starting but has not written its process id.")
        time.sleep(_PAUSE)
    return None


def _is_locked(state: str, root: str) -> bool:
    try:
        with folder_lock(state, _name(root, "lock"), timeout=0):
            return False
    except Busy:
        return True


def stop(state: str, root: str) -> int | None:
    """Ask the project's watch to end, and wait until it has; its process number, None where none runs."""
    pid = running_pid(state, root)
    if pid is None:
        return None
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        if running_pid(state, root) != pid:  # it ended before the handle was there, and its number may be another's now
            return None
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS
        while _is_locked(state, root):
            if time.monotonic() > deadline:
                raise Busy(f"The watch (process {pid}) did not stop.")
            time.sleep(_PAUSE)
    finally:
        os.close(handle)
    return pid


def _pid(state: str, root: str) -> int | None:
    try:
        with open(os.path.join(state, _name(root, "pid")), encoding="utf-8") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None
