"""One request while it is being answered: progress, result and cancellation.

A call is run by one thread and may be cancelled by another. It ends in exactly one answer or, if cancelled, in none; no
progress is sent after that. Cancellation is checked where nothing is half done: before a call starts, between the calls
of a batch, while the person is being asked. What was done by then is a whole turn or nothing.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

from redraft.mcp_server.protocol import (
    BAD_PARAMETERS,
    INTERNAL,
    KEPT_BY_NOBODY,
    NO_METHOD,
    SERVER,
    SERVER_KEY,
    McpClient,
    ProtocolError,
    as_object,
)
from redraft.tools.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redraft.mcp_server.connection import McpConnection
    from redraft.mcp_server.protocol import Message
    from redraft.tools.context import ToolContext
    from redraft.tools.long_documents.worker import DocumentWorker

    Emit = Callable[[Message], None]
    Number = str | int

PROGRESS_SECONDS = 0.1
STEPS = "calls of the batch done"
OWN_STEPS = "steps of the call done"
NO_OBJECT = ProtocolError(BAD_PARAMETERS, "The parameters must be a JSON object.")


class Cancelled(Exception):
    """The client has cancelled the request: nobody waits for an answer."""


class McpCall:
    """A request. `emit` sends what belongs to it, its answer last.

    `left` means that its sender is no longer listening; `consents` are the answers of the person that it used.
    """

    def __init__(self, connection: McpConnection, number: Number, method: Any, given: Any, emit: Emit) -> None:
        self.connection = connection
        self.number = number
        self.method = method
        self.given = as_object(given)
        self.emit = emit
        self._sender: McpClient | None = None
        self.cancelled = threading.Event()
        self.left = False
        self.consents: list[str] = []
        self._stops: list[Callable[[], object]] = []
        self._fault = None if given is None or isinstance(given, dict) else NO_OBJECT
        self._ended = False
        self._turn_to_speak = threading.Lock()
        token: Any = as_object(self.given.get("_meta")).get("progressToken")
        self._token: Number | None = token if isinstance(token, str | int) else None
        self.counts: str | None = None
        self._progress = 0
        self._told = 0.0

    @property
    def client(self) -> McpClient:
        """Who asks: the sender that the request names, else whoever shook hands on the connection."""
        return self._sender or self.connection.client

    def read_envelope(self, envelope: Message) -> None:
        """Take the sender from the request's own envelope."""
        try:
            self._sender = McpClient.from_envelope(envelope, self.connection.client.user)
        except ProtocolError as fault:
            self._fault = fault

    def run(self) -> None:
        """Do what is asked, and answer."""
        from redraft.mcp_server.methods import find_method

        try:
            self.check()
            if self._fault is not None:
                raise self._fault
            act = find_method(self.method, self.client)
            if act is None:
                raise ProtocolError(NO_METHOD, f"There is no method {ascii(self.method)[:100]}.")
            result = act(self)
            if result is not None:
                self._end({"id": self.number, "result": self._add_envelope(result)})
        except Cancelled:
            self._ended = True
        except ProtocolError as fault:
            self._end(fault.as_error(self.number))
        except Exception:  # a bug of ours: the client must not wait forever, and it must be logged
            self._end(ProtocolError(INTERNAL, "Something went wrong; see the server's log.").as_error(self.number))
            raise
        finally:
            self.connection.remove_call(self)

    def check(self) -> None:
        """Raise `Cancelled` if the request was cancelled."""
        if self.cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """End it where that can be done. Called from any thread."""
        self.cancelled.set()
        for stop in tuple(self._stops):
            stop()

    def on_cancel(self, stop: Callable[[], object]) -> None:
        """Call this when the request is cancelled; at once if it already was."""
        self._stops.append(stop)
        if self.cancelled.is_set():
            stop()

    def progress(self, done: int, total: int, about: str) -> None:
        """Send progress to a client that asked for it, at a limited rate."""
        now = time.monotonic()
        self.counts = self.counts or about
        if about != self.counts:  # one number cannot tell of two things
            return
        if self._token is None or done <= self._progress or (done < total and now - self._told < PROGRESS_SECONDS):
            return
        parameters = {"progressToken": self._token, "progress": done, "total": total, "message": about}
        with self._turn_to_speak:
            if not self._ended and not self.cancelled.is_set():
                self._progress, self._told = done, now
                self.emit({"method": "notifications/progress", "params": parameters})

    def _end(self, answer: Message) -> None:
        with self._turn_to_speak:
            ended, self._ended = self._ended, True
            if not ended and not self.cancelled.is_set():
                self.emit(answer)

    def _add_envelope(self, result: Message) -> Message:
        """What the envelope's era wants to be told with every result."""
        if not self.client.by_request:
            return result
        kept = KEPT_BY_NOBODY if self.method not in ("tools/call", "prompts/get", "subscriptions/listen") else {}
        meta = {SERVER_KEY: SERVER, **as_object(result.get("_meta"))}
        return {"resultType": "complete", **kept, **result, "_meta": meta}


class CallTools(Registry):
    """The tools as one call uses them: each step, such as the calls of a batch, is counted and can be the last."""

    def __init__(self, tools: Registry, call: McpCall, arguments: Mapping[str, Any]) -> None:
        super().__init__(tools.tools)
        self._call = call
        steps: Any = arguments.get("calls")
        self._total = len(cast("list[Any]", steps)) if isinstance(steps, list) else 0
        self._begun = 0
        if self._total:
            call.counts = STEPS

    def call(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        self._call.check()
        self._begun += 1
        if self._begun > 1:
            self._call.progress(self._begun - 2, self._total, STEPS)
        needs, endpoint = self.needs(name), self._call.connection.endpoint
        if "index" in needs:
            endpoint.report_index_progress(self._call)
        if "editors" in needs or "model" in needs:
            context = context.copy_for_call(endpoint.editors, self._find_worker)
        if "editors" in needs:
            context.progress = lambda done, total: self._call.progress(done, total, OWN_STEPS)
        return super().call(name, arguments, context)

    def _find_worker(self, _path: str) -> DocumentWorker | None:
        from redraft.mcp_server.subagents import subagents_for

        return subagents_for(self._call)
