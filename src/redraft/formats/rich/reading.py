"""Markdown into a document of the rich editor, each block with the lines that it came from.

Nothing is lost on the way: what the schema cannot show becomes a `source` node that holds its markdown, also lines that
no rule of the grammar owned up to. Line numbers count from 0 and are half-open, in `text.lines`' sense of a line. A
line break within a paragraph is a blank in the document, as a browser shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.formats.frontmatter import frontmatter_end
from redraft.formats.rich.inline_reading import inline_nodes
from redraft.formats.rich.schema import Node, joined, node
from redraft.formats.rich.style import Facts, facts_of
from redraft.formats.rich.syntax import MAX_NESTING, markdown
from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

_TASK = re.compile(r"\[([ xX])\](?:[ \t\n]+|$)")
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*(?:\r\n?|\n)(?:(?!\+\+\+)[^\r\n]*(?:\r\n?|\n))*\+\+\+[ \t]*(?:\r\n?|\n|\Z)")
_ALIGN = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
# What a level of containers is allowed to cost before its outermost block is kept as source.
_DEEPEST = MAX_NESTING - 4


@dataclass(frozen=True, slots=True)
class Block:
    """A block and the lines that it came from. `inside` are the blocks that it holds, for lists their items, in the
    order of the node's content; tables keep their rows there."""

    node: Node
    start: int
    end: int
    inside: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A markdown text and its document. `references` are what links may refer to, by the normal form of the label;
    `facts` tell how the text writes."""

    text: str
    lines: list[str]
    blocks: tuple[Block, ...]
    references: dict[str, Any]
    facts: Facts

    @property
    def doc(self) -> Node:
        return node("doc", [block.node for block in self.blocks] or [node("paragraph")])


def parse(text: str, references: dict[str, Any] | None = None, *, piece: bool = False) -> Parsed:
    """The document of a markdown text, or of a piece from the middle of one, whose links may refer to `references`."""
    lines = split_lines(text)
    head = 0 if piece else head_end(text)
    start = len(split_lines(text[:head]))
    found = [_source(lines, 0, start, "frontmatter")] if head else []
    env = _environment(references or {})
    tokens = markdown().parse(text[head:].removeprefix("\ufeff"), env)
    found += _Reader(tokens, env, start, lines[start:]).blocks(0, len(tokens))
    known: dict[str, Any] = env["references"]
    for key, entry in known.items():
        entry["label"] = env["labels"].get(key, key)
    return Parsed(text, lines, tuple(_covering(found, lines)), known, facts_of(tokens, lines[start:]))


def _environment(references: dict[str, Any]) -> dict[str, Any]:
    return {"references": dict(references), "labels": {key: entry["label"] for key, entry in references.items()}}


def head_end(text: str) -> int:
    """Where the frontmatter ends, in YAML or TOML."""
    toml = _TOML.match(text)
    return toml.end() if toml else frontmatter_end(text)


def read_nodes(text: str, references: dict[str, Any]) -> list[Node]:
    """The blocks of a piece of a text."""
    return [block.node for block in parse(text, references, piece=True).blocks]


def _source(lines: Sequence[str], start: int, end: int, kind: str) -> Block:
    """Whole lines of the text as a block that is kept."""
    content = "\n".join(line.rstrip("\r\n") for line in lines[start:end]).removeprefix("\ufeff")
    return Block(node("source", markdown=content, kind=kind), start, end)


def _covering(blocks: list[Block], lines: list[str]) -> Iterator[Block]:
    """The blocks, and between them any line with words that none of them has."""
    at = 0
    for block in blocks:
        yield from _uncovered(lines, at, block.start)
        yield block
        at = max(at, block.end)
    yield from _uncovered(lines, at, len(lines))


def _uncovered(lines: list[str], start: int, end: int) -> Iterator[Block]:
    while start < end and not lines[start].strip("\ufeff \t\r\n"):
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start < end:
        yield _source(lines, start, end, "other")


class _Reader:
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

    def blocks(self, at: int, end: int) -> list[Block]:
        """The blocks of the tokens from `at` up to `end`."""
        found: list[Block] = []
        while at < end:
            stop = self._close(at)
            block = self._block(at, stop)
            if self._goes_on(found, block, at):
                block = self._grown(found.pop(), block)
            found.append(block)
            at = stop + 1
        return found

    def _goes_on(self, found: list[Block], block: Block, at: int) -> bool:
        """Whether a definition stands directly under another: they are one block."""
        both = bool(found) and self._tokens[at].type == "definition" and found[-1].end == block.start
        return both and found[-1].node.get("attrs", {}).get("kind") == "definition"

    @staticmethod
    def _grown(above: Block, below: Block) -> Block:
        content = above.node["attrs"]["markdown"] + "\n" + below.node["attrs"]["markdown"]
        return Block(node("source", markdown=content, kind="definition"), above.start, below.end)

    def _close(self, at: int) -> int:
        """The token that closes the one at `at`; itself where nothing has to."""
        if self._tokens[at].nesting != 1:
            return at
        level, stop = self._tokens[at].level, at + 1
        while self._tokens[stop].level != level:
            stop += 1
        return stop

    def _block(self, at: int, stop: int) -> Block:
        token = self._tokens[at]
        start, end = self._span(token)
        if token.level == 0 and any(each.level > _DEEPEST for each in self._tokens[at:stop]):
            return _source(["\n"] * self._first + self._lines, start, end, "other")
        inside: tuple[Block, ...] = ()
        match token.type:
            case "paragraph_open":
                made = node("paragraph", self._inline(at + 1))
            case "heading_open":
                made = node("heading", self._inline(at + 1), level=int(token.tag[1:]))
            case "blockquote_open":
                inside = tuple(self.blocks(at + 1, stop))
                made = node("blockquote", [block.node for block in inside] or [node("paragraph")])
            case "bullet_list_open" | "ordered_list_open":
                made, inside = self._list(at, stop)
            case "table_open":
                made, inside = self._table(at, stop)
            case _:
                made = self._leaf(token)
        return Block(made, start, end, inside)

    def _span(self, token: Token) -> tuple[int, int]:
        """The lines of a token without the blank ones at its end, unless it is code or HTML, whose own they may be."""
        start, end = token.map or (0, 0)
        if token.type not in ("fence", "html_block"):
            # Within a quotation a line is blank that holds only the quotation's own sign.
            blank = " \t\r\n>" if token.level else " \t\r\n"
            while end > start + 1 and not self._lines[end - 1].strip(blank):
                end -= 1
        return start + self._first, end + self._first

    def _leaf(self, token: Token) -> Node:
        from markdown_it.common.utils import unescapeAll  # start-up waits for every import

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
        return joined(inline_nodes(self._tokens[at].children or [], self._env["labels"], in_table=in_table))

    def _list(self, at: int, stop: int) -> tuple[Node, tuple[Block, ...]]:
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

    def _item(self, at: int, stop: int, *, task: bool) -> Block:
        inside = self.blocks(at + 1, stop)
        content = [block.node for block in inside] or [node("paragraph")]
        start, end = self._span(self._tokens[at])
        if not task:
            return Block(node("listItem", content), start, end, tuple(inside))
        box = _TASK.match(self._tokens[at + 2].content)
        words = content[0].get("content", [])
        first = _TASK.sub("", words[0]["text"] + " ", count=1).removesuffix(" ")
        content[0] = node("paragraph", [*([{**words[0], "text": first}] if first else []), *words[1:]])
        inside[0] = Block(content[0], inside[0].start, inside[0].end)
        checked = box is not None and box[1] != " "
        return Block(node("taskItem", content, checked=checked), start, end, tuple(inside))

    def _table(self, at: int, stop: int) -> tuple[Node, tuple[Block, ...]]:
        rows: list[Block] = []
        cells: list[Node] = []
        for number in range(at + 1, stop):
            token = self._tokens[number]
            if token.type == "tr_open":
                cells = []
            elif token.type in ("th_open", "td_open"):
                kind = "tableHeader" if token.type == "th_open" else "tableCell"
                align = _ALIGN.get(str(token.attrs.get("style", "")))
                paragraph = node("paragraph", self._inline(number + 1, in_table=True))
                cells.append(node(kind, [paragraph], align=align))
            elif token.type == "tr_close":
                opening = next(each for each in reversed(self._tokens[at:number]) if each.type == "tr_open")
                start, end = self._span(opening)
                rows.append(Block(node("tableRow", cells), start, end))
        return node("table", [row.node for row in rows]), tuple(rows)
