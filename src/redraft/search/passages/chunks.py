"""Cut a document into passages, and passages into tiles.

A passage is the unit that search ranks: a section of the document's outline if it is not too long, else some of its
paragraphs, up to about 200 words together. A tile is a few whole sentences of a passage, about 50 words: close enough
to a question's size to be compared with it, and small enough to give a useful line number. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from redraft.formats.outline.outline import outline
from redraft.text.lines import count_breaks, split_lines
from redraft.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from redraft.formats.outline.outline import Format, Outline

PASSAGE_WORDS = 200
# A section may exceed a passage by this much before it is cut: half a passage more is better than a section in two.
SECTION_WORDS = PASSAGE_WORDS * 3 // 2
TILE_WORDS = 50
HEADING_DEPTH = 6
# In text without spaces, this many characters count as a word.
_WORD_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: its lines, half-open from 0, its text, and the headings above it.

    Passages share a line only if it is too long for one passage.
    """

    start_line: int
    end_line: int
    text: str
    under: str = ""


@dataclass(frozen=True, slots=True)
class SentenceGroup:
    """A few sentences of a passage, and the line of the document on which they begin."""

    line: int
    text: str


def document_chunks(text: str, format: Format) -> list[Chunk]:  # noqa: A002 - as everywhere in formats
    """The passages of a document, cut along its structure."""
    lines = split_lines(text)
    if format in ("json", "yaml"):
        return _chunks(lines, _keys(outline(text, format, max_depth=2), lines))
    found = outline(text, format, max_depth=HEADING_DEPTH)
    # Without better hints, the outline of plain text consists of paragraphs; they divide nothing here.
    return _chunks(
        lines, {each.line_start: each.level for each in found.walk() if each.detected_by != "paragraph_break"}
    )


def _keys(found: Outline, lines: Sequence[str]) -> dict[int, int]:
    """The keys of a data file that start a passage; nested ones only if their parent is too large for one.

    Thousands of keys may be on one line, so no line is measured more than once."""
    starts: dict[int, int] = {}
    until = [0, *accumulate(map(weight, lines))]
    for entry in found.entries:
        starts.setdefault(entry.line_start, entry.level)
        end = len(lines) if entry.line_end is None else entry.line_end + 1
        if until[end] - until[entry.line_start] > SECTION_WORDS:
            for child in entry.children:
                starts.setdefault(child.line_start, child.level)
    return starts


def _chunks(lines: Sequence[str], starts: Mapping[int, int]) -> list[Chunk]:
    """The passages of lines, some of which (line -> level) start a section.

    Joined they are the text, except for blank space at its start and end.
    """
    found: list[Chunk] = []
    for start, end in _sections(lines, starts):
        if start in starts and sum(map(weight, lines[start:end])) <= SECTION_WORDS:
            found.append(Chunk(start, end, "".join(lines[start:end])))
        else:
            found += _paragraphs(lines, start, end)
    return _attach_headings(found, lines, starts)


def _attach_headings(found: Iterable[Chunk], lines: Sequence[str], starts: Mapping[int, int]) -> list[Chunk]:
    """Every passage with the headings above it: a heading applies to everything below it."""
    waiting = sorted(starts, reverse=True)
    above: list[int] = []
    done: list[Chunk] = []
    for chunk in found:
        while waiting and waiting[-1] <= chunk.start_line:
            line = waiting.pop()
            above = [*(other for other in above if starts[other] < starts[line]), line]
        under = "".join(lines[line] for line in above if line < chunk.start_line)
        done.append(replace(chunk, under=under) if under else chunk)
    return done


