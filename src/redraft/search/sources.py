"""Where a search gets the contents of files from: the texts that the index keeps, and for the rest the files.

A kept text is only ever a guess at what a file holds. Before a line of it is shown, the file's mark is looked at once
more, and if it is not the one that proves the text, the file is read. The texts of many files are searched in one go,
because to begin anew with each costs more than to search it.

Where there is no index, everything is read. In a large folder ripgrep may rule files out beforehand (see `ripgrep`);
what it leaves is read like anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.search.hits import find_hits, hits_among, order
from redraft.workspace.reading import looking, read_all, read_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from redraft.search.hits import Files, Hit, Lined
    from redraft.search.pattern import Pattern
    from redraft.search.records import Row
    from redraft.search.ripgrep import Ripgrep
    from redraft.workspace.engine import Engine
    from redraft.workspace.reading import Mark

    Texts = Callable[[Sequence[int]], Mapping[int, Lined]]
    # A path, and its row where the file is as the index knows it.
    Place = tuple[str, Row | None]

# The first texts may be all that is wanted, so few are fetched at first; and what is joined should fit into a cache.
_FIRST_PORTION, _LARGEST_PORTION = 50, 100
# So many files are read before anybody else is asked: it takes as long as to start a program. To ask costs about half
# of reading everything, so there is nothing to gain where more than a part of the files has to be read all the same.
_FIRST_FILES, _FEW = 200, 0.4


def find_in_all(
    engine: Engine,
    ripgrep: Ripgrep,
    wanted: Callable[[str], bool] | None,
    pattern: Pattern,
    limit: int,
    context: int,
) -> list[Hit]:
    """The matching lines of all files that are wanted, in order, up to a number of them, where nothing is kept.

    The first files tell whether it is worth while to ask ripgrep about the others: not where there are no others, where
    they hold enough by themselves, where many files match, or where few of them are wanted.
    """
    looked = 0

    def counting(path: str) -> bool:
        nonlocal looked
        looked += 1
        return wanted is None or wanted(path)

    portions = read_all(engine, None if wanted is None else counting)
    first: list[Files] = []
    read: set[str] = set()
    while len(read) < _FIRST_FILES and (portion := next(portions, None)) is not None:
        first.append(portion)
        read.update(path for path, _ in portion)
    hits = find_hits(first, pattern, limit, context)
    rare = len({hit.path for hit in hits}) <= len(read) * _FEW and looked * _FEW <= len(read)
    paths = None
    if rare and len(hits) < limit and len(read) >= _FIRST_FILES:
        paths = ripgrep.may_match(engine, pattern)
    if paths is None:
        return hits + find_hits(portions, pattern, limit - len(hits), context)
    portions.close()
    others = sorted((path for path in paths if path not in read and (wanted is None or wanted(path))), key=order)
    return hits + find_hits(_read_in_portions(engine, others), pattern, limit - len(hits), context)


def _read_in_portions(engine: Engine, paths: Sequence[str]) -> Iterator[Files]:
    for start in range(0, len(paths), _FIRST_PORTION):
        yield [*read_many(engine, paths[start : start + _FIRST_PORTION])]


def find_in_places(
    engine: Engine, places: Sequence[Place], texts: Texts, pattern: Pattern, limit: int, context: int
) -> list[Hit]:
    """The matching lines of these files, in this order, up to a number of them. `texts` gives what is kept of them."""
    hits: list[Hit] = []
    with looking(engine) as has_mark:
        for portion in _portions(places):
            found, unread = _in_kept(portion, texts, has_mark, pattern, limit - len(hits), context)
            if unread:
                found += find_hits([[*read_many(engine, unread)]], pattern, limit - len(hits), context)
                turn = {path: at for at, (path, _) in enumerate(portion)}
                found.sort(key=lambda hit: turn[hit.path])
            hits += found[: limit - len(hits)]
            if len(hits) >= limit:
                break
    return hits


def _in_kept(
    portion: Sequence[Place],
    texts: Texts,
    has_mark: Callable[[str, Mark], bool],
    pattern: Pattern,
    limit: int,
    context: int,
) -> tuple[list[Hit], list[str]]:
    """What the kept texts show, all of it proven, and the files that are to be read.

    A text that turns out unproven may have used up the limit, so the others are searched again without it.
    """
    known = {path: row for path, row in portion if row is not None}
    kept = texts([row.number for row in known.values()])
    if len(kept) < len(known):
        known = {path: row for path, row in known.items() if row.number in kept}
    while True:
        hits: list[Hit] = []
        hits_among([(path, kept[row.number]) for path, row in known.items()], pattern, hits, limit, context)
        unproven = [path for path in dict.fromkeys([hit.path for hit in hits]) if not has_mark(path, known[path].mark)]
        if not unproven:
            return hits, [path for path, _ in portion if path not in known] if len(known) < len(portion) else []
        for path in unproven:
            del known[path]


def _portions(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    size, start = _FIRST_PORTION, 0
    while start < len(places):
        yield places[start : start + size]
        start += size
        size = min(2 * size, _LARGEST_PORTION)
