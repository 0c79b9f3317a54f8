"""How a change is shown: every line of both sides, whole and in order, with colour or without."""

from __future__ import annotations

import contextlib
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from redraft.cli.choosing import matching
from redraft.cli.hunk_lines import show_change
from redraft.cli.screen import Screen, escaped
from redraft.text.lines import newline_style, split_lines

texts = st.text(st.sampled_from("ab .\n\r\x1b"), max_size=40) | st.text(max_size=40)
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def shown(before: str, old: str, new: str, after: str, *, colour: bool) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        show_change(Screen(False, colour, colour), before + old + after, len(before), old, new)
    return STYLE.sub("", out.getvalue()).split("\n")[:-1]


def side(lines: list[str], sign: str) -> list[str]:
    return [line[4:] for line in lines if line.startswith(f"  {sign} ")]


@given(texts, texts, texts, texts)
def test_both_sides_of_a_change_are_shown_whole(before: str, old: str, new: str, after: str):
    lines = shown(before, old, new, after, colour=False)
    ends = bool(old and new) and newline_style(old) != newline_style(new)
    for sign, text in (("-", old), ("+", new)) if old != new else (("=", new), ("-", ""), ("+", "")):
        wanted = [escaped(line if ends else line.rstrip("\r\n")) for line in split_lines(text)]
        assert side(lines, sign) == wanted


@given(texts, texts, texts, texts)
def test_colour_changes_nothing_but_the_colour(before: str, old: str, new: str, after: str):
    assert shown(before, old, new, after, colour=True) == shown(before, old, new, after, colour=False)


names = st.lists(st.text("0123", min_size=1, max_size=4).map("h_{}".format), unique=True)


@given(names, st.text("h_0123", max_size=5))
def test_a_name_stands_for_an_equal_id_or_for_those_that_begin_so(ids: list[str], name: str):
    found = matching(name, ids)
    if name in ids:
        assert found == [name]
    else:
        begun = [each for each in ids if each.startswith(name) or each.removeprefix("h_").startswith(name)]
        assert found == (begun if name else [])
