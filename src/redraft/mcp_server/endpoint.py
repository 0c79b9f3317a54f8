"""What all connections to one folder share: its tools, its index, the eye kept on its changes.

The workspace is used by one thread at a time: whoever needs it holds `guard`, and lets go while a person is being
asked. Nothing is opened before it is needed, so that a server is ready at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self

from redraft.config import MODE_WIDTH
from redraft.errors import Refused
from redraft.mcp_server.asking import Questions
from redraft.tools.context import ToolContext

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from redraft.mcp_server.call import Call
    from redraft.mcp_server.client import Client, Form
    from redraft.mcp_server.following import Following
    from redraft.search.index import Index
    from redraft.tools.live import LiveEditors
    from redraft.tools.registry import Registry
    from redraft.workspace.workspace import Workspace

# Callers without a connection of their own, known by name: what each has read is remembered for so many.
REMEMBERED_CALLERS = 64


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
        self.questions = Questions()
        self.most = most
        self.editors: LiveEditors | None = None
        self._whole: Endpoint | None = None
        self._callers: OrderedDict[str, ToolContext] = OrderedDict()
        self._index: Index | None = None
        self._searching: Call | None = None
        self._following: Following | None = None
        self._opening = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def narrowed(self, tools: Registry, *, form: Form | None, most: str | None) -> Endpoint:
        """The same folder, for clients that ask for other tools or answers, or a narrower mode."""
        made = Endpoint(self.workspace, tools, form=form, guard=self.guard, most=most)
        made._whole = self
        made.questions = self.questions
        made.editors = self.editors
        return made

    def close(self) -> None:
        if self._following is not None:
            self._following.close()
        if self._index is not None:
            self._index.close()

    def form_for(self, client: Client) -> Form:
        return client.reads if self.form is None else self.form

    @property
    def mode(self) -> str | None:
        """The mode for calls; None for that of the workspace, which may change at any time."""
        holds = self.workspace.engine.settings.mode
        return self.most if self.most is not None and MODE_WIDTH[self.most] < MODE_WIDTH[holds] else None

    def context_of(self, client: Client, *, shared: bool) -> ToolContext:
        """Where a caller's tools work. A `shared` one is that of all callers of this name: it is better to remember
        what one of them has read than nothing at all."""
        if not shared:
            return ToolContext(self.workspace, client.author)
        with self._opening:
            author = client.author
            found = self._callers.pop(author.name, None) or ToolContext(self.workspace, author)
            self._callers[author.name] = found
            while len(self._callers) > REMEMBERED_CALLERS:
                self._callers.popitem(last=False)
            return found

    def index_for(self, call: Call) -> Index:
        """The folder's index. The first search starts to build it and does not wait: it reads the files themselves, and
        is told meanwhile how far the index has come."""
        from redraft.search.index import Index

        if self._whole is not None:
            return self._whole.index_for(call)
        self._searching = call
        if self._index is None:
            self._index = Index.open(self.workspace)
            self._index.start(self._indexed)
        return self._index

    def _indexed(self, done: int, total: int) -> None:
        call = self._searching
        if call is not None:
            call.progress(done, total, "files indexed")

    def following(self) -> Following:
        """The eye kept on the folder, from now on."""
        from redraft.mcp_server.following import Following

        if self._whole is not None:
            return self._whole.following()
        with self._opening:
            if self._following is None:
                self._following = Following(self.workspace, self.guard)
            return self._following
