"""Pages: some blocks of a text in a row, shared by all texts that have them, and what was once worked out of them."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redraft.text.blocks import Block

# With 2,500 blocks in 10 MB, an edit copies about as many references to pages as to blocks.
SIZE = 64


class Page:
    """Some blocks in a row. It knows where each of them ends; the rest is worked out when asked for."""

    __slots__ = ("_breaks", "_content", "_digests", "_size", "blocks", "ends", "length")

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self.blocks = blocks
        self.ends = tuple(accumulate([block.length for block in blocks]))
        self.length = self.ends[-1]
        self._breaks: int | None = None
        self._digests: bytes | None = None
        self._size: int | None = None
        self._content: str | None = None

    @property
    def content(self) -> str:
        """The blocks put together; kept, since an edit leaves most pages as they are."""
        if self._content is None:
            self._content = "".join([block.content for block in self.blocks])
        return self._content

    @property
    def size(self) -> int:
        """How many bytes of UTF-8 the blocks are."""
        if self._size is None:
            self._size = sum([len(block.data) for block in self.blocks])
        return self._size

    @property
    def breaks(self) -> int:
        """How many line terminators the blocks hold."""
        if self._breaks is None:
            self._breaks = sum([block.breaks for block in self.blocks])
        return self._breaks

    @property
    def digests(self) -> bytes:
        """The digests of the blocks, one after the other."""
        if self._digests is None:
            self._digests = b"".join([block.digest for block in self.blocks])
        return self._digests


def paginate(blocks: tuple[Block, ...]) -> tuple[Page, ...]:
    """Pages of about the same size, so that one that has grown too big does not leave a tiny one behind."""
    if not blocks:
        return ()
    count = 1 if len(blocks) <= 2 * SIZE else -(-len(blocks) // SIZE)
    bounds = [len(blocks) * index // count for index in range(count + 1)]
    return tuple([Page(blocks[start:end]) for start, end in pairwise(bounds)])
