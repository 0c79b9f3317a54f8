"""Everything the assistant can do, in the order in which it is shown; of two that fit equally, the first wins."""

from __future__ import annotations

from redraft.agent.offline import (
    contents,
    creating,
    inserting,
    moving,
    naming,
    organising,
    past,
    renaming,
    searching,
    styling,
    summarising,
    todos,
)
from redraft.agent.offline.helping import helping

ABLE = (
    searching.INTENT,
    summarising.INTENT,
    renaming.INTENT,
    inserting.SECTION,
    inserting.TEXT,
    todos.INTENT,
    contents.INTENT,
    naming.INTENT,
    styling.INTENT,
    organising.INTENT,
    creating.INTENT,
    moving.MOVE,
    moving.DELETE,
    past.UNDO,
    past.CHANGES,
    past.LIST,
)
INTENTS = (*ABLE, helping(ABLE))
