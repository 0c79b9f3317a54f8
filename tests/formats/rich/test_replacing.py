"""Passages replaced in a document: the law of the text, formatting, structure, and what is put in made harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused, Stale
from redraft.formats.rich.editor_document import editor_document
from redraft.formats.rich.foreign_schema import check_document
from redraft.formats.rich.inserted_content import html_blocks
from redraft.formats.rich.positions import Positions
from redraft.formats.rich.replacements import Replacement, apply_replacements
from redraft.formats.rich.schema import content_of, node, plain_text, schema, text
from tests.conftest import TORTURE
from tests.formats.rich.documents import documents

if TYPE_CHECKING:
    from redraft.formats.rich.schema import Node

TABLE = "| a | b |\n|---|---|\n| c | d |\n"


def saved(source: str, *passages: Replacement) -> str:
    return editor_document(source).replace(passages).markdown


def passage(source: str, words: str, new: str, **more: Any) -> Replacement:
    """The passage of these words, which stand in the text once."""
    content = editor_document(source).text
    assert content.count(words) == 1
    return Replacement(content.index(words), content.index(words) + len(words), new, **more)


@settings(max_examples=5000 if TORTURE else 60)
@given(documents(), st.data())
def test_words_within_one_line_become_the_new_words_and_all_others_stay(doc: Node, data: st.DataObject):
    before = Positions.of(doc).text
    start = data.draw(st.integers(0, len(before)))
    end = start
    while end < len(before) and end < start + 4 and before[end] != "\n":
        end += 1
    if start == end or before[start] == "\n":
        return
    after = Positions.of(apply_replacements(doc, [Replacement(start, end, "n😀w", form="plain")])).text
    assert after == before[:start] + "n😀w" + before[end:]


@settings(max_examples=5000 if TORTURE else 60)
@given(documents(), st.data())
def test_any_passage_is_replaced_or_refused_and_the_document_stays_sound(doc: Node, data: st.DataObject):
    from prosemirror.model import Node as ModelNode

    before = Positions.of(doc).text
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    new = data.draw(st.sampled_from(("", "x", "a\nb", "**b** c", "# h\n\n- i", "<em>e</em>", "| a |\n|---|\n| b |\n")))
    try:
        after = apply_replacements(doc, [Replacement(start, end, new)])
    except Refused:
        return
    ModelNode.from_json(schema(), after).check()
    assert len(Positions.of(after).text) >= len(before) - (end - start) - 2 * before.count("\n")


def test_several_passages_are_one_change_by_the_offsets_of_the_text_before():
    source = "one two three\n\nfour 😀 five\n"
    found = [passage(source, "five", "5"), passage(source, "one", "1"), passage(source, "three", "3")]
    assert saved(source, *found) == "1 two 3\n\nfour 😀 5\n"


def test_passages_that_overlap_are_refused():
    with pytest.raises(Refused, match="overlap"):
        saved("one two\n", Replacement(0, 5, "x"), Replacement(4, 7, "y"))


def test_a_text_that_is_not_the_expected_one_is_refused_with_what_stands_there():
    with pytest.raises(Stale) as caught:
        saved("one two\n", Replacement(0, 3, "x", expected="two"))
    assert caught.value.details["actual"] == "one"


@pytest.mark.covers("RT-adv-formats")
@pytest.mark.parametrize(
    ("source", "words", "new", "after"),
    [
        ("a **bold** z\n", "bold", "brave", "a **brave** z\n"),
        ("a **bold** z\n", "old", "rave", "a **brave** z\n"),
        ("a [link](x.md) z\n", "link", "way", "a [way](x.md) z\n"),
        ("a **bold** z\n", "bold z", "calm", "a calm\n"),
        ("a _b_ __c__ \\[d\\] e\n", "e", "f", "a _b_ __c__ \\[d\\] f\n"),
        ("# Title\n", "Title", "New", "# New\n"),
    ],
)
def test_formatting_stays_where_it_still_applies(source: str, words: str, new: str, after: str):
    assert saved(source, passage(source, words, new)) == after


@pytest.mark.parametrize(
    "source", ["\xa0 word more\nand on \n", "a line\nand a word \xa0\n", "a line  \n\xa0 word too\n", "# \xa0 word\n"]
)
def test_a_space_that_the_text_does_not_show_stays_beside_words_that_change(source: str):
    assert saved(source, passage(source, "word", "sentence")) == source.replace("word", "sentence")


@pytest.mark.covers("RT-prod-newlines")
def test_a_newline_breaks_the_paragraph_in_the_middle_of_a_block_too():
    assert saved("one two\n", Replacement(3, 4, "\n")) == "one\n\ntwo\n"
    assert saved("one two\n", Replacement(3, 4, " x\n\ny ")) == "one x\n\ny two\n"
    assert saved("- one two\n- b\n", passage("- one two\n- b\n", " ", "\n")) == "- one\n\n  two\n- b\n"


@pytest.mark.covers("RT-prod-markdown")
def test_markdown_becomes_formatting_and_blocks():
    assert saved("a b\n", Replacement(2, 3, "**bold** and `code`")) == "a **bold** and `code`\n"
    assert saved("a\n\nb\n", Replacement(3, 4, "## Head\n\n- x\n- y")) == "a\n\n## Head\n\n- x\n- y\n"
    assert saved("a b\n", Replacement(2, 3, "**not**", form="plain")) == "a \\*\\*not\\*\\*\n"
    assert saved("a b\n", Replacement(2, 3, "- no item")) == "a - no item\n"


def test_in_code_everything_is_taken_as_it_is():
    source = "```\na = 1\nb = 2\n```\n"
    assert saved(source, passage(source, "1", "**x**\ny")) == "```\na = **x**\ny\nb = 2\n```\n"


@pytest.mark.covers("RT-prod-tables")
def test_a_table_stays_whole():
    assert saved(TABLE, passage(TABLE, "c", "x | y")) == "| a | b |\n|---|---|\n| x \\| y | d |\n"
    text = editor_document(TABLE).text
    with pytest.raises(Refused, match="cell"):
        saved(TABLE, Replacement(text.index("c"), text.index("d") + 1, "x"))


@pytest.mark.covers("RT-prod-images")
def test_an_image_beside_the_passage_stays():
    source = "a ![i](i.png)b\n"
    assert saved(source, passage(source, "a ", "x ")) == "x ![i](i.png)b\n"
    assert saved(source, passage(source, "b", "y")) == "a ![i](i.png)y\n"


@pytest.mark.covers("RT-app-structure", "RT-exec-failed-command")
def test_a_block_that_the_text_does_not_show_is_not_taken_out_by_chance():
    source = "one\n\n<div>kept</div>\n\ntwo\n"
    with pytest.raises(Refused, match="not in the text"):
        saved(source, Replacement(0, len(editor_document(source).text) - 1, "x"))


def test_the_whole_text_is_replaced_and_the_frontmatter_stays():
    source = "---\ntitle: x\n---\n\n# A\n\nb\n"
    assert saved(source, Replacement(0, len(editor_document(source).text), "new")) == "---\ntitle: x\n---\n\nnew\n"


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<b><script>alert(1)</script></b>",
        '<img src="javascript:alert(1)">',
        '<a href="java\nscript:alert(1)">x</a>',
        '<p onclick="alert(1)">x</p>',
        '<iframe src="https://x.y"></iframe>',
        "<style>*{display:none}</style>",
        "<svg/onload=alert(1)>",
        "[x](javascript:alert(1))",
    ],
)
def test_nothing_that_could_run_is_left_but_words(hostile: str):
    made = editor_document("a\n").replace([Replacement(0, 1, hostile)])
    told = str(made.doc)
    assert "inlineSource" not in told
    assert "'source'" not in told
    assert "javascript" not in str(_attributes(made.doc))
    assert "onclick" not in made.markdown


def _attributes(shape: Node) -> list[Any]:
    own = [shape.get("attrs"), *(mark.get("attrs") for mark in shape.get("marks") or ())]
    return [each for each in own if each] + [each for child in content_of(shape) for each in _attributes(child)]


def test_simple_html_is_what_it_says():
    [paragraph, items, code] = html_blocks("<p>a <strong>b</strong><br>c</p><ul><li>x<li>y</ul><pre>1\n 2</pre>")
    assert [each["type"] for each in content_of(paragraph)] == ["text", "text", "hardBreak", "text"]
    assert [plain_text(item) for item in content_of(items)] == ["x", "y"]
    assert plain_text(code) == "1\n 2"


@settings(max_examples=5000 if TORTURE else 60)
@given(st.text("<>/ =\"'abpiulscrt&;\n", max_size=60))
def test_any_html_fits_the_schema(source: str):
    from prosemirror.model import Node as ModelNode

    blocks = html_blocks(source)
    ModelNode.from_json(schema(), node("doc", blocks or [node("paragraph")])).check()


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"type": "paragraph"},
        {"type": "doc", "content": [1]},
        {"type": "doc", "content": [{"type": "text"}]},
        {"type": "doc", "content": [{"type": "text", "text": "\ud800"}]},
        {"type": "doc", "content": [{"type": "heading", "attrs": {"level": "x"}}]},
        {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "paragraph"}]}]},
    ],
)
def test_what_is_no_document_is_refused(wrong: Any):
    with pytest.raises(Refused):
        check_document(wrong, strict=True)


def test_a_document_of_another_schema_is_edited_too():
    underline = {"type": "underline"}
    content = [{"type": "image", "attrs": {"src": "x"}}, node("paragraph", [text("words", [underline])])]
    doc = check_document({"type": "doc", "content": content}, strict=True)
    after = apply_replacements(doc, [Replacement(2, 4, "ne")])
    assert plain_text(after) == "nerds"
    assert content_of(after["content"][1])[0]["marks"] == [underline]
