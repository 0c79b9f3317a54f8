"""Novels with the places where their chapters begin, a scorer, and real prose under headings of other kinds.

A score on ten known books says little of others, so their prose is also set anew: the chapters' text as it is, under
headings as other books have them, with and without a table of contents. What is found there nobody tuned to a book.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.formats.outline.outline import outline
from tests.formats.test_numerals import roman

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Window = tuple[int, int]

TITLES = [
    "The Prison-Door", "The Market-Place", "A Voice in the Dark", "Recalled to Life", "How It Began", "The Bertolini",
    "Mr. Hyde Was Quite at Ease", "Economy", "In Which Nothing Happens", "Reading", "Sounds", "The Sea", "Who Is He?",
    "Where I Lived, and What I Lived For", "What the Old Man Said", "The Night Shadows", "Return", "Loomings",
    "The Carpet-Bag", "The Spouter-Inn", "Breakfast", "The Street", "A Bosom Friend", "Nightgown",
]  # fmt: skip
ORDINALS = ["First", "Second", "Third", "Fourth"]
WORDS = ["ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE"]


@dataclass(frozen=True, slots=True)
class Book:
    """A text and, for each chapter, the lines between the last words before it and its own first words."""

    name: str
    text: str
    windows: list[Window]


@dataclass(frozen=True, slots=True)
class Score:
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def read_books(material: Path) -> list[Book]:
    """The novels that have chapters."""
    folder = material / "novel-outlines-dev"
    books: list[Book] = []
    for truth in json.loads((folder / "truth.json").read_text(encoding="utf-8")):
        windows = [(first, last) for first, last in (chapter["window"] for chapter in truth["chapters"])]
        books.append(Book(truth["file"], (folder / truth["file"]).read_text(encoding="utf-8"), windows))
    return [book for book in books if book.windows]


def score(lines: Iterable[int], windows: Sequence[Window]) -> Score:
    """A chapter is found when an entry lies in its window, and an entry is good when it lies in any."""
    hits = [[number for number, (first, last) in enumerate(windows) if first <= line <= last] for line in lines]
    found = {number for hit in hits for number in hit}
    return Score(sum(map(bool, hits)) / len(hits) if hits else 0.0, len(found) / len(windows))


def score_outline(book: Book) -> Score:
    return score([entry.line_start for entry in outline(book.text, "text").walk()], book.windows)


# A style writes the heading of chapter `number` (from 1), and perhaps its lines in a table of contents.
Writer = Callable[[int], list[str]]


def _title(number: int) -> str:
    return TITLES[(number - 1) % len(TITLES)]


def _in_parts(part: Writer, chapter: Writer, size: int) -> Writer:
    """Chapters that begin again from 1 under a part for every `size` of them."""

    def write(number: int) -> list[str]:
        within = (number - 1) % size + 1
        return [*(part((number - 1) // size + 1) if within == 1 else []), *chapter(within)]

    return write


STYLES: dict[str, Writer] = {
    "CHAPTER I.": lambda n: [f"CHAPTER {roman(n)}."],
    "centred": lambda n: [f"{'':26}CHAPTER {roman(n)}.", "", f"{'':20}{_title(n).upper()}"],
    "Chapter 1, its title below": lambda n: [f"Chapter {n}", _title(n)],
    "Chapter I: a title": lambda n: [f"Chapter {roman(n)}: {_title(n)}"],
    "roman numerals": lambda n: [roman(n)],
    "roman numerals, titles below": lambda n: [f"{roman(n)}.", "", f"{_title(n).upper()}."],
    "numbers and titles": lambda n: [f"{n}.  {_title(n)}"],
    "numbers in brackets": lambda n: [f"[ {n} ]"],
    "numerals between dashes": lambda n: [f"— {roman(n)} —"],
    "letters": lambda n: [f"LETTER {roman(n)}", "", "_To Mrs. Saville, England._"],
    "a word of its own": lambda n: [f"STAVE {roman(n)}", "", _title(n).upper()],
    "an unknown word": lambda n: [f"ADVENTURE {roman(n)}. {_title(n).upper()}"],
    "emphasised": lambda n: [f"_Chapter {n}_"],
    "titles in capitals": lambda n: [_title(n).upper()],
    "underlined titles": lambda n: [_title(n), "-" * len(_title(n))],
    "parts and chapters": _in_parts(lambda n: [f"PART {WORDS[n - 1]}", "", "", ""], lambda n: [f"Chapter {n}"], 6),
    "books and titled numerals": _in_parts(
        lambda n: [f"Book the {ORDINALS[n - 1]}--The Golden Thread", "", "", ""], lambda n: [f"{roman(n)}. It Is So"], 8
    ),
    "books and numerals": _in_parts(lambda n: [f"BOOK {roman(n)}.", "", ""], lambda n: [roman(n)], 8),
    "volumes and chapters": _in_parts(lambda n: [f"VOLUME {roman(n)}", "", ""], lambda n: [f"CHAPTER {roman(n)}"], 8),
    "acts and scenes": _in_parts(
        lambda n: [f"ACT {roman(n)}", ""], lambda n: [f"SCENE {roman(n)}. A room in the castle."], 6
    ),
}

# A heading style, and how the table of contents writes the same chapters.
WITH_CONTENTS: dict[str, tuple[Writer, Writer]] = {
    "the same lines": (
        lambda n: [f"CHAPTER {roman(n)}. {_title(n)}."],
        lambda n: [f"CHAPTER {roman(n)}. {_title(n)}.", ""],
    ),
    "with pages": (
        lambda n: [f"CHAPTER {n}", "", _title(n).upper()],
        lambda n: [f"{n}. {_title(n)} . . . . . {n * 12}"],
    ),
    "with summaries": (
        lambda n: [f"CHAPTER {roman(n)}."],
        lambda n: [f"CHAPTER {roman(n)}.", f"{_title(n)}.--Miss Watson.--Tom Sawyer Waits.", ""],
    ),
    "titles in capitals": (lambda n: [_title(n).upper()], lambda n: [_title(n)]),
    "titles as they are": (lambda n: [_title(n)], lambda n: [f"  {_title(n)}      {n * 10}"]),
    "acts and scenes": (STYLES["acts and scenes"], STYLES["acts and scenes"]),
}


def set_anew(book: Book, heading: Writer, contents: Writer | None = None, room: int = 4) -> Book:
    """The prose of a book under other headings, with `room` blank lines above each."""
    lines = ["THE TITLE OF THE BOOK", "", "By An Author", "", "", ""]
    chapters = _bodies(book)
    if contents:
        lines += [
            "CONTENTS",
            "",
            *(line for number in range(len(chapters)) for line in contents(number + 1)),
            *[""] * 4,
        ]
    windows: list[Window] = []
    for number, body in enumerate(chapters, 1):
        above = heading(number)
        windows.append((len(lines), len(lines) + len(above) - 1))
        lines += [*above, *[""] * max(1, room // 2), *body, *[""] * room]
    return Book(book.name, "\n".join(lines), windows)


def _bodies(book: Book) -> list[list[str]]:
    lines = book.text.split("\n")
    ends = [*(first for first, _ in book.windows[1:]), len(lines)]
    bodies = [
        "\n".join(lines[last + 1 : end]).strip("\n").split("\n")
        for (_, last), end in zip(book.windows, ends, strict=True)
    ]
    return [body for body in bodies if len(body) > 30][: len(TITLES)]
