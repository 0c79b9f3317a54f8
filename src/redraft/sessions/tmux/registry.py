"""`.agent-doc/sessions.json`: which document belongs to which tmux pane. Reading and writing, nothing else.

Unknown entries are preserved: the file is shared with editor plugins.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Damaged

if TYPE_CHECKING:
    from redraft.sessions.project import AgentDocFiles, Project

FILE = "sessions.json"


@dataclass(frozen=True, slots=True)
class PaneEntry:
    """One document's pane. Several documents may share one."""

    pane: str
    pid: int = 0
    cwd: str = ""
    started: str = ""
    file: str = ""
    window: str = ""


def load(agent_files: AgentDocFiles) -> dict[str, PaneEntry]:
    """The entries by the document's session id."""
    return {key: entry for key, value in _read_table(agent_files).items() if (entry := _parse_entry(value)) is not None}


def save(agent_files: AgentDocFiles, changed: dict[str, PaneEntry | None]) -> None:
    """Set these entries, or remove those that are None; all others stay as they are."""
    table = _read_table(agent_files)
    for key, entry in changed.items():
        if entry is None:
            table.pop(key, None)
        else:
            values = {name.name: getattr(entry, name.name) for name in fields(PaneEntry)}
            table[key] = {name: value for name, value in values.items() if value or name != "window"}
    agent_files.write(FILE, (json.dumps(table, indent=2, ensure_ascii=False) + "\n").encode())


def _read_table(agent_files: AgentDocFiles) -> dict[str, Any]:
    data = agent_files.read(FILE)
    if data is None:
        return {}
    try:
        found = json.loads(data)
    except ValueError as error:
        raise Damaged(f"{agent_files.shown(FILE)} cannot be read: {error}. Fix it or remove it.") from error
    if not isinstance(found, dict):
        raise Damaged(f"{agent_files.shown(FILE)} has the wrong format. Fix it or remove it.")
    return cast("dict[str, Any]", found)


def _parse_entry(value: object) -> PaneEntry | None:
    if not isinstance(value, dict):
        return None
    table = cast("dict[str, Any]", value)
    known = {entry.name: table[entry.name] for entry in fields(PaneEntry) if entry.name in table}
    right = all(isinstance(known[name], int if name == "pid" else str) for name in known)
    return PaneEntry(**known) if right and known.get("pane") else None


# Renaming a document: its snapshot and its registry entry move along.


def move_document_state(agent_files: AgentDocFiles, old: Project, new: Project) -> None:
    """Call this after the document has its new name, with nobody else writing."""
    snapshot = agent_files.snapshot(old)
    if snapshot is not None:
        agent_files.save_snapshot(new, snapshot)
        agent_files.delete_snapshot(old)
    entries = load(agent_files)
    moved = {
        session: replace(entry, file=os.path.relpath(new.file, new.root))
        for session, entry in entries.items()
        if os.path.normpath(os.path.join(old.root, entry.file)) == old.file
    }
    if moved:
        save(agent_files, dict(moved))
