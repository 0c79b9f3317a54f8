"""`start`, `route`, `claim`, `focus` and `resync`: session documents and the tmux panes that talk about them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize
from redraft.cli.doc.context import (
    OpenedDocument,
    add_file,
    find_project,
    open_for_reading,
    open_for_writing,
    read_config,
    say,
)
from redraft.errors import Refused
from redraft.sessions.tmux.claims import Claim

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator, Mapping

    from redraft.sessions.project import Project
    from redraft.sessions.tmux.panes import Pane

HERE = "TMUX_PANE"
SHOWN_MS = 3000


@contextmanager
def _open_locked(call: Invocation, project: Project) -> Generator[OpenedDocument]:
    """A desk at which nobody else writes; what is written there is the person's wish."""
    from redraft.history.turns import PERSON

    with open_for_writing(call, project, PERSON) as opened, opened.context.lock():
        yield opened


def ensure_session(opened: OpenedDocument, *, begin: bool = False) -> str:
    """The document's own id, which it is given if it has none; `begin` also gives a new document its components."""
    from redraft.sessions.document_store import change
    from redraft.sessions.session_fields import add_scaffold, add_session_id, session_fields

    context = opened.context
    path = context.project.path
    done = change(
        context.store, path, f"Prepare {path}", lambda text: add_session_id(add_scaffold(text) if begin else text)
    )
    session = session_fields(done.text).session
    if session is None:
        raise Refused(f"{path} has no readable id.", code="conflict", path=path)
    return session


def _live_panes() -> dict[str, Pane]:
    from redraft.sessions.tmux.panes import list_panes

    return list_panes()


def _require_pane(pane: str, live: Mapping[str, Pane]) -> Pane:
    if pane not in live:
        raise Refused(f"There is no live pane {pane}.", code="not_found", pane=pane)
    return live[pane]


def _current_pane(live: Mapping[str, Pane]) -> Pane:
    pane = os.environ.get(HERE, "")
    if not pane:
        raise Refused(f"This works only inside tmux: {HERE} is not set.")
    return _require_pane(pane, live)


def start(call: Invocation) -> int:
    project = find_project(call, call.arguments.file)
    here = _current_pane(_live_panes())
    program = _find_agent_program()
    with _open_locked(call, project) as opened:
        context = opened.context
        Claim(project, ensure_session(opened), here, context.stamp).register(context.agent_files)
    call.screen.finish()
    os.environ.pop("CLAUDECODE", None)
    os.chdir(project.root)
    os.execv(program, [program])  # noqa: S606 - the person's own agent, and no shell


def _find_agent_program() -> str:
    """The path of the agent program that runs in panes."""
    import shutil

    from redraft.providers.errors import ProviderError
    from redraft.providers.network_guard import check_command
    from redraft.sessions.agent_config import CLAUDE

    entry = read_config().agents.get(CLAUDE)
    command = (entry.command if entry else "") or CLAUDE
    try:
        check_command(command)
    except ProviderError as error:
        raise Refused(str(error), code="model_unavailable") from error
    found = shutil.which(command)
    if found is None:
        raise Refused(f"{command} is not installed here.", code="model_unavailable")
    return os.path.abspath(found)


def route(call: Invocation) -> int:
    from redraft.sessions.tmux import panes, registry
    from redraft.sessions.tmux.claims import command_for, prune

    project = find_project(call, call.arguments.file)
    typed = command_for(project)
    live = _live_panes()
    started, together = False, list[str]()
    with _open_locked(call, project) as opened:
        agent_files = opened.context.agent_files
        prune(agent_files, live)
        session = ensure_session(opened)
        entries = registry.load(agent_files)
        if session in entries:
            pane = live[entries[session].pane]
        else:
            pane, started = _choose_pane(call, project, typed, live)
            Claim(project, session, pane, opened.context.stamp).register(agent_files)
            together = [entry.pane for entry in entries.values() if entry.window == pane.window]
    if not started:
        panes.type_line(pane.id, typed)
    if together:
        from redraft.sessions.tmux.layout import lay_out

        registered = {entry.pane for entry in entries.values()}
        lay_out([pane.id, *together], registered, stacked=False, live=live)
    panes.select(pane.id)
    what = "Started an agent in" if started else "Sent to"
    say(call, f"{what} the pane {pane.id}: {call.arguments.file}", pane=pane.id, started=started)
    return 0


def _choose_pane(call: Invocation, project: Project, typed: str, live: Mapping[str, Pane]) -> tuple[Pane, bool]:
    """A pane for a document that has none, and whether an agent was started in it, who then knows what to do."""
    from redraft.sessions.tmux.claims import SESSION, front_pane
    from redraft.sessions.tmux.panes import create_pane

    named = call.arguments.pane
    found = _require_pane(named, live) if named else front_pane(live.values(), SESSION)
    if found is not None:
        return found, False
    made = create_pane(SESSION, project.root, ["env", "-u", "CLAUDECODE", _find_agent_program(), typed])
    return _require_pane(made, _live_panes()), True


