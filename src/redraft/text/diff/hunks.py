"""The difference of two texts as hunks that a person can judge one by one.

A hunk says what it removes and what it inserts, and where; so any subset of a diff's hunks applies, in any order of
decisions, and a hunk that no longer fits is refused, never bent. Hunks are in order and never overlap; they may touch,
and they may begin and end within a line. A hunk's id depends on its content alone and survives changes elsewhere.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.line_diff import LineRegion, diff_lines
from redraft.text.diff.sequence_diff import Region, diff_sequences
from redraft.text.diff.word_diff import is_reflow, vocabulary, word_edits
from redraft.text.edits import Change, Edit, Span
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import count_breaks, count_lines, split_lines
from redraft.text.markdown_blocks import fences, has_fence
from redraft.text.sentences import sentences
from redraft.text.units import Unit, Within, units

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

# From changed lines to changes that a person can judge: prose is not code.
#
# Lines are how a text is stored; a person thinks in paragraphs, list items, rows and sentences. Two regions in one
# code block, or in one rewrapped paragraph, become one piece. A region over several units becomes a piece for each
# unit that has a similar one on the other side, and a paragraph written on one long line is cut into its sentences.
# Units without a counterpart stay together. Pieces are regions in code points; they may touch, never overlap, and
# together they are exactly the original change.


# A line longer than this is a paragraph on one line.
_LONG_LINE = 240
# Regions are joined only up to the size that a person can judge at once (the guard's own default).
_MOST_LINES = 80
# Larger regions are not cut: so much new text is not a set of small changes, and the guard splits what is too large.
_LARGEST = 8_000
_MOST_PAIRINGS = 400
# Units are similar from this share of common words on.
_ALIKE = 0.4
_PROSE = ("paragraph", "list_item", "quote")


def semantic_regions(old: str, new: str, regions: Sequence[Region]) -> list[Region]:
    """The regions (in code points, on whole lines), joined and cut into what is judged separately."""
    if not regions:
        return []
    setting = _Setting(old, new)
    found: list[Region] = []
    for region in _join_regions(regions, setting):
        found += _cut_region(region, setting)
    return found


class _Setting:
    """Where in the two documents a region is: in the frontmatter, in a code block, or in the body."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self._frontmatter = frontmatter_end(old)
        self._blocks = _CodeBlocks(old, self._frontmatter)

    @cached_property
    def _new_blocks(self) -> _CodeBlocks:
        return _CodeBlocks(self.new, frontmatter_end(self.new))

    def block(self, region: Region) -> int | None:
        """The number of the code block in which a region begins; an insertion before a block is not in it."""
        first = region.old_start if region.old_end > region.old_start else region.old_start - 1
        return self._blocks.at(first, region.old_start)

    def around(self, region: Region) -> Within:
        if region.old_start < self._frontmatter:
            return "frontmatter"
        return "body" if self.block(region) is None else "code"

    def old_units(self, start: int, end: int, within: Within) -> list[Unit]:
        return units(self.old[start:end], within=within, code=self._blocks.within(start, end))

    def new_units(self, start: int, end: int, within: Within) -> list[Unit]:
        part = self.new[start:end]
        return units(part, within=within, code=self._new_blocks.within(start, end) if has_fence(part) else ())


class _CodeBlocks:
    """The code blocks of one text, in order."""

    def __init__(self, text: str, start: int) -> None:
        self._blocks = fences(text, start)
        self._starts = [block.start for block in self._blocks]

    def at(self, first: int, place: int) -> int | None:
        """The number of the block that begins at or before `first` and ends after `place`."""
        index = bisect_right(self._starts, first) - 1
        return index if index >= 0 and place < self._blocks[index].end else None

    def within(self, start: int, end: int) -> list[Span]:
        """The code in a part of the text, by offsets in that part."""
        first, last = bisect_right(self._starts, start), bisect_left(self._starts, end)
        if first and self._blocks[first - 1].end > start:
            first -= 1
        return [
            Span(max(block.start, start) - start, min(block.end, end) - start) for block in self._blocks[first:last]
        ]


