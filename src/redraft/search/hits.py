"""From a file's bytes to the lines that match, as ripgrep would show them: one hit a line, at its first match.

A line ends at "\\r\\n", "\\n" or "\\r", as everywhere in the program. Whether anything matches is asked before bytes
are decoded, because nearly all files of a search match nothing; several small files are asked about in one go, since
a call of the engine costs more than a page of text.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from redraft.search.required import required
from redraft.workspace.reading import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.search.pattern import Pattern

_TOGETHER = 64
_TOGETHER_BYTES = 1 << 20


class Hit(NamedTuple):
    """A line with a match. Line and column are counted from 0, the column in code points."""

    path: str
    line: int
    column: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def flat(data: bytes) -> bytes:
    """The bytes with every line ended by "\\n"."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def order(path: str) -> str:
    """By which hits are sorted: of a folder first its files, then its folders, each by name."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}\0{name}".replace("/", "\1")  # neither sign is in any name


def find_hits(files: Iterable[tuple[str, bytes]], pattern: Pattern, limit: int, context: int = 0) -> list[Hit]:
    """The matching lines of these files, in their order, up to a number of them."""
    hits: list[Hit] = []
    for path, data in matching(files, pattern):
        if len(hits) >= limit:
            break
        hits += islice(hits_in(path, data, pattern, context), limit - len(hits))
    return hits


def hits_in(path: str, data: bytes, pattern: Pattern, context: int = 0) -> Iterator[Hit]:
    """The matching lines of one file; none where its content may not be shown. The bytes are flat."""
    found = pattern.find(data, 0)
    if found is None or shown(path, data) is None:
        return
    lines = data.split(b"\n") if context else []
    if lines and not lines[-1]:
        lines.pop()
    number = counted = 0
    while found is not None:
        start = data.rfind(b"\n", 0, found[0]) + 1
        if start == len(data):
            return  # an empty match after the last line, where there is no line
        end = data.find(b"\n", found[0])
        end = len(data) if end < 0 else end
        number += data.count(b"\n", counted, start)
        counted = start
        column = len(str(data[start : found[0]], "utf-8"))
        hit = Hit(path, number, column, str(data[start:end], "utf-8"))
        yield _with_context(hit, lines, context) if context else hit
        found = pattern.find(data, end + 1) if end + 1 < len(data) else None


def _with_context(hit: Hit, lines: list[bytes], context: int) -> Hit:
    before = lines[max(0, hit.line - context) : hit.line]
    after = lines[hit.line + 1 : hit.line + 1 + context]
    return hit._replace(before=_decoded(before), after=_decoded(after))


def _decoded(lines: list[bytes]) -> tuple[str, ...]:
    return tuple(str(line, "utf-8") for line in lines)


def matching(files: Iterable[tuple[str, bytes]], pattern: Pattern) -> Iterator[tuple[str, bytes]]:
    """Of these files, in their order, those in which the pattern matches (and perhaps some more), made flat."""
    needles = _needles(pattern)
    if len(needles) == 1:
        [needle] = needles
        for path, data in files:
            if needle in data:
                yield path, flat(data)
        return
    if needles:
        for path, data in files:
            if any(needle in data for needle in needles):
                yield path, flat(data)
        return
    batch: list[tuple[str, bytes]] = []
    size = 0
    for path, data in files:
        batch.append((path, flat(data)))
        size += len(data)
        if len(batch) == _TOGETHER or size > _TOGETHER_BYTES:
            yield from _together(batch, pattern)
            batch, size = [], 0
    yield from _together(batch, pattern)


def _together(batch: list[tuple[str, bytes]], pattern: Pattern) -> list[tuple[str, bytes]]:
    # A match cannot cross a line, so none arises from putting one file after another.
    if batch and pattern.find(b"\n".join([data for _, data in batch]), 0) is not None:
        return batch
    return []


def _needles(pattern: Pattern) -> list[bytes]:
    """Bytes of which a file must hold one; asked before the engine is. None where letter case may be folded."""
    if not pattern.case_sensitive or (pattern.regex and "(?" in pattern.query):
        return []
    clauses = required(pattern.query, regex=pattern.regex)
    best = max(clauses, key=lambda clause: (-len(clause), min(map(len, clause))), default=())
    return [word.encode() for word in best]
