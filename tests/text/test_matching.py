"""Which parts differ: exact always, near the longest match where that is affordable, and never slow."""

from __future__ import annotations

import gzip
import json
import random
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.diff import line_diff
from redraft.text.diff.line_diff import LineRegion, diff_lines
from redraft.text.diff.sequence_diff import Region, diff_sequences
from redraft.text.lines import split_lines
from tests.text.shapes import SHAPES, documents, versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

items = st.lists(st.integers(0, 6), max_size=25)


def check_regions(old: Sequence[object], new: Sequence[object], regions: Sequence[Region]) -> None:
    """What every answer promises: in order, not touching, and all that lies between is equal."""
    x = y = 0
    for number, region in enumerate(regions):
        assert region.old_start < region.old_end or region.new_start < region.new_end
        assert region.old_start - x == region.new_start - y >= (1 if number else 0)
        assert old[x : region.old_start] == new[y : region.new_start]
        x, y = region.old_end, region.new_end
    assert old[x:] == new[y:]


def check_line_regions(old: str, new: str) -> None:
    found = diff_lines(old, new)
    check_regions(split_lines(old), split_lines(new), [Region(*region[:4]) for region in found])
    check_regions(old, new, [Region(*region[4:]) for region in found])
    for region in found:
        assert old[region.at : region.until] == "".join(split_lines(old)[region.old_start : region.old_end])
        assert new[region.new_at : region.new_until] == "".join(split_lines(new)[region.new_start : region.new_end])


def kept(old: Sequence[object], regions: Sequence[Region]) -> int:
    return len(old) - sum(region.old_end - region.old_start for region in regions)


def longest_match(old: Sequence[object], new: Sequence[object]) -> int:
    """The naive twin: the length of the longest common subsequence, by the table of the textbook."""
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for x, left in enumerate(old, start=1):
        for y, right in enumerate(new, start=1):
            table[x][y] = table[x - 1][y - 1] + 1 if left == right else max(table[x - 1][y], table[x][y - 1])
    return table[-1][-1]


@given(items, items)
def test_regions_lead_from_old_to_new(old: list[int], new: list[int]) -> None:
    check_regions(old, new, diff_sequences(old, new))


@given(items, items)
def test_a_quarter_of_the_longest_match_is_always_kept(old: list[int], new: list[int]) -> None:
    assert 4 * kept(old, diff_sequences(old, new)) >= longest_match(old, new)


@given(items, st.lists(st.tuples(st.integers(0, 25), st.integers(7, 9)), max_size=3))
def test_scattered_insertions_leave_everything_else_in_place(old: list[int], inserted: list[tuple[int, int]]) -> None:
    new = list(old)
    for place, item in inserted:
        new.insert(place, item)
    assert kept(old, diff_sequences(old, new)) == len(old)


@given(versions())
def test_changed_lines_lead_from_old_to_new(pair: tuple[str, str]) -> None:
    check_line_regions(*pair)


@given(st.data())
def test_galloping_and_meeting_again_is_exact_however_small_the_steps(data: st.DataObject) -> None:
    old, new = data.draw(versions(40))
    sizes = {
        "_FIRST_STEP": data.draw(st.integers(1, 8)),
        "_LONGEST_STEP": 16,
        "_REACHES": data.draw(st.sampled_from([((30, 3), (200, 9)), ((5, 1), (20, 2)), ((400, 20),)])),
        "_NEAR": data.draw(st.sampled_from([0, 30])),
        "_SHORTEST_PROOF": data.draw(st.integers(1, 6)),
        "_PROOF": data.draw(st.integers(1, 12)),
        "_CONTEXT": data.draw(st.integers(1, 60)),
        "_WORTHWHILE": 1,
    }
    with ExitStack() as stack:
        for name, size in sizes.items():
            stack.enter_context(patch.object(line_diff, name, size))
        check_line_regions(old, new)


@given(documents())
def test_equal_texts_have_no_changed_lines(text: str) -> None:
    assert diff_lines(text, text) == []


def test_an_inserted_paragraph_begins_where_a_paragraph_begins() -> None:
    old = ["A.", "", "B.", "", "C."]
    new = ["A.", "", "B.", "", "New.", "", "C."]
    assert diff_sequences(old, new) == [Region(4, 4, 4, 6)]


def test_a_repeated_paragraph_is_told_as_a_whole_one() -> None:
    old = ["Head", "", "Refrain", "", "End"]
    new = ["Head", "", "Refrain", "", "Refrain", "", "End"]
    assert diff_sequences(old, new) == [Region(4, 4, 4, 6)]


def test_an_inserted_item_begins_with_its_outer_line() -> None:
    old = ["- a", "  - x", "- b", "  - x", "- c"]
    new = ["- a", "  - x", "- n", "  - x", "- b", "  - x", "- c"]
    assert diff_sequences(old, new) == [Region(2, 2, 2, 4)]


