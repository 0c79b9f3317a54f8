"""From a file's bytes to its matching lines, as ripgrep would show them: one hit per line, at its first match.

A line ends at "\r\n", "\n" or "\r", as everywhere in the program. Matching runs before decoding, because nearly all
files of a search do not match. Several small files are searched at once, since a call of the engine costs more than
searching a page of text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from redraft.workspace.folder.scan import showable_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from redraft.search.index_database import IndexRow
    from redraft.search.pattern import Pattern
    from redraft.search.ripgrep import Ripgrep
    from redraft.workspace.folder.scan import FileMark, FolderReader

    Files = Sequence[tuple[str, bytes]]
    Texts = Callable[[Sequence[int]], Mapping[int, "LinedText"]]
    Place = tuple[str, IndexRow | None]


class Hit(NamedTuple):
    """A line with a match. Line and column count from 0, the column in code points."""

    path: str
    line: int
    column: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class LinedText:
    """Flat bytes and their line starts, which are computed on first use and cached."""

    __slots__ = ("_starts", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts: array[int] | None = None

    @property
    def starts(self) -> array[int]:
        """The start of every line, including the one after a final line break, and where one more would start."""
        if self._starts is None:
            self._starts = array("Q", accumulate([len(line) + 1 for line in self.data.split(b"\n")], initial=0))
        return self._starts

    def lines(self, first: int, last: int) -> tuple[str, ...]:
        """The lines from one number up to another."""
        return tuple(str(self.data[self.starts[first] : self.starts[last] - 1], "utf-8").split("\n"))


def flatten(data: bytes) -> bytes:
    """The bytes with every line ending as "\\n"."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


@lru_cache(maxsize=1 << 16)
def path_order(path: str) -> str:
    """The sort key of hits: in each folder first the files, then the folders, each by name."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}\0{name}".replace("/", "\1")  # neither character occurs in a name


def find_hits(portions: Iterable[Files], pattern: Pattern, limit: int, context: int = 0) -> list[Hit]:
    """The matching lines of these files, in order, at most `limit`."""
    hits: list[Hit] = []
    for portion in portions if limit > 0 else ():
        for path, data in find_matching(portion, pattern):
            if pattern.find(data, 0) is not None and showable_text(path, data) is not None:
                collect_hits(path, data, pattern, hits, limit, context)
                if len(hits) >= limit:
                    return hits
    return hits


def collect_hits(path: str, data: bytes, pattern: Pattern, hits: list[Hit], limit: int, context: int = 0) -> None:
    """Add the matching lines of one file, until there are `limit` hits. The bytes are flat UTF-8."""
    collect_hits_among([(path, LinedText(data))], pattern, hits, limit, context)


def collect_hits_among(
    files: Sequence[tuple[str, LinedText]], pattern: Pattern, hits: list[Hit], limit: int, context: int = 0
) -> None:
    """Like `collect_hits` for each of these files in turn, in one search: no match spans two lines."""
    joined, begins = _join([lined.data for _, lined in files])
    find_next = pattern.on(joined)
    path, lined, data, starts = "", LinedText(b""), b"", array("Q")
    at = begin = stop = 0
    while len(hits) < limit and at < begins[-1] and (found := find_next(at)) is not None:
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


def _join(texts: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """The texts joined with line breaks; and where each starts, and one more would."""
    return b"\n".join(texts), [0, *accumulate([len(data) + 1 for data in texts])]


def _around(lined: LinedText, number: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines above and below one; the position after a final newline is not a line."""
    last = len(lined.starts) - 1 - lined.data.endswith(b"\n")
    first, end = max(0, number - count), min(last, number + 1 + count)
    before = lined.lines(first, number) if first < number else ()
    return before, lined.lines(number + 1, end) if number + 1 < end else ()


def find_matching(files: Files, pattern: Pattern) -> Files:
    """The files that match (and perhaps a few more), flattened, in order."""
    sieve = pattern.sieve
    if sieve is None or sieve.folding:
        return _find_matching_joined([(path, flatten(data)) for path, data in files], pattern)
    if len(sieve.clauses) > 1 or len(sieve.clauses[0]) > 1:
        return [(path, flatten(data)) for path, data in files if sieve.holds(data)]
    [[word]] = sieve.clauses
    return [(path, flatten(data)) for path, data in files if word in data]


def _find_matching_joined(files: Files, pattern: Pattern) -> Files:
    """All in one search. A match cannot span lines, so joining files creates none."""
    joined, starts = _join([data for _, data in files])
    find_next = pattern.scan(joined)
    found: list[tuple[str, bytes]] = []
    at = 0
    while at < starts[-1] and (match := find_next(at)) is not None:
        number = bisect_right(starts, match[0]) - 1
        found.append(files[number])
        at = starts[number + 1]
    return found