def claim(call: Invocation) -> int:
    from redraft.sessions.tmux.claims import effective_window, pane_at_position
    from redraft.sessions.tmux.panes import show_message

    arguments = call.arguments
    project = find_project(call, arguments.file)
    live = _live_panes()
    with _open_locked(call, project) as opened:
        agent_files = opened.context.agent_files
        window = effective_window(arguments.window, project.root, agent_files, live)
        if arguments.pane:
            pane = _require_pane(arguments.pane, live)
        elif arguments.position:
            pane = pane_at_position(arguments.position, window, os.environ.get(HERE), live)
        else:
            pane = _current_pane(live)
        claimed = Claim(project, ensure_session(opened, begin=True), pane, opened.context.stamp)
        claimed.register(agent_files)
        claimed.log(agent_files)
    show_message(pane.id, f"Claimed {claimed.file} (pane {pane.id})", SHOWN_MS)
    say(call, f"Claimed {arguments.file} for the pane {pane.id}", pane=pane.id, window=pane.window)
    return 0


def focus(call: Invocation) -> int:
    from redraft.sessions.tmux.panes import select

    pane = call.arguments.pane or find_registered_pane(call, call.arguments.file)
    select(_require_pane(pane, _live_panes()).id)
    say(call, f"The pane {pane} now has the focus.", pane=pane)
    return 0


def find_registered_pane(call: Invocation, file: str) -> str:
    """The pane under which a document is registered; whether it lives is another question."""
    from redraft.sessions.session_fields import session_fields
    from redraft.sessions.tmux.registry import load

    with open_for_reading(call, file) as context:
        session = session_fields(context.store.read(context.project.path).text).session
        entry = load(context.agent_files).get(session or "")
    if entry is None:
        raise Refused(f"{file} is not claimed by any pane; claim it with `agent-doc claim`.", code="not_found")
    return entry.pane


def resync(call: Invocation) -> int:
    from redraft.runtime import open_workspace
    from redraft.sessions.answers.writer import sessions_lock
    from redraft.sessions.project import AgentDocFiles, Project
    from redraft.sessions.tmux.claims import prune
    from redraft.sessions.tmux.registry import load

    project = Project.of("document", call.folder)
    live = _live_panes()
    with (
        AgentDocFiles.open(project.root) as agent_files,
        open_workspace(project.folder) as workspace,
        sessions_lock(workspace.state),
    ):
        gone = prune(agent_files, live)
        left = load(agent_files)
    if call.screen.json:
        call.screen.emit({"removed": sorted(gone), "active": sorted(left)})
        return 0
    for entry in gone.values():
        call.screen.line(f"Removed {entry.file or '(no file)'}: the pane {entry.pane} is gone")
    for entry in left.values():
        call.screen.line(f"Active  {entry.file or '(no file)'} in the pane {entry.pane}")
    call.screen.line(f"{pluralize(len(gone), 'document')} removed, {len(left)} active.")
    return 0


def add_pane(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--pane", metavar="P", help=what)


def configure_route(parser: ArgumentParser) -> None:
    add_file(parser)
    add_pane(parser, "the pane to use if the document has no live one")


def configure_claim(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument(
        "--position", choices=("left", "right", "top", "bottom"), help="the pane at this edge of the window"
    )
    parser.add_argument("--window", metavar="W", help="the window to look in, such as @3, claude:1 or 1")
    add_pane(parser, "use this pane (default: the one this runs in)")


def configure_focus(parser: ArgumentParser) -> None:
    add_file(parser)
    add_pane(parser, "use this pane instead of the document's")


COMMANDS = {
    "doc start": Command(
        "doc start",
        "Start an agent for a document in this tmux pane",
        start,
        add_file,
        ("doc start plan.md",),
        "Register the current pane for the document, and run `claude` in it.",
    ),
    "doc route": Command(
        "doc route",
        "Submit a document to its pane",
        route,
        configure_route,
        ("doc route plan.md", "doc route plan.md --pane %4"),
        "Type `/agent-doc FILE` into the document's pane. If that pane is gone, use the active pane of the tmux\n"
        "session `claude`; if there is none, start an agent.",
    ),
    "doc claim": Command(
        "doc claim",
        "Assign a document to a pane",
        claim,
        configure_claim,
        ("doc claim plan.md", "doc claim plan.md --position left --window @3"),
        "Register a pane for the document; the last call wins. A new document gets its components. Starts nothing.",
    ),
    "doc focus": Command(
        "doc focus",
        "Focus a document's pane",
        focus,
        configure_focus,
        ("doc focus plan.md",),
    ),
    "doc resync": Command(
        "doc resync",
        "Forget panes that are gone",
        resync,
        examples=("doc resync",),
        about="Compare .agent-doc/sessions.json with the live panes, and remove stale entries.",
    ),
}
