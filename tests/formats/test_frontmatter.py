"""Frontmatter is read and changed where it stands: one field, one line, and every other byte as it was."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.frontmatter import fields, items, remove_field, set_field
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import split_lines

OTHERS = (
    "# a comment: not a key\n",
    "\n",
    "unknown_key: 'kept as it is'   # with a remark\n",
    "tags:\n  - one\n\n  - two\n",
    "items:\n- a\n- b\n",
    "text: |\n  line: one\n  # two\n",
    "empty:\n",
    "ünïcode: ja\n",
    'quoted: "a: \\"b\\" # c"\n',
    "nested:\n  agent: not this one\n",
)
KEYS = ("agent", "model", "resume", "agent_doc_session")
values = st.one_of(
    st.sampled_from(
        ["claude", "1", "true", "null", "", "a: b", "# no", " x", "it's", '"q"', "日本", "a\\b", "- x", "[", "x\ny"]
    ),
    st.uuids().map(str),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document whose frontmatter holds all that people write there."""
    lines: list[str] = [*draw(st.lists(st.sampled_from(OTHERS), max_size=5, unique=True))]
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3)):
        value = draw(st.sampled_from(["x", "'a b'", '"c"', "~", "", "   spaced   # why"]))
        lines.insert(draw(st.integers(0, len(lines))), f"{key}: {value}".rstrip() + "\n")
    if not lines:
        return draw(st.sampled_from(["", "Body.\n", "---\n\nnot: yaml?\n"]))
    if not any(line[0].isalpha() for line in lines):
        lines.append("a: b\n")
    text = "---\n" + "".join(lines) + "---\n" + draw(st.sampled_from(["", "\nBody\n", "key: of the body\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


@pytest.mark.covers("AD-fm-bytes")
@given(documents(), st.sampled_from(KEYS), values)
def test_setting_one_field_changes_one_line_and_no_other_byte(text: str, key: str, value: str):
    changed = set_field(text, key, value)
    assert fields(changed)[key] == (value or None) or (value == "" and fields(changed)[key] == "")
    assert set_field(changed, key, value) == changed
    others = {name: found for name, found in fields(text).items() if name != key}
    assert {name: found for name, found in fields(changed).items() if name != key} == others
    if frontmatter_end(text):
        before, after = split_lines(text), split_lines(changed)
        touched = [line for line in before if line not in after]
        assert all(line.startswith(key) for line in touched)
        assert len(after) in (len(before), len(before) + 1)
    else:
        assert changed.endswith(text)


@given(documents(), st.sampled_from(KEYS))
def test_a_field_that_is_taken_away_leaves_everything_else(text: str, key: str):
    without = remove_field(text, key)
    assert key not in fields(without)
    kept = [line for line in split_lines(text[: frontmatter_end(text)]) if not line.startswith(f"{key}:")]
    if kept:
        assert without == "".join(kept) + text[frontmatter_end(text) :]
    else:
        assert without == text


@given(documents())
def test_single_values_are_those_that_a_yaml_parser_reads(text: str):
    end = frontmatter_end(text)
    if not end:
        assert fields(text) == {}
        return
    block = "".join(split_lines(text[:end])[1:-1])
    parsed = yaml.load(block, Loader=yaml.BaseLoader)
    for name, found in fields(text).items():
        said = parsed[name]
        expected = said if isinstance(said, str) and said not in ("", "~") else None
        assert found == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("---\nagent: claude\n---\nmodel: body\n", {"agent": "claude"}),
        ("\n---\nagent: claude\n---\n", {}),
        ("---\nagent: claude\n", {}),
        ("agent: claude\n", {}),
        ("---\nagent: claude\n#---\nmodel: m\n---\n", {"agent": "claude", "model": "m"}),
        ("---\n---\nagent: claude\n", {}),
    ],
)
def test_frontmatter_is_what_stands_between_dashes_at_the_very_start(text: str, found: dict[str, str]):
    assert {key: value for key, value in fields(text).items() if value is not None} == found


def test_rewriting_keeps_unknown_keys_comments_and_blank_lines():
    text = "---\n# mine\nagent: claude  # the good one\n\ncustom: [1, 2]\n---\n\n# T\n"
    assert set_field(text, "agent", "codex") == text.replace("claude", "codex")
    assert set_field(text, "resume", "s-1") == text.replace("---\n\n# T", "resume: s-1\n---\n\n# T")
    assert remove_field(set_field(text, "resume", "s-1"), "resume") == text


@pytest.mark.parametrize(
    "value",
    [
        "!!bool x",
        '!!int ""',
        "!!int x",
        '!!float ""',
        "!!timestamp x",
        "2024-13-45",
        "1" * 5000,
        "[" * 3000,
        '"a',
        "*a",
    ],
    ids=lambda value: value[:20],
)
def test_a_value_that_is_not_what_it_promises_is_none_and_no_failure(value: str):
    text = f"---\nagent: claude\nlinks: {value}\n---\n"
    assert fields(text)["agent"] == "claude"
    assert items(text, "links") is None
