"""What the session-document commands share: the project, its rules, and access to its document.

A command that writes goes through the folder's server if one is running, so that its changes appear there; otherwise it
opens a workspace. A command that only reads opens neither.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.runtime import open_workspace, parse_toml, user_settings_path
from redraft.sessions.agent_config import AgentDocConfig, parse_config
from redraft.sessions.answers.writer import SessionContext
from redraft.sessions.component_rules import FILE, parse_rules
from redraft.sessions.document_store import FileStore, WorkspaceStore, agent_author, wait_until_saved
from redraft.sessions.project import AgentDocFiles, Project

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator

    from redraft.cli.command import Invocation
    from redraft.history.turns import Author
    from redraft.sessions.component_rules import ComponentRule
    from redraft.sessions.document_store import DocumentStore
    from redraft.workspace.workspace import Workspace

RULES = "components.toml"


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A desk, with the workspace behind it."""

    context: SessionContext
    workspace: Workspace


def find_project(call: Invocation, file: str) -> Project:
    """The project of a file that has to be there."""
    project = Project.of(file, call.folder)
    if not os.path.isfile(project.file):
        raise Refused(f"There is no file {file}.", code="not_found", path=file)
    wait_until_saved(project.file)
    return project


@contextmanager
def open_for_reading(call: Invocation, file: str) -> Generator[SessionContext]:
    """A desk at which nothing is written."""
    project = find_project(call, file)
    with AgentDocFiles.open(project.root) as agent_files:
        yield SessionContext(project, agent_files, FileStore(project.file, project.folder), state="")


@contextmanager
def open_for_writing(
    call: Invocation, project: Project, author: Author | None = None, *, alone: bool = False
) -> Generator[OpenedDocument]:
    """A desk to write at. `alone` goes past a server that has the folder open."""
    writer = author or agent_author("agent")
    with ExitStack() as stack:
        agent_files = stack.enter_context(AgentDocFiles.open(project.root))
        workspace = stack.enter_context(open_workspace(project.folder, mode="merge"))
        state = workspace.state
        store: DocumentStore = WorkspaceStore(workspace, writer)
        if not alone and writer.is_agent:
            from redraft.cli.doc.server_store import find_server_store

            store = find_server_store(state, store) or store
        yield OpenedDocument(
            SessionContext(project, agent_files, store, state, writer.name, rules=read_rules(agent_files, project)),
            workspace,
        )
        for notice in workspace.notices:
            call.screen.remark(f"note: {notice}")


def read_rules(agent_files: AgentDocFiles, project: Project) -> dict[str, ComponentRule]:
    """What `components.toml` says; refused, with the reason, where it cannot be read."""
    data = agent_files.read(RULES)
    source = project.shown(FILE)
    return {} if data is None else parse_rules(parse_toml(data, source), source)


def read_config() -> AgentDocConfig:
    """The person's own settings for agents; none where they have written none."""
    path = os.path.join(os.path.dirname(os.path.dirname(user_settings_path())), "agent-doc", "config.toml")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return AgentDocConfig()
    return parse_config(parse_toml(data, path), path)


def say(call: Invocation, line: str, **told: Any) -> None:
    """What a command did: a line, or the same as JSON."""
    if call.screen.json:
        call.screen.emit(told)
    else:
        call.screen.line(line)


def add_file(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the session document")
