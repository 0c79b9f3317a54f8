"""Searching within one document: where things are found, and that no pattern can make it hang."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.search.text_search import COUNTED_AT_MOST, search_text
from redraft.text.text import Text
from tests.search.patterns import LITERALS, PATTERNS, TEXTS

if TYPE_CHECKING:
    from pathlib import Path


def spans(text: str, query: str, **options: bool) -> list[tuple[int, int]]:
    return [(match.start, match.end) for match in search_text(text, query, limit=1000, **options).items]


def naive(text: str, query: str) -> list[tuple[int, int]]:
    """Every place of a literal text, found with `str.find` alone."""
    found: list[tuple[int, int]] = []
    at = text.find(query)
    while at >= 0:
        found.append((at, at + len(query)))
        at = text.find(query, at + len(query))
    return found


@given(TEXTS, LITERALS)
def test_exact_search_finds_what_plain_python_finds(text: str, query: str):
    assert spans(text, query) == naive(text, query)


@given(TEXTS, PATTERNS)
def test_a_pattern_finds_what_pythons_engine_finds(text: str, pattern: str):
    expected = [match.span() for match in re.finditer(pattern, text, re.MULTILINE)]
    # After an empty match Python may find a longer one at the same place; RE2, like ripgrep, moves on.
    assume(all(start < end for start, end in expected))
    assert spans(text, pattern, regex=True) == expected


@given(st.text(alphabet="ab\r\n𝒳", max_size=30), st.text(alphabet="ab\r\n𝒳", min_size=1, max_size=3))
def test_every_match_says_where_it_is_as_the_text_itself_does(text: str, query: str):
    lines = Text(text)
    for match in search_text(text, query, context=1).items:
        assert match.text == text[match.start : match.end]
        assert match.line == lines.line_at(match.start)
        assert match.column == match.start - lines.line_start(match.line)


@given(st.text(alphabet="ab\n", max_size=30), st.text(alphabet="ab\n", min_size=1, max_size=3))
def test_the_kind_of_newline_does_not_matter_to_a_quoted_passage(text: str, query: str):
    windows = text.replace("\n", "\r\n")
    found = [(match.line, match.text) for match in search_text(text, query, limit=100).items]
    there = [(match.line, match.text.replace("\r\n", "\n")) for match in search_text(windows, query, limit=100).items]
    assert there == found


def test_lines_end_where_the_program_says_also_for_a_dollar_sign():
    text = "one\r\ntwo\rthree\n"
    assert [match.text for match in search_text(text, r"\w+$", regex=True).items] == ["one", "two", "three"]


@pytest.mark.parametrize(("query", "found"), [("cat", [(0, 3), (19, 22)]), ("Cat", [(4, 7)]), ("at", [])])
def test_whole_words_end_at_every_letter_of_every_alphabet(query: str, found: list[tuple[int, int]]):
    assert spans("cat Cat écat cat_ (cat)", query, whole_word=True) == found


@pytest.mark.parametrize(("word", "other"), [("ΣΊΣΥΦΟΣ", "σίσυφος"), ("K", "k"), ("naïve", "NAÏVE"), ("ſ", "S")])
def test_letter_case_is_told_apart_unless_asked_otherwise(word: str, other: str):
    text = f"1 {word} 2"
    assert spans(text, other) == []
    assert spans(text, other, case_sensitive=False) == [(2, 2 + len(word))]


def test_context_is_the_lines_around_and_never_beyond_the_document():
    [match] = search_text("a\nb\nfind me\nc\n", "find", context=2).items
    assert (match.before, match.lines, match.after) == (("a", "b"), ("find me",), ("c",))


def test_what_is_beyond_the_limit_is_counted_and_not_given():
    found = search_text("x" * 500, "x", limit=3)
    assert (len(found.items), found.total, found.truncated) == (3, 500, True)


def test_counting_ends_somewhere():
    found = search_text("x" * (COUNTED_AT_MOST + 100), "x", limit=1)
    assert (found.total, found.counted_all) == (COUNTED_AT_MOST, False)


def test_a_pattern_that_looks_ahead_to_the_end_at_every_place_does_not_take_for_ever():
    started = time.process_time()  # not by the clock on the wall: others may want the processor
    search_text("a" * 200_000, "a(?s:.*b)?", regex=True, limit=20)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        (r"(?=a)", "Look-ahead and look-behind are not supported"),
        (r"(?<!a)b", "Look-ahead and look-behind are not supported"),
        (r"(a)\1", "Back-references are not supported"),
        (r"(?P<n>a)(?P=n)", "not supported"),
        ("a(", "missing )"),
        ("a)", "unexpected )"),
        ("[z-a]", "range"),
        ("*", "no argument"),
        ("a{9999}", "repetition"),
    ],
)
@pytest.mark.parametrize("whole_word", [False, True])
def test_a_bad_pattern_is_refused_with_its_reason(pattern: str, sentence: str, whole_word: bool):
    with pytest.raises(Refused, match=re.escape(sentence)) as refused:
        search_text("text", pattern, regex=True, whole_word=whole_word)
    assert refused.value.code == "invalid_regex"


@pytest.mark.parametrize("query", ["", "x" * 20_000, "\ud800"])
def test_a_query_that_is_none_is_refused(query: str):
    with pytest.raises(Refused):
        search_text("text", query)


def attack(expression: str) -> str:
    """The text that an entry of the collection spells as sums and products of quoted strings."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"(?:\*(\d+))?', expression)
    return "".join(json.loads(f'"{text}"', strict=False) * int(times or 1) for text, times in parts)


@pytest.mark.slow
def test_no_pattern_known_to_hang_other_engines_hangs_this_one(material: Path):
    entries = json.loads((material / "security" / "redos_python_re.json").read_text(encoding="utf-8"))
    slow: list[tuple[int, float]] = []
    for entry in entries:
        text = attack(entry["attack"])
        started = time.process_time()
        with contextlib.suppress(Refused):
            search_text(text, entry["pattern"], regex=True)
        if (took := time.process_time() - started) >= 1:
            slow.append((entry["id"], took))
    assert slow == []


def test_real_documents_are_searched_as_plainly_as_python_would(material: Path):
    for path in sorted((material / "novel-outlines-dev").glob("*.txt")):
        text = path.read_bytes().decode()
        assert search_text(text, "river", limit=1).total == text.count("river")
