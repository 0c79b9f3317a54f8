"""`redraft run`: any program's work becomes a turn, made in a private view of the folder; and the views that wait."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation, add_yes, pluralize, positive_number
from redraft.cli.display import document_changes, format_time, print_change, shorten
from redraft.cli.screen import BOLD, CYAN, DIM, RED, YELLOW, Screen, StyledText
from redraft.errors import RedraftError, Refused
from redraft.workspace.shapes import turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator

    from redraft.files.views.private_view import PrivateView, ProgramStatus
    from redraft.history.turns import TurnRecord
    from redraft.workspace.private_views import ViewOutcome
    from redraft.workspace.workspace import Workspace

MODES = ("propose", "apply", "merge")
# As `timeout` has them: the time was up, we failed ourselves, a signal ended it.
TIMED_OUT, FAILED, SIGNALLED = 124, 125, 128
GRACE_SECONDS = 3.0
LOOK_SECONDS = 0.25
# Measuring how much was written may take no more than this part of the time.
LOOK_SHARE = 10
MOST_INTERNAL = 5


def run(call: Invocation) -> int:
    try:
        return _run(call)
    except RedraftError as error:
        call.screen.report_failure(error)
        return FAILED


def _run(call: Invocation) -> int:
    from redraft.history.turns import agent_author
    from redraft.runtime import writable_places

    arguments = call.arguments
    command: list[str] = arguments.command
    if not command:
        raise Refused("Name a program after `--`, as in: redraft run -- sed -i s/colour/color/ story.md")
    name = arguments.name or os.path.basename(command[0])
    agent_author(name)
    places = writable_places(command[0], arguments.write)
    with call.workspace(mode=arguments.mode) as workspace:
        call.shown_notices += workspace.notices  # they are told at the end
        workspace.private_views.sweep()
        view = workspace.private_views.open(
            call.folder,
            name,
            command,
            title=arguments.title or shlex.join(command),
            confined=not arguments.unconfined,
            writable=places,
        )
        most = workspace.settings.run.bytes
        call.shown_notices.clear()
    with view.hold():
        if not call.screen.json:
            _warn_unconfined(call, view)
        running = _RunningProgram(call, view, most)
        end = running.run(command)
        if end.failed or end.not_started:
            view.close()
            return _refuse_start(call, command[0], end)
        _note_end(view, end, running.stopped)
        status = TIMED_OUT if running.timed_out else _exit_status(end)
        return _bring_back(call, view, status, keep=arguments.keep)


def _warn_unconfined(call: Invocation, view: PrivateView) -> None:
    record = view.record
    if record.confinement == "none":
        why = f" ({record.unconfined_because})" if record.unconfined_because else ""
        call.screen.remark(f"note: {record.name} is not confined{why}: it works on a copy, but it can write elsewhere.")
    elif record.confinement == "landlock":
        call.screen.remark(
            f"note: {record.name} can write only to its copy of the folder, but it can read everything else, including "
            f"secrets in the folder ({record.unconfined_because})."
        )


def _refuse_start(call: Invocation, program: str, end: ProgramStatus) -> int:
    if end.failed:
        raise RedraftError(f"{program} could not be started in a private view: {end.failed}.")
    error = Refused(f"{program} cannot be started: {end.not_started}.", code="program_missing")
    error.hint = "A program in /tmp is not found: the view has a /tmp of its own."
    call.screen.report_failure(error)
    return FAILED if end.status is None else end.status


def _note_end(view: PrivateView, end: ProgramStatus, stopped: str) -> None:
    """Remember how it ended, for whoever brings its work back."""
    reason = stopped
    if not reason and end.signal is not None:
        reason = f"ended by {_signal_name(end.signal)}"
    elif not reason and end.status is None:
        reason = "killed"
    view.record.unfinished = reason
    view.save()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _exit_status(end: ProgramStatus) -> int:
    if end.status is not None:
        return end.status
    return SIGNALLED + (end.signal or signal.SIGKILL)


class _RunningProgram:
    """The program while it runs: it has our terminal and streams; we watch the time and how much it writes."""

    def __init__(self, call: Invocation, view: PrivateView, most: int) -> None:
        self._call = call
        self._view = view
        self._most = most
        self.stopped = ""
        self.timed_out = False

    def run(self, command: list[str]) -> ProgramStatus:
        from redraft.files.views.sandbox import END_NOW
        from redraft.runtime import program_environment

        view, folder = self._view, os.path.realpath(self._call.folder)
        here = os.path.relpath(os.path.realpath(os.getcwd()), folder)
        directory = "" if here == "." or here.startswith("..") else here
        line = view.command_line(command, directory=directory)
        environment = program_environment(view.temporary_folder, view.directory(directory))
        sys.stdout.flush()
        out = sys.stderr if self._call.screen.json else None
        with _signals() as received:
            process = subprocess.Popen(line, env=environment, stdout=out)  # noqa: S603 - what the person asked for
            try:
                self._watch(process, received)
            finally:
                if process.poll() is None:
                    self._end(process, END_NOW)
        return view.read_end()

    def _watch(self, process: subprocess.Popen[bytes], received: list[int]) -> None:
        from redraft.files.views.sandbox import END_NOW

        seconds: int | None = self._call.arguments.seconds
        deadline = None
        look = time.monotonic() + LOOK_SECONDS
        while True:
            if deadline is None and seconds is not None and self._view.has_started:
                deadline = _now() + seconds
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS if deadline is None else max(0.01, min(LOOK_SECONDS, deadline - _now())))
                return
            if received:
                self.stopped = f"stopped by {_signal_name(received[0])}"
            elif seconds is not None and deadline is not None and _now() >= deadline:
                self.timed_out = True
                self.stopped = f"still running after {pluralize(seconds, 'second')}"
            elif _now() >= look:
                began = _now()
                if self._view.count_written_bytes() > self._most:
                    self.stopped = f"wrote more than {self._most} bytes"
                look = _now() + LOOK_SECONDS + LOOK_SHARE * (_now() - began)
            if self.stopped:
                self._end(process, END_NOW)
                return

    def _end(self, process: subprocess.Popen[bytes], end_now: int) -> None:
        """Ask the program to end, then end it with everything that it started."""
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            return
        for number in (end_now, signal.SIGCONT):
            process.send_signal(number)
        process.wait()


def _now() -> float:
    return time.monotonic()


@contextmanager
def _signals() -> Generator[list[int]]:
    """While the program runs, the keys that stop a program are for it alone; to end us ends it first."""
    received: list[int] = []

    def receive(number: int, _frame: Any) -> None:
        received.append(number)

    acts = {
        signal.SIGINT: signal.SIG_IGN,
        signal.SIGQUIT: signal.SIG_IGN,
        signal.SIGTERM: receive,
        signal.SIGHUP: receive,
    }
    before = {number: signal.signal(number, act) for number, act in acts.items()}
    try:
        yield received
    finally:
        for number, act in before.items():
            signal.signal(number, act)


# Bringing it back


def _bring_back(call: Invocation, view: PrivateView, status: int, *, keep: bool) -> int:
    """Make the turn and tell about it. The view goes when nothing in it is worth keeping."""
    from redraft.history.turns import agent_author

    record = view.record
    try:
        with call.workspace(mode=call.arguments.mode) as workspace:
            found = workspace.private_views.bring_back(view, agent_author(record.name), confirm=call.confirm)
            kept = keep or not found.is_complete
            if call.screen.json:
                call.emit(_shape(workspace, view, found, status, kept=kept))
            else:
                with _summary(call) as screen:
                    _Report(call, screen, workspace, view).tell(found, kept=kept)
    except RedraftError as error:
        error.hint = f"What {record.name} did is kept: {call.command_line('views', 'take', record.id)}"
        call.screen.report_failure(error)
        if error.code == "confirmation_required" and not call.screen.json:
            call.screen.remark(f"         {error.hint} --yes")
        return FAILED
    if not kept:
        view.close()
    return status


@contextmanager
def _summary(call: Invocation) -> Generator[Screen]:
    """Where the summary of a run is told: beside the program's own output, which may go into a file or a pipe."""
    from redraft.runtime import is_colour_wanted

    if call.arguments.command is None:
        yield call.screen
        return
    sys.stdout.flush()
    terminal = sys.stderr.isatty()
    with redirect_stdout(sys.stderr):
        yield Screen(json=False, colour=terminal and is_colour_wanted(), terminal=terminal)


