"""Taking an agent's words back out of a person's text: what they typed stays as they typed it, in every script."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redraft.review.parting import take_back

TEXTS = st.text("ab1漢字かก\u0e33é\u0301😀 .-\n", max_size=40)


@given(TEXTS, TEXTS)
def test_where_an_agent_did_nothing_there_is_nothing_to_take_back(base: str, working: str):
    assert take_back(base, base, working)[0] == working


@given(TEXTS, TEXTS)
def test_taking_an_agents_word_out_leaves_what_stands_around_it(before: str, after: str):
    """The word stands by itself, between marks that nobody else uses."""
    without, held = f"{before}<>{after}", f"{before}<WORD>{after}"
    assert take_back(without, held, held)[0] == without


def test_no_blank_comes_between_characters_of_a_script_that_has_none():
    base, agent, person = "灯台は暗い。\n", "灯台は十年暗い。\n", "古い灯台は十年暗い。\n"
    assert take_back(base, agent, person) == ("古い灯台は暗い。\n", False)
    assert take_back("It was lit.\n", "It was soon lit.\n", "It was soon litQ漢Q.\n")[0] == "It was litQ漢Q.\n"
