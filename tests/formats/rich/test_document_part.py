"""A part of a text, parsed and saved with its context, is what it is in the whole text."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from redraft.formats.rich.document_part import context_of, parse_part
from redraft.formats.rich.parser import parse
from redraft.formats.rich.save import save
from redraft.formats.rich.schema import node, text
from redraft.formats.rich.style import infer_style
from tests.formats.rich.documents import examples, tree
from tests.formats.rich.test_random_edits import VAULT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "source",
    [
        "Title\n===\n\n+  a\n\n+  b\n\n1) x\n2) y\n\n_em_ __st__\\\nz\n\n* * *\n\n~~~\nk\n~~~\n",
        "# Title #\n\n* a\n* b\n\n*em* **st**  \nz\n\n***\n\n    code\n\n[x y]: </foo bar> 'say \"so\"'\n[z]: <>\n",
    ],
)
def test_a_context_has_the_style_and_the_definitions_of_its_text(source: str):
    parsed = parse(source)
    about = parse_part("[z] and [x y]\n", context_of(parsed), first=False)
    style, found = infer_style(parsed.facts), infer_style(about.facts)
    told = ("bullet", "gap", "delimiter", "emphasis", "strong", "setext", "fence", "rule", "hard_break")
    assert [getattr(found, each) for each in told] == [getattr(style, each) for each in told]
    assert about.doc == parse("[z] and [x y]\n", parsed.references, piece=True).doc


@pytest.mark.slow
def test_blocks_parsed_and_saved_as_a_part_are_those_of_the_whole_text(material: Path):
    rng = random.Random(5)
    for source in [VAULT, examples(material)["spec-0.31.2 200"], *list(tree(material).values())[::20]]:
        parsed = parse(source)
        context = context_of(parsed)
        for _ in range(12):
            number = rng.randrange(len(parsed.blocks))
            first, end = max(0, number - 2), min(len(parsed.blocks), number + 3)
            start = parsed.blocks[first].start if first else 0
            stop = parsed.blocks[end - 1].end if end < len(parsed.blocks) else len(parsed.lines)
            before = "".join(parsed.lines[start:stop])
            part = parse_part(before, context, first=first == 0)
            assert [each.node for each in part.blocks] == [each.node for each in parsed.blocks[first:end]]
            new = node("paragraph", [text("Typed by *hand*.")])
            nodes = [each.node for each in parsed.blocks]
            whole = save(node("doc", [*nodes[: number + 1], new, *nodes[number + 1 :]]), parsed)
            inner = number + 1 - first
            saved = save(node("doc", [*nodes[first:end][:inner], new, *nodes[first:end][inner:]]), part)
            assert "".join(parsed.lines[:start]) + saved + "".join(parsed.lines[stop:]) == whole
