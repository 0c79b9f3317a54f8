"""Passages and tiles: the document in order, nothing left out, cut where its structure says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.search.passages.chunks import PASSAGE_WORDS, SECTION_WORDS, document_chunks, pack_sentences, tiles, weight
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from pathlib import Path

    from redraft.formats.outline.outline import Format

LINES = st.sampled_from(
    ["", "  ", "# One", "## Two", "word " * 30, "One. Two! Three?", "x" * 700, "東京は雨。" * 90, "𝒜𝓁𝒾 🜚"]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["\n", "\r\n", "\r"])).join(draw(st.lists(LINES, max_size=40)))


@given(documents())
def test_passages_are_the_document_in_order_and_no_word_is_left_out(text: str):
    parts = document_chunks(text, "markdown")
    assert "".join(part.text for part in parts).strip() == text.strip()
    lines = split_lines(text)
    for part in parts:
        assert part.text.strip()
        assert part.text in "".join(lines[part.start_line : part.end_line])
        assert weight(part.text) <= SECTION_WORDS + PASSAGE_WORDS // 4


@given(documents())
def test_a_tile_begins_on_the_line_that_it_names(text: str):
    lines = split_lines(text)
    for part in document_chunks(text, "markdown"):
        found = tiles(part)
        assert "".join("".join(tile.text.split()) for tile in found) == "".join(part.text.split())
        for tile in found:
            assert part.start_line <= tile.line < part.end_line
            assert split_lines(tile.text)[0].strip() in lines[tile.line]


@given(st.text(alphabet="ab .!?\n\r。", max_size=200), st.integers(1, 9))
def test_sentences_packed_together_give_the_text(text: str, words: int):
    parts = list(pack_sentences(text, words))
    assert "".join(parts) == text
    assert all(weight(part) <= words for part in parts)


def texts(content: str, kind: Format) -> list[str]:
    return [part.text for part in document_chunks(content, kind)]


def test_a_heading_begins_a_passage_and_one_with_nothing_under_it_goes_with_the_next():
    assert texts("Before.\n# One\nText.\n", "markdown") == ["Before.\n", "# One\nText.\n"]
    assert texts("# Book\n\n## One\nText.\n## Two\nMore.\n", "markdown") == [
        "# Book\n\n## One\nText.\n",
        "## Two\nMore.\n",
    ]


def test_a_heading_in_a_fence_divides_nothing():
    assert len(texts("Text.\n```\n# not a heading\n```\n", "markdown")) == 1


def test_a_key_of_a_data_file_begins_a_passage_and_those_within_it_where_it_is_large():
    content = "name: shop\ndatabase:\n  host: a\n  port: 1\ncache:\n  size: 2\n"
    assert texts(content, "yaml") == ["name: shop\n", "database:\n  host: a\n  port: 1\n", "cache:\n  size: 2\n"]
    large = "all:\n" + "".join(f"  part{number}:\n    text: {'word ' * 60}\n" for number in range(9))
    assert len(texts(large, "yaml")) == 9


def test_a_passage_knows_the_headings_that_it_stands_under():
    body = "A sentence of five words.\n\n" * 100
    found = document_chunks(f"# Book\n\n## One\n{body}\n## Two\nText.\n# Other\nText.\n", "markdown")
    assert [part.under for part in found][1:] == ["# Book\n## One\n"] * (len(found) - 3) + ["# Book\n", ""]


def test_a_section_is_kept_whole_where_half_a_passage_more_does_it():
    body = "A sentence of five words.\n\n" * (SECTION_WORDS // 5 - 2)
    assert len(texts(f"# One\n{body}# Two\nShort.\n", "markdown")) == 2


def test_blank_space_is_no_passage():
    assert document_chunks("", "markdown") == document_chunks(" \n\r\n\n", "text") == []


def test_an_edit_leaves_most_passages_of_a_novel_as_they_were(material: Path):
    novel = (material / "novel-outlines-dev" / "frankenstein-84.txt").read_text(encoding="utf-8")
    before = texts(novel, "text")
    middle = novel.index("\n\n", len(novel) // 2)
    after = texts(novel[:middle] + "\n\nA new paragraph, which somebody has just typed." + novel[middle:], "text")
    assert len(set(after) - set(before)) <= 12


@pytest.mark.parametrize(
    "line", [" " * 300_000, "\n" * 300_000, "." * 300_000, ". " * 150_000, "x" * 300_000, "\r \n" * 100_000]
)
def test_hostile_texts_are_cut_in_time(line: str):
    began = time.process_time()
    for part in document_chunks("a" + line + "b", "markdown"):
        tiles(part)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_thousands_of_keys_on_one_line_take_no_longer_than_their_length(kind: Format):
    text = "{" + ", ".join(f'"key{at}": "some words here"' for at in range(22_000)) + "}\n"
    start = time.process_time()
    assert "".join(chunk.text for chunk in document_chunks(text, kind)).strip() == text.strip()
    assert time.process_time() - start < 10