def _join_regions(regions: Sequence[Region], setting: _Setting) -> list[Region]:
    joined = [regions[0]]
    for region in regions[1:]:
        both = joined[-1].join(region)
        if both.size <= _LARGEST and _belong_together(joined[-1], region, setting):
            joined[-1] = both
        else:
            joined.append(region)
    return joined


def _belong_together(before: Region, after: Region, setting: _Setting) -> bool:
    """Whether two regions should first be treated as one. If only blank lines separate them, it does not matter which
    blank line is which; and a code block or a rewrapped paragraph is judged as a whole."""
    old, new = setting.old, setting.new
    block = setting.block(before)
    apart = block is None and not old[before.old_end : after.old_start].isspace()
    if apart and not _is_wrapped(old, new, before) and not _is_wrapped(old, new, after):
        return False
    if block != setting.block(after) or setting.around(before) != setting.around(after):
        return False
    sides = (before.old_start, after.old_end), (before.new_start, after.new_end)
    if max(count_lines(old[slice(*sides[0])]), count_lines(new[slice(*sides[1])])) > _MOST_LINES:
        return False
    if not apart:
        return True
    return _is_one_unit(setting.old_units(*sides[0], "body")) and _is_one_unit(setting.new_units(*sides[1], "body"))


def _is_one_unit(found: list[Unit]) -> bool:
    """Whether this is one paragraph, item or quotation."""
    return len(found) == 1 and found[0].kind in _PROSE


def _is_wrapped(old: str, new: str, region: Region) -> bool:
    """Whether a region has text on both sides, and more than one line of it on one."""
    if region.old_start == region.old_end or region.new_start == region.new_end:
        return False
    return (
        old.find("\n", region.old_start, region.old_end - 1) >= 0
        or new.find("\n", region.new_start, region.new_end - 1) >= 0
    )


class _Part(NamedTuple):
    """A unit or a sentence."""

    kind: str
    text: str


def _cut_region(region: Region, setting: _Setting) -> Iterator[Region]:
    within = setting.around(region)
    removed, added = setting.old[region.old_start : region.old_end], setting.new[region.new_start : region.new_end]
    whole = within == "code" or not removed or not added or region.size > _LARGEST
    if whole or (_is_line(removed) and _is_line(added)):
        yield region
        return
    left = [_Part(unit.kind, unit.text) for unit in setting.old_units(region.old_start, region.old_end, within)]
    right = [_Part(unit.kind, unit.text) for unit in setting.new_units(region.new_start, region.new_end, within)]
    for found, piece in _divide(left, right, region):
        first, second = left[found.old_start : found.old_end], right[found.new_start : found.new_end]
        if _is_long_prose(first) and _is_long_prose(second):
            inner = _sentence_parts(first[0].text), _sentence_parts(second[0].text)
            yield from (sentence for _, sentence in _divide(*inner, piece))
        else:
            yield piece


def _is_line(text: str) -> bool:
    """Whether this is a single line, and not long enough to be a paragraph."""
    return len(text) <= _LONG_LINE and len(text.splitlines()) == 1


def _is_long_prose(parts: list[_Part]) -> bool:
    """Whether this is one paragraph, written on one line or a few very long ones."""
    if len(parts) != 1 or parts[0].kind not in _PROSE:
        return False
    return max(map(len, split_lines(parts[0].text))) > _LONG_LINE


def _sentence_parts(text: str) -> list[_Part]:
    """The sentences and, separately, the blanks between them."""
    parts: list[_Part] = []
    for sentence in sentences(text):
        body = sentence.rstrip()
        parts += [_Part(kind, part) for kind, part in (("sentence", body), ("blank", sentence[len(body) :])) if part]
    return parts


