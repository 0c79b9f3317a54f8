"""Outlines as an agent gets them: `get_outline` over MCP, on documents of every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.speaking.lines import answer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.speaking.lines import Lines

MARKDOWN = "# A\n\n## B\n\ntext\n\n# C\n\n> ## Quoted\n"


def text_with(*headings: str) -> str:
    """A book: each heading over a paragraph of prose."""
    prose = "It was a long day, and nobody came to look after the lamp.\n"
    return "\n".join(f"{heading}\n\n{prose}" for heading in headings)


@pytest.fixture
def outline(tools: Lines, shelf: Path) -> Any:
    """The outline of a text under a name."""

    def outlined(name: str, text: str, **more: Any) -> dict[str, Any]:
        (shelf / name).write_text(text, encoding="utf-8")
        result = tools.call("get_outline", path=name, **more)
        assert not result["isError"], result
        return answer_of(result)

    return outlined


def walk(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        yield entry
        yield from walk(entry.get("children", []))


def titles(shape: dict[str, Any]) -> list[str]:
    return [entry["title"] for entry in walk(shape["outline"])]


@pytest.mark.covers("TK-outline-chapter-words", "TK-outline-text", "TK-outline-note", "TK-outline-detected-by")
@pytest.mark.parametrize("word", ["Chapter", "PART", "Act", "Scene", "SECTION"])
@pytest.mark.parametrize("numbers", [("1", "2"), ("ONE", "TWO"), ("I", "II"), ("One", "Two")])
def test_words_that_divide_books_start_a_section(outline: Any, word: str, numbers: tuple[str, str]) -> None:
    headings = [f"{word} {number}" for number in numbers]
    shape = outline("book.txt", text_with(*headings))
    assert (titles(shape), shape["detection_method"], shape["detection_confidence"]) == (headings, "heuristic", "high")
    assert shape["file_type"] == "txt"
    assert [(entry["detected_by"], entry["line_start"], entry["line_end"]) for entry in shape["outline"]] == [
        ("chapter_marker", 0, 3),
        ("chapter_marker", 4, None),
    ]
    assert shape["note"] == "Structure detected heuristically. Use search_document for more precise navigation."


@pytest.mark.parametrize(
    ("headings", "found", "confidence"),
    [
        pytest.param(
            ["1. Means", "2. Ends", "3. Results"], None, "high", marks=pytest.mark.covers("TK-outline-numbered")
        ),
        pytest.param(["1) Means", "2) Ends", "3) Results"], None, "high"),
        pytest.param(
            ["--- Means ---", "--- Ends ---"],
            ["Means", "Ends"],
            "high",
            marks=pytest.mark.covers("TK-outline-dashed-section"),
        ),
        pytest.param(
            ["Act I, Scene 1", "Act I, Scene 2", "Act II, Scene 3"],
            None,
            "high",
            marks=pytest.mark.covers("TK-outline-act-scene"),
        ),
        pytest.param(
            ["THE BEGINNING", "THE MIDDLE", "THE END OF IT"],
            None,
            "medium",
            marks=pytest.mark.covers("TK-outline-caps"),
        ),
        pytest.param(
            ["Means\n---", "Ends\n---"], ["Means", "Ends"], "medium", marks=pytest.mark.covers("TK-outline-separator")
        ),
        pytest.param(["Means\n***", "Ends\n***"], ["Means", "Ends"], "medium"),
        pytest.param(["Means\n===", "Ends\n==="], ["Means", "Ends"], "medium"),
    ],
)
@pytest.mark.covers("TK-outline-confidence")
def test_what_looks_like_a_heading_is_one(
    outline: Any, headings: list[str], found: list[str] | None, confidence: str
) -> None:
    shape = outline("guessed.txt", text_with(*headings))
    assert (titles(shape), shape["detection_confidence"]) == (found or headings, confidence)


@pytest.mark.covers("TK-outline-caps")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (text_with("A" * 49, "B" * 49), "visual_pattern"),
        (text_with("A" * 50, "B" * 50), "paragraph_break"),
        (text_with("THE BEGINNING", "THE MIDDLE").replace("\n\nIt", "\nIt"), "paragraph_break"),
        (text_with("The Beginning", "The Middle"), "paragraph_break"),
    ],
    ids=["49 letters", "50 letters", "no blank line below", "not in capitals"],
)
def test_capitals_are_a_heading_where_they_are_short_and_alone(outline: Any, text: str, rule: str) -> None:
    assert {entry["detected_by"] for entry in walk(outline("capitals.txt", text)["outline"])} == {rule}


@pytest.mark.covers("TK-outline-major-break", "TK-outline-minor-break", "TK-outline-confidence")
def test_without_chapters_blank_lines_divide(outline: Any) -> None:
    shape = outline("breaks.txt", "one a\n\none b\n\n\n\ntwo a\n\n\ntwo b\n")
    assert [
        (each["title"], each["level"], each["line_start"], each["line_end"]) for each in walk(shape["outline"])
    ] == [
        ("one a", 1, 0, 5),
        ("one b", 2, 2, 5),
        ("two a", 1, 6, None),
        ("two b", 2, 9, None),
    ]
    assert {each["detected_by"] for each in walk(shape["outline"])} == {"paragraph_break"}
    assert shape["detection_confidence"] == "low"


@pytest.mark.covers("TK-outline-scene-break")
def test_a_scene_break_divides_a_text_without_chapters(outline: Any) -> None:
    shape = outline("scenes.txt", "one a\n\n* * *\n\ntwo a\n\ntwo b\n")
    assert [(entry["title"], entry["detected_by"]) for entry in walk(shape["outline"])] == [
        ("one a", "paragraph_break"),
        ("two a", "scene_break"),
        ("two b", "paragraph_break"),
    ]


@pytest.mark.covers("TK-outline-fragment-title")
def test_a_section_found_by_breaks_is_titled_by_its_first_words(outline: Any) -> None:
    words = [f"word{number}" for number in range(30)]
    long = " ".join(words[:15]) + "\n" + " ".join(words[15:])
    assert titles(outline("long.txt", f"{long}\n\nshort\n")) == [" ".join(words[:20]) + "...", "short"]


@pytest.mark.covers("TK-outline-detect-default")
def test_chapters_are_looked_for_unless_told_otherwise(outline: Any) -> None:
    text = text_with("Chapter 1", "Chapter 2")
    for more, rule in (({}, "chapter_marker"), ({"detect_chapters": False}, "paragraph_break")):
        assert {entry["detected_by"] for entry in walk(outline("chapters.txt", text, **more)["outline"])} == {rule}


@pytest.mark.covers("TK-outline-entry-fields")
@pytest.mark.parametrize(
    ("name", "text"), [("a.md", MARKDOWN), ("a.json", '{"a": {"b": 1}}'), ("a.yaml", "a:\n  b: 1\n")]
)
def test_an_entry_has_title_level_and_lines_and_children_where_nested(outline: Any, name: str, text: str) -> None:
    [first, *_] = outline(name, text)["outline"]
    [child] = first["children"]
    assert set(child) == {"title", "level", "line_start", "line_end"}
    assert set(first) == {*child, "children"}


@pytest.mark.parametrize(
    ("name", "text", "method", "found"),
    [
        pytest.param(
            "b.md",
            "# A\n\nB\n===\n\n```\n# no\n```\n",
            "headings",
            ["A", "B"],
            marks=pytest.mark.covers("TK-outline-markdown"),
        ),
        pytest.param(
            "b.json",
            '{"a": [1, {"b": 2}]}',
            "keys",
            ["a", "[0]", "[1]", "b"],
            marks=pytest.mark.covers("TK-outline-json"),
        ),
        pytest.param("c.json", '[1, {"b": 2}]', "keys", ["[0]", "[1]", "b"]),
        pytest.param(
            "b.yaml", "a:\n  b: 1\nd: 2\n", "keys", ["a", "b", "d"], marks=pytest.mark.covers("TK-outline-yaml")
        ),
    ],
)
def test_every_format_is_outlined_in_its_own_way(
    outline: Any, name: str, text: str, method: str, found: list[str]
) -> None:
    shape = outline(name, text)
    assert (shape["detection_method"], titles(shape)) == (method, found)


@pytest.mark.covers("TK-outline-depth-default")
def test_three_levels_are_shown_unless_more_are_asked_for(outline: Any) -> None:
    text = "".join(f"{'#' * level} {level}\n" for level in range(1, 7))
    for more, levels in (({}, [1, 2, 3]), ({"max_depth": 5}, [1, 2, 3, 4, 5])):
        assert [entry["level"] for entry in walk(outline("deep.md", text, **more)["outline"])] == levels


@pytest.mark.covers("TK-outline-last-end")
@pytest.mark.parametrize(
    ("name", "text"),
    [("c.md", MARKDOWN), ("c.yaml", "a: 1\nb:\n  c: 2\n"), ("c.txt", "Chapter 1\n\ntext\n\nChapter 2\n\ntext\n")],
)
def test_only_the_last_section_has_no_end(outline: Any, name: str, text: str) -> None:
    *others, last = outline(name, text)["outline"]
    assert last["line_end"] is None
    assert all(entry["line_end"] is not None for entry in others)


@pytest.mark.covers("TK-outline-none")
@pytest.mark.parametrize("name", ["d.md", "d.txt", "d.yaml"])
def test_without_structure_a_suggestion_names_the_other_tools(outline: Any, name: str) -> None:
    shape = outline(name, "just one paragraph of words")
    assert (shape["outline"], shape["detection_method"]) == ([], "none")
    assert shape["suggestion"] == (
        "This document has no detectable structure. Use search_document to find specific content, or read_document to "
        "browse sequentially."
    )
