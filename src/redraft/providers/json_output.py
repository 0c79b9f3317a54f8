"""An answer in JSON: parsed and validated against its schema, or refused with a message for the model."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from redraft.providers.contract import ProviderError
from redraft.providers.json_schema import violations

if TYPE_CHECKING:
    from redraft.providers.contract import StepRequest

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


def structured_data(text: str, request: StepRequest, provider: str) -> Any:
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
