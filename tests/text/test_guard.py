"""The guard: small hunks stay as they are, large ones are split where a reader would, or say that they are large."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.diff.hunk_limits import split_oversized
from redraft.text.diff.hunks import Hunk, apply, diff
from redraft.text.edits import Span
from redraft.text.lines import split_lines
from tests.text.shapes import versions
from tests.text.test_diff import check_hunks, naive_lines_touched


def is_small(hunk: Hunk, lines: int, size: int) -> bool:
    sides = (hunk.old_text, hunk.new_text)
    return all(len(split_lines(side)) <= lines and len(side.encode()) <= size for side in sides)


def check_guard(
    old: str, new: str, lines: int = 80, size: int = 8192, edits: tuple[Span, ...] = ()
) -> tuple[Hunk, ...]:
    """What every answer promises: the same change, in parts that apply in any subset, none too large unmarked."""
    hunks = diff(old, new)
    parts = split_oversized(hunks, old, edits=edits, max_lines=lines, max_bytes=size)
    check_hunks(old, new, parts)
    for part in parts:
        assert part.oversized == (not is_small(part, lines, size))
        assert part.old == naive_lines_touched(old, part.at, part.edit.end)
        assert part.new == naive_lines_touched(new, part.new_at, part.new_at + len(part.new_text))
    ids = {part.id for part in parts}
    assert all(hunk.id in ids for hunk in hunks if is_small(hunk, lines, size))
    small = tuple(part for part in parts if not part.oversized)
    assert split_oversized(small, old, max_lines=lines, max_bytes=size) == small
    return parts


def paragraphs(count: int, word: str) -> str:
    return "\n".join(f"Paragraph {n} of the {word} text.\nIt has two lines.\n" for n in range(count))


@given(versions(16), st.integers(1, 6), st.integers(4, 200), st.data())
def test_parts_do_what_the_whole_did(pair: tuple[str, str], lines: int, size: int, data: st.DataObject) -> None:
    old, new = pair
    places = sorted(data.draw(st.lists(st.integers(0, len(old)), max_size=6)))
    edits = tuple(Span(start, end) for start, end in zip(places[::2], places[1::2], strict=False))
    check_guard(old, new, lines, size, edits)


def test_small_hunks_stay_as_they_are() -> None:
    hunks = diff("a\nb\nc\n", "a\nx\nc\n")
    assert split_oversized(hunks, "a\nb\nc\n") == hunks


def test_a_subset_keeps_its_ids() -> None:
    old = "x\na\nb\nc\nx\n"
    second = diff(old, "y\na\nb\nc\ny\n")[1:]
    assert split_oversized(second, old) == second


@pytest.mark.covers("SB-size-lines")
def test_a_large_insertion_is_split_at_blank_lines() -> None:
    new = paragraphs(100, "new")
    parts = check_guard("", new)
    assert not any(part.oversized for part in parts)
    assert all(part.new_text.startswith("Paragraph") for part in parts)
    assert len(parts) == 4


def test_a_large_deletion_is_split_at_blank_lines() -> None:
    parts = check_guard(paragraphs(100, "old"), "")
    assert [part.oversized for part in parts] == [False] * 4


def test_a_rewritten_chapter_is_split_into_passages() -> None:
    pick = random.Random(0)
    old, new = ("\n".join(f"{pick.random()}\n{pick.random()}\n" for _ in range(count)) for count in (100, 130))
    parts = check_guard(old, new)
    assert len(parts) <= 6
    assert not any(part.oversized for part in parts)


@pytest.mark.covers("SB-hunk-split-edits", "SB-size-order")
def test_named_edits_come_first() -> None:
    old = "".join(f"{n}\n" for n in range(100))
    new = "".join(f"x{n}\n" for n in range(100))
    middle = old.index("50\n")
    parts = check_guard(old, new, edits=(Span(0, middle), Span(middle, len(old))))
    assert [part.old for part in parts] == [Span(0, 50), Span(50, 100)]


def test_rows_and_items_are_boundaries_too() -> None:
    parts = check_guard("", "".join(f"- item {n}\n" for n in range(200)))
    assert [part.new for part in parts] == [Span(0, 80), Span(80, 160), Span(160, 200)]


@pytest.mark.covers("SB-size-order")
def test_a_paragraph_on_one_line_is_split_between_sentences() -> None:
    new = "This is a sentence of some length. " * 400
    parts = check_guard("", new)
    assert not any(part.oversized for part in parts)
    assert all(part.new_text.startswith("This is") for part in parts)


@pytest.mark.covers("SB-size-oversized")
def test_what_cannot_be_split_says_so() -> None:
    (part,) = check_guard("", "x" * 9000)
    assert part.oversized


@pytest.mark.covers("SB-size-bytes")
def test_bytes_count_not_characters() -> None:
    assert all(not part.oversized for part in check_guard("", "漢字の文です。" * 1000))
    (part,) = check_guard("", "é" * 5000)
    assert part.oversized


def test_parts_of_a_large_hunk_apply_one_by_one() -> None:
    old = paragraphs(60, "old")
    new = paragraphs(60, "new") + "\nAnd an ending.\n"
    parts = check_guard(old, new)
    first = apply(old, parts, {parts[0].id})
    assert first.startswith("Paragraph 0 of the new text.")
    assert first.endswith(old[-40:])


@pytest.mark.slow
def test_a_rewritten_book_is_split_in_a_few_seconds() -> None:
    pick = random.Random(0)
    old, new = ("\n".join(f"{pick.random()} words\n" * 3 for _ in range(20_000)) for _ in range(2))
    started = time.process_time()
    parts = split_oversized(diff(old, new), old)
    assert time.process_time() - started < 30
    assert apply(old, parts) == new
    assert not any(part.oversized for part in parts)
