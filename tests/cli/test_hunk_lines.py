"""How a change is shown: every line of both sides, whole and in order, with colour or without."""

from __future__ import annotations

import contextlib
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from redraft.cli.display import show_change
from redraft.cli.hunk_selection import match_ids
from redraft.cli.screen import Screen, escape
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
    # A change within a line is shown with the rest of that line; whole lines by themselves.
    head = re.split("[\r\n]", before)[-1]
    tail = re.split("[\r\n]", after)[0] if head or not (old or new).endswith(("\r", "\n")) else ""
    sides = {"-": head + old + tail, "+": head + new + tail}
    ends = all(sides.values()) and len({newline_style(text) for text in sides.values()}) == 2
    for sign, text in sides.items() if old != new else (("=", sides["+"]), ("-", ""), ("+", "")):
        wanted = [escape(line if ends else line.rstrip("\r\n")) for line in split_lines(text)]
        assert side(lines, sign) == wanted


@given(texts, texts, texts, texts)
def test_colour_changes_nothing_but_the_colour(before: str, old: str, new: str, after: str):
    assert shown(before, old, new, after, colour=True) == shown(before, old, new, after, colour=False)


names = st.lists(st.text("0123", min_size=1, max_size=4).map("h_{}".format), unique=True)


@given(names, st.text("h_0123", max_size=5))
def test_a_name_stands_for_an_equal_id_or_for_those_that_begin_so(ids: list[str], name: str):
    found = match_ids(name, ids)
    if name in ids:
        assert found == [name]
    else:
        begun = [each for each in ids if each.startswith(name) or each.removeprefix("h_").startswith(name)]
        assert found == (begun if name else [])
