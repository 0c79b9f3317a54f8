"""A passage is found wherever it stands, over the seams of portions and blocks too."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from redraft.text import text
from redraft.text.text import Text, find_passage

if TYPE_CHECKING:
    from collections.abc import Iterator

# Long enough lines that a text of a few of them has several blocks.
LINES = st.lists(st.sampled_from(["a" * 900, "ab" * 700, "b\r", "\n", "lamp 🕯", "x" * 2100, ""]), max_size=30)


def naive(content: str, passage: str) -> Iterator[int]:
    return (at for at in range(len(content)) if content.startswith(passage, at))


@given(LINES, st.data())
def test_every_place_of_a_passage_is_found_once_and_in_order(lines: list[str], data: st.DataObject):
    content = "\n".join(lines)
    start = data.draw(st.integers(0, len(content)))
    length = data.draw(st.sampled_from([1, 2, 40, 3000, 9000]))
    passage = content[start : start + length] or "lamp"
    passage = passage if data.draw(st.booleans()) else passage[:-1] + "p"
    with (
        patch.object(text, "PAGE_BLOCKS", 1),
        patch.object(text, "MISSES", data.draw(st.sampled_from([1, 2, 50]))),
    ):
        found = list(find_passage(Text(content), passage))
    assert found == list(naive(content, passage))


def test_what_is_not_there_and_nothing_at_all_are_nowhere():
    long = Text("one\ntwo\n" * 5000)
    assert list(find_passage(long, "three")) == []
    assert list(find_passage(long, "")) == []
    assert list(find_passage(Text(""), "one")) == []
    assert list(find_passage(long, "two\none\n" * 4999 + "two\n")) == [4]
