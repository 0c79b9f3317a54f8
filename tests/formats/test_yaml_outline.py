"""YAML outlines: every key and index at its lines, real manifests as published, and no input that crashes."""

from __future__ import annotations

import gzip
import json
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.outline.outline import outline
from tests.formats.test_json_outline import VALUES, members

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# How the suite writes what cannot be seen.
SIGNS = {"␣": " ", "————»": "\t", "———»": "\t", "——»": "\t", "—»": "\t", "»": "\t", "←": "\r", "⇔": "\ufeff", "↵": ""}


@given(VALUES, st.booleans(), st.sampled_from([20, 1000]))
def test_entries_are_the_members_of_the_value(value: Any, flow: bool, width: int) -> None:
    # Values are made anew, because one that occurs twice would be written as an alias.
    text = yaml.safe_dump(json.loads(json.dumps(value)), sort_keys=False, default_flow_style=flow, width=width)
    found = outline(text, "yaml", max_depth=60)
    assert found.error is None
    assert [(entry.level, entry.title) for entry in found.walk()] == [
        (level, name) for level, name, _ in members(value)
    ]


@given(st.dictionaries(st.text("abc", min_size=1), VALUES, min_size=1))
def test_the_lines_of_a_key_hold_its_value_and_no_more(value: dict[str, Any]) -> None:
    value = json.loads(json.dumps(value))
    text = yaml.safe_dump(value, sort_keys=False, width=40)
    lines = text.split("\n")
    for entry, (key, item) in zip(outline(text, "yaml").entries, value.items(), strict=True):
        end = len(lines) if entry.line_end is None else entry.line_end + 1
        assert yaml.safe_load("\n".join(lines[entry.line_start : end])) == {key: item}


@given(st.text("ab:-?#&*!|>'\"%@`[]{}, \n\t\r\x85\u2028\x01~<.=", max_size=40))
def test_any_text_has_an_outline_or_an_error_within_it(text: str) -> None:
    found = outline(text, "yaml")
    assert json.dumps(found.as_json())
    if found.error:
        assert 0 <= found.error.line <= text.count("\n") + text.count("\r")


def suite(material: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((material / "yaml-test-suite" / "src").glob("*.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            if "yaml" in case:
                text = case["yaml"].replace("∎\n", "")
                for sign, meant in SIGNS.items():
                    text = text.replace(sign, meant)
                yield path.stem, text


@pytest.mark.slow
def test_the_official_suite_crashes_nothing_and_libyaml_agrees_on_what_is_bad(material: Path) -> None:
    disagreed: list[str] = []
    cases = list(suite(material))
    for name, text in cases:
        try:
            deque(yaml.parse(text, Loader=yaml.CSafeLoader), 0)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            bad = False
        except yaml.YAMLError:
            bad = True
        error = outline(text, "yaml").error
        disagreed += [name] if (error is not None and "twice" not in error.message) != bad else []
    assert (len(cases), disagreed) == (406, [])


def test_real_files_have_their_keys_at_their_lines(material: Path) -> None:
    folder = material / "yaml-json-real"
    for truth in json.loads((folder / "truth.json").read_text(encoding="utf-8")):
        path = folder / truth["file"]
        if not path.name.endswith(".yaml"):
            continue
        data = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(path.name + ".gz").read_bytes())
        found = outline(data.decode("utf-8"), "yaml")
        keys = [[line, key] for _, line, key in truth["top_keys"]]
        assert ([[e.line_start, e.title] for e in found.entries], found.error is not None) == (keys, truth["error"])


@pytest.mark.slow
def test_a_large_real_file_takes_a_moment(material: Path) -> None:
    packed = (material / "yaml-json-real" / "openai-openapi.yaml.gz").read_bytes()
    text = gzip.decompress(packed).decode("utf-8")
    start = time.process_time()
    found = outline(text, "yaml")
    assert time.process_time() - start < 2
    assert (found.error, sum(1 for _ in found.walk()) > 1000) == (None, True)


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "? " * 100_000, "{a: " * 100_000, "[a," * 100_000])
def test_deep_nesting_is_refused_in_time(text: str) -> None:
    start = time.process_time()
    error = outline(text, "yaml").error
    assert error is not None
    assert error.message == "nested deeper than 1000 levels"
    assert time.process_time() - start < 2


def test_aliases_are_not_followed() -> None:
    layers = [f"a{number}: &a{number} [*a{number - 1}, *a{number - 1}]" for number in range(1, 100)]
    found = outline("\n".join(["a0: &a0 [x]", *layers]), "yaml")
    assert len(found.entries) == 100


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 2, 0, "the key 'a' occurs twice in one object"),
        ("a:\n  b: c: d\n", 1, 6, "mapping values are not allowed in this context"),
        ("é: \x01", 0, 3, "U+0001 is not allowed in YAML"),
        ("a: 1\n\ud800: 2", 1, 0, "U+D800 is not allowed in YAML"),
    ],
)
def test_an_error_has_a_line_and_a_column(text: str, line: int, column: int, message: str) -> None:
    error = outline(text, "yaml").error
    assert error is not None
    assert (error.line, error.column, error.message) == (line, column, message)


def test_a_number_and_its_digits_as_text_are_two_keys() -> None:
    assert outline('1: a\n"1": b\n', "yaml").error is None


def test_documents_of_one_file_follow_one_another() -> None:
    found = outline("a: 1\n---\na: 2\nb: 3\n", "yaml")
    assert [(entry.title, entry.line_start) for entry in found.entries] == [("a", 0), ("a", 2), ("b", 3)]
    assert found.error is None


def test_a_block_ends_with_its_last_line_and_an_element_begins_with_its_dash() -> None:
    found = outline("a:\n- |\n  x\n\n-\n  b: 1\n\n# c\nd: 2\n", "yaml")
    lines = [(entry.title, entry.line_start, entry.line_end) for entry in found.walk()]
    assert lines == [("a", 0, 5), ("[0]", 1, 2), ("[1]", 4, 5), ("b", 5, 5), ("d", 8, None)]


def test_separators_that_yaml_does_not_know_end_no_line() -> None:
    found = outline("a: x\u2028y\nb\x85: 1\n", "yaml")
    assert [(entry.title, entry.line_start) for entry in found.entries] == [("a", 0), ("b\x85", 1)]
