"""`start`, `route`, `claim`, `focus` and `resync`: session documents and the tmux panes that talk about them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, counted
from redraft.cli.doc.desk import Opened, add_file, config, looking, project_of, say, working
from redraft.errors import Refused
from redraft.sessions.routing import Claim

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator, Mapping

    from redraft.sessions.panes import Pane
    from redraft.sessions.project import Project

HERE = "TMUX_PANE"
SHOWN_MS = 3000


@contextmanager
def _at(call: Call, project: Project) -> Generator[Opened]:
    """A desk at which nobody else writes; what is written there is the person's wish."""
    from redraft.workspace.engine import PERSON

    with working(call, project, PERSON) as opened, opened.desk.alone():
        yield opened


def session_of(opened: Opened, *, begin: bool = False) -> str:
    """The document's own id, which it is given if it has none; `begin` also gives a new document its components."""
    from redraft.sessions.beginning import identified, scaffolded
    from redraft.sessions.doors import change
    from redraft.sessions.fields import session_fields

    desk = opened.desk
    path = desk.project.path
    done = change(desk.door, path, f"Prepare {path}", lambda text: identified(scaffolded(text) if begin else text))
    session = session_fields(done.text).session
    if session is None:
        raise Refused(f"{path} has no id that can be read.", code="conflict", path=path)
    return session


def _live() -> dict[str, Pane]:
    from redraft.sessions.panes import panes

    return panes()


def _named(pane: str, live: Mapping[str, Pane]) -> Pane:
    if pane not in live:
        raise Refused(f"There is no live pane {pane}.", code="not_found", pane=pane)
    return live[pane]


def _here(live: Mapping[str, Pane]) -> Pane:
    pane = os.environ.get(HERE, "")
    if not pane:
        raise Refused(f"This works inside tmux only: {HERE} is not set.")
    return _named(pane, live)


def start(call: Call) -> int:
    project = project_of(call, call.arguments.file)
    here = _here(_live())
    program = _agent()
    with _at(call, project) as opened:
        desk = opened.desk
        Claim(project, session_of(opened), here, desk.stamp).register(desk.shelf)
    call.screen.finish()
    os.environ.pop("CLAUDECODE", None)
    os.chdir(project.root)
    os.execv(program, [program])  # noqa: S606 - the person's own agent, and no shell


def _agent() -> str:
    """The program of the agent that lives in panes, where it lies."""
    import shutil

    from redraft.providers.failures import ProviderError
    from redraft.providers.guarding import check_command
    from redraft.sessions.config import DEFAULT_AGENT

    entry = config().agents.get(DEFAULT_AGENT)
    command = (entry.command if entry else "") or DEFAULT_AGENT
    try:
        check_command(command)
    except ProviderError as error:
        raise Refused(str(error), code="model_unavailable") from error
    found = shutil.which(command)
    if found is None:
        raise Refused(f"{command} is not installed here.", code="model_unavailable")
    return os.path.abspath(found)


def route(call: Call) -> int:
    from redraft.sessions import panes, registry
    from redraft.sessions.routing import command_for, prune

    project = project_of(call, call.arguments.file)
    typed = command_for(project)
    live = _live()
    started, together = False, list[str]()
    with _at(call, project) as opened:
        shelf = opened.desk.shelf
        prune(shelf, live)
        session = session_of(opened)
        entries = registry.load(shelf)
        if session in entries:
            pane = live[entries[session].pane]
        else:
            pane, started = _pane_for(call, project, typed, live)
            Claim(project, session, pane, opened.desk.stamp).register(shelf)
            together = [entry.pane for entry in entries.values() if entry.window == pane.window]
    if not started:
        panes.type_line(pane.id, typed)
    if together:
        from redraft.sessions.arranging import layout

        registered = {entry.pane for entry in entries.values()}
        layout([pane.id, *together], registered, stacked=False, live=live)
    panes.select(pane.id)
    what = "Started an agent in" if started else "Sent to"
    say(call, f"{what} the pane {pane.id}: {call.arguments.file}", pane=pane.id, started=started)
    return 0


def _pane_for(call: Call, project: Project, typed: str, live: Mapping[str, Pane]) -> tuple[Pane, bool]:
    """A pane for a document that has none, and whether an agent was started in it, who then knows what to do."""
    from redraft.sessions.panes import new_pane
    from redraft.sessions.routing import SESSION, in_front

    named = call.arguments.pane
    found = _named(named, live) if named else in_front(live.values(), SESSION)
    if found is not None:
        return found, False
    made = new_pane(SESSION, project.root, ["env", "-u", "CLAUDECODE", _agent(), typed])
    return _named(made, _live()), True


