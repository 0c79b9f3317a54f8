"""Components: named regions between markers, code left alone, and marker text made harmless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.components import component, components, escape_markers, markers
from tests.formats.reference import reference_closed_code

LINES = (
    "Plain words.",
    "",
    "```",
    "```python",
    "~~~",
    "````",
    "<!-- agent:a -->",
    "<!-- /agent:a -->",
    "<!-- agent:b mode=append -->",
    "<!-- /agent:b -->",
    "in `<!-- agent:a -->` code",
    "``<!-- /agent:b --> ` ``",
    "<!-- a comment -->",
    "<!-- agent:a --><!-- /agent:a -->",
    "> ```",
    "- ```",
    "日本 <!-- /agent:a --> 😀",
)
texts = st.lists(st.sampled_from(LINES), max_size=10).map("\n".join)


@pytest.mark.covers("AD-comp-code")
@given(texts)
def test_markers_in_code_are_text_and_all_others_are_markers(text: str):
    inside = reference_closed_code(text)
    expected = [
        (number, match[0])
        for number, line in enumerate(text.split("\n"))
        if number not in inside and "`" not in line
        for match in re.finditer(r"<!-- /?agent:\w+(?: mode=append)? -->", line)
    ]
    found = [(text.count("\n", 0, each.start), text[each.start : each.end]) for each in markers(text, "agent")]
    assert found == expected


@pytest.mark.covers("AD-comp-harmless")
@given(texts)
def test_harmless_text_marks_nothing_opens_no_fence_and_reads_the_same(text: str):
    tame = escape_markers(text)
    assert list(markers(tame, "agent")) == []
    assert escape_markers(tame) == tame
    assert tame.replace("&lt;!--", "<!--").startswith(text)
    around = f"<!-- agent:out -->\n{tame}\n<!-- /agent:out -->\n"
    assert [each.name for each in components(around)] == ["out"]


@pytest.mark.covers("AD-comp-markers", "AD-comp-attribute")
def test_a_component_is_what_stands_between_its_markers():
    text = "a\n<!-- agent:log mode=append max_entries=3 -->\nx\n<!-- /agent:log -->\nz"
    [found] = components(text)
    assert (found.name, found.inner(text)) == ("log", "\nx\n")
    assert found.attributes == {"mode": "append", "max_entries": "3"}
    assert text[found.start : found.end].startswith("<!-- agent:log")


@pytest.mark.covers("AD-comp-name")
@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("a", True),
        ("A-1", True),
        ("0x", True),
        ("a--b-", True),
        ("-a", False),
        ("a_b", False),
        ("", False),
        ("ä", False),
    ],
)
def test_a_name_is_a_letter_or_digit_and_then_letters_digits_and_hyphens(name: str, good: bool):
    text = f"<!-- agent:{name} -->\n<!-- /agent:{name} -->\n"
    assert bool(components(text)) is good


def test_components_may_lie_in_one_another():
    text = "<!-- agent:out --><!-- agent:in -->x<!-- /agent:in --><!-- /agent:out -->"
    outer, inner = components(text)
    assert outer.holds(inner)
    assert not inner.holds(outer)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x\n<!-- agent:a -->\n", 2),
        ("<!-- /agent:a -->\n", 1),
        ("<!-- agent:a -->\n<!-- agent:b -->\n<!-- /agent:a -->\n<!-- /agent:b -->\n", 3),
        ("ä😀\r\n\r\n<!-- agent:a -->\r\n", 3),
    ],
)
def test_a_marker_without_its_partner_is_told_with_its_line(text: str, line: int):
    with pytest.raises(Refused) as told:
        components(text)
    assert (told.value.code, told.value.details["line"]) == ("conflict", line)


def test_two_components_of_one_name_are_not_guessed_between():
    text = "<!-- agent:a -->\n<!-- /agent:a -->\n" * 2
    with pytest.raises(Refused, match="lines 1, 3"):
        component(text, "a")


def test_a_fence_that_is_being_typed_hides_no_markers():
    text = "<!-- agent:a -->\n```\nnot closed yet\n<!-- /agent:a -->\n"
    assert [each.name for each in components(text)] == ["a"]
