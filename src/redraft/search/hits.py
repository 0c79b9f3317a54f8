"""From a file's bytes to the lines that match, as ripgrep would show them: one hit a line, at its first match.

A line ends at "\\r\\n", "\\n" or "\\r", as everywhere in the program. Whether anything matches is asked before bytes
are decoded, because nearly all files of a search match nothing; several small files are asked about in one go, since
a call of the engine costs more than a page of text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from redraft.workspace.reading import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.search.pattern import Pattern

    Files = Sequence[tuple[str, bytes]]


class Hit(NamedTuple):
    """A line with a match. Line and column are counted from 0, the column in code points."""

    path: str
    line: int
    column: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Lined:
    """Flat bytes, and where their lines start: found out when the first is asked for, and then remembered."""

    __slots__ = ("_starts", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts: array[int] | None = None

    @property
    def starts(self) -> array[int]:
        """The start of every line, that after a final line break included, and where one more would start."""
        if self._starts is None:
            self._starts = array("Q", accumulate([len(line) + 1 for line in self.data.split(b"\n")], initial=0))
        return self._starts

    def lines(self, first: int, last: int) -> tuple[str, ...]:
        """The lines from one number up to another."""
        return tuple(str(self.data[self.starts[first] : self.starts[last] - 1], "utf-8").split("\n"))


def flat(data: bytes) -> bytes:
    """The bytes with every line ended by "\\n"."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


@lru_cache(maxsize=1 << 16)
def order(path: str) -> str:
    """By which hits are sorted: of a folder first its files, then its folders, each by name."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}\0{name}".replace("/", "\1")  # neither sign is in any name


def find_hits(portions: Iterable[Files], pattern: Pattern, limit: int, context: int = 0) -> list[Hit]:
    """The matching lines of these files, in their order, up to a number of them."""
    hits: list[Hit] = []
    for portion in portions if limit > 0 else ():
        for path, data in matching(portion, pattern):
            if pattern.find(data, 0) is not None and shown(path, data) is not None:
                hits_in(path, data, pattern, hits, limit, context)
                if len(hits) >= limit:
                    return hits
    return hits


def hits_in(path: str, data: bytes, pattern: Pattern, hits: list[Hit], limit: int, context: int = 0) -> None:
    """Add the matching lines of one file, until there are `limit` hits. The bytes are flat, and UTF-8."""
    hits_among([(path, Lined(data))], pattern, hits, limit, context)


def hits_among(
    files: Sequence[tuple[str, Lined]], pattern: Pattern, hits: list[Hit], limit: int, context: int = 0
) -> None:
    """As `hits_in` for each of these files in turn. They are searched in one go: no match reaches over a line."""
    joined, begins = _joined([lined.data for _, lined in files])
    following = pattern.on(joined)
    path, lined, data, starts = "", Lined(b""), b"", array("Q")
    at = begin = stop = 0
    while len(hits) < limit and at < begins[-1] and (found := following(at)) is not None:
        if found[0] >= stop:
            file = bisect_right(begins, found[0]) - 1
            (path, lined), begin, stop = files[file], begins[file], begins[file + 1]
            data, starts = lined.data, lined.starts
        place = found[0] - begin
        number = bisect_right(starts, place) - 1
        start, end = starts[number], starts[number + 1] - 1
        if start == len(data):
            at = stop  # an empty match after the last line, where there is no line
            continue
        text = str(data[start:end], "utf-8")
        column = place - start if len(text) == end - start else len(str(data[start:place], "utf-8"))
        if not context:
            hits.append(Hit(path, number, column, text))
        else:
            hits.append(Hit(path, number, column, text, *_around(lined, number, context)))
        at = begin + end + 1


def _joined(texts: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """The texts one after another, a line break between them; and where each starts, and would start after them."""
    return b"\n".join(texts), [0, *accumulate([len(data) + 1 for data in texts])]


def _around(lined: Lined, number: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines above and below one; the place after a final newline is no line."""
    last = len(lined.starts) - 1 - lined.data.endswith(b"\n")
    first, end = max(0, number - count), min(last, number + 1 + count)
    before = lined.lines(first, number) if first < number else ()
    return before, lined.lines(number + 1, end) if number + 1 < end else ()


def matching(files: Files, pattern: Pattern) -> Files:
    """Of these files, in their order, those in which the pattern matches (and perhaps some more), made flat."""
    sieve = pattern.sieve
    if sieve is None or sieve.folding:
        return _together([(path, flat(data)) for path, data in files], pattern)
    if len(sieve.clauses) > 1 or len(sieve.clauses[0]) > 1:
        return [(path, flat(data)) for path, data in files if sieve.holds(data)]
    [[word]] = sieve.clauses
    return [(path, flat(data)) for path, data in files if word in data]


def _together(files: Files, pattern: Pattern) -> Files:
    """All in one go. A match cannot cross a line, so none arises from putting one file after another."""
    joined, starts = _joined([data for _, data in files])
    following = pattern.scan(joined)
    found: list[tuple[str, bytes]] = []
    at = 0
    while at < starts[-1] and (match := following(at)) is not None:
        number = bisect_right(starts, match[0]) - 1
        found.append(files[number])
        at = starts[number + 1]
    return found
