"""Hunks: any subset applies, ids hold, and each is something that a person can judge by itself."""

from __future__ import annotations

import gzip
import json
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Stale
from redraft.text.diff.hunks import Hunk, apply, diff, invert
from redraft.text.edits import Change, Span
from redraft.text.lines import split_lines
from tests.text.shapes import documents, versions

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """\
---
title: The house
author: Somebody
date: 2024-05-01
---

# The house by the river

The old house stood by a quiet river, and nobody had lived there for years.
People said that it was haunted, but they said that of every empty house.

- milk from the farm
- bread and butter
- a dozen eggs

| name | age |
|------|-----|
| Anna | 41  |
| Bert | 37  |

```python
def house():
    door = 1
    window = 2
    return door + window
```

The end of the story is not yet known.
"""
LONG = (
    "It was the best of times in the city. It was the worst of times in the country. "
    "It was the age of wisdom, everyone said. It was the age of foolishness, nobody said. "
    "It was the epoch of belief for some. It was the epoch of incredulity for all the others.\n"
)


def naive_lines_touched(text: str, start: int, end: int) -> Span:
    """The slow twin of a hunk's line spans: which lines have a code point of the passage, or its place within them."""
    at = 0
    numbers: list[int] = []
    for number, line in enumerate(split_lines(text)):
        inside = at < start < at + len(line) if start == end else max(at, start) < min(at + len(line), end)
        if inside or (start == end == at + len(line) and line[-1] not in "\r\n"):
            numbers.append(number)
        at += len(line)
    if numbers:
        return Span(numbers[0], numbers[-1] + 1)
    before = len(split_lines(text[:start]))
    return Span(before, before)


def check_hunks(old: str, new: str, hunks: tuple[Hunk, ...]) -> None:
    """All that a diff's hunks promise, whoever made or split them."""
    assert apply(old, hunks) == new
    assert apply(old, hunks, ()) == old
    assert len({hunk.id for hunk in hunks}) == len(hunks)
    for hunk in hunks:
        assert hunk.old_text != hunk.new_text
        assert old[hunk.at : hunk.at + len(hunk.old_text)] == hunk.old_text
        assert new[hunk.new_at : hunk.new_at + len(hunk.new_text)] == hunk.new_text
        assert Change(hunk.words).apply(hunk.old_text) == hunk.new_text
    for before, after in pairwise(hunks):
        gap = after.at - before.edit.end
        assert gap == after.new_at - before.new_at - len(before.new_text) >= 0
    back = invert(hunks)
    assert apply(new, back) == old
    assert [hunk.edit for hunk in invert(back)] == [hunk.edit for hunk in hunks]


def check_diff(old: str, new: str) -> tuple[Hunk, ...]:
    hunks = diff(old, new)
    check_hunks(old, new, hunks)
    assert invert(invert(hunks)) == hunks
    for hunk in hunks:
        assert hunk.old == naive_lines_touched(old, hunk.at, hunk.edit.end)
        assert hunk.new == naive_lines_touched(new, hunk.new_at, hunk.new_at + len(hunk.new_text))
    return hunks


def told(old: str, new: str) -> list[tuple[str, str]]:
    """The hunks as people read them, with all the laws checked."""
    return [(hunk.old_text, hunk.new_text) for hunk in check_diff(old, new)]


@pytest.mark.covers("RD-text-diff")
@given(versions(16))
def test_hunks_make_old_into_new(pair: tuple[str, str]) -> None:
    check_diff(*pair)


@given(versions())
def test_bare_lines_make_old_into_new_as_well(pair: tuple[str, str]) -> None:
    old, new = pair
    check_hunks(old, new, diff(old, new, markdown=False))


