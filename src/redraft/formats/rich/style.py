"""The markdown style of a text: its characters for bullets, emphasis, headings, fences, rules, breaks and tables.

A style is inferred from tokens by counting; if a place shows nothing, the whole text decides, and then the default. It
is used only for what has to be generated.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from redraft.formats.rich.syntax import markdown_parser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markdown_it.token import Token

Facts = Counter[tuple[str, Any]]
_WITHOUT_OUTER_PIPES = re.compile(r"[ \t]*[^|\s]")
_CLOSING_HASHES = re.compile(r"#+[ \t]+\S.*[ \t]#+[ \t]*$")


@dataclass(frozen=True, slots=True)
class Style:
    """One style. `gap` is the number of spaces after a list marker."""

    bullet: str = "-"
    gap: int = 1
    delimiter: str = "."
    counts_up: bool = True
    loose: bool = False
    emphasis: str = "*"
    strong: str = "**"
    setext: bool = False
    closing_hashes: bool = False
    fence: str = "```"
    indented_code: bool = False
    rule: str = "---"
    hard_break: str = "\\"
    outer_pipes: bool = True
    cell_padding: bool = True
    even_columns: bool = False


DEFAULT = Style()


def infer_style(near: Facts, wider: Facts | None = None) -> Style:
    """The style that the facts show: those of the place itself count first."""
    found: dict[str, Any] = {}
    for each in fields(Style):
        for facts in (near, wider or Counter()):
            counts = [(count, value) for (name, value), count in facts.items() if name == each.name]
            if counts:
                found[each.name] = max(counts, key=lambda pair: pair[0])[1]
                break
    return Style(**found)


def facts_in(source: str) -> Facts:
    """The style facts of a piece of markdown."""
    return facts_of(markdown_parser().parse(source), source.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def facts_of(tokens: Sequence[Token], lines: Sequence[str]) -> Facts:
    """The same, from existing tokens."""
    return Counter(_facts(tokens, lines))


def _facts(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[tuple[str, Any]]:
    number = ""
    for at, token in enumerate(tokens):
        start, end = token.map or (0, 0)
        line = lines[start] if start < len(lines) else ""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                yield "bullet" if token.tag == "ul" else "delimiter", token.markup
                yield "loose", _is_loose(tokens, at)
                number = ""
            case "list_item_open":
                yield from _item_facts(token, line)
                if token.info and number:
                    yield "counts_up", token.info != number
                number = token.info
            case "heading_open":
                yield from _heading_facts(token, line)
            case "table_open":
                yield from _table_facts(lines[start:end])
            case "inline":
                yield from _inline_facts(token)
            case _:
                yield from _leaf_facts(token, line)


def _leaf_facts(token: Token, line: str) -> Iterator[tuple[str, Any]]:
    if token.type == "fence":
        yield "fence", token.markup
        yield "indented_code", False
    elif token.type == "code_block":
        yield "indented_code", True
    elif token.type == "hr":
        yield "rule", line.strip() if token.level == 0 else token.markup


def _is_loose(tokens: Sequence[Token], at: int) -> bool:
    """Whether a list is loose: markdown-it hides the paragraphs of a tight one."""
    level = tokens[at].level
    for number in range(at + 1, len(tokens)):
        token = tokens[number]
        if token.level <= level:
            break
        if token.type == "paragraph_open" and token.level == level + 2:
            return not token.hidden
    return False


def _item_facts(token: Token, line: str) -> Iterator[tuple[str, Any]]:
    found = re.search(re.escape(f"{token.info}{token.markup}") + r"([ \t]+)\S", line)
    if found and "\t" not in found[1] and len(found[1]) < 5:
        yield "gap", len(found[1])


def _heading_facts(token: Token, line: str) -> Iterator[tuple[str, Any]]:
    if token.markup in ("=", "-"):
        yield "setext", True
    elif token.tag in ("h1", "h2"):
        yield "setext", False
    if token.markup.startswith("#"):
        yield "closing_hashes", bool(_CLOSING_HASHES.search(line))


def _table_facts(lines: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield "outer_pipes", not _WITHOUT_OUTER_PIPES.match(lines[0].lstrip("> \t"))
    yield "cell_padding", " |" in lines[0].strip("> \t") or "| " in lines[0].strip("> \t")
    ends = {tuple(found.start() for found in re.finditer(r"\|", line)) for line in lines}
    yield "even_columns", len(ends) == 1 and len({len(line.rstrip()) for line in lines}) == 1


def _inline_facts(token: Token) -> Iterator[tuple[str, Any]]:
    children: Iterable[Token] = token.children or ()
    for child in children:
        if child.type == "em_open":
            yield "emphasis", child.markup
        elif child.type == "strong_open":
            yield "strong", child.markup
        elif child.type == "hardbreak":
            yield "hard_break", "\\" if "\\\n" in token.content else "  "
