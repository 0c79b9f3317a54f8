"""What is counted and not asked: mentions, first appearances, figures, and the computed rename."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.text.edits import Change
from redraft.tools.long_documents.character_rename import Rename, parse_rename, plan_rename, rename_edits
from redraft.tools.long_documents.prose_stats import likely_names, mentions_of, style_figures

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.sampled_from(["John", "Johnny", "john", "JOHN", "Smith", "Smith’s", "John's", "Ann", "the", "sea,", "St."])
BLANKS = st.sampled_from([" ", " ", "\n", "\r\n", "  ", "\n\n"])
PROSE = st.lists(st.tuples(WORDS, BLANKS), max_size=40).map(
    lambda parts: "".join(word + blank for word, blank in parts)
)


def naive(text: str, names: list[str]) -> tuple[int, int | None]:
    """By walking: at each place the longest name that stands there as whole words."""
    count, first, at = 0, None, 0
    while at < len(text):
        found = 0
        if at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_"):
            for name in names:
                match = re.compile(r"\s+".join(name.split())).match(text, at)
                if match and not (text[match.end() : match.end() + 1].isalnum()) and match.end() - at > found:
                    found = match.end() - at
        if found:
            count += 1
            first = len(re.findall(r"\r\n|\r|\n", text[:at])) if first is None else first
        at += found or 1
    return count, first


@given(PROSE)
def test_mentions_are_what_a_patient_reader_counts(text: str):
    (one,) = mentions_of(text, [("John Smith", "John", "Smith")])
    assert (one.count, one.first_line) == naive(text, ["John Smith", "John", "Smith"])


@given(PROSE)
def test_two_people_share_no_mention(text: str):
    one, other = mentions_of(text, [("John Smith",), ("Smith",)])
    assert one.count + other.count == naive(text, ["John Smith", "Smith"])[0]


@given(PROSE)
def test_a_rename_leaves_no_mention_and_every_other_word_and_blank(text: str):
    edits = rename_edits(text, {"John": "James"})
    new = Change(edits).apply(text)
    assert mentions_of(new, [("John",)])[0].count == 0
    assert new.replace("James", "John").replace("JAMES", "JOHN") == text
    assert len(edits) == len(re.findall(r"\b(?:John|JOHN)\b", text))


@given(PROSE)
def test_a_rename_of_a_full_name_keeps_the_line_breaks_within_it(text: str):
    new = Change(rename_edits(text, {"John Smith": "James Brown"})).apply(text)
    assert re.findall(r"\s+", new) == re.findall(r"\s+", text)


def test_a_rename_flags_what_it_cannot_decide():
    text = "John met Johnny. Then John Adams came, and james smiled; James too. They say JOHN’s boat is old.\n"
    edits, flags = plan_rename(text, Rename("John", "James"))
    assert len(edits) == 3
    assert {flag.kind for flag in flags} == {"name_taken", "longer_name", "leftover"}
    told = " ".join(flag.problem for flag in flags)
    assert "“Johnny” is left once" in told
    assert "“James Adams” stands here once" in told


def test_a_pronoun_of_the_other_gender_is_flagged_where_nobody_else_is_named():
    text = "John took his hat. John saw that Ann had her gloves. Later Ann and John left. It was Ann again.\n"
    _, flags = plan_rename(text, Rename("John", "Jane", update_pronouns=True, gender="female"))
    assert [(flag.kind, flag.line) for flag in flags if flag.kind == "pronoun"] == [("pronoun", 0)]
    assert "“his” may still mean Jane" in next(flag.problem for flag in flags if flag.kind == "pronoun")


@pytest.mark.parametrize(
    "names", [{}, {"old_name": "A"}, {"old_name": "A", "new_name": "A"}, {"old_name": "…", "new_name": "B"}]
)
def test_a_rename_without_two_names_is_refused(names: dict[str, str]):
    with pytest.raises(Refused):
        parse_rename(names)


def test_the_names_of_a_real_novel_are_found_counted_and_placed(material: Path):
    text = (material / "novel-outlines-dev" / "alice-s-adventures-in-wonderland-11.txt").read_text(encoding="utf-8")
    found = {each.name: each for each in likely_names(text)}
    assert {"Alice", "Gryphon", "Hatter", "Dormouse"} <= set(found)
    assert found["Alice"].count == len(re.findall(r"\bAlice\b", text))
    line = found["Alice"].first_line
    assert line is not None
    assert "Alice" in text.splitlines()[line]


def test_style_figures_are_counted():
    figures = style_figures("It rained. “Come in,” she said. Nobody came, and the long evening went on and on.\n")
    assert (figures["words"], figures["sentences"], figures["longest_sentence_words"]) == (16, 3, 10)
    assert figures["spoken_percent"] == 12.5
    assert style_figures("")["average_sentence_words"] == 0.0