@dataclass(frozen=True, slots=True)
class _Report:
    """What a person is told when a program has ended."""

    call: Invocation
    screen: Screen
    workspace: Workspace
    view: PrivateView

    def tell(self, found: ViewOutcome, *, kept: bool) -> None:
        screen, record = self.screen, self.view.record
        if record.unfinished:
            screen.line(StyledText("unfinished ", YELLOW), f"{record.name}: {record.unfinished}")
        turn = None if found.outcome is None else found.outcome.turn
        if turn is None:
            screen.line(f"{record.name} changed nothing." if found.is_complete else "Nothing became part of a turn.")
        else:
            self._tell_turn(found)
        for path, reason in found.left:
            screen.line("  ", StyledText("left out ", YELLOW), _reason(path, reason))
        if found.internal:
            names = ", ".join(found.internal[:MOST_INTERNAL])
            more = f" and {len(found.internal) - MOST_INTERNAL} more" if len(found.internal) > MOST_INTERNAL else ""
            screen.line("  ", StyledText("not taken over ", YELLOW), f"{names}{more}")
        if turn is not None and found.outcome is not None:
            self._tell_next(turn, written=bool(found.outcome.applied))
        if kept:
            screen.line(
                f"The view {record.id} is kept for {pluralize(self.workspace.settings.run.keep_days, 'day')}: ",
                StyledText(self.view.result_folder, CYAN),
            )

    def _tell_turn(self, found: ViewOutcome) -> None:
        screen, outcome = self.screen, found.outcome
        if outcome is None or outcome.turn is None:
            return
        turn = outcome.turn
        what = "is written" if outcome.applied else "waits for your decision"
        screen.line(StyledText(f"Turn {turn.id}", BOLD), f" by {turn.author} {what}: {shorten(turn.title)}")
        for change in document_changes(self.workspace, turn):
            print_change(screen, change)
        for path in outcome.conflicts:
            screen.line(
                StyledText("conflict ", RED), f"{path}: both changed the same words; they are marked in the text"
            )

    def _tell_next(self, turn: TurnRecord, *, written: bool) -> None:
        screen, call = self.screen, self.call
        if written:
            screen.line("Undo with: ", StyledText(call.command_line("undo", str(turn.id)), CYAN))
        else:
            screen.line("Show it: ", StyledText(call.command_line("diff"), CYAN))
            screen.line("Accept it: ", StyledText(call.command_line("accept", "--turn", str(turn.id)), CYAN))


