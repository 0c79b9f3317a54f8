"""Merge laws: whatever a person and several agents make of one baseline, every insertion is there once."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.components import component, components
from redraft.sessions.answers.merge import keep_both, merge_answer
from redraft.text.merge.three_way import merge
from tests.sessions.drafting import Answered, answers, applied, bases, typed_into

STRATEGIES = ("crdt", "merge")
GITS_MARKERS = ("<<<<<<<", "|||||||", ">>>>>>>")


def parses(text: str) -> bool:
    try:
        components(text)
    except Refused:
        return False
    return True


def outside(text: str, names: set[str]) -> str:
    """The text without what lies in these components."""
    pieces, at = list[str](), 0
    for each in components(text):
        if each.name in names and each.start >= at:
            pieces.append(text[at : each.inner_start])
            at = each.inner_end
    return "".join([*pieces, text[at:]])


@pytest.mark.covers("AD-write-merge", "AD-write-merge-markers")
@given(st.data(), st.sampled_from(STRATEGIES))
def test_every_insertion_of_person_and_agents_is_there_exactly_once(data: st.DataObject, strategy: str):
    base = data.draw(bases())
    text, words = data.draw(typed_into(base))
    assume(parses(base) and parses(text))
    names = [each.name for each in components(text)]
    for author in "ABC"[: data.draw(st.integers(1, 3))]:
        answer = data.draw(answers(author))
        before, made = text, applied(base, answer)
        text = merge_answer(base, text, made, strategy).text  # type: ignore[arg-type]
        words += answer.words
        assert {each: text.count(each) for each in words} == dict.fromkeys(words, 1)
        assert [each.name for each in components(text)] == names + ["exchange"] * (len(components(text)) - len(names))
        names = [each.name for each in components(text)]
        if not made.tail:
            touched = {fill.component for fill in made.fills}
            assert outside(text, touched) == outside(before, touched)
        if strategy == "crdt":
            assert not any(sign in text for sign in GITS_MARKERS)


@given(st.data())
def test_without_typing_the_result_is_the_answer_in_its_baseline(data: st.DataObject):
    base = data.draw(bases())
    assume(parses(base))
    made = applied(base, data.draw(answers("A")))
    assert merge_answer(base, base, made, "crdt").text == made.text
    assert merge_answer(base, made.text, made, "crdt").text == made.text, "a second time changes nothing"


EXCHANGE = "# T\n<!-- agent:exchange mode=append -->\nFirst question?\n<!-- /agent:exchange -->\n"
STATUS = "<!-- agent:status -->\nThe lamp is dark.\n<!-- /agent:status -->\n"


def said(text: str, name: str) -> str:
    found = component(text, name)
    assert found is not None
    return found.inner(text)


def test_two_agents_on_one_baseline_both_arrive():
    text = EXCHANGE
    for name in ("Ann", "Ben"):
        made = applied(EXCHANGE, Answered(f"<!-- patch:exchange -->\n{name} answers.\n<!-- /patch:exchange -->", ()))
        text = merge_answer(EXCHANGE, text, made, "crdt").text
    assert said(text, "exchange") == "\nFirst question?\nBen answers.\n\nAnn answers.\n", "each below what it answers"


def test_an_edit_beside_the_answer_doubles_nothing():
    current = EXCHANGE.replace("First question?", "First question, more exactly?").replace(
        "# T", "# Title\n\nNew words."
    )
    made = applied(EXCHANGE, Answered("<!-- patch:exchange -->\nAn answer.\n<!-- /patch:exchange -->", ()))
    assert merge_answer(EXCHANGE, current, made, "crdt").text == current.replace("exactly?\n", "exactly?\nAn answer.\n")


@pytest.mark.covers("AD-write-merge-markers", "AD-fm-write")
def test_under_merge_a_conflict_is_marked_in_diff3_style_and_under_crdt_both_are_kept():
    current = STATUS.replace("The lamp is dark.", "The lamp is dark tonight.")
    made = applied(STATUS, Answered("<!-- patch:status -->\nThe lamp burns.\n<!-- /patch:status -->", ()))
    marked = merge_answer(STATUS, current, made, "merge", "claude")
    assert said(marked.text, "status") == (
        "\n<<<<<<< person\nThe lamp is dark tonight.\n||||||| before\nThe lamp is dark.\n=======\nThe lamp burns.\n"
        ">>>>>>> claude\n"
    )
    both = merge_answer(STATUS, current, made, "crdt")
    assert said(both.text, "status") == "\nThe lamp is dark tonight.\nThe lamp burns.\n"
    assert (marked.conflicts, both.conflicts) == (1, 1)


def test_many_conflicts_are_conflicts_and_no_failure():
    base = "<!-- agent:status -->\n" + "".join(f"line {n}\n\nfixed\n\n" for n in range(9)) + "<!-- /agent:status -->\n"
    current = base.replace("line", "mine is")
    body = "".join(f"agents {n}\n\nfixed\n\n" for n in range(9))
    made = applied(base, Answered(f"<!-- patch:status -->\n{body}<!-- /patch:status -->", ()))
    merged = merge_answer(base, current, made, "merge")
    assert merged.conflicts == 9
    assert merged.text.count("<<<<<<<") == 9
    assert all(f"mine is {n}" in merged.text and f"agents {n}" in merged.text for n in range(9))


def test_what_both_only_added_stands_in_one_line():
    found = merge("Hello", "Hello world", "Hello\n\n## Assistant\n")
    assert keep_both(found) == "Hello world\n\n## Assistant\n"


def test_a_component_that_the_person_took_away_is_a_conflict_and_not_a_loss():
    made = applied(STATUS, Answered("<!-- patch:status -->\nThe lamp burns.\n<!-- /patch:status -->", ()))
    with pytest.raises(Refused, match="no longer") as told:
        merge_answer(STATUS, "All gone.\n", made, "crdt")
    assert told.value.code == "conflict"


def test_line_ends_of_the_document_stay_what_they_are():
    base = EXCHANGE.replace("\n", "\r\n")
    made = applied(base, Answered("<!-- patch:exchange -->\nOne.\nTwo.\n<!-- /patch:exchange -->", ()))
    merged = merge_answer(base, base.replace("# T", "# Titel"), made, "crdt").text
    assert "\n" not in merged.replace("\r\n", "")
    assert said(merged, "exchange").endswith("One.\r\nTwo.\r\n")
