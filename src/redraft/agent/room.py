"""What every job of one folder shares: the workspace, the store, the tools, the person's rules and memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.memory import Memory
from redraft.agent.rules import Rules
from redraft.history.turns import Author

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from redraft.agent.store import AgentStore
    from redraft.config import AgentLimits, Settings
    from redraft.search.index import Index
    from redraft.tools.registry import Registry
    from redraft.workspace.workspace import Workspace

AUTHOR = Author("agent", "agent")


@dataclass(slots=True)
class Room:
    """`guard` is the lock of whoever shares the workspace: it is used by one thread at a time, and never while a model
    or a person is waited for."""

    workspace: Workspace
    store: AgentStore
    registry: Registry
    guard: AbstractContextManager[Any] = field(default_factory=threading.Lock)
    index: Callable[[], Index | None] = lambda: None
    author: Author = AUTHOR
    rules: Rules = field(init=False)
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.rules = Rules(self.store.state)
        self.memory = Memory(self.store.state)

    @property
    def settings(self) -> Settings:
        return self.workspace.engine.settings

    @property
    def limits(self) -> AgentLimits:
        return self.settings.agent