def _divide(left: list[_Part], right: list[_Part], region: Region) -> Iterator[tuple[Region, Region]]:
    """The changed parts of a region, by their numbers and by code points."""
    old_at = list(accumulate((len(part.text) for part in left), initial=region.old_start))
    new_at = list(accumulate((len(part.text) for part in right), initial=region.new_start))
    regions = [Region(0, len(left), 0, len(right))]
    if _pairings(left, right) > _MOST_PAIRINGS:
        regions = diff_sequences([part.text for part in left], [part.text for part in right])
    for outer in regions:
        for found in _pair_parts(left, right, outer):
            yield (
                found,
                Region(old_at[found.old_start], old_at[found.old_end], new_at[found.new_start], new_at[found.new_end]),
            )


def _pairings(left: list[_Part], right: list[_Part]) -> int:
    olds, news = (sum(part.kind != "blank" for part in side) for side in (left, right))
    return olds * news


def _pair_parts(left: list[_Part], right: list[_Part], region: Region) -> Iterator[Region]:
    """Each part that was changed into a similar one, and what is between such pairs."""
    x, y = region.old_start, region.new_start
    pairs = [(x + i, y + j) for i, j in _alike_pairs(left[x : region.old_end], right[y : region.new_end])]
    for i, j in (*pairs, (region.old_end, region.new_end)):
        for between in diff_sequences([part.text for part in left[x:i]], [part.text for part in right[y:j]]):
            yield Region(x + between.old_start, x + between.old_end, y + between.new_start, y + between.new_end)
        if (i, j) in pairs and left[i].text != right[j].text:
            yield Region(i, i + 1, j, j + 1)
        x, y = i + 1, j + 1


def _alike_pairs(left: list[_Part], right: list[_Part]) -> list[tuple[int, int]]:
    """The parts paired up in order so that the most of their words are kept; blanks are left out."""
    if _pairings(left, right) > _MOST_PAIRINGS:
        return []
    olds = [index for index, part in enumerate(left) if part.kind != "blank"]
    news = [index for index, part in enumerate(right) if part.kind != "blank"]
    old_words, new_words = [vocabulary(left[x].text) for x in olds], [vocabulary(right[y].text) for y in news]
    likeness = [
        [_likeness(left[x], words, right[y], others) for y, others in zip(news, new_words, strict=True)]
        for x, words in zip(olds, old_words, strict=True)
    ]
    # best[x][y]: the most that can be kept of the parts from x and from y on
    best = [[0.0] * (len(news) + 1) for _ in range(len(olds) + 1)]
    for x in reversed(range(len(olds))):
        for y in reversed(range(len(news))):
            best[x][y] = max(best[x + 1][y], best[x][y + 1], likeness[x][y] + best[x + 1][y + 1])
    pairs: list[tuple[int, int]] = []
    x = y = 0
    while x < len(olds) and y < len(news):
        if likeness[x][y] > 0 and best[x][y] == likeness[x][y] + best[x + 1][y + 1]:
            pairs.append((olds[x], news[y]))
            x, y = x + 1, y + 1
        elif best[x][y] == best[x + 1][y]:
            x += 1
        else:
            y += 1
    return pairs


def _likeness(old: _Part, old_words: set[str], new: _Part, new_words: set[str]) -> float:
    """The share of common words; 0 if that is too little to call one the other's successor."""
    same_key = old.kind == new.kind == "frontmatter_key" and old.text.split(":")[0] == new.text.split(":")[0]
    if same_key or old.text == new.text:
        return 1.0
    total = len(old_words) + len(new_words)
    if not total:
        return _ALIKE if old.kind == new.kind else 0.0
    share = 2 * len(old_words & new_words) / total
    return share if share >= _ALIKE else 0.0


