"""Spans, edits and changes keep their laws, on invented texts and on a person's real decisions."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused, Stale
from redraft.text.edits import Change, Edit, Span
from redraft.text.text import Text
from tests.text.laws import changes, check_change_laws, contents, tiny_blocks

if TYPE_CHECKING:
    from pathlib import Path

offsets = st.integers(0, 12)


@pytest.mark.covers("RD-text-invert")
@given(st.data(), contents)
def test_a_change_keeps_its_laws(data: st.DataObject, content: str) -> None:
    with tiny_blocks():
        check_change_laws(content, data.draw(changes(content)))


@given(st.data(), contents)
def test_one_change_after_another_is_one_change(data: st.DataObject, content: str) -> None:
    first = data.draw(changes(content))
    middle = first.apply(content)
    second = data.draw(changes(middle))
    both = first.then(second)
    assert both.apply(content) == second.apply(middle)
    check_change_laws(content, both)


@given(st.data(), contents)
def test_the_grouping_of_a_composition_does_not_matter(data: st.DataObject, content: str) -> None:
    first = data.draw(changes(content))
    second = data.draw(changes(first.apply(content)))
    third = data.draw(changes(second.apply(first.apply(content))))
    left, right = first.then(second).then(third), first.then(second.then(third))
    assert left.apply(content) == right.apply(content)


@given(st.data(), contents)
def test_any_subset_applies_on_its_own_and_the_rest_after_it(data: st.DataObject, content: str) -> None:
    change = data.draw(changes(content))
    chosen = data.draw(st.sets(st.integers(0, len(change.edits) - 1))) if change.edits else set[int]()
    some = change.only(chosen)
    rest = [edit for index, edit in enumerate(change.edits) if index not in chosen]
    moved = Change(tuple(edit.shift(_growth_before(change, chosen, edit)) for edit in rest))
    assert moved.apply(some.apply(content)) == change.apply(content)


def _growth_before(change: Change, chosen: set[int], edit: Edit) -> int:
    position = next(index for index, candidate in enumerate(change.edits) if candidate is edit)
    return sum(change.edits[index].growth for index in chosen if index < position)


@given(contents, contents)
def test_the_smallest_edit_between_two_texts_leads_from_one_to_the_other(old: str, new: str) -> None:
    change = Change.between(old, new)
    check_change_laws(old, change)
    assert change.apply(old) == new
    assert len(change.edits) == (old != new)


@given(st.data(), contents)
def test_the_smallest_edit_never_parts_a_crlf(data: st.DataObject, old: str) -> None:
    new = data.draw(changes(old)).apply(old)
    for edit in Change.between(old, new).edits:
        for text, end in ((old, edit.end), (new, edit.at + len(edit.new))):
            assert text[max(edit.at - 1, 0) : edit.at + 1] != "\r\n"
            assert text[max(end - 1, 0) : end + 1] != "\r\n"


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("one two three", "one 2 three", Edit(4, "two", "2")),
        ("aa", "aaa", Edit(2, "", "a")),
        ("a\r\nb", "a\nb", Edit(1, "\r\n", "\n")),
        ("a\rb", "a\r\nb", Edit(1, "\r", "\r\n")),
        ("\r\n", "\r\r\n", Edit(0, "", "\r")),
        ("x😀y", "x😁y", Edit(1, "😀", "😁")),
    ],
)
def test_the_smallest_edit_is_the_one_expected(old: str, new: str, edit: Edit) -> None:
    assert Change.between(old, new) == Change((edit,))
    check_change_laws(old, Change((edit,)))


@pytest.mark.parametrize(
    ("offset", "before", "after"),
    [(0, 0, 0), (2, 2, 5), (3, 6, 6), (4, 7, 7), (5, 7, 8), (6, 8, 8), (7, 9, 9)],
)
@pytest.mark.covers("RD-text-map")
def test_places_go_where_a_reader_expects_them(offset: int, before: int, after: int) -> None:
    # "abcdefg" becomes "abnewcdXg".
    change = Change((Edit(2, "", "new"), Edit(4, "ef", "X")))
    check_change_laws("abcdefg", change)
    assert (change.map(offset, after=False), change.map(offset)) == (before, after)


def test_edits_that_cancel_out_leave_nothing() -> None:
    change = Change((Edit(1, "b", "x"), Edit(3, "", "y")))
    assert change.then(change.invert()) == Change()


def test_typing_on_becomes_one_insertion() -> None:
    typed = Change((Edit(4, "", "w"),)).then(Change((Edit(5, "", "o"),))).then(Change((Edit(6, "", "rd"),)))
    assert typed == Change((Edit(4, "", "word"),))


def test_edits_that_meet_become_one() -> None:
    inserted = Change((Edit(1, "", "b"),))
    assert inserted.then(Change((Edit(0, "a", "A"),))) == Change((Edit(0, "a", "Ab"),))
    assert inserted.then(Change((Edit(2, "c", "C"),))) == Change((Edit(1, "c", "bC"),))


def test_edits_apart_stay_apart_in_a_composition() -> None:
    both = Change((Edit(0, "a", "A"),)).then(Change((Edit(3, "d", "D"),)))
    assert both == Change((Edit(0, "a", "A"), Edit(3, "d", "D")))


def test_a_change_that_cannot_follow_is_refused() -> None:
    with pytest.raises(Stale):
        Change((Edit(0, "a", "bc"),)).then(Change((Edit(1, "x", "y"),)))


@pytest.mark.parametrize("edit", [Edit(0, "x", "y"), Edit(2, "cd", ""), Edit(4, "", "x")])
def test_an_edit_of_something_else_is_refused(edit: Edit) -> None:
    for apply in (lambda: Change((edit,)).apply("abc"), lambda: Change((edit,)).apply_to(Text("abc"))):
        with pytest.raises(Stale) as caught:
            apply()
        assert caught.value.code == "conflict"


@pytest.mark.parametrize("edits", [(Edit(3, "", ""), Edit(2, "", "")), (Edit(0, "ab", ""), Edit(1, "b", ""))])
def test_edits_out_of_order_or_overlapping_are_no_change(edits: tuple[Edit, ...]) -> None:
    with pytest.raises(ValueError, match="out of order or overlaps"):
        Change(edits)


@pytest.mark.parametrize("indices", [(1,), (-1,), (0, 5)])
def test_a_subset_has_only_edits_that_exist(indices: tuple[int, ...]) -> None:
    with pytest.raises(IndexError):
        Change((Edit(0, "a", "b"),)).only(indices)


@pytest.mark.parametrize(
    "data",
    [
        None,
        "[]",
        {},
        [1],
        [{"at": 0, "old": "a"}],
        [{"at": -1, "old": "", "new": ""}],
        [{"at": True, "old": "", "new": ""}],
        [{"at": 0, "old": "ab", "new": ""}, {"at": 1, "old": "b", "new": ""}],
    ],
)
def test_malformed_json_is_refused(data: object) -> None:
    with pytest.raises(Refused):
        Change.from_json(data)


@given(offsets, offsets, offsets, offsets)
def test_spans_meet_as_their_code_points_do(a: int, b: int, c: int, d: int) -> None:
    one, two = Span(min(a, b), max(a, b)), Span(min(c, d), max(c, d))
    mine = set(range(one.start, one.end))
    assert len(one) == len(mine)
    assert [offset for offset in range(14) if one.contains(offset)] == sorted(mine)
    assert one.touches(two) == bool(set(range(one.start, one.end + 1)) & set(range(two.start, two.end + 1)))


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_a_span_that_runs_backwards_is_an_error(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no span"):
        Span(start, end)


def test_an_edit_before_the_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="no edit"):
        Edit(-1, "", "")


def test_the_accepted_edits_of_real_sessions_give_the_recorded_documents(material: Path) -> None:
    with gzip.open(material / "accept-reject-sessions" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rounds: list[dict[str, Any]] = [each for line in lines for each in json.loads(line)["rounds"]]
    assert rounds
    for each in rounds:
        records = sorted(each["edits"], key=lambda record: (record["start"], record["end"]))
        change = Change(tuple(Edit(record["start"], record["before"], record["after"]) for record in records))
        accepted = [index for index, record in enumerate(records) if record["decision"] == "accept"]
        assert change.only(accepted).apply(each["before"]) == each["accepted_result"]
        check_change_laws(each["before"], change)
