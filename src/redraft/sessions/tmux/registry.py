"""`.agent-doc/sessions.json`: which document is talked about in which tmux pane. Reading and writing, nothing else.

Entries that are not understood are kept as they are: the file is shared with editors' plugins.
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


def load(shelf: AgentDocFiles) -> dict[str, PaneEntry]:
    """The entries by the document's session id."""
    return {key: entry for key, value in _read_table(shelf).items() if (entry := _parse_entry(value)) is not None}


def save(shelf: AgentDocFiles, changed: dict[str, PaneEntry | None]) -> None:
    """Set these entries, or remove those that are None; all others stay as they are."""
    table = _read_table(shelf)
    for key, entry in changed.items():
        if entry is None:
            table.pop(key, None)
        else:
            said = {name.name: getattr(entry, name.name) for name in fields(PaneEntry)}
            table[key] = {name: value for name, value in said.items() if value or name != "window"}
    shelf.write(FILE, (json.dumps(table, indent=2, ensure_ascii=False) + "\n").encode())


def _read_table(shelf: AgentDocFiles) -> dict[str, Any]:
    data = shelf.read(FILE)
    if data is None:
        return {}
    try:
        found = json.loads(data)
    except ValueError as error:
        raise Damaged(f".agent-doc/{FILE} cannot be read: {error}. Fix it or remove it.") from error
    if not isinstance(found, dict):
        raise Damaged(f".agent-doc/{FILE} has the wrong format. Fix it or remove it.")
    return cast("dict[str, Any]", found)


def _parse_entry(value: object) -> PaneEntry | None:
    if not isinstance(value, dict):
        return None
    said = cast("dict[str, Any]", value)
    known = {entry.name: said[entry.name] for entry in fields(PaneEntry) if entry.name in said}
    right = all(isinstance(known[name], int if name == "pid" else str) for name in known)
    return PaneEntry(**known) if right and known.get("pane") else None


# A document's state under its new name: its snapshot and its place in the registry go along.


def move_document_state(shelf: AgentDocFiles, old: Project, new: Project) -> None:
    """Call it after the document has its new name, with nobody else writing."""
    snapshot = shelf.snapshot(old)
    if snapshot is not None:
        shelf.save_snapshot(new, snapshot)
        shelf.delete_snapshot(old)
    entries = load(shelf)
    moved = {
        session: replace(entry, file=os.path.relpath(new.file, new.root))
        for session, entry in entries.items()
        if os.path.normpath(os.path.join(old.root, entry.file)) == old.file
    }
    if moved:
        save(shelf, dict(moved))
