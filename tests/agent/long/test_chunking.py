"""Cutting long documents: whole, in measure, along their structure, and steady under change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.subagents.chunks import chunks_of
from redraft.text.lines import count_breaks, split_lines

if TYPE_CHECKING:
    from pathlib import Path

LINES = st.sampled_from(
    [
        "", "", "# One", "## Two", "### Three", "Chapter IV", "A sentence. Another one! And 世界。",
        "word " * 40, "x" * 300, "- item", '{"key": [1, 2]}', "key: value", "\U0001f600" * 30, "```", "a\rb",
    ]
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])
TEXTS = st.lists(st.tuples(LINES, ENDS), max_size=60).map(lambda lines: "".join(line + end for line, end in lines))
FORMATS = st.sampled_from(["markdown", "text", "json", "yaml", "unknown"])


@given(TEXTS, FORMATS, st.integers(4, 200))
def test_chunks_are_the_whole_text_in_order_and_none_is_too_large(text: str, format: str, tokens: int):  # noqa: A002
    chunks = chunks_of(text, format, tokens)
    assert "".join(chunk.of(text) for chunk in chunks) == text
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.start < chunk.end
        assert len(chunk.of(text).encode()) <= 4 * tokens
        assert text[chunk.start - 1 : chunk.start + 1] != "\r\n"
        assert chunk.line == count_breaks(text[: chunk.start])


@given(st.lists(st.integers(60, 220), min_size=1, max_size=12))
def test_a_section_that_fits_is_never_cut_and_shares_its_chunk_with_no_other_large_one(words: list[int]):
    sections = [f"## Part {at}\n\n{'word ' * count}\n\n" for at, count in enumerate(words)]
    text = "".join(sections)
    chunks = chunks_of(text, "markdown", 300)
    if len(text.encode()) > 1200:
        assert [chunk.of(text) for chunk in chunks] == sections
    else:
        assert [chunk.of(text) for chunk in chunks] == [text]


def test_a_large_section_is_cut_between_paragraphs_and_every_chunk_knows_what_it_stands_under():
    paragraphs = [f"Paragraph {at} says a few words about the sea and the shore.\n\n" for at in range(60)]
    text = "# The book\n\n## The storm\n\n" + "".join(paragraphs)
    chunks = chunks_of(text, "markdown", 200)
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.of(text).startswith("Paragraph")
        assert chunk.under == "The book > The storm"


def test_many_small_sections_share_chunks_and_a_bare_heading_goes_with_what_follows():
    text = "# Book\n\n" + "".join(f"## Part {at}\n\n{'word ' * 20}\n\n" for at in range(40))
    chunks = chunks_of(text, "markdown", 400)
    assert len(chunks) < 12
    assert all(chunk.of(text).startswith(("# Book", "## Part")) for chunk in chunks)


def changed(old: str, new: str, tokens: int = 1000) -> tuple[int, int]:
    known = {chunk.of(old) for chunk in chunks_of(old, "text", tokens)}
    now = [chunk.of(new) for chunk in chunks_of(new, "text", tokens)]
    return sum(text not in known for text in now), len(now)


NOVELS = ["pride-and-prejudice-1342.txt", "frankenstein-84.txt", "dubliners-2814.txt", "treasure-island-120.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NOVELS)
def test_after_a_paragraph_is_added_to_a_real_novel_few_chunks_are_new(material: Path, name: str):
    text = (material / "novel-outlines-dev" / name).read_text(encoding="utf-8")
    lines = split_lines(text)
    for part in range(1, 8):
        at = sum(map(len, lines[: len(lines) * part // 8]))
        new, total = changed(
            text, f"{text[:at]}\n\nThen something happened of which the author had not told.\n\n{text[at:]}"
        )
        assert total > 40
        assert new <= 5


def test_text_without_any_structure_is_cut_steadily_too():
    text = "\n\n".join(f"Sentence number {at * at} of a text without an end or a chapter." for at in range(3000))
    new, total = changed(text, "An opening that was not there before.\n\n" + text, tokens=500)
    assert total > 60
    assert new <= 4
