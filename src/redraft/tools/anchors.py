"""Finding the passage that a caller quotes: there once, or refused with the places where it is or what comes near.

An anchor also carries an edit over changes elsewhere: the range that was meant moves to where the quoted text now
stands. It moves only if the text that the caller read is known to have had that passage once, where the caller says,
and if the lines that the edit would replace are still what was read: an edit never takes out words that its author has
not seen, nor lands on a passage that only reads like the one that was meant.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused, Stale
from redraft.search.pattern import compile_query
from redraft.search.within import find_all
from redraft.text.finding import find_passage
from redraft.text.lines import split_lines
from redraft.tools.editing import check_range, in_style
from redraft.tools.staleness import old_text, short

if TYPE_CHECKING:
    from redraft.text.text import Text
    from redraft.tools.context import ToolContext
    from redraft.workspace.document import Document

MAX_PLACES = 10
NEAR_MISSES = 3
NEAR = 0.6
# Near misses are a courtesy on the way to a refusal: a long document is not searched to its end for them.
MAX_LINES = 50_000
MAX_CANDIDATES = 200
# A passage that agrees so far is near enough to be shown, however long the quotation is.
NEAR_WORDS, NEAR_CHARACTERS = 50, 2000
_FOLDED = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "})


def find_once(document: Document, quoted: str) -> int:
    """Where the passage stands; refused where that is nowhere or more than once."""
    text, wanted = document.text, in_style(quoted, document)
    found = list(islice(find_passage(text, wanted), MAX_PLACES))
    if not found:
        raise Refused(
            f"The quoted passage is not in {document.path}.",
            code="anchor_not_found",
            path=document.path,
            near_misses=near_misses(text, str(text), wanted),
        )
    if len(found) > 1:
        raise Refused(
            f"The quoted passage occurs {str(text).count(wanted)} times in {document.path}.",
            code="anchor_ambiguous",
            path=document.path,
            places=[_place(text, text.line_at(at)) for at in found],
        )
    return found[0]


def _place(text: Text, line: int) -> dict[str, Any]:
    return {"line": line, "text": short(text.line(line).rstrip("\r\n"))}


def near_misses(text: Text, content: str, wanted: str) -> list[dict[str, Any]]:
    """What the caller may have meant: the passage but for its blanks, quotes and dashes, else lines like its first."""
    words = wanted[:NEAR_CHARACTERS].translate(_FOLDED).split()[:NEAR_WORDS]
    if words:
        loose = compile_query(r"\s+".join(map(re.escape, words)), regex=True)
        found = [at for at, _ in islice(find_all(content.translate(_FOLDED), loose), NEAR_MISSES)]
        if found:
            return [_place(text, text.line_at(at)) for at in found]
    return _similar_lines(text, wanted)


def _similar_lines(text: Text, wanted: str) -> list[dict[str, Any]]:
    first = next((line.strip() for line in split_lines(wanted) if line.strip()), "")
    words = set(first.casefold().split())
    if not words:
        return []
    lines = text.lines(0, min(text.line_count, MAX_LINES))
    shared = [(len(words & set(line.casefold().split())), -number) for number, line in enumerate(lines)]
    likely = sorted((each for each in shared if each[0]), reverse=True)[:MAX_CANDIDATES]
    matcher = SequenceMatcher(b=first[:500], autojunk=False)
    scored: list[tuple[float, int]] = []
    for _, number in likely:
        matcher.set_seq1(lines[-number].strip()[:500])
        if matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR:
            scored.append((matcher.ratio(), number))
    return [_place(text, -number) for _, number in sorted(scored, reverse=True)[:NEAR_MISSES]]


def anchored_line(document: Document, quoted: str, version: str, context: ToolContext) -> int:
    """The last line of the one place where the passage stands, now and in the text of `version`."""
    at = find_once(document, quoted)
    wanted = in_style(quoted, document)
    if not context.holds(document, version):
        then = old_text(context, document.path, version)
        if then is None:
            raise _stale(document, version, f"{document.path} is not known here in the version that the call names.")
        if _only_line(then, wanted) is None:
            raise _stale(document, version, f"{document.path} changed, and the passage did not stand there once.")
    return document.text.line_at(at + max(len(wanted.rstrip("\r\n")) - 1, 0))


def anchored_range(
    document: Document, start: int, end: int, quoted: str, version: str, context: ToolContext
) -> tuple[int, int]:
    """The lines (from 0, inclusive) that are meant now, given those that were meant in the text of `version`."""
    at = find_once(document, quoted)
    here = document.text.line_at(at)
    if not 0 <= start <= end:
        check_range(document, start, end)
    # In a batch the lines are those that it has left so far, though the version is that from before it.
    if version == document.version or (start <= here <= end and context.holds(document, version)):
        check_range(document, start, end)
        if not start <= here <= end:
            message = f"The quoted passage begins on line {here}, not in lines {start} to {end}."
            raise Refused(message, field="match_text", path=document.path, line=here)
        return start, end
    count = end - start + 1
    wanted = in_style(quoted, document)
    then = old_text(context, document.path, version)
    if then is None:
        # Without the old text, only lines that are quoted whole are known to be the ones that were read.
        if not _quotes_whole(document, at, here, here + count, wanted):
            raise _stale(document, version)
        return here, here + count - 1
    there = _only_line(then, wanted)
    if there is None or not start <= there <= end:
        raise _stale(document, version)
    moved = here - (there - start)
    if not _same_lines(then, start, document.text, moved, count):
        raise _stale(document, version)
    return moved, moved + count - 1


def _only_line(text: Text, wanted: str) -> int | None:
    """The line on which the passage begins, if it stands there and nowhere else."""
    content = str(text)
    at = content.find(wanted)
    return None if at < 0 or content.find(wanted, at + 1) >= 0 else text.line_at(at)


def _quotes_whole(document: Document, at: int, first: int, stop: int, wanted: str) -> bool:
    """Whether the quoted passage, found at `at`, holds all of these lines; the last newline may be left out."""
    text = document.text
    if stop > text.line_count or at != text.line_start(first):
        return False
    *before, last = text.lines(first, stop)
    return wanted.startswith("".join(before) + last.rstrip("\r\n"))


def _same_lines(then: Text, first: int, now: Text, moved: int, count: int) -> bool:
    inside = 0 <= first <= then.line_count - count and 0 <= moved <= now.line_count - count
    return inside and then.lines(first, first + count) == now.lines(moved, moved + count)


def _stale(document: Document, version: str, message: str = "") -> Stale:
    return Stale(
        message or f"{document.path} changed since it was read, in the lines that this edit would replace.",
        path=document.path,
        your_version=version,
        current_version=document.version,
    )
