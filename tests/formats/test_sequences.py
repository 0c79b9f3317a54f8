"""The sequence that is found in a family of numbered lines is the best there is."""

from __future__ import annotations

from itertools import chain as flatten
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.outline.chapter_markers import ChapterMarker
from redraft.formats.outline.plain_outline import chain


def family(numbers: list[int]) -> list[ChapterMarker]:
    return [ChapterMarker(line, "bare", "", number, "arabic", "", str(number)) for line, number in enumerate(numbers)]


def naive_score(numbers: tuple[int, ...]) -> float | None:
    """What a sequence earns, step by step; None where a step is not allowed."""
    score = 1 - 0.4 * (numbers[0] - 1)
    for before, after in pairwise(numbers):
        steps = [1 - 0.6 * (after - before - 1)] if 1 <= after - before <= 3 else []
        steps += [0.1] if after == 1 else []
        if not steps:
            return None
        score += max(steps)
    return score


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_no_other_sequence_earns_more(numbers: list[int]) -> None:
    tries = flatten.from_iterable(combinations(numbers, size) for size in range(1, len(numbers) + 1))
    best = max(score for score in map(naive_score, tries) if score is not None)
    found = naive_score(tuple(marker.number for marker in chain(family(numbers))))
    assert found is not None
    assert abs(found - best) < 1e-9


def test_numbers_that_do_not_fit_are_left_out() -> None:
    assert [marker.line for marker in chain(family([1, 2, 7, 3, 4, 2, 5]))] == [0, 1, 3, 4, 6]


def test_numbers_begin_again_under_a_new_part() -> None:
    found = chain(family([1, 2, 3, 1, 2, 1]), dividers=[3, 5])
    assert [marker.number for marker in found] == [1, 2, 3, 1, 2, 1]


def test_an_empty_family_has_no_sequence() -> None:
    assert chain([]) == []
