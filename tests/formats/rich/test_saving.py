"""A changed document back into its markdown: what was not changed keeps its bytes."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from redraft.formats.rich.parser import parse
from redraft.formats.rich.representable import to_representable
from redraft.formats.rich.save import save
from redraft.formats.rich.schema import attrs_of, content_of, node, text
from redraft.formats.rich.writer import write
from tests.conftest import TORTURE
from tests.formats.rich.documents import documents, examples, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redraft.formats.rich.parser import ParsedDocument
    from redraft.formats.rich.schema import Node

TYPED = "wörd😀"


def as_an_editor_gives_it(doc: Node) -> Node:
    """The document with every attribute written out, as TipTap's `getJSON` does, through JSON."""

    def told(shape: Node) -> Node:
        made = {**shape, "attrs": attrs_of(shape)} if attrs_of(shape) else dict(shape)
        if shape.get("marks"):
            made["marks"] = [{**mark, "attrs": attrs_of(mark)} for mark in shape["marks"]]
        return {**made, "content": list(map(told, content_of(shape)))} if content_of(shape) else made

    return json.loads(json.dumps(told(doc)))


def textblocks(shape: Node, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if shape["type"] in ("paragraph", "heading", "codeBlock"):
        yield path
    for number, child in enumerate(content_of(shape)):
        yield from textblocks(child, (*path, number))


def typed_into(doc: Node, path: tuple[int, ...]) -> Node:
    """The document with one word typed at the end of a block."""
    changed = deepcopy(doc)
    block = changed
    for number in path:
        block = block["content"][number]
    block.setdefault("content", []).append(text(f" {TYPED}" if block.get("content") else TYPED))
    return changed


def check_typing(parsed: ParsedDocument, path: tuple[int, ...], name: str) -> None:
    """A word typed into one block is in the text, and nothing outside of that block's lines changed."""
    wanted = typed_into(parsed.doc, path)
    saved = save(as_an_editor_gives_it(wanted), parsed)
    if not parsed.blocks:
        assert saved == TYPED + "\n"
        return
    block = parsed.blocks[path[0]]
    before, after = "".join(parsed.lines[: block.start]), "".join(parsed.lines[block.end :])
    assert saved.startswith(before), (name, path)
    assert saved.endswith(after), (name, path)
    assert to_representable(parse(saved).doc) == to_representable(wanted), (name, path)


def test_no_change_changes_no_byte_of_commonmark_and_gfm(material: Path):
    changed = [
        name
        for name, source in examples(material).items()
        if save(as_an_editor_gives_it(parse(source).doc), source) != source
    ]
    assert changed == []


@pytest.mark.slow
def test_no_change_changes_no_byte_of_a_real_tree(material: Path):
    files = tree(material)
    changed = [
        name
        for name, source in list(files.items())[:: 1 if TORTURE else 4]
        if save(as_an_editor_gives_it(parse(source).doc), source) != source
    ]
    assert changed == []


@pytest.mark.slow
def test_a_word_typed_into_any_block_of_commonmark_and_gfm_stays_within_its_lines(material: Path):
    for name, source in list(examples(material).items())[:: 1 if TORTURE else 5]:
        parsed = parse(source)
        for path in textblocks(parsed.doc):
            check_typing(parsed, path, name)


@pytest.mark.slow
def test_a_word_typed_into_a_block_of_a_real_tree_changes_its_line_alone(material: Path):
    for name, source in list(tree(material).items())[:: 1 if TORTURE else 28]:
        parsed = parse(source)
        for path in list(textblocks(parsed.doc))[:: 1 if TORTURE else 16]:
            check_typing(parsed, path, name)
            saved = save(typed_into(parsed.doc, path), parsed)
            gone = set(parsed.lines) - set(saved.splitlines(keepends=True))
            assert len(gone) <= 1, (name, path)


@settings(max_examples=2000 if TORTURE else 40)
@given(documents(), documents(), st.data())
def test_any_blocks_put_into_any_text_are_read_back_and_the_others_keep_their_bytes(
    old: Node, new: Node, data: st.DataObject
):
    source = write(to_representable(old))
    parsed = parse(source)
    at = data.draw(st.integers(0, len(parsed.blocks)))
    kept = [block.node for block in parsed.blocks]
    added = content_of(to_representable(new))[:1]
    # Markdown has two signs for numbers: of three such lists in a row two must be written as one, or one anew.
    beside = {each["type"] for each in (*kept[max(0, at - 1) : at], *added, *kept[at : at + 1])}
    assume(len(beside) > 1 or not added or not added[0]["type"].endswith("List") or at in (0, len(kept)))
    saved = save(node("doc", [*kept[:at], *added, *kept[at:]]), parsed)
    for block in parsed.blocks:
        assert "".join(parsed.lines[block.start : block.end]).rstrip("\n") in saved or len(parsed.blocks) < 2
    if not any(each["type"] in ("source", "paragraph") for each in added):
        assert to_representable(parse(saved).doc) == to_representable(node("doc", [*kept[:at], *added, *kept[at:]]))


@pytest.mark.parametrize(
    ("source", "path", "saved"),
    [
        ("A *b* __c__ \\[d\\]\nwrapped\n", (0,), f"A *b* __c__ \\[d\\]\nwrapped {TYPED}\n"),
        ("Title\n=====\n\nx\n", (0,), f"Title {TYPED}\n=====\n\nx\n"),
        ("##   Title   ##\n", (0,), f"##   Title {TYPED}   ##\n"),
        ("*   a\n*   b\n", (0, 1, 0), f"*   a\n*   b {TYPED}\n"),
        ("1) a\n1) b\n", (0, 0, 0), f"1) a {TYPED}\n1) b\n"),
        ("- [X] a\n- [ ] b\n", (0, 0, 0), f"- [X] a {TYPED}\n- [ ] b\n"),
        ("> a\nlazy\n> b\n", (0, 0), f"> a\nlazy\n> b {TYPED}\n"),
        ("~~~ js x=1\na\n~~~\n", (0,), f"~~~ js x=1\na {TYPED}\n~~~\n"),
        ("|a|b|\n|-|-|\n|c  |d|\n", (0, 1, 0, 0), f"|a|b|\n|-|-|\n|c {TYPED} |d|\n"),
        ("a\r\n\r\nb\r\n", (1,), f"a\r\n\r\nb {TYPED}\r\n"),
        ("a\n\nb", (1,), f"a\n\nb {TYPED}"),
        ("\ufeffa\n", (0,), f"\ufeffa {TYPED}\n"),
        ("[x]: /y\n\na [x] b\n", (1,), f"[x]: /y\n\na [x] b {TYPED}\n"),
        ("-\n\n  foo\n", (0, 0, 0), f"-    {TYPED}\n\n  foo\n"),
    ],
)
def test_a_changed_block_keeps_the_way_in_which_it_was_written(source: str, path: tuple[int, ...], saved: str):
    parsed = parse(source)
    assert save(typed_into(parsed.doc, path), parsed) == saved


def test_a_new_block_is_written_in_the_style_of_the_text():
    parsed = parse("Title\n=====\n\n* a\n* b\n\n_c_\n")
    item = node("listItem", [node("paragraph", [text("new")])])
    blocks = [*parsed.doc["content"], node("heading", [text("Next")], level=2), node("bulletList", [item])]
    assert save(node("doc", blocks), parsed) == "Title\n=====\n\n* a\n* b\n\n_c_\n\nNext\n----\n\n* new\n"


def test_a_new_item_stands_among_the_old_ones_which_keep_their_bytes():
    parsed = parse("+  a\n+  b\n")
    items = content_of(parsed.blocks[0].node)
    new = node("listItem", [node("paragraph", [text("new")])])
    assert save(node("doc", [node("bulletList", [items[0], new, items[1]])]), parsed) == "+  a\n+  new\n+  b\n"


def test_a_block_that_is_moved_takes_its_bytes_along():
    parsed = parse("<div>kept  </div>\n\n_a_\n\n*  *  *\n")
    first, second, third = parsed.doc["content"]
    assert save(node("doc", [second, third, first]), parsed) == "_a_\n\n*  *  *\n\n<div>kept  </div>\n"


def test_deleted_blocks_are_gone_and_two_lists_do_not_run_together():
    parsed = parse("- a\n\nbetween\n\n- b\n")
    saved = save(node("doc", [parsed.doc["content"][0], parsed.doc["content"][2]]), parsed)
    assert [block.node["type"] for block in parse(saved).blocks] == ["bulletList", "bulletList"]


def test_the_empty_paragraph_that_editors_keep_at_the_end_is_not_written():
    source = "# T\n\n```\nx\n```\n"
    doc = parse(source).doc
    assert save(node("doc", [*doc["content"], node("paragraph")]), source) == source


def test_a_box_that_is_ticked_changes_in_its_own_line_alone():
    parsed = parse("* [ ] a\n* [ ]  b\n")
    changed = deepcopy(parsed.doc)
    changed["content"][0]["content"][1]["attrs"] = {"checked": True}
    assert save(changed, parsed) == "* [ ] a\n* [x]  b\n"


def test_a_long_line_typed_into_a_wrapped_paragraph_is_wrapped():
    source = "One two three four five six seven eight nine\nten eleven twelve.\n"
    parsed = parse(source)
    changed = deepcopy(parsed.doc)
    changed["content"][0]["content"][0]["text"] += " And then thirteen, fourteen, fifteen and sixteen."
    lines = save(changed, parsed).splitlines()
    assert lines[0] == source.splitlines()[0]
    assert max(map(len, lines)) <= len(lines[0])


def test_a_list_between_two_others_takes_the_third_sign():
    parsed = parse("- one\n\n* two\n")
    task = node("taskItem", [node("paragraph", [{"type": "text", "text": "do it"}]), node("horizontalRule")])
    kept = [block.node for block in parsed.blocks]
    wanted = node("doc", [kept[0], node("taskList", [task]), kept[1]])
    saved = save(wanted, parsed)
    assert to_representable(parse(saved).doc) == to_representable(wanted)
    assert (saved.startswith("- one\n"), saved.endswith("* two\n")) == (True, True)
