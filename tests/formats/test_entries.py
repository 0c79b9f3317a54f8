"""Sections nest and never overlap, and an outline can be cut to the room there is."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.markdown_headings import Heading
from redraft.formats.outline.outline import Outline, OutlineEntry, nest

LEVELS = st.lists(st.integers(1, 6), max_size=30)


def marks(levels: list[int]) -> list[Heading]:
    return [Heading(f"section {number}", level, 3 * number) for number, level in enumerate(levels)]


def naive_end(levels: list[int], number: int) -> int | None:
    later = (place for place in range(number + 1, len(levels)) if levels[place] <= levels[number])
    return next((3 * place - 1 for place in later), None)


def check_nesting(entry: OutlineEntry) -> None:
    for child in entry.children:
        assert child.level > entry.level
        assert child.line_start > entry.line_start
        assert entry.line_end is None or (child.line_end or 0) <= entry.line_end
        check_nesting(child)
    for one, other in pairwise(entry.children):
        assert one.line_end is not None
        assert one.line_end < other.line_start


@given(LEVELS)
def test_a_section_reaches_to_the_next_of_its_level_or_above(levels: list[int]) -> None:
    found = list(Outline("headings", nest(marks(levels))).walk())
    assert [entry.level for entry in found] == levels
    assert [entry.line_end for entry in found] == [naive_end(levels, number) for number in range(len(levels))]


@given(LEVELS)
def test_children_lie_within_their_parents_and_apart(levels: list[int]) -> None:
    for entry in nest(marks(levels)):
        check_nesting(entry)


@given(LEVELS, st.integers(0, 35))
def test_a_cut_outline_fits_and_keeps_what_it_shows(levels: list[int], most: int) -> None:
    whole = Outline("headings", nest(marks(levels)))
    cut = whole.truncate(most)
    shown = [(entry.title, entry.line_start, entry.line_end) for entry in cut.walk()]
    assert len(shown) <= most
    assert set(shown) <= {(entry.title, entry.line_start, entry.line_end) for entry in whole.walk()}
    assert (cut == whole) == (len(levels) <= most)


def test_the_deepest_levels_are_cut_first_and_the_note_says_so() -> None:
    cut = Outline("headings", nest(marks([1, 2, 3, 2, 1]))).truncate(4)
    assert [entry.level for entry in cut.walk()] == [1, 2, 2, 1]
    assert cut.note == "The outline is too large to show: 5 entries were cut to 4."