@dataclass(frozen=True)
class Hunk:
    """One change: `old_text` at `at` in the old text became `new_text` at `new_at` in the new one.

    `old` and `new` are the lines that it touches, half-open, from 0. Only the guard sets `oversized`.
    """

    id: str
    old: Span
    new: Span
    at: int
    new_at: int
    old_text: str
    new_text: str
    oversized: bool = False

    @property
    def edit(self) -> Edit:
        """The hunk as an edit of the old text."""
        return Edit(self.at, self.old_text, self.new_text)

    @cached_property
    def words(self) -> tuple[Edit, ...]:
        """The edits by words, with offsets in `old_text`; applied to it they give `new_text`."""
        return word_edits(self.old_text, self.new_text)

    @cached_property
    def reworded(self) -> tuple[Edit, ...]:
        """Those of `words` that do more than wrap lines."""
        return tuple(edit for edit in self.words if not is_reflow(edit))

    @cached_property
    def reflow_only(self) -> bool:
        """Whether only the wrapping of lines changed, and every unit is still what it was."""
        if self.reworded or not self.words:
            return False
        old, new = (units(text, within="body") for text in (self.old_text, self.new_text))
        return [unit.kind for unit in old] == [unit.kind for unit in new]


def diff(old: str, new: str, *, markdown: bool = True) -> tuple[Hunk, ...]:
    """The hunks that turn `old` into `new`, by units of prose; by plain lines if the text is not `markdown`."""
    lines = diff_lines(old, new)
    regions = [Region(region.at, region.until, region.new_at, region.new_until) for region in lines]
    if markdown:
        regions = semantic_regions(old, new, regions)
    return tuple(_hunks(old, new, regions, lines))


def apply(old: str, hunks: Iterable[Hunk], chosen: Container[str] | None = None) -> str:
    """The old text with the hunks whose ids are chosen, or with all; raises `Stale` if it is another text."""
    return Change(tuple(hunk.edit for hunk in hunks if chosen is None or hunk.id in chosen)).apply(old)


def invert(hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """The hunks that turn the new text into the old one, given all the hunks of a diff."""
    taken: set[str] = set()
    return tuple(
        Hunk(
            fresh_id(hunk.new_text, hunk.old_text, taken),
            hunk.new,
            hunk.old,
            hunk.new_at,
            hunk.at,
            hunk.new_text,
            hunk.old_text,
            hunk.oversized,
        )
        for hunk in hunks
    )


def fresh_id(old_text: str, new_text: str, taken: set[str]) -> str:
    """An id from a hunk's content, added to `taken`; equal hunks are numbered in order."""
    for count in itertools.count():
        content = f"{count} {len(old_text)} {old_text}{new_text}"
        name = "h_" + sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:10]
        if name not in taken:
            taken.add(name)
            return name
    raise AssertionError("counting never ends")


_START = LineRegion(0, 0, 0, 0, 0, 0, 0, 0)


def _hunks(old: str, new: str, regions: Sequence[Region], lines: Sequence[LineRegion]) -> Iterator[Hunk]:
    lines = [_START, *lines]
    starts, new_starts = [line.at for line in lines], [line.new_at for line in lines]
    taken: set[str] = set()
    for region in regions:
        # The line numbers are known where changed lines begin, and any piece of them is not far from there. A piece may
        # span several of them, so it has to be after them on both sides.
        behind = min(bisect_right(starts, region.old_start), bisect_right(new_starts, region.new_start))
        known = lines[behind - 1]
        removed, added = old[region.old_start : region.old_end], new[region.new_start : region.new_end]
        if region == known[4:]:
            spans = Span(known.old_start, known.old_end), Span(known.new_start, known.new_end)
        else:
            spans = (
                line_span(old[known.at : region.old_start], removed, known.old_start),
                line_span(new[known.new_at : region.new_start], added, known.new_start),
            )
        yield Hunk(fresh_id(removed, added, taken), *spans, region.old_start, region.new_start, removed, added)


def line_span(before: str, text: str, line: int) -> Span:
    """The lines that a passage touches, given the text between it and the start of line number `line`."""
    start = line + count_breaks(before)
    inside = bool(before) and before[-1] not in "\r\n"
    if not text:
        return Span(start, start + inside)
    return Span(start, start + count_breaks(text) + (text[-1] not in "\r\n"))