@pytest.mark.covers("RD-text-subset")
@given(versions(16), st.data())
def test_decisions_on_hunks_commute(pair: tuple[str, str], data: st.DataObject) -> None:
    old, new = pair
    hunks = diff(old, new)
    chosen = {hunk.id for hunk in hunks if data.draw(st.booleans())}
    accepted = apply(old, hunks, chosen)
    others = tuple(hunk for hunk in hunks if hunk.id not in chosen)
    inverted = {back.id for back, hunk in zip(invert(hunks), hunks, strict=True) if hunk.id not in chosen}
    assert apply(new, invert(hunks), inverted) == accepted
    moved = Change(tuple(hunk.edit for hunk in hunks if hunk.id in chosen))
    rest = Change(tuple(hunk.edit.shift(moved.map(hunk.at, after=False) - hunk.at) for hunk in others))
    if not any(before.edit.end == after.at for before, after in pairwise(hunks)):
        assert rest.apply(accepted) == new


@given(documents())
def test_equal_texts_have_no_hunks(text: str) -> None:
    assert diff(text, text) == ()


@given(versions())
def test_a_diff_is_the_same_every_time(pair: tuple[str, str]) -> None:
    assert diff(*pair) == diff(*pair)


def test_an_id_survives_changes_elsewhere() -> None:
    new = PAGE.replace("quiet", "wild")
    (hunk,) = check_diff(PAGE, new)
    above = "# A line above\n\n"
    assert hunk.id in {other.id for other in check_diff(above + PAGE, above + new)}
    assert hunk.id in {other.id for other in check_diff(PAGE, new.replace("known", "written"))}


def test_equal_hunks_have_different_ids() -> None:
    first, second = check_diff("x\na\nb\nc\nx\n", "y\na\nb\nc\ny\n")
    assert (first.old_text, first.new_text) == (second.old_text, second.new_text)
    assert first.id != second.id


def test_a_hunk_on_another_text_is_refused() -> None:
    with pytest.raises(Stale):
        apply(PAGE.replace("quiet", "calm"), diff(PAGE, PAGE.replace("quiet", "wild")))


@pytest.mark.covers("RD-text-units")
def test_neighbouring_list_items_are_judged_one_by_one() -> None:
    new = PAGE.replace("milk from the farm", "cream from the farm").replace("bread and butter", "bread and honey")
    assert told(PAGE, new) == [
        ("- milk from the farm\n", "- cream from the farm\n"),
        ("- bread and butter\n", "- bread and honey\n"),
    ]


def test_a_new_item_beside_a_changed_one_is_judged_by_itself() -> None:
    new = PAGE.replace("bread and butter", "bread and honey\n- cheese for the guests")
    assert told(PAGE, new) == [
        ("- bread and butter\n", "- bread and honey\n"),
        ("", "- cheese for the guests\n"),
    ]


@pytest.mark.covers("RD-text-units")
def test_table_rows_are_judged_one_by_one() -> None:
    new = PAGE.replace("| Anna | 41  |", "| Anna | 42  |").replace("| Bert | 37  |", "| Bert | 38  |")
    assert told(PAGE, new) == [("| Anna | 41  |\n", "| Anna | 42  |\n"), ("| Bert | 37  |\n", "| Bert | 38  |\n")]


@pytest.mark.covers("RD-text-units")
def test_keys_of_the_frontmatter_are_judged_one_by_one() -> None:
    new = PAGE.replace("The house\n", "A castle\n", 1).replace("Somebody", "Nobody")
    assert told(PAGE, new) == [("title: The house\n", "title: A castle\n"), ("author: Somebody\n", "author: Nobody\n")]


@pytest.mark.covers("RD-text-units")
def test_changes_in_one_code_block_are_one_hunk() -> None:
    new = PAGE.replace("door = 1", "door = 10").replace("return door", "return 3 * door")
    ((old_text, _),) = told(PAGE, new)
    assert old_text == "    door = 1\n    window = 2\n    return door + window\n"


def test_unlike_items_stay_together() -> None:
    new = PAGE.replace("- milk from the farm\n- bread and butter\n", "- tea\n- sugar\n")
    assert told(PAGE, new) == [("- milk from the farm\n- bread and butter\n", "- tea\n- sugar\n")]


