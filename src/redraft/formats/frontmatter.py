"""A document's frontmatter: the YAML between two lines of dashes at its very beginning.

A top-level field, or an entry of one that is a map, is read and changed in place, in both of YAML's styles: the rest of
the block (comments, blank lines, unknown keys, their order and their spelling) keeps its bytes, because it is never
parsed and written again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import adopt_newlines, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELD = (
    r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)[ \t]*"
    r"""(?P<value>"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*'|(?!\#)[^\r\n]*?)?"""
    r"[ \t]*(?:(?<=[ \t:])\#[^\r\n]*)?(?:[\r\n]|\Z)"
)
_PLAIN = r"[A-Za-z0-9_./+][\w./@+ -]*(?<! )"
_NOT_A_WORD = r"(?i:null|true|false|yes|no|on|off|y|n|~|[-+.\d][\d._eE:+-]*|0[xob][\da-f_]+)"
_UNREADABLE = object()
_NOTHING = ("", "~", "null", "Null", "NULL")


class _Field(NamedTuple):
    """Where a field is: its lines, and the value on the first of them. `folded` means that there are more. In a flow
    mapping it is only the key and the value."""

    key: str
    start: int
    end: int
    value_start: int
    value_end: int
    folded: bool


def fields(text: str) -> dict[str, str | None]:
    """The top-level fields with a scalar value; None for those that are null or hold more."""
    return {field.key: _value(text, field) for field in _fields(text)}


def items(text: str, key: str) -> list[str] | None:
    """The items of a list field, or its single value as one; None if it holds anything else."""
    found = next((field for field in _fields(text) if field.key == key), None)
    if found is None:
        return []
    value = _parse_value(text, found)
    listed: list[object] = cast("list[object]", value) if isinstance(value, list) else [] if value is None else [value]
    words = [item for item in listed if isinstance(item, str) and item.strip()]
    return words if len(words) == len(listed) else None


def entries(text: str, key: str) -> dict[str, str] | None:
    """The entries of a field that is a map of strings, without those that are null; None if it is anything else."""
    found = next((field for field in _fields(text) if field.key == key), None)
    value = None if found is None else _parse_value(text, found)
    if not isinstance(value, dict):
        return None
    table = cast("dict[object, object]", value)
    return {str(name): str(word) for name, word in table.items() if word is not None}


def set_entry(text: str, key: str, name: str, value: str) -> str:
    """The text with this entry of a field that is a map set; nothing else of it changes. A field that is none becomes
    the value."""
    field = next((field for field in _fields(text) if field.key == key), None)
    node = None if field is None else _compose(text[field.value_start : field.end])
    if field is None or node is None:
        return set_field(text, key, value)
    at, written = field.value_start, _to_yaml(value)
    for known, old in node.value:
        if known.value == name:
            start, end = at + old.start_mark.index, at + old.end_mark.index
            return text[:start] + (" " if text[start - 1] == ":" else "") + written + text[end:]
    if node.flow_style:
        return _add_to_flow(text, at + node.end_mark.index - 1, f"{_to_yaml(name)}: {written}")
    first, last = node.value[0][0], node.value[-1][1]
    is_empty = last.start_mark.index == last.end_mark.index
    stop = at + last.start_mark.index + len(split_lines(text[at + last.start_mark.index : field.end])[0])
    stop = stop if is_empty else field.end
    line = f"{' ' * first.start_mark.column}{_to_yaml(name)}: {written}\n"
    return text[:stop] + adopt_newlines(line, text[:stop]) + text[stop:]


def set_field(text: str, key: str, value: str) -> str:
    """The text with this field set. Only its own line changes; a new field is added last, in a new block if
    necessary."""
    written = _to_yaml(value)
    for field in reversed(list(_fields(text))):
        if field.key == key:
            return _replace_field(text, field, written)
    end = frontmatter_end(text)
    if not end:
        blank = "" if not text or text[0] in "\r\n" else "\n"
        return adopt_newlines(f"---\n{key}: {written}\n---\n{blank}", text) + text
    lines = split_lines(text[:end])
    at = end - len(lines[-1])
    if (node := _flow(text)) is not None:
        return _add_to_flow(text, len(lines[0]) + node.end_mark.index - 1, f"{key}: {written}")
    return text[:at] + adopt_newlines(f"{key}: {written}\n", text[:end]) + text[at:]


