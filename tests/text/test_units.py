"""The units of a document and its sentences: partitions, whatever the text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import split_lines
from redraft.text.markdown_blocks import fences
from redraft.text.sentences import sentences
from redraft.text.units import Within, units
from tests.text.shapes import documents

if TYPE_CHECKING:
    from pathlib import Path

texts = st.one_of(documents(20), st.text(alphabet="-`~#|>. \n\r:a", max_size=60))
PAGE = """\
---
title: A page
tags:
  - one
- two
---

# Heading

A paragraph
of two lines.

- item
  continued
- next
1. numbered

| a | b |
|---|---|
| 1 | 2 |

```python
# not a heading

- not an item
```
> quoted
> again

Underlined
==========
<!-- a comment

with a blank line -->
<div>
html
</div>

***
"""


def check_units(text: str, within: Within = "document") -> list[tuple[str, str]]:
    """What every answer promises: the units partition the text, on whole lines, and blanks are blank."""
    found = units(text, within=within)
    lines = split_lines(text)
    assert "".join(unit.text for unit in found) == text
    assert [line for unit in found for line in range(unit.start, unit.end)] == list(range(len(lines)))
    for unit in found:
        assert unit.text == "".join(lines[unit.start : unit.end])
        assert (unit.kind != "blank") or not unit.text.strip()
    return [(unit.kind, unit.text) for unit in found]


@given(texts)
def test_units_partition_any_text(text: str) -> None:
    for within in ("document", "body", "frontmatter", "code"):
        check_units(text, within)


@given(texts)
def test_the_frontmatter_ends_where_its_units_do(text: str) -> None:
    found = units(text)
    in_front = [unit for unit in found if unit.kind.startswith("frontmatter")]
    last = in_front[-1].end if in_front else 0
    assert frontmatter_end(text) == sum(len(unit.text) for unit in found if unit.end <= last)


@given(st.one_of(st.text(), documents(), st.text(alphabet=".!?… \n\rAa。」", max_size=40)))
def test_sentences_join_back_to_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text
    assert all(sentences(text))


def test_a_page_is_cut_into_its_units() -> None:
    kinds = [kind for kind, _ in check_units(PAGE) if kind != "blank"]
    assert kinds == [
        *("frontmatter", "frontmatter_key", "frontmatter_key", "frontmatter"),
        *("heading", "paragraph", "list_item", "list_item", "list_item"),
        *("table_row", "table_row", "table_row", "code_block", "quote", "heading", "html", "html", "rule"),
    ]


def test_a_key_holds_everything_below_it() -> None:
    assert ("frontmatter_key", "tags:\n  - one\n- two\n") in check_units(PAGE)


def test_a_list_item_holds_its_continued_lines() -> None:
    assert ("list_item", "- item\n  continued\n") in check_units(PAGE)


def test_a_rule_above_a_text_is_no_frontmatter() -> None:
    assert frontmatter_end("---\n\nText\n\n---\n") == 0


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert [kind for kind, _ in check_units("a\n```\nb\n\nc")] == ["paragraph", "code_block"]


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    assert check_units("````\n```\n````\nx\n")[0] == ("code_block", "````\n```\n````\n")


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met J. K. Rowling in the U.S. Capitol. |They spoke.",
        "“Stop!” he said. |Nobody did.",
        "He paused… then left. |She stayed.",
        "See No. 5 and Fig. 3. |He said no. |Then he left.",
        "It costs 3.14 euros, e.g. in Paris. |Really?! |Yes.",
        "彼は来た。|「はい。」|と言った。|End",
        "First line\nof one sentence. |(Another.) |**Bold.** |Last",
        "No mark here\n\n|but a blank line.",
        "Then it was I. |You know.",
    ],
)
def test_sentences_end_where_a_reader_would_say(text: str) -> None:
    assert sentences(text.replace("|", "")) == text.split("|")


@pytest.mark.slow
def test_ten_megabytes_are_cut_in_a_few_seconds_at_most() -> None:
    page = PAGE[PAGE.index("# Heading") :].replace("A paragraph", "A paragraph of the usual length. " * 20)
    text = page * (10_000_000 // len(page))
    started = time.process_time()
    assert len(units(text)) > 100_000
    # Below one second on a quiet machine.
    assert time.process_time() - started < 8


@pytest.mark.parametrize(
    "text", ["." * 100_000 + "x", "`" * 100_000, " " * 100_000 + "x", "- " * 50_000, "\n \n" * 30_000]
)
def test_no_odd_text_is_slow(text: str) -> None:
    started = time.process_time()
    units(text)
    sentences(text)
    fences(text)
    assert time.process_time() - started < 5


def test_real_pages_are_partitioned(material: Path) -> None:
    for path in sorted((material / "workspace-tree").rglob("*.md")):
        with path.open(encoding="utf-8", newline="") as stream:
            check_units(stream.read())
