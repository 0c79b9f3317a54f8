"""Set values of a TOML text in place: comments, blank lines and all other lines stay as they are. Pure.

Only what people write in settings is supported: plain keys on a line of their own, at the start of the text or below a
`[table]`. The result is checked by parsing it; if it is not as it should be, nothing is guessed.
"""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    Value = str | int | bool

_HEADER = re.compile(r"[ \t]*\[\[?[^\[\]]+\]\]?[ \t]*(?:#.*)?$")
_SCALAR = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s#\"'\[{][^\s#]*"


def set_values(text: str, values: Mapping[str, Value]) -> str:
    """The text with these values, named `key` or `table.key`; raises `Refused` if they cannot be set in place."""
    wanted = tomllib.loads(text)
    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", text)  # other line breaks may be part of a value
    for name, value in values.items():
        table, _, key = name.rpartition(".")
        _put(_inner(wanted, table), key, value)
        _set(lines, table, key, value, "\r\n" if "\r\n" in text else "\n")
    made = "".join(lines)
    try:
        found = tomllib.loads(made)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise Refused(f"{', '.join(values)}: set in a way that cannot be changed here; edit the file itself.")
    return made


def remove_table(text: str, table: str) -> str:
    """The text without the `[table]` of this name; raises `Refused` if it cannot be removed in place."""
    wanted = tomllib.loads(text)
    outer, _, key = table.rpartition(".")
    inner = _inner(wanted, outer)
    inner.pop(key, None)
    if outer and not inner:
        wanted.pop(outer, None)
    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", text)
    begin, end = _region(lines, table)
    if begin >= 0:
        # Comments that follow the last value belong to the next table.
        last = next((at + 1 for at in range(end - 1, begin - 1, -1) if not _is_blank_or_comment(lines[at])), begin)
        while last < end and not lines[last].strip():
            last += 1
        del lines[begin - 1 : last]
    made = "".join(lines)
    if tomllib.loads(made) != wanted:
        raise Refused(f"{table} is set in a way that cannot be changed here; edit the file itself.")
    return made


def _inner(table: dict[str, Any], names: str) -> dict[str, Any]:
    """The table of this dotted name inside another, made if it is missing."""
    for name in names.split(".") if names else ():
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise Refused(f"{name} is not a table.", field=name)
        table = cast("dict[str, Any]", inner)
    return table


def _put(table: object, key: str, value: Value) -> None:
    if not isinstance(table, dict):
        raise Refused(f"{key} belongs to something that is not a table.", field=key)
    cast("dict[str, object]", table)[key] = value


def _set(lines: list[str], table: str, key: str, value: Value, newline: str) -> None:
    begin, end = _region(lines, table)
    if begin < 0:
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += newline
        lines += [newline] * bool(lines) + [f"[{table}]{newline}", f"{key} = {_to_toml(value)}{newline}"]
        return
    pattern = re.compile(rf"([ \t]*(?:{re.escape(key)}|\"{re.escape(key)}\")[ \t]*=[ \t]*)(?:{_SCALAR})")
    for at in range(begin, end):
        if match := pattern.match(lines[at]):
            lines[at] = match.group(1) + _to_toml(value) + lines[at][match.end() :]
            return
    # After the last value: blank lines and comments that follow belong to the next table.
    at = next((at + 1 for at in range(end - 1, begin - 1, -1) if not _is_blank_or_comment(lines[at])), begin)
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += newline
    lines.insert(at, f"{key} = {_to_toml(value)}{newline}")


def _region(lines: list[str], table: str) -> tuple[int, int]:
    """The lines that may contain a table's keys; -1 if there is no such table."""
    headers = [at for at, line in enumerate(lines) if _HEADER.match(line.rstrip("\r\n"))]
    if not table:
        return 0, headers[0] if headers else len(lines)
    own = re.compile(rf"[ \t]*\[[ \t]*(?:{re.escape(table)}|\"{re.escape(table)}\")[ \t]*\]")
    for at, following in pairwise([*headers, len(lines)]):
        if own.match(lines[at]):
            return at + 1, following
    return -1, -1


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _to_toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _quote(value)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match.group()):04x}", escaped) + '"'
