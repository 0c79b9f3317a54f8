"""Where a text is cut into blocks: a function of its content alone, whatever its history.

Equal texts have equal blocks, so blocks can be stored and compared by their digests, and an edit changes the cuts only
near itself. From the start of a block its end is the first of these places:

- from `MIN` code points on, the end of a line that is marked by its own checksum. A line is marked with a probability
  proportional to its length, so that blocks have about 4,000 code points whatever the lines are like;
- from `SOFT` on, the end of any line, or of a marked phrase (up to some punctuation): endless lines, a minified file or
  a novel in one paragraph, are cut by their content too;
- `MAX`.

Never between "\\r" and "\\n". Because the first such place counts, a block's end depends only on what is before it and
on the one character after it (which may be the "\\n" of a "\\r\\n"): nothing further on can move it.

Repetitive content without marks (a million empty lines) is cut at `SOFT` or `MAX` throughout; an edit in it
moves every cut up to the next mark. Changing any number or pattern here changes the digest of every text.
"""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from typing import TYPE_CHECKING
from zlib import crc32

from redraft.text.lines import count_breaks

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    return _marked_phrase_end(content, soft, end) or end


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


def _marked_phrase_end(content: str, start: int, stop: int) -> int:
    """The end of the first marked phrase in the passage, 0 if there is none."""
    for match in _PHRASE_END.finditer(content, start, stop):
        end = match.end()
        if crc32(content[start:end].encode()) < (end - start) * PHRASE_RATE:
            return end
        start = end
    return 0
