"""Edits carried forward from the text that they were made for. The oracle gives every character a name of its own."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from redraft.text.edits import Change, Edit
from redraft.text.rebase import rebase_over_change, rebase_over_difference, rebase_over_own

Named = list[tuple[str, int]]
LINES = st.lists(st.sampled_from(["a\n", "a\n", "bb\n", "\n", "c\r\n", "\U0001f600 x\n", "d\r"]), max_size=9)
TEXTS = st.tuples(LINES, st.sampled_from(["", "", "end"])).map(lambda parts: "".join(parts[0]) + parts[1])
NEW = st.sampled_from(["", "x", "a\n", "a", "new\n", "\n", "\r\n", "\U0001f600"])
PLACES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), NEW), max_size=4)


def change_of(text: str, places: list[tuple[int, int, str]]) -> Change:
    """Edits at these places, as far as the text has them and they do not overlap."""
    edits: list[Edit] = []
    for at, length, new in sorted(places, key=lambda place: place[:2]):
        start = min(at, len(text))
        edit = Edit(start, text[start : start + length], new)
        if not edits or edits[-1].end < edit.at:
            edits.append(edit)
    return Change(tuple(edits))


# The oracle


def named(text: str) -> Named:
    return [(character, number) for number, character in enumerate(text)]


def changed(text: Named, change: Change) -> Named:
    """What was there keeps its names; what comes in has others."""
    found = list(text)
    for edit in reversed(change.edits):
        found[edit.at : edit.end] = [(character, -1 - edit.at * 1000 - n) for n, character in enumerate(edit.new)]
    return found


def lines_of(text: Named) -> list[Named]:
    content, found, at = "".join(character for character, _ in text), list[Named](), 0
    for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", content):
        found.append(text[at : at + len(line)])
        at += len(line)
    return found


class Around(NamedTuple):
    """The lines that an edit touches, and those beside them."""

    before: list[Named]
    lines: list[Named]
    after: list[Named]


def around(text: Named, start: int, end: int) -> Around:
    lines, at = lines_of(text), 0
    before, touched, after = list[Named](), list[Named](), list[Named]()
    for line in lines:
        stop = at + len(line)
        ended = line[-1][0] in "\r\n"
        if stop < start or (stop == start and ended):
            before.append(line)
        elif at < max(start, end):
            touched.append(line)
        else:
            after.append(line)
        at = stop
    return Around(before[-1:], touched, after[:1])


def around_edit(text: Named, edit: Edit, place: int) -> Around:
    """As `around`. Whole lines put after a last one that has no end touch no line: that one is the line before them."""
    found = around(text, place, place + len(edit.old))
    if not edit.old and edit.new[:1] in ("\r", "\n") and place == len(text) and found.lines:
        return Around(found.lines, [], [])
    return found


def bare(lines: list[Named]) -> list[Named]:
    return [[each for each in line if each[0] not in "\r\n"] for line in lines]


def is_same(old: Around, new: Around, *, terminators: bool) -> bool:
    return old == new if terminators else all(bare(a) == bare(b) for a, b in zip(old, new, strict=True))


def place_after(text: Named, after: Named, edit: Edit) -> int | None:
    """Where the edit's place is by name, if what it takes out is still in one piece."""
    if edit.old:
        try:
            at = after.index(text[edit.at])
        except ValueError:
            return None
        return at if after[at : at + len(edit.old)] == text[edit.at : edit.end] else None
    before = after.index(text[edit.at - 1]) + 1 if edit.at and text[edit.at - 1] in after else None
    behind = after.index(text[edit.at]) if edit.at < len(text) and text[edit.at] in after else None
    if not text:
        return None if after else 0
    if edit.at == 0:
        return behind if behind == 0 else None
    if edit.at == len(text):
        return before if before == len(after) else None
    return before if before is not None and before == behind else None


@pytest.mark.slow
@given(TEXTS, PLACES, st.tuples(st.integers(0, 40), st.integers(0, 6), NEW))
@settings(max_examples=600)
@example("a\na\na\n", [(0, 0, "a\n")], (2, 2, "x"))
@example("a\nb", [(3, 0, "\nc")], (0, 1, "x"))
@example("a\nb\nend", [(0, 1, "x")], (7, 0, "\nnew"))
@example("a\nend", [(0, 1, "x")], (5, 0, "\nnew"))
@example("a\nend", [(0, 1, "x")], (5, 0, "new"))
def test_an_edit_goes_past_a_known_change_exactly_if_its_lines_and_their_neighbours_are_untouched(
    text: str, places: list[tuple[int, int, str]], target: tuple[int, int, str]
):
    change = Change(tuple(edit for edit in change_of(text, places).edits if edit.old != edit.new))
    (edit,) = change_of(text, [target]).edits
    after = change.apply(text)
    found = rebase_over_change([edit], change, text, after)
    old, new = named(text), changed(named(text), change)
    place = place_after(old, new, edit)
    if found is None:
        if place is not None:
            assert not is_same(around_edit(old, edit, edit.at), around_edit(new, edit, place), terminators=True)
        return
    assert found == [place]
    assert place is not None
    assert is_same(around_edit(old, edit, edit.at), around_edit(new, edit, place), terminators=False)


