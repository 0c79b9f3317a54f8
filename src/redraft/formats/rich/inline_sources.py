"""How the words of a changed document were written before: escapes, entities, wrapping, emphasis characters.

A splice compares how the writer would write the old words and the new ones, finds those differences in the old source
and replaces them alone. Paragraphs that were split, joined, or turned into another block are spliced together, with a
blank line between two. Pure: whether the result parses as it should, the caller checks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.formats.rich.schema import Node, content_key, content_of
from redraft.text.diff.sequence_diff import Region, common_prefix, common_suffix, diff_sequences
from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redraft.formats.rich.parser import RichBlock
    from redraft.formats.rich.writer import Writer

_SINGLE_BLANK = re.compile(r"(?<=[^ ]) (?=[^ ])")
# If a paragraph's longest line is outside this range, it is not wrapped but has its breaks for another reason.
_WRAPPED = range(40, 200)
_WRITTEN_BLOCKS = ("paragraph", "heading")
# A lone blank, where two paragraphs are joined, becomes a line break only if the line is that much longer.
_MUCH_LONGER = 1.2
# Inline content never has an empty line in it.
_BETWEEN = "\n\n"


def splices(base: str, source: str, new: str) -> Iterator[str]:
    """The source with the differences between `base`, the old words as generated, and `new` put in, the likeliest
    first. Lines that become too long are wrapped inside the new words."""
    seen: set[str] = set()
    spelled = Change(
        tuple(
            Edit(each.old_start, base[each.old_start : each.old_end], source[each.new_start : each.new_end])
            for each in diff_sequences(base, source)
        )
    )
    width = max(map(len, source.split("\n"))) if "\n" in source else 0
    for regions in (diff_sequences(base, new), [_whole_region(base, new)]):
        for after in (True, False):
            spliced, added = _splice(source, new, spelled, regions, after=after)
            made = ["\n".join(_wrap(spliced, width, added))] if width in _WRAPPED else []
            for each in [*made, spliced]:
                if each not in seen:
                    seen.add(each)
                    yield each


def _whole_region(base: str, new: str) -> Region:
    start = common_prefix(base, new)
    end = common_suffix(base, new, min(len(base), len(new)) - start)
    return Region(start, len(base) - end, start, len(new) - end)


def _splice(
    source: str, new: str, spelled: Change, regions: Sequence[Region], *, after: bool
) -> tuple[str, list[range]]:
    """The text, and the ranges of it that are new. A change begins after what only the source has at its edge if
    `after` (a space that is not shown, which must stay), else before (the backslash of a bracket)."""
    pieces: list[str] = []
    added: list[range] = []
    at = length = 0
    for region in regions:
        start = max(spelled.map(region.old_start, after=after), at)
        stop = max(spelled.map(region.old_end, after=after and region.old_end == region.old_start), start)
        words = new[region.new_start : region.new_end]
        pieces += (source[at:start], words)
        length += start - at
        added.append(range(length, length + len(words)))
        length += len(words)
        at = stop
    return "".join([*pieces, source[at:]]), added


def _wrap(text: str, width: int, added: Sequence[range]) -> Iterator[str]:
    """The lines of a text. A line longer than the paragraph's others is wrapped, but only inside added text, and only
    at single spaces: several at the end of a line may mean something."""
    at = 0
    for line in text.split("\n"):
        wide = len(line) > width * _MUCH_LONGER
        blanks = [
            found.start()
            for found in _SINGLE_BLANK.finditer(line)
            if any(at + found.start() in each and (len(each) > 1 or wide) for each in added)
        ]
        start = 0
        while len(line) - start > width:
            fitting = [blank for blank in blanks if start < blank <= start + width]
            place = fitting[-1] if fitting else next((blank for blank in blanks if blank > start), None)
            if place is None:
                break
            yield line[start:place]
            start = place + 1
        yield line[start:]
        at += len(line) + 1


def written_before(old: Iterable[RichBlock], new: Iterable[Node], writer: Writer) -> dict[str, str]:
    """How to write the words of the new blocks: as in the old ones, by `content_key`."""
    before = [leaf for block in old for leaf in _leaves(block)]
    after = [leaf for block in new for leaf in _text_blocks(block)]
    keys = [content_key(leaf.node) for leaf in before]
    wanted = [content_key(leaf) for leaf in after]
    found = {key: leaf.words for key, leaf in zip(keys, before, strict=True) if leaf.words is not None}
    for region in diff_sequences(keys, wanted):
        olds, news = before[region.old_start : region.old_end], after[region.new_start : region.new_end]
        # What changed within one paragraph is spliced where that stands.
        if len(olds) == len(news) and all(o.node["type"] == n["type"] for o, n in zip(olds, news, strict=True)):
            continue
        found |= _across(olds, news, writer)
    return found


def _across(old: Sequence[RichBlock], new: Sequence[Node], writer: Writer) -> dict[str, str]:
    """The words of blocks that were split or joined."""
    source = _BETWEEN.join(leaf.words or "" for leaf in old)
    base = _BETWEEN.join(writer.anew(leaf.node) for leaf in old)
    for spliced in splices(base, source, _BETWEEN.join(map(writer.anew, new))):
        parts = spliced.split(_BETWEEN)
        if len(parts) == len(new):
            pairs = zip(new, parts, strict=True)
            return {content_key(leaf): part for leaf, part in pairs if writer.parses_as(part, leaf)}
    return {}


def _leaves(block: RichBlock) -> Iterator[RichBlock]:
    """The paragraphs and headings of a block."""
    if block.words is not None:
        yield block
    for inner in block.inside:
        yield from _leaves(inner)


def _text_blocks(shape: Node) -> Iterator[Node]:
    if shape["type"] in _WRITTEN_BLOCKS:
        if content_of(shape):
            yield shape
    elif shape["type"] != "table":
        for inner in content_of(shape):
            yield from _text_blocks(inner)
