"""Plain text: the specification's rules one by one, and the traps that a novel sets."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.outline.outline import Outline, outline

PROSE = "It was late, and nobody had come. The lamps were lit along the quay, and a thin rain fell on the water. " * 8
LINES = [
    *["", "", "", "word", "A sentence, that goes on.", "CHAPTER I", "Chapter 2", "PART ONE", "II.", "3", "4. Title"],
    *["THE END", "* * *", "---", "Act II, Scene 3", "CONTENTS", "--- Section ---", "PREFACE", "“WHAT?”", "I"],
]


def titles(found: Outline) -> list[str]:
    return [entry.title for entry in found.walk()]


def text_with(*headings: str) -> str:
    return "\n\n".join(f"{heading}\n\n{PROSE}" for heading in headings)


@pytest.mark.covers("TK-outline-text", "TK-outline-note", "TK-outline-detected-by")
def test_a_text_is_outlined_by_guesswork_and_says_so() -> None:
    shape = outline(text_with("Chapter 1", "Chapter 2"), "text").as_json()
    assert shape["detection_method"] == "heuristic"
    assert "search_document" in shape["note"]
    assert [entry["detected_by"] for entry in shape["outline"]] == ["chapter_marker", "chapter_marker"]


@pytest.mark.covers("TK-outline-chapter-words")
@pytest.mark.parametrize("word", ["Chapter", "PART", "Act", "Scene", "SECTION"])
@pytest.mark.parametrize("numbers", [("1", "2"), ("ONE", "TWO"), ("I", "II"), ("One", "Two")])
def test_words_that_divide_books_start_a_section(word: str, numbers: tuple[str, str]) -> None:
    headings = [f"{word} {number}" for number in numbers]
    found = outline(text_with(*headings), "text")
    assert (titles(found), found.detection_confidence) == (headings, "high")


@pytest.mark.covers("TK-outline-numbered")
@pytest.mark.parametrize("mark", [".", ")"])
def test_numbered_lines_start_a_section(mark: str) -> None:
    headings = [f"{number}{mark} {title}" for number, title in enumerate(["Means", "Ends", "Results"], 1)]
    assert titles(outline(text_with(*headings), "text")) == headings


@pytest.mark.covers("TK-outline-dashed-section")
def test_a_title_between_dashes_starts_a_section() -> None:
    found = outline(text_with("--- Means ---", "--- Ends ---"), "text")
    assert (titles(found), found.detection_confidence) == (["Means", "Ends"], "high")


@pytest.mark.covers("TK-outline-act-scene")
def test_an_act_and_a_scene_on_one_line_are_one_heading() -> None:
    headings = ["Act I, Scene 1", "Act I, Scene 2", "Act II, Scene 1", "Act II, Scene 2", "Act II, Scene 3"]
    assert titles(outline(text_with(*headings), "text")) == headings


@pytest.mark.covers("TK-outline-caps")
def test_capitals_between_blank_lines_are_a_heading() -> None:
    headings = ["THE BEGINNING", "THE MIDDLE", "THE END OF IT"]
    found = outline(text_with(*headings), "text")
    assert (titles(found), found.detection_confidence) == (headings, "medium")


@pytest.mark.covers("TK-outline-separator")
@pytest.mark.parametrize("rule", ["---", "***", "==="])
def test_a_short_line_over_a_rule_is_a_heading(rule: str) -> None:
    found = outline(text_with(f"Means\n{rule}", f"Ends\n{rule}"), "text")
    assert titles(found) == ["Means", "Ends"]


@pytest.mark.covers("TK-outline-major-break", "TK-outline-minor-break")
def test_without_chapters_blank_lines_divide() -> None:
    found = outline("one a\n\none b\n\n\n\ntwo a\n\n\ntwo b\n", "text")
    assert [(entry.title, entry.level) for entry in found.walk()] == [
        ("one a", 1),
        ("one b", 2),
        ("two a", 1),
        ("two b", 2),
    ]
    assert found.detection_confidence == "low"


@pytest.mark.covers("TK-outline-scene-break")
def test_a_scene_break_divides_a_text_without_chapters() -> None:
    found = outline("one a\n\n* * *\n\ntwo a\n\ntwo b\n", "text")
    assert [(entry.title, entry.level, entry.detected_by) for entry in found.walk()] == [
        ("one a", 1, "paragraph_break"),
        ("two a", 1, "scene_break"),
        ("two b", 2, "paragraph_break"),
    ]


@pytest.mark.covers("TK-outline-fragment-title")
def test_a_section_found_by_breaks_is_titled_by_its_first_words() -> None:
    words = [f"word{number}" for number in range(30)]
    long = " ".join(words[:15]) + "\n" + " ".join(words[15:])
    assert titles(outline(f"{long}\n\nshort\n", "text")) == [" ".join(words[:20]) + "...", "short"]


@pytest.mark.covers("TK-outline-confidence")
@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        (text_with("Chapter 1", "Chapter 2"), "high"),
        (text_with("THE BEGINNING", "THE MIDDLE"), "medium"),
        ("a lamp\n\na quay\n\nsome rain\n", "low"),
    ],
)
def test_confidence_says_what_was_found(text: str, confidence: str) -> None:
    assert outline(text, "text").detection_confidence == confidence


@pytest.mark.covers("TK-outline-detect-default")
def test_chapters_are_looked_for_unless_told_otherwise() -> None:
    text = text_with("Chapter 1", "Chapter 2")
    assert {entry.detected_by for entry in outline(text, "text").walk()} == {"chapter_marker"}
    without = outline(text, "text", detect_chapters=False)
    assert {entry.detected_by for entry in without.walk()} == {"paragraph_break"}


def test_parts_hold_their_chapters() -> None:
    found = outline(text_with("PART ONE\n\nChapter 1", "Chapter 2", "PART TWO\n\nChapter 1", "Chapter 2"), "text")
    assert [(entry.title, len(entry.children)) for entry in found.entries] == [("PART ONE", 2), ("PART TWO", 2)]


def test_the_title_below_a_number_is_part_of_the_heading() -> None:
    found = outline(text_with("CHAPTER I\n\nTHE OLD SEA-DOG", "CHAPTER II\n\nBLACK DOG"), "text")
    assert titles(found) == ["CHAPTER I: THE OLD SEA-DOG", "CHAPTER II: BLACK DOG"]


@pytest.mark.parametrize(
    "trap",
    [
        "“FIRE!”",
        "JOHN.",
        "MY DEAR FRIEND,",
        "Chapter 3 of that book says otherwise.",
        "I",
        "THE TIMES OF LONDON",
        "1. Bread\n2. Wine\n3. Candles",
    ],
)
def test_what_is_no_heading_is_not_taken_for_one(trap: str) -> None:
    body = f"{PROSE}\n\n{trap}\n\n{PROSE}"
    text = "\n\n\n".join(f"CHAPTER {number}\n\n{body}" for number in ("I", "II", "III", "IV"))
    assert titles(outline(text, "text")) == ["CHAPTER I", "CHAPTER II", "CHAPTER III", "CHAPTER IV"]


def test_a_lone_number_of_another_kind_is_a_mention() -> None:
    chapters = [f"CHAPTER {number}" for number in range(1, 6)]
    assert titles(outline(text_with(*chapters[:3], "Letter 4", *chapters[3:]), "text")) == chapters
    assert titles(outline(text_with("Letter 4"), "text")) == ["Letter 4"]


def test_page_numbers_are_no_chapters() -> None:
    pages = "\n\n".join(f"{PROSE.strip()[:-20]} and then the others\n\n{number}" for number in range(1, 30))
    assert "chapter_marker" not in {entry.detected_by for entry in outline(pages, "text").walk()}


def test_a_running_head_is_no_chapter() -> None:
    chapters = [f"CHAPTER {n}\n\n{PROSE}\n\nTHE OLD HOUSE\n\n{PROSE}" for n in range(1, 6)]
    assert titles(outline("\n\n".join(chapters), "text")) == [f"CHAPTER {n}" for n in range(1, 6)]


@given(st.lists(st.sampled_from([*LINES, PROSE]), max_size=40))
def test_any_text_has_an_outline_whose_lines_exist(lines: list[str]) -> None:
    found = list(outline("\n".join(lines), "text").walk())
    starts = [entry.line_start for entry in found]
    assert starts == sorted(set(starts))
    assert all(lines[line].strip() for line in starts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["CHAPTER I\n\n", "I\n\n", "a\n\n", "1. x\n", "THE WORD\n\n", "* * *\n", "word " * 15 + "\n"]
)
def test_large_texts_take_no_longer_than_their_length(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    outline(text, "text")
    assert time.process_time() - start < 5
