"""Slow twins: each does in the plainest way what the package does in a clever one."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING
from zlib import crc32

from redraft.text import text as text_module

if TYPE_CHECKING:
    from redraft.text.edits import Change

PHRASE_ENDS = {
    *"!)+,./:;>?]}",
    *map(chr, range(0x2010, 0x2070)),
    *map(chr, range(0x3000, 0x3040)),
    *map(chr, range(0xFF00, 0xFF10)),
}


def is_line_end(content: str, offset: int) -> bool:
    """Whether a line ends at this offset by its terminator."""
    last, following = content[offset - 1 : offset], content[offset : offset + 1]
    return last == "\n" or (last == "\r" and following != "\n")


def naive_lines(content: str) -> list[str]:
    lines: list[str] = []
    line = ""
    for offset, character in enumerate(content, start=1):
        line += character
        if is_line_end(content, offset):
            lines.append(line)
            line = ""
    return [*lines, line] if line else lines


def naive_line_numbers(content: str) -> list[int]:
    """For every offset, how many lines end at or before it."""
    return [0, *accumulate(is_line_end(content, end) for end in range(1, len(content) + 1))]


def naive_cut(content: str) -> list[str]:
    """The blocks, by trying every place against the rules that the module `text` gives."""
    pieces: list[str] = []
    start = 0
    while start < len(content):
        end = start + 1
        while not _is_block_end(content, start, end):
            end += 1
        pieces.append(content[start:end])
        start = end
    return pieces


def _is_block_end(content: str, start: int, end: int) -> bool:
    length = end - start
    if end == len(content):
        return True
    if content[end - 1] + content[end] == "\r\n":
        return False
    if length >= text_module.MAX:
        return True
    if length >= text_module.SOFT:
        return is_line_end(content, end) or _is_marked_phrase(content, start + text_module.SOFT, end)
    return length >= text_module.MIN and is_line_end(content, end) and _is_marked_line(content, start, end)


def _is_marked_line(content: str, start: int, end: int) -> bool:
    begin = end - 1
    while begin > start and not is_line_end(content, begin):
        begin -= 1
    line = content[begin:end]
    return crc32(line.encode()) < len(line) * text_module.LINE_RATE


def _is_marked_phrase(content: str, start: int, end: int) -> bool:
    if end <= start or content[end - 1] not in PHRASE_ENDS:
        return False
    begin = end - 1
    while begin > start and content[begin - 1] not in PHRASE_ENDS:
        begin -= 1
    phrase = content[begin:end]
    return crc32(phrase.encode()) < len(phrase) * text_module.PHRASE_RATE


def naive_places(length: int, change: Change, *, after: bool) -> list[int]:
    """Where each place between two characters of a text goes, found by writing the new text character by character."""
    places: dict[int, int] = {}
    position = written = 0
    for edit in change.edits:
        while position < edit.at:
            places.setdefault(position, written)
            position += 1
            written += 1
        if edit.old or not after:
            places.setdefault(position, written)
        inside = range(edit.at + 1, edit.at + len(edit.old))
        if not after:
            places.update(dict.fromkeys(inside, written))
        for _ in edit.new:
            written += 1
        if after:
            places.update(dict.fromkeys(inside, written))
        position += len(edit.old)
    while position <= length:
        places.setdefault(position, written)
        position += 1
        written += 1
    return [places[place] for place in range(length + 1)]


def naive_prefix(a: str, b: str) -> int:
    count = 0
    while count < min(len(a), len(b)) and a[count] == b[count]:
        count += 1
    return count
