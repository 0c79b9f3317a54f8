"""The one watcher of a project: its process, whether it is alive, and how to stop it.

It holds a lock in the folder's state while it runs, which the kernel releases however it ends, and stores its process
number beside it. `.agent-doc/watch.pid` says the same to editors. That file may have come with the folder, so it is
written but never trusted: nobody may be tricked into stopping a process that is not ours.
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
    """A workspace may contain several projects, each with its own watcher."""
    return f"agent-doc-watch-{sha256(os.fsencode(root)).hexdigest()[:16]}.{ending}"


def log_file(state: str, root: str) -> str:
    return os.path.join(state, _name(root, "log"))


@contextmanager
def watch_lock(state: str, root: str, agent_files: AgentDocFiles) -> Generator[None]:
    """Be the project's watcher; raises `Busy` if there is one."""
    with ExitStack() as stack:
        try:
            # With a timeout: somebody may be checking whether there is a watcher, and holds the lock for that moment.
            stack.enter_context(folder_lock(state, _name(root, "lock"), timeout=_ASKED_SECONDS))
        except Busy as error:
            raise Busy("The documents of this project are already being watched.") from error
        _forget(
            state, root, agent_files
        )  # a killed one has left its number, which may belong to another process by now
        try:
            yield
        finally:
            _forget(state, root, agent_files)


def _forget(state: str, root: str, agent_files: AgentDocFiles) -> None:
    with suppress(OSError):
        os.unlink(os.path.join(state, _name(root, "pid")))
    agent_files.remove(PID)


def announce(state: str, root: str, agent_files: AgentDocFiles) -> None:
    """Publish that the watcher runs, and its process number."""
    agent_files.write(PID, f"{os.getpid()}\n".encode())  # first: whoever finds the other file looks for this one
    write_private(os.path.join(state, _name(root, "pid")), str(os.getpid()))


def read_running_pid(state: str, root: str) -> int | None:
    """The process number of the project's watcher, or None; waits for one that is just starting."""
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
    """Ask the project's watcher to stop, and wait until it has; returns its process number, or None if none runs."""
    pid = read_running_pid(state, root)
    if pid is None:
        return None
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        if read_running_pid(state, root) != pid:  # it ended before we had a handle, and its number may be another's now
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
