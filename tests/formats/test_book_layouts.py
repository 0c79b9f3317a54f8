"""Plain texts set as books are set: each kind of layout in prose of our own, with the headings a reader would name.

The score on real novels is taken elsewhere; here it is shown that no kind is found only because a known book has it.
"""

from __future__ import annotations

import random
import textwrap
from itertools import count

import pytest

from redraft.formats.outline.outline import Outline, outline
from redraft.formats.outline.plain_outline import is_date

SENTENCES = [
    "The ferry came in late and nobody was waiting on the pier.",
    "She counted the lamps along the road and lost the count at nine.",
    "He said that the mill had been sold, though the papers were not signed.",
    "Rain had been at the roof all night, and the cellar smelled of iron.",
    "We walked as far as the second gate before anyone spoke.",
    "There was a letter on the table, and it was not for me.",
    "The old man laughed at that, but he put the knife away.",
    "Nothing moved in the yard except the chain on the well.",
    "They had agreed to meet at noon; by one o'clock the square was empty.",
    "I have tried since then to remember the colour of the door.",
    "His sister kept the accounts, and she kept them badly.",
    "A cart went by with its lantern out, going faster than it should.",
]
_seeds = count(1)


def prose(paragraphs: int = 6) -> str:
    """Wrapped paragraphs that differ from one another."""
    chance = random.Random(next(_seeds))
    return "\n\n".join(
        textwrap.fill(" ".join(chance.choices(SENTENCES, k=chance.randint(3, 7))), 70) for _ in range(paragraphs)
    )


def book(*headings: str, room: int = 2) -> str:
    gap = "\n" * (room + 1)
    return gap.join(f"{heading}{gap}{prose()}" for heading in headings) + "\n"


def titles(found: Outline) -> list[str]:
    return [entry.title for entry in found.walk()]


def lines_of(text: str, headings: list[str]) -> list[int]:
    """Where these lines stand last: after any table of contents."""
    lines = text.split("\n")
    return [len(lines) - 1 - lines[::-1].index(heading) for heading in headings]


def assert_found(text: str, headings: list[str]) -> None:
    assert [entry.line_start for entry in outline(text, "text").walk()] == lines_of(text, headings)


@pytest.mark.parametrize(
    "days",
    [
        ["3 May. Bistritz.", "4 May.", "5 May. The Castle.", "7 May."],
        ["Monday, June 4th, 1888", "Tuesday, June 5th, 1888", "Friday, June 8th, 1888"],
        ["2026-01-03", "2026-01-04", "2026-02-11"],
        ["January 1", "January 2", "January 9", "February 1"],
        ["Den 3. Mai 1771", "Am 4. Mai", "Am 10. Mai", "Am 12. Mai"],
        ["Le 8 mai", "Le 12 mai", "Le 16 mai", "Le 18 mai"],
        ["_12th of June_", "_13th of June_", "_1st of July_"],
        ["Monday", "Tuesday", "Wednesday", "Thursday"],
    ],
)
def test_a_diary_is_divided_by_its_days(days: list[str]) -> None:
    assert_found(book(*days), days)


def test_a_date_above_a_letter_within_a_chapter_divides_nothing() -> None:
    headings = [f"CHAPTER {number}" for number in ("I", "II", "III", "IV")]
    text = book(*(f"{heading}\n\n{prose(3)}\n\n4 May {year}." for year, heading in enumerate(headings, 1880)))
    assert_found(text, headings)


@pytest.mark.parametrize("line", ["May I come in?", "March on!", "The 4 May deeds", "In June.", "1880", "Sunday best"])
def test_prose_with_a_month_or_a_number_is_no_date(line: str) -> None:
    assert not is_date(line)


@pytest.mark.parametrize(
    "headings",
    [
        ["Erstes Kapitel", "Zweites Kapitel", "Drittes Kapitel", "Viertes Kapitel"],
        ["Das zwanzigste Kapitel", "Das einundzwanzigste Kapitel", "Das zweiundzwanzigste Kapitel"],
        ["Kapitel 1", "Kapitel 2", "Kapitel 3"],
        ["Chapitre premier", "Chapitre II", "Chapitre III", "Chapitre IV"],
        ["CHAPITRE I", "CHAPITRE II", "CHAPITRE III"],
        ["Capítulo 1", "Capítulo 2", "Capítulo 3"],
        ["CAPITOLO I", "CAPITOLO II", "CAPITOLO III"],
    ],
)
def test_chapters_have_other_words_in_other_languages(headings: list[str]) -> None:
    assert_found(book(*headings), headings)


