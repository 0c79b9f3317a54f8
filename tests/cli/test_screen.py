"""Escaping: nothing that a terminal obeys, hides or reorders gets through."""

from __future__ import annotations

import contextlib
import io
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redraft.cli.screen import Screen, StyledText, escape

texts = st.text(st.characters(codec=None)) | st.text("\x00\x1b\x7f\x9b\u202e\u2028\ufeff\udc80 \ta\u200d")


@given(texts)
@example("\x1b[2J")
def test_an_escaped_text_holds_nothing_that_a_terminal_obeys(text: str):
    dangerous = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    left = [char for char in escape(text) if unicodedata.category(char) in dangerous and char not in "\t\u200c\u200d"]
    assert left == []


@given(texts)
def test_escaping_twice_changes_nothing_more(text: str):
    assert escape(escape(text)) == escape(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Mn", "Zs"])))
def test_what_people_write_is_shown_as_it_is(text: str):
    assert escape(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Café\u00a0!",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "a\tb",
    ],
)
def test_joiners_blanks_and_tabs_of_real_texts_stay(text: str):
    assert escape(text) == text


@given(texts, st.booleans())
def test_a_line_is_one_line_whatever_is_in_it(text: str, colour: bool):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        Screen(json=False, colour=colour, terminal=True).line("a ", StyledText(text, "31"), " b")
    shown = out.getvalue()
    assert shown.count("\n") == 1
    assert shown.replace("\x1b[31m", "").replace("\x1b[0m", "") == f"a {escape(text)} b\n"
