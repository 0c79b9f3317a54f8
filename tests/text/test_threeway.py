"""The three-way cut and the weave under it."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from redraft.text.diff import diff
from redraft.text.matching import Region
from redraft.text.threeway import Chunk, cut
from redraft.text.weave import weave

if TYPE_CHECKING:
    from pathlib import Path

LINES = [
    "# Head\n",
    "One two three.\n",
    "Four five six. Seven eight.\n",
    "\n",
    "- item\n",
    "- other\n",
    "x\r\n",
    "last",
]
TEXTS = st.lists(st.sampled_from(LINES), max_size=10).map("".join)


@st.composite
def regions(draw: st.DrawFn) -> list[Region]:
    """Regions of one side, in order, which may touch but not overlap."""
    places = sorted(draw(st.lists(st.integers(0, 12), max_size=8)))
    found: list[Region] = []
    grown = 0
    for start, end in zip(places[::2], places[1::2], strict=False):
        length = draw(st.integers(0 if end > start else 1, 3))
        if found and found[-1].old_end == start == found[-1].old_start:
            continue
        found.append(Region(start, end, start + grown, start + grown + length))
        grown += length - (end - start)
    return found


def naive_groups(left: list[Region], right: list[Region]) -> list[tuple[set[int], set[int]]]:
    """The connected parts of the graph whose edges are overlaps and touches between sides."""
    parts = [({index}, set[int]()) for index in range(len(left))] + [
        (set[int](), {index}) for index in range(len(right))
    ]
    for one, ours in enumerate(left):
        for other, theirs in enumerate(right):
            if ours.old_start <= theirs.old_end and theirs.old_start <= ours.old_end:
                (mine,) = (part for part in parts if one in part[0])
                (yours,) = (part for part in parts if other in part[1])
                if mine is not yours:
                    parts.remove(yours)
                    mine[0].update(yours[0])
                    mine[1].update(yours[1])
    return parts


@given(regions(), regions())
def test_groups_are_the_connected_parts_of_what_overlaps_or_touches(left: list[Region], right: list[Region]) -> None:
    found = [
        ({left.index(region) for region in group.left}, {right.index(region) for region in group.right})
        for group in weave(left, right)
    ]
    expected = naive_groups(left, right)
    assert len(found) == len(expected)
    assert all(group in expected for group in found)


@given(regions(), regions())
def test_a_group_lies_on_each_side_where_its_regions_say(left: list[Region], right: list[Region]) -> None:
    at = shift_left = shift_right = 0
    for group in weave(left, right):
        assert at <= group.start <= group.end
        assert (group.left_start, group.right_start) == (group.start + shift_left, group.start + shift_right)
        if group.left:
            shift_left = group.left[-1].new_end - group.left[-1].old_end
        if group.right:
            shift_right = group.right[-1].new_end - group.right[-1].old_end
        assert (group.left_end, group.right_end) == (group.end + shift_left, group.end + shift_right)
        at = group.end


def check_laws(base: str, proposed: str, working: str) -> tuple[Chunk, ...]:
    chunks = cut(base, proposed, working)
    assert "".join(chunk.base for chunk in chunks) == base
    assert "".join(chunk.proposed for chunk in chunks) == proposed
    assert "".join(chunk.working for chunk in chunks) == working
    for before, after in pairwise(chunks):
        assert not (is_common(before) and is_common(after))
    return chunks


def is_common(chunk: Chunk) -> bool:
    return chunk.base == chunk.proposed == chunk.working


@given(TEXTS, TEXTS, TEXTS)
@example("", "", "")
@example("", "a", "b")
def test_the_three_columns_join_back_to_the_three_texts(base: str, proposed: str, working: str) -> None:
    check_laws(base, proposed, working)


@given(TEXTS, TEXTS)
def test_where_nobody_else_worked_the_chunks_are_the_hunks(base: str, new: str) -> None:
    hunks = [(hunk.old_text, hunk.new_text) for hunk in diff(base, new)]
    for proposed, working, author in ((new, new, "agent"), (base, new, "user"), (new, base, "none")):
        changed = [chunk for chunk in check_laws(base, proposed, working) if not is_common(chunk)]
        assert [(chunk.base, new_part(chunk)) for chunk in changed] == hunks
        assert {chunk.author for chunk in changed} <= {author}


def new_part(chunk: Chunk) -> str:
    return chunk.proposed if chunk.working == chunk.base else chunk.working


@given(TEXTS, TEXTS, TEXTS)
def test_swapping_proposed_and_working_swaps_the_columns(base: str, proposed: str, working: str) -> None:
    assert cut(base, proposed, working) == tuple(
        Chunk(chunk.base, chunk.working, chunk.proposed) for chunk in cut(base, working, proposed)
    )


@given(TEXTS, TEXTS, TEXTS)
def test_every_hunk_of_either_side_lies_within_one_chunk(base: str, proposed: str, working: str) -> None:
    spans: list[tuple[int, int]] = []
    at = 0
    for chunk in cut(base, proposed, working):
        if not is_common(chunk):
            spans.append((at, at + len(chunk.base)))
        at += len(chunk.base)
    for new in (proposed, working):
        for hunk in diff(base, new):
            assert any(start <= hunk.at and hunk.at + len(hunk.old_text) <= end for start, end in spans)


def test_authors_follow_from_the_three_parts() -> None:
    assert Chunk("b", "b", "b").author == "none"
    assert Chunk("b", "p", "b").author == "none"
    assert Chunk("b", "p", "p").author == "agent"
    assert Chunk("b", "b", "w").author == "user"
    assert Chunk("b", "p", "w").author == "mixed"


def test_work_in_different_paragraphs_stays_in_different_chunks() -> None:
    base = "First paragraph.\n\nSecond paragraph.\n\nThird paragraph.\n"
    chunks = check_laws(base, base.replace("First", "Agent's"), base.replace("Third", "Person's"))
    assert [chunk.author for chunk in chunks if not is_common(chunk)] == ["none", "user"]
    assert len(chunks) == 3


def test_real_merges_cut_into_chunks_that_join_back(material: Path) -> None:
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            check_laws(record["base"], record["theirs"], record["human"])


def test_touching_hunks_that_both_sides_have_stay_apart() -> None:
    # A hunk that both sides have is one hunk: it does not bridge the next one, which it merely touches.
    base = "".join(f"Line {number} is a line of the text.\n" for number in range(8))
    new = base.replace("Line 3 is", "Number 3 was").replace("Line 4 is", "Number 4 was")
    hunks = [(hunk.old_text, hunk.new_text) for hunk in diff(base, new)]
    assert [(chunk.base, chunk.working) for chunk in cut(base, new, new) if not is_common(chunk)] == hunks
