"""Random edits in the rich view change in the markdown what they should change, byte for byte."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import TYPE_CHECKING

import pytest

from redraft.formats.rich.parser import parse
from redraft.formats.rich.save import save
from redraft.formats.rich.schema import node, text
from tests.formats.rich.documents import tree
from tests.formats.rich.random_edits import edits

if TYPE_CHECKING:
    from pathlib import Path

FILES, EACH = 47, 20
# What tools and people put into markdown that the editor has no node for.
VAULT = """\
---
title: A vault
---

> [!NOTE]
> Useful information, even when skimming content.

> [!WARNING] Careful
> Mind the *gap* here. And [[another page|alias]] there.

See [[Some page]] and [[Other page#Heading]], also ![[picture.png]] embedded. Copyright &copy; 2024 Somebody&nbsp;Else,
10&nbsp;km away; &mdash; a dash, an &lt;angle&gt;, an escaped \\* star and snake_case_name, 2*3*4, [unlinked] and [x].
A <kbd>Ctrl</kbd> key; https://example.org/bare_url is bare. Price $5 and $10; maths $a_1 + b_2$ inline, ==marked==.

<div align="center">
  <b>Raw</b> HTML
</div>

* star item with &nbsp; blank and some more words
* star item two with a footnote[^1]

| Name      | Wert  | Note            |
|:----------|------:|-----------------|
| alpha     |     1 | first [[x]] row |
| beta      |    22 | second\\|pipe    |

Term of a line here\x20\x20
hard break by blanks\\
hard break by backslash

[^1]: A footnote with *words*.

%%comment of another program%%
"""


@pytest.mark.slow
@pytest.mark.covers("RD-rich-bytes")
def test_47_real_files_change_after_random_edits_as_the_edits_say_and_come_back_without_them(material: Path):
    files = list(tree(material).values())[:: 112 // FILES][: FILES - 1]
    wrong: list[tuple[str, list[str]]] = []
    rng, count = random.Random(17), 0
    for source in [VAULT, *files]:
        parsed = parse(source)
        for number, (doc, wanted, is_right) in enumerate(edits(rng, parsed, EACH)):
            saved = save(doc, parsed)
            count += 1
            if saved not in wanted and not (is_right and is_right(saved)):
                wrong.append((saved, wanted))
            if number % 4 == 0 and save(parsed.doc, saved) != source:
                wrong.append((saved, [source]))
    assert wrong == []
    assert count > FILES * EACH * 0.95


@pytest.mark.parametrize(
    ("source", "path", "offset"),
    [
        ("> [!NOTE]\n> Mind it.\n", (0, 0, 0), 0),
        ("> [!NOTE]\n> Mind it.\n", (0, 0, 0), 8),
        ("See [[a page|alias]] and ![[pic.png]].\n", (0, 0), 4),
        ("[[a page]] first\n", (0, 0), 0),
        ("10&nbsp;km &copy; me\n", (0, 0), 2),
        ("10&nbsp;km &copy; me\n", (0, 0), 3),
        ("10&nbsp;km &copy; me\n", (0, 0), 7),
    ],
)
def test_a_letter_beside_what_other_programs_read_changes_that_letter_alone(
    source: str, path: tuple[int, ...], offset: int
):
    parsed = parse(source)
    doc = deepcopy(parsed.doc)
    block = doc
    for number in path:
        block = block["content"][number]
    before, after = block["text"][:offset], block["text"][offset:]
    block["text"] = before + "q" + after
    saved = save(doc, parsed)
    assert saved.replace("q", "", 1) == source
    assert parse(saved).doc == doc
    assert save(parsed.doc, saved) == source


def test_wiki_links_and_callouts_that_are_typed_are_written_as_typed():
    quote = node("blockquote", [node("paragraph", [text("[!TIP] Try [[Some page|this]].")])])
    assert save(node("doc", [quote]), "") == "> [!TIP] Try [[Some page|this]].\n"


@pytest.mark.parametrize("words", [" begins with a blank", "ends with one "])
def test_a_blank_at_the_edge_of_a_paragraph_is_never_written_as_a_reference(words: str):
    assert save(node("doc", [node("paragraph", [text(words)])]), "") in (words.strip() + "\n", words + "\n")


def test_a_paragraph_made_a_heading_a_quotation_or_an_item_keeps_its_entities_and_escapes():
    source = "Copyright &copy; 2024&nbsp;me, 2\\*3 and _so_ on\n"
    words = parse(source).doc["content"][0]
    for made, start in (
        (node("heading", words["content"], level=2), "## "),
        (node("blockquote", [words]), "> "),
        (node("bulletList", [node("listItem", [words])]), "- "),
    ):
        assert save(node("doc", [made]), source) == start + source
