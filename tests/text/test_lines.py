"""Lines end where an editor ends them, and two texts agree as far as a loop over characters says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.diff.sequence_diff import common_prefix, common_suffix
from redraft.text.lines import adopt_newlines, after_break, count_breaks, count_lines, newline_style, split_lines
from tests.text.laws import contents, passages
from tests.text.naive_text import is_line_end, naive_lines, naive_prefix


@given(contents)
def test_lines_are_those_of_the_twin(content: str) -> None:
    assert split_lines(content) == naive_lines(content)
    assert count_lines(content) == len(naive_lines(content))


@given(contents)
def test_each_terminator_is_found_by_its_number(content: str) -> None:
    ends = [end for end in range(1, len(content) + 1) if is_line_end(content, end)]
    assert [after_break(content, number) for number in range(1, count_breaks(content) + 1)] == ends


def test_a_terminator_beyond_the_last_is_an_error() -> None:
    for content in ("", "a\n", "a\r\n"):
        with pytest.raises(ValueError, match="no line terminator"):
            after_break(content, 2)


@pytest.mark.parametrize("character", "\v\f\x1c\x1d\x1e\x85\u2028\u2029")
def test_no_other_character_ends_a_line(character: str) -> None:
    assert split_lines(f"a{character}b\r{character}\nc") == [f"a{character}b\r", f"{character}\n", "c"]


@pytest.mark.parametrize(
    ("content", "style"),
    [("", "none"), ("a", "none"), ("a\nb", "lf"), ("a\r\nb\r\n", "crlf"), ("a\r\r", "cr"), ("\r\n\n", "mixed")],
)
def test_the_newline_style_is_recognised(content: str, style: str) -> None:
    assert newline_style(content) == style


@given(contents, contents)
def test_adopted_newlines_are_of_one_style_and_nothing_else_changes(new: str, like: str) -> None:
    adopted = adopt_newlines(new, like)
    if newline_style(like) == "none":
        assert adopted == new
        return
    assert newline_style(adopted) in ("none", "lf", "crlf", "cr")
    assert newline_style(like) in ("mixed", newline_style(adopted)) or newline_style(adopted) == "none"
    assert [line.rstrip("\r\n") for line in split_lines(adopted)] == [line.rstrip("\r\n") for line in split_lines(new)]


def test_the_prevailing_newline_is_adopted() -> None:
    assert adopt_newlines("x\ny\r\nz", like="a\r\nb\r\nc\n") == "x\r\ny\r\nz"


@given(contents, contents, contents, st.integers(0, 3000))
def test_common_ends_are_those_of_a_loop(a: str, b: str, shared: str, repeats: int) -> None:
    long = shared * repeats
    assert common_prefix(long + a, long + b) == len(long) + naive_prefix(a, b)
    assert common_suffix(a + long, b + long) == len(long) + naive_prefix(a[::-1], b[::-1])


@given(contents, passages, st.integers(0, 70))
def test_common_ends_keep_to_their_limits(a: str, b: str, limit: int) -> None:
    assert common_suffix(a + b, b, limit) == min(limit, len(b))
    assert common_prefix(a + b, a, min(limit, len(a))) == len(a) - min(limit, len(a))
