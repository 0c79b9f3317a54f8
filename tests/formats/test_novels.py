"""Chapters are found in real novels, and in their prose under the headings of other books."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

import pytest

from tests.formats.books import STYLES, WITH_CONTENTS, read_books, score, score_outline, set_anew

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_chapters_of_real_novels_are_found(material: Path) -> None:
    scores = {book.name: score_outline(book).f1 for book in read_books(material)}
    assert len(scores) == 9
    assert mean(scores.values()) >= 0.95, scores
    assert min(scores.values()) >= 0.80, scores


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_chapters_are_found_under_any_headings(material: Path, style: str) -> None:
    books = [book for book in read_books(material) if len(book.windows) > 3]
    scores = {
        (book.name, room): score_outline(set_anew(book, STYLES[style], room=room)).f1
        for book in books
        for room in (1, 4)
    }
    assert mean(scores.values()) >= 0.95, scores


@pytest.mark.slow
@pytest.mark.parametrize("style", WITH_CONTENTS)
def test_a_table_of_contents_is_no_chapter(material: Path, style: str) -> None:
    heading, contents = WITH_CONTENTS[style]
    books = [book for book in read_books(material) if len(book.windows) > 3]
    scores = {
        (book.name, room): score_outline(set_anew(book, heading, contents, room)).f1
        for book in books
        for room in (1, 4)
    }
    assert mean(scores.values()) >= 0.95, scores


def test_the_score_counts_entries_and_chapters() -> None:
    found = score([5, 6, 40, 90], [(4, 8), (38, 44), (60, 66)])
    assert (found.precision, round(found.recall, 3)) == (0.75, 0.667)
