"""Documents of other TipTap editors: our schema plus the node types and marks that a document uses and ours lacks. What
they allow is inferred from where they occur; their meaning is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused
from redraft.formats.rich.positions import is_textblock
from redraft.formats.rich.schema import MARKS, NODES, Node, content_of, mark_specs, node_spec, schema

if TYPE_CHECKING:
    from prosemirror.model import Schema

_DEEPEST = 200
_LARGEST = 1_000_000_000


@dataclass(slots=True)
class _Unknown:
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    marks: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


def schema_for(doc: Node) -> Schema[str, str]:
    """Our schema, or an extended one with what `doc` needs."""
    unknown = _Unknown()
    _collect_unknown(doc, unknown, inline=False, depth=0)
    if not unknown.nodes and not unknown.marks:
        return schema()
    from prosemirror.model import Schema

    nodes = {**{name: node_spec(name) for name in NODES}, **unknown.nodes}
    return Schema(cast("Any", {"nodes": nodes, "marks": {**mark_specs(), **unknown.marks}}))


def check_document(value: object, *, strict: bool = False) -> Node:
    """A document as JSON; refused if it is none, or if `strict` and it does not fit the schema."""
    if not isinstance(value, dict) or cast("Node", value).get("type") != "doc":
        raise Refused("This is not a ProseMirror document: it must be an object whose `type` is `doc`.", field="doc")
    doc = cast("Node", value)
    _check_node(doc, 0)
    if strict and content_of(doc):
        from prosemirror.model import Node as ModelNode

        try:
            ModelNode.from_json(schema_for(doc), doc).check()
        except ValueError as error:
            raise Refused(f"The document does not match the schema: {error}.", field="doc") from error
    return doc


def _check_node(shape: object, depth: int) -> None:
    if depth > _DEEPEST:
        raise Refused(f"A document may be nested at most {_DEEPEST} deep.", code="too_large")
    kind = _check_shape(shape)
    given = cast("Node", shape)
    content: object = given.get("content") or []
    marks: object = given.get("marks") or []
    if not isinstance(content, list) or not isinstance(marks, list):
        raise Refused("A node's `content` and `marks` must be lists.", field="doc")
    if (kind == "text") != isinstance(given.get("text"), str):
        raise Refused("Only a text node can have a `text`.", field="doc")
    if kind == "text":
        _check_text(given["text"])
    for each in cast("list[object]", marks):
        _check_shape(each)
    for each in cast("list[object]", content):
        _check_node(each, depth + 1)


def _check_shape(shape: object) -> str:
    """What nodes and marks have in common: a type, and attributes; known ones must have the right type."""
    if not isinstance(shape, dict) or not isinstance(cast("Node", shape).get("type"), str):
        raise Refused("A node or mark must be an object with a `type`.", field="doc")
    given = cast("Node", shape)
    kind: str = given["type"]
    attrs: object = given.get("attrs") or {}
    if not isinstance(attrs, dict):
        raise Refused("The `attrs` of a node or mark must be an object.", field="doc")
    known = NODES[kind][2] if kind in NODES else MARKS.get(kind, {})
    for name, value in cast("dict[str, Any]", attrs).items():
        if name in known and not _has_kind(known[name], value):
            raise Refused(f"The attribute `{name}` of {kind} has the wrong type.", field="doc")
        if isinstance(value, str) and value:
            _check_text(value)
    return kind


def _has_kind(default: Any, value: Any) -> bool:
    """Whether an attribute has the type of its default; if that is None, a text or a small value is accepted."""
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int):
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST
    if isinstance(default, str):
        return isinstance(value, str)
    return value is None or isinstance(value, str | int | float | list)


def _check_text(words: str) -> None:
    if not words:
        raise Refused("A text node may not be empty.", field="doc")
    if not words.isascii() and any("\ud800" <= character <= "\udfff" for character in words):
        raise Refused("A text contains an unpaired surrogate.", code="invalid_text", field="doc")


def _collect_unknown(shape: Node, unknown: _Unknown, *, inline: bool, depth: int) -> None:
    kind: str = shape["type"]
    attrs = _declare_attrs(shape)
    if kind == "image" and not inline:  # TipTap's default
        unknown.nodes[kind] = {"group": "block", "attrs": {**node_spec(kind)["attrs"], **attrs}}
    elif kind not in NODES:
        spec = unknown.nodes.setdefault(kind, {"attrs": {}})
        spec["attrs"] |= attrs
        spec["group"] = "inline" if inline else "block"
        if inline:
            spec["inline"] = True
        if content_of(shape):
            spec["content"] = "inline*" if is_textblock(shape) else _any_of(shape, spec.get("content", ""))
    for each in shape.get("marks") or ():
        if each["type"] not in MARKS:
            spec = unknown.marks.setdefault(each["type"], {"attrs": {}})
            spec["attrs"] |= _declare_attrs(each)
    for child in content_of(shape):
        _collect_unknown(child, unknown, inline=is_textblock(shape), depth=depth + 1)


def _declare_attrs(shape: Node) -> dict[str, Any]:
    """The attributes of a node or mark, as a schema declares them."""
    return {name: {"default": None} for name in cast("dict[str, Any]", shape.get("attrs") or {})}


def _any_of(shape: Node, before: str) -> str:
    """A content expression that allows everything seen in such a node."""
    seen = {child["type"] for child in content_of(shape)} | set(before.strip("()*").split(" | "))
    return f"({' | '.join(sorted(seen - {''}))})*"