# Where a search gets the contents of files: from the texts that the index stores, and otherwise from the files.
#
# A stored text may be out of date. Before a line of it is shown, the file's mark is checked again, and if it is not the
# one that the text was stored with, the file is read. The texts of many files are searched at once, because starting
# a search for each costs more than the search.
#
# Without an index, everything is read. In a large folder ripgrep may rule out files first (see `ripgrep`); the rest is
# read as usual.


# The first texts may be enough, so few are fetched at first; and the joined texts should fit into the CPU cache.
_FIRST_PORTION, _LARGEST_PORTION = 50, 100
# Read this many files before starting ripgrep: that takes as long as starting a program. ripgrep costs about half of
# reading everything, so there is nothing to gain if more than a part of the files has to be read anyway.
_FIRST_FILES, _FEW = 200, 0.4


def find_in_all(
    reader: FolderReader,
    ripgrep: Ripgrep,
    wanted: Callable[[str], bool] | None,
    pattern: Pattern,
    limit: int,
    context: int,
) -> list[Hit]:
    """The matching lines of all `wanted` files, in order, at most `limit`, without an index.

    The first files show whether ripgrep is worth starting for the others. It is not if there are no others, if the
    first ones have enough hits, if many files match, or if few of them are wanted.
    """
    looked = 0

    def count_wanted(path: str) -> bool:
        nonlocal looked
        looked += 1
        return wanted is None or wanted(path)

    portions = reader.read_all(None if wanted is None else count_wanted)
    first: list[Files] = []
    read: set[str] = set()
    while len(read) < _FIRST_FILES and (portion := next(portions, None)) is not None:
        first.append(portion)
        read.update(path for path, _ in portion)
    hits = find_hits(first, pattern, limit, context)
    rare = len({hit.path for hit in hits}) <= len(read) * _FEW and looked * _FEW <= len(read)
    paths = None
    if rare and len(hits) < limit and len(read) >= _FIRST_FILES:
        paths = ripgrep.may_match(reader, pattern)
    if paths is None:
        return hits + find_hits(portions, pattern, limit - len(hits), context)
    portions.close()
    others = sorted((path for path in paths if path not in read and (wanted is None or wanted(path))), key=path_order)
    return hits + find_hits(_read_in_portions(reader, others), pattern, limit - len(hits), context)


def _read_in_portions(reader: FolderReader, paths: Sequence[str]) -> Iterator[Files]:
    for start in range(0, len(paths), _FIRST_PORTION):
        yield [*reader.read_many(paths[start : start + _FIRST_PORTION])]


def find_in_places(
    reader: FolderReader, places: Sequence[Place], texts: Texts, pattern: Pattern, limit: int, context: int
) -> list[Hit]:
    """The matching lines of these files, in this order, at most `limit`. `texts` returns the stored texts."""
    hits: list[Hit] = []
    with reader.compare_marks() as has_mark:
        for portion in _portions(places):
            found, unread = _search_kept(portion, texts, has_mark, pattern, limit - len(hits), context)
            if unread:
                found += find_hits([[*reader.read_many(unread)]], pattern, limit - len(hits), context)
                turn = {path: at for at, (path, _) in enumerate(portion)}
                found.sort(key=lambda hit: turn[hit.path])
            hits += found[: limit - len(hits)]
            if len(hits) >= limit:
                break
    return hits


def _search_kept(
    portion: Sequence[Place],
    texts: Texts,
    has_mark: Callable[[str, FileMark], bool],
    pattern: Pattern,
    limit: int,
    context: int,
) -> tuple[list[Hit], list[str]]:
    """The hits in stored texts, all verified, and the files that have to be read.

    A text that turns out to be outdated may have used up the limit, so the others are searched again without it.
    """
    rows = {path: row for path, row in portion if row is not None}
    stored = texts([row.number for row in rows.values()])
    if len(stored) < len(rows):
        rows = {path: row for path, row in rows.items() if row.number in stored}
    while True:
        hits: list[Hit] = []
        collect_hits_among([(path, stored[row.number]) for path, row in rows.items()], pattern, hits, limit, context)
        unproven = [path for path in dict.fromkeys([hit.path for hit in hits]) if not has_mark(path, rows[path].mark)]
        if not unproven:
            return hits, [path for path, _ in portion if path not in rows] if len(rows) < len(portion) else []
        for path in unproven:
            del rows[path]


def _portions(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    size, start = _FIRST_PORTION, 0
    while start < len(places):
        yield places[start : start + size]
        start += size
        size = min(2 * size, _LARGEST_PORTION)
