"""Parse markdown into a document of the rich editor, each block with its source lines.

Nothing is lost: what the schema cannot show becomes a `source` node with its markdown, including lines that no grammar
rule covered. Line numbers count from 0 and are half-open, with lines as in `text.lines`. A line break within a
paragraph is a space in the document, as in a browser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.formats.interrupt import check_interrupt
from redraft.formats.rich.schema import Mark, Node, join_texts, mark, node, sort_marks, text
from redraft.formats.rich.style import Facts, facts_of
from redraft.formats.rich.syntax import MAX_NESTING, markdown_parser
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.token import Token

# The content of a paragraph: markdown-it's inline tokens as texts with marks, images, breaks and source nodes.


_MARKS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_BREAK_TAG = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)


def inline_nodes(tokens: Sequence[Token], labels: Mapping[str, str], *, in_table: bool = False) -> Iterator[Node]:
    """The nodes; `labels` are those of the text's link definitions, as written. In a table `<br>` is a break: there is
    no other way to write one."""
    marks: list[Mark] = []
    for number, token in enumerate(tokens):
        if token.type == "link_open" and tokens[number + 1].type == "link_close":
            yield _add_marks(node("inlineSource", markdown=_empty_link(token, labels)), marks)
        if token.nesting == 1:
            marks.append(_mark(token, labels))
        elif token.nesting == -1:
            marks.pop()
        else:
            made = _leaf(token, labels, in_table=in_table)
            if made is not None:
                yield _add_marks(made, [*marks, mark("code")] if token.type == "code_inline" else marks)


def _add_marks(made: Node, marks: Sequence[Mark]) -> Node:
    return {**made, "marks": sort_marks(marks)} if marks else made


def _leaf(token: Token, labels: Mapping[str, str], *, in_table: bool) -> Node | None:
    match token.type:
        case "text" | "code_inline":
            return text(token.content) if token.content else None
        case "softbreak":
            return text(" ")
        case "hardbreak":
            return node("hardBreak")
        case "image":
            return _image(token, labels)
        case _:
            if in_table and _BREAK_TAG.fullmatch(token.content):
                return node("hardBreak")
            return node("inlineSource", markdown=token.content)


def _mark(token: Token, labels: Mapping[str, str]) -> Mark:
    if token.type != "link_open":
        return mark(_MARKS[token.type])
    href, title = token.attrs.get("href", ""), token.attrs.get("title")
    return mark("link", href=href, title=title or None, label=_label(token, labels))


def _label(token: Token, labels: Mapping[str, str]) -> str | None:
    meta: dict[str, Any] = token.meta or {}
    label = meta.get("label")
    return None if not label else labels.get(label, label)


def _image(token: Token, labels: Mapping[str, str]) -> Node:
    title = token.attrs.get("title")
    alt = "".join(map(_words, token.children or []))
    return node(
        "image", src=token.attrs.get("src", ""), alt=alt or None, title=title or None, label=_label(token, labels)
    )


def _words(token: Token) -> str:
    """An image's description, without its markup."""
    if token.type == "image":
        return "".join(map(_words, token.children or []))
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _empty_link(token: Token, labels: Mapping[str, str]) -> str:
    """A link without text, which no mark can show."""
    if label := _label(token, labels):
        return f"[][{label}]"
    title = token.attrs.get("title")
    return f"[](<{token.attrs.get('href', '')}>{f' {_quote_title(str(title))}' if title else ''})"


def _quote_title(title: str) -> str:
    return '"' + title.replace("\\", "\\\\").replace('"', '\\"') + '"'


_TASK = re.compile(r"\[([ xX])\](?:[ \t\n]+|$)")
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*(?:\r\n?|\n)(?:(?!\+\+\+)[^\r\n]*(?:\r\n?|\n))*\+\+\+[ \t]*(?:\r\n?|\n|\Z)")
_ALIGN = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
# The deepest nesting of containers before the outermost block is kept as source.
_DEEPEST = MAX_NESTING - 4


