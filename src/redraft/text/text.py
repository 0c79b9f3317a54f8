"""`Text`: an immutable value with lines, in which a small edit costs microseconds whatever the size.

A text is a tuple of pages, a page a tuple of blocks, a block a string of about 4,000 code points; each level knows its
number of code points and, once asked, of line terminators. An edit creates new blocks where it touches, one new page
and one new tuple of pages, and shares all the rest with the text it came from. The cut into blocks depends on the
content alone (see `blocks`); the cut into pages does not, and nobody sees it.

Offsets are code points, lines count from 0, ranges are half-open. A text never contains an unpaired surrogate, so it
can always be written as UTF-8. Nothing here knows about files, clocks or documents.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from hashlib import sha256
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from redraft.errors import Refused
from redraft.text.lines import after_break, count_breaks, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where a text is cut into blocks: a function of its content alone, whatever its history.
#
# Equal texts have equal blocks, so blocks can be stored and compared by their digests, and an edit changes the cuts
# only near itself. From the start of a block its end is the first of these places:
#
# - from `MIN` code points on, the end of a line that is marked by its own checksum. A line is marked with a
# probability   proportional to its length, so that blocks have about 4,000 code points whatever the lines are like; -
# from `SOFT` on, the end of any line, or of a marked phrase (up to some punctuation): endless lines, a minified file
# or   a novel in one paragraph, are cut by their content too; - `MAX`.
#
# Never between "\r" and "\n". Because the first such place counts, a block's end depends only on what is before it and
# on the one character after it (which may be the "\n" of a "\r\n"): nothing further on can move it.
#
# Repetitive content without marks (a million empty lines) is cut at `SOFT` or `MAX` throughout; an edit in it moves
# every cut up to the next mark. Changing any number or pattern here changes the digest of every text.


MIN = 2048
SOFT = 6144
MAX = 12288
# A unit of n code points is marked if its checksum, 32 bits, is below n times this: every 2,048 code points of lines,
# every 1,024 of phrases.
LINE_RATE = 1 << 21
PHRASE_RATE = 1 << 22

_BREAK = re.compile(r"\r\n?|\n")
# By code point: `\W` would follow Python's Unicode tables, and another version of Python would cut the same text
# differently. Without the space, because words are many and repeat themselves.
_PHRASE_END = re.compile(r"[!)+,./:;>?\]}\u2010-\u206f\u3000-\u303f\uff00-\uff0f]")


class Block:
    """A piece of a text, never empty. Shared between texts, so never changed; its properties are computed on demand."""

    __slots__ = ("_breaks", "_digest", "content", "length")

    def __init__(self, content: str) -> None:
        self.content = content
        self.length = len(content)
        self._breaks: int | None = None
        self._digest: bytes | None = None

    @property
    def breaks(self) -> int:
        """The number of line terminators."""
        if self._breaks is None:
            self._breaks = count_breaks(self.content)
        return self._breaks

    @property
    def data(self) -> bytes:
        """The content in UTF-8, as it is stored."""
        return self.content.encode()

    @property
    def digest(self) -> bytes:
        """The SHA-256 of `data`, under which it is stored."""
        if self._digest is None:
            self._digest = sha256(self.content.encode()).digest()
        return self._digest


def cut_blocks(content: str) -> list[Block]:
    """The blocks of a whole text."""
    blocks: list[Block] = []
    # If every "\r" has its "\n", searching for "\n" is enough: 10 MB of CRLF lines take 130 ms instead of 210.
    lone = "\r" in content and content.count("\r") != content.count("\r\n")
    start = 0
    while start < len(content):
        end = min(_block_end(content, start, lone), len(content))
        blocks.append(Block(content[start:end]))
        start = end
    return blocks


def recut_blocks(head: str, new: str, last: Block, after: int, following: Iterator[Block]) -> tuple[list[Block], int]:
    """The blocks of a text around an edit, and how many of the `following` they replace.

    `head` goes from the start of a block to the edit, and `last` from `after` on follows `new`: at least one code point
    each, unless the text begins or ends there. All this is cut until a new end coincides with an old one: what follows
    stays as it is.
    """
    blocks: list[Block] = []
    taken = 0
    start = 0
    content = f"{head}{new}{last.content[after:]}"
    lone = "\r" in content  # counting would take longer than it saves for the few lines involved
    cleared = len(head) - 1  # a "\r" there may have become the end of a line, or have ceased to be one
    unmarked = len(content) - min(last.length - MIN, last.length - after - 1)
    while start < len(content):
        end = _block_end(content, start, lone, cleared, unmarked)
        if end <= len(content):
            blocks.append(Block(content[start:end]))
            cleared = start = end
        elif (more := next(following, None)) is not None:
            cleared = len(content) - start
            content = content[start:] + more.content
            lone = lone or "\r" in more.content
            unmarked = cleared + MIN
            start = 0
            taken += 1
        else:
            blocks.append(Block(content[start:]))
            break
    return blocks, taken


def _block_end(content: str, start: int, lone: bool, cleared: int = 0, unmarked: int = sys.maxsize) -> int:
    """Where the block that begins at `start` ends; past the end of `content` if that does not decide it.

    `lone` says that there may be a "\\r" without its "\\n". After an edit most lines need not be checked again: no end
    is before `cleared`, and no line is marked that ends past `unmarked` and before the end of `content`, except the
    first one, which may have begun elsewhere.
    """
    soft = start + SOFT
    end = start + MAX
    line, position = _line_around(content, start, max(start + MIN - 1, cleared))
    while line_end := _break_end(content, position, end, lone):
        if line_end >= soft:
            end = line_end
            break
        if crc32(content[line:line_end].encode()) < (line_end - line) * LINE_RATE:
            return line_end
        line = position = line_end
        if line_end >= unmarked:
            line, position = _line_around(content, line, max(line, min(soft, len(content)) - 1))
    if content.startswith("\r\n", end - 1):
        end += 1
    return _find_phrase_end(content, soft, end) or end


def _line_around(content: str, start: int, position: int) -> tuple[int, int]:
    """Where the line at `position` begins, from `start` on; `position`, or before a "\\r\\n" that it would split."""
    if position > start and content.startswith("\r\n", position - 1):
        position -= 1
    return max(start, content.rfind("\n", start, position) + 1, content.rfind("\r", start, position) + 1), position


def _break_end(content: str, start: int, stop: int, lone: bool) -> int:
    """The end of the first line terminator in the passage, 0 if there is none."""
    if not lone:
        return content.find("\n", start, stop) + 1
    match = _BREAK.search(content, start, stop)
    return match.end() if match else 0


def _find_phrase_end(content: str, start: int, stop: int) -> int:
    """The end of the first marked phrase in the passage, 0 if there is none."""
    for match in _PHRASE_END.finditer(content, start, stop):
        end = match.end()
        if crc32(content[start:end].encode()) < (end - start) * PHRASE_RATE:
            return end
        start = end
    return 0


# Pages: some consecutive blocks of a text, shared by all texts that have them, with cached results about them.


# With 2,500 blocks in 10 MB, an edit copies about as many references to pages as to blocks.
PAGE_BLOCKS = 64


class Page:
    """Some consecutive blocks. It knows where each of them ends; the rest is computed on demand."""

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
        """The joined blocks; cached, since an edit leaves most pages as they are."""
        if self._content is None:
            self._content = "".join([block.content for block in self.blocks])
        return self._content

    @property
    def size(self) -> int:
        """The number of UTF-8 bytes of the blocks."""
        if self._size is None:
            self._size = sum([len(block.data) for block in self.blocks])
        return self._size

    @property
    def breaks(self) -> int:
        """The number of line terminators in the blocks."""
        if self._breaks is None:
            self._breaks = sum([block.breaks for block in self.blocks])
        return self._breaks

    @property
    def digests(self) -> bytes:
        """The concatenated digests of the blocks."""
        if self._digests is None:
            self._digests = b"".join([block.digest for block in self.blocks])
        return self._digests


def paginate(blocks: tuple[Block, ...]) -> tuple[Page, ...]:
    """Pages of about the same size, so that one that has grown too big does not leave a tiny one behind."""
    if not blocks:
        return ()
    count = 1 if len(blocks) <= 2 * PAGE_BLOCKS else -(-len(blocks) // PAGE_BLOCKS)
    bounds = [len(blocks) * index // count for index in range(count + 1)]
    return tuple([Page(blocks[start:end]) for start, end in pairwise(bounds)])


__all__ = ["Block", "Text"]


class Text:
    """An immutable text. Equal texts are equal, whatever edits they came from, and have the same `digest`."""

    __slots__ = ("_digest", "_ends", "_length", "_line_breaks", "_pages")

    def __init__(self, content: str = "", *, _pages: tuple[Page, ...] | None = None) -> None:
        if _pages is None:
            check_unicode(content)
            _pages = paginate(tuple(cut_blocks(content)))
        self._pages = _pages
        self._ends = tuple(accumulate([page.length for page in _pages]))
        self._length = self._ends[-1] if _pages else 0
        self._line_breaks: int | None = None
        self._digest: bytes | None = None

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return "".join([block.content for block in self.blocks])

    def __repr__(self) -> str:
        start = self.slice(0, min(len(self), 40))
        return f"<Text of {len(self)} code points, {self.line_count} lines: {start!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Text):
            return NotImplemented
        if self._length != other._length:
            return False
        head, tail = self._share_pages(other)
        if head == len(self._pages) == len(other._pages):
            return True
        pairs = zip(self._middle(head, tail), other._middle(head, tail), strict=False)
        return all(mine is theirs or mine.content == theirs.content for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def digest(self) -> bytes:
        """A SHA-256 of the content: that of the blocks' digests."""
        if self._digest is None:
            self._digest = sha256(self.manifest).digest()
        return self._digest

    @property
    def manifest(self) -> bytes:
        """The concatenated digests of the blocks."""
        return b"".join([page.digests for page in self._pages])

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The pieces in which the text is stored, in order."""
        return tuple(chain.from_iterable([page.blocks for page in self._pages]))

    @property
    def portions(self) -> list[str]:
        """The text in pieces of some 250,000 code points, which are cached and not joined again after each edit."""
        return [page.content for page in self._pages]

    def new_blocks(self, other: Text) -> list[Block]:
        """The blocks that `other` does not have; found at once if one of the two came from the other by edits."""
        head, tail = self._share_pages(other)
        known = {block.digest for block in other._middle(head, tail)}
        return [block for block in self._middle(head, tail) if block.digest not in known]

    def encode(self, other: Text | None = None, data: bytes | memoryview = b"") -> bytes:
        """The text in UTF-8. If `data` is that of `other`, what the two share is copied and not encoded again."""
        head, tail = self._share_pages(other) if other is not None else (0, 0)
        changed = "".join([block.content for block in self._middle(head, tail)]).encode()
        first = sum([page.size for page in self._pages[:head]])
        last = sum([page.size for page in self._pages[len(self._pages) - tail :]])
        view = memoryview(data)
        return b"".join((view[:first], changed, view[len(view) - last :]))

    def _share_pages(self, other: Text) -> tuple[int, int]:
        """How many pages the two share at the start and at the end."""
        mine, theirs = self._pages, other._pages
        most = min(len(mine), len(theirs))
        head = next((number for number in range(most) if mine[number] is not theirs[number]), most)
        left = most - head
        return head, next((number for number in range(left) if mine[-1 - number] is not theirs[-1 - number]), left)

    def _middle(self, head: int, tail: int) -> list[Block]:
        """The blocks of all pages but the first `head` and the last `tail`."""
        return [block for page in self._pages[head : len(self._pages) - tail] for block in page.blocks]

    @property
    def line_count(self) -> int:
        """How many lines there are: "a\\n" has one, "a\\nb" two, "" none."""
        return self._breaks + (self._length > 0 and self._pages[-1].blocks[-1].content[-1] not in "\r\n")

    def slice(self, start: int, end: int) -> str:
        """The passage from `start` to `end`; raises ValueError if there is no such passage."""
        self._check_range(start, end)
        if start == end:
            return ""
        page, block, inner = self._find(start)
        content = self._pages[page].blocks[block].content
        if inner + end - start <= len(content):
            return content[inner : inner + end - start]
        pieces = [content[inner:]]
        missing = end - start - len(pieces[0])
        for following in self._blocks_from(page, block + 1):
            pieces.append(following.content[:missing])
            missing -= len(pieces[-1])
            if not missing:
                break
        return "".join(pieces)

    def replace(self, start: int, end: int, new: str) -> Text:
        """The text with the passage from `start` to `end` replaced; raises ValueError if there is no such passage."""
        self._check_range(start, end)
        check_unicode(new)
        if start == end and not new:
            return self
        if not self._pages:
            return Text(new)
        # The block before a cut may end elsewhere when the character after the cut changes: "\r" and then "\n".
        first_page, first, before = self._find(max(start - 1, 0))
        last_page, last, after = self._find(end)
        head = self._pages[first_page].blocks[first].content[: before + (start > 0)]
        following = self._blocks_from(last_page, last + 1)
        blocks, taken = recut_blocks(head, new, self._pages[last_page].blocks[last], after, following)
        return self._splice((first_page, first), (last_page, last + 1 + taken), blocks)

    def line(self, number: int) -> str:
        """One line with its terminator; raises IndexError if there is none."""
        if not 0 <= number < self.line_count:
            raise IndexError(f"no line {number} in a text of {self.line_count}")
        return self.slice(self.line_start(number), self.line_start(number + 1))

    def lines(self, start: int, end: int) -> list[str]:
        """The lines from `start` up to `end`; raises ValueError if there are no such lines."""
        if not 0 <= start <= end <= self.line_count:
            raise ValueError(f"no lines {start} to {end} in a text of {self.line_count}")
        return split_lines(self.slice(self.line_start(start), self.line_start(end)))

    def line_start(self, number: int) -> int:
        """Where a line starts; for the number of lines, where the text ends; raises IndexError beyond."""
        if not 0 <= number <= self.line_count:
            raise IndexError(f"no line {number} in a text of {self.line_count}")
        if number > self._breaks:
            return self._length
        if number == 0:
            return 0
        offset = 0
        for page in self._pages:
            if number <= page.breaks:
                break
            number -= page.breaks
            offset += page.length
        else:
            raise AssertionError("the terminators of the pages do not add up")
        for block in page.blocks:
            if number <= block.breaks:
                return offset + after_break(block.content, number)
            number -= block.breaks
            offset += block.length
        raise AssertionError("the terminators of the blocks do not add up")

    def line_at(self, offset: int) -> int:
        """The line of an offset: how many lines end at or before it. Past a final newline: `line_count`."""
        self._check_range(offset, offset)
        if offset == self._length:
            return self._breaks
        page, block, inner = self._find(offset)
        blocks = self._pages[page].blocks
        content = blocks[block].content
        return (
            sum([earlier.breaks for earlier in self._pages[:page]])
            + sum([earlier.breaks for earlier in blocks[:block]])
            + count_breaks(content[:inner])
            - (inner > 0 and content.startswith("\r\n", inner - 1))
        )

    @property
    def _breaks(self) -> int:
        if self._line_breaks is None:
            self._line_breaks = sum([page.breaks for page in self._pages])
        return self._line_breaks

    def _find(self, offset: int) -> tuple[int, int, int]:
        """The page, the block in it and the offset in that; the end of the text is in the last block."""
        if offset == self._length:
            last = self._pages[-1].blocks
            return len(self._pages) - 1, len(last) - 1, last[-1].length
        page = bisect_right(self._ends, offset)
        offset -= self._ends[page - 1] if page else 0
        ends = self._pages[page].ends
        block = bisect_right(ends, offset)
        return page, block, offset - (ends[block - 1] if block else 0)

    def _blocks_from(self, page: int, block: int) -> Iterator[Block]:
        yield from self._pages[page].blocks[block:]
        for following in self._pages[page + 1 :]:
            yield from following.blocks

    def _splice(self, start: tuple[int, int], end: tuple[int, int], new: list[Block]) -> Text:
        """The text with the blocks between two positions (page, block) replaced."""
        first_page, first = start
        last_page, last = end
        mine = self._pages
        while last > len(mine[last_page].blocks):
            last -= len(mine[last_page].blocks)
            last_page += 1
        blocks = (*mine[first_page].blocks[:first], *new, *mine[last_page].blocks[last:])
        before, after = mine[:first_page], mine[last_page + 1 :]
        # Without this, deletions would leave ever more pages with ever fewer blocks.
        if len(blocks) < PAGE_BLOCKS // 4 and after:
            blocks, after = blocks + after[0].blocks, after[1:]
        elif len(blocks) < PAGE_BLOCKS // 4 and before:
            blocks, before = before[-1].blocks + blocks, before[:-1]
        return Text(_pages=before + paginate(blocks) + after)

    def _check_range(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self._length:
            raise ValueError(f"no passage from {start} to {end} in a text of {self._length} code points")


def check_unicode(content: str) -> None:
    """Refuse half of a surrogate pair, which no encoding can write."""
    if content.isascii():
        return
    try:
        content.encode()
    except UnicodeEncodeError as error:
        message = f"The text has an unpaired surrogate at character {error.start}."
        raise Refused(message, code="invalid_text", offset=error.start) from error


# Find a passage without joining the text. A text of 10 MB as one string is new memory each time, and allocating that
# takes longer than searching it. So it is searched in portions, which an edited text shares with the one before, and
# each seam between two of them again. A single character is found fastest: if the passage has one that seems to be
# rare, that is searched first.

SAMPLE = 4000
# A character that occurs this often in a portion without the passage is not rare there.
MISSES = 50


def find_passage(text: Text, passage: str) -> Iterator[int]:
    """Every position where it begins, in order, including overlapping ones. An empty passage occurs nowhere."""
    if not passage:
        return
    reach = len(passage) - 1
    rare = _rare(text, passage)
    end, start = "", 0  # the end of what was searched, too short for the passage; where the portion starts
    for portion in text.portions:
        for at in _in_string(end + portion[:reach], passage, rare):
            if at < len(end):
                yield start - len(end) + at
        for at in _in_string(portion, passage, rare):
            yield start + at
        start += len(portion)
        end = (portion if len(portion) >= reach else end + portion)[-reach:] if reach else ""


def _rare(text: Text, passage: str) -> int | None:
    """The index in the passage of a character that a sample from the middle of the text does not have."""
    middle = len(text) // 2
    sample = text.slice(middle, min(len(text), middle + SAMPLE))
    return next((at for at, character in enumerate(passage[:SAMPLE]) if character not in sample), None)


def _in_string(content: str, passage: str, rare: int | None) -> Iterator[int]:
    at = -1
    misses = 0
    while rare is not None and misses < MISSES:
        found = content.find(passage[rare], at + 1 + rare)
        if found < 0:
            return
        at = found - rare
        if content.startswith(passage, at):
            yield at
        else:
            misses += 1
    at = content.find(passage, at + 1)
    while at >= 0:
        yield at
        at = content.find(passage, at + 1)
