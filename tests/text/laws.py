"""What holds for every text and every change. Each example test runs these too, so that one example shows them all."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING
from unittest.mock import patch

from hypothesis import strategies as st

from redraft.text import text as text_module
from redraft.text.edits import Change, Edit
from redraft.text.text import Text
from tests.text.naive_text import naive_cut, naive_line_numbers, naive_lines, naive_places

if TYPE_CHECKING:
    from collections.abc import Generator

# Few characters, so that seams of "\r" and "\n" are met often; two that only `str.splitlines` takes for line ends.
ALPHABET = "\r\r\n\nab, é\u0301😀\u2028\x85"
contents = st.text(alphabet=ALPHABET, max_size=60)
TINY_PAGE = 8
passages = st.text(alphabet=ALPHABET, max_size=6)


@contextmanager
def tiny_blocks() -> Generator[None]:
    """Blocks of a few characters and pages of a few blocks, so that small texts have many of both."""
    sizes = {"MIN": 4, "SOFT": 10, "MAX": 16, "LINE_RATE": 1 << 29, "PHRASE_RATE": 1 << 29}
    with ExitStack() as stack:
        for name, size in sizes.items():
            stack.enter_context(patch.object(text_module, name, size))
        stack.enter_context(patch("redraft.text.text.PAGE_BLOCKS", TINY_PAGE))
        yield


@st.composite
def changes(draw: st.DrawFn, content: str) -> Change:
    """A change of `content`: replacements, deletions and insertions, some of them side by side."""
    places = st.integers(0, len(content))
    bounds = sorted(draw(st.lists(places, max_size=8)))
    edits: list[Edit] = []
    for start, end in zip(bounds[::2], bounds[1::2], strict=False):
        edits.append(Edit(start, content[start:end], draw(passages)))
    return Change(tuple(edits))


def check_text_laws(text: Text, content: str) -> None:
    """`text` is, in everything that can be asked of it, the text with this content."""
    fresh = Text(content)
    assert str(text) == content
    assert text == fresh
    assert hash(text) == hash(fresh)
    assert text.digest == fresh.digest
    assert [block.content for block in text.blocks] == naive_cut(content)
    check_lines(text, content)


def check_lines(text: Text, content: str) -> None:
    lines = naive_lines(content)
    starts = [0, *accumulate(map(len, lines))]
    assert len(text) == len(content)
    assert text.line_count == len(lines)
    assert text.lines(0, len(lines)) == lines
    assert [text.line(number) for number in range(len(lines))] == lines
    assert [text.line_start(number) for number in range(len(lines) + 1)] == starts
    assert [text.line_at(offset) for offset in range(len(content) + 1)] == naive_line_numbers(content)


def check_change_laws(content: str, change: Change) -> None:
    """All that a change of `content` promises."""
    result = change.apply(content)
    inverse = change.invert()
    assert inverse.apply(result) == content
    assert inverse.invert() == change
    assert str(change.apply_to(Text(content))) == result
    assert change.only(range(len(change.edits))) == change
    assert change.only(()).apply(content) == content
    assert Change.from_json(json.loads(json.dumps(change.as_json()))) == change
    assert result == content or not change.is_empty
    assert change.then(Change()) == change == Change().then(change)
    assert change.then(inverse).apply(content) == content
    check_places(content, change)


def check_places(content: str, change: Change) -> None:
    offsets = range(len(content) + 1)
    for after in (False, True):
        places = [change.map(offset, after=after) for offset in offsets]
        assert places == naive_places(len(content), change, after=after)
        assert places == sorted(places)
    assert all(change.map(offset, after=False) <= change.map(offset) for offset in offsets)