def _reason(path: str, reason: str) -> str:
    return reason if path in reason else f"{path}: {reason}"


def _shape(workspace: Workspace, view: PrivateView, found: ViewOutcome, status: int, *, kept: bool) -> dict[str, Any]:
    outcome = found.outcome
    turn = None if outcome is None else outcome.turn
    return {
        "status": status,
        "unfinished": view.record.unfinished or None,
        "confinement": view.record.confinement,
        "turn": None if turn is None else turn_shape(turn),
        "documents": [] if turn is None else document_changes(workspace, turn),
        "applied": [] if outcome is None else outcome.applied,
        "proposed": [] if outcome is None else outcome.proposed,
        "conflicts": [] if outcome is None else outcome.conflicts,
        "left_out": [left._asdict() for left in found.left],
        "not_taken_over": found.internal,
        "view": {"id": view.record.id, "folder": view.result_folder} if kept else None,
    }


# The views that wait


def list_views(call: Invocation) -> int:
    with call.workspace() as workspace:
        workspace.private_views.sweep()
        views = workspace.private_views.list()
        if call.screen.json:
            call.emit({"views": [_view_shape(view) for view in views]})
            return 0
        for view in views:
            record = view.record
            call.screen.line(
                StyledText(f"  {record.id}", BOLD),
                StyledText(f"  {format_time(record.started)}  ", DIM),
                f"{record.name}  {_state(view)}  {shorten(record.title)}",
            )
            for path, reason in record.left:
                call.screen.line("    ", _reason(path, reason))
            call.screen.line("    ", StyledText(view.result_folder, DIM))
        if views:
            call.screen.line(
                "Make a turn of one: ", StyledText(call.command_line("views", "take", views[0].record.id), CYAN)
            )
        else:
            call.screen.line("There are no private views.")
    return 0


def _state(view: PrivateView) -> str:
    if view.is_in_use:
        return "running"
    if view.record.turn is not None:
        return f"turn {view.record.turn}"
    return view.record.unfinished or "kept"


