"""What the index writes down of files: as rows, as segments of texts, and as batches on their way into the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from redraft.search.words import SegmentBuilder

if TYPE_CHECKING:
    from redraft.workspace.reading import Mark


class Row(NamedTuple):
    """A file as it was read; `number` is 0 where it holds no text that may be shown."""

    path: str
    mark: Mark
    number: int


class Read(NamedTuple):
    """A file to be written down. `words` is None where it holds no text that may be shown, and `text` where its mark
    does not prove what it holds."""

    path: str
    mark: Mark
    words: str | None
    text: bytes | None


class Extent(NamedTuple):
    """A segment, and the first and last number of the texts in it."""

    segment: int
    first: int
    last: int


class Batch:
    """Files that were read and are to be written down together. Their words are gathered as they come, which takes far
    longer than to write them down, and needs no database."""

    def __init__(self) -> None:
        self.reads: list[Read] = []
        self.builder = SegmentBuilder()
        self.texts = 0
        self.size = 0

    def add(self, read: Read) -> None:
        self.reads.append(read)
        self.size += read.mark.size
        if read.words is not None:
            self.builder.add(self.texts, read.words)
            self.texts += 1