def claim(call: Call) -> int:
    from redraft.sessions.panes import notice
    from redraft.sessions.routing import at_position, effective_window

    arguments = call.arguments
    project = project_of(call, arguments.file)
    live = _live()
    with _at(call, project) as opened:
        shelf = opened.desk.shelf
        window = effective_window(arguments.window, project.root, shelf, live)
        if arguments.pane:
            pane = _named(arguments.pane, live)
        elif arguments.position:
            pane = at_position(arguments.position, window, os.environ.get(HERE), live)
        else:
            pane = _here(live)
        claimed = Claim(project, session_of(opened, begin=True), pane, opened.desk.stamp)
        claimed.register(shelf)
        claimed.log(shelf)
    notice(pane.id, f"Claimed {claimed.file} (pane {pane.id})", SHOWN_MS)
    say(call, f"Claimed {arguments.file} for the pane {pane.id}", pane=pane.id, window=pane.window)
    return 0


def focus(call: Call) -> int:
    from redraft.sessions.panes import select

    pane = call.arguments.pane or registered_pane(call, call.arguments.file)
    select(_named(pane, _live()).id)
    say(call, f"The pane {pane} is in front.", pane=pane)
    return 0


def registered_pane(call: Call, file: str) -> str:
    """The pane under which a document is registered; whether it lives is another question."""
    from redraft.sessions.fields import session_fields
    from redraft.sessions.registry import load

    with looking(call, file) as desk:
        session = session_fields(desk.door.read(desk.project.path).text).session
        entry = load(desk.shelf).get(session or "")
    if entry is None:
        raise Refused(f"{file} is claimed by no pane; `agent-doc claim` does that.", code="not_found")
    return entry.pane


def resync(call: Call) -> int:
    from redraft.runtime import open_workspace
    from redraft.sessions.project import Project, Shelf
    from redraft.sessions.registry import load
    from redraft.sessions.routing import prune
    from redraft.sessions.writing import alone

    project = Project.of("document", call.folder)
    live = _live()
    with Shelf.open(project.root) as shelf, open_workspace(project.folder) as workspace, alone(workspace.engine.state):
        gone = prune(shelf, live)
        left = load(shelf)
    if call.screen.json:
        call.screen.emit({"removed": sorted(gone), "active": sorted(left)})
        return 0
    for entry in gone.values():
        call.screen.line(f"Removed {entry.file or '(no file)'}: the pane {entry.pane} is gone")
    for entry in left.values():
        call.screen.line(f"Active  {entry.file or '(no file)'} in the pane {entry.pane}")
    call.screen.line(f"{counted(len(gone), 'document')} removed, {len(left)} active.")
    return 0


def add_pane(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--pane", metavar="P", help=what)


def configure_route(parser: ArgumentParser) -> None:
    add_file(parser)
    add_pane(parser, "the pane to take if the document has none that lives")


def configure_claim(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument(
        "--position", choices=("left", "right", "top", "bottom"), help="the pane at this edge of the window"
    )
    parser.add_argument("--window", metavar="W", help="the window in which to look, as @3, claude:1 or 1")
    add_pane(parser, "this pane, whatever else is said (default: the one that this runs in)")


def configure_focus(parser: ArgumentParser) -> None:
    add_file(parser)
    add_pane(parser, "this pane instead of the document's")


COMMANDS = {
    "doc start": Command(
        "doc start",
        "Start an agent for a document in this tmux pane",
        start,
        add_file,
        ("doc start plan.md",),
        "Register the pane that this runs in as the document's, and become `claude` there.",
    ),
    "doc route": Command(
        "doc route",
        "Submit a document to its pane",
        route,
        configure_route,
        ("doc route plan.md", "doc route plan.md --pane %4"),
        "Type `/agent-doc FILE` into the pane of the document. If that is gone, the active pane of the tmux session\n"
        "`claude` takes its place; if there is none, an agent is started.",
    ),
    "doc claim": Command(
        "doc claim",
        "Let a document be talked about in a pane",
        claim,
        configure_claim,
        ("doc claim plan.md", "doc claim plan.md --position left --window @3"),
        "Register a pane as the document's; the last call wins. A new document gets its components. Starts nothing.",
    ),
    "doc focus": Command(
        "doc focus",
        "Bring a document's pane to the front",
        focus,
        configure_focus,
        ("doc focus plan.md",),
    ),
    "doc resync": Command(
        "doc resync",
        "Forget panes that are gone",
        resync,
        examples=("doc resync",),
        about="Compare .agent-doc/sessions.json with the panes that live, and remove what is stale.",
    ),
}