def _sections(lines: Sequence[str], starts: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Where sections are, none of them blank. A heading directly followed by a deeper one joins that section."""
    start, bare = 0, -1  # `bare` is the level of the last heading, while nothing has followed it
    filled = False
    for number, line in enumerate(lines):
        level = starts.get(number)
        if level is not None and filled and not 0 <= bare < level:
            yield start, number
            start = number
        if line.strip():
            filled = True
            bare = -1 if level is None else level
    if filled:
        yield start, len(lines)


def _paragraphs(lines: Sequence[str], start: int, end: int) -> list[Chunk]:
    """A section in passages: cut at the first blank line after half the size, at any line when it is full."""
    found: list[Chunk] = []
    first, size = start, 0
    for number in range(start, end):
        line = lines[number]
        more = weight(line)
        if size and (size + more > PASSAGE_WORDS or (size > PASSAGE_WORDS // 2 and not more)):
            found.append(Chunk(first, number, "".join(lines[first:number])))
            first, size = number, 0
        if more > PASSAGE_WORDS:
            found += _pieces(lines, first, number)
            first, more = number + 1, 0
        size += more
    if size:
        found.append(Chunk(first, end, "".join(lines[first:end])))
    elif found and first < end:
        found[-1] = Chunk(found[-1].start_line, end, found[-1].text + "".join(lines[first:end]))
    return _merge_scrap(found)


def _pieces(lines: Sequence[str], start: int, number: int) -> list[Chunk]:
    """A line too long for a passage; blank lines before it join its first piece."""
    before = "".join(lines[start:number])
    first, *rest = pack_sentences(lines[number], PASSAGE_WORDS)
    return [Chunk(start, number + 1, before + first), *(Chunk(number, number + 1, text) for text in rest)]


def _merge_scrap(found: list[Chunk]) -> list[Chunk]:
    """Join a few words left at the end of a section to the passage before: they say too little alone."""
    if len(found) > 1 and weight(found[-1].text) < PASSAGE_WORDS // 4:
        last = found.pop()
        found[-1] = Chunk(found[-1].start_line, last.end_line, found[-1].text + last.text)
    return found


def tiles(chunk: Chunk) -> list[SentenceGroup]:
    """A passage as groups of whole sentences, none empty."""
    found: list[SentenceGroup] = []
    line = chunk.start_line
    for text in pack_sentences(chunk.text, TILE_WORDS):
        body = text.lstrip()
        if body:
            found.append(SentenceGroup(line + count_breaks(text[: len(text) - len(body)]), body.rstrip()))
        line += count_breaks(text)
    return found


def tile_sentences(tile: SentenceGroup) -> list[SentenceGroup]:
    """A tile as its sentences, none empty, each with its line; one that continues on the next line counts as two."""
    found: list[SentenceGroup] = []
    line = tile.line
    for part in (part for sentence in sentences(tile.text) for part in split_lines(sentence)):
        if text := part.strip():
            found.append(SentenceGroup(line, text))
        line += count_breaks(part)
    return found


def pack_sentences(text: str, words: int) -> Iterator[str]:
    """Neighbouring sentences grouped up to this many words; joined they are the text."""
    group, size = "", 0
    for sentence in _sentences(text, words):
        more = weight(sentence)
        if size and size + more > words:
            yield group
            group, size = "", 0
        group += sentence
        size += more
    if group:
        yield group


def _sentences(text: str, words: int) -> Iterator[str]:
    """Sentences; those with too many words in parts."""
    for sentence in sentences(text):
        if weight(sentence) <= words:
            yield sentence
        else:
            yield from _parts(sentence, words)


def _parts(sentence: str, words: int) -> Iterator[str]:
    """Split into lines if there are any, else words, else characters."""
    start = 0
    while start < len(sentence):
        end = min(start + words * _WORD_LENGTH, len(sentence))
        while weight(sentence[start:end]) > words:
            end = start + (end - start) // 2
        if end < len(sentence):
            found = max(sentence.rfind("\n", start, end), sentence.rfind("\r", start, end - 1))
            found = found if found > start else sentence.rfind(" ", start, end)
            end = found + 1 if found > start else end
            end += sentence[end - 1 : end + 1] == "\r\n"  # never split a CRLF
        yield sentence[start:end]
        start = end


def weight(text: str) -> int:
    """How many words a text has, or would have if it had spaces; 0 for blank space."""
    return max(len(text.split()), len(text.strip()) // _WORD_LENGTH)
