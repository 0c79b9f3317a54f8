"""Settings written in place: the values are as wished, and no other line is touched."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.toml_lines import set_values

LINES = st.sampled_from(
    [
        "# a comment about = mode",
        "",
        'mode = "read"  # careful',
        "confirm_files=3",
        'review = "turn"',
        "[agent]",
        "  cents = 5 # per job",
        "[limits] # few",
        "files = 7",
        '[models.big]\nkind = "claude"',
        'words = ["a", "b"]',
    ]
)
VALUES = st.dictionaries(
    st.sampled_from(["mode", "confirm_files", "agent.cents", "agent.tokens", "limits.files"]),
    st.integers(1, 10**6) | st.booleans() | st.text(st.characters(codec="utf-8"), max_size=12),
    min_size=1,
)


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(st.lists(LINES, max_size=12).map("\n".join).filter(is_toml), st.sampled_from(["", "\n"]), st.booleans(), VALUES)
def test_values_are_set_and_every_other_line_stays(text: str, ending: str, windows: bool, values: dict[str, int | str]):
    text = (text + ending).replace("\n", "\r\n" if windows else "\n")
    wanted = tomllib.loads(text)
    for name, value in values.items():
        table, _, key = name.rpartition(".")
        (wanted.setdefault(table, {}) if table else wanted)[key] = value
    made = set_values(text, values)
    assert tomllib.loads(made) == wanted
    before, after = ([line.rstrip("\r") for line in each.split("\n")] for each in (text, made))
    kept = [line for line in before if line and not any(name.rpartition(".")[2] in line for name in values)]
    left = iter(after)
    assert all(line in left for line in kept), "in their order"
    assert windows == ("\r\n" in made) or "\n" not in text
    assert set_values(made, values) == made


def test_a_comment_behind_a_value_stays():
    assert set_values('mode = "read" # careful\n', {"mode": "apply"}) == 'mode = "apply" # careful\n'


def test_what_is_new_comes_before_the_comments_of_the_next_table():
    text = 'mode = "read"\n\n# about jobs\n[agent]\ncents = 5\n'
    made = set_values(text, {"confirm_files": 3, "agent.tokens": 7})
    assert made == 'mode = "read"\nconfirm_files = 3\n\n# about jobs\n[agent]\ncents = 5\ntokens = 7\n'


@pytest.mark.parametrize(
    "text",
    ["agent = {cents = 5}\n", "agent.tokens = 7\n", 'agent = "none"\n', '"mode" = [\n1]\n', 'a = """\nmode = 1\n"""\n'],
)
def test_what_cannot_be_set_in_place_is_refused(text: str):
    with pytest.raises(Refused):
        set_values(text, {"agent.cents": 1, "mode": "read"})
