"""Checks what a client sends to a room before any replica applies it.

A replica trusts an update: it can write to any shared type, format a text, refer to a missing item, or split a
character (positions are in UTF-16 units, and `yrs` then puts things where no other replica does). So an update is
decoded here first (Yjs version 1), and accepted only if it does what typing does: insert text into `text`, and delete
text. An update that depends on something unknown here is recognised (`is_early`): a client that reconnects and types
before it has sent the rest sends such an update, and sends it again with the rest.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

from redraft.server.live.wire import Garbled, Reader

TEXT = "text"
# So many can be read while others wait: a third of a second.
MAX_PIECES = 200_000
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LEFT, _RIGHT, _KEYED, _CONTENT = 0x80, 0x40, 0x20, 0x1F
_GC, _DELETED, _STRING, _ANY, _SKIP = 0, 1, 4, 8, 10
Id = tuple[int, int]


@dataclass(slots=True)
class Update:
    """What an update holds, as far as it matters here."""

    runs: dict[int, Id] = field(default_factory=dict[int, Id])  # of each client, from which clock to which
    lows: set[Id] = field(default_factory=set[Id])  # the second halves of characters that are two units
    bounds: set[Id] = field(default_factory=set[Id])  # places before which it cuts
    needs: set[Id] = field(default_factory=set[Id])  # items that must be there
    deletes: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.runs and not self.deletes


class RoomClock:
    """What a room holds: up to which clock of each client, and where it must not be cut."""

    def __init__(self, state: bytes) -> None:
        self.clocks: dict[int, int] = {}
        self._lows: set[Id] = set()
        self.note(read_update(state, trusted=True))

    def note(self, update: Update) -> None:
        """The room has taken this in."""
        for client, (_, end) in update.runs.items():
            self.clocks[client] = max(end, self.clocks.get(client, 0))
        self._lows |= update.lows

    def judge(self, data: bytes) -> Update:
        """Read a client's update; `Garbled` where it is not to be let in."""
        update = read_update(data)
        lows = self._lows | update.lows if update.lows else self._lows
        if any(bound in lows for bound in update.bounds):
            raise Garbled("it splits a character")
        for client, (start, end) in update.runs.items():
            known = self.clocks.get(client, 0)
            if start < known < end and (client, known) in update.lows:
                raise Garbled("it splits a character")
        return update

    def is_early(self, update: Update) -> bool:
        """Whether it builds on something that is not known here."""
        if any(start > self.clocks.get(client, 0) for client, (start, _) in update.runs.items()):
            return True
        nothing = (0, 0)
        return any(
            clock >= max(self.clocks.get(client, 0), update.runs.get(client, nothing)[1])
            for client, clock in update.needs
        )

    def adds(self, update: Update) -> bool:
        """Whether it has anything that the room does not hold yet, deletions aside."""
        return any(end > self.clocks.get(client, 0) for client, (_, end) in update.runs.items())


def read_update(data: bytes, *, trusted: bool = False) -> Update:
    """Read an update to its end. Of ours (`trusted`), values of `about` are let pass."""
    reader = Reader(data)
    found = Update()
    left = sys.maxsize if trusted else MAX_PIECES
    for _ in range(reader.number()):
        count, client, start = reader.number(), reader.number(), reader.number()
        left -= count
        if left < 0:
            raise Garbled("it is too much at once")
        if client in found.runs:
            raise Garbled("a client appears twice")
        clock = start
        for _ in range(count):
            clock += _struct(reader, client, clock, found, trusted)
        if clock > start:
            found.runs[client] = (start, clock)
    _deletions(reader, found, left)
    reader.end()
    return found


def _struct(reader: Reader, client: int, clock: int, found: Update, trusted: bool) -> int:
    """Read one struct; returns its length."""
    info = reader.byte()
    if info & _CONTENT == _GC:
        return reader.number()
    if info == _SKIP:
        raise Garbled("it has a gap")
    if info & _LEFT:
        left = (reader.number(), reader.number())
        found.needs.add(left)
        found.bounds.add((left[0], left[1] + 1))
    if info & _RIGHT:
        right = (reader.number(), reader.number())
        found.needs.add(right)
        found.bounds.add(right)
    if not info & (_LEFT | _RIGHT):
        _parent(reader, info, trusted)
    return _content(reader, info & _CONTENT, client, clock, found, trusted)


def _parent(reader: Reader, info: int, trusted: bool) -> None:
    if reader.number() != 1:
        raise Garbled("it writes to a nested type")
    name = reader.text()
    if not trusted and (name != TEXT or info & _KEYED):
        raise Garbled("it writes to something other than the text")
    if info & _KEYED:
        reader.text()


def _content(reader: Reader, kind: int, client: int, clock: int, found: Update, trusted: bool) -> int:
    if kind == _DELETED:
        return reader.number()
    if kind == _STRING:
        text = reader.text()
        if "\0" in text:
            raise Garbled("a text cannot hold the character NUL")
        if text.isascii():
            return len(text)
        lows = [match.start() + number + 1 for number, match in enumerate(_ASTRAL.finditer(text))]
        found.lows.update((client, clock + low) for low in lows)
        return len(text) + len(lows)
    if kind == _ANY and trusted:
        count = reader.number()
        for _ in range(count):
            _skip_value(reader)
        return count
    raise Garbled("it inserts something other than text")


def _skip_value(reader: Reader) -> None:
    """A value as the server writes them into `about`: a truth, a number, a text."""
    kind = reader.byte()
    if kind == 119:
        reader.blob()
    elif kind == 125:
        while reader.byte() & 0x80:
            pass
    elif kind in _FIXED:
        reader.skip(_FIXED[kind])
    else:
        raise Garbled("a value of the wrong type")


_FIXED = {127: 0, 126: 0, 124: 4, 123: 8, 121: 0, 120: 0}


def _deletions(reader: Reader, found: Update, left: int) -> None:
    for _ in range(reader.number()):
        client, count = reader.number(), reader.number()
        left -= count
        if left < 0:
            raise Garbled("it is too much at once")
        for _ in range(count):
            start, length = reader.number(), reader.number()
            if not length:
                continue
            found.deletes = True
            found.bounds |= {(client, start), (client, start + length)}
            found.needs.add((client, start + length - 1))
