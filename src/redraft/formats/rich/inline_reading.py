"""The inside of a paragraph: markdown-it's inline tokens as texts with marks, images, breaks and kept source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from redraft.formats.rich.schema import Mark, Node, mark, node, sorted_marks, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from markdown_it.token import Token

_MARKS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_BREAK_TAG = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)


def inline_nodes(tokens: Sequence[Token], labels: Mapping[str, str], *, in_table: bool = False) -> Iterator[Node]:
    """The nodes; `labels` are those of the text's definitions, as they are written. In a table `<br>` is a break:
    there is no other way to write one."""
    marks: list[Mark] = []
    for number, token in enumerate(tokens):
        if token.type == "link_open" and tokens[number + 1].type == "link_close":
            yield _with(node("inlineSource", markdown=_empty_link(token, labels)), marks)
        if token.nesting == 1:
            marks.append(_mark(token, labels))
        elif token.nesting == -1:
            marks.pop()
        else:
            made = _leaf(token, labels, in_table=in_table)
            if made is not None:
                yield _with(made, [*marks, mark("code")] if token.type == "code_inline" else marks)


def _with(made: Node, marks: Sequence[Mark]) -> Node:
    return {**made, "marks": sorted_marks(marks)} if marks else made


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
    """What an image's description says, without its markup."""
    if token.type == "image":
        return "".join(map(_words, token.children or []))
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _empty_link(token: Token, labels: Mapping[str, str]) -> str:
    """A link without words, which no mark can show."""
    if label := _label(token, labels):
        return f"[][{label}]"
    title = token.attrs.get("title")
    return f"[](<{token.attrs.get('href', '')}>{f' {_quoted(str(title))}' if title else ''})"


def _quoted(title: str) -> str:
    return '"' + title.replace("\\", "\\\\").replace('"', '\\"') + '"'
