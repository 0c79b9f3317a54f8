"""What a tool takes and returns, as types: they are turned into JSON Schema, and a model's arguments checked by them.

Dataclasses define what a tool takes, typed dictionaries what it returns. A field's `Field` has its description for a
model, its bounds and its aliases. Only the types that tools use are supported; any other type is a mistake in a tool
and raises `TypeError`.

Models misspell: another name for a field, camel case, a number or a list written as a string. That is accepted
if it is unambiguous; everything else is refused with the name of the field and what it should be, and an unknown field
with the nearest known one. Nothing is ever dropped silently.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    NotRequired,
    Required,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from redraft.errors import Refused
from redraft.text.text import check_unicode

T = TypeVar("T")

PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
MAX_DEPTH = 16
# The range that every JSON parser returns exactly.
MAX_INTEGER = 2**53 - 1
_INTEGER = re.compile(r"-?[0-9]{1,16}")
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Field:
    """The description of a field, and its aliases. Bounds are inclusive; those of a list are of its length, which the
    tool checks.

    `name` is what callers call it if that is a keyword in Python. `checked` is False if the tool checks the bounds
    itself, because its specification defines an answer of its own.
    """

    text: str
    aliases: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    name: str = ""
    checked: bool = True


class Parameter(NamedTuple):
    """One field of what a tool takes: `attribute` in Python, `name` for callers."""

    name: str
    attribute: str
    kind: Any
    field: Field
    required: bool
    default: Any


@cache
def parameters(takes: type) -> tuple[Parameter, ...]:
    """The fields of an input dataclass, in order."""
    hints = get_type_hints(takes, include_extras=True)
    found: list[Parameter] = []
    for entry in fields(takes):
        kind, says = unwrap(hints[entry.name])
        required = entry.default is MISSING and entry.default_factory is MISSING
        default = None if entry.default is MISSING else entry.default
        found.append(Parameter(says.name or entry.name, entry.name, kind, says, required, default))
    return tuple(found)


def unwrap(kind: Any) -> tuple[Any, Field]:
    """A type without its `Field`."""
    if get_origin(kind) is Annotated:
        inner, *notes = get_args(kind)
        says = next((note for note in notes if isinstance(note, Field)), Field(""))
        return inner, says
    return kind, Field("")


def without_none(kind: Any) -> Any:
    """`X` for `X | None`: a null argument counts as omitted."""
    if get_origin(kind) in (Union, UnionType):
        rest = [option for option in get_args(kind) if option is not NoneType]
        return rest[0] if len(rest) == 1 else Union[tuple(rest)]  # noqa: UP007 - the options are only known at run time
    return kind


@cache
def input_schema(takes: type) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    properties = {entry.name: _property(entry) for entry in parameters(takes)}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [entry.name for entry in parameters(takes) if entry.required]
    if required:
        schema["required"] = required
    return schema


@cache
def output_schema(gives: type) -> dict[str, Any]:
    """The schema of a tool's answer."""
    return schema_of(gives)


