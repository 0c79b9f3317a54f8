"""Documents of the rich editor for property tests: what a person could have made in it, and real markdown."""

from __future__ import annotations

import json
import tarfile
from functools import cache
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from redraft.formats.rich.schema import Node, join_texts, mark, node, text

if TYPE_CHECKING:
    from pathlib import Path

# Words with every sign that markdown gives a meaning, and characters of two UTF-16 units.
WORDS = (
    "a", "word", "two words", "über", "😀", "𝒳y", "日本", "*", "**x", "_", "snake_case", "`", "[x]", "](y)", "<b>",
    "&amp;", "#", "# no", "1.", "1) no", "- no", "+", ">", "~~", "\\", "!", "|", "---", "===", "$$", ":::",
    "http://x.y/_z", "e\u0301",
)  # fmt: skip
MARKS: tuple[tuple[dict[str, Any], ...], ...] = (
    (), (), (), (mark("bold"),), (mark("italic"),), (mark("bold"), mark("italic")), (mark("strike"),), (mark("code"),),
    (mark("link", href="x.md"),), (mark("link", href="/a(b", title='say "t"'), mark("bold")),
)  # fmt: skip


def inline(*, breaks: bool = True) -> st.SearchStrategy[list[Node]]:
    words = st.builds(
        _words,
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        st.sampled_from(MARKS),
    )
    blank = st.just(text(" "))
    others = [st.just(node("image", src="i.png", alt="an 😀 image")), st.just(node("inlineSource", markdown="[^n]"))]
    if breaks:
        others.append(st.just(node("hardBreak")))
    return st.lists(st.one_of(words, words, blank, *others), max_size=5).map(join_texts)


def _words(parts: list[str], marks: tuple[dict[str, Any], ...]) -> Node:
    return text(" ".join(parts), marks)


def leaves() -> st.SearchStrategy[Node]:
    code = st.lists(st.sampled_from((*WORDS, "", "```", "  indented")), max_size=4).map("\n".join)
    level, language = st.integers(1, 6), st.sampled_from((None, "python", "c++"))
    return st.one_of(
        inline().map(lambda content: node("paragraph", content)),
        st.builds(_heading, inline(breaks=False), level),
        st.builds(_code, code, language),
        st.just(node("horizontalRule")),
        st.just(node("source", markdown="<div>\nkept\n</div>", kind="html")),
    )


def _heading(content: list[Node], level: int) -> Node:
    return node("heading", content, level=level)


def _code(words: str, language: str | None) -> Node:
    return node("codeBlock", [text(words)] if words else [], language=language)


def _task(inner: list[Node], checked: bool) -> Node:
    return node("taskItem", [node("paragraph", [text("do it")]), *inner], checked=checked)


def _with_items(blocks: st.SearchStrategy[list[Node]]) -> st.SearchStrategy[Node]:
    items = st.lists(blocks.map(lambda inner: node("listItem", inner)), min_size=1, max_size=3)
    tasks = st.builds(_task, blocks, st.booleans())
    return st.one_of(
        blocks.map(lambda inner: node("blockquote", inner)),
        items.map(lambda inner: node("bulletList", inner)),
        st.builds(_ordered, items, st.integers(0, 12)),
        st.lists(tasks, min_size=1, max_size=3).map(lambda inner: node("taskList", inner)),
        st.lists(inline(breaks=False), min_size=1, max_size=3).map(_table),
    )


def _ordered(items: list[Node], start: int) -> Node:
    return node("orderedList", items, start=start)


def _table(row: list[list[Node]]) -> Node:
    def cells(kind: str) -> list[Node]:
        paragraphs = [node("paragraph", content) for content in row]
        return [node(kind, [each], align="right" if at else None) for at, each in enumerate(paragraphs)]

    return node("table", [node("tableRow", cells("tableHeader")), node("tableRow", cells("tableCell"))])


def documents() -> st.SearchStrategy[Node]:
    def containers(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return _with_items(st.lists(inner, min_size=1, max_size=3))

    blocks = st.recursive(leaves(), containers, max_leaves=8)
    return st.lists(blocks, min_size=1, max_size=4).map(lambda content: node("doc", content))


@cache
def examples(material: Path) -> dict[str, str]:
    """The examples of CommonMark and of GFM, by where they stand."""
    files = [material / "commonmark" / "spec-0.31.2.json", *sorted((material / "gfm").glob("*.json"))]
    found: dict[str, str] = {}
    for file in files:
        entries = json.loads(file.read_text(encoding="utf-8"))
        for number, entry in enumerate(entries):
            found[f"{file.stem} {number}"] = entry["markdown"]
    return found


@cache
def tree(material: Path) -> dict[str, str]:
    """The markdown files of a real tree."""
    [archive] = (material / "workspace-tree").glob("*.tar.gz")
    with tarfile.open(archive) as files:
        read = ((each.name, files.extractfile(each)) for each in files if each.isfile() and each.name.endswith(".md"))
        return {name: file.read().decode("utf-8") for name, file in read if file is not None}
