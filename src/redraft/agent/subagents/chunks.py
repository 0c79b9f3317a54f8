"""Cut a document into chunks for subagents: along its structure, and so that a change moves few of the cuts.

The chunks are the whole text, in order, without a gap. A section that fits is never cut, small neighbours share a
chunk, and a section that is too large is cut at its own headings, then between paragraphs, lines, sentences. Among
several possible cuts, the text after the cut decides (the smallest checksum), not the distance from the start. So after
an insertion the cuts soon fall on the old places again, and the answers for later chunks are still cached. Pure.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, cast
from zlib import crc32

from redraft.formats.outline.outline import outline
from redraft.text.lines import split_lines
from redraft.text.sentences import sentences
from redraft.tools.queries.read_document import BYTES_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.formats.outline.outline import Format, OutlineEntry

HEADING_DEPTH = 6
# A section that fills this much of a chunk stands alone; one smaller than a scrap joins the next one.
ALONE, SCRAP = 4, 16


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A part of the text by its offsets, the line from 0 on which it begins, and the headings above it."""

    index: int
    start: int
    end: int
    line: int
    under: str = ""

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class _TextPiece:
    """A part that is not cut for now: a range of the text and its size in bytes."""

    start: int
    end: int
    size: int


def chunks_of(text: str, format: str, tokens: int) -> list[DocumentChunk]:  # noqa: A002 - as everywhere in formats
    """The chunks of a document, none larger than `tokens`. An empty text has none."""
    return _Chunker(text, format, tokens * BYTES_PER_TOKEN).chunks()


class _Chunker:
    """Cuts one text into chunks of at most `most` bytes."""

    def __init__(self, text: str, format: str, most: int) -> None:  # noqa: A002
        self.text = text
        self.most = max(most, 4)
        lines = split_lines(text)
        self.starts = [0, *accumulate(map(len, lines))]  # where each line begins, and the end
        self.bytes = [0, *accumulate(len(line.encode()) for line in lines)]
        self.blank = [not line.strip() for line in lines]
        found = outline(text, cast("Format", format), max_depth=HEADING_DEPTH)
        self.titles = {entry.line_start: entry for entry in found.walk() if entry.detected_by != "paragraph_break"}
        self.heads = sorted(self.titles)

    def chunks(self) -> list[DocumentChunk]:
        found: list[DocumentChunk] = []
        for start, end in self._sections(0, len(self.blank)):
            line = bisect_right(self.starts, start) - 1
            found.append(DocumentChunk(len(found), start, end, line, self._under(line)))
        return found

    def _under(self, line: int) -> str:
        """The headings above a line, outermost first."""
        above: list[OutlineEntry] = []
        for head in self.heads[: bisect_right(self.heads, line)]:
            entry = self.titles[head]
            above = [*(each for each in above if each.level < entry.level), entry]
        return " > ".join(entry.title for entry in above)

    # Sections; all ranges are half-open ranges of lines

    def _size(self, start: int, end: int) -> int:
        return self.bytes[end] - self.bytes[start]

    def _sections(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        if self._size(start, end) <= self.most:
            if start < end:
                yield self.starts[start], self.starts[end]
            return
        small: list[tuple[int, int]] = []
        parts = self._parts(start, end)
        if len(parts) == 1:
            yield from self._paragraphs(start, end)
            return
        for part in parts:
            if self._size(*part) * ALONE < self.most:
                small.append(part)
                continue
            yield from self._pack([self._piece(*each) for each in small])
            small = []
            yield from self._sections(*part)
        yield from self._pack([self._piece(*each) for each in small])

    def _parts(self, start: int, end: int) -> list[tuple[int, int]]:
        """A section cut at its outermost headings that divide it; the section itself if none do."""
        inside = self.heads[bisect_right(self.heads, start) : bisect_left(self.heads, end)]
        for level in sorted({self.titles[head].level for head in inside}):
            edges = [start, *(head for head in inside if self.titles[head].level <= level), end]
            parts = self._without_scraps(list(pairwise(edges)))
            if len(parts) > 1:
                return parts
        return [(start, end)]

    def _without_scraps(self, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Join a bare heading to what follows it, and a few words at the end to what comes before."""
        whole: list[tuple[int, int]] = []
        start = parts[0][0]
        for _, end in parts:
            if self._size(start, end) * SCRAP >= self.most:
                whole.append((start, end))
                start = end
        last = parts[-1][1]
        if start < last:
            before = whole.pop()[0] if whole else start
            whole.append((before, last))
        return whole

    def _piece(self, start: int, end: int) -> _TextPiece:
        return _TextPiece(self.starts[start], self.starts[end], self._size(start, end))

    # Within a section without headings

    def _paragraphs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        edges = [start, *(at for at in range(start + 1, end) if self.blank[at - 1] and not self.blank[at]), end]
        pieces: list[_TextPiece] = []
        for first, last in pairwise(edges):
            pieces += [self._piece(first, last)] if self._size(first, last) <= self.most else self._lines(first, last)
        yield from self._pack(pieces)

    def _lines(self, start: int, end: int) -> list[_TextPiece]:
        pieces: list[_TextPiece] = []
        for at in range(start, end):
            pieces += [self._piece(at, at + 1)] if self._size(at, at + 1) <= self.most else self._sentences(at)
        return pieces

    def _sentences(self, line: int) -> list[_TextPiece]:
        pieces: list[_TextPiece] = []
        at = self.starts[line]
        for sentence in sentences(self.text[at : self.starts[line + 1]]):
            for part in _parts_of(sentence, self.most):
                pieces.append(_TextPiece(at, at + len(part), len(part.encode())))
                at += len(part)
        return pieces

    def _pack(self, pieces: list[_TextPiece]) -> Iterator[tuple[int, int]]:
        """Put as many neighbours together as fit; the text decides where to cut."""
        sizes = [0, *accumulate(piece.size for piece in pieces)]
        start = 0
        while start < len(pieces):
            until = len(pieces)
            if sizes[-1] - sizes[start] > self.most:
                until = self._choose_cut(pieces, sizes, start)
            yield pieces[start].start, pieces[until - 1].end
            start = until

    def _choose_cut(self, pieces: list[_TextPiece], sizes: list[int], start: int) -> int:
        """Before which piece to cut: in the chunk's second half, and without leaving a scrap."""
        last = max(bisect_right(sizes, sizes[start] + self.most) - 1, start + 1)
        first = min(max(bisect_left(sizes, sizes[start] + self.most // 2), start + 1), last)
        no_scrap = [at for at in range(first, last + 1) if (sizes[-1] - sizes[at]) * ALONE >= self.most]
        return min(no_scrap or range(first, last + 1), key=lambda at: self._checksum(pieces[at]))

    def _checksum(self, piece: _TextPiece) -> int:
        return crc32(self.text[piece.start : piece.end].encode())


def _parts_of(sentence: str, most: int) -> Iterator[str]:
    """A sentence, split if it is too long itself: by characters, since nothing better is left."""
    if len(sentence.encode()) <= most:
        yield sentence
        return
    size = max(1, (most - 1) // 4)  # no character takes more than four bytes
    at = 0
    while at < len(sentence):
        end = at + size
        end += sentence[end - 1 : end + 1] == "\r\n"  # never split a CRLF
        yield sentence[at:end]
        at = end
