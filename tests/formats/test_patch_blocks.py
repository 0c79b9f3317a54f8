"""An agent's answer, taken apart into patch blocks and the text around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.components import parse_answer

NAMES = ("status", "exchange", "log")
words = st.sampled_from(
    ["", "x", "\n", "a line\n", "```\n<!-- patch:log -->\n```\n", "日本😀", "<!-- patch:status -->"]
)


@pytest.mark.covers("AD-write-blocks")
@given(st.lists(st.tuples(st.sampled_from(["status", "exchange"]), st.sampled_from(["", "x", "\nä\n", "a\r\nb"]))))
def test_blocks_come_out_as_they_went_in(blocks: list[tuple[str, str]]):
    text = "".join(
        f"around {n}\n<!-- patch:{name} -->{body}<!-- /patch:{name} -->\n" for n, (name, body) in enumerate(blocks)
    )
    answer = parse_answer(text)
    assert [(patch.component, patch.content) for patch in answer.patches] == blocks
    assert answer.unmatched == "\n\n".join(f"around {n}" for n in range(len(blocks)))


@given(st.lists(words, max_size=6).map("\n".join))
def test_text_is_never_lost_between_blocks_and_rest(text: str):
    if "<!-- patch:status -->" in text:  # opened, and never closed
        with pytest.raises(Refused, match="none of it was used"):
            parse_answer(text)
        return
    answer = parse_answer(text)
    said = "".join([*(patch.content for patch in answer.patches), answer.unmatched])
    assert said.count("x") + said.count("日") == text.count("x") + text.count("日")


def test_an_answer_without_blocks_is_all_rest():
    answer = parse_answer("\nJust words.\n\nMore.\n")
    assert (answer.patches, answer.unmatched) == ((), "Just words.\n\nMore.")


def test_several_blocks_for_one_component_come_one_after_the_other():
    answer = parse_answer("<!-- patch:log -->\na\n<!-- /patch:log -->\n<!-- patch:log -->\nb\n<!-- /patch:log -->")
    assert answer.by_component() == {"log": "\na\nb\n"}
    assert answer.unmatched == ""


def test_a_block_may_speak_about_others_and_show_itself_in_code():
    body = "\nUse <!-- patch:log --> so:\n```\n<!-- /patch:status -->\n```\n"
    answer = parse_answer(f"<!-- patch:status -->{body}<!-- /patch:status -->")
    assert [patch.content for patch in answer.patches] == [body]


def test_an_answer_that_was_cut_off_is_refused():
    with pytest.raises(Refused) as told:
        parse_answer("<!-- patch:status -->\nDone\n<!-- /patch:status -->\n<!-- patch:log -->\nhalf of")
    assert told.value.code == "model_output_cut_off"


def test_a_fence_left_open_in_one_block_does_not_swallow_the_next():
    answer = parse_answer(
        "<!-- patch:log -->\n```\nopen\n<!-- /patch:log -->\n"
        "<!-- patch:status -->\n```py\nx\n```\n<!-- /patch:status -->"
    )
    assert [patch.component for patch in answer.patches] == ["log", "status"]
