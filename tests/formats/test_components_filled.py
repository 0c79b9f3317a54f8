"""Entries come into a component: in place of the old, after or before it, and never more than it may hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.formats.components import FillOptions, component, components, fill_component, to_entry

BEFORE, AFTER = "# T\r\n\nädd\n", "\ntail <!-- agent:other -->o<!-- /agent:other -->"
PIECES = (
    "one",
    "",
    "  two",
    "```",
    "<!-- agent:log -->",
    "<!-- /agent:log -->",
    "日本😀",
    "~~~ x",
    "`<!-- /agent:log -->`",
)
contents = st.lists(st.sampled_from(PIECES), max_size=5).map("\n".join)
fillings = st.builds(FillOptions, st.sampled_from(["replace", "append", "prepend"]), st.integers(0, 4))


def place(inner: str) -> str:
    return f"{BEFORE}<!-- agent:log -->{inner}<!-- /agent:log -->{AFTER}"


def put(text: str, content: str, filling: FillOptions) -> str:
    found = component(text, "log")
    assert found is not None
    return fill_component(text, found, content, filling)


def inner_of(text: str) -> str:
    found = component(text, "log")
    assert found is not None
    return found.inner(text)


@pytest.mark.covers("AD-comp-harmless")
@given(st.lists(contents, max_size=4), fillings)
def test_whatever_comes_in_the_document_parses_and_the_rest_keeps_its_bytes(entries: list[str], filling: FillOptions):
    text = place("\n")
    for entry in entries:
        text = put(text, entry, filling)
        assert [each.name for each in components(text)] == ["log", "other"]
        assert text.startswith(f"{BEFORE}<!-- agent:log -->")
        assert text.endswith(f"<!-- /agent:log -->{AFTER}")


@pytest.mark.covers("AD-patch-replace", "AD-patch-append", "AD-patch-prepend")
@pytest.mark.parametrize(
    ("mode", "inner", "expected"),
    [
        ("replace", "\nold\n", "\nnew\n"),
        ("append", "\nold\n", "\nold\nnew\n"),
        ("prepend", "\nold\n", "\nnew\nold\n"),
        ("replace", "old", "new"),
        ("append", "old", "\nold\nnew\n"),
        ("replace", "\n", "\nnew\n"),
        ("append", "\r\nold\r\n", "\r\nold\r\nnew\n"),
        ("replace", "\n  old\n  ", "\nnew\n  "),
    ],
)
def test_the_mode_says_where_an_entry_goes(mode: str, inner: str, expected: str):
    text = "x\n" * 9 + place(inner)
    assert inner_of(put(text, "\nnew\n", FillOptions(mode))) == expected  # type: ignore[arg-type]


def lines_of(inner: str) -> list[str]:
    return [line for line in inner.split("\n") if line.strip()]


@pytest.mark.covers("AD-patch-max-entries", "AD-patch-max-zero")
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), min_size=1, max_size=6),
    st.integers(0, 4),
    st.sampled_from(["append", "prepend"]),
)
def test_as_many_lines_are_kept_as_may_be_and_the_new_entry_always(entries: list[list[str]], most: int, mode: str):
    text, naive = place("\n"), list[str]()
    for number, entry in enumerate(entries):
        lines = [f"{letter}{number}.{place}" for place, letter in enumerate(entry)]
        text = put(text, "\n".join(lines), FillOptions(mode, most))  # type: ignore[arg-type]
        room = max(most - len(lines), 0) if most else len(naive)
        kept = naive[max(len(naive) - room, 0) :] if mode == "append" else naive[:room]
        naive = kept + lines if mode == "append" else lines + kept
        assert lines_of(inner_of(text)) == naive


def test_prepend_with_max_entries_keeps_the_new_entry():
    text = place("\nsecond\nfirst\n")
    assert inner_of(put(text, "third", FillOptions("prepend", 2))) == "\nthird\nsecond\n"


def test_code_is_not_cut_apart_to_make_room():
    text = place("\n```\none\ntwo\n```\nlast\n")
    assert inner_of(put(text, "new", FillOptions("append", 3))) == "\n```\none\ntwo\n```\nlast\nnew\n"
    assert inner_of(put(text, "new", FillOptions("append", 2))) == "\nlast\nnew\n"


def test_marker_text_in_an_entry_reads_the_same_and_marks_nothing():
    done = put(place("\n"), "see <!-- /agent:log --> and\n```\n<!-- /agent:log -->\n```\n", FillOptions())
    assert inner_of(done) == "\nsee &lt;!-- /agent:log --> and\n```\n<!-- /agent:log -->\n```\n"


def test_code_that_would_come_out_of_its_fence_is_made_harmless_too():
    text = place("\n```\nthe person is typing this\n")
    done = put(text, "```\n<!-- /agent:log -->\n```", FillOptions("append"))
    assert [each.name for each in components(done)] == ["log", "other"]


def test_a_document_that_does_not_parse_is_not_written_into():
    text = place("\n")
    found = component(text, "log")
    assert found is not None
    with pytest.raises(Refused):
        fill_component(text + "\n<!-- agent:torn -->", found, "new", FillOptions())


@pytest.mark.parametrize(
    ("content", "entry"), [("", ""), ("\n\n", ""), ("\nx\n\n", "x\n"), ("x", "x\n"), ("\n\nx", "\nx\n")]
)
def test_an_entry_ends_in_one_line_end(content: str, entry: str):
    assert to_entry(content) == entry
