"""One scanner of markdown's blocks: all who use it agree on what is fenced code, and so does CommonMark."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.offline.intent_handlers.rename import rename_in_text
from redraft.agent.offline.prose import lines_of
from redraft.formats.components import components
from redraft.formats.markdown_headings import headings
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.markdown_blocks import fences, line_ranges
from redraft.text.units import units
from redraft.tools.queries.lint import lint
from tests.formats.reference import markdown_examples, markdown_files, reference_closed_code, reference_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# Each with the lines that are fenced code.
AWKWARD: dict[str, tuple[str, set[int]]] = {
    "a fence of backticks": ("a\n```\nb\n```\nc", {1, 2, 3}),
    "a fence of tildes with words": ("~~~ python ```\na\n~~~\nb", {0, 1, 2}),
    "three spaces before it": ("   ```\na\n  ```\nb", {0, 1, 2}),
    "four spaces before it: indented code": ("a\n\n    ```\n    b\n    ```\nc", set()),
    "four spaces before it in a paragraph": ("a\n    ```\nb\n    ```", set()),
    "a tab before it": ("\t```\na\n\t```\nb", set()),
    "four spaces before its end": ("```\na\n    ```\nb\n```\nc", {0, 1, 2, 3, 4}),
    "backticks after its backticks": ("```a`\nb\n", set()),
    "a shorter fence within": ("````\n```\na\n````\nb", {0, 1, 2, 3}),
    "the other sign within": ("```\n~~~\na\n```\nb", {0, 1, 2, 3}),
    "words after its end": ("```\na\n``` b\n```\nc", {0, 1, 2, 3}),
    "never closed": ("a\n```\nb\n\nc", {1, 2, 4}),
    "in the midst of a paragraph": ("a\n```\nb\n```\nc", {1, 2, 3}),
    "in a quotation": ("> ```\n> a\n> ```\n> b", {0, 1, 2}),
    "in a quotation that ends": ("> ```\n> a\nb\n```\nc\n```", {0, 1, 3, 4, 5}),
    "in a list item": ("- a\n\n  ```\n  b\n  ```\n- c", {2, 3, 4}),
    "on the line of a list item": ("- ```\n  a\n  ```\n- b", {0, 1, 2}),
    "in a list item that ends": ("1. ```\n   a\nb", {0, 1}),
    "four spaces in a list item as wide": ("10. a\n\n    ```\n    b\n    ```\nc", {2, 3, 4}),
    "six spaces in a list item": ("- a\n\n      ```\n      b\n      ```\nc", set()),
    "in a list in a quotation": ("> - ```\n>   a\n>   ```\n> b", {0, 1, 2}),
    "after a lazy line": ("> a\nb\n```\nc\n```\nd", {2, 3, 4}),
    "in a comment": ("<!--\n```\na\n-->\nb", set()),
    "after a comment": ("<!-- a -->\n```\nb\n```\nc", {1, 2, 3}),
    "in HTML, up to a blank line": ("<div>\n```\na\n\n```\nb\n```\nc", {4, 5, 6}),
    "in HTML that holds blank lines": ("<pre>\n\n```\na\n</pre>\n```\nb\n```", {5, 6, 7}),
    "after a tag within a line": ("a <b>\n```\nc\n```\nd", {1, 2, 3}),
    "after a definition": ("[a]: b\n```\nc\n```\nd", {1, 2, 3}),
    "after a table": ("|a|\n|-|\n|b|\n```\nc\n```\nd", {3, 4, 5}),
    "two, one after the other": ("```\na\n```\n```\nb\n```", {0, 1, 2, 3, 4, 5}),
    "after a byte order mark": ("\ufeff```\na\n```\nb", {0, 1, 2}),
    "with Windows line ends": ("a\r\n```\r\nb\r\n```\r\nc", {1, 2, 3}),
    "with old Macintosh line ends": ("a\r```\rb\r```\rc", {1, 2, 3}),
    "in the frontmatter": ("---\na: |\n  ```\n---\nb\n```\nc\n```", {5, 6, 7}),
}
LINES = (
    "# a|foo|===|---|-|- x|  y|    z|\tt|```|~~~|~~~~|`` `|> q|>|> ```|1. n|2. m|1.|* * *|<div>|</div>|<!-- c|-->|<b>"
    "|<pre>|</pre>|<?x|?>|- ```|  ```|   ```|    ```|> ~~~|>- ```|- > ```|1. ~~~|   ~~~|``` x|```a`b|| |>  x|[a]: b"
    "|¦a¦|¦-¦"
)
texts = st.lists(st.sampled_from(LINES.split("|")), max_size=10).map(lambda lines: "\n".join(lines).replace("¦", "|"))
# A name, a slip and a component, for those who tell what they take for code only by what they leave alone in it.
TAIL = " Annalena [x]() <!-- agent:a --><!-- /agent:a -->"


def written(text: str, numbers: Iterable[int]) -> set[int]:
    """Those of the lines that are not blank."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {number for number in numbers if lines[number].strip(" >")}