def remove_field(text: str, key: str) -> str:
    """The text without this field; unchanged if there is none."""
    for field in reversed(list(_fields(text))):
        if field.key == key:
            start, end = field.start, field.end
            if _flow(text) is not None:  # with the comma on one side
                comma = re.compile(r"\s*,[ \t]*").match(text, end)
                before = text[:start].rstrip()
                end = end if comma is None else comma.end()
                start = len(before) - 1 if comma is None and before.endswith(",") else start
            text = text[:start] + text[end:]
    return text


def _fields(text: str) -> Iterator[_Field]:
    first, *lines = split_lines(text[: frontmatter_end(text)])[:-1] or [""]
    at = len(first)
    if (node := _flow(text)) is not None:
        for known, value in node.value:
            start, end = at + value.start_mark.index, at + value.end_mark.index
            yield _Field(known.value, at + known.start_mark.index, end, start, end, folded=False)
        return
    pattern = re.compile(_FIELD)  # compiled here and cached by `re`: callers that only need its end do not pay for it
    for number, line in enumerate(lines):
        match = pattern.match(line)
        if match:
            more = _continuation(lines, number + 1)
            value = match.span("value") if match["value"] is not None else (match.end(), match.end())
            end = at + len(line) + sum(map(len, lines[number + 1 : number + 1 + more]))
            yield _Field(match["key"], at, end, at + value[0], at + value[1], more > 0)
        at += len(line)


def _continuation(lines: list[str], at: int) -> int:
    """How many of the following lines still belong to the field above: indented ones, and the items of a list."""
    last = 0
    for count, line in enumerate(lines[at:], 1):
        if line[0] in " \t-" and line.strip():
            last = count
        elif line.strip() and not line.startswith("#"):
            break
    return last


def _value(text: str, field: _Field) -> str | None:
    raw = text[field.value_start : field.value_end]
    if raw in _NOTHING and not field.folded:
        return None
    if not field.folded and raw[0] not in "\"'&*!|>[{%@`":
        return raw
    found = _parse_value(text, field)
    return None if found is None or found is _UNREADABLE or isinstance(found, dict | list) else str(found)


def _flow(text: str) -> Any:
    """The node of a frontmatter that is one flow mapping; None if it is not."""
    lines = split_lines(text[: frontmatter_end(text)])[1:-1]
    node = _compose("".join(lines)) if any(line.lstrip().startswith("{") for line in lines[:1]) else None
    return node if node is not None and node.flow_style else None


def _compose(source: str) -> Any:
    """The node of a map with scalar keys, with the offsets of its parts; None if the source is anything else."""
    import yaml

    try:
        node: Any = cast("Any", yaml).compose(source, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    if node is None or node.id != "mapping" or not node.value:
        return None
    return node if all(known.id == "scalar" for known, _ in node.value) else None


def _add_to_flow(text: str, end: int, entry: str) -> str:
    """The text with another entry before the brace at `end`."""
    before = text[:end].rstrip()
    gap = "" if before.endswith("{") else " " if before.endswith(",") else ", "
    return before + gap + entry + text[len(before) : end] + text[end:]


def _parse_value(text: str, field: _Field) -> object:
    import yaml

    try:
        return yaml.safe_load(text[field.value_start : field.end])
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        return _UNREADABLE  # a tag or a date that its text contradicts fails in many ways


def _replace_field(text: str, field: _Field, written: str) -> str:
    if not field.folded:
        blank = " " if text[field.value_start - 1] == ":" else ""
        return text[: field.value_start] + blank + written + text[field.value_end :]
    line = adopt_newlines(f"{field.key}: {written}\n", text[: field.end])
    return text[: field.start] + line + text[field.end :]


def _to_yaml(value: str) -> str:
    """A value in YAML: plain if it cannot be read as anything but a string."""
    if re.fullmatch(_PLAIN, value) and not re.fullmatch(_NOT_A_WORD, value):
        return value
    return '"' + "".join(map(_escape, value)) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08X}"
