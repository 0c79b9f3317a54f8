"""JSON outlines: every key and index at its lines; what is not JSON is refused with a place, and nothing crashes."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.outline.outline import outline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=25
)
Member = tuple[int, str, Any]


def members(value: Any, level: int = 1) -> Iterator[Member]:
    """The naive twin: walks the parsed value."""
    pairs: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        pairs = list(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    elif isinstance(value, list):
        pairs = [(f"[{index}]", item) for index, item in enumerate(value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    for title, item in pairs:
        yield level, title, item
        yield from members(item, level + 1)


@given(VALUES, st.sampled_from([None, 0, 2, "\t"]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_entries_are_the_members_of_the_value(value: Any, indent: int | str | None, newline: str) -> None:
    text = json.dumps(value, indent=indent).replace("\n", newline)
    found = outline(text, "json", max_depth=60)
    assert found.error is None
    assert [(entry.level, entry.title) for entry in found.walk()] == [
        (level, name) for level, name, _ in members(value)
    ]


@given(VALUES)
def test_the_lines_of_an_entry_hold_its_value_and_no_more(value: Any) -> None:
    lines = json.dumps(value, indent=1).split("\n")
    found = outline("\n".join(lines), "json", max_depth=60)
    for entry, (_, title, item) in zip(found.walk(), members(value), strict=True):
        assert entry.line_end is not None
        written = "\n".join(lines[entry.line_start : entry.line_end + 1]).strip().removesuffix(",")
        in_array = title.startswith("[") and written == json.dumps(item, indent=1).replace(
            "\n", "\n" + " " * entry.level
        )
        assert in_array or json.loads("{" + written + "}") == {title: item}


@given(VALUES, st.integers(0, 4))
def test_depth_only_leaves_out_what_is_deeper(value: Any, depth: int) -> None:
    text = json.dumps(value, indent=1)
    everything = [entry for entry in outline(text, "json", max_depth=60).walk() if entry.level <= depth]
    shown = list(outline(text, "json", max_depth=depth).walk())
    assert [(e.title, e.level, e.line_start, e.line_end) for e in shown] == [
        (e.title, e.level, e.line_start, e.line_end) for e in everything
    ]


@given(st.text('{}[]:,"\\ \n0123456789.eE+-truefalsnu\r\u2028', max_size=40))
def test_a_text_is_refused_exactly_where_the_standard_parser_refuses_it(text: str) -> None:
    try:
        json.loads(text.replace("\r", "\n"), parse_constant=lambda _: 1 / 0)
        bad = False
    except (ValueError, ZeroDivisionError):
        bad = True
    error = outline(text, "json").error
    assert (error is not None and "twice" not in error.message) == bad


def test_the_official_suite_is_accepted_and_refused_as_it_asks(material: Path) -> None:
    wrong: list[str] = []
    for path in sorted((material / "json-test-suite" / "test_parsing").glob("[yn]_*.json")):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue  # no document: the workspace refuses it before
        error = outline(text, "json").error
        refused = error is not None and "twice" not in error.message
        wrong += [path.name] if refused != path.name.startswith("n_") else []
    assert wrong == []


@pytest.mark.parametrize("name", ["twitter", "citm_catalog"])
def test_real_files_have_all_their_keys(material: Path, name: str) -> None:
    text = gzip.decompress((material / "yaml-json-real" / f"{name}.json.gz").read_bytes()).decode("utf-8")
    found = outline(text, "json", max_depth=4)
    expected = [(level, title) for level, title, _ in members(json.loads(text)) if level <= 4]
    assert [(entry.level, entry.title) for entry in found.walk()] == expected


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_deep_nesting_is_no_danger(text: str) -> None:
    assert outline(text, "json", max_depth=1_000_000).as_json()


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{"a": 1,\n "b" 2}', 1, 5, "expected : after the key, found '2'"),
        ('{"a": 1,}', 0, 8, "expected key, found '}'"),
        ("[1,\n\n2", 2, 1, "expected , or the end, found the end of the document"),
        ("[1}", 0, 2, "expected , or ], found '}'"),
        ("", 0, 0, "expected value, found the end of the document"),
        ('{"a": 1}\n x', 1, 1, "expected nothing more, found 'x'"),
        ('{"a": 1,\r\n  "a": 2}', 1, 2, "the key 'a' occurs twice in one object"),
    ],
)
def test_an_error_has_a_line_and_a_column(text: str, line: int, column: int, message: str) -> None:
    error = outline(text, "json").error
    assert error is not None
    assert (error.line, error.column, error.message) == (line, column, message)


def test_a_duplicate_key_is_told_and_both_places_are_shown() -> None:
    found = outline('{"a": 1,\n"a": 2}', "json")
    assert [(entry.title, entry.line_start) for entry in found.entries] == [("a", 0), ("a", 1)]
    assert found.as_json()["parse_error"]["line"] == 1


def test_half_a_surrogate_pair_in_a_key_can_still_be_sent() -> None:
    [entry] = outline(r'{"\ud800": 1}', "json").entries
    assert entry.title == r"\ud800"
