"""Where the commands about session documents work: the project, its rules, and the way to its document.

Who writes goes through a server that has the folder open, so that what it writes appears there; else through a
workspace of its own. Who only looks opens neither.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.runtime import open_workspace, parse_toml, user_settings_path
from redraft.sessions.config import AgentDocConfig, parse_config
from redraft.sessions.doors import FileDoor, OwnDoor, agent_author
from redraft.sessions.project import Project, Shelf
from redraft.sessions.rules import FILE, parse_rules
from redraft.sessions.writing import Desk

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator

    from redraft.cli.command import Call
    from redraft.history.turns import Author
    from redraft.sessions.doors import Door
    from redraft.sessions.rules import Rule
    from redraft.workspace.workspace import Workspace

RULES = "components.toml"


@dataclass(frozen=True, slots=True)
class Opened:
    """A desk, with the workspace behind it."""

    desk: Desk
    workspace: Workspace


def project_of(call: Call, file: str) -> Project:
    """The project of a file that has to be there."""
    project = Project.of(file, call.folder)
    if not os.path.isfile(project.file):
        raise Refused(f"There is no file {file}.", code="not_found", path=file)
    return project


@contextmanager
def looking(call: Call, file: str) -> Generator[Desk]:
    """A desk at which nothing is written."""
    project = project_of(call, file)
    with Shelf.open(project.root) as shelf:
        yield Desk(project, shelf, FileDoor(project.file, project.folder), state="")


@contextmanager
def working(call: Call, project: Project, author: Author | None = None, *, alone: bool = False) -> Generator[Opened]:
    """A desk to write at. `alone` goes past a server that has the folder open."""
    writer = author or agent_author("agent")
    with ExitStack() as stack:
        shelf = stack.enter_context(Shelf.open(project.root))
        workspace = stack.enter_context(open_workspace(project.folder, mode="merge"))
        state = workspace.engine.state
        door: Door = OwnDoor(workspace, writer)
        if not alone and writer.is_agent:
            from redraft.cli.doc.through_server import server_door

            door = server_door(state, door) or door
        yield Opened(Desk(project, shelf, door, state, writer.name, rules=rules_of(shelf)), workspace)
        for notice in workspace.notices:
            call.screen.remark(f"note: {notice}")


def rules_of(shelf: Shelf) -> dict[str, Rule]:
    """What `components.toml` says; refused, with the reason, where it cannot be read."""
    data = shelf.read(RULES)
    return {} if data is None else parse_rules(parse_toml(data, FILE))


def config() -> AgentDocConfig:
    """The person's own settings for agents; none where they have written none."""
    path = os.path.join(os.path.dirname(os.path.dirname(user_settings_path())), "agent-doc", "config.toml")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return AgentDocConfig()
    return parse_config(parse_toml(data, path), path)


def say(call: Call, line: str, **told: Any) -> None:
    """What a command did: a line, or the same as JSON."""
    if call.screen.json:
        call.screen.emit(told)
    else:
        call.screen.line(line)


def add_file(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the session document")
