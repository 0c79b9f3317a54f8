"""Edits by words: exact, free of confetti, blind to how lines are wrapped."""

from __future__ import annotations

import gzip
import json
import textwrap
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.diff.word_diff import is_reflow, tokens, vocabulary, word_edits
from redraft.text.edits import Change, Edit
from tests.text.shapes import documents, versions

if TYPE_CHECKING:
    from pathlib import Path

PROSE = (
    "The committee met on Tuesday to consider the proposal, which had been circulated a week earlier. "
    "Nobody objected to its aims; several members doubted that the means would suffice."
)
words = st.sampled_from(["the", "old", "house", "stood", "by", "a", "quiet", "river", "don’t", "well-known"])
paragraphs = st.lists(words, min_size=1, max_size=40).map(" ".join)


def check_edits(old: str, new: str) -> tuple[Edit, ...]:
    """What every answer promises: the edits are a change, and it gives the new text, with and without tidying."""
    bare = word_edits(old, new, tidy=False)
    tidy = word_edits(old, new)
    for edits in (bare, tidy):
        assert Change(edits).apply(old) == new
        assert all(edit.old != edit.new for edit in edits)
    assert len(tidy) <= len(bare)
    return tidy


@given(st.one_of(st.text(), documents()))
def test_tokens_join_back_to_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text
    assert all(tokens(text))


@given(versions())
def test_applying_the_edits_gives_the_new_text(pair: tuple[str, str]) -> None:
    check_edits(*pair)


@given(st.text(max_size=30), st.text(max_size=30))
def test_applying_the_edits_gives_the_new_text_whatever_the_characters(old: str, new: str) -> None:
    check_edits(old, new)


@given(paragraphs, st.integers(10, 40), st.integers(10, 40))
def test_wrapping_anew_is_nothing_but_reflow(text: str, first: int, second: int) -> None:
    wrap = textwrap.TextWrapper(break_on_hyphens=False, break_long_words=False)
    wrap.width = first
    old = wrap.fill(text)
    wrap.width = second
    edits = check_edits(old, wrap.fill(text))
    assert all(is_reflow(edit) for edit in edits)


@given(paragraphs, st.integers(0, 39), st.integers(10, 40), st.integers(10, 40))
def test_one_changed_word_in_a_wrapped_paragraph_is_one_edit(text: str, place: int, first: int, second: int) -> None:
    changed = text.split()
    changed[place % len(changed)] = "NEW"
    old = textwrap.fill(text, first, break_on_hyphens=False, break_long_words=False)
    new = textwrap.fill(" ".join(changed), second, break_on_hyphens=False, break_long_words=False)
    assert len([edit for edit in check_edits(old, new) if not is_reflow(edit)]) == 1


def test_words_keep_their_apostrophes_hyphens_and_marks() -> None:
    text = "Don’t re-wrap—it's naïve cafe\u0301, हिन्दी"
    assert tokens(text) == ["Don’t", " ", "re-wrap", "—", "it's", " ", "naïve", " ", "cafe\u0301", ",", " ", "हिन्दी"]


def test_scripts_without_spaces_are_cut_by_character() -> None:
    assert tokens("日本語です。") == ["日", "本", "語", "で", "す", "。"]


def test_what_is_seen_as_one_sign_is_one_token() -> None:
    assert tokens("👨‍👩‍👧🇩🇪👍🏽❤️") == ["👨‍👩‍👧", "🇩🇪", "👍🏽", "❤️"]


def test_line_breaks_are_tokens_of_their_own() -> None:
    assert tokens("a \r\n\r\n  b") == ["a", " ", "\r\n\r\n", "  ", "b"]


def test_a_replaced_word_is_the_whole_edit() -> None:
    new = PROSE.replace("Tuesday", "Thursday")
    assert check_edits(PROSE, new) == (Edit(PROSE.index("Tuesday"), "Tuesday", "Thursday"),)


def test_an_inserted_word_comes_with_the_space_after_it() -> None:
    assert check_edits("a quiet river", "a very quiet river") == (Edit(2, "", "very "),)


def test_neighbouring_replaced_words_are_one_edit() -> None:
    assert check_edits("She bought red apples today.", "She bought two ripe pears today.") == (
        Edit(11, "red apples", "two ripe pears"),
    )


def test_a_short_word_between_large_edits_does_not_part_them() -> None:
    old, new = "it was considerable, of course, in summer", "it was negligible, of necessity, in winter"
    assert [edit.old for edit in check_edits(old, new)] == ["considerable", "course", "summer"]
    old, new = "the considerable of expenditures", "the negligible of incomings"
    assert check_edits(old, new) == (Edit(4, "considerable of expenditures", "negligible of incomings"),)


def test_a_hard_line_break_is_not_reflow() -> None:
    (edit,) = check_edits("one  \ntwo", "one two")
    assert not is_reflow(edit)


def test_a_new_paragraph_is_not_reflow() -> None:
    (edit,) = check_edits("one two", "one\n\ntwo")
    assert not is_reflow(edit)


def test_a_deeper_indent_is_not_reflow() -> None:
    (edit,) = check_edits("one\n  two", "one\n    two")
    assert not is_reflow(edit)


def test_the_vocabulary_is_what_passages_are_compared_by() -> None:
    assert vocabulary("The house, THE House: 日本") == {"the", "house", "日", "本"}


@pytest.mark.slow
def test_large_texts_cost_little_more_than_their_length() -> None:
    old = "".join(f"Paragraph {n} says the same thing again and again. " + "\n" * (n % 7 == 0) for n in range(20_000))
    for new in (old.replace("again. ", "again! "), old[::-1], old.replace("\n", " ")):
        started = time.process_time()
        check_edits(old, new)
        assert time.process_time() - started < 20


@pytest.mark.slow
def test_real_suggestions_are_told_exactly(material: Path) -> None:
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8") as stream:
        for _, line in zip(range(40), stream, strict=False):
            case = json.loads(line)
            check_edits(case["base"], case["ours"])
