"""Markdown headings are those of CommonMark and GFM, on the specifications' examples, real files and invented ones."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.markdown_headings import find_quoted_headings, headings
from redraft.text import markdown_blocks
from redraft.text.frontmatter_block import frontmatter_end
from tests.formats.reference import markdown_examples, markdown_files, reference_headings, reference_quoted

if TYPE_CHECKING:
    from pathlib import Path

# Lines that mean something else in another place. No link definition: where one is followed by a line that may not
# interrupt a paragraph, the reference parsers disagree.
LINES = st.sampled_from(
    (
        "# a|## b #|#| # h|####### no|foo|bar|===|---|   ===|-|- x|  y|    z|\tt|```|~~~|~~~~|`` `|> q|>|>     c|> ```|"
        "1. n|2. m|1.|10) g|+|* * *|___|<div>|</div>|<!-- c|-->|<b>|<pre>|</pre>|<?x|?>|<!X|- ```|  ```|  # i|   - j|"
        "- > # z|>- r|- - k|\\||||a ¦ b|-¦-|¦ a ¦|¦---¦"
    )
    .replace("|", "\n")
    .replace("¦", "|")
    .split("\n")
)


def ours(text: str) -> list[tuple[int, int, str]]:
    return [(mark.line, mark.level, " ".join(mark.title.split())) for mark in headings(text)]


@given(st.lists(LINES, max_size=9))
def test_headings_are_those_of_the_reference_parser(lines: list[str]) -> None:
    text = "\n".join(lines)
    # `| a |` over `---` is a table to the reference parser and a heading to GFM's own; and whether a delimiter row may
    # be the head of a table within a paragraph is not settled either.
    if not frontmatter_end(text) and not re.search(r"\|\n-+(?:\n|$)|-\|?\n\|?-+\|", text):
        assert ours(text) == reference_headings(text)


def test_headings_of_the_specifications_examples_are_the_reference_parsers(material: Path) -> None:
    examples = list(markdown_examples(material))
    assert len(examples) > 1300
    assert [text for text in examples if ours(text) != reference_headings(text)] == []


@pytest.mark.slow
def test_headings_of_a_real_tree_are_the_reference_parsers(material: Path) -> None:
    files = markdown_files(material)
    assert len(files) == 112
    assert [name for name, text in files.items() if ours(text) != reference_headings(text)] == []


@given(st.lists(LINES, max_size=9), st.sampled_from(["\r\n", "\r"]))
def test_line_ends_do_not_matter(lines: list[str], newline: str) -> None:
    assert headings(newline.join(lines)) == headings("\n".join(lines))


@given(st.text("#=-`~<>*+ \t\n1.ab[]:|!\\\r", max_size=60))
def test_any_text_gives_headings_in_order_at_lines_that_exist(text: str) -> None:
    lines = [mark.line for mark in headings(text)]
    assert lines == sorted(set(lines))
    assert all(0 <= line <= text.count("\n") + text.count("\r") for line in lines)


def test_frontmatter_holds_no_heading_and_keeps_its_lines() -> None:
    text = "---\ntitle: x\n# comment\nb: y\n---\n# One\n"
    assert ours(text) == [(5, 1, "One")]


def test_a_document_may_begin_with_a_rule() -> None:
    assert ours("---\nFoo\n---\nBar\n") == [(1, 2, "Foo")]


def test_headings_in_quotes_and_lists_divide_nothing() -> None:
    assert ours("# One\n\n> # Quoted\n\n- # Listed\n\n  ## Inside\n\n# Two\n") == [(0, 1, "One"), (8, 1, "Two")]


def test_a_byte_order_mark_hides_no_heading() -> None:
    assert ours("\ufeff# One\n") == [(0, 1, "One")]


@pytest.mark.parametrize(
    "unit",
    [
        "> ",
        "- ",
        "* ",
        "_ ",
        "2. a\n",
        "===\n",
        "a\n===\n",
        "<b>\n",
        "[a]: b\n",
        "[a",
        "<a ",
        "    a\n---\n",
        "-|-\na|\n",
    ],
)
def test_hostile_documents_take_no_longer_than_their_length(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    headings(text)
    assert time.process_time() - start < 3


@pytest.mark.slow
def test_ten_megabytes_take_a_moment(material: Path) -> None:
    book = "\n\n".join(markdown_files(material).values())
    text = (book * (10_000_000 // len(book) + 1))[:10_000_000]
    start = time.process_time()
    assert headings(text)
    assert time.process_time() - start < 1.5


SIMPLE = [
    "- a",
    "* b",
    "+ Cc",
    "> q",
    "1. a",
    "2. b",
    "9) c",
    "",
    "   ",
    "text",
    "# H",
    "===",
    "---",
    "  - n",
    "    code",
]
NESTED = ["```", "````", "   ```", "``` x", "```a`", "<div>", "- # x", "> # y", "-", "|a|b|", "|-|-|", "[a]: b"]
NOTHING = r"(?!)"


@given(st.lists(st.sampled_from(SIMPLE + NESTED), max_size=10))
def test_what_is_passed_over_at_once_ends_where_it_ends_line_by_line(lines: list[str]) -> None:
    text = "\n".join(lines)
    quick = headings(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown_blocks, "_PASSED", NOTHING)
        assert headings(text) == quick


@pytest.mark.parametrize(
    "text",
    [
        "# One\n\n> # Quoted\n> text\n> ## Deeper\n\nafter\n\n# Two\n\n> Setext\n> ======\n",
        "> # First\n\ntext\n",
        "> para\n===\n\n> para\n---\n",
        ">> ## Twice quoted\n> # Once\n",
        "> ```\n> # code\n> ```\n> # Real\n",
        "a\r\n\r\n> # One\r\n> > ## Two\r\n\r\nb\r\n",
        ">#No\n># Yes\n   > # Indented\n\n    > # code\n",
        "- > # In a list\n\n> - # A list in a quote\n\n> # Yes\n",
        "> lazy\ncontinued\n> # Then\n",
    ],
)
def test_headings_in_block_quotes_are_found_by_themselves(text: str) -> None:
    assert [(each.mark.line, each.mark.level, each.mark.title) for each in find_quoted_headings(text)] == (
        reference_quoted(text)
    )


def test_headings_in_the_block_quotes_of_the_specifications_are_found(material: Path) -> None:
    for text in [*markdown_examples(material), *markdown_files(material).values()]:
        found = [(each.mark.line, each.mark.level, each.mark.title) for each in find_quoted_headings(text)]
        assert found == reference_quoted(text), text[:500]
