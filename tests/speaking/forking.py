"""`redraft` programs that begin as forks of one process which has imported already what they import.

Imports are nine tenths of the processor time that a server takes to start, or a short command to run. A forked program
runs the same `main` in a process of its own, a child of the test's, with its own arguments, environment, folder and
streams. Where a fork could differ from a new process, a new one is started: with variables of Python's own, under
another locale, with mounts of its own, with options of `Popen` that are not named here. `make torture` forks none.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import inspect
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from importlib import import_module
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
INTERPRETER = [sys.executable, "-W", "error"]
MAIN = {"redraft": "redraft.cli", "redraft.cli.agent_doc": "redraft.cli.agent_doc"}  # where `main` of a module is
LOCALE = "C.UTF-8"
KEYRING = "PYTHON_KEYRING_BACKEND"  # is read by the library that has the name, which no fork server has imported
LONGEST = 60_000  # bytes of a request: far below what a socket takes as one message
# What servers and most commands import, and what a remote model needs. None of it starts a thread.
IMPORTED = (
    "pydantic_ai.models.openai",
    "redraft.agent.agent",
    "redraft.cli.commands.open",
    "redraft.cli.commands.tool",
    "redraft.cli.program",
    "redraft.mcp_server.transports.streamable_http",
    "redraft.providers.adapters.pydantic_ai_bridge",
    "redraft.server.app",
    "redraft.server.http_server",
    "redraft.sessions.project",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)
SET_CHILD_SUBREAPER = 36  # for prctl(2)


def mounts_of_this_thread() -> str:
    return os.readlink("/proc/thread-self/ns/mnt") if sys.platform == "linux" else ""


MOUNTS = mounts_of_this_thread()  # and those of the fork server, which begins with them


def can_fork(command: Sequence[str], options: Mapping[str, Any]) -> bool:
    """Whether a fork is in nothing different from what this would start."""
    if os.environ.get("REDRAFT_TORTURE") or command[: len(INTERPRETER)] != INTERPRETER or sys.platform != "linux":
        return False
    variables = options.get("env") or os.environ
    return (
        list(command[3:5]) in (["-m", module] for module in MAIN)
        and options.keys() <= {"stdin", "stdout", "stderr", "cwd", "env", "encoding"}
        and variables.get("LC_ALL") == LOCALE
        and mounts_of_this_thread() == MOUNTS
        and not any(name.startswith(("PYTHON", "LD_")) for name in variables.keys() - {KEYRING})
        and len(json.dumps([*command, *variables.items()])) < LONGEST
    )


def start_program(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen`, by a fork where that makes no difference."""
    start = ForkedProgram if can_fork(command, options) else subprocess.Popen[Any]
    return start(command, **options)


def run_program(
    command: Sequence[str], *, stdin: bytes = b"", timeout: float, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """`subprocess.run` with the output captured, by a fork where that makes no difference."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_program(command, **pipes, **options) as process:
        try:
            out, err = process.communicate(stdin, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


class ForkedProgram(subprocess.Popen[Any]):
    """The standard library's `Popen`, with the fork server's fork in place of its fork and exec."""

    def _execute_child(self, *arguments: Any) -> None:
        parent: Any = super()
        given = inspect.signature(parent._execute_child).bind(*arguments).arguments
        ends = [given[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        streams = [own if end == -1 else end for own, end in enumerate(ends)]
        try:
            self.pid = fork_server().begin(given["args"][4:], given["cwd"], given["env"], streams)
            self._child_created = True
        finally:
            parent._close_pipe_fds(*(given[name] for name in PIPES))


PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


class ForkServer:
    """The process that all of a test process's programs are forked from. It ends with that process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [*INTERPRETER, "-m", "tests.speaking.forking", str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env={"LC_ALL": LOCALE, "PATH": os.environ.get("PATH", "")},
            )
        self._prctl = ctypes.CDLL(None).prctl
        atexit.register(self._end)

    def _end(self) -> None:
        self._connection.close()
        self._process.wait()

    def begin(
        self, arguments: Sequence[str], folder: Any, variables: Mapping[str, str] | None, streams: list[int]
    ) -> int:
        """Fork a program, and give its number.

        It is the child of a child that has ended, and falls to the nearest process that adopts orphans: to this one,
        which adopts them only meanwhile. So its end can be waited for like that of any child.
        """
        asked = [*arguments], str(folder or os.getcwd()), dict(os.environ if variables is None else variables)
        with self._lock:
            self._prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            try:
                socket.send_fds(self._connection, [json.dumps(asked).encode()], streams)
                return int(self._connection.recv(32))
            finally:
                self._prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@cache
def fork_server() -> ForkServer:
    return ForkServer()


def serve_forks(connection: socket.socket) -> None:
    """Fork a program for every request until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in IMPORTED:
        import_module(name)
    import_module("redraft.tools.registry").load_registry()  # which imports every tool
    gc.collect()
    gc.freeze()  # a collection in a fork would touch, and so copy, all of it
    while True:
        message, streams, _, _ = socket.recv_fds(connection, 2 * LONGEST, 3)
        if not message:
            return
        receiving, sending = os.pipe()
        between = os.fork()
        if between == 0:
            number = os.fork()
            if number == 0:
                for descriptor in (receiving, sending, connection.detach()):
                    os.close(descriptor)
                _become(streams, *json.loads(message))
            os.write(sending, str(number).encode())
            os._exit(0)
        os.waitpid(between, 0)
        connection.send(os.read(receiving, 32))
        for descriptor in (receiving, sending, *streams):
            os.close(descriptor)


def _become(streams: list[int], arguments: list[str], folder: str, variables: dict[str, str]) -> NoReturn:
    """Run a program in this process, as if it were new."""
    for own, given in enumerate(streams):
        os.dup2(given, own)
    for given in streams:
        os.close(given)
    for name in ("stdin", "stdout", "stderr"):
        stream = _opened_anew(getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    os.chdir(folder)
    sys.path[0] = os.getcwd()  # as Python does for `-m`
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module, *sys.argv[1:] = arguments  # the first is the file of the module, and nobody looks at it
    try:
        status = import_module(MAIN[module]).main()
    except SystemExit as ending:
        if not isinstance(ending.code, int):
            raise
        status = ending.code
    _end(status)


def _end(status: int) -> NoReturn:
    """End as Python does, but leave to the system what was imported: to take that apart is most of what remains."""
    python: Any = threading
    python._shutdown()
    hooks: Any = atexit
    hooks._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def _opened_anew(stream: TextIOWrapper) -> TextIOWrapper:
    """A standard stream as Python opens it, which looks at once whether it can seek."""
    raw = FileIO(stream.fileno(), "r" if stream.readable() else "w", closefd=False)
    buffer = BufferedReader(raw) if stream.readable() else BufferedWriter(raw)
    return TextIOWrapper(buffer, stream.encoding, stream.errors, newline="\n", line_buffering=stream.line_buffering)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        serve_forks(requests)
