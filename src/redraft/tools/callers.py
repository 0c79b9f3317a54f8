"""The contexts of everybody who calls tools in a folder; each remembers what its caller has read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from redraft.tools.context import ToolContext

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from redraft.history.turns import Author
    from redraft.workspace.workspace import Workspace

MAX_CALLERS = 64


class CallerContexts:
    """By author and the person they work for; the most recent callers are kept. Safe to use from several threads."""

    def __init__(self, workspace: Workspace, guard: AbstractContextManager[Any]) -> None:
        self._workspace = workspace
        self._guard = guard
        self._contexts: OrderedDict[tuple[str, str, str], ToolContext] = OrderedDict()
        self._lock = threading.Lock()

    def make(self, author: Author, person: str) -> ToolContext:
        """A new context that is not shared."""
        return ToolContext(self._workspace, author, person=person, guard=self._guard)

    def get(self, author: Author, person: str) -> ToolContext:
        """The context of all calls by this author for this person."""
        key = (person, author.kind, author.name)
        with self._lock:
            found = self._contexts.pop(key, None) or self.make(author, person)
            self._contexts[key] = found
            while len(self._contexts) > MAX_CALLERS:
                self._contexts.popitem(last=False)
            return found
