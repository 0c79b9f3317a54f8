"""A folder that is served, and its client connections, independent of the transport.

An `Endpoint` is what all connections to one folder share: its tools, its index, its watcher. The workspace is used by
one thread at a time: to use it, hold `guard`, and release it while a person is being asked. Everything is opened
lazily, so that a server starts fast.

A transport passes every message to `receive` and runs the returned calls, in order and one at a time; notifications and
answers to our questions take effect at once, also while a call runs. A connection is one caller: what it has read is
remembered, and its proposals are collected in one review.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Self

from redraft.config import MODE_WIDTH
from redraft.errors import Refused
from redraft.files.locks import release
from redraft.history.turns import PERSON
from redraft.mcp_server.call import McpCall
from redraft.mcp_server.protocol import McpClient, as_message, as_object, envelope_of, number_of
from redraft.tools.context import CallerContexts

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from redraft.mcp_server.call import Emit, Number
    from redraft.mcp_server.protocol import Form, Message
    from redraft.mcp_server.subscriptions import ResourceWatcher, Subscriber
    from redraft.tools.context import ToolContext
    from redraft.tools.edits.rich_editor import LiveEditors
    from redraft.tools.registry import Registry
    from redraft.workspace.workspace import Workspace

# Questions that nobody came back with an answer to; the oldest are forgotten, and asked again if need be.
KEPT_QUESTIONS = 1000


class PendingQuestions:
    """What was asked and is not answered yet, in the envelope's era: by the question's name, what it was about.
    Whoever uses it holds the endpoint's guard."""

    def __init__(self) -> None:
        self._about: OrderedDict[str, str] = OrderedDict()

    def ask(self, about: str) -> str:
        key = secrets.token_hex(16)
        self._about[key] = about
        while len(self._about) > KEPT_QUESTIONS:
            self._about.popitem(last=False)
        return key

    def find_answer(self, answers: Message, about: str) -> str | None:
        """The name of the answer to this very question, if it is among those."""
        return next((key for key in answers if self._about.get(key) == about), None)

    def discard(self, keys: list[str]) -> None:
        for key in keys:
            self._about.pop(key, None)


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
        self.callers = CallerContexts(workspace, self.guard)
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
        made.callers = self.callers
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
        return self.callers.get(client.author, person) if shared else self.callers.make(client.author, person)

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


# A person may be away from the desk; a client that has given up says so long before.
PATIENCE_SECONDS = 3600.0


class _Question:
    """A request of ours that waits for its answer, on behalf of a call."""

    def __init__(self, call: McpCall) -> None:
        self.call = call
        self.over = threading.Event()
        self.answer: Message = {}


class McpConnection:
    """`emit` sends what belongs to no call: what a subscriber is to be told."""

    def __init__(self, endpoint: Endpoint, emit: Emit, user: str = "") -> None:
        self.endpoint = endpoint
        self.emit = emit
        self.client = McpClient(user=user)
        self.subscriber: Subscriber | None = None
        self.hung_up = False
        self.closed = False
        self._context: ToolContext | None = None
        self._calls: dict[Number, McpCall] = {}
        self._questions: dict[str, _Question] = {}
        self._streams: dict[Number, Subscriber] = {}
        self._asked = 0

    def receive(self, message: Any, emit: Emit | None = None) -> McpCall | None:
        """Take a message; returns the call that is to be run, if it is a request. `emit` sends what belongs to it.

        A `ProtocolError` says that it is no message at all.
        """
        found = as_message(message)
        if "method" not in found:
            self._answer(found)
        elif "id" in found:
            return self._request(found, emit or self.emit)
        elif found["method"] == "notifications/cancelled":
            self.cancel(as_object(found.get("params")).get("requestId"))
        return None

    def _request(self, message: Message, emit: Emit) -> McpCall:
        number = number_of(message)
        call = McpCall(self, number, message["method"], message.get("params"), emit)
        envelope = envelope_of(message)
        if envelope is not None:
            call.read_envelope(envelope)
        self._calls[number] = call
        return call

    def remove_call(self, call: McpCall) -> None:
        if self._calls.get(call.number) is call:
            del self._calls[call.number]

    def cancel(self, number: Any) -> None:
        """Cancel a request. It is not answered; if it waits for the person, it stops waiting."""
        if not isinstance(number, str | int):
            return
        call, stream = self._calls.get(number), self._streams.pop(number, None)
        if call is not None:
            call.cancel()
            for question in tuple(self._questions.values()):
                if question.call is call:
                    question.over.set()
        if stream is not None:
            stream.close()

    def decline(self) -> None:
        """Nobody will answer the current question."""
        for question in tuple(self._questions.values()):
            question.over.set()

    def leave(self, call: McpCall) -> None:
        """The sender of this request is gone: nobody will answer its questions. The request itself is not cancelled."""
        call.left = True
        for question in tuple(self._questions.values()):
            if question.call is call:
                question.over.set()

    def hang_up(self) -> None:
        """The client sends nothing more: no question will be answered."""
        self.hung_up = True
        self.decline()

    def close(self) -> None:
        """The client is gone: send nothing more, and expect no answers."""
        self.closed = True
        self.hang_up()
        for follower in (self.subscriber, *self._streams.values()):
            if follower is not None:
                follower.close()

    # Who is calling

    def context(self, call: McpCall) -> ToolContext:
        """Where this caller's tools work: its own, as long as the connection lasts."""
        if self._context is None or self._context.author != call.client.author:
            self._context = self.endpoint.context_of(call.client, shared=call.client.by_request)
        return self._context

    # Being told of changes

    def follow(self) -> Subscriber:
        """What this connection is told about changes, in the handshake's era."""
        if self.subscriber is None:
            self.subscriber = self.endpoint.resource_watcher().subscribe(self._tell)
        return self.subscriber

    def stream(self, call: McpCall, follower: Subscriber) -> None:
        """Keep sending updates until the request is cancelled or the connection ends."""
        self._streams[call.number] = follower
        if call.cancelled.is_set() or self.closed:  # in the meantime
            follower.close()

    def _tell(self, method: str, parameters: Message) -> None:
        if not self.closed:
            self.emit({"method": method, "params": parameters} if parameters else {"method": method})

    # Questions

    def ask_client(self, call: McpCall, parameters: Message) -> Message:
        """Ask the client a question and wait; other callers can continue. Empty if there is no answer."""
        if self.hung_up or call.left:
            return {}
        self._asked += 1
        number = f"ask-{self._asked}"
        question = self._questions[number] = _Question(call)
        try:
            call.emit({"id": number, "method": "elicitation/create", "params": parameters})
            if self.hung_up or call.left:  # in the meantime
                question.over.set()
            with release(self.endpoint.guard):  # a person is being asked
                question.over.wait(PATIENCE_SECONDS)
        finally:
            del self._questions[number]
        if not question.answer and not self.hung_up:  # called off, or waited for too long
            call.emit({"method": "notifications/cancelled", "params": {"requestId": number}})
        call.check()
        return question.answer

    def _answer(self, message: Message) -> None:
        """Handle the client's answer to our question; ignore an answer to a question that we did not ask."""
        question = self._questions.get(str(message.get("id")))
        if question is not None:
            question.answer = as_object(message.get("result")) or {"action": "cancel"}
            question.over.set()
