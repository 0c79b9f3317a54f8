"""An answer in JSON: parsed and validated against its schema, or refused with a message for the model."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, cast

from redraft.providers.contract import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from redraft.providers.contract import StepRequest

# Validate a JSON value against a JSON Schema, with error messages for a model.
#
# It supports the part of the standard (2020-12) that tools and our own prompts use: types, properties, items, choices,
# constants, bounds and references within the schema. Other keywords are ignored, so validation is never stricter than
# the schema. Nothing is changed, filled in or coerced.


MAX_VIOLATIONS = 10
_MAX_DEPTH = 64


def violations(value: object, schema: object) -> list[str]:
    """What is wrong with a value: `place: what was expected`. Empty if it is valid; at most `MAX_VIOLATIONS`
    entries."""
    found: list[str] = []
    for complaint in _check(value, schema, "answer", schema, 0):
        found.append(complaint)
        if len(found) == MAX_VIOLATIONS:
            break
    return found


def _check(value: object, schema: object, place: str, root: object, depth: int) -> Iterator[str]:
    if isinstance(schema, bool):
        if not schema:
            yield f"{place}: must not be present"
        return
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    rules = cast("dict[str, Any]", schema)
    if isinstance(reference := rules.get("$ref"), str):
        yield from _check(value, _resolve(reference, root), place, root, depth + 1)
    yield from _check_plain(value, rules, place)
    yield from _check_choices(value, rules, place, root, depth)
    if isinstance(value, dict):
        yield from _check_object(cast("dict[str, object]", value), rules, place, root, depth)
    elif isinstance(value, list):
        yield from _check_array(cast("list[object]", value), rules, place, root, depth)


def _resolve(reference: str, root: object) -> object:
    node = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part:
            name = part.replace("~1", "/").replace("~0", "~")
            node = cast("dict[str, object]", node).get(name) if isinstance(node, dict) else None
    return node


_TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
}


def _check_plain(value: object, rules: dict[str, Any], place: str) -> Iterator[str]:
    wanted = rules.get("type")
    names = cast("list[str]", wanted if isinstance(wanted, list) else [wanted] if isinstance(wanted, str) else [])
    if names and not any(_TYPES.get(name, _anything)(value) for name in names):
        yield f"{place}: must be {' or '.join(names)}"
        return
    if isinstance(options := rules.get("enum"), list):
        listed = cast("list[object]", options)
        if not any(is_equal_json(value, option) for option in listed):
            yield f"{place}: must be one of {json.dumps(listed, ensure_ascii=False)}"
    if "const" in rules and not is_equal_json(value, rules["const"]):
        yield f"{place}: must be {json.dumps(rules['const'], ensure_ascii=False)}"
    yield from _check_bounds(value, rules, place)


def _anything(_: object) -> bool:
    return True


def is_equal_json(one: object, other: object) -> bool:
    """Equality as in JSON: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[object]", one), cast("list[object]", other)
        return len(left) == len(right) and all(map(is_equal_json, left, right))
    if isinstance(one, dict) and isinstance(other, dict):
        mine, theirs = cast("dict[str, object]", one), cast("dict[str, object]", other)
        return mine.keys() == theirs.keys() and all(is_equal_json(mine[key], theirs[key]) for key in mine)
    return one == other


