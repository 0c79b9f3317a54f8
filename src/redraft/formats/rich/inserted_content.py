"""The text to insert into a document, as nodes: plain text, markdown or simple HTML.

If the form is not given, a text with a tag that the schema knows is HTML, one with markup is markdown, and everything
else is plain. In plain text a newline ends the paragraph. Whatever the form, only what the schema has comes through; a
script becomes text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Literal

from redraft.formats.rich.parser import parse_nodes
from redraft.formats.rich.schema import (
    ITEMS,
    Mark,
    Node,
    attrs_of,
    content_of,
    join_texts,
    mark,
    node,
    sort_marks,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Simple HTML as nodes of the schema. Only what the schema has comes through: any other tag (a script, a style, a frame)
# becomes text, and of a known one only the attributes that the schema has are kept. An unsafe address (`javascript:`,
# `data:`) is dropped, and the words of its link stay.


_MARKS = {
    "strong": "bold", "b": "bold", "em": "italic", "i": "italic", "s": "strike", "del": "strike", "strike": "strike",
    "code": "code", "a": "link",
}  # fmt: skip
_BLOCKS = {
    "p": "paragraph", "div": "paragraph", "ul": "bulletList", "ol": "orderedList", "li": "listItem",
    "blockquote": "blockquote", "pre": "codeBlock", "table": "table", "tr": "tableRow", "th": "tableHeader",
    "td": "tableCell", **{f"h{level}": "heading" for level in range(1, 7)},
}  # fmt: skip
# Which tags an item, a row or a cell must be in, and which tags end it.
_WITHIN = {"li": ("ul", "ol"), "tr": ("table",), "td": ("tr",), "th": ("tr",)}
_SIBLINGS = {"li": ("li",), "tr": ("tr",), "td": ("td", "th"), "th": ("td", "th")}
_THROUGH = frozenset({"thead", "tbody", "span", "br", "hr", "img"})
KNOWN = frozenset((*_MARKS, *_BLOCKS, *_THROUGH))
LOOKS_LIKE = re.compile(rf"</?(?:{'|'.join(sorted(KNOWN, key=len, reverse=True))})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|mailto:|[#/.?]|[^:]*$)", re.IGNORECASE)
_TEXTBLOCK = ("paragraph", "heading", "codeBlock")
# Beyond this depth tags are text: nobody means such nesting, and every level costs a stack frame somewhere.
_DEEPEST = 30


def html_blocks(source: str) -> list[Node]:
    """The blocks of an HTML source."""
    reader = _HtmlReader()
    reader.feed(source)
    reader.close()
    return reader.finish()


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._root = node("doc")
        self._open: list[tuple[str, Node]] = [("", self._root)]
        self._marks: list[Mark] = []

    def set_cdata_mode(self, elem: str, **_: Any) -> None:
        """A script's content is text like any other, so that nothing in it can hide what follows."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in KNOWN or len(self._open) > _DEEPEST:
            self._say(self.get_starttag_text() or "")
        elif tag in _MARKS and not self._in_code():
            self._marks.append(_mark(tag, given))
        elif tag in _BLOCKS:
            self._begin(tag)
        elif tag == "br":
            self._add_inline(text("\n") if self._in_code() else node("hardBreak"))
        elif tag == "hr":
            self._close_textblock()
            self._content().append(node("horizontalRule"))
        elif tag == "img" and _ADDRESS.match(given.get("src", "")):
            image = node("image", src=given.get("src", ""), alt=given.get("alt") or None)
            self._add_inline(image)

    def handle_endtag(self, tag: str) -> None:
        if tag in _MARKS:
            wanted = _MARKS[tag]
            at = next((n for n in range(len(self._marks) - 1, -1, -1) if self._marks[n].get("for") == wanted), None)
            if at is not None:
                del self._marks[at]
        elif tag in _BLOCKS:
            while len(self._open) > 1 and any(name == tag for name, _ in self._open):
                if self._open.pop()[0] == tag:
                    break
        elif tag not in KNOWN:
            self._say(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._say(data if self._in_code() else re.sub(r"[ \t\r\n]*\n[ \t\r\n]*", " ", data))

    def handle_comment(self, data: str) -> None:
        self._say(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self._say(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self._say(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self._say(f"<![{data}]>")

    def finish(self) -> list[Node]:
        return [_repair(each) for each in self._root.get("content", []) if each.get("content") or _is_leaf(each)]

    def _content(self) -> list[Node]:
        return self._open[-1][1].setdefault("content", [])

    def _in_code(self) -> bool:
        return self._open[-1][1]["type"] == "codeBlock"

    def _begin(self, tag: str) -> None:
        self._close_textblock()
        self._close_sibling(tag)
        attrs: dict[str, Any] = {"level": int(tag[1])} if tag[0] == "h" else {}
        made = node(_BLOCKS[tag], **attrs)
        self._content().append(made)
        self._open.append((tag, made))

    def _close_sibling(self, tag: str) -> None:
        """An item, a row or a cell ends where the next one begins, whether or not its end tag is written."""
        within = _WITHIN.get(tag, ())
        open_tags = [name for name, _ in self._open]
        limit = max((at for at, name in enumerate(open_tags) if name in within), default=0)
        if within and any(name in _SIBLINGS[tag] for name in open_tags[limit + 1 :]):
            del self._open[limit + 1 :]

    def _close_textblock(self) -> None:
        if self._open[-1][1]["type"] in _TEXTBLOCK:
            self._open.pop()

    def _say(self, words: str) -> None:
        inside = self._open[-1][1]["type"] in _TEXTBLOCK
        if words and (inside or words.strip()):
            self._add_inline(text(words))

    def _add_inline(self, piece: Node) -> None:
        if self._open[-1][1]["type"] not in _TEXTBLOCK:
            made = node("paragraph")
            self._content().append(made)
            self._open.append(("", made))
        marks = sort_marks(each["mark"] for each in self._marks if each["mark"]) if not self._in_code() else []
        self._content().append({**piece, "marks": marks} if marks else piece)


def _mark(tag: str, given: dict[str, str]) -> dict[str, Any]:
    """An open tag: the kind that closes it, and its mark, if it is an allowed one."""
    kind = _MARKS[tag]
    if kind != "link":
        return {"for": kind, "mark": mark(kind)}
    href = re.sub(r"[\x00-\x20]", "", given.get("href", ""))
    safe = href and _ADDRESS.match(href)
    return {"for": kind, "mark": mark("link", href=href, title=given.get("title") or None) if safe else None}


def _is_leaf(shape: Node) -> bool:
    return shape["type"] == "horizontalRule"


def _repair(shape: Node) -> Node:
    """A node whose content the schema allows: a lone item gets a list, a lone cell becomes its content."""
    kind: str = shape["type"]
    if kind in _TEXTBLOCK or _is_leaf(shape):
        return {**shape, "content": join_texts(shape["content"])} if shape.get("content") else shape
    inner = [_repair(each) for each in shape.get("content", [])]
    if kind == "tableRow" or (kind == "table" and any(each["type"] != "tableRow" for each in inner)):
        inner = [each for each in inner if each["type"] in ("tableCell", "tableHeader", "tableRow")]
    if kind in ("bulletList", "orderedList"):
        inner = [each if each["type"] in ITEMS else node("listItem", [each]) for each in inner]
    if kind in ("blockquote", "listItem", "tableCell", "tableHeader"):
        inner = inner or [node("paragraph")]
    return {**shape, "content": inner}


Form = Literal["auto", "plain", "markdown", "html"]
_BREAK = re.compile(r"(?:\r\n?|\n){1,2}")


def paragraphs_of(words: str) -> list[Node]:
    """Plain text: one or two newlines separate paragraphs, as two do in the text of a document."""
    return [node("paragraph", [text(line)] if line else []) for line in _BREAK.split(words)]


def blocks_of(words: str, form: Form, references: dict[str, Any], *, begins_block: bool) -> list[Node]:
    """The blocks of `words`. Unless markdown is requested, a heading or a list counts only at the start of a block."""
    if form == "plain" or not words:
        return paragraphs_of(words)
    if form == "html" or (form == "auto" and LOOKS_LIKE.search(words)):
        return _restore_edges(words, html_blocks(words))
    if form == "markdown" or begins_block:
        found = [_escape_html(block) for block in parse_nodes(words, references)]
        if any(block["type"] != "paragraph" for block in found):
            return found
    lines = [_line(line, references) for line in _BREAK.split(words)]
    if form == "auto" and not any(_is_marked(line) for line in lines):
        return paragraphs_of(words)
    return lines


def _line(words: str, references: dict[str, Any]) -> Node:
    """One paragraph of markdown; the spaces around it stay, since it may go into the middle of another."""
    core = words.strip()
    found = [_escape_html(block) for block in parse_nodes(core, references)] if core else []
    if len(found) != 1 or found[0]["type"] != "paragraph":
        return paragraphs_of(words.replace("\r", " ").replace("\n", " "))[0]
    return _restore_edges(words, found)[0]


def _restore_edges(words: str, found: list[Node]) -> list[Node]:
    """Paragraphs with the spaces that were around their source."""
    if not found or found[0]["type"] != "paragraph" or found[-1]["type"] != "paragraph":
        return found
    lead = words[: len(words) - len(words.lstrip(" \t"))]
    trail = words[len(words.rstrip(" \t")) :]
    made = list(found)
    if lead:
        made[0] = node("paragraph", join_texts([text(lead), *content_of(made[0])]))
    if trail:
        made[-1] = node("paragraph", join_texts([*content_of(made[-1]), text(trail)]))
    return made


def _is_marked(paragraph: Node) -> bool:
    return any(each["type"] != "text" or each.get("marks") for each in content_of(paragraph))


def _escape_html(shape: Node) -> Node:
    """HTML in markdown as literal characters."""
    if shape["type"] == "source" and attrs_of(shape)["kind"] in ("html", "other"):
        return node("paragraph", [text(" ".join(attrs_of(shape)["markdown"].split("\n")))])
    if not content_of(shape):
        return shape
    return {**shape, "content": join_texts(_escape_inline_html(content_of(shape)))}


def _escape_inline_html(content: list[Node]) -> Iterator[Node]:
    for each in content:
        if each["type"] == "inlineSource" and attrs_of(each)["markdown"].startswith("<"):
            yield text(attrs_of(each)["markdown"], each.get("marks") or ())
        else:
            yield _escape_html(each)
