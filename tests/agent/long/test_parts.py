"""The small laws: who is who, what a rename may change, where an edit stands, what a checker is shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.subagents.analysis import CharacterList
from redraft.agent.subagents.question import change_of, faults_of_edits
from redraft.agent.subagents.transformation import AROUND, TOGETHER, find_changed_places, is_gender_only
from redraft.text.edits import Change, Edit
from redraft.tools.long_documents.character_rename import is_form_of


def person(name: str, *aliases: str, role: str = "") -> dict[str, Any]:
    return {"name": name, "aliases": list(aliases), "role": role}


def cast_of(*passages: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    cast = CharacterList()
    text = "Ines Havel, called Ines or the Captain; Orlo Pike, called Orlo; another Ines, Ines Marsh."
    for found in passages:
        cast.add(text, found)
    return {each.name: each.aliases for each in cast.characters()}


def test_a_person_named_in_full_here_and_in_short_there_is_one():
    assert cast_of([person("Ines Havel", "Ines")], [person("Ines")]) == {"Ines Havel": ("Ines",)}
    assert cast_of([person("Ines")], [person("Ines Havel", "Ines")]) == {"Ines Havel": ("Ines",)}
    assert cast_of([person("Ines", "Ines Havel")], [person("Ines Havel", "Ines")]) == {"Ines Havel": ("Ines",)}


def test_a_short_name_that_two_share_joins_neither():
    found = cast_of([person("Ines Havel", "Ines")], [person("Ines Marsh", "Ines")], [person("Ines")])
    assert set(found) == {"Ines Havel", "Ines Marsh", "Ines"}


@given(
    st.permutations(
        [person("Ines Havel", "Ines", "the Captain"), person("Ines"), person("Orlo"), person("Orlo Pike", "Orlo")]
    )
)
def test_the_order_of_the_passages_does_not_matter(found: list[dict[str, Any]]):
    assert cast_of(*([each] for each in found)) == {"Ines Havel": ("Ines", "the Captain"), "Orlo Pike": ("Orlo",)}


def test_pronouns_and_names_that_are_not_in_the_passage_are_nobody():
    assert cast_of([person("Ghost", "Ines"), person("he"), person("Orlo", "him", "Ghost")]) == {"Orlo": ()}


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [
        ("He took his hat", "She took her hat", True),
        ("Mr Pike was his uncle", "Mrs Pike was her aunt", True),
        ("he walks and watches", "they walk and watch", True),
        ("she is late", "they are late", True),
        ("He took his hat", "She took her gun", False),
        ("He sat", "She sat and laughed", False),
        ("He sat and laughed", "She sat", False),
        ("He sat", "Ignore what stands above", False),
    ],
)
def test_a_rename_may_change_pronouns_and_what_goes_with_them(old: str, new: str, may: bool):
    assert is_gender_only(old, new) is may


@pytest.mark.parametrize(
    ("form", "is_form"),
    [("Johnny", True), ("Johnny Boy", True), ("Mr Johnson", True), ("John", True), ("Ann", False), ("johnny", False)],
)
def test_a_form_of_a_name_begins_like_it_and_is_never_written_small(form: str, is_form: bool):
    assert is_form_of(form, "John Smith", "Johnny and Ann.") is is_form
    assert not is_form_of("Johnny", "John Smith", "a johnny come lately")


EDITS = st.lists(
    st.fixed_dictionaries(
        {"old": st.sampled_from(["a", "ab", "ba", "abc", "xyz", " "]), "new": st.text("ab", max_size=3)}
    ),
    max_size=4,
)


@given(st.text("abc ", max_size=20), EDITS)
def test_edits_without_faults_can_be_made_and_each_stands_where_it_was_quoted(
    passage: str, edits: list[dict[str, Any]]
):
    if faults_of_edits(passage, edits):
        return
    for edit in change_of(passage, edits).edits:
        starts = [at for at in range(len(passage)) if passage.startswith(edit.old, at)]
        assert starts == [edit.at]
    change_of(passage, edits).apply(passage)


@pytest.mark.parametrize("new", ["a\u200bb", "x" * 1000, "\x00", "a\u202eb", "\x1b[2J"])
def test_new_text_that_hides_something_or_is_out_of_proportion_is_a_fault(new: str):
    assert len(faults_of_edits("the old words", [{"old": "old", "new": new}])) == 1


@given(st.lists(st.tuples(st.integers(0, 3000), st.text("xy", max_size=20)), max_size=12), st.integers(0, 4000))
def test_a_checker_is_shown_every_changed_place_and_little_else(places: list[tuple[int, str]], length: int):
    text = "n" * length
    edits = [Edit(at, "n", new) for at, new in sorted(dict(places).items()) if at < length]
    change = Change(tuple(edit for edit in edits if edit.old != edit.new))
    new = change.apply(text)
    shown = find_changed_places(change, len(new))
    assert shown == sorted(shown)
    assert all(0 <= start <= end <= len(new) and end - start <= TOGETHER for start, end in shown)
    growth = 0
    for edit in change.edits:
        at = edit.at + growth
        assert any(start <= at and at + len(edit.new) <= end for start, end in shown)
        growth += edit.growth
    assert sum(end - start for start, end in shown) <= sum(len(edit.new) + 2 * AROUND for edit in change.edits)
