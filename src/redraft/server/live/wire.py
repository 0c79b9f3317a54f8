"""The wire of live documents: the messages of y-protocols, as y-websocket sends them, one a frame, and one of ours.

Numbers are written seven bits a byte, the lowest first; a text or a blob comes after its length in bytes. Nothing here
trusts a length: whatever reaches beyond the frame is `Garbled`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

SYNC, AWARENESS, ASK_AWARENESS = 0, 1, 3
EDITOR = 100  # ours: what is between a tool and a rich editor
STEP1, STEP2, UPDATE = 0, 1, 2
NOTHING = b"\0\0"  # an update without structs and without deletions
MAX_NUMBER = 2**53 - 1  # what the other side can count to


class Garbled(Exception):
    """A frame that is none of ours, or one that no client of ours would send."""


class Reader:
    """Reads a frame from its beginning to its end."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def byte(self) -> int:
        if self.at >= len(self.data):
            raise Garbled("it ends too early")
        found = self.data[self.at]
        self.at += 1
        return found

    def number(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            if found > MAX_NUMBER:
                raise Garbled("a number is too large")
            if byte < 0x80:
                return found
            shift += 7

    def skip(self, count: int) -> None:
        if count > self.left:
            raise Garbled("it ends too early")
        self.at += count

    def blob(self) -> bytes:
        length = self.number()
        start = self.at
        self.skip(length)
        return self.data[start : self.at]

    def text(self) -> str:
        try:
            return self.blob().decode()
        except UnicodeDecodeError as error:
            raise Garbled("a text is not UTF-8") from error

    def end(self) -> None:
        if self.left:
            raise Garbled("something follows its end")


def number(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(0x80 | (value & 0x7F))
        value >>= 7
    found.append(value)
    return bytes(found)


def blob(data: bytes) -> bytes:
    return number(len(data)) + data


def step1(state: bytes) -> bytes:
    """What I have: send me the rest."""
    return bytes((SYNC, STEP1)) + blob(state)


def step2(update: bytes) -> bytes:
    """The rest that was asked for."""
    return bytes((SYNC, STEP2)) + blob(update)


def update_message(update: bytes) -> bytes:
    return bytes((SYNC, UPDATE)) + blob(update)


def awareness(states: bytes) -> bytes:
    return bytes((AWARENESS,)) + blob(states)


def editor(message: bytes) -> bytes:
    return bytes((EDITOR,)) + blob(message)


class Frame(NamedTuple):
    """A message: its kind, for `SYNC` which step, and what it carries."""

    kind: int
    step: int
    data: bytes


def read_frame(data: bytes) -> Frame:
    reader = Reader(data)
    kind = reader.number()
    step = reader.number() if kind == SYNC else 0
    if kind not in (SYNC, AWARENESS, ASK_AWARENESS, EDITOR) or step > UPDATE:
        raise Garbled("unknown message type")
    carried = b"" if kind == ASK_AWARENESS else reader.blob()
    reader.end()
    return Frame(kind, step, carried)


# One connection, as a room sees it, and the codes with which it is ended: by them the browser knows what to do.


UNACCEPTABLE, READ_ONLY, NOT_THERE, OTHER_EPOCH, TOO_MANY, SECRET = 4400, 4403, 4404, 4409, 4429, 4451
FAILED, AGAIN = 1011, 1012


class RoomClient(Protocol):
    """One connection, as a room sees it."""

    name: str
    may_write: bool
    synced: bool

    def send(self, data: bytes) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


class LiveRefusal(Exception):
    """Why a connection is ended."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