def test_a_line_that_moved_past_blank_lines_is_recognised() -> None:
    old = ["Moved words", "", "", "", ""]
    new = ["", "", "", "", "Moved words"]
    assert diff_sequences(old, new) == [Region(0, 0, 0, 4), Region(1, 5, 5, 5)]


def test_a_blank_line_between_two_rewritten_passages_is_no_common_ground() -> None:
    old = ["a1", "a2", "a3", "", "a4", "a5", "a6"]
    new = ["b1", "b2", "b3", "", "b4", "b5", "b6"]
    assert diff_sequences(old, new) == [Region(0, 7, 0, 7)]


def test_a_blank_line_between_two_replaced_paragraphs_parts_them() -> None:
    assert diff_sequences(["a", "", "b"], ["c", "", "d"]) == [Region(0, 1, 0, 1), Region(2, 3, 2, 3)]


def test_a_line_feed_after_a_carriage_return_is_never_parted() -> None:
    assert diff_lines("a\rb\n", "a\r\nb\n") == [LineRegion(0, 1, 0, 1, 0, 2, 0, 3)]


def test_a_lost_final_newline_is_a_change_of_the_last_line() -> None:
    assert diff_lines("a\nb\n", "a\nb") == [LineRegion(1, 2, 1, 2, 2, 4, 2, 3)]


def scattered(old: list[str], count: int, seed: int) -> list[str]:
    pick = random.Random(seed)
    new = list(old)
    for place in pick.sample(range(len(new)), count):
        new[place] = pick.choice(["", "changed\n", new[place] + "inserted\n", new[place].replace(" ", " x ", 1)])
    return new


@pytest.mark.parametrize("seed", range(5))
def test_a_large_text_with_scattered_edits_is_told_in_small_regions(seed: int) -> None:
    pick = random.Random(seed)
    old = [f"{pick.randrange(10**9)} words of line {n}\n" if n % 3 else "\n" for n in range(20_000)]
    new = scattered(old, 100, seed)
    check_line_regions("".join(old), "".join(new))
    regions = diff_lines("".join(old), "".join(new))
    assert sum(max(region.old_end - region.old_start, region.new_end - region.new_start) for region in regions) <= 200


def blank_lines() -> tuple[str, str]:
    return "\n" * 30_000 + "a\n" + "\n" * 30_000, "b\n" + "\n" * 29_000 + "c\n\n\n" + "\n" * 30_500 + "d"


def rewritten() -> tuple[str, str]:
    pick = random.Random(1)
    old, new = ("".join(f"{pick.random()}\n\n" for _ in range(50_000)) for _ in range(2))
    return old, new


def few_different_lines() -> tuple[str, str]:
    pick = random.Random(2)
    old, new = ("".join(pick.choice(SHAPES) + "\n" for _ in range(20_000)) for _ in range(2))
    return old, new


def shuffled() -> tuple[str, str]:
    pick = random.Random(3)
    paragraphs = [f"{pick.random()}\n{pick.random()}\n\n" for _ in range(20_000)]
    return "".join(paragraphs), "".join(pick.sample(paragraphs, len(paragraphs)))


def every_other_line() -> tuple[str, str]:
    return "".join(f"line {n}\n" for n in range(50_000)), "".join(f"line {n - n % 2 * 7}\n" for n in range(50_000))


@pytest.mark.slow
@pytest.mark.parametrize("texts", [blank_lines, rewritten, few_different_lines, shuffled, every_other_line])
def test_nothing_makes_the_comparison_quadratic(texts: Callable[[], tuple[str, str]]) -> None:
    old, new = texts()
    started = time.process_time()
    regions = diff_lines(old, new)
    # Generous, for slow machines: each takes well below a second, and would take minutes if it were quadratic.
    assert time.process_time() - started < 10
    check_regions(old, new, [Region(*region[4:]) for region in regions])


@pytest.mark.slow
def test_real_revisions_are_told_exactly(material: Path) -> None:
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            case = json.loads(line)
            check_line_regions(case["base"], case["ours"])
            check_line_regions(case["ours"], case["theirs"])


def test_lines_that_repeat_are_replaced_in_their_place_where_as_many_stand_as_in_any_other_reading():
    old = "alpha\n" * 5 + "gamma\n"
    new = "one\n" + "alpha\n" * 3 + "two\n" + "gamma\n"
    assert [tuple(region)[:4] for region in diff_lines(old, new)] == [(0, 1, 0, 1), (4, 5, 4, 5)]


def test_lines_that_moved_down_are_not_compared_place_by_place():
    old = "".join(f"line {number}\n" for number in range(9))
    new = "first\n" + old.removesuffix("line 8\n")
    assert [tuple(region)[:4] for region in diff_lines(old, new)] == [(0, 0, 0, 1), (8, 9, 9, 9)]
