"""What all connections to one folder share: its tools, its index, its watcher.

The workspace is used by one thread at a time: to use it, hold `guard`, and release it while a person is being asked.
Everything is opened lazily, so that a server starts fast.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from redraft.config import MODE_WIDTH
from redraft.errors import Refused
from redraft.history.turns import PERSON
from redraft.mcp_server.elicitation import PendingQuestions
from redraft.tools.context import CallerContexts

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from redraft.mcp_server.call import McpCall
    from redraft.mcp_server.protocol import Form, McpClient
    from redraft.mcp_server.subscriptions import ResourceWatcher
    from redraft.tools.context import ToolContext
    from redraft.tools.edits.rich_editor import LiveEditors
    from redraft.tools.registry import Registry
    from redraft.workspace.workspace import Workspace

# Callers without a connection of their own, known by name: what each has read is remembered for so many.


class Endpoint:
    """One folder, served. Close it before the workspace; used as a context manager it closes itself.

    `form` says how answers are written, whatever the client; `guard` is the lock of whoever shares the workspace;
    `most` is the widest mode for these clients, where the workspace's own is wider; `editors` are the rich editors that
    are open in browsers, where there are any.
    """

    def __init__(
        self,
        workspace: Workspace,
        tools: Registry,
        *,
        form: Form | None = None,
        guard: AbstractContextManager[Any] | None = None,
        most: str | None = None,
    ) -> None:
        if not tools.tools:
            raise Refused("This profile has no tools.", field="profile")
        self.workspace = workspace
        self.tools = tools
        self.form: Form | None = form
        self.guard: AbstractContextManager[Any] = guard or threading.Lock()
        self.questions = PendingQuestions()
        self.most = most
        self.editors: LiveEditors | None = None
        self._whole: Endpoint | None = None
        self._callers = CallerContexts(workspace, self.guard)
        self._watcher: ResourceWatcher | None = None
        self._opening = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def narrow(self, tools: Registry, *, form: Form | None, most: str | None) -> Endpoint:
        """The same folder, for clients that ask for other tools or answers, or a stricter mode."""
        made = Endpoint(self.workspace, tools, form=form, guard=self.guard, most=most)
        made._whole = self
        made.questions = self.questions
        made.editors = self.editors
        return made

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.close()

    def form_for(self, client: McpClient) -> Form:
        return client.reads if self.form is None else self.form

    @property
    def mode(self) -> str | None:
        """The mode for calls; None for that of the workspace, which may change at any time."""
        holds = self.workspace.settings.mode
        return self.most if self.most is not None and MODE_WIDTH[self.most] < MODE_WIDTH[holds] else None

    def context_of(self, client: McpClient, *, shared: bool) -> ToolContext:
        """Where a caller's tools work. A `shared` one is that of all callers of this name: it is better to remember
        what one of them has read than nothing at all."""
        person = client.user or PERSON.name
        return self._callers.get(client.author, person) if shared else self._callers.make(client.author, person)

    def report_index_progress(self, call: McpCall) -> None:
        """Report indexing progress to this call while it searches."""
        from redraft.search.index import Index

        Index.of(self.workspace).progress = lambda done, total: call.progress(done, total, "files indexed")

    def resource_watcher(self) -> ResourceWatcher:
        """The folder's watcher, started on first use."""
        from redraft.mcp_server.subscriptions import ResourceWatcher

        if self._whole is not None:
            return self._whole.resource_watcher()
        with self._opening:
            if self._watcher is None:
                self._watcher = ResourceWatcher(self.workspace, self.guard)
            return self._watcher
