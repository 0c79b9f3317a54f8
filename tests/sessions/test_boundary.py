"""An answer lands below what was asked and above what the person is typing now, and their bytes stay theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.components import parse_answer
from redraft.sessions.answers.fills import apply_answer
from redraft.sessions.answers.merge import merge_answer, split_at_boundary
from redraft.text.lines import split_lines
from tests.sessions.drafting import PROSE

ASKED, SAID = "What is asked q1?", "An answer a1."
OPEN, CLOSE = "# T\n\n<!-- agent:exchange mode=append -->\n", "<!-- /agent:exchange -->\n\nThe end.\n"
prose = st.lists(st.sampled_from([line for line in PROSE if not line.startswith(("```", "~~~", "##"))]), max_size=4)
breaks = st.sampled_from(["\n", "\r\n"])


def lines_of(words: list[str]) -> str:
    return "".join(f"{word}\n" for word in words)


def answered(base: str, now: str, *, inline: bool, answer: str = SAID) -> str:
    made = apply_answer(base, parse_answer(answer), {}, "", inline=inline)
    return merge_answer(base, now, made, "crdt").text


@st.composite
def conversations(draw: st.DrawFn) -> tuple[str, str, str]:
    """What was asked, what became of it above its last line, and what was typed below meanwhile."""
    before, above = draw(prose), draw(prose)
    blank = draw(st.sampled_from(["\n", "\n\n", "\n \n"]))
    more = draw(st.sampled_from(["", " And more."]))
    below = lines_of(draw(prose)) + draw(st.sampled_from(["typed t1", "typed t1\n", "typed t1\n\n"]))
    return f"{lines_of(before)}{ASKED}{blank}", f"{lines_of(above)}{ASKED}{more}{blank}", below


@given(conversations(), st.booleans(), breaks)
def test_what_is_typed_below_the_prompt_stays_below_the_answer_byte_for_byte(
    conversation: tuple[str, str, str], in_component: bool, newline: str
):
    before, after = (OPEN, CLOSE) if in_component else ("## User\n\n", "")
    asked, above, below = conversation
    base, now = f"{before}{asked}{after}", f"{before}{above}{below}{after}"
    base, now, kept = (text.replace("\n", newline) for text in (base, now, below + after))
    result = answered(base, now, inline=not in_component)
    assert result.endswith(kept)
    rest = result[: len(result) - len(kept)]
    assert (rest.count(SAID), result.count(SAID)) == (1, 1)
    assert rest.startswith(f"{before}{above}".replace("\n", newline).rstrip())
    assert rest.index(SAID) > rest.index(ASKED)


def cut_by_hand(base: str, now: str) -> str | None:
    """What stands below, found by trying every line: the slow twin where the last line stands once."""
    lines, last = split_lines(now), split_lines(base.rstrip())[-1]
    at = next(number for number, line in enumerate(lines) if line.rstrip("\r\n") == last)
    below = "".join(lines[at + 1 :])
    return below if below.strip() else None


@given(prose, prose, prose)
def test_the_boundary_is_where_the_last_line_that_was_asked_stands(
    before: list[str], above: list[str], below: list[str]
):
    base, now = lines_of([*before, ASKED]), lines_of([*above, ASKED, *below])
    found = split_at_boundary(base, now, base + SAID)
    assert (None if found is None else found.below) == cut_by_hand(base, now)
    if found is not None:
        assert found.above + found.below == now


def test_in_a_conversation_of_blocks_the_next_block_begins_with_what_was_typed():
    base = "## User\n\nHello"
    merged = answered(base, base + " again,\nand more", inline=True)
    assert merged == "## User\n\nHello again,\n\n## Assistant\n\nAn answer a1.\n\n## User\n\nand more"


def test_a_block_that_the_person_began_themselves_is_not_begun_twice():
    base = "## User\n\nHello\n"
    merged = answered(base, f"{base}\n## User\n\nmore\n", inline=True)
    assert merged == "## User\n\nHello\n\n## Assistant\n\nAn answer a1.\n\n## User\n\nmore\n"


def test_typing_of_the_same_words_again_is_told_from_the_prompt():
    base = f"{OPEN}Why?\nyes\n{CLOSE}"
    now = f"{OPEN}Why not?\nyes\nno\nyes\n{CLOSE}"
    assert answered(base, now, inline=False) == f"{OPEN}Why not?\nyes\n\n{SAID}\n\nno\nyes\n{CLOSE}"


def test_the_close_markers_indentation_stays_its_own():
    base = "- <!-- agent:exchange mode=append -->\n  Why?\n  <!-- /agent:exchange -->\n"
    now = base.replace("Why?\n", "Why?\n  And when?\n")
    block = "<!-- patch:exchange -->\n  So.\n<!-- /patch:exchange -->"
    assert answered(base, now, inline=False, answer=block) == base.replace("Why?\n", "Why?\n  So.\n\n  And when?\n")


@pytest.mark.parametrize("now", ["Something else.\nWhat then?\n", "", "Why is it? And\nwhen?\n"])
def test_where_the_last_line_was_rewritten_there_is_no_boundary_and_nothing_is_lost(now: str):
    assert split_at_boundary("Why?\n", now, "Why?\nSo.\n") is None
    result = answered(f"{OPEN}Why?\n{CLOSE}", f"{OPEN}{now}{CLOSE}", inline=False)
    assert result.count(SAID) == 1
    assert all(line in result for line in now.splitlines())
