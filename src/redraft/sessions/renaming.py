"""A document's state under its new name: its snapshot and its place in the registry go along."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from redraft.sessions import registry

if TYPE_CHECKING:
    from redraft.sessions.project import Project, Shelf


def carry_over(shelf: Shelf, old: Project, new: Project) -> None:
    """Call it after the document has its new name, with nobody else writing."""
    snapshot = shelf.snapshot(old)
    if snapshot is not None:
        shelf.save_snapshot(new, snapshot)
        shelf.delete_snapshot(old)
    entries = registry.load(shelf)
    moved = {
        session: replace(entry, file=os.path.relpath(new.file, new.root))
        for session, entry in entries.items()
        if os.path.normpath(os.path.join(old.root, entry.file)) == old.file
    }
    if moved:
        registry.save(shelf, dict(moved))
