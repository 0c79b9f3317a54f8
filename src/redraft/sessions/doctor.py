"""Problems in a project's `.agent-doc`, and how to fix them. Only looks, and changes nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import RedraftError
from redraft.formats.components import components
from redraft.sessions.document_store import FileStore
from redraft.sessions.project import ANSWERS, PATCHES
from redraft.sessions.session_fields import session_fields
from redraft.sessions.tmux import registry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from redraft.sessions.project import AgentDocFiles
    from redraft.sessions.tmux.registry import PaneEntry


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, where it is, and what to do about it."""

    place: str
    what: str
    advice: str


def examine(agent_files: AgentDocFiles, root: str, live: Collection[str] | None) -> list[Finding]:
    """All findings; `live` are the living panes, None if unknown."""
    found = [*_find_undelivered_answers(agent_files)]
    try:
        entries = registry.load(agent_files)
    except RedraftError as error:
        return [*found, Finding(agent_files.shown(registry.FILE), error.message, "Fix it or remove it.")]
    for session, entry in entries.items():
        found += _entry_findings(session, entry, root, live)
    return found


def document_findings(file: str, shown: str) -> Iterator[Finding]:
    """What prevents a conversation in one document."""
    try:
        text = FileStore(file).read("").text
        session_fields(text)
        components(text)
    except RedraftError as error:
        yield Finding(shown, error.message, "Fix the document.")


def _find_undelivered_answers(agent_files: AgentDocFiles) -> Iterator[Finding]:
    for name in agent_files.names(ANSWERS):
        place = agent_files.shown(f"{ANSWERS}/{name}")
        yield Finding(place, "This answer never reached its document.", "Send it to `agent-doc write`, or remove it.")
    for name in agent_files.names(PATCHES):
        place = agent_files.shown(f"{PATCHES}/{name}")
        yield Finding(place, "No editor took this answer.", "Open the document in the editor, or remove it.")


def _entry_findings(session: str, entry: PaneEntry, root: str, live: Collection[str] | None) -> Iterator[Finding]:
    file = os.path.join(root, entry.file)
    shown = os.path.relpath(file) if entry.file else session
    if live is not None and entry.pane not in live:
        yield Finding(shown, f"Its pane {entry.pane} is gone.", "Run `agent-doc resync`.")
    if not os.path.isfile(file):
        yield Finding(shown, "It is registered but does not exist.", "Claim it under its new name.")
        return
    wrong = list(document_findings(file, shown))
    yield from wrong
    if not wrong and session_fields(FileStore(file).read("").text).session != session:
        yield Finding(shown, f"It is registered as {session} but has another id.", "Claim it again.")
