"""The one place where a replica's indices become ours, and ours become its.

`pycrdt` counts in bytes of UTF-8, and an index inside a character corrupts its text without a word; the workspace
counts in code points. Both conversions walk the text once, block by block, so that an edit in a long document costs
microseconds. Nothing here knows a room or a document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redraft.text.text import Text


class InvalidOffset(ValueError):
    """A place that lies inside a character, or beyond the text."""


def byte_length(text: Text) -> int:
    """How long a text is in UTF-8."""
    return sum([_size(block.content) for block in text.blocks])


def growth_of(change: Change) -> int:
    """By how many bytes of UTF-8 a change makes a text longer."""
    return sum([_size(edit.new) - _size(edit.old) for edit in change.edits])


def change_of(text: Text, delta: Sequence[dict[str, Any]]) -> Change:
    """What a replica's event says that happened to `text`, as a change of it.

    A delta goes through the text from its beginning: `retain` and `delete` so many bytes, `insert` a text.
    """
    walk = _ByteCursor(text)
    edits: list[Edit] = []
    start, new = 0, ""
    taken = 0
    for step in delta:
        if "insert" in step:
            if not isinstance(step["insert"], str) or step.get("attributes"):
                raise InvalidOffset("the text is plain: only text can be inserted")
            new += step["insert"]
        elif "delete" in step:
            taken += walk.forward(step["delete"])
        elif step.get("attributes"):
            raise InvalidOffset("the text is plain: it cannot be formatted")
        else:
            edits += _edit(text, start, taken, new)
            start = walk.offset + walk.forward(step["retain"])
            taken, new = 0, ""
    edits += _edit(text, start, taken, new)
    return Change(tuple(edits))


def _edit(text: Text, start: int, taken: int, new: str) -> list[Edit]:
    old = text.slice(start, start + taken)
    return [Edit(start, old, new)] if old != new else []


def places_of(text: Text, edits: Iterable[Edit]) -> list[tuple[int, int, str]]:
    """Edits of `text`, in its order, as a replica takes them: from which byte to which, and the new text.

    To be carried out from the last to the first, so that each finds its place as it was.
    """
    walk = _ByteCursor(text)
    found: list[tuple[int, int, str]] = []
    for edit in edits:
        start = walk.byte_at(edit.at)
        found.append((start, start + _size(edit.old), edit.new))
    return found


def _size(content: str) -> int:
    return len(content) if content.isascii() else len(content.encode())


class _ByteCursor:
    """A place in a text that only goes forward, known in code points and in bytes."""

    def __init__(self, text: Text) -> None:
        self._blocks: Iterator[str] = (block.content for block in text.blocks)
        self._content = ""
        self._size = 0
        self._first = 0  # where the block begins, in code points and in bytes
        self._first_byte = 0
        self.offset = 0
        self._byte = 0

    def forward(self, count: int) -> int:
        """Go on by so many bytes; gives by how many code points that is."""
        before = self.offset
        self._byte += count
        while self._byte > self._first_byte + self._size:
            self._next()
        inner = self._byte - self._first_byte
        if self._content.isascii():
            self.offset = self._first + inner
        else:
            try:
                self.offset = self._first + len(self._content.encode()[:inner].decode())
            except UnicodeDecodeError as error:
                raise InvalidOffset(f"byte {self._byte} lies inside a character") from error
        return self.offset - before

    def byte_at(self, offset: int) -> int:
        """The byte at which the code point `offset` begins; it may not lie before the last one asked for."""
        self.offset = offset
        while offset > self._first + len(self._content):
            self._next()
        self._byte = self._first_byte + _size(self._content[: offset - self._first])
        return self._byte

    def _next(self) -> None:
        self._first += len(self._content)
        self._first_byte += self._size
        content = next(self._blocks, None)
        if content is None:
            raise InvalidOffset("beyond the end of the text")
        self._content, self._size = content, _size(content)
