"""One client connection, independent of the transport.

A transport passes every message to `receive` and runs the returned calls, in order and one at a time; notifications and
answers to our questions take effect at once, also while a call runs. A connection is one caller: what it has read is
remembered, and its proposals are collected in one review.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from redraft.files.locks import release
from redraft.mcp_server.call import McpCall
from redraft.mcp_server.protocol import McpClient, as_message, as_object, envelope_of, number_of

if TYPE_CHECKING:
    from redraft.mcp_server.call import Emit, Number
    from redraft.mcp_server.endpoint import Endpoint
    from redraft.mcp_server.protocol import Message
    from redraft.mcp_server.subscriptions import Subscriber
    from redraft.tools.context import ToolContext

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
