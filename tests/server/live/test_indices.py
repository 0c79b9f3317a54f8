"""Bytes and code points: whatever a replica tells of its text is the same change of ours, and the other way round."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycrdt import Doc
from pycrdt import Text as SharedText

from redraft.server.live.byte_offsets import InvalidOffset, byte_length, change_of, places_of
from redraft.text.diff.word_diff import word_edits
from redraft.text.edits import Change, Edit
from redraft.text.text import Text
from tests.conftest import TORTURE

EXAMPLES = 5000 if TORTURE else 60
# One, two, three and four bytes; marks that belong to what stands before them; line ends of every kind.
PIECES = st.sampled_from(
    ["a", "é", "e\u0301", "क्षि", "漢", "😀", "👩‍👩‍👧", "🇩🇪", "\r\n", "\n", "\r", " ", "\ufeff", "word"]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
LONG = st.tuples(TEXTS, st.integers(0, 2000)).map(lambda made: made[0] + "é😀 line\r\n" * made[1])


def replica(text: str) -> tuple[Doc[Any], SharedText, list[Any]]:
    doc: Doc[Any] = Doc()
    shared: SharedText = doc.get("text", type=SharedText)
    shared.insert(0, text)
    told: list[Any] = []
    shared.observe(lambda event: told.append(event.delta))
    return doc, shared, told


@settings(max_examples=EXAMPLES)
@given(st.one_of(TEXTS, LONG), st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 5), TEXTS), max_size=6))
def test_what_a_replica_tells_is_what_happened(before: str, acts: list[tuple[int, int, str]]):
    doc, shared, told = replica(before)
    now = before
    with doc.transaction():
        for place, taken, new in acts:
            at = place % (len(now) + 1)
            start, end = len(now[:at].encode()), len(now[: at + taken].encode())
            if end > start:
                del shared[start:end]
            if new:
                shared.insert(start, new)
            now = now[:at] + new + now[at + taken :]
    text = Text(before)
    for delta in told:
        text = change_of(text, delta).apply_to(text)
    assert str(text) == now == str(shared)
    assert byte_length(text) == len(shared)


@settings(max_examples=EXAMPLES)
@given(st.one_of(TEXTS, LONG), TEXTS, st.integers(0, 10**6), st.integers(0, 50))
def test_an_edit_of_ours_is_the_same_edit_in_a_replica(before: str, new: str, place: int, taken: int):
    at = place % (len(before) + 1)
    after = before[:at] + new + before[at + taken :]
    _, shared, _ = replica(before)
    for start, end, text in reversed(places_of(Text(before), word_edits(before, after, tidy=False))):
        if end > start:
            del shared[start:end]
        if text:
            shared.insert(start, text)
    assert str(shared) == after


@settings(max_examples=EXAMPLES)
@given(TEXTS, st.data())
def test_places_are_those_that_encoding_gives(text: str, data: st.DataObject):
    ends = st.lists(st.integers(0, len(text)), unique=True, max_size=8).map(sorted)
    found = data.draw(ends)
    edits = [Edit(start, text[start:end], "x") for start, end in zip(found[::2], found[1::2], strict=False)]
    twin = [(len(text[: edit.at].encode()), len(text[: edit.end].encode()), "x") for edit in edits]
    assert places_of(Text(text), edits) == twin


@pytest.mark.parametrize(
    "delta",
    [
        [{"retain": 2}, {"insert": "x"}],
        [{"delete": 3}],
        [{"retain": 8}],
        [{"insert": 7}],
        [{"insert": "x", "attributes": {"bold": True}}],
        [{"retain": 1, "attributes": {"bold": True}}],
    ],
)
def test_a_place_inside_a_character_and_what_is_no_text_are_refused(delta: list[dict[str, Any]]):
    with pytest.raises(InvalidOffset):
        change_of(Text("a😀b"), delta)


def test_nothing_is_made_of_nothing():
    assert change_of(Text("a😀b"), [{"retain": 6}]) == Change()
    assert change_of(Text(""), []) == Change()
    assert places_of(Text(""), [Edit(0, "", "x")]) == [(0, 0, "x")]
