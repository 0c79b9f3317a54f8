"""Find a text or a pattern in one document.

The whole text is searched, so a match may span several lines; `^` and `$` match at each of them. Positions are code
points and lines counted from 0, as everywhere inside. The number of returned matches is limited, and so is the work of
counting the rest: a pattern that looks far ahead at every position must not keep anybody waiting.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from redraft.search.pattern import compile_query
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.search.pattern import Pattern

DEFAULT_LIMIT = 100
COUNTED_AT_MOST = 10_000
COUNTING_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Match:
    """One match: offsets are half-open; `text` is what matched, `before` and `after` the lines around it."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    text: str
    lines: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """The first matches, and their total; if not `counted_all`, there are more than `total`."""

    items: tuple[Match, ...]
    total: int
    counted_all: bool

    @property
    def truncated(self) -> bool:
        return len(self.items) < self.total or not self.counted_all


def search_text(
    text: str,
    query: str,
    *,
    regex: bool = False,
    case_sensitive: bool = True,
    whole_word: bool = False,
    limit: int = DEFAULT_LIMIT,
    context: int = 0,
) -> Matches:
    """Every match of `query`, in order and not overlapping, each with `context` lines around it."""
    flat = _Flat.of(text) if "\r" in text and not (regex and "\\r" in query) else None
    if flat is not None and not regex:
        query = _flatten(query)
    pattern = compile_query(query, regex=regex, case_sensitive=case_sensitive, whole_word=whole_word)
    spans: list[tuple[int, int]] = []
    total = 0
    deadline = time.monotonic() + COUNTING_SECONDS
    counted_all = True
    for span in find_all(text, pattern) if flat is None else flat.find_all(pattern):
        if total < limit:
            spans.append(span)
        elif total >= COUNTED_AT_MOST or time.monotonic() > deadline:
            counted_all = False
            break
        total += 1
    page = _Page(text) if spans else None
    items = () if page is None else tuple(page.match(start, end, context) for start, end in spans)
    return Matches(items, total, counted_all)


def find_all(text: str, pattern: Pattern) -> Iterator[tuple[int, int]]:
    """The spans of all matches in code points, each found after the end of the previous one."""
    data = text.encode()
    plain = len(data) == len(text)
    find_next = pattern.on(data)
    at = 0  # in bytes; `offset` is the same position in code points
    counted = offset = 0
    while at <= len(data) and (found := find_next(at)) is not None:
        start, end = found
        if plain:
            yield start, end
        else:
            first = offset + _count(data, counted, start)
            counted, offset = end, first + _count(data, start, end)
            yield first, offset
        at = end if end > start else _next_character(data, end)


def _flatten(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Flat:
    """A text in which every line ends with "\\n", so that `$` and a quoted passage mean the same in all of them."""

    def __init__(self, text: str, shortened: list[int]) -> None:
        self.text = text
        self.shortened = shortened  # where in the flat text a "\\n" stands for two characters

    @staticmethod
    def of(text: str) -> _Flat:
        pieces = text.split("\r\n")
        ends = accumulate(map(len, pieces[:-1]))
        return _Flat(_flatten(text), [end + number for number, end in enumerate(ends)])

    def find_all(self, pattern: Pattern) -> Iterator[tuple[int, int]]:
        for start, end in find_all(self.text, pattern):
            yield self._original(start), self._original(end)

    def _original(self, offset: int) -> int:
        return offset + bisect_left(self.shortened, offset)


def _count(data: bytes, start: int, end: int) -> int:
    return len(str(data[start:end], "utf-8"))


def _next_character(data: bytes, at: int) -> int:
    """The start of the next character: after an empty match the search continues there."""
    at += 1
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


class _Page:
    """A text with its lines, to convert offsets to lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = split_lines(text) or [""]
        self.starts = [0, *accumulate(map(len, self.lines))]
        if text.endswith(("\n", "\r")):
            self.lines.append("")  # the empty position after the last line, where an empty match may be
        else:
            self.starts.pop()

    def match(self, start: int, end: int, context: int) -> Match:
        line = self._line(start)
        last = line if end == start else self._line(end - 1)
        return Match(
            start,
            end,
            line,
            start - self.starts[line],
            last,
            self.text[start:end],
            self._bare(line, last + 1),
            self._bare(max(0, line - context), line),
            self._bare(last + 1, last + 1 + context),
        )

    def _line(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def _bare(self, start: int, end: int) -> tuple[str, ...]:
        # The position after a final newline is not a line of the document, so it is never context.
        end = min(end, len(self.lines) - (end > start + 1 and self.lines[-1] == ""))
        return tuple(line.rstrip("\r\n") for line in self.lines[start:end])