def _property(entry: Parameter) -> dict[str, Any]:
    schema = schema_of(without_none(entry.kind))
    if entry.field.text:
        schema["description"] = entry.field.text
    low, high = ("minItems", "maxItems") if schema.get("type") == "array" else ("minimum", "maximum")
    if entry.field.minimum is not None:
        schema[low] = entry.field.minimum
    if entry.field.maximum is not None:
        schema[high] = entry.field.maximum
    if entry.default is not None and entry.default != ():
        schema["default"] = entry.default
    return schema


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of any type that tools use."""
    kind, says = unwrap(kind)
    schema = _schema_of(kind)
    return {**schema, "description": says.text} if says.text else schema


def _schema_of(kind: Any) -> dict[str, Any]:
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if kind is Any:
        return {}
    if hasattr(kind, "__required_keys__"):  # a typed dictionary, of `typing` or `typing_extensions`
        return _dictionary(kind)
    if is_dataclass(kind):
        return dict(input_schema(kind))  # pyright: ignore[reportArgumentType] - a type here, never an instance
    return _compound_schema(kind)


def _compound_schema(kind: Any) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (list, tuple):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if origin in (Union, UnionType):
        return _union_schema([schema_of(option) for option in inner])
    raise TypeError(f"tools do not speak of {kind!r}")


def _union_schema(options: list[dict[str, Any]]) -> dict[str, Any]:
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def _dictionary(kind: Any) -> dict[str, Any]:
    # An answer may gain fields: its schema must not forbid others.
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        inner = get_args(hint)[0] if get_origin(hint) in (NotRequired, Required) else hint
        properties[name] = schema_of(inner)
        if not optional:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


# Arguments, validated and converted to the dataclass that a tool takes.


def parse(takes: type[T], arguments: dict[str, Any]) -> T:
    """The arguments as the tool takes them; raises `invalid_argument` for the first that is wrong."""
    check_plain(arguments)
    return _record(takes, arguments, "")


def check_plain(value: Any, depth: int = 0) -> None:
    """Refuse what is not JSON, is nested excessively, or contains text that could not be sent on."""
    if depth > MAX_DEPTH:
        raise Refused(f"Arguments may be nested at most {MAX_DEPTH} deep.")
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str):
                raise Refused(f"An argument's name must be a string, not {key!a}.")
            check_plain(key, depth + 1)
            check_plain(inner, depth + 1)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            check_plain(inner, depth + 1)
    elif isinstance(value, str):
        check_unicode(value)
    elif not (value is None or isinstance(value, bool | int | float)):
        raise Refused(f"Arguments must be JSON values, not {type(value).__name__}.")


def _record(takes: type[T], given: dict[str, Any], within: str) -> T:
    known = parameters(takes)
    named = _resolve_names(known, given, within)
    values: dict[str, Any] = {}
    for entry in known:
        value = named.get(entry.name)
        if value is None:
            if entry.required:
                _refuse(within + entry.name, "is missing")
            continue
        values[entry.attribute] = _check_bounds(
            entry, _value(without_none(entry.kind), value, within + entry.name), within
        )
    return takes(**values)


def _resolve_names(known: tuple[Parameter, ...], given: dict[str, Any], within: str) -> dict[str, Any]:
    """The arguments under the tool's own names."""
    names = {alias: entry.name for entry in known for alias in (entry.name, *entry.field.aliases)}
    found: dict[str, Any] = {}
    for raw, value in given.items():
        name = names.get(raw) or names.get(_HUMP.sub(r"_\1", raw).lower())
        if name is None:
            near = get_close_matches(raw[:100], names, n=1)
            hint = f"did you mean `{names[near[0]]}`?" if near else f"known are {', '.join(e.name for e in known)}."
            _refuse(within + raw[:100], f"is unknown: {hint if known else 'this takes no arguments.'}")
        if name in found and found[name] != value:
            _refuse(within + name, f"is given twice, also as `{raw}`, with different values")
        found[name] = value
    return found


def _check_bounds(entry: Parameter, value: Any, within: str) -> Any:
    if not entry.field.checked:
        return value
    low, high = entry.field.minimum, entry.field.maximum
    if isinstance(value, int) and low is not None and value < low:
        _refuse(within + entry.name, f"must be at least {low}")
    if isinstance(value, int) and high is not None and value > high:
        _refuse(within + entry.name, f"must be at most {high}")
    return value


def _value(kind: Any, value: Any, field: str) -> Any:
    """A value of the wanted type."""
    if kind is str:
        return value if isinstance(value, str) else _refuse_type(field, "text", value)
    if kind is bool:
        return _boolean(value, field)
    if kind is int:
        return _integer(value, field)
    if get_origin(kind) is Literal:
        return _choice(get_args(kind), value, field)
    if isinstance(value, str):
        value = _parse_embedded_json(value)
    if kind == dict[str, Any]:
        return _object(value, field)
    if is_dataclass(kind):
        return _record(cast("type[Any]", kind), _object(value, field), f"{field}.")
    return _sequence(get_args(kind)[0], value, field)


def _object(value: Any, field: str) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else _refuse_type(field, "an object", value)


def _sequence(kind: Any, value: Any, field: str) -> tuple[Any, ...]:
    if isinstance(value, str) and kind is str:
        return (value,)  # one value where several are allowed
    if isinstance(value, dict) and is_dataclass(kind):
        value = [value]
    if not isinstance(value, list):
        _refuse_type(field, "a list", value)
    return tuple(_value(kind, item, f"{field}[{at}]") for at, item in enumerate(cast("list[Any]", value)))


def _parse_embedded_json(value: str) -> Any:
    """An object or a list that was sent as JSON text."""
    if value[:1] not in ("{", "["):
        return value
    try:
        found = json.loads(value)
        check_plain(found)
    except (ValueError, RecursionError, Refused):
        return value
    return found


def _boolean(value: Any, field: str) -> bool:
    if isinstance(value, str):
        value = _BOOLEANS.get(value.lower(), value)
    return value if isinstance(value, bool) else _refuse_type(field, "true or false", value)


def _integer(value: Any, field: str) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > MAX_INTEGER:
        _refuse_type(field, "a whole number", value)
    return value


def _choice(options: tuple[str, ...], value: Any, field: str) -> str:
    if isinstance(value, str):
        for option in options:
            if value.lower().replace("_", "-") == option.replace("_", "-"):
                return option
    return _refuse_type(field, f"one of {', '.join(options)}", value)


def _refuse_type(field: str, wanted: str, value: Any) -> NoReturn:
    shown = f"{value!a}"
    _refuse(field, f"must be {wanted}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")


def _refuse(field: str, fault: str) -> NoReturn:
    end = "" if fault[-1] in ".?" else "."
    raise Refused(f"`{field}` {fault}{end}", field=field)
