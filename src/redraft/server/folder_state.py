"""One served folder: the workspace and everything that uses it, under one guard.

The workspace is used by one thread at a time. Its database has a lock of its own, but the texts that it keeps at hand,
the drafts, and the memory of a tool's caller have none: two threads at once could lose an entry or see half a change.
So every user of the workspace holds `guard`: routes, the agent's jobs, MCP; nobody holds it while waiting for a model
or a person. Routes run in a few threads, and only a limited number may wait for one. Live typing reaches the workspace
through a separate thread, because all the others may be waiting for it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from redraft.errors import Busy, Refused
from redraft.mcp_server import Endpoint
from redraft.runtime import folder_settings, models, open_agent, user_settings
from redraft.server.change_feed import ChangeFeed, ChangeWatcher
from redraft.server.event_streams import EventStreams
from redraft.server.idempotency import IdempotencyStore
from redraft.server.live.rooms import Rooms
from redraft.tools.registry import load_registry
from redraft.workspace.turns.modes import mode_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from types import TracebackType

    from redraft.agent.agent import Agent
    from redraft.agent.model_selection import Models
    from redraft.agent.subagents.long_documents import LongDocuments
    from redraft.config import Limits
    from redraft.history.turns import Author
    from redraft.server.auth.callers import Caller
    from redraft.tools.context import ToolContext
    from redraft.tools.registry import Registry
    from redraft.workspace.turns.modes import Mode
    from redraft.workspace.workspace import Workspace

# The guard of a served folder: one user of the workspace at a time, after all earlier typing has reached it.
#
# Readers, above all agents, must see what is on the person's screen: what a room has received becomes typing before the
# guard is handed out. The code that delivers this typing takes the lock with `at_once`, because it would wait for
# itself here. Never wait for it on the event loop, which does the delivering.


class Guard(AbstractContextManager[None]):
    """A lock; `settle` waits until all typing has reached the workspace, and may time out."""

    def __init__(self) -> None:
        self.at_once = threading.Lock()
        self.settle: Callable[[], None] | None = None

    def __enter__(self) -> None:
        if self.settle is not None:
            self.settle()
        self.at_once.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.at_once.release()


T = TypeVar("T")
# The guard lets one at a time at the workspace; the others are for the agent's store and for answers that are kept.
THREADS = 8
# What takes long without the guard, such as a search by meaning, has threads of its own: others never wait for one.
LONG_THREADS = 4
MAX_LONG = 64
MAX_WAITING = 4096


def _finish(act: Callable[..., T], *arguments: Any) -> T:
    """Run a function that somebody awaits. A `StopIteration` would never reach the awaiter."""
    try:
        return act(*arguments)
    except StopIteration as error:
        raise RuntimeError("something was looked for and not found") from error


class LongThreads:
    """A few threads for work that takes seconds, and a limit on how much of it waits."""

    def __init__(self, name: str, busy: str) -> None:
        self.threads = ThreadPoolExecutor(LONG_THREADS, name)
        self._busy = busy
        self._waiting = 0

    async def __call__(self, act: Callable[[], T]) -> T:
        if self._waiting >= MAX_LONG:
            raise Busy(self._busy)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, _finish, act)
        finally:
            self._waiting -= 1


class FolderState:
    """Close it before the workspace; used as a context manager it closes itself."""

    def __init__(self, workspace: Workspace, *, tools: Registry | None = None) -> None:
        self.workspace = workspace
        self.tools = tools or load_registry()
        self.guard = Guard()
        self.state = workspace.state
        self._threads = ThreadPoolExecutor(THREADS, "redraft-server")
        self._long = LongThreads("redraft-long", "Too many searches are waiting; try again in a moment.")
        self._rich = LongThreads("redraft-rich", "Too many rich-text conversions are waiting; try again in a moment.")
        self._typing = ThreadPoolExecutor(1, "redraft-live")
        self._waiting = 0
        self._opened = ExitStack()
        self.confirmed: set[str] = set()  # the secrets that the owner agreed to be shown, while they are open
        self.answers = IdempotencyStore(self.state)
        self._opened.callback(self.answers.close)
        self.endpoint = self._opened.enter_context(Endpoint(workspace, self.tools, guard=self.guard))
        self.agent: Agent = self._opened.enter_context(open_agent(workspace, guard=self.guard))
        self.streams = EventStreams(self.agent.masked_events, self.run_aside)
        self._opened.callback(self.streams.close)
        self.live = Rooms(workspace, self._run_typing, lambda: self.agent.store.leases.held)
        self._opened.callback(self.live.close)
        self.guard.settle = self.live.settle
        self.editors = self.endpoint.editors = self.live.editors(self.guard, most=THREADS // 2)
        self.changes = ChangeFeed()
        self.change_streams = EventStreams(self.changes, self.run_aside)
        self._opened.callback(self.change_streams.close)
        self.watching = ChangeWatcher(
            workspace, self.guard, self.agent, self.changes, self.live, self.endpoint.resource_watcher
        )
        self._opened.callback(self.watching.close)
        self._threads.submit(self.watching.start)  # what other programs write is a turn, whether anybody looks or not
        self._ceiling = mode_by_name(folder_settings(workspace.folder, replace(user_settings(), mode="merge"))[0].mode)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for threads in (self._threads, self._long.threads, self._rich.threads, self._typing):
            threads.shutdown(wait=True, cancel_futures=True)
        self._opened.close()

    # Working aside

    async def run_aside(self, act: Callable[..., T], *arguments: Any) -> T:
        """Run something slow in another thread; `Busy` if too many are already waiting."""
        if self._waiting >= MAX_WAITING:
            raise Busy("Too many requests are waiting; try again in a moment.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, _finish, act, *arguments)
        finally:
            self._waiting -= 1

    async def run_long(self, act: Callable[[], T]) -> T:
        """Run something that may take seconds, without the guard; `Busy` if too much of it is waiting."""
        return await self._long(act)

    async def rich(self, act: Callable[[], T]) -> T:
        """The same for rich text, which must not wait for searches."""
        return await self._rich(act)

    async def with_workspace(self, act: Callable[[Workspace], T], *, slow: bool = False) -> T:
        """Run something with exclusive use of the workspace, after all typing has reached it. `slow` work releases the
        guard where it takes long."""
        if self.live.waiting:
            await self.live.flush()
        return await (self.run_long if slow else self.run_aside)(lambda: self._run_guarded(act))

    async def _run_typing(self, act: Callable[[Workspace], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._typing, _finish, self._run_guarded, act)

    def _run_guarded(self, act: Callable[[Workspace], T]) -> T:
        with self.guard.at_once:
            return act(self.workspace)

    # For those who hold the guard

    def find_worker(self, document: str) -> LongDocuments | None:
        """The worker for whole-document calls, within the budget of one job; None without a model."""
        from redraft.agent.run.budget import JobBudget
        from redraft.agent.subagents.long_documents import make_for_call

        settings = self.workspace.settings
        provider = self.models.provider("", lambda _choice: None)
        budget = JobBudget.of(settings.agent, {})
        return make_for_call(self.agent.store, settings.limits, provider, document, self.guard, budget)

    def context_of(self, caller: Caller, author: Author) -> ToolContext:
        """Where a caller's tools work; it remembers what they have read."""
        return self.endpoint.callers.get(author, caller.name)

    def mode(self, wanted: str | None) -> Mode | None:
        """The requested mode, as far as the folder's settings allow; None for the settings' mode."""
        if wanted is None:
            return None
        mode = mode_by_name(wanted)
        return mode if mode == self._ceiling else mode.narrow(self._ceiling)

    @property
    def models(self) -> Models:
        """The person's models as they are now, as far as the folder's settings allow them."""
        return models(self.workspace.folder)

    @property
    def folder_name(self) -> str:
        return os.path.basename(os.path.realpath(self.workspace.folder)) or "/"


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What one request works with."""

    served: FolderState
    caller: Caller

    @property
    def author(self) -> Author:
        return self.caller.author

    async def work(self, act: Callable[[Workspace], T], *, slow: bool = False) -> T:
        return await self.served.with_workspace(act, slow=slow)

    async def run_aside(self, act: Callable[..., T], *arguments: Any) -> T:
        return await self.served.run_aside(act, *arguments)

    @property
    def confirmed(self) -> Container[str]:
        """The secrets that may be shown to this caller: those that they confirmed, if they are the owner at this
        machine."""
        return self.served.confirmed if self.caller.at_home else ()

    async def run_long(self, act: Callable[[], T]) -> T:
        return await self.served.run_long(act)

    @property
    def limits(self) -> Limits:
        return self.served.workspace.settings.limits

    def context(self) -> ToolContext:
        """Where the person's own reads work, for one request. For those who hold the guard."""
        return self.served.context_of(self.caller, self.author).copy_for_call()

    def need(self, role: Any) -> None:
        if not self.caller.may(role):
            raise Refused(f"This needs the role {role}; {self.caller.name} is {self.caller.role}.", code="not_allowed")