def scanned(text: str, *, closed: bool = False) -> set[int]:
    found = fences(text, frontmatter_end(text), closed=closed)
    return written(text, (number for block in line_ranges(text, found) for number in block))


def check_users(text: str, expected: set[int]) -> None:
    """All who show what they take for code say the same; nobody finds a heading there."""
    assert scanned(text) == expected
    by_units = (number for unit in units(text) if unit.kind == "code_block" for number in range(unit.start, unit.end))
    assert written(text, by_units) == expected
    assert written(text, (line.number for line in lines_of(text) if line.kind == "code")) == expected
    assert expected.isdisjoint(mark.line for mark in headings(text))


def with_tails(text: str) -> Iterator[tuple[int, str]]:
    """The text with something added to each line in turn to which it may be added; the block may be another by that."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        # Within backticks, a comment or a link target, the same words mean something else than in prose.
        if line.strip(" >") and not set("`[<]").intersection(line) and "<!--" not in text:
            yield number, "\n".join([*lines[:number], line + TAIL, *lines[number + 1 :]])


def check_users_by_what_they_do(text: str) -> None:
    """Lint finds no slip in code, a rename changes no name there, and no component lies there."""
    for number, changed in with_tails(text):
        in_code = number in reference_code(changed)
        found = [each for each in lint(changed, "markdown") if (each.line, each.rule) == (number, "link-empty")]
        assert (not found) is in_code, changed
        assert (rename_in_text(changed, "Annalena", "Marta").count == 0) is in_code, changed
        assert (not components(changed)) is (number in reference_closed_code(changed)), changed


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_fences_are_the_same_to_everybody(case: str) -> None:
    text, expected = AWKWARD[case]
    check_users(text, expected)
    if "\r" not in text and "\ufeff" not in text and not frontmatter_end(text):
        assert reference_code(text) == expected
        check_users_by_what_they_do(text)


def test_the_specifications_examples_are_the_same_to_everybody(material: Path) -> None:
    examples = [text for text in markdown_examples(material) if not frontmatter_end(text)]
    assert len(examples) > 1300
    for text in examples:
        check_users(text, reference_code(text))
        check_users_by_what_they_do(text)


def test_real_documents_are_the_same_to_everybody(material: Path) -> None:
    for text in markdown_files(material).values():
        check_users(text, reference_code(text))


@given(texts)
def test_fences_are_those_of_the_reference_parser(text: str) -> None:
    if not frontmatter_end(text):
        check_users(text, reference_code(text))
        assert scanned(text, closed=True) == reference_closed_code(text)


@given(texts, st.sampled_from(["\r\n", "\r"]))
def test_line_ends_do_not_matter(text: str, newline: str) -> None:
    assert scanned(text.replace("\n", newline)) == scanned(text)


@given(texts)
def test_a_block_is_whole_lines_and_begins_with_its_fence(text: str) -> None:
    end = 0
    for block in fences(text):
        assert end <= block.start < block.end
        assert block.start == 0 or text[block.start - 1] == "\n"
        assert block.end == len(text) or text[block.end - 1] == "\n"
        assert block.fence in text[block.start : block.end].split("\n", 1)[0]
        end = block.end


@pytest.mark.parametrize(
    "unit",
    [
        "```x\n",
        "~~~~x\n",
        "- ```x\n",
        "> ```\n",
        "  ```x\n",
        "<pre>\n\n```x\n",
        "<?\n\n```x\n\n",
        "```\n",
        "a ``` b\n",
        "> ",
    ],
)
@pytest.mark.parametrize("closed", [False, True])
def test_hostile_documents_take_no_longer_than_their_length(unit: str, closed: bool) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    fences(text, closed=closed)
    assert time.process_time() - started < 3
