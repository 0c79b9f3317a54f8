"""One folder as it is served: the workspace and all that uses it, under one guard.

The workspace is used by one thread at a time. Its database has a lock of its own, but the texts that it keeps at hand,
the drafts, and the memory of a tool's caller have none: two threads at once could lose an entry or see half a change.
So whoever touches the workspace holds `guard`: routes here, the agent's jobs, MCP; nobody holds it while a model or a
person is waited for. Routes work in a few threads of their own, and only so many may wait for one. What is typed live
comes to the workspace by one more thread: the others may all be waiting for just that.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from redraft.errors import Busy, Refused
from redraft.mcp_server import Endpoint
from redraft.runtime import folder_settings, models, open_agent, user_settings
from redraft.server.changes import Changes
from redraft.server.guarding import Guard
from redraft.server.live.rooms import Rooms
from redraft.server.repeating import Answers
from redraft.server.streams import Streams
from redraft.server.watching import Watching
from redraft.tools.catalogue import registry
from redraft.tools.context import ToolContext
from redraft.workspace.modes import mode_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from redraft.agent.agent import Agent
    from redraft.agent.choosing import Models
    from redraft.agent.long.documents import LongDocuments
    from redraft.history.turns import Author
    from redraft.search.index import Index
    from redraft.server.callers import Caller
    from redraft.tools.registry import Registry
    from redraft.workspace.modes import Mode
    from redraft.workspace.workspace import Workspace

T = TypeVar("T")
# The guard lets one at a time at the workspace; the others are for the agent's store and for answers that are kept.
THREADS = 8
MAX_WAITING = 4096
REMEMBERED_CALLERS = 64


class Served:
    """Close it before the workspace; used as a context manager it closes itself."""

    def __init__(self, workspace: Workspace, *, tools: Registry | None = None) -> None:
        self.workspace = workspace
        self.tools = tools or registry()
        self.guard = Guard()
        self.state = workspace.engine.state
        self._threads = ThreadPoolExecutor(THREADS, "redraft-server")
        self._typing = ThreadPoolExecutor(1, "redraft-live")
        self._waiting = 0
        self._contexts: OrderedDict[tuple[str, str, str], ToolContext] = OrderedDict()
        self._index: Index | None = None
        self._opened = ExitStack()
        self.answers = Answers(self.state)
        self._opened.callback(self.answers.close)
        self.endpoint = self._opened.enter_context(Endpoint(workspace, self.tools, guard=self.guard))
        self.agent: Agent = self._opened.enter_context(open_agent(workspace, guard=self.guard))
        self.streams = Streams(self.agent.store.events, self.aside)
        self._opened.callback(self.streams.close)
        self.live = Rooms(workspace, self._typed, lambda: self.agent.store.leases.held)
        self._opened.callback(self.live.close)
        self.guard.settle = self.live.settle
        self.editors = self.endpoint.editors = self.live.editors(self.guard, most=THREADS // 2)
        self.changes = Changes()
        self.change_streams = Streams(self.changes, self.aside)
        self._opened.callback(self.change_streams.close)
        self.watching = Watching(workspace, self.guard, self.agent, self.changes, self.live, self.endpoint.following)
        self._opened.callback(self.watching.close)
        self._ceiling = mode_named(folder_settings(workspace.folder, replace(user_settings(), mode="merge"))[0].mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for threads in (self._threads, self._typing):
            threads.shutdown(wait=True, cancel_futures=True)
        if self._index is not None:
            self._index.close()
        self._opened.close()

    # Working aside

    async def aside(self, act: Callable[..., T], *arguments: Any) -> T:
        """Do something that takes a while in another thread; `Busy` where too many wait for one already."""
        if self._waiting >= MAX_WAITING:
            raise Busy("Too many requests wait here; try again in a moment.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, act, *arguments)
        finally:
            self._waiting -= 1

    async def with_workspace(self, act: Callable[[Workspace], T]) -> T:
        """Do something with the workspace, which nobody else uses meanwhile, and which has heard of all typing."""
        if self.live.waiting:
            await self.live.flush()
        return await self.aside(lambda: self._at_once(act))

    async def _typed(self, act: Callable[[Workspace], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._typing, self._at_once, act)

    def _at_once(self, act: Callable[[Workspace], T]) -> T:
        with self.guard.at_once:
            return act(self.workspace)

    # For those who hold the guard

    def index(self) -> Index:
        """The folder's index. The first search starts to build it and does not wait."""
        from redraft.search.index import Index

        if self._index is None:
            self._index = Index.open(self.workspace)
            self._index.start()
        return self._index

    def long_work(self, document: str) -> LongDocuments | None:
        """Whoever works on a whole document for one call, within what one job may spend; None without a model."""
        from redraft.agent.budget import Budget
        from redraft.agent.choosing import Models
        from redraft.agent.long.wiring import for_call

        settings = self.workspace.engine.settings
        # The person's environment, and the settings as the folder narrows them: it may keep its documents here.
        provider = Models.of(settings, self.models.environ).provider("", lambda _choice: None)
        budget = Budget.of(settings.agent, {})
        return for_call(self.agent.store, settings.limits, provider, document, self.guard, budget)

    def context_of(self, caller: Caller, author: Author) -> ToolContext:
        """Where a caller's tools work; it remembers what they have read."""
        key = (caller.name, author.kind, author.name)
        found = self._contexts.pop(key, None) or ToolContext(self.workspace, author)
        self._contexts[key] = found
        while len(self._contexts) > REMEMBERED_CALLERS:
            self._contexts.popitem(last=False)
        return found

    def mode(self, wanted: str | None) -> Mode | None:
        """The mode that is wished for, as far as the folder's settings allow; None for that of the settings."""
        if wanted is None:
            return None
        mode = mode_named(wanted)
        return mode if mode == self._ceiling else mode.narrowed(self._ceiling)

    @property
    def models(self) -> Models:
        return models()

    @property
    def folder_name(self) -> str:
        return os.path.basename(os.path.realpath(self.workspace.folder)) or "/"


@dataclass(frozen=True, slots=True)
class Desk:
    """What one request works with."""

    served: Served
    caller: Caller

    @property
    def author(self) -> Author:
        return self.caller.author

    async def work(self, act: Callable[[Workspace], T]) -> T:
        return await self.served.with_workspace(act)

    async def aside(self, act: Callable[..., T], *arguments: Any) -> T:
        return await self.served.aside(act, *arguments)

    def context(self) -> ToolContext:
        """Where the person's own reads work. For those who hold the guard."""
        return self.served.context_of(self.caller, self.author)

    def need(self, role: Any) -> None:
        if not self.caller.may(role):
            raise Refused(f"This needs the role {role}; {self.caller.name} is {self.caller.role}.", code="not_allowed")
