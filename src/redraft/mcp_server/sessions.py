"""The sessions of clients that shook hands over HTTP: named by a word nobody can guess, ended by the client, by being
forgotten for newer ones, or with the server."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from redraft.mcp_server.channel import KEPT, Channel
from redraft.mcp_server.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Generator

    from redraft.mcp_server.endpoint import Endpoint
    from redraft.mcp_server.protocol import Message

MAX_SESSIONS = 256


class Session:
    """One client: its connection, and the stream on which it is told what belongs to no request."""

    def __init__(self, endpoint: Endpoint, user: str) -> None:
        self.name = secrets.token_urlsafe(24)
        self.in_order = asyncio.Lock()
        self.connection = Connection(endpoint, self._say, user)
        self._stream: Channel | None = None
        self._unsaid: OrderedDict[str, Message] = OrderedDict()

    def _say(self, message: Message) -> None:
        """On the stream; kept for the next one while there is none."""
        if self._stream is not None:
            self._stream.put(message)
        elif len(self._unsaid) < KEPT:
            self._unsaid[repr(message)] = message

    @contextmanager
    def listening(self) -> Generator[Channel]:
        """The stream, from now on. An older one ends: its client is gone, though nobody may have noticed."""
        channel = Channel()
        older, self._stream = self._stream, channel
        if older is not None:
            older.end()
        while self._unsaid:
            channel.put(self._unsaid.popitem(last=False)[1])
        try:
            yield channel
        finally:
            if self._stream is channel:
                self._stream = None

    def close(self) -> None:
        self.connection.close()
        if self._stream is not None:
            self._stream.end()


class Sessions:
    """Those that are open; the one that was silent for longest ends when there are too many."""

    def __init__(self, endpoint: Endpoint, user: str) -> None:
        self._endpoint = endpoint
        self._user = user
        self._open: OrderedDict[str, Session] = OrderedDict()

    def begin(self) -> Session:
        session = Session(self._endpoint, self._user)
        self._open[session.name] = session
        while len(self._open) > MAX_SESSIONS:
            self._open.popitem(last=False)[1].close()
        return session

    def find(self, name: str) -> Session | None:
        session = self._open.get(name)
        if session is not None:
            self._open.move_to_end(name)
        return session

    def end(self, session: Session) -> None:
        self._open.pop(session.name, None)
        session.close()

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
