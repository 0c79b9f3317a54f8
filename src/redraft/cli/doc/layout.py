"""`layout` and `sync`: tmux panes arranged as an editor shows their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.cli.doc.context import say
from redraft.cli.doc.route import find_registered_pane
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Mapping, Sequence

    from redraft.sessions.tmux.panes import Pane
    from redraft.sessions.tmux.registry import PaneEntry

SEPARATOR = ","


def layout(call: Invocation) -> int:
    from redraft.sessions.tmux.layout import lay_out as arrange
    from redraft.sessions.tmux.panes import list_panes, select

    live = list_panes()
    entries, window = _load_registry(call, live)
    named = _find_live_panes(call, call.arguments.files, live)
    # The one registered for another window is another editor's.
    elsewhere = {entry.pane for entry in entries.values() if window is not None and entry.window != window}
    wanted = [pane for pane in dict.fromkeys(named.values()) if pane not in elsewhere]
    if not wanted:
        raise Refused("None of these documents has a live pane.", code="not_found")
    if len(call.arguments.files) == 1:
        select(wanted[0])
        say(call, f"The pane {wanted[0]} now has the focus.", panes=wanted)
        return 0
    registered = {entry.pane for entry in entries.values()}
    target = arrange(wanted, registered, stacked=call.arguments.split == "v", live=live)
    say(call, f"Arranged {', '.join(wanted)} in the window {target}", panes=wanted, window=target)
    return 0


def sync(call: Invocation) -> int:
    from redraft.sessions.tmux.layout import grid_of
    from redraft.sessions.tmux.layout import sync as arrange
    from redraft.sessions.tmux.panes import list_panes, select

    arguments = call.arguments
    live = list_panes()
    _, window = _load_registry(call, live)
    columns = [[name for name in column.split(SEPARATOR) if name] for column in arguments.col]
    known = _find_live_panes(call, [name for column in columns for name in column], live)
    grid = grid_of([[known[name] for name in column if name in known] for column in columns])
    if not grid:
        raise Refused("None of these documents has a live pane.", code="not_found")
    moved = arrange(grid, window, live)
    if arguments.focus is not None:
        select(_find_live_pane(call, arguments.focus, live))
    shown = " | ".join(" / ".join(column) for column in grid)
    say(call, f"Arranged {shown}" if moved else f"Already arranged: {shown}", columns=grid, changed=moved)
    return 0


def _load_registry(call: Invocation, live: Mapping[str, Pane]) -> tuple[dict[str, PaneEntry], str | None]:
    """All that is registered, and the window that was asked for, if it or another of this project lives."""
    from redraft.sessions.project import AgentDocFiles, Project
    from redraft.sessions.tmux.claims import effective_window
    from redraft.sessions.tmux.registry import load

    project = Project.of("document", call.folder)
    with AgentDocFiles.open(project.root) as agent_files:
        return load(agent_files), effective_window(call.arguments.window, project.root, agent_files, live)


def _find_live_panes(call: Invocation, files: Sequence[str], live: Mapping[str, Pane]) -> dict[str, str]:
    """The live pane of each document; those that have none are told and left out."""
    found: dict[str, str] = {}
    for file in files:
        try:
            found[file] = _find_live_pane(call, file, live)
        except RedraftError as error:
            call.screen.remark(f"note: {error.message} It was skipped.")
    return found


def _find_live_pane(call: Invocation, file: str, live: Mapping[str, Pane]) -> str:
    pane = find_registered_pane(call, file)
    if pane not in live:
        raise Refused(f"The pane {pane} of {file} is gone.", code="not_found", pane=pane)
    return pane


def _add_window(parser: ArgumentParser, what: str) -> None:
    parser.add_argument("--window", metavar="W", help=what)


def configure_layout(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="the documents; the first gets the focus")
    parser.add_argument("--split", choices=("h", "v"), default="h", help="side by side (h, default) or stacked (v)")
    _add_window(parser, "only panes that are registered for this window")


def configure_sync(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--col",
        metavar="FILES",
        action="append",
        required=True,
        help="a column: documents separated by commas; may be repeated",
    )
    _add_window(parser, "the window to arrange (default: the one with the most of these panes)")
    parser.add_argument("--focus", metavar="FILE", help="the document whose pane gets the focus")


COMMANDS = {
    "doc layout": Command(
        "doc layout",
        "Show the panes of documents in one window",
        layout,
        configure_layout,
        ("doc layout a.md b.md", "doc layout a.md b.md --split v"),
        "Join the documents' panes in the window that has most of them. Panes of other documents leave it; shells and\n"
        "tools stay. Documents without a live pane are reported and skipped.",
    ),
    "doc sync": Command(
        "doc sync",
        "Arrange panes in columns",
        sync,
        configure_sync,
        ("doc sync --col a.md,b.md --col c.md", "doc sync --col a.md --col b.md --focus b.md"),
        "Make a tmux window show exactly these documents: columns from left to right, the documents of each\n"
        "from top to bottom. Panes already in place stay; other panes move to another window.",
    ),
}