@dataclass(frozen=True, slots=True)
class RichBlock:
    """A block and its source lines. `inside` are the blocks in it, for lists their items, in the order of the node's
    content; for tables their rows. `words` is the inline markdown of a paragraph or heading."""

    node: Node
    start: int
    end: int
    inside: tuple[RichBlock, ...] = ()
    words: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A markdown text and its document. `references` are the link definitions, by normalised label; `facts` describe
    the style of the text. `piece` says that it is a part of a text and not its beginning."""

    text: str
    lines: list[str]
    blocks: tuple[RichBlock, ...]
    references: dict[str, Any]
    facts: Facts
    piece: bool = False

    @property
    def doc(self) -> Node:
        return node("doc", [block.node for block in self.blocks] or [node("paragraph")])


def parse(text: str, references: dict[str, Any] | None = None, *, piece: bool = False) -> ParsedDocument:
    """The document of a markdown text, or of a part of one, whose links may use `references`."""
    lines = split_lines(text)
    head = 0 if piece else head_end(text)
    start = len(split_lines(text[:head]))
    found = [_source(lines, 0, start, "frontmatter")] if head else []
    env = _environment(references or {})
    tokens = markdown_parser().parse(text[head:].removeprefix("\ufeff"), env)
    found += _BlockParser(tokens, env, start, lines[start:]).blocks(0, len(tokens))
    known: dict[str, Any] = env["references"]
    for key, entry in known.items():
        entry["label"] = env["labels"].get(key, key)
    facts = facts_of(tokens, lines[start:])
    return ParsedDocument(text, lines, tuple(_cover_lines(found, lines)), known, facts, piece)


def _environment(references: dict[str, Any]) -> dict[str, Any]:
    return {"references": dict(references), "labels": {key: entry["label"] for key, entry in references.items()}}


def head_end(text: str) -> int:
    """Where the frontmatter ends, in YAML or TOML."""
    toml = _TOML.match(text)
    return toml.end() if toml else frontmatter_end(text)


def parse_nodes(text: str, references: dict[str, Any]) -> list[Node]:
    """The blocks of a part of a text."""
    return [block.node for block in parse(text, references, piece=True).blocks]


def _source(lines: Sequence[str], start: int, end: int, kind: str) -> RichBlock:
    """Whole lines of the text as a source block."""
    content = "\n".join(line.rstrip("\r\n") for line in lines[start:end]).removeprefix("\ufeff")
    return RichBlock(node("source", markdown=content, kind=kind), start, end)


def _cover_lines(blocks: list[RichBlock], lines: list[str]) -> Iterator[RichBlock]:
    """The blocks, and between them any lines with text that no block covers."""
    at = 0
    for block in blocks:
        yield from _source_between(lines, at, block.start)
        yield block
        at = max(at, block.end)
    yield from _source_between(lines, at, len(lines))


def _source_between(lines: list[str], start: int, end: int) -> Iterator[RichBlock]:
    while start < end and not lines[start].strip("\ufeff \t\r\n"):
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start < end:
        yield _source(lines, start, end, "other")


class _BlockParser:
    """One pass over the tokens of a text."""

    def __init__(self, tokens: list[Token], env: dict[str, Any], first_line: int, lines: list[str]) -> None:
        self._tokens = tokens
        self._first = first_line
        self._lines = lines
        self._labels = {
            token.meta["id"]: token.meta["label"] for token in tokens if token.type == "definition" and token.meta
        }
        self._env = env
        env["labels"].update(self._labels)

    def blocks(self, at: int, end: int) -> list[RichBlock]:
        """The blocks of the tokens from `at` up to `end`."""
        found: list[RichBlock] = []
        while at < end:
            check_interrupt()
            stop = self._close(at)
            block = self._block(at, stop)
            if self._is_continuation(found, block, at):
                block = self._join_definitions(found.pop(), block)
            found.append(block)
            at = stop + 1
        return found

    def _is_continuation(self, found: list[RichBlock], block: RichBlock, at: int) -> bool:
        """Whether a definition is directly below another: they are one block."""
        both = bool(found) and self._tokens[at].type == "definition" and found[-1].end == block.start
        return both and found[-1].node.get("attrs", {}).get("kind") == "definition"

    @staticmethod
    def _join_definitions(above: RichBlock, below: RichBlock) -> RichBlock:
        content = above.node["attrs"]["markdown"] + "\n" + below.node["attrs"]["markdown"]
        return RichBlock(node("source", markdown=content, kind="definition"), above.start, below.end)

    def _close(self, at: int) -> int:
        """The token that closes the one at `at`; itself if none does."""
        if self._tokens[at].nesting != 1:
            return at
        level, stop = self._tokens[at].level, at + 1
        while self._tokens[stop].level != level:
            stop += 1
        return stop

    def _block(self, at: int, stop: int) -> RichBlock:
        token = self._tokens[at]
        start, end = self._span(token)
        if token.level == 0 and any(each.level > _DEEPEST for each in self._tokens[at:stop]):
            return _source(["\n"] * self._first + self._lines, start, end, "other")
        inside: tuple[RichBlock, ...] = ()
        words: str | None = None
        match token.type:
            case "paragraph_open":
                made, words = node("paragraph", self._inline(at + 1)), self._tokens[at + 1].content
            case "heading_open":
                made = node("heading", self._inline(at + 1), level=int(token.tag[1:]))
                words = self._tokens[at + 1].content
            case "blockquote_open":
                inside = tuple(self.blocks(at + 1, stop))
                made = node("blockquote", [block.node for block in inside] or [node("paragraph")])
            case "bullet_list_open" | "ordered_list_open":
                made, inside = self._list(at, stop)
            case "table_open":
                made, inside = self._table(at, stop)
            case _:
                made = self._leaf(token)
        return RichBlock(made, start, end, inside, words)

    def _span(self, token: Token) -> tuple[int, int]:
        """The lines of a token without trailing blank ones, except in code or HTML, where they may belong to it."""
        start, end = token.map or (0, 0)
        if token.type not in ("fence", "html_block"):
            # Within a quotation, a line with only the quotation's own marker is blank.
            blank = " \t\r\n>" if token.level else " \t\r\n"
            while end > start + 1 and not self._lines[end - 1].strip(blank):
                end -= 1
        return start + self._first, end + self._first

    def _leaf(self, token: Token) -> Node:
        from markdown_it.common.utils import unescapeAll  # imported here, because every import delays start-up

        if token.type in ("fence", "code_block"):
            language, _, meta = unescapeAll(token.info).strip().partition(" ")
            content = token.content.removesuffix("\n")
            inner = [{"type": "text", "text": content}] if content else []
            return node("codeBlock", inner, language=language or None, meta=meta.strip() or None)
        if token.type == "hr":
            return node("horizontalRule")
        kind = {"html_block": "html", "definition": "definition"}.get(token.type, token.info or "other")
        return node("source", markdown=token.content.rstrip("\n"), kind=kind)

    def _inline(self, at: int, *, in_table: bool = False) -> list[Node]:
        return join_texts(inline_nodes(self._tokens[at].children or [], self._env["labels"], in_table=in_table))

    def _list(self, at: int, stop: int) -> tuple[Node, tuple[RichBlock, ...]]:
        token = self._tokens[at]
        begins = [each for each in range(at + 1, stop) if self._is_item(each, token.level + 1)]
        ends = [*begins[1:], stop]
        tasks = token.type == "bullet_list_open" and all(map(self._is_task, begins))
        items = tuple(self._item(begin, end - 1, task=tasks) for begin, end in zip(begins, ends, strict=True))
        content = [item.node for item in items]
        if token.type == "ordered_list_open":
            return node("orderedList", content, start=int(token.attrs.get("start", 1))), items
        return node("taskList" if tasks else "bulletList", content), items

    def _is_item(self, at: int, level: int) -> bool:
        return self._tokens[at].type == "list_item_open" and self._tokens[at].level == level

    def _is_task(self, at: int) -> bool:
        if self._tokens[at + 1].type != "paragraph_open":
            return False
        inline = self._tokens[at + 2]
        first = (inline.children or [None])[0]
        return bool(_TASK.match(inline.content)) and first is not None and first.type == "text"

    def _item(self, at: int, stop: int, *, task: bool) -> RichBlock:
        inside = self.blocks(at + 1, stop)
        content = [block.node for block in inside] or [node("paragraph")]
        start, end = self._span(self._tokens[at])
        if not task:
            return RichBlock(node("listItem", content), start, end, tuple(inside))
        box = _TASK.match(self._tokens[at + 2].content)
        words = content[0].get("content", [])
        first = _TASK.sub("", words[0]["text"] + " ", count=1).removesuffix(" ")
        content[0] = node("paragraph", [*([{**words[0], "text": first}] if first else []), *words[1:]])
        rest = _TASK.sub("", inside[0].words or "", count=1)
        inside[0] = RichBlock(content[0], inside[0].start, inside[0].end, words=rest)
        checked = box is not None and box[1] != " "
        return RichBlock(node("taskItem", content, checked=checked), start, end, tuple(inside))

    def _table(self, at: int, stop: int) -> tuple[Node, tuple[RichBlock, ...]]:
        rows: list[RichBlock] = []
        cells: list[Node] = []
        opening = self._tokens[at]
        for number in range(at + 1, stop):
            token = self._tokens[number]
            if token.type == "tr_open":
                check_interrupt()
                opening, cells = token, []
            elif token.type in ("th_open", "td_open"):
                kind = "tableHeader" if token.type == "th_open" else "tableCell"
                align = _ALIGN.get(str(token.attrs.get("style", "")))
                paragraph = node("paragraph", self._inline(number + 1, in_table=True))
                cells.append(node(kind, [paragraph], align=align))
            elif token.type == "tr_close":
                start, end = self._span(opening)
                rows.append(RichBlock(node("tableRow", cells), start, end))
        return node("table", [row.node for row in rows]), tuple(rows)