@pytest.mark.slow
@given(TEXTS, PLACES, st.tuples(st.integers(0, 40), st.integers(0, 6), NEW))
@settings(max_examples=600)
def test_an_edit_goes_past_unknown_changes_only_to_text_that_reads_the_same(
    text: str, places: list[tuple[int, int, str]], target: tuple[int, int, str]
):
    change = change_of(text, places)
    (edit,) = change_of(text, [target]).edits
    after = change.apply(text)
    found = rebase_over_difference([edit], text, after)
    if found is None:
        return
    (place,) = found
    assert after.startswith(edit.old, place)

    def said(lines: list[Named]) -> str:
        return "".join(character for line in lines for character, _ in line)

    old, new = around_edit(named(text), edit, edit.at), around_edit(named(after), edit, place)
    assert [said(part).rstrip("\r\n") for part in old] == [said(part).rstrip("\r\n") for part in new]


@given(
    st.lists(st.integers(0, 500), unique=True, max_size=10), PLACES, st.tuples(st.integers(0, 40), st.integers(0, 6))
)
def test_where_no_two_lines_are_alike_an_unknown_change_is_as_good_as_a_known_one(
    numbers: list[int], places: list[tuple[int, int, str]], target: tuple[int, int]
):
    text = "".join(f"line {number}\n" for number in numbers)
    # Whole lines, each new one unlike any other.
    whole = [(text.rfind("\n", 0, at % (len(text) + 1)) + 1, 0, f"new {n}\n") for n, (at, _, _) in enumerate(places)]
    change = change_of(text, whole)
    (edit,) = change_of(text, [(*target, "x")]).edits
    after = change.apply(text)
    assert rebase_over_difference([edit], text, after) == rebase_over_change([edit], change, text, after)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("a\n" * 10, "a\n" * 11, 5),
        ("x\n" + "a\n" * 10 + "y\n", "x\n" + "a\n" * 11 + "y\n", 5),
        ("x\n" + "a\n" * 10 + "y\n", "x\n" + "a\n" * 9 + "y\n", 5),
        ("a\nb\na\nb\na\nb\n", "a\nb\na\nb\na\nb\na\nb\n", 3),
        ("p\n" + "a\n" * 9 + "q\n", "P\n" + "a\n" * 10 + "Q\n", 5),
    ],
)
def test_which_of_several_equal_lines_was_meant_is_not_guessed(old: str, new: str, line: int):
    at = sum(len(each) for each in old.splitlines(keepends=True)[:line])
    assert rebase_over_difference([Edit(at, old[at : at + 2], "x\n")], old, new) is None


@pytest.mark.parametrize(
    ("old", "new", "line", "landed"),
    [
        ("a\n" * 10 + "b\n", "a\n" * 10 + "c\n", 5, 5),
        ("b\n" + "a\n" * 10, "c\nd\n" + "a\n" * 10, 5, 6),
        ("p\nx\n" + "a\n" * 9 + "y\nq\n", "P\nx\n" + "a\n" * 9 + "y\nQ\n", 5, 5),
        ("top\na\nb\nc\nd\nend\n", "Top\na\nb\nc\nd\nEnd\n", 3, 3),
    ],
)
def test_equal_lines_that_cannot_have_moved_are_told_apart(old: str, new: str, line: int, landed: int):
    at = sum(len(each) for each in old.splitlines(keepends=True)[:line])
    there = sum(len(each) for each in new.splitlines(keepends=True)[:landed])
    assert rebase_over_difference([Edit(at, old[at : at + 2], "x\n")], old, new) == [there]


@pytest.mark.slow
@given(TEXTS, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), NEW), min_size=2, max_size=6))
@settings(max_examples=600)
def test_edits_made_for_one_text_give_what_applying_them_at_once_gives(text: str, places: list[tuple[int, int, str]]):
    done: list[tuple[Edit, Edit]] = []
    content = text
    for place in places:
        (edit,) = change_of(text, [place]).edits
        found: list[int] | None = [edit.at]
        for asked, landed in done:
            found = None if found is None else rebase_over_own([edit], found, Change((asked,)), Change((landed,)))
        overlaps = any(
            max(edit.at, other.at) < min(edit.end, other.end)
            or (not edit.old and other.at < edit.at < other.end)
            or (not other.old and edit.at < other.at < edit.end)
            for other, _ in done
        )
        assert (found is None) is overlaps
        if found is not None:
            landed = Edit(found[0], edit.old, edit.new)
            content = Change((landed,)).apply(content)
            done.append((edit, landed))
    # Sorting is stable: of two insertions at one place the first comes first, and before what is replaced there.
    at_once = sorted((edit for edit, _ in done), key=lambda edit: (edit.at, edit.end))
    assert all(first.end <= second.at for first, second in pairwise(at_once))
    assert content == Change(tuple(at_once)).apply(text)