def _check_bounds(value: object, rules: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        if "minimum" in rules and value < rules["minimum"]:
            yield f"{place}: must be at least {rules['minimum']}"
        if "maximum" in rules and value > rules["maximum"]:
            yield f"{place}: must be at most {rules['maximum']}"
        return
    for kind, suffix, unit in (
        (str, "Length", "characters"),
        (list, "Items", "entries"),
        (dict, "Properties", "names"),
    ):
        if isinstance(value, kind):
            size = len(cast("str", value))
            if size < rules.get(f"min{suffix}", 0):
                yield f"{place}: must have at least {rules[f'min{suffix}']} {unit}"
            if f"max{suffix}" in rules and size > rules[f"max{suffix}"]:
                yield f"{place}: must have at most {rules[f'max{suffix}']} {unit}"


def _check_choices(value: object, rules: dict[str, Any], place: str, root: object, depth: int) -> Iterator[str]:
    for part in rules.get("allOf", ()):
        yield from _check(value, part, place, root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if keyword in rules:
            fits = [next(_check(value, option, place, root, depth + 1), None) for option in rules[keyword]]
            count = fits.count(None)
            if count == 0:
                yield f"{place}: matches none of the choices ({'; '.join(sorted({fit for fit in fits if fit})[:3])})"
            elif keyword == "oneOf" and count > 1:
                yield f"{place}: matches more than one of the choices"


def _check_object(
    value: dict[str, object], rules: dict[str, Any], place: str, root: object, depth: int
) -> Iterator[str]:
    properties: dict[str, object] = rules.get("properties", {})
    for name in rules.get("required", ()):
        if name not in value:
            yield f"{place}.{name}: is missing"
    others = rules.get("additionalProperties", True)
    for name, inner in value.items():
        if name in properties:
            yield from _check(inner, properties[name], f"{place}.{name}", root, depth + 1)
        elif others is False:
            yield f"{place}.{name}: is not a known name"
        else:
            yield from _check(inner, others, f"{place}.{name}", root, depth + 1)


def _check_array(value: list[object], rules: dict[str, Any], place: str, root: object, depth: int) -> Iterator[str]:
    first: list[object] = rules.get("prefixItems", [])
    for index, inner in enumerate(value):
        schema = first[index] if index < len(first) else rules.get("items", True)
        yield from _check(inner, schema, f"{place}[{index}]", root, depth + 1)


# Parse the JSON that a model wrote: strictly, within limits, and never with a crash.
#
# A model's output is hostile until it is parsed: it may be cut off, nested a million levels deep, or contain NaN or the
# same name twice. `parse_json` returns a value or raises `ValueError` with a message for the model.


MAX_JSON_CHARACTERS = 4 * 1024 * 1024


def parse_json(text: str) -> Any:
    """The value of the whole text, or `ValueError`."""
    if len(text) > MAX_JSON_CHARACTERS:
        raise ValueError("the JSON is too long")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error
    _check_storable(text)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        # Two values for one argument: choosing one would be a guess, and an edit must not rely on a guess.
        raise ValueError("a name occurs twice in one object")
    return table


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _check_storable(text: str) -> None:
    if "\\u" not in text and text.isascii():
        return
    # An unpaired surrogate (written raw or as an escape) cannot be stored or sent on as UTF-8.
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("it contains an unpaired surrogate") from error


def first_object(text: str) -> str:
    """The part of a text from its first `{` to the matching end, without the fence or words around it; if nothing
    matches, the rest of the text (it is cut off, and the parser will say so)."""
    start = text.find("{")
    if start < 0:
        return text
    depth, quoted, escaped = 0, False, False
    for index in range(start, len(text)):
        character = text[index]
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return text[start : index + 1]
    return text[start:]


def parse_structured_data(text: str, request: StepRequest, provider: str) -> Any:
    """The value that the request's schema asks for; None if it has no schema."""
    if request.response_schema is None:
        return None
    try:
        value = parse_json(_strip_chatter(text))
    except ValueError as error:
        raise invalid_answer(f"The answer cannot be used: {error}.", text, provider) from error
    if found := violations(value, request.response_schema):
        raise invalid_answer(f"The answer does not match its schema: {'; '.join(found)}.", text, provider)
    return value


def _strip_chatter(text: str) -> str:
    # Without constrained decoding a model wraps its JSON in a fence or a sentence; only the object counts.
    stripped = text.strip()
    return stripped if stripped[:1] in ("{", "[") else first_object(stripped)


def invalid_answer(message: str, text: str, provider: str) -> ProviderError:
    return ProviderError(message, kind="invalid_output", provider=provider, output=text)