def _view_shape(view: PrivateView) -> dict[str, Any]:
    record = view.record
    return {
        "id": record.id,
        "name": record.name,
        "title": record.title,
        "started": record.started,
        "running": view.is_in_use,
        "unfinished": record.unfinished or None,
        "turn": record.turn,
        "left_out": [{"path": path, "reason": reason} for path, reason in record.left],
        "folder": view.result_folder,
    }


def take_view(call: Invocation) -> int:
    with call.workspace() as workspace:
        view = workspace.private_views.find(call.arguments.view)
        call.shown_notices += workspace.notices
    if view.is_in_use:
        raise Refused(f"A program is still working in the view {view.record.id}.", code="locked")
    call.shown_notices.clear()
    call.arguments.command = None
    with view.hold():
        return _bring_back(call, view, 0, keep=call.arguments.keep)


def remove_views(call: Invocation) -> int:
    arguments = call.arguments
    if not arguments.views and not arguments.all:
        raise Refused("Name a view, or use --all; `redraft views list` lists them.")
    with call.workspace() as workspace:
        views = workspace.private_views
        chosen = views.list() if arguments.all else [views.find(each) for each in arguments.views]
        removed = [view.record.id for view in chosen if views.remove(view)]
        if call.screen.json:
            call.emit({"removed": removed})
        else:
            call.screen.line(f"Removed {pluralize(len(removed), 'view')}.")
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="the program and its arguments, after `--`")
    parser.add_argument("--mode", choices=MODES, help="when changes reach the disk (default: from the settings)")
    parser.add_argument("--name", metavar="N", help="who made the turn (default: the program's name)")
    parser.add_argument("--title", metavar="T", help="the turn's title in the history (default: the command)")
    parser.add_argument("--seconds", metavar="S", type=positive_number, help="end the program after this many seconds")
    parser.add_argument("--keep", action="store_true", help="keep the view afterwards, whatever the outcome")
    parser.add_argument(
        "--write", metavar="P", action="append", default=[], help="a place outside the folder that it may write to"
    )
    parser.add_argument("--unconfined", action="store_true", help="work on a copy, without a sandbox")
    add_yes(parser)


def configure_take(parser: ArgumentParser) -> None:
    parser.add_argument("view", metavar="VIEW", help="its id or a unique prefix of it")
    parser.add_argument("--mode", choices=MODES, help="when changes reach the disk (default: from the settings)")
    parser.add_argument("--keep", action="store_true", help="keep the view afterwards, whatever the outcome")
    add_yes(parser)


def configure_remove(parser: ArgumentParser) -> None:
    parser.add_argument("views", metavar="VIEW", nargs="*", help="its id or a unique prefix of it")
    parser.add_argument("--all", action="store_true", help="every view in which no program is running")


COMMANDS = {
    "run": Command(
        "run",
        "Run any program; what it changes becomes a turn",
        run,
        configure,
        (
            "run -- sed -i s/colour/color/g story.md",
            "run --name claude --mode propose -- claude -p 'Shorten the introduction'",
            "run --seconds 600 --write ~/.cache/tool -- ./tidy.sh",
        ),
        "Run a program in a private view of the folder: it sees the documents as you do, unsaved typing included, but\n"
        "no secrets. When it ends, everything that it changed, created, moved or deleted becomes one turn of its own,\n"
        "merged with what happened in the meantime; until then the folder stays as it is. Where the system allows,\n"
        "it can write nowhere else. What cannot be part of a turn is listed and stays in the view.\n\n"
        "The exit status is the program's own, or 124: it ran out of time; 125: Redraft itself failed; 126: the\n"
        "program cannot be started; 127: it was not found.",
    ),
    "views list": Command(
        "views list",
        "List the private views",
        list_views,
        examples=("views list", "views list --json"),
        about="List the private views of `redraft run` with unfinished work or a running program. Removes old ones.",
    ),
    "views take": Command(
        "views take",
        "Make a turn of the work in a private view",
        take_view,
        configure_take,
        ("views take 1a2b3c4d", "views take 1a2b3c4d --mode merge --yes"),
        "Make a turn of what a program did in a view: after `redraft run` was stopped, needed your consent, or left\n"
        "something out that can be taken now.",
    ),
    "views remove": Command(
        "views remove",
        "Remove private views",
        remove_views,
        configure_remove,
        ("views remove 1a2b3c4d", "views remove --all"),
    ),
}
