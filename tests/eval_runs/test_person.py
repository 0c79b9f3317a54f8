"""The person who is played: which changes they take for right."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evals.simulated_user import is_change_right
from redraft.text.diff.hunks import diff

TEXTS = st.lists(st.sampled_from(["a b c.\n", "d e.\n", "f\n", "\n", "g é 𝒵 h.\n", "i"]), max_size=10).map("".join)
# Paragraph by paragraph, which of its versions a text has; the first is that of the base.
VERSIONS = st.lists(st.sampled_from(range(4)), min_size=8, max_size=8)


def text_of(versions: list[int]) -> str:
    """Paragraphs that are told apart by a line of their own: one of them may be reworded twice, or taken out."""
    made: list[str] = []
    for number, version in enumerate(versions):
        first, second, third = (f"The {word} of part {number} is here.\n" for word in ("beginning", "end", "middle"))
        made += [(first, second, third, "")[version], f"---- {number}\n"]
    return "".join(made)


@given(wanted=VERSIONS, proposed=VERSIONS)
def test_a_change_is_right_exactly_where_the_wanted_text_has_it(wanted: list[int], proposed: list[int]):
    base, right = text_of([0] * 8), text_of(wanted)
    for hunk in diff(base, text_of(proposed)):
        touched = {
            number for number in range(8) if hunk.old.start <= number * 2 < max(hunk.old.end, hunk.old.start + 1)
        }
        agrees = all(wanted[number] == proposed[number] for number in touched)
        assert is_change_right(base, hunk.at, hunk.old_text, hunk.new_text, right) is agrees


@given(base=TEXTS, wanted=TEXTS)
def test_all_that_is_wanted_is_right_as_one_change(base: str, wanted: str):
    assert is_change_right(base, 0, base, wanted, wanted) is (base != wanted)


@given(base=TEXTS, proposed=TEXTS)
def test_no_change_is_right_where_none_is_wanted(base: str, proposed: str):
    assert not any(is_change_right(base, hunk.at, hunk.old_text, hunk.new_text, base) for hunk in diff(base, proposed))


def test_a_change_that_says_something_else_or_more_than_is_wanted_is_wrong():
    base, wanted = "one two three\n", "one 2 three\n"
    assert is_change_right(base, 4, "two", "2", wanted)
    assert not is_change_right(base, 4, "two", "second", wanted)
    assert not is_change_right(base, 4, "two three", "2 drei", wanted)
    assert not is_change_right(base, 5, "w", "W", wanted)
