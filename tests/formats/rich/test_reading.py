"""Markdown read as a document: every block knows its lines, and what the schema cannot show is kept as source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from redraft.formats.rich.parser import RichBlock, parse
from redraft.formats.rich.schema import MARKS, NODES, attrs_of, content_of, normal_form, plain_text, schema
from tests.formats.rich.documents import examples, tree

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "rich"


def kinds(source: str) -> list[str]:
    return [block.node["type"] for block in parse(source).blocks]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("---\ntitle: x\n---\n", "frontmatter"),
        ("+++\ntitle = 'x'\n+++\n", "frontmatter"),
        ("<div>\n*x*\n</div>\n", "html"),
        ("<!-- note -->\n", "html"),
        (":::note\n\n- x\n\n:::\n", "directive"),
        ("::::tabs\n:::tab\nx\n:::\n::::\n", "directive"),
        ("::video[x]{id=1}\n", "directive"),
        ('!!! note "x"\n    words\n\n    more\n', "directive"),
        ("{% include x %}\n", "directive"),
        ("{{< figure x >}}\n", "directive"),
        ("[^1]: words\n    more\n\n    and more\n", "footnote"),
        ("[a]: /x\n[b]: /y 'title'\n", "definition"),
        ("$$\nx_1\n$$\n", "formula"),
        (">" * 90 + " deep\n", "other"),
    ],
)
def test_what_the_schema_cannot_show_is_one_block_of_source(source: str, kind: str):
    [block] = parse(source).blocks
    assert (block.node["type"], attrs_of(block.node)["kind"]) == ("source", kind)
    assert attrs_of(block.node)["markdown"] == source.rstrip("\n")
    assert (block.start, block.end) == (0, source.count("\n"))


@pytest.mark.parametrize("source", [":::\n", ":::note\nno end\n", "$$ a\n\nb $$\n", "a\n---\nb\n", "::\n", "!!!\n"])
def test_what_only_looks_like_it_is_text(source: str):
    assert "source" not in kinds(source)


def test_a_tag_and_a_footnotes_mark_in_a_line_are_kept_as_they_are():
    [paragraph] = parse("press <kbd>x</kbd>[^1]\n").blocks
    kept = [attrs_of(each)["markdown"] for each in content_of(paragraph.node) if each["type"] == "inlineSource"]
    assert kept == ["<kbd>", "</kbd>", "[^1]"]


def test_a_list_of_tasks_is_one_only_where_every_item_is_a_task():
    assert kinds("- [ ] a\n- [x] b\n") == ["taskList"]
    assert kinds("- [ ] a\n- b\n") == ["bulletList"]
    assert kinds("- \\[ ] a\n") == ["bulletList"]
    [tasks] = parse("- [ ] a\n- [X] *b*\n").blocks
    assert [attrs_of(item)["checked"] for item in content_of(tasks.node)] == [False, True]
    assert plain_text(tasks.node) == "ab"


def test_blocks_know_their_lines_down_to_the_paragraphs_of_an_item():
    [_, quote] = parse("# T\n\n> - a\n>   b\n>\n>   c\n").blocks
    [items] = quote.inside
    [item] = items.inside
    assert [(each.start, each.end) for each in (quote, items, item, *item.inside)] == [
        (2, 6), (2, 6), (2, 6), (2, 4), (5, 6),
    ]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(newline: str):
    source = "# T\n\na 😀\nb\n\n```\nx\n```\n".replace("\n", newline)
    assert [(each.start, each.end) for each in parse(source).blocks] == [(0, 1), (2, 4), (5, 8)]


def lines_of(blocks: tuple[RichBlock, ...]) -> list[int]:
    return [line for block in blocks for line in range(block.start, block.end)]


def test_the_schema_is_that_of_the_browser():
    told = json.loads((VECTORS / "schema.json").read_text(encoding="utf-8"))
    nodes = {name: {"content": spec[0], "group": spec[1], "attrs": spec[2]} for name, spec in NODES.items()}
    assert told["nodes"] == nodes
    assert told["marks"] == [{"name": name, "attrs": attrs} for name, attrs in MARKS.items()]


def test_every_line_with_words_belongs_to_one_block(material: Path):
    for name, source in {**examples(material), **dict(list(tree(material).items())[::16])}.items():
        parsed = parse(source)
        owned = lines_of(parsed.blocks)
        assert owned == sorted(set(owned)), name
        unowned = set(range(len(parsed.lines))) - set(owned)
        assert [line for line in unowned if parsed.lines[line].strip()] == [], name


def test_a_document_that_was_read_is_in_its_normal_form_and_fits_the_schema(material: Path):
    from prosemirror.model import Node as ModelNode

    for name, source in examples(material).items():
        doc = parse(source).doc
        assert normal_form(doc) == doc, name
        ModelNode.from_json(schema(), doc).check()
