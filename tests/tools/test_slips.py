"""Common slips: what is hardly ever meant is found with its line, and what is meant is left alone."""

from __future__ import annotations

import json
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.tools.queries.lint import lint

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tools.calling import Caller


def found(text: str) -> list[tuple[int, str]]:
    return [(slip.line, slip.rule) for slip in lint(text, "markdown")]


SLIPS = [
    ("a\n\n```py\ncode\n", (2, "fence-open")),
    ("- a\n  ~~~\n  code\n  ```\n", (1, "fence-open")),
    ("a\n<!-- note\n\nmore\n", (1, "comment-open")),
    ("---\ntitle: x\n\n# A\n", (0, "frontmatter-open")),
    ("# A\n\n##Heading\n", (2, "heading-space")),
    ("# A\n\n### B\n", (2, "heading-skips")),
    ("# A\n\n## B\n\n## b\n", (4, "heading-twice")),
    ("# A\n\n##\n", (2, "heading-empty")),
    ("see [this]()\n", (0, "link-empty")),
    ("see (this)[https://a.b]\n", (0, "link-reversed")),
    ("see [this][that]\n", (0, "reference-missing")),
    ("see [this][]\n", (0, "reference-missing")),
    ("as said[^1]\n", (0, "reference-missing")),
    ("| a | b |\n| - | - |\n| 1 | 2 | 3 |\n", (2, "table-cells")),
    ("| a | b | c |\n| - | - |\n", (0, "table-cells")),
]
WELL = [
    "```py\n##x [a]() [b][c]\n```\n",
    "> ```\n> ##x\n> ```\n",
    "`[a]()` and ``a ` [b][c]``\n",
    "<!-- ##x\n[a]() -->\n",
    "---\na: 1\n---\n\n# A\n",
    "---\n\na rule: not frontmatter\n",
    "# A\n\n## B\n\n# C\n\n## B\n",
    "#tag and ##\n",
    "[a][b] [c][] [d][B]\n\n[b]: x\n[c]: y\n",
    "as said[^1]\n\n[^1]: so\n",
    "| a | b |\n| - | - |\n| 1 |\n| `x|y` | \\| |\n\na | b | c\n",
    "a\n===\n\n- [ ] task\n- [x] done\n",
]


@pytest.mark.parametrize(("text", "slip"), SLIPS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_slip_is_found_on_its_line_whatever_ends_it(text: str, slip: tuple[int, str], newline: str):
    assert found(text.replace("\n", newline)) == [slip]


@pytest.mark.parametrize("text", WELL)
def test_what_is_meant_is_left_alone(text: str):
    assert found(text) == []


PIECES = [text for text, _ in SLIPS] + WELL


@given(st.lists(st.sampled_from(PIECES), max_size=5).map("\n".join))
def test_whatever_stands_in_a_fence_that_is_closed_is_no_slip(text: str):
    assert found("`" * 9 + f"\n{text}\n" + "`" * 9 + "\n") == []


@given(st.lists(st.sampled_from(PIECES) | st.text("#`~<!->|[]()^: \n"), max_size=6).map("\n".join))
def test_every_slip_has_a_line_of_the_document(text: str):
    lines = text.count("\n") + 1
    assert all(0 <= line < lines for line, _ in found(text))
    assert found(text) == sorted(found(text))


def test_a_well_edited_book_has_none(material: Path):
    with tarfile.open(material / "workspace-tree" / "rust-book-src-md.tar.gz") as tree:
        pages = [tree.extractfile(each) for each in tree if each.isfile() and each.name.endswith(".md")]
        texts = [page.read().decode() for page in pages if page is not None]
    assert len(texts) > 100
    assert [slip for text in texts for slip in found(text)] == []


@pytest.mark.covers("TK-types-markdown-lint")
def test_a_document_is_checked_on_request_only(agent: Caller):
    agent.folder.put("a.md", "# A\n\n### B\n\n[x]()\n")
    assert "slips" not in agent.call("read_document", path="a.md")
    answer = agent.call("read_document", path="a.md", end_line=0, check=True)
    assert [(slip["line"], slip["rule"]) for slip in answer["slips"]] == [(2, "heading-skips"), (4, "link-empty")]


@pytest.mark.parametrize(("name", "text", "line"), [("a.json", '{\n"a" 1}', 1), ("a.yaml", "a: 1\nb: [1\nc: 2\n", 2)])
def test_json_and_yaml_are_checked_by_their_parsers(agent: Caller, name: str, text: str, line: int):
    agent.folder.put(name, text)
    (slip,) = agent.call("read_document", path=name, check=True)["slips"]
    assert (slip["rule"], slip["line"]) == ("syntax", line)
    agent.folder.put(name, json.dumps({"a": 1}))
    assert agent.call("read_document", path=name, check=True)["slips"] == []
