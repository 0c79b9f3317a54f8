"""`.agent-doc/sessions.json`: which document is talked about in which tmux pane. Reading and writing, nothing else.

Entries that are not understood are kept as they are: the file is shared with editors' plugins.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Damaged

if TYPE_CHECKING:
    from redraft.sessions.project import Shelf

FILE = "sessions.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One document's pane. Several documents may share one."""

    pane: str
    pid: int = 0
    cwd: str = ""
    started: str = ""
    file: str = ""
    window: str = ""


def load(shelf: Shelf) -> dict[str, Entry]:
    """The entries by the document's session id."""
    return {key: entry for key, value in _table(shelf).items() if (entry := _entry(value)) is not None}


def save(shelf: Shelf, changed: dict[str, Entry | None]) -> None:
    """Set these entries, or remove those that are None; all others stay as they are."""
    table = _table(shelf)
    for key, entry in changed.items():
        if entry is None:
            table.pop(key, None)
        else:
            said = {name.name: getattr(entry, name.name) for name in fields(Entry)}
            table[key] = {name: value for name, value in said.items() if value or name != "window"}
    shelf.write(FILE, (json.dumps(table, indent=2, ensure_ascii=False) + "\n").encode())


def _table(shelf: Shelf) -> dict[str, Any]:
    data = shelf.read(FILE)
    if data is None:
        return {}
    try:
        found = json.loads(data)
    except ValueError as error:
        raise Damaged(f".agent-doc/{FILE} cannot be read: {error}. Correct it, or remove it.") from error
    if not isinstance(found, dict):
        raise Damaged(f".agent-doc/{FILE} holds something else. Correct it, or remove it.")
    return cast("dict[str, Any]", found)


def _entry(value: object) -> Entry | None:
    if not isinstance(value, dict):
        return None
    said = cast("dict[str, Any]", value)
    known = {entry.name: said[entry.name] for entry in fields(Entry) if entry.name in said}
    right = all(isinstance(known[name], int if name == "pid" else str) for name in known)
    return Entry(**known) if right and known.get("pane") else None
