"""The outline of any document has the shape that the specification shows."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.outline.outline import Format, outline

MARKDOWN = "intro\n\n# Chapter 1\n\ntext\n\n## The Journey Starts\n\ntext\n\n#### Deep\n\n# Chapter 2\n\nend\n"


def test_a_heading_outline_has_exactly_the_fields_of_the_specification() -> None:
    assert outline(MARKDOWN, "markdown").as_json() == {
        "detection_method": "headings",
        "outline": [
            {
                "title": "Chapter 1",
                "level": 1,
                "line_start": 2,
                "line_end": 11,
                "children": [{"title": "The Journey Starts", "level": 2, "line_start": 6, "line_end": 11}],
            },
            {"title": "Chapter 2", "level": 1, "line_start": 12, "line_end": None},
        ],
    }


@pytest.mark.covers("TK-outline-entry-fields")
@pytest.mark.parametrize(
    ("text", "kind"), [(MARKDOWN, "markdown"), ('{"a": {"b": 1}}', "json"), ("a:\n  b: 1\n", "yaml")]
)
def test_an_entry_has_title_level_and_lines_and_children_where_nested(text: str, kind: Format) -> None:
    [first, *_] = outline(text, kind).as_json()["outline"]
    [child] = first["children"]
    assert set(child) == {"title", "level", "line_start", "line_end"}
    assert set(first) == {*child, "children"}


@pytest.mark.covers("TK-outline-markdown")
def test_markdown_is_outlined_by_its_headings() -> None:
    found = outline("# A\n\nB\n===\n\n```\n# no\n```\n", "markdown")
    assert (found.detection_method, [entry.title for entry in found.entries]) == ("headings", ["A", "B"])


@pytest.mark.covers("TK-outline-json")
def test_json_is_outlined_by_keys_and_indices() -> None:
    found = outline('{"a": [1, {"b": 2}]}', "json")
    titles = [entry.title for entry in found.walk()]
    assert (found.detection_method, titles) == ("keys", ["a", "[0]", "[1]", "b"])


@pytest.mark.covers("TK-outline-yaml")
def test_yaml_is_outlined_by_keys_and_their_nesting() -> None:
    found = outline("a:\n  b:\n  - c: 1\nd: 2\n", "yaml", max_depth=2)
    levels = [(entry.title, entry.level) for entry in found.walk()]
    assert (found.detection_method, levels) == ("keys", [("a", 1), ("b", 2), ("d", 1)])


@pytest.mark.covers("TK-outline-depth-default")
def test_three_levels_are_shown_unless_more_are_asked_for() -> None:
    text = "".join(f"{'#' * level} {level}\n" for level in range(1, 7))
    assert [entry.level for entry in outline(text, "markdown").walk()] == [1, 2, 3]
    assert [entry.level for entry in outline(text, "markdown", max_depth=5).walk()] == [1, 2, 3, 4, 5]


@pytest.mark.covers("TK-outline-last-end")
@pytest.mark.parametrize(
    ("text", "kind"),
    [(MARKDOWN, "markdown"), ("a: 1\nb:\n  c: 2\n", "yaml"), ("Chapter 1\n\ntext\n\nChapter 2\n\ntext\n", "text")],
)
def test_only_the_last_section_has_no_end(text: str, kind: Format) -> None:
    *others, last = outline(text, kind).entries
    assert last.line_end is None
    assert all(entry.line_end is not None for entry in others)


def test_the_last_key_of_json_ends_before_the_closing_brace() -> None:
    [entry] = outline('{\n  "a": 1\n}\n', "json").entries
    assert entry.line_end == 1


@pytest.mark.covers("TK-outline-none")
@pytest.mark.parametrize("kind", ["markdown", "text", "yaml", "unknown"])
def test_without_structure_a_suggestion_names_the_other_tools(kind: Format) -> None:
    shape = outline("just one paragraph of words", kind).as_json()
    assert (shape["outline"], shape["detection_method"], set(shape)) == (
        [],
        "none",
        {"outline", "detection_method", "suggestion"},
    )
    assert "search_document" in shape["suggestion"]
    assert "read_document" in shape["suggestion"]


@given(st.text(), st.sampled_from(get_args(Format)), st.integers(-1, 100), st.booleans())
def test_any_text_in_any_format_has_an_outline(text: str, kind: Any, depth: int, chapters: bool) -> None:
    found = outline(text, kind, max_depth=depth, detect_chapters=chapters)
    assert json.dumps(found.as_json())
    assert all(entry.level <= depth for entry in found.walk())
