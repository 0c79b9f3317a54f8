"""Numbers in headings mean what a reader takes them for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.outline.chapter_markers import NUMBER, number_style, number_value

PATTERN = re.compile(NUMBER, re.IGNORECASE)
UNITS = [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(number: int) -> str:
    """The naive twin: takes the largest piece, again and again."""
    for unit, letters in UNITS:
        if number >= unit:
            return letters + roman(number - unit)
    return ""


@given(st.integers(1, 399))
def test_roman_numerals_are_read_back(number: int) -> None:
    assert PATTERN.fullmatch(roman(number))
    assert (number_value(roman(number)), number_style(roman(number))) == (number, "roman")


@given(st.integers(0, 999))
def test_digits_are_read_back(number: int) -> None:
    assert PATTERN.fullmatch(str(number))
    assert (number_value(str(number)), number_style(str(number))) == (number, "arabic")


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("one", 1),
        ("TWELVE", 12),
        ("Twenty-one", 21),
        ("ninety nine", 99),
        ("FIRST", 1),
        ("thirty-second", 32),
        ("twentieth", 20),
        ("3rd", 3),
        ("iv", 4),
    ],
)
def test_words_are_numbers_too(written: str, number: int) -> None:
    assert PATTERN.fullmatch(written)
    assert number_value(written) == number


@pytest.mark.parametrize("written", ["CIVIL", "VIVID", "IIX", "Ill", "onerous", "In", "sixtyish", "1234", "I’ll"])
def test_words_that_look_like_numerals_are_none(written: str) -> None:
    assert not PATTERN.match(written)
