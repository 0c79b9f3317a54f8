"""`watch`: submit session documents automatically when they change; a background process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.cli.command import MAX_TURN_DIGITS, Command, Invocation
from redraft.cli.doc.context import say
from redraft.errors import RedraftError, Refused
from redraft.runtime import open_workspace, state_of
from redraft.sessions.watch.submit_loop import DEBOUNCE_MS, MAX_CYCLES, LoopLimits

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from types import FrameType

    from redraft.sessions.project import Project

NOT_RUNNING = 1
_START_SECONDS = 20.0
_PROGRAM = (sys.executable, "-m", "redraft.cli.agent_doc")


def watch(call: Invocation) -> int:
    arguments = call.arguments
    project = _project(call)
    if arguments.stop:
        return _stop(call, project)
    if arguments.status:
        return _status(call, project)
    return _watch(call, project) if arguments.foreground else _start(call, project)


def _project(call: Invocation) -> Project:
    from redraft.sessions.project import Project

    return Project.of("document", call.folder)


def _stop(call: Invocation, project: Project) -> int:
    from redraft.sessions.watch.daemon import stop

    state = state_of(project.folder)
    pid = None if state is None else stop(state, project.root)
    say(call, "No watch is running here." if pid is None else f"Stopped the watch (process {pid}).", stopped=pid)
    return 0


def _status(call: Invocation, project: Project) -> int:
    from redraft.sessions.watch.daemon import read_running_pid

    state = state_of(project.folder)
    pid = None if state is None else read_running_pid(state, project.root)
    say(call, "No watch is running here." if pid is None else f"The watch is running (process {pid}).", running=pid)
    return NOT_RUNNING if pid is None else 0


def _start(call: Invocation, project: Project) -> int:
    """Start the watch as a separate process: it shares no terminal or pipe with us, so it outlives its parent."""
    from redraft.sessions.watch.daemon import log_file, read_running_pid

    state = _state(project)
    known = read_running_pid(state, project.root)
    if known is not None:
        say(call, f"The watch is already running (process {known}).", running=known)
        return 0
    arguments = call.arguments
    words = [*_PROGRAM, "watch", "--foreground", "--debounce", str(arguments.debounce)]
    log = log_file(state, project.root)
    with open(log, "wb") as file:
        started = subprocess.Popen(  # noqa: S603 - our own program
            [*words, "--max-cycles", str(arguments.max_cycles)],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=project.root,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_SECONDS
    while (pid := read_running_pid(state, project.root)) is None:
        if started.poll() is not None or time.monotonic() > deadline:
            with open(log, encoding="utf-8", errors="replace") as file:
                raise RedraftError(f"The watch could not be started. {' '.join(file.read()[-500:].split())}".rstrip())
        time.sleep(0.02)
    started.returncode = 0  # left to itself on purpose: nobody is to be warned that it still runs
    say(call, f"Watching (process {pid}); its log is {log}", running=pid, log=log)
    return 0


def _watch(call: Invocation, project: Project) -> int:
    from redraft.sessions.project import AgentDocFiles
    from redraft.sessions.watch.daemon import announce, watch_lock
    from redraft.sessions.watch.watcher import SessionWatcher

    state = _state(project)
    pace = LoopLimits(call.arguments.debounce / 1000, call.arguments.max_cycles)
    with AgentDocFiles.open(project.root) as agent_files, watch_lock(state, project.root, agent_files):
        seen = SessionWatcher(
            project.root,
            state,
            pace,
            command=lambda file: [*_PROGRAM, "run", "--", file],
            say=lambda line: _tell(call, line),
            ready=lambda: announce(state, project.root, agent_files),
        )

        def end(number: int, frame: FrameType | None) -> None:
            seen.stop()

        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            seen.run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    _tell(call, "Stopped.")
    return 0


def _tell(call: Invocation, line: str) -> None:
    """Print it if somebody is reading. A closed pipe is no reason to stop watching."""
    try:
        call.screen.line(line)
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            call.screen.abandon()


def _state(project: Project) -> str:
    if not os.path.isdir(project.folder):
        raise Refused(f"There is no folder {project.folder}.", code="folder_not_found", folder=project.folder)
    with open_workspace(project.folder, mode="merge") as workspace:
        return workspace.state


def _number(text: str) -> int:
    from argparse import ArgumentTypeError

    if not (text.isascii() and text.isdigit() and len(text) <= MAX_TURN_DIGITS):
        raise ArgumentTypeError(f"{text!r} must be 0 or greater")
    return int(text)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--stop", action="store_true", help="stop the running watch")
    parser.add_argument("--status", action="store_true", help="say whether it is running (exit status 1: no)")
    parser.add_argument(
        "--debounce",
        metavar="MS",
        type=_number,
        default=DEBOUNCE_MS,
        help=f"how long to wait after a change, in milliseconds (default: {DEBOUNCE_MS})",
    )
    parser.add_argument(
        "--max-cycles",
        metavar="N",
        type=_number,
        default=MAX_CYCLES,
        help=f"how many times in a row to submit a change that follows an answer (default: {MAX_CYCLES})",
    )
    parser.add_argument("--foreground", action="store_true", help="stay in the foreground and log here")


COMMANDS = {
    "doc watch": Command(
        "doc watch",
        "Submit documents when they change",
        watch,
        configure,
        ("doc watch", "doc watch --status", "doc watch --stop", "doc watch --debounce 2000 --max-cycles 1"),
        "Watch the documents in .agent-doc/sessions.json in the background, and run their agent when you change them.",
    ),
}
