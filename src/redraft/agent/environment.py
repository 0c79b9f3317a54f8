"""What every job of one folder shares: the workspace, the store, the tools, the person's rules and memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.agent.hosted.agent_programs import AgentPrograms
from redraft.agent.memory.notes import AgentMemory
from redraft.agent.memory.permissions import PermissionRules
from redraft.history.turns import PERSON, Author

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from contextlib import AbstractContextManager

    from redraft.agent.store.agent_store import AgentStore
    from redraft.agent.store.jobs import Job
    from redraft.config import AgentLimits, Settings
    from redraft.tools.registry import Registry
    from redraft.workspace.workspace import Workspace

AUTHOR = Author("agent", "agent")


@dataclass(slots=True)
class AgentEnvironment:
    """`guard` is the lock shared by everybody who uses the workspace: one thread at a time holds it, and never while it
    waits for a model or a person. `fetch_unsaved` brings what the person's editor holds unsaved of some documents into
    the workspace; a job awaits it, without the guard, before it reads them or commits."""

    workspace: Workspace
    store: AgentStore
    registry: Registry
    guard: AbstractContextManager[Any] = field(default_factory=threading.Lock)
    author: Author = AUTHOR
    programs: AgentPrograms = field(default_factory=AgentPrograms)
    fetch_unsaved: Callable[[Job, Sequence[str]], Coroutine[Any, Any, None]] | None = None
    rules: PermissionRules = field(init=False)

    def __post_init__(self) -> None:
        self.rules = PermissionRules(self.store.state)

    def memory(self, user: str) -> AgentMemory:
        """One user's notes in this folder."""
        return AgentMemory(self.store.state, user, local=self.settings.routing.agent_mode == "local")

    def author_for(self, person: str) -> Author:
        """The agent, working for this person: in a team, turns and the audit log name them."""
        own = person == PERSON.name
        return self.author if own else Author(self.author.kind, f"{self.author.name} for {person}")

    @property
    def settings(self) -> Settings:
        return self.workspace.settings

    @property
    def limits(self) -> AgentLimits:
        return self.settings.agent
