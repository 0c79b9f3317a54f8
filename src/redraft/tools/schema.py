"""JSON Schema from our own types: dataclasses for what a tool takes, typed dictionaries for what it gives.

A field's `Field` is its description for a model, its bounds and the other names that models give it. Only what the
tools use is known here; any other type is a mistake in a tool and raises `TypeError`. Nothing here looks at values:
that is `arguments`.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


@dataclass(frozen=True, slots=True)
class Field:
    """What a field is for, and how else it may be called. Bounds are inclusive.

    `name` is what callers call it where Python keeps the word for itself. `checked` is False where the tool judges its
    bounds itself, because its specification has an answer of its own for them.
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
    """`X` for `X | None`: an argument that is null was left out."""
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
    if entry.field.minimum is not None:
        schema["minimum"] = entry.field.minimum
    if entry.field.maximum is not None:
        schema["maximum"] = entry.field.maximum
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
    if is_typeddict(kind):
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
        return _choice([schema_of(option) for option in inner])
    raise TypeError(f"tools do not speak of {kind!r}")


def _choice(options: list[dict[str, Any]]) -> dict[str, Any]:
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def _dictionary(kind: Any) -> dict[str, Any]:
    # An answer may gain fields: whoever reads it must not be told that there are no others.
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        inner = get_args(hint)[0] if get_origin(hint) in (NotRequired, Required) else hint
        properties[name] = schema_of(inner)
        if not optional:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}