@pytest.mark.covers("RD-text-prose", "RD-text-words")
def test_a_wrapped_paragraph_is_one_hunk_of_the_words_that_changed() -> None:
    text = " ".join(["The committee met on Tuesday to consider the proposal that had been circulated before."] * 4)
    old = "# Title\n\n" + textwrap.fill(text, 60) + "\n\nEnd.\n"
    new = "# Title\n\n" + textwrap.fill(text.replace("Tuesday", "Friday", 1), 72) + "\n\nEnd.\n"
    (hunk,) = check_diff(old, new)
    assert [(edit.old, edit.new) for edit in hunk.reworded] == [("Tuesday", "Friday")]
    assert not hunk.reflow_only


def test_mere_wrapping_is_called_reflow() -> None:
    text = " ".join(["The committee met on Tuesday to consider the proposal that had been circulated before."] * 4)
    (hunk,) = check_diff(textwrap.fill(text, 60) + "\n", textwrap.fill(text, 72) + "\n")
    assert hunk.reflow_only
    assert not hunk.reworded


@pytest.mark.parametrize(
    ("old", "new"), [("- a\n- b\n", "- a - b\n"), ("# A\nb\n", "# A b\n"), ("a\n", "b\n"), ("a  \nb\n", "a b\n")]
)
def test_joining_units_is_no_reflow(old: str, new: str) -> None:
    assert not any(hunk.reflow_only for hunk in check_diff(old, new))


def test_sentences_of_a_one_line_paragraph_are_judged_one_by_one() -> None:
    new = LONG.replace("the best of times", "the finest of times").replace("for some", "for a few")
    assert told(LONG, new) == [
        ("It was the best of times in the city.", "It was the finest of times in the city."),
        ("It was the epoch of belief for some.", "It was the epoch of belief for a few."),
    ]


def test_neighbouring_sentences_are_judged_one_by_one() -> None:
    new = LONG.replace("in the city", "in the town").replace("in the country", "in the village")
    assert [old for old, _ in told(LONG, new)] == [
        "It was the best of times in the city.",
        "It was the worst of times in the country.",
    ]


def test_a_sentence_added_to_a_one_line_paragraph_is_just_that() -> None:
    assert told(LONG, LONG[:-1] + " Such were the times.\n") == [("", " Such were the times.")]


def test_a_hunk_within_a_line_names_the_line_it_touches() -> None:
    (hunk,) = check_diff("Title\n\n" + LONG, "Title\n\n" + LONG.replace("wisdom", "reason"))
    assert hunk.old == hunk.new == Span(2, 3)


def test_paragraphs_changed_side_by_side_are_judged_one_by_one() -> None:
    first, second = "The first paragraph says one thing.\n", "The second paragraph says another thing.\n"
    new = first.replace("one thing", "this") + "\n" + second.replace("another thing", "that")
    assert len(told(first + "\n" + second, new)) == 2


def test_a_paragraph_is_compared_with_its_like_and_not_with_what_stands_in_its_place() -> None:
    old = "Limits\n======\n\nCompletion works only for scripts that are installed.\n\nEnd.\n"
    new = "Completion works for all scripts that are installed.\n\nEnd.\n"
    assert told(old, new) == [
        ("Limits\n======\n\n", ""),
        ("Completion works only for scripts that are installed.\n", new.partition("\n")[0] + "\n"),
    ]


@pytest.mark.slow
def test_real_revisions_are_told_exactly(material: Path) -> None:
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8") as stream:
        for _, line in zip(range(60), stream, strict=False):
            case = json.loads(line)
            check_hunks(case["base"], case["ours"], diff(case["base"], case["ours"]))
            check_hunks(case["base"], case["human"], diff(case["base"], case["human"]))


def test_a_piece_that_reaches_over_changed_lines_is_numbered_where_it_stands():
    hunks = diff("\n\n\na\n", "a\r\n\n")
    assert [(hunk.old, hunk.new) for hunk in hunks] == [
        (Span(0, 3), Span(0, 0)),
        (Span(3, 4), Span(0, 1)),
        (Span(4, 4), Span(1, 2)),
    ]
