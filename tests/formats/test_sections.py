"""Sections with their sizes: they add up to the document, and its frontmatter is not counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.markdown_headings import Section, sections
from redraft.text.lines import count_lines


def test_sections_have_their_place_in_the_file_and_their_size() -> None:
    text = "---\na: b\n---\npre one\npré two\n\n# One #\ntext\n\n```\n# no\n```\n## Two\n\nx\n"
    assert sections(text) == [
        Section("(preamble)", 0, 4, 3, 4),
        Section("One", 1, 7, 5, 4),
        Section("Two", 2, 13, 2, 0),
    ]


def test_a_document_without_headings_is_all_preamble() -> None:
    assert sections("some words\n") == [Section("(preamble)", 0, 1, 1, 2)]


def test_an_empty_document_has_no_sections() -> None:
    assert sections("") == []


@given(st.lists(st.sampled_from(["# a", "## b", "text", "more", "===", "```", "- x"]), min_size=1))
def test_lines_add_up_to_the_document(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = sections(text)
    assert sum(section.lines + (section.depth > 0) for section in found) == count_lines(text)


@given(st.lists(st.sampled_from(["# a", "## é", "texté", "", "===", "```", "- x", "---", "a: b"]), min_size=1))
def test_the_sizes_are_those_of_the_lines_whatever_ends_them(lines: list[str]) -> None:
    for ending, extra in (("\n", 1), ("\r\n", 2), ("\r", 1)):
        text = ending.join(lines) + ending
        for section in sections(text):
            start = section.line - (section.depth == 0)
            body = lines[start : start + section.lines]
            assert section.tokens == sum(len(line.encode()) + extra for line in body) // 4
