"""Offsets and positions: what TipTap itself says, in vectors made by the library and by a twin that is slow."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from redraft.errors import Refused
from redraft.formats.rich.editor_document import editor_document
from redraft.formats.rich.parser import parse
from redraft.formats.rich.positions import Positions
from redraft.formats.rich.schema import NODES, Node, content_of, node, text
from tests.conftest import TORTURE
from tests.formats.rich.documents import documents, examples, tree

ROOT = Path(__file__).resolve().parents[3]
VECTORS = ROOT / "tests" / "vectors" / "rich" / "positions.json"
WEB = ROOT / "web"


def units(content: str) -> int:
    return len(content.encode("utf-16-le")) // 2


def check_vector(vector: dict[str, Any]) -> int:
    """Hold a document to what TipTap says of it, whose offsets are UTF-16; gives how many offsets there were."""
    found = Positions.of(vector["doc"])
    assert found.text == vector["text"]
    starts = [0]
    for character in found.text:
        starts.append(starts[-1] + units(character))
    wanted = [vector["positions"][start] for start in starts]
    assert found.all() == wanted
    assert [found.position(offset) for offset in range(len(found.text) + 1)] == wanted
    # Within a character of two units TipTap gives half of it; here that counts as not yet there.
    whole = {start: offset for offset, start in enumerate(starts)}
    offsets = [whole.get(offset, whole.get(offset - 1)) for offset in vector["offsets"]]
    assert [found.offset(position) for position in range(found.size + 1)] == offsets
    return len(wanted)


@pytest.mark.covers("RT-conv-separator", "RT-conv-exact", "RT-conv-back", "RT-conv-utf16")
def test_every_offset_and_position_is_what_tiptap_says():
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert sum(map(check_vector, vectors)) > 3000
    told = json.dumps(vectors, ensure_ascii=False)
    assert [name for name in NODES if f'"{name}"' not in told] == []
    assert max(told) > "\uffff"


@pytest.mark.slow
@pytest.mark.covers("RT-conv-exact")
def test_tiptap_agrees_on_commonmark_gfm_and_a_real_tree(material: Path, tmp_path: Path):
    if shutil.which("node") is None or not (WEB / "node_modules" / "@tiptap").is_dir():
        pytest.skip("node or TipTap is not installed")
    files = tree(material).values() if TORTURE else [each for each in tree(material).values() if len(each) < 2000]
    sources = [*list(examples(material).values())[:: 1 if TORTURE else 3], *files]
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(parse(source).doc) + "\n" for source in sources), encoding="utf-8")
    told = run_script("rich-vectors.mjs", given)
    vectors = [json.loads(line) for line in told.splitlines()]
    assert len(vectors) == len(sources)
    assert sum(map(check_vector, vectors)) > 5000
    (tmp_path / "vectors.jsonl").write_text(told, encoding="utf-8")
    assert json.loads(run_script("rich-compare.mjs", tmp_path / "vectors.jsonl"))["wrong"] == 0


def run_script(name: str, given: Path) -> str:
    command = ["node", f"scripts/{name}", str(given)]
    return subprocess.run(command, cwd=WEB, capture_output=True, encoding="utf-8", check=True).stdout


def naive(doc: Node) -> tuple[str, int]:
    """TipTap's text and the document's size by the plainest walk there is."""

    def size(shape: Node) -> int:
        if shape["type"] == "text":
            return units(shape["text"])
        return 2 + sum(map(size, content_of(shape))) if NODES[shape["type"]][0] else 1

    def said(shape: Node, at: int, *, block: bool) -> str:
        if shape["type"] in ("text", "hardBreak"):
            return shape.get("text", "\n")
        text = "\n\n" if block and at > 0 else ""
        inline = shape["type"] in ("paragraph", "heading", "codeBlock")
        place = at + 1
        for child in content_of(shape):
            text += said(child, place, block=not inline)
            place += size(child)
        return text

    whole, place = "", 0
    for child in content_of(doc):
        whole += said(child, place, block=True)
        place += size(child)
    return whole, place


@settings(max_examples=5000 if TORTURE else 60)
@given(documents())
def test_the_text_is_that_of_the_slow_twin_and_every_way_there_leads_back(doc: Node):
    found = Positions.of(doc)
    assert (found.text, found.size) == naive(doc)
    positions = found.all()
    assert positions == sorted(positions)
    for offset, position in enumerate(positions):
        back = found.offset(position)
        within = found.text[offset - 1 : offset + 1] == "\n\n"
        assert back == offset or (within and back in (offset - 1, offset + 1))
    offsets = [found.offset(position) for position in range(found.size + 1)]
    assert offsets == sorted(offsets)


def test_the_specifications_example_stands_where_tiptap_puts_it():
    found = Positions.of(node("doc", [node("paragraph", [text("Hello")]), node("paragraph", [text("world")])]))
    assert found.text == "Hello\n\nworld"
    assert found.all() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]


def test_what_has_no_text_and_stands_beside_a_passage_stays_outside_of_it():
    image = node("image", src="i.png")
    found = Positions.of(node("doc", [node("paragraph", [text("a"), image, text("b")])]))
    assert (found.range(0, 1), found.range(1, 2), found.range(1, 1)) == ((1, 2), (3, 4), (3, 3))


@pytest.mark.covers("RT-conv-bounds")
@pytest.mark.parametrize("offset", [-1, 3, 10**9])
def test_an_offset_outside_of_the_text_is_refused(offset: int):
    found = Positions.of(node("doc", [node("paragraph", [text("😀!")])]))
    with pytest.raises(Refused):
        found.position(offset)


@pytest.mark.parametrize("position", [-1, 6])
def test_a_position_outside_of_the_document_is_refused(position: int):
    found = Positions.of(node("doc", [node("paragraph", [text("😀!")])]))
    assert found.size == 5
    with pytest.raises(Refused):
        found.offset(position)


def test_nodes_of_another_schema_are_counted_as_tiptap_counts_them():
    mention = {"type": "mention", "attrs": {"id": "ann", "label": "Ann"}}
    doc = {
        "type": "doc",
        "content": [{"type": "image", "attrs": {"src": "x"}}, node("paragraph", [mention, text("!")])],
    }
    found = Positions.of(doc)
    assert (found.text, found.all()) == ("\n\n@Ann!", [0, 1, 2, 2, 2, 2, 3, 4])


@pytest.mark.covers("RT-prod-fast")
def test_a_position_in_a_megabyte_is_found_in_less_than_a_millisecond_after_the_first():
    source = "A paragraph of words, with an 😀 in it and *some* emphasis.\n\n" * 1000
    known = editor_document(source)
    doc = {"type": "doc", "content": known.doc["content"] * 18}
    found = Positions.of(doc)
    assert len(found.text) > 1_000_000
    found.position(0)
    places = [number * 1009 % len(found.text) for number in range(1000)]
    start = time.process_time()
    for place in places:
        found.position(place)
    assert (time.process_time() - start) / len(places) < 0.001
    assert editor_document(source) is known
