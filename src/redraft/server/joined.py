"""A client on the standard streams whose calls go through the folder's running server.

So it sees what the person is typing and what waits for a decision, and the workspace's own mode holds. Messages are
passed on as they are. Where the server ends in the middle of a session, the request under way is answered by a failure
that says that nobody knows whether it was carried out; it is not repeated, so that nothing is done twice. Everything
after it is done here, without the server, in no wider mode.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError
from redraft.mcp_server.answers import failed
from redraft.mcp_server.connection import Connection
from redraft.mcp_server.protocol import INTERNAL, Fault, as_message, as_object, number_of
from redraft.server.remote import Lost

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.mcp_server.call import Emit, Number
    from redraft.mcp_server.endpoint import Endpoint
    from redraft.mcp_server.protocol import Message
    from redraft.mcp_server.stdio import Asked
    from redraft.server.remote import Remote

# What a new connection has to be told, so that it is to the client what the old one was.
REMEMBERED = ("initialize", "resources/subscribe", "resources/unsubscribe")
MAX_REMEMBERED = 1000
GONE = (
    "The server of this folder ended before it answered. Whether this was carried out is not known. What you ask next "
    "is done without the server."
)


class Forwarded:
    """A request on its way to the server, and its answer on the way back."""

    def __init__(self, joined: Joined, message: Message) -> None:
        self._joined = joined
        self.message = message
        self.method: Any = message["method"]
        self.number: Number = message["id"]
        self.called_off = False

    def run(self) -> None:
        self._joined.run(self)


class Joined:
    """To be spoken to as a `Connection` is. `alone` opens the folder, for the time after the server."""

    def __init__(self, emit: Emit, remote: Remote, alone: Callable[[], Endpoint]) -> None:
        self._emit = emit
        self._remote = remote
        self._open_alone = alone
        self._local: Connection | None = None
        self._switching = threading.Lock()
        self._waiting: dict[Number, Forwarded] = {}
        self._remembered: list[Message] = []
        self._questions: set[Number] = set()
        self._threads: list[threading.Thread] = []
        self._hung_up = False

    def receive(self, message: Any) -> Asked | None:
        """Take a message; gives the request that is to be run, if it is one."""
        if self._local is not None:
            return self._local.receive(message)
        found = as_message(message)
        if "method" in found and "id" in found:
            number = number_of(found)
            call = self._waiting[number] = Forwarded(self, found)
            return call
        if found.get("method") == "notifications/cancelled" and self._call_off(found):
            return None
        if "method" not in found:
            self._questions.discard(found.get("id", ""))
        self._remote.tell(found)
        return None

    def hang_up(self) -> None:
        """Nothing more comes from the client: no question will be answered any more."""
        self._hung_up = True
        if self._local is not None:
            self._local.hang_up()
            return
        for number in tuple(self._questions):
            self._decline(number)

    def close(self) -> None:
        self.hang_up()
        if self._local is not None:
            self._local.close()
        self._remote.end()
        for thread in self._threads:
            thread.join()

    # With the server

    def run(self, call: Forwarded) -> None:
        """Have a request answered, by the server or without it."""
        if call.called_off:
            return
        if self._local is not None:
            _run(self._local, call.message)
        elif call.method == "subscriptions/listen":  # answered when it is called off, and others go on meanwhile
            self._apart(call)
        else:
            self._ask(call)

    def _apart(self, call: Forwarded) -> None:
        thread = threading.Thread(target=self._ask, args=(call,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _ask(self, call: Forwarded) -> None:
        try:
            self._remote.ask(call.message, self._take)
            self._remember(call.message)
        except Lost as lost:
            self._go_on_alone(call, lost)
        finally:
            if self._waiting.get(call.number) is call:
                del self._waiting[call.number]

    def _remember(self, message: Message) -> None:
        if message["method"] in REMEMBERED and len(self._remembered) < MAX_REMEMBERED:
            self._remembered.append(message)
        if message["method"] == "initialize":
            stream = self._remote.listen(self._take)
            self._threads += [] if stream is None else [stream]

    def _take(self, said: Message) -> None:
        """Pass on what the server says. A question to a client that has hung up is answered here."""
        if "method" in said and "id" in said:
            self._questions.add(said["id"])
            if self._hung_up:
                self._decline(said["id"])
                return
        self._emit(said)

    def _decline(self, number: Number) -> None:
        self._questions.discard(number)
        self._remote.tell({"id": number, "result": {"action": "cancel"}})

    def _call_off(self, message: Message) -> bool:
        """Whether a request could be called off without the server's being told."""
        number: Any = as_object(message.get("params")).get("requestId")
        call = self._waiting.get(number) if isinstance(number, str | int) else None
        if call is None:
            return False
        call.called_off = True
        return self._remote.call_off(call.number)

    # Without it

    def _go_on_alone(self, call: Forwarded, lost: Lost) -> None:
        try:
            local = self._switch()
        except RedraftError as error:  # the next request tries again
            self._emit(Fault(INTERNAL, error.message).as_error(call.number))
            return
        if not lost.reached:
            _run(local, call.message)
        elif call.method == "tools/call":
            failure = RedraftError(GONE, code="outcome_unknown")
            self._emit({"id": call.number, "result": failed(failure.as_dict())})
        else:
            self._emit(Fault(INTERNAL, GONE).as_error(call.number))

    def _switch(self) -> Connection:
        with self._switching:
            if self._local is None:
                local = Connection(self._open_alone(), self._emit)
                for message in self._remembered:
                    _run(local, message, lambda _: None)  # the client has heard the answer from the server
                if self._hung_up:
                    local.hang_up()
                self._local = local
            return self._local


def _run(connection: Connection, message: Message, emit: Emit | None = None) -> None:
    call = connection.receive(message, emit)
    if call is not None:
        call.run()