def test_parts_of_another_language_hold_their_chapters() -> None:
    text = book("ERSTER TEIL\n\n\n1. Kapitel", "2. Kapitel", "ZWEITER TEIL\n\n\n1. Kapitel", "2. Kapitel")
    found = outline(text, "text")
    assert [entry.title for entry in found.entries] == ["ERSTER TEIL", "ZWEITER TEIL"]


def test_what_an_electronic_edition_puts_around_a_book_is_no_part_of_it() -> None:
    headings = ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    licence = book(*(f"Section {number}. General Terms of Use" for number in range(1, 6)))
    before = f"The eBook of A Mill\n\n{prose(1)}\n\n*** START OF THE PROJECT GUTENBERG EBOOK A MILL ***\n\n\n"
    after = f"\n\n*** END OF THE PROJECT GUTENBERG EBOOK A MILL ***\n\n\n{licence}"
    assert_found(before + book(*headings) + after, headings)


def test_a_play_is_divided_by_acts_and_scenes_and_not_by_its_speakers() -> None:
    def scene() -> str:
        chance = random.Random(next(_seeds))
        speeches = (f"{chance.choice(['ANNA', 'THE MILLER', 'OLD TOM'])}.\n{prose(1)}" for _ in range(12))
        return "\n\n".join(speeches)

    headings = ["ACT I", "SCENE I. A mill.", "SCENE II. The yard.", "ACT II", "SCENE I. A road.", "SCENE II. A mill."]
    text = "\n\n\n".join(heading if heading.startswith("ACT") else f"{heading}\n\n{scene()}" for heading in headings)
    assert [entry.title for entry in outline(text, "text").entries] == ["ACT I", "ACT II"]
    assert len(titles(outline(text, "text"))) == len(headings)


def test_shouting_in_capitals_is_no_heading() -> None:
    headings = [f"CHAPTER {number}" for number in ("ONE", "TWO", "THREE", "FOUR")]
    shouts = ["“FIRE!”", "STOP THE MILL!", "NO ENTRY", "GONE TO THE SEA"]
    text = book(*(f"{heading}\n\n{prose(3)}\n\n{shout}" for heading, shout in zip(headings, shouts, strict=True)))
    assert_found(text, headings)


def test_captions_and_running_heads_are_no_headings() -> None:
    headings = [f"CHAPTER {number}." for number in ("I", "II", "III", "IV", "V")]
    extras = "[Illustration: THE MILL BY NIGHT]\n\n{0}\n\nTHE MILL\n\n{1}"
    assert_found(book(*(f"{heading}\n\n{extras.format(prose(2), prose(2))}" for heading in headings)), headings)


@pytest.mark.parametrize("dots", ["  ", " . . . . . ", "\t"])
def test_a_table_of_contents_with_pages_is_left_out(dots: str) -> None:
    headings = ["The Ferry", "A Mill for Sale", "The Second Gate", "What the Sister Kept", "An Empty Square"]
    table = "CONTENTS\n\n" + "\n".join(f"{title}{dots}{17 * number}" for number, title in enumerate(headings, 1))
    assert_found(f"{table}\n\n\n\n{book(*headings, room=3)}", headings)


def test_a_preface_and_an_epilogue_stand_beside_the_chapters() -> None:
    headings = ["PREFACE", "CHAPTER I", "CHAPTER II", "CHAPTER III", "EPILOGUE"]
    text = book(*headings)
    assert_found(text, headings)
    assert {entry.level for entry in outline(text, "text").walk()} == {1}


def test_a_story_without_chapters_is_not_given_any() -> None:
    text = f"THE MILL\n\nBy Nobody\n\n\n{prose(40)}\n"
    found = outline(text, "text")
    assert found.detection_confidence in {None, "low"}
    assert "chapter_marker" not in {entry.detected_by for entry in found.walk()}
