"""Documents written anew: reading what was written gives the document back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from redraft.formats.rich.parser import parse
from redraft.formats.rich.representable import to_representable
from redraft.formats.rich.schema import content_of, mark, node, schema, text
from redraft.formats.rich.style import DEFAULT, Style, facts_in, infer_style
from redraft.formats.rich.writer import write
from tests.conftest import TORTURE
from tests.formats.rich.documents import documents, examples, tree

if TYPE_CHECKING:
    from pathlib import Path

    from redraft.formats.rich.schema import Node

PER_TEST = 5000 if TORTURE else 60


@settings(max_examples=PER_TEST)
@given(documents())
def test_what_is_written_reads_as_the_document(doc: Node):
    wanted = to_representable(doc)
    assert to_representable(parse(write(wanted)).doc) == wanted


@settings(max_examples=PER_TEST)
@given(documents())
def test_a_representable_document_is_its_own_representable_form_and_fits_the_schema(doc: Node):
    from prosemirror.model import Node as ModelNode

    wanted = to_representable(doc)
    assert to_representable(wanted) == wanted
    ModelNode.from_json(schema(), wanted).check()


def test_commonmark_and_gfm_read_the_same_after_they_are_written_anew(material: Path):
    different: list[str] = []
    for name, source in examples(material).items():
        parsed = parse(source)
        again = parse(write(parsed.doc, references=parsed.references)).doc
        if to_representable(again) != to_representable(parsed.doc):
            different.append(name)
    assert different == []


@pytest.mark.slow
def test_a_real_tree_reads_the_same_after_it_is_written_anew(material: Path):
    files = tree(material)
    assert len(files) == 112
    for name, source in list(files.items())[:: 1 if TORTURE else 8]:
        parsed = parse(source)
        assert parse(write(parsed.doc, references=parsed.references)).doc == parsed.doc, name


@pytest.mark.parametrize(
    ("source", "style"),
    [
        ("* a\n", Style(bullet="*")),
        ("1) a\n2) b\n", Style(delimiter=")")),
        ("1. a\n1. b\n", Style(counts_up=False)),
        ("_a_ __b__\n", Style(emphasis="_", strong="__")),
        ("Title\n=====\n", Style(setext=True)),
        ("## Title ##\n", Style(closing_hashes=True)),
        ("~~~~\nx\n~~~~\n", Style(fence="~~~~")),
        ("* * *\n", Style(rule="* * *")),
        ("a  \nb\n", Style(hard_break="  ")),
        ("- a\n\n- b\n", Style(loose=True)),
        ("-   a\n", Style(gap=3)),
        ("|a|b|\n|---|---|\n", Style(cell_padding=False)),
        ("a | b\n--- | ---\n", Style(outer_pipes=False)),
        ("| a    | b   |\n| ---- | --- |\n| long | d   |\n", Style(even_columns=True)),
    ],
)
def test_a_style_is_learned_and_written_again(source: str, style: Style):
    found = infer_style(facts_in(source))
    assert found == style
    assert write(parse(source).doc, found).split() == source.split()


def test_what_the_place_does_not_show_the_wider_text_does():
    assert infer_style(facts_in("_a_\n"), facts_in("* b\n\n*c*\n")) == Style(bullet="*", emphasis="_")
    assert infer_style(facts_in("words\n")) == DEFAULT


@pytest.mark.parametrize(
    "words",
    [
        "# no",
        "1. no",
        "- no",
        "> no",
        "a*b*c",
        "[x](y)",
        "`x`",
        "&amp;",
        "<b>",
        "\\*",
        "---",
        "$$x$$",
        ":::x",
        "😀*😀*",
    ],
)
def test_words_that_look_like_markup_stay_words(words: str):
    doc = node("doc", [node("paragraph", [text(words)])])
    assert parse(write(doc)).doc == doc


@pytest.mark.parametrize("words", ["snake_case", "2 * 3", "a < b", "Q&A", "wait!", "50 % ~ 60 %", "a | b", "C:\\dir"])
def test_signs_that_are_no_markup_where_they_stand_are_not_escaped(words: str):
    assert write(node("doc", [node("paragraph", [text(words)])])) == words + "\n"


def test_emphasis_beside_letters_and_signs_is_emphasis_when_it_is_read():
    inner = [text("a"), text('"b"', [mark("italic")]), text("c"), text("d.", [mark("bold")]), text("e")]
    doc = node("doc", [node("paragraph", inner)])
    assert parse(write(doc)).doc == doc


def test_two_lists_side_by_side_stay_two():
    item = node("listItem", [node("paragraph", [text("a")])])
    doc = node("doc", [node("bulletList", [item]), node("bulletList", [item]), node("orderedList", [item])])
    assert len(content_of(parse(write(doc)).doc)) == 3
