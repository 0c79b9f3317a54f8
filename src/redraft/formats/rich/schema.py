"""The schema of the rich-text editor's document: its node types, marks, and attributes.

TipTap's StarterKit with tables, task lists and inline images, with four differences that the browser's schema
(`web/src/rich/schema.ts`) has too: an item may begin with any block, code may be bold or a link, a code block keeps the
rest of its info line, a link its reference's label; plus `source` and `inlineSource` for markdown that nothing else
can show. A document here is ProseMirror's JSON: nested dictionaries. Nothing here reads markdown.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from redraft.formats.interrupt import check_interrupt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prosemirror.model import Schema

Node = dict[str, Any]
Mark = dict[str, Any]

# For each node type: its content, its group, the defaults of its attributes. Marks are in the order in which TipTap's
# extensions rank them, which is also the order of the marks of a text.
NODES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "doc": ("block+", "", {}),
    "paragraph": ("inline*", "block", {}),
    "text": ("", "inline", {}),
    "heading": ("inline*", "block", {"level": 1}),
    "bulletList": ("listItem+", "block", {}),
    "orderedList": ("listItem+", "block", {"start": 1, "type": None}),
    "listItem": ("block+", "", {}),
    "taskList": ("taskItem+", "block", {}),
    "taskItem": ("block+", "", {"checked": False}),
    "blockquote": ("block+", "block", {}),
    "codeBlock": ("text*", "block", {"language": None, "meta": None}),
    "horizontalRule": ("", "block", {}),
    "source": ("", "block", {"markdown": "", "kind": "html"}),
    "table": ("tableRow+", "block", {}),
    "tableRow": ("(tableCell | tableHeader)*", "", {}),
    "tableCell": ("block+", "", {"colspan": 1, "rowspan": 1, "colwidth": None, "align": None}),
    "tableHeader": ("block+", "", {"colspan": 1, "rowspan": 1, "colwidth": None, "align": None}),
    "hardBreak": ("", "inline", {}),
    "image": ("", "inline", {"src": None, "alt": None, "title": None, "width": None, "height": None, "label": None}),
    "inlineSource": ("", "inline", {"markdown": ""}),
}
MARKS: dict[str, dict[str, Any]] = {
    "link": {"href": None, "target": None, "rel": None, "class": None, "title": None, "label": None},
    "bold": {},
    "italic": {},
    "strike": {},
    "code": {},
}
RANKS = {name: rank for rank, name in enumerate(MARKS)}
TEXTBLOCKS = frozenset({"paragraph", "heading", "codeBlock"})
LISTS = frozenset({"bulletList", "orderedList", "taskList"})
ITEMS = frozenset({"listItem", "taskItem"})
# Attributes that the browser adds for display and that markdown cannot store.
_FOR_DISPLAY = frozenset({"target", "rel", "class", "colwidth"})


def node(kind: str, content: Iterable[Node] | None = None, /, **attrs: Any) -> Node:
    """A node, without default attributes and without empty content."""
    made: Node = {"type": kind}
    changed = {name: value for name, value in attrs.items() if value != NODES[kind][2].get(name)}
    if changed:
        made["attrs"] = changed
    if content := list(content or ()):
        made["content"] = content
    return made


def text(content: str, marks: Sequence[Mark] = ()) -> Node:
    made: Node = {"type": "text", "text": content}
    if marks:
        made["marks"] = list(marks)
    return made


def mark(kind: str, /, **attrs: Any) -> Mark:
    made: Mark = {"type": kind}
    changed = {name: value for name, value in attrs.items() if value != MARKS[kind].get(name)}
    if changed:
        made["attrs"] = changed
    return made


def attrs_of(shape: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a node or mark, including defaults."""
    kind: str = shape["type"]
    known = NODES[kind][2] if kind in NODES else MARKS.get(kind, {})
    return {**known, **(shape.get("attrs") or {})}


def content_of(shape: Mapping[str, Any]) -> list[Node]:
    return cast("list[Node]", shape.get("content") or [])


def content_key(shape: Node) -> str:
    """The content of a block as a key: two blocks with the same one say the same."""
    return json.dumps(content_of(shape), sort_keys=True)


def plain_text(shape: Node) -> str:
    """All the text of a node."""
    return shape.get("text") or "".join(map(plain_text, content_of(shape)))


def normal_form(shape: Node) -> Node:
    """The normal form of a node: no defaults, no display attributes, texts with the same marks joined. Documents with
    the same content are equal in it."""
    kind: str = shape["type"]
    if kind == "text":
        return text(shape["text"], sort_marks(shape.get("marks") or ()))
    check_interrupt()
    content = join_texts(map(normal_form, content_of(shape)))
    made = node(kind, content, **_pick_stored_attrs(shape)) if kind in NODES else _unknown(shape, content)
    if marks := sort_marks(shape.get("marks") or ()):
        made["marks"] = marks
    return made


def _unknown(shape: Node, content: list[Node]) -> Node:
    made: Node = {"type": shape["type"]}
    if shape.get("attrs"):
        made["attrs"] = shape["attrs"]
    if content:
        made["content"] = content
    return made


def _pick_stored_attrs(shape: Mapping[str, Any]) -> dict[str, Any]:
    attrs: dict[str, Any] = shape.get("attrs") or {}
    return {name: value for name, value in attrs.items() if name not in _FOR_DISPLAY}


def sort_marks(marks: Iterable[Mark]) -> list[Mark]:
    """Marks in the order of the schema, each kind once, as in ProseMirror."""
    found: dict[str, Mark] = {}
    for each in marks:
        kind: str = each["type"]
        made = mark(kind, **_pick_stored_attrs(each)) if kind in MARKS else each
        found.setdefault(kind, made)
    return sorted(found.values(), key=lambda each: RANKS.get(each["type"], len(RANKS)))


def join_texts(content: Iterable[Node]) -> list[Node]:
    """Join neighbouring texts with the same marks, and drop empty ones."""
    found: list[tuple[Node, list[str]]] = []  # joined at the end: a long paragraph has a text for each of its lines
    for each in content:
        if each["type"] != "text":
            found.append((each, []))
        elif found and found[-1][0]["type"] == "text" and found[-1][0].get("marks") == each.get("marks"):
            found[-1][1].append(each["text"])
        elif each["text"]:
            found.append((each, [each["text"]]))
    return [{**each, "text": "".join(texts)} if len(texts) > 1 else each for each, texts in found]


@cache
def schema() -> Schema[str, str]:
    """The same schema for ProseMirror's Python port, for steps and to validate documents."""
    from prosemirror.model import Schema

    return Schema(cast("Any", {"nodes": {name: node_spec(name) for name in NODES}, "marks": mark_specs()}))


def node_spec(name: str) -> dict[str, Any]:
    content, group, attrs = NODES[name]
    spec: dict[str, Any] = {"attrs": {each: {"default": default} for each, default in attrs.items()}}
    if content:
        spec["content"] = content
    if group:
        spec["group"] = group
    if group == "inline":
        spec["inline"] = True
    if name == "codeBlock":
        spec |= {"marks": "", "code": True}
    if name in ("heading", "listItem", "taskItem", "blockquote", "codeBlock"):
        spec["defining"] = True
    if name in ("table", "tableCell", "tableHeader"):
        spec["isolating"] = True
    return spec


def mark_specs() -> dict[str, dict[str, Any]]:
    return {
        name: {"attrs": {each: {"default": default} for each, default in attrs.items()}}
        for name, attrs in MARKS.items()
    }
